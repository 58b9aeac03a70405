//! How long flash takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::Time;

/// How long the flash of a drive takes, its channels included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimingDescription {
    /// From the array into the page register, for each type of page in turn: page i of a block is of type i modulo their number.
    pub read: Vec<Time>,
    /// The same for reads of less than half a page, if that is shorter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_part: Option<Vec<Time>>,
    /// From the page register into the array, by the types of pages.
    pub program: Vec<Time>,
    /// Erasing a block.
    pub erase: Time,
    /// The time of a read on the channel before the array works.
    #[serde(default = "none")]
    pub read_command: Time,
    /// The time of a program on the channel, besides its data.
    #[serde(default = "none")]
    pub program_command: Time,
    /// The time of an erase on the channel.
    #[serde(default = "none")]
    pub erase_command: Time,
    /// 512 bytes of data on the channel.
    pub block: Time,
    /// A program that writes the summary of a block, at the end of the last of its pages: the time that it adds.
    #[serde(default = "none")]
    pub summary: Time,
}

fn none() -> Time {
    Time::ZERO
}

/// The longest time of anything.
const LONGEST: Time = Time::from_s(10);
/// The most types of pages.
const MOST_TYPES: usize = 16;

impl TimingDescription {
    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// No time for any page, more types of pages than there are, a time that is too long.
    pub fn check(&self) -> Result<(), InputError> {
        let part = self.read_part.as_deref().unwrap_or(&self.read);
        for (times, what) in [
            (&self.read[..], "read"),
            (part, "read_part"),
            (&self.program[..], "program"),
        ] {
            if times.is_empty() || times.len() > MOST_TYPES {
                return Err(InputError::new(format!("{} times in {what}", times.len()))
                    .help("write one for each type of page: 1 to 16"));
            }
        }
        let single = [
            self.erase,
            self.read_command,
            self.program_command,
            self.erase_command,
            self.block,
            self.summary,
        ];
        let all = self
            .read
            .iter()
            .chain(part)
            .chain(&self.program)
            .chain(&single);
        match all.max() {
            Some(&time) if time > LONGEST => {
                Err(InputError::new(format!("flash that takes {time}"))
                    .help(format!("at most {LONGEST}")))
            }
            _ => Ok(()),
        }
    }

    /// The time of the array for a read of a page of a block.
    #[inline]
    pub fn read_time(&self, page: u32, is_part: bool) -> Time {
        let times = match &self.read_part {
            Some(times) if is_part => times,
            _ => &self.read,
        };
        of_type(times, page)
    }

    /// The array's time for a program of a page, in a block of `pages` pages.
    #[inline]
    pub fn program_time(&self, page: u32, pages: u32) -> Time {
        let time = of_type(&self.program, page);
        if page + 1 == pages {
            time + self.summary
        } else {
            time
        }
    }

    /// The time that `blocks` 512-byte blocks take on the channel.
    #[inline]
    pub fn transfer(&self, blocks: u32) -> Time {
        Time::from_ns(self.block.ns() * u64::from(blocks))
    }
}

#[inline]
fn of_type(times: &[Time], page: u32) -> Time {
    match times {
        [only] => *only,
        _ => times[page as usize % times.len()],
    }
}

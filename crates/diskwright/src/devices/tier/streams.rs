//! Sequential streams, which pass the cache by once they are long.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::{Lbn, Size};
use crate::engine::request::{Command, Op};

/// Which sequential streams pass the cache by.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BypassSpec {
    /// A request gets no lines that makes a sequential stream longer than this: what is held is served from the cache all the same.
    pub sequential: Size,
    /// How many streams are followed at a time.
    #[serde(default = "sixteen")]
    pub streams: u32,
}

/// An estimate: more than the programs of a host usually read or write at a time.
fn sixteen() -> u32 {
    16
}

/// The most streams that may be followed: each request is compared with all of them.
const MOST_STREAMS: u32 = 1024;

impl BypassSpec {
    /// The streams, none so far.
    ///
    /// # Errors
    /// A number of streams that is not from 1 to 1024.
    pub fn build(&self) -> Result<Streams, InputError> {
        if !(1..=MOST_STREAMS).contains(&self.streams) {
            let error = InputError::new(format!("{} streams that are followed", self.streams));
            return Err(error.help("accepted: 1 to 1024"));
        }
        Ok(Streams {
            most_blocks: self.sequential.blocks(),
            room: self.streams as usize,
            streams: Vec::new(),
        })
    }
}

/// The streams that are followed.
pub struct Streams {
    most_blocks: u64,
    room: usize,
    /// The one that was continued or begun last in front.
    streams: Vec<Stream>,
}

/// Requests of one kind that follow one another.
#[derive(Clone, Copy, Debug)]
struct Stream {
    op: Op,
    /// The block after the last one.
    end: Lbn,
    /// Blocks of all its requests.
    blocks: u64,
}

impl Streams {
    /// A read or a write arrives; whether it makes its stream too long. It continues the stream of its kind that ends where it begins, of
    /// several the one that was continued last; without one it begins a stream, in the place of the one that was continued least
    /// recently where there is no room.
    pub fn arrives(&mut self, command: &Command) -> bool {
        let mut streams = self.streams.iter();
        let found = streams.position(|stream| stream.op == command.op && stream.end == command.lbn);
        let before = match found {
            Some(at) => self.streams.remove(at).blocks,
            None => {
                self.streams.truncate(self.room - 1);
                0
            }
        };
        let stream = Stream {
            op: command.op,
            end: command.end(),
            blocks: before + u64::from(command.blocks),
        };
        self.streams.insert(0, stream);
        stream.blocks > self.most_blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fakes::command;

    #[test]
    fn a_stream_is_bypassed_from_the_request_on_that_makes_it_too_long() {
        let spec = BypassSpec {
            sequential: Size::from_blocks(16),
            streams: 2,
        };
        let mut streams = spec.build().expect("it is sound");
        let requests = [
            (Op::Read, 0, false),
            (Op::Read, 8, false),
            // A write is of another stream.
            (Op::Write, 16, false),
            (Op::Read, 16, true),
            (Op::Read, 24, true),
            // The third stream drives out that of the write, which was continued least recently.
            (Op::Read, 500, false),
            (Op::Write, 24, false),
            // That one has driven out the long one.
            (Op::Read, 32, false),
        ];
        for (op, lbn, is_bypassed) in requests {
            let found = streams.arrives(&command(op, lbn, 8));
            assert_eq!(found, is_bypassed, "{op:?} {lbn}");
        }
        let long = command(Op::Read, 7000, 17);
        assert!(
            streams.arrives(&long),
            "a request may be too long by itself"
        );
        for streams in [0, 1025] {
            let spec = BypassSpec {
                streams,
                ..spec.clone()
            };
            assert!(spec.build().is_err());
        }
    }
}

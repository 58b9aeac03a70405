//! `simple`: a device that takes a constant time for each request, and a rate for its bytes. For what needs no more: a fast device
//! beside a slow one, a queue by the book, a flash drive of which a data sheet is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::timed::{Timed, Timing, check_capacity, transfer};
use crate::base::error::{Error, InputError};
use crate::base::units::quantities::Rate;
use crate::base::units::{Size, Time};
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::kind::{Built, DeviceKind};
use crate::engine::access_times::{AccessTimes, block_ps};
use crate::engine::request::{Command, Op, Part, Parts};

/// A device of constant times.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimpleSpec {
    /// How much it holds.
    pub capacity: Size,
    /// The time of a read, without its bytes.
    pub read: Time,
    /// The time of a write, without its bytes.
    pub write: Time,
    /// How fast the bytes of a request are read and written, each request by itself; they take no time where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How many requests it serves at a time; others wait in the order of their arrival.
    #[serde(default = "one")]
    pub parallel: u32,
}

fn one() -> u32 {
    1
}

impl DeviceKind for SimpleSpec {
    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        check_capacity(self.capacity, site)?;
        if self.parallel == 0 {
            let error = InputError::new("a device that serves 0 requests at a time");
            return Err(site.locate("parallel", error.help("accepted: 1 or more")));
        }
        let timing = ConstantTime {
            read: self.read,
            write: self.write,
            rate: self.rate,
        };
        let device = Timed::new(timing, self.capacity.blocks(), self.parallel);
        Ok(Built {
            id: tree.add(site.path, Box::new(device)),
            rotation: None,
        })
    }
}

/// A constant, and the bytes at a rate.
struct ConstantTime {
    read: Time,
    write: Time,
    rate: Option<Rate>,
}

impl Timing for ConstantTime {
    const PARTS: &'static [Part] = &[Part::Overhead, Part::Transfer];

    fn time(&mut self, command: &Command) -> Parts {
        let constant = match command.op {
            Op::Write => self.write,
            _ => self.read,
        };
        let mut parts = Parts::default();
        parts.add(Part::Overhead, constant);
        parts.add(Part::Transfer, transfer(self.rate, command));
        parts
    }

    fn expected(&self) -> AccessTimes {
        AccessTimes::level(self.read, self.write, block_ps(self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Lbn;

    #[test]
    fn a_request_takes_its_constant_and_its_bytes() {
        let timing = |rate: &str| ConstantTime {
            read: Time::from_us(100),
            write: Time::from_us(300),
            rate: (!rate.is_empty()).then(|| rate.parse().expect("a rate")),
        };
        let time = |mut timing: ConstantTime, op, blocks| {
            let command = Command {
                op,
                fua: false,
                lbn: Lbn(7),
                blocks,
            };
            let parts = timing.time(&command);
            let (constant, bytes) = (parts.get(Part::Overhead), parts.get(Part::Transfer));
            assert_eq!(parts.total(), constant + bytes);
            (constant.ns(), bytes.ns())
        };
        assert_eq!(time(timing("512 MB/s"), Op::Read, 8), (100_000, 8_000));
        assert_eq!(time(timing("512 MB/s"), Op::Write, 1), (300_000, 1_000));
        assert_eq!(time(timing(""), Op::Write, 1_000), (300_000, 0));
    }
}

//! `curve`: a device of which the access time is known by the distance from the end of its last request, as it is measured on a real
//! drive or by `diskwright probe DRIVE --curve FILE`, and the rate of its bytes.

mod table;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::timed::{Timed, Timing, check_capacity, transfer};
use crate::base::error::Error;
use crate::base::random::Stream;
use crate::base::units::quantities::Rate;
use crate::base::units::{Lbn, Size, Time};
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::kind::{Built, DeviceKind};
use crate::engine::access_times::{AccessTimes, block_ps};
use crate::engine::request::{Command, Op, Part, Parts};
use table::Table;

/// A device of a measured curve.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurveSpec {
    /// How much it holds.
    pub capacity: Size,
    /// The CSV file with the access times of reads: columns `distance_blocks`, `mean_ms` and, for `spread`, `low_ms` and `high_ms`.
    pub read: String,
    /// The same for writes. Default: that of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<String>,
    /// How fast the bytes of a request are read and written; they take no time where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Whether an access time is drawn from `low_ms` to `high_ms`, each as likely; else it is the mean.
    #[serde(default)]
    pub spread: bool,
}

impl DeviceKind for CurveSpec {
    const FILE_KEYS: &'static [&'static str] = &["read", "write"];

    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        check_capacity(self.capacity, site)?;
        let table = |key: &str, path: &str| {
            let path = site.run.base.join(Path::new(path));
            Table::read(&path, self.spread).map_err(|error| site.locate(key, error))
        };
        let read = table("read", &self.read)?;
        let write = self.write.as_deref().map(|path| table("write", path));
        let timing = Curve {
            write: write.transpose()?.unwrap_or_else(|| read.clone()),
            read,
            rate: self.rate,
            chance: self.spread.then(|| site.stream("")),
            end: Lbn(0),
        };
        let device = Timed::new(timing, self.capacity.blocks(), 1);
        Ok(Built {
            id: tree.add(site.path, Box::new(device)),
            rotation: None,
        })
    }
}

/// An access time by distance, and the bytes at a rate.
struct Curve {
    read: Table,
    write: Table,
    rate: Option<Rate>,
    /// What access times are drawn with, where they are.
    chance: Option<Stream>,
    /// The block after the last request.
    end: Lbn,
}

impl Timing for Curve {
    const PARTS: &'static [Part] = &[Part::Positioning, Part::Transfer];

    fn time(&mut self, command: &Command) -> Parts {
        let table = match command.op {
            Op::Write => &self.write,
            _ => &self.read,
        };
        let access = table.at(command.lbn.0.abs_diff(self.end.0));
        self.end = command.end();
        let drawn = match &mut self.chance {
            Some(chance) => access.low + chance.below(access.high - access.low + 1),
            None => access.mean,
        };
        let mut parts = Parts::default();
        parts.add(Part::Positioning, Time::from_ns(drawn));
        parts.add(Part::Transfer, transfer(self.rate, command));
        parts
    }

    fn expected(&self) -> AccessTimes {
        let (read, write) = (self.read.expected(), self.write.expected());
        AccessTimes::new(read, write, block_ps(self.rate))
    }
}

#[cfg(test)]
mod tests;

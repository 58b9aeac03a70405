//! The registry of formats, for those who list it.

use serde::Serialize;

use super::FORMATS;
use crate::workload::formats::Format;
use crate::workload::record::Record;
use crate::workload::writing::{Holds, Writing};

/// What there is to know of a format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FormatSummary {
    /// Its name in specs and on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// Usual file name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether it can be read.
    pub readable: bool,
    /// Whether it can be written.
    pub writable: bool,
    /// The extension, without the dot, by which a file to be written is of this format.
    pub written_extension: Option<&'static str>,
    /// What a file that is written holds of a trace.
    pub holds: Option<HoldsSummary>,
}

/// What a format holds of a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HoldsSummary {
    /// The unit of its times.
    pub time_unit_ns: u64,
    /// The latest arrival.
    pub latest_arrival_ns: u64,
    /// The largest device number; null where it is of one device.
    pub max_device: Option<u32>,
    /// The largest first block.
    pub max_lbn: u64,
    /// The fewest blocks of a read, write or trim.
    pub min_blocks: u32,
    /// The most blocks.
    pub max_blocks: u32,
    /// Whether it knows flushes.
    pub flushes: bool,
    /// Whether it knows trims.
    pub trims: bool,
    /// Whether it knows force unit access.
    pub fua: bool,
    /// Whether it keeps recorded service times.
    pub recorded: bool,
}

/// Every format of the registry.
pub fn summaries() -> Vec<FormatSummary> {
    FORMATS.iter().map(summary).collect()
}

fn summary(format: &Format) -> FormatSummary {
    let Format {
        name,
        extensions,
        summary,
        write,
        ..
    } = format;
    FormatSummary {
        name,
        summary,
        extensions,
        // A format is in the registry because it can be read.
        readable: true,
        writable: write.is_some(),
        written_extension: write.as_ref().and_then(|writing| writing.extension),
        holds: write.as_ref().map(holds),
    }
}

fn holds(Writing { holds, .. }: &Writing) -> HoldsSummary {
    let Holds {
        time,
        latest,
        devices,
        lbn,
        least_blocks,
        blocks,
        flushes,
        trims,
        fua,
        recorded,
    } = *holds;
    HoldsSummary {
        time_unit_ns: time.ns(),
        latest_arrival_ns: latest.ns(),
        max_device: devices,
        max_lbn: lbn,
        min_blocks: least_blocks,
        max_blocks: blocks.min(Record::OVERSIZE - 1),
        flushes,
        trims,
        fua,
        recorded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_written_says_what_it_holds() {
        for format in summaries() {
            assert_eq!(format.writable, format.holds.is_some(), "{}", format.name);
            assert!(format.writable || format.written_extension.is_none());
        }
        let csv = summaries().into_iter().find(|f| f.name == "csv").unwrap();
        let holds = csv.holds.unwrap();
        assert_eq!((holds.time_unit_ns, holds.recorded), (1, false));
        assert_eq!(csv.written_extension, Some("csv"));
    }
}

//! Trace formats: one file each, one line each in [`FORMATS`](super::FORMATS).

pub mod alibaba;
mod blk_events;
pub mod blkparse;
pub mod blktrace;
mod blktrace_files;
mod blktrace_source;
pub mod csv;
mod csv_columns;
pub mod disksim_ascii;
pub mod disksim_recording;
mod fields;
pub mod fio_iolog;
mod hp_header;
pub mod hp_srt;
pub mod mqsim;
pub mod msr;
pub mod parquet;
mod per_line;
pub mod spc;
pub mod tencent;
mod unix_time;
pub mod vscsi;

use serde::Deserialize;

use crate::base::error::{Error, Place};

use super::clone_options::SyntheticCloneOptions;
use super::input::Input;
use super::record::Record;
use super::writing::Writing;

pub use blk_events::{BlkEvent, BlktraceOptions};
pub(crate) use blktrace_files::files_beside;
pub use csv::CsvOptions;

/// A trace being read, one record after the other, in the file's order.
pub trait TraceReader: Send {
    /// The next record, or `None` after the last one.
    ///
    /// # Errors
    /// A record that is malformed or cut off, with its place; the file cannot be read on.
    fn next(&mut self) -> Result<Option<Record>, Error>;
    /// The place of the record just returned.
    fn place(&self) -> Place;
    /// The format's name.
    fn format(&self) -> &'static str;
    /// Records read and left out because the format itself marks them as not to be used.
    fn discarded(&self) -> u64 {
        0
    }
    /// When the recording began, where the format says: ISO 8601 without a zone.
    fn start_date(&self) -> Option<&str> {
        None
    }
    /// What makes the requests so far other than those that were recorded, and results of them doubtful.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// What was left out or changed in the reading so far because of what the format is.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a reader needs to be told where the file does not say it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FormatOptions {
    /// The format's name; found by the file's content when not given.
    pub format: Option<String>,
    /// Columns and units of a CSV file.
    pub csv: CsvOptions,
    /// Which event is the arrival in traces of blktrace and blkparse.
    pub blktrace: BlktraceOptions,
    /// Bytes in a sector of an HP trace, in place of the number in its header.
    pub sector_bytes: Option<u32>,
    /// What a synthetic clone is made with.
    #[serde(rename = "synthetic-clone")]
    pub synthetic_clone: SyntheticCloneOptions,
}

/// A trace format.
pub struct Format {
    /// Its name in specs and on the command line.
    pub name: &'static str,
    /// Usual file name extensions, without the dot; in reading they decide nothing.
    pub extensions: &'static [&'static str],
    /// What it is, in a few words.
    pub summary: &'static str,
    /// Whether a file that begins with these bytes is probably of this format.
    pub detect: fn(&[u8]) -> bool,
    /// Begins to read.
    pub open: Open,
    /// How it is written, if it can be.
    pub write: Option<Writing>,
}

/// How a format begins to read.
pub type Open = fn(Input, &FormatOptions) -> Result<Box<dyn TraceReader>, Error>;

/// The lines of `bytes` that are not blank, for detection.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split(|b| *b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
}

/// The first line of `bytes` that is not blank, for detection.
fn first_line(bytes: &[u8]) -> &[u8] {
    lines_of(bytes).next().unwrap_or_default()
}

/// The whole blocks that hold a run of bytes, and whether the run had to be widened to them.
///
/// `None` where the run ends past the last address.
fn outward(first_byte: u64, bytes: u64) -> Option<(u64, u64, bool)> {
    use crate::base::units::BLOCK_BYTES;
    let end = first_byte.checked_add(bytes)?;
    let lbn = first_byte / BLOCK_BYTES;
    if bytes == 0 {
        return Some((lbn, 0, false));
    }
    let widened = !first_byte.is_multiple_of(BLOCK_BYTES) || !end.is_multiple_of(BLOCK_BYTES);
    Some((lbn, end.div_ceil(BLOCK_BYTES) - lbn, widened))
}

/// The warning about requests widened by [`outward`].
fn widened_note(count: u64) -> Option<String> {
    (count > 0).then(|| {
        format!("{count} requests do not begin and end on 512-byte blocks and were widened to whole ones")
    })
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the formats' tests share.
    use std::path::Path;

    use super::*;
    use crate::base::error::InputError;
    use crate::workload::opening::open_input;

    /// Opens bytes as a file called `trace`.
    pub fn reader(
        bytes: impl Into<Vec<u8>>,
        options: &FormatOptions,
    ) -> Result<Box<dyn TraceReader>, Error> {
        let input = Input::memory(Path::new("trace"), bytes.into())?;
        open_input(input, options)
    }

    /// Every record of the bytes.
    pub fn records(
        bytes: impl Into<Vec<u8>>,
        options: &FormatOptions,
    ) -> Result<Vec<Record>, Error> {
        let mut reader = reader(bytes, options)?;
        let mut records = Vec::new();
        while let Some(record) = reader.next()? {
            records.push(record);
        }
        Ok(records)
    }

    /// Options that force a format.
    pub fn forced(format: &str) -> FormatOptions {
        FormatOptions {
            format: Some(format.to_owned()),
            ..FormatOptions::default()
        }
    }

    /// Each line, behind the line `good`, is wrong in one column, where the error says what was expected.
    pub fn check_wrong_lines(format: &str, good: &str, lines: &[(&str, u64, &str)]) {
        for (line, column, expected) in lines {
            let text = format!("{good}\n{line}\n");
            let error = located(records(text, &forced(format)).unwrap_err());
            assert!(error.message.contains(expected), "{line}: {error}");
            assert!(
                matches!(&error.place, Some(Place::Line { line: 2, column: Some(c), text, .. }) if c == column && text == line),
                "{error}"
            );
        }
    }

    /// The error of wrong input, which must have a place.
    pub fn located(error: Error) -> InputError {
        match error {
            Error::Input(error) => {
                assert!(error.place.is_some(), "no place: {error}");
                *error
            }
            other => panic!("not an error of the input: {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bytes_widen_to_whole_blocks() {
        assert_eq!(outward(0, 512), Some((0, 1, false)));
        assert_eq!(outward(256, 512), Some((0, 2, true)));
        assert_eq!(outward(512, 513), Some((1, 2, true)));
        assert_eq!(outward(700, 0), Some((1, 0, false)));
        assert_eq!(outward(u64::MAX, 1), None);
    }
}

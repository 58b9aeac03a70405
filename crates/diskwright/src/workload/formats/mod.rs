//! Trace formats: one file each, one line each in [`FORMATS`].

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
mod summary;
pub mod tencent;
mod unix_time;
pub mod vscsi;

use std::path::Path;

use serde::Deserialize;

use crate::base::error::{Error, InputError, Place, unknown_name};
use crate::base::registry::{Renamed, present_name};

use super::input::Input;
use super::record::Record;
use super::synthetic_clone::{self, SyntheticCloneOptions};
use super::writing::Writing;

pub use blk_events::{BlkEvent, BlktraceOptions};
pub(crate) use blktrace_files::files_beside;
pub use csv::CsvOptions;
pub use summary::{FormatSummary, HoldsSummary, summaries};

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
    /// Bytes in a sector of an HP trace, in place of what its header says.
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

/// Every format that can be read.
pub static FORMATS: &[Format] = &[
    hp_srt::FORMAT,
    disksim_recording::FORMAT,
    disksim_ascii::FORMAT,
    mqsim::FORMAT,
    fio_iolog::FORMAT,
    vscsi::FORMAT,
    alibaba::FORMAT,
    tencent::FORMAT,
    parquet::FORMAT,
    csv::FORMAT,
    spc::FORMAT,
    msr::FORMAT,
    blktrace::FORMAT,
    blkparse::FORMAT,
    synthetic_clone::FORMAT,
];

/// Names that formats had once, each with the present one.
const FORMER_NAMES: &[Renamed] = &[("look-alike", synthetic_clone::NAME)];

/// The bytes of a file that detection looks at.
const DETECTION: usize = 64 << 10;

/// Opens a trace: plain, gzip or zstd, in the format its content shows or `options.format` names.
///
/// # Errors
/// The file cannot be read, is of no known format or of several, or its format needs a hint that is missing; the error
/// says how to name the format or give the hint.
pub fn open(path: &Path, options: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    open_input(Input::open(path)?, options)
}

/// [`open`], where a synthetic clone is made with this seed unless the options have another.
///
/// # Errors
/// As [`open`].
pub fn open_seeded(
    path: &Path,
    options: &FormatOptions,
    seed: u64,
) -> Result<Box<dyn TraceReader>, Error> {
    open_or(Input::open(path)?, options, Some(seed))
}

/// [`open`] for bytes that are not a file.
///
/// # Errors
/// As [`open`].
pub fn open_input(input: Input, options: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    open_or(input, options, None)
}

fn open_or(
    mut input: Input,
    options: &FormatOptions,
    seed: Option<u64>,
) -> Result<Box<dyn TraceReader>, Error> {
    let format = match &options.format {
        Some(name) => named(name)?,
        // Who names the columns of a table says that it is one.
        None if options.csv.columns.is_some() => &csv::FORMAT,
        None => detect(&mut input)?,
    };
    if format.name != csv::FORMAT.name && options.csv != CsvOptions::default() {
        return Err(superfluous(
            "`--csv`, or workload.csv in a spec",
            format,
            &input,
        ));
    }
    let of_blktrace = [blktrace::NAME, blkparse::NAME].contains(&format.name);
    if !of_blktrace && options.blktrace != BlktraceOptions::default() {
        return Err(superfluous(
            "`--event`, or workload.blktrace in a spec",
            format,
            &input,
        ));
    }
    if format.name != hp_srt::FORMAT.name && options.sector_bytes.is_some() {
        return Err(superfluous(
            "`--sector-bytes`, or workload.sector_bytes in a spec",
            format,
            &input,
        ));
    }
    if format.name == synthetic_clone::NAME {
        let mut options = options.clone();
        options.synthetic_clone.seed = options.synthetic_clone.seed.or(seed);
        return (format.open)(input, &options);
    }
    if options.synthetic_clone != SyntheticCloneOptions::default() {
        return Err(superfluous(
            "`--seed`, or the parameters of workload.synthetic-clone in a spec",
            format,
            &input,
        ));
    }
    (format.open)(input, options)
}

/// The format called `name`.
///
/// # Errors
/// There is none; the error lists those there are.
pub fn named(name: &str) -> Result<&'static Format, InputError> {
    let present = present_name(name, FORMER_NAMES);
    FORMATS.iter().find(|f| f.name == present).ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().map(|f| f.name).collect();
        unknown_name("trace format", name, &names)
    })
}

fn detect(input: &mut Input) -> Result<&'static Format, Error> {
    let file = Place::File(input.path().to_owned());
    let first = match input.peek(DETECTION) {
        Ok(first) => first,
        Err(e) => return Err(input.fault(e, file)),
    };
    if first.is_empty() {
        return Err(InputError::new("the trace is empty").at(file).into());
    }
    let found: Vec<_> = FORMATS.iter().filter(|f| (f.detect)(first)).collect();
    let force = "name the format (--format NAME, or workload.format in a spec)";
    match found[..] {
        [format] => Ok(format),
        [] => Err(
            InputError::new("the content is of none of the trace formats known")
                .at(file)
                .help(format!("{force}; accepted: {}", list(FORMATS.iter())))
                .into(),
        ),
        _ => Err(
            InputError::new("the content could be of several trace formats")
                .at(file)
                .help(format!("{force}; possible: {}", list(found.into_iter())))
                .into(),
        ),
    }
}

fn list(formats: impl Iterator<Item = &'static Format>) -> String {
    let lines: Vec<_> = formats
        .map(|f| format!("{} ({})", f.name, f.summary))
        .collect();
    lines.join(", ")
}

/// An option that would change nothing is a mistake of the user's.
fn superfluous(hint: &str, format: &Format, input: &Input) -> Error {
    InputError::new(format!(
        "a hint ({hint}) says nothing about a trace of format {}",
        format.name
    ))
    .at(Place::File(input.path().to_owned()))
    .into()
}

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
    use super::*;

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
    use super::testing::*;
    use super::*;

    #[test]
    fn detection_goes_by_content() {
        for (text, format) in [
            ("13.19\t30\t0\t5\t1\n", "disksim-ascii"),
            ("13.19 30 0 5 1 0\n", "disksim-ascii"),
            ("R Hit 1975456 4 15362.0 56074.0\n", "disksim-recording"),
            ("18446744073710 0 0 8 1\n", "mqsim"),
            ("fio version 2 iolog\n/dev/sda add\n", "fio-iolog"),
            ("fio version 3 iolog\n", "fio-iolog"),
            ("3,R,126703644672,4096,1577808000000626\n", "alibaba"),
            ("1538323199,105352008,584,1,1576\n", "tencent"),
            ("time_s,lbn,blocks,op\n0,1,2,r\n", "csv"),
            ("0,20941264,8192,W,0.551706,Alpha/NT\n", "spc"),
            (
                "128166372003061629,hm,1,Read,383496192,32768,58000\n",
                "msr",
            ),
            (
                "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
                "msr",
            ),
            (
                "[counts]\nworking_set = { requests = 1, blocks = 8 }\nrandom = { requests = 1, blocks = 8 }\nsequential = { requests = 0, blocks = 0 }\nread = { requests = 1, blocks = 8 }\nwrite = { requests = 0, blocks = 0 }\n",
                "synthetic-clone",
            ),
            (
                "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n",
                "blkparse",
            ),
        ] {
            assert_eq!(
                reader(text, &FormatOptions::default()).unwrap().format(),
                format
            );
        }
    }

    #[test]
    fn what_is_no_trace_is_refused_with_the_formats_listed() {
        for bytes in [
            &b"hello world\n"[..],
            b"\x7fELF\x02\x01\x01\0\0",
            b"{\"a\": 1}",
            // Tencent's operations are 0 and 1.
            b"1538323199,105352008,584,2,1576\n",
        ] {
            let error = located(reader(bytes, &FormatOptions::default()).err().unwrap());
            let help = error.help.unwrap();
            for format in FORMATS {
                assert!(help.contains(format.name), "{help}");
            }
            assert!(help.contains("workload.format"));
        }
        let error = located(reader("", &FormatOptions::default()).err().unwrap());
        assert!(error.message.contains("empty"));
    }

    #[test]
    fn a_format_is_found_by_its_former_name() {
        assert_eq!(named("look-alike").unwrap().name, "synthetic-clone");
    }

    #[test]
    fn a_misspelt_format_gets_a_suggestion() {
        let error = reader("", &forced("disksim-asci")).err().unwrap();
        assert!(
            error.to_string().contains("did you mean \"disksim-ascii\""),
            "{error}"
        );
    }

    #[test]
    fn options_of_another_format_are_refused() {
        let mut options = FormatOptions {
            sector_bytes: Some(256),
            ..FormatOptions::default()
        };
        let line = "13.19 30 0 5 1\n";
        assert!(
            reader(line, &options)
                .err()
                .unwrap()
                .to_string()
                .contains("workload.sector_bytes")
        );
        options.sector_bytes = None;
        options.blktrace.event = BlkEvent::Issue;
        assert!(
            reader(line, &options)
                .err()
                .unwrap()
                .to_string()
                .contains("workload.blktrace")
        );
        options.blktrace = BlktraceOptions::default();
        options.csv.time = Some("t".to_owned());
        assert!(
            reader(line, &options)
                .err()
                .unwrap()
                .to_string()
                .contains("workload.csv")
        );
        options.csv = CsvOptions::default();
        options.synthetic_clone.seed = Some(1);
        let error = reader(line, &options).err().unwrap().to_string();
        assert!(error.contains("--seed"), "{error}");
    }

    #[test]
    fn runs_of_bytes_widen_to_whole_blocks() {
        assert_eq!(outward(0, 512), Some((0, 1, false)));
        assert_eq!(outward(256, 512), Some((0, 2, true)));
        assert_eq!(outward(512, 513), Some((1, 2, true)));
        assert_eq!(outward(700, 0), Some((1, 0, false)));
        assert_eq!(outward(u64::MAX, 1), None);
    }
}

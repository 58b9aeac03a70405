//! The registry of trace formats, and how a trace is opened: in the format its content shows, or in the one that is named.

mod foreign;
mod summary;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::base::error::{Error, InputError, Place, unknown_name};
use crate::base::registry::{Renamed, present_name};

use super::clone_options::SyntheticCloneOptions;
use super::formats::{
    BlktraceOptions, CsvOptions, Format, FormatOptions, TraceReader, alibaba, blkparse, blktrace,
    csv, disksim_ascii, disksim_recording, fio_iolog, hp_srt, mqsim, msr, parquet, spc, tencent,
    vscsi,
};
use super::input::Input;
use super::synthetic_clone;

pub use summary::{FormatSummary, HoldsSummary, summaries};

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
    skip_byte_order_mark(&mut input)?;
    let format = match &options.format {
        Some(name) => named(name)?,
        // A user who names columns says that the trace is a table.
        None if options.csv.columns.is_some() => &csv::FORMAT,
        None => detect(&mut input)?,
    };
    if format.name != csv::FORMAT.name && options.csv != CsvOptions::default() {
        return Err(superfluous(
            "`--columns`, or workload.csv in a spec",
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

/// Programs of Windows mark text in UTF-8 by three bytes before it, which are no part of it.
fn skip_byte_order_mark(input: &mut Input) -> Result<(), Error> {
    let file = Place::File(input.path().to_owned());
    let is_marked = match input.peek(UTF8_MARK.len()) {
        Ok(first) => first == UTF8_MARK,
        Err(e) => return Err(input.fault(e, file)),
    };
    if is_marked {
        input.skip(UTF8_MARK.len());
    }
    Ok(())
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The name of the format that the first bytes of a file show, where they show one: for those that expect something else of it.
pub fn format_of(first: &[u8]) -> Option<&'static str> {
    let mut found = FORMATS.iter().filter(|format| (format.detect)(first));
    let format = found.next()?;
    found.next().is_none().then_some(format.name)
}

fn detect(input: &mut Input) -> Result<&'static Format, Error> {
    let path = input.path().to_owned();
    let file = Place::File(path.clone());
    let first = match input.peek(DETECTION) {
        Ok(first) => first,
        Err(e) => return Err(input.fault(e, file)),
    };
    if first.is_empty() {
        return Err(InputError::new("the trace is empty").at(file).into());
    }
    let found: Vec<_> = FORMATS.iter().filter(|f| (f.detect)(first)).collect();
    let force = "name the format (--format NAME, or workload.format in a spec)";
    let (message, help) = match found[..] {
        [format] => return Ok(format),
        [] => (
            "the content is of none of the trace formats known",
            match foreign::remedy(first, &path) {
                Some(remedy) => remedy,
                None => format!(
                    "{force}; accepted: {}; `diskwright formats` tells what each is",
                    names(FORMATS.iter())
                ),
            },
        ),
        _ => (
            "the content could be of several trace formats",
            format!("{force}; possible: {}", names(found.into_iter())),
        ),
    };
    Err(InputError::new(message).at(file).help(help).into())
}

fn names(formats: impl Iterator<Item = &'static Format>) -> String {
    let names: Vec<_> = formats.map(|format| format.name).collect();
    names.join(", ")
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

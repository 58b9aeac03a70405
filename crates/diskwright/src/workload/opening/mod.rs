//! The registry of trace formats, and how a trace is opened: in the format its content shows, or in the one that is named.

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

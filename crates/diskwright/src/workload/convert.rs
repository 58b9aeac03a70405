//! From one trace format to another.

use std::path::Path;

use serde::Serialize;

use crate::base::error::{Error, InputError, Place};
use crate::base::progress::{Progress, tell};

use super::devices::Devices;
use super::formats::{Format, FormatOptions, TraceReader};
use super::opening::{self, FORMATS};
use super::output::{self, Output};
use super::record::Record;
use super::writing::{Losses, Writing};

/// How a trace is to be converted.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// What the reader is told.
    pub format: FormatOptions,
    /// The format to write, by name; by the extension of the file written when not given.
    pub to: Option<String>,
    /// Only this device.
    pub device: Option<u32>,
}

/// What became of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conversion {
    /// The format read.
    pub from: String,
    /// The format written.
    pub to: String,
    /// Records read.
    pub read: u64,
    /// Records written.
    pub written: u64,
    /// Records of other devices, when one was asked for, and those the format read marks as not to be used.
    pub skipped: u64,
    /// What the format written could not hold.
    pub lost: Losses,
    /// What makes the trace written another one than that read.
    pub warnings: Vec<String>,
    /// What was left out or changed in the reading because of what its format is.
    pub notes: Vec<String>,
}

/// Reads a trace through and writes it in another format. The file is there when it is whole, or not at all.
///
/// # Errors
/// The trace cannot be read, is malformed, has a request that the other format cannot express, has several devices where
/// that format knows one, or has nothing to write; the file cannot be written, or is the trace itself; no format is named and
/// the file's extension names none; an interruption by `progress`.
pub fn convert(
    input: &Path,
    output: &Path,
    options: &ConvertOptions,
    progress: &mut dyn Progress,
) -> Result<Conversion, Error> {
    let (format, writing) = target(output, options.to.as_deref())?;
    refuse_itself(input, output)?;
    let mut reader = opening::open(input, &options.format)?;
    let failed = |e| Error::file(output, "write", e);
    let mut writer = (writing.create)(Output::create(output)?).map_err(failed)?;
    let mut losses = Losses::default();
    let mut choice = Choice::new(options.device, format, writing);
    let (mut read, mut written) = (0, 0);
    while let Some(record) = reader.next()? {
        read += 1;
        tell(progress, read)?;
        if !choice.takes(&record, &*reader)? {
            continue;
        }
        let fitted = writing.holds.fit(&record, &mut losses);
        if let Some(record) = fitted.map_err(|error| error.at(reader.place()))? {
            writer.write(&record).map_err(failed)?;
            written += 1;
        }
    }
    choice.check_found(input)?;
    if written == 0 {
        return Err(nothing(input, format, &losses).into());
    }
    writer.finish().and_then(Output::finish).map_err(failed)?;
    let mut warnings = reader.warnings();
    warnings.extend(losses.warnings(&writing.holds, format.name));
    Ok(Conversion {
        from: reader.format().to_owned(),
        to: format.name.to_owned(),
        read: read + reader.discarded(),
        written,
        skipped: choice.skipped + reader.discarded(),
        lost: losses,
        warnings,
        notes: reader.notes(),
    })
}

/// What is written takes its place at the end, even that of the trace that is read; no other format may be worth that.
fn refuse_itself(input: &Path, output: &Path) -> Result<(), Error> {
    match (input.canonicalize(), output.canonicalize()) {
        (Ok(from), Ok(to)) if from == to && from.is_file() => {
            Err(InputError::new("the trace would take its own place")
                .at(Place::File(output.to_owned()))
                .help("write another file")
                .into())
        }
        _ => Ok(()),
    }
}

/// A trace without requests is none that could be read again.
fn nothing(input: &Path, format: &Format, losses: &Losses) -> InputError {
    let left_out = losses.flushes + losses.trims;
    let message = match left_out {
        0 => "the trace has no requests: there is nothing to write".to_owned(),
        _ => format!(
            "all {left_out} requests of the trace are flushes or trims, which {} cannot hold",
            format.name
        ),
    };
    InputError::new(message).at(Place::File(input.to_owned()))
}

/// The format to write.
fn target(path: &Path, name: Option<&str>) -> Result<(&'static Format, &'static Writing), Error> {
    let writable = || FORMATS.iter().filter_map(|f| Some((f, f.write.as_ref()?)));
    let accepted = || {
        let names: Vec<_> = writable().map(|(format, _)| format.name).collect();
        names.join(", ")
    };
    let extension = output::extension(path);
    let meant = writable().find(|(_, w)| extension.is_some() && w.extension == extension);
    if let Some(name) = name {
        let format = opening::named(name)?;
        let named = writable().find(|(f, _)| f.name == format.name);
        let named = named.ok_or_else(|| {
            InputError::new(format!("traces of format {name} can be read, not written"))
                .help(format!("accepted: {}", accepted()))
        })?;
        return fitting(path, named, meant);
    }
    meant.ok_or_else(|| {
        InputError::new("the file's name does not say in which format to write")
            .at(Place::File(path.to_owned()))
            .help(format!(
                "name the format to write (--to NAME); accepted: {}",
                accepted()
            ))
            .into()
    })
}

/// The format named, unless the file's extension means another one, `meant`.
fn fitting<'f>(
    path: &Path,
    named: (&'f Format, &'f Writing),
    meant: Option<(&Format, &Writing)>,
) -> Result<(&'f Format, &'f Writing), Error> {
    let (format, extension) = (named.0, output::extension(path).unwrap_or_default());
    match meant {
        Some((other, _))
            if other.name != format.name && !format.extensions.contains(&extension) =>
        {
            let message = format!(
                "a file that ends in .{extension} is of format {}, not {}",
                other.name, format.name
            );
            let endings: Vec<_> = format.extensions.iter().map(|e| format!(".{e}")).collect();
            let help = format!("expected a name in {}", endings.join(" or "));
            let error = InputError::new(message).at(Place::File(path.to_owned()));
            Err(error.help(help).into())
        }
        _ => Ok(named),
    }
}

/// Which records are taken, by their device.
struct Choice {
    device: Option<u32>,
    /// The format written, where it knows one device only.
    of_one: Option<&'static str>,
    found: bool,
    others: Devices,
    skipped: u64,
}

impl Choice {
    fn new(device: Option<u32>, format: &Format, writing: &Writing) -> Choice {
        Choice {
            device,
            of_one: writing.holds.devices.is_none().then_some(format.name),
            found: false,
            others: Devices::default(),
            skipped: 0,
        }
    }

    fn takes(&mut self, record: &Record, reader: &dyn TraceReader) -> Result<bool, Error> {
        match self.device {
            Some(device) if device != record.device => {
                self.others.add(record.device);
                self.skipped += 1;
                Ok(false)
            }
            _ => {
                if let (None, Some(format)) = (self.device, self.of_one) {
                    self.others.add(record.device);
                    if self.others.several() {
                        let message = format!(
                            "the trace is of several devices, {}, and {format} is of one",
                            self.others
                        );
                        return Err(InputError::new(message)
                            .at(reader.place())
                            .help("choose one of the devices (--device N)")
                            .into());
                    }
                }
                self.found = true;
                Ok(true)
            }
        }
    }

    /// A trace without a request of the device chosen is a mistake in the choice.
    fn check_found(&self, input: &Path) -> Result<(), Error> {
        match self.device {
            Some(device) if !self.found => Err(InputError::new(format!(
                "the trace has no request of device {device}"
            ))
            .at(Place::File(input.to_owned()))
            .help(format!("the devices seen: {}", self.others))
            .into()),
            _ => Ok(()),
        }
    }
}

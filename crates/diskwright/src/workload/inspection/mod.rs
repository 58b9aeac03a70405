//! Reads a trace through, and tells what it is.

mod picture;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::base::error::{Error, InputError, Place};
use crate::base::progress::{Progress, tell};
use crate::base::whole_file::WholeFile;

use super::devices::Devices;
use super::formats::{FormatOptions, TraceReader};
use super::opening::open;
use super::profile::{Arrivals, Measure, Profile, ProfileBuilder, Summary, Total};
use picture::Picture;

/// How a trace is to be looked at.
#[derive(Clone, Debug, Default)]
pub struct InspectOptions {
    /// What the reader is told.
    pub format: FormatOptions,
    /// Only this device.
    pub device: Option<u32>,
    /// A request is sequential when its first block is at most this many blocks after the end of the same device's previous
    /// request.
    pub threshold: u64,
    /// Writes the profile of the trace's device here, in TOML.
    pub profile: Option<PathBuf>,
    /// Collects what a picture of the trace is drawn from.
    pub picture: bool,
}

/// What a trace is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The format's name.
    pub format: String,
    /// When the recording began, where the format says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<String>,
    /// All devices together: addresses of different devices are different.
    #[serde(flatten)]
    pub all: Summary,
    /// Each device, by its number.
    pub devices: Vec<DeviceSummary>,
    /// Records of other devices, when one was asked for, and those the format marks as not to be used.
    pub skipped: u64,
    /// What makes the figures doubtful.
    pub warnings: Vec<String>,
    /// What was left out or changed in the reading because of what the format is.
    pub notes: Vec<String>,
    /// What a picture is drawn from, where it was asked for; no part of what is told.
    #[serde(skip)]
    pub picture: Option<Value>,
}

/// What one device of a trace is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceSummary {
    /// The trace's number for it.
    pub device: u32,
    /// What it is.
    #[serde(flatten)]
    pub summary: Summary,
}

/// Reads a trace through and measures it. Memory grows with the working set, not with the trace's length.
///
/// # Errors
/// The trace cannot be read, is malformed somewhere, or has nothing of the device asked for; a profile cannot be written, or
/// is asked for of a trace of several devices; an interruption by `progress`.
pub fn inspect(
    path: &Path,
    options: &InspectOptions,
    progress: &mut dyn Progress,
) -> Result<Inspection, Error> {
    let failed = |path: &Path, error| Error::file(path, "write", error);
    // A path that cannot be written is known at once.
    let file = options.profile.as_deref().map(|path| {
        let file = WholeFile::create(path).map_err(|error| failed(path, error))?;
        Ok::<_, Error>((path, file))
    });
    let file = file.transpose()?;
    let reader = open(path, &options.format)?;
    let (inspection, profile) = inspect_reader(reader, path, options, progress)?;
    if let (Some((path, mut file)), Some(profile)) = (file, profile) {
        let text = toml::to_string(&profile).expect("a profile is plain data");
        let written = file.write_all(text.as_bytes());
        written
            .and_then(|()| file.finish())
            .map_err(|error| failed(path, error))?;
    }
    Ok(inspection)
}

fn inspect_reader(
    mut reader: Box<dyn TraceReader>,
    path: &Path,
    options: &InspectOptions,
    progress: &mut dyn Progress,
) -> Result<(Inspection, Option<Profile>), Error> {
    let mut read = 0;
    let mut builder = options.profile.is_some().then(ProfileBuilder::default);
    let mut picture = options.picture.then(Picture::default);
    let mut measures: BTreeMap<u32, Measure> = BTreeMap::new();
    let mut arrivals = Arrivals::default();
    let mut others = Devices::default();
    let mut skipped = 0;
    while let Some(record) = reader.next()? {
        read += 1;
        tell(progress, read)?;
        if options.device.is_some_and(|chosen| record.device != chosen) {
            others.add(record.device);
            skipped += 1;
            continue;
        }
        arrivals.add(record.arrival);
        let measure = measures.entry(record.device).or_default();
        if let Some(builder) = &mut builder {
            builder.add(&record, measure.end, options.threshold);
        }
        if let Some(picture) = &mut picture {
            picture.add(&record, measure.end);
        }
        measure.add(&record, options.threshold);
        if builder.is_some() && measures.len() > 1 {
            return Err(several(&*reader, &measures));
        }
    }
    if let Some(chosen) = options.device
        && measures.is_empty()
    {
        return Err(
            InputError::new(format!("the trace has no request of device {chosen}"))
                .at(Place::File(path.to_owned()))
                .help(format!("the devices seen: {others}"))
                .into(),
        );
    }
    let mut all = Total::default();
    let devices = measures.into_iter().map(|(device, measure)| {
        all.add(&measure);
        let arrivals = measure.arrivals;
        let total = Total::of(&measure);
        let summary = total.summary(&arrivals);
        DeviceSummary { device, summary }
    });
    let devices: Vec<DeviceSummary> = devices.collect();
    let profile = builder.map(|builder| {
        let nothing = Summary::default();
        let (device, summary) = devices
            .first()
            .map_or((0, &nothing), |d| (d.device, &d.summary));
        builder.finish(reader.format(), device, options.threshold, summary)
    });
    let inspection = Inspection {
        format: reader.format().to_owned(),
        start_date: reader.start_date().map(str::to_owned),
        all: all.summary(&arrivals),
        devices,
        skipped: skipped + reader.discarded(),
        warnings: reader.warnings(),
        notes: reader.notes(),
        picture: picture.map(|picture| picture.json()),
    };
    Ok((inspection, profile))
}

/// The profile of a trace of one device, for tests of what is made of it.
#[cfg(test)]
pub fn of_reader(reader: Box<dyn TraceReader>) -> Profile {
    let options = InspectOptions {
        profile: Some(PathBuf::new()),
        ..InspectOptions::default()
    };
    let measured = inspect_reader(reader, Path::new("trace"), &options, &mut ());
    measured.expect("a trace").1.expect("a profile")
}

/// A profile is of one device.
#[cold]
fn several(reader: &dyn TraceReader, measures: &BTreeMap<u32, Measure>) -> Error {
    let devices: Vec<_> = measures.keys().map(u32::to_string).collect();
    let devices = devices.join(" and ");
    InputError::new(format!(
        "the trace is of several devices, {devices}, and a profile is of one"
    ))
    .at(reader.place())
    .help("choose one of the devices (--device N)")
    .into()
}

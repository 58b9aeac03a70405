//! How far a simulated drive is from the real one: a recording of it, replayed, and the distance of the service times.
//!
//! The demerit compares two distributions. It says nothing of single requests: where a wait for the platter is as good as
//! random, an exact model has a demerit of next to nothing, and yet errs by milliseconds in every request. So the errors of
//! the requests are told beside it, by kinds of requests.

mod demerit;
mod drive;
mod kinds;
mod replay;
mod tally;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::base::error::{Error, InputError, Place};
use crate::base::units::{BLOCK_BYTES, Time};
use crate::devices::hdd::drive::DriveDescription;
use crate::devices::hdd::spec::buffer::BufferSpec;
use crate::engine::Initiator;
use crate::host::Progress;
use crate::metrics::Series;
use crate::metrics::series::{FEWEST_ABOVE, PERCENTILES};
use crate::runs::alone::alone;
use crate::workload::{FormatOptions, open};

pub use demerit::{Distribution, demerit_ms};

use kinds::Kinds;
use replay::{OutOfRange, Replay};
use tally::ReplayedRequest;

/// The version of the answer's form. Keys never change their meaning.
const SCHEMA: u32 = 1;

/// A request is simulated closely if it is off by no more.
const CLOSE: Time = Time::from_us(100);
/// Parts of the distribution, by which the result tells where the demerit comes from.
const TENTHS: usize = 10;
/// One in this number of quantiles is drawn, and every one from this share on.
const DRAWN_QUANTILES: usize = 50;
const DRAWN_TAIL: f64 = 0.99;

/// What to replay, and how.
#[derive(Clone, Debug, Default)]
pub struct ValidateOptions {
    /// `KEY=VALUE` put over the drive's description, in turn.
    pub set: Vec<String>,
    /// The format of the recording; found by its content when not given.
    pub format: Option<String>,
    /// Collects what a picture is drawn from: [`Validation::picture`].
    pub picture: bool,
}

/// What a validation found.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    json: Value,
    picture: Option<Value>,
}

impl Validation {
    /// The result.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// What a picture is drawn from, where it was asked for.
    pub fn picture(&self) -> Option<&Value> {
        self.picture.as_ref()
    }

    /// The root mean square distance of the distributions of service times, ms.
    pub fn rms_demerit_ms(&self) -> f64 {
        self.json["rms_demerit_ms"]
            .as_f64()
            .expect("a demerit is a finite number")
    }
}

/// The service times of both drives.
#[derive(Default)]
struct Times {
    recorded: Series,
    simulated: Series,
    recorded_bins: Distribution,
    simulated_bins: Distribution,
    close: u64,
    /// Requests that do not begin and end on the drive's sectors.
    unaligned: u64,
}

impl Times {
    fn add(&mut self, served: &ReplayedRequest, per_sector: u64) {
        self.recorded.add(served.recorded);
        self.simulated.add(served.simulated);
        self.recorded_bins.add(served.recorded);
        self.simulated_bins.add(served.simulated);
        let off = served.error_ns().unsigned_abs();
        self.close += u64::from(off <= u128::from(CLOSE.ns()));
        let end = served.lbn + u64::from(served.blocks);
        let is_aligned = served.lbn.is_multiple_of(per_sector) && end.is_multiple_of(per_sector);
        self.unaligned += u64::from(!is_aligned);
    }

    /// The share of the demerit's square by tenths of the distribution, from the shortest times to the longest.
    fn demerit_by_tenth(&self) -> Vec<f64> {
        let mut squares = [0.0; TENTHS];
        let quantiles = demerit::quantiles(&self.recorded_bins, &self.simulated_bins);
        for (point, (_, recorded, simulated)) in quantiles.enumerate() {
            let distance = recorded - simulated;
            squares[point * TENTHS / demerit::POINTS] += distance * distance;
        }
        let total: f64 = squares.iter().sum();
        let share = |square: f64| if total > 0.0 { square / total } else { 0.0 };
        squares.map(share).to_vec()
    }

    /// The curves of both distributions, and their quantiles beside each other.
    fn picture(&self) -> Map<String, Value> {
        let quantiles = demerit::quantiles(&self.recorded_bins, &self.simulated_bins);
        let drawn: Vec<_> = quantiles
            .enumerate()
            .filter(|(point, (share, ..))| {
                (point + 1) % DRAWN_QUANTILES == 0 || *share >= DRAWN_TAIL
            })
            .map(|(_, quantile)| quantile)
            .collect();
        let mut picture = Map::new();
        picture.insert("recorded".into(), self.recorded.curve());
        picture.insert("simulated".into(), self.simulated.curve());
        let quantiles = json!({
            "share": drawn.iter().map(|point| point.0).collect::<Vec<_>>(),
            "recorded_ms": drawn.iter().map(|point| point.1).collect::<Vec<_>>(),
            "simulated_ms": drawn.iter().map(|point| point.2).collect::<Vec<_>>(),
        });
        picture.insert("quantiles".into(), quantiles);
        picture
    }
}

/// Replays `trace` on `drive`, a name or a path, and compares the recorded with the simulated service times.
///
/// The drive has its buffer, if its description has one, and takes one request at a time.
///
/// # Errors
/// A drive that is unknown or cannot be read; a trace that cannot be read, is empty, does not tell the service times and gaps,
/// or has no request that fits the drive; an interruption by `progress`.
pub fn validate(
    drive: &str,
    trace: &Path,
    options: &ValidateOptions,
    progress: &mut dyn Progress,
) -> Result<Validation, Error> {
    let read = drive::drive(drive, &options.set)?;
    let (description, mut warnings) = (read.description.clone(), read.warnings.clone());
    let hardware = &read.hardware;
    let blocks = hardware.blocks();
    let per_sector = hardware.blocks_per_sector;
    let layout = &hardware.mechanics.layout;
    for warning in layout.warnings() {
        if !warnings
            .iter()
            .any(|known| known.ends_with(warning.as_str()))
        {
            warnings.push(warning.clone());
        }
    }
    warnings.extend(of_the_arms(&description));
    let mut kinds = Kinds::new(layout.zones_by_lbn(), per_sector, blocks);
    let mut times = Times::default();
    let format = FormatOptions {
        format: options.format.clone(),
        ..FormatOptions::default()
    };
    let reader = open(trace, &format)?;
    let format = reader.format();
    let mut serve = |served: ReplayedRequest| {
        times.add(&served, per_sector.into());
        kinds.add(&served);
    };
    let mut replay = Replay::new(reader, blocks, &mut serve, progress);
    let mut engine = alone(read, BufferSpec::Drive)?;
    engine.run(&mut replay)?;
    if replay.tick().is_break() {
        return Err(Error::Interrupted);
    }
    warnings.extend(replay.warnings());
    let mut notes = replay.notes();
    let (requests, out_of_range) = (replay.completed(), replay.out_of_range.clone());
    if requests == 0 {
        return Err(nothing(trace, &out_of_range, blocks));
    }
    warnings.extend(of_the_fit(
        &description,
        &times,
        &out_of_range,
        blocks,
        requests,
    ));
    notes.extend(of_the_buffer(&description));
    let found = Found {
        drive,
        description: &description,
        trace: trace.to_owned(),
        format,
        blocks,
        out_of_range: out_of_range.requests,
        simulated: engine.now(),
    };
    let json = found.json(options, &times, &kinds, (warnings, notes));
    let picture = options.picture.then(|| {
        let mut picture = times.picture();
        picture.insert("places".into(), kinds.places());
        picture.into()
    });
    Ok(Validation { json, picture })
}

/// What a replay on one arm says against itself.
fn of_the_arms(description: &DriveDescription) -> Option<String> {
    let arms = description.arms.as_ref()?.arm.len();
    (arms > 1).then(|| {
        format!("the drive has {arms} arms; the requests are served one at a time, by a single one that reaches everything")
    })
}

/// What a drive without a buffer does.
fn of_the_buffer(description: &DriveDescription) -> Option<String> {
    description.buffer.is_none().then(|| {
        "the drive's description has no buffer: every request waits for the medium".to_owned()
    })
}

/// Nothing was compared.
fn nothing(trace: &Path, out_of_range: &OutOfRange, blocks: u64) -> Error {
    let place = Place::File(trace.to_owned());
    let error = match out_of_range.requests {
        0 => InputError::new("the recording has no requests"),
        all => InputError::new(format!(
            "all {all} requests of the recording reach beyond the drive's {blocks} blocks"
        ))
        .help("is it the recording of another drive?"),
    };
    error.at(place).into()
}

/// What does not fit, between the recording and the drive.
fn of_the_fit(
    drive: &DriveDescription,
    times: &Times,
    out_of_range: &OutOfRange,
    blocks: u64,
    requests: u64,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if out_of_range.requests > 0 {
        warnings.push(format!(
            "{} of {} requests reach beyond the drive's {blocks} blocks and were left out, the first in {}: is it the \
             recording of another drive?",
            out_of_range.requests,
            requests + out_of_range.requests,
            out_of_range.first
        ));
    }
    if drive.sector_size.blocks() > 1 {
        warnings.push(format!(
            "the drive has sectors of {} bytes, and the recording's addresses are taken for blocks of {BLOCK_BYTES} bytes: {} of \
             {requests} requests do not begin and end on sectors",
            drive.sector_size.blocks() * BLOCK_BYTES,
            times.unaligned
        ));
    }
    let is_thin = |quantile: f64| (1.0 - quantile) * (requests as f64) < FEWEST_ABOVE - 1e-6;
    let thin = PERCENTILES
        .iter()
        .filter(|(_, quantile)| is_thin(*quantile));
    let thin: Vec<&str> = thin.map(|(name, _)| *name).collect();
    if !thin.is_empty() {
        warnings.push(format!(
            "fewer than {FEWEST_ABOVE} of the {requests} requests lie above {}: do not rely on it",
            thin.join(", ")
        ));
    }
    warnings
}

/// What the result says beside the times.
struct Found<'a> {
    drive: &'a str,
    description: &'a DriveDescription,
    trace: PathBuf,
    format: &'static str,
    blocks: u64,
    out_of_range: u64,
    simulated: Time,
}

impl Found<'_> {
    fn json(
        &self,
        options: &ValidateOptions,
        times: &Times,
        kinds: &Kinds,
        (warnings, notes): (Vec<String>, Vec<String>),
    ) -> Value {
        let demerit = demerit_ms(&times.recorded_bins, &times.simulated_bins);
        let (recorded, simulated) = (times.recorded.mean_ms(), times.simulated.mean_ms());
        let requests = times.recorded.count();
        json!({
            "schema": SCHEMA,
            "drive": self.drive,
            "name": self.description.name,
            "set": options.set,
            "capacity_blocks": self.blocks,
            "sector_bytes": self.description.sector_size.blocks() * BLOCK_BYTES,
            "trace": self.trace.display().to_string(),
            "format": self.format,
            "requests": requests,
            "beyond_the_end": self.out_of_range,
            "rms_demerit_ms": demerit,
            // Where all recorded times are 0 there is nothing that the demerit could be a share of.
            "relative_demerit": (recorded > 0.0).then(|| demerit / recorded),
            "recorded_mean_ms": recorded,
            "simulated_mean_ms": simulated,
            "recorded_ms": times.recorded.json(),
            "simulated_ms": times.simulated.json(),
            "demerit_by_tenth": times.demerit_by_tenth(),
            "share_within_0_1_ms": times.close as f64 / requests.max(1) as f64,
            "error_mean_ms": kinds.all().error_mean_ms(),
            "error_rms_ms": kinds.all().error_rms_ms(),
            "kinds": kinds.json(),
            "simulated_s": self.simulated.s(),
            "notes": notes,
            "warnings": warnings,
        })
    }
}

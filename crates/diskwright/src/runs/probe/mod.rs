//! What a drive does, measured on the running simulator: rotation, seek curve, access times, zones, random reads, and what its caches do.
//!
//! Nothing here is copied from a drive's parameters. A drive gets requests and tells of each how long it took; the
//! parameters only say at which distances a closer look is worth while.

mod access;
mod bench;
mod curve;
mod destage;
pub mod flash;
mod iops;
mod load;
mod memory;
mod meter;
mod places;
mod rotation;
mod seek;
mod streams;
mod writes;
mod zones;

use serde::Serialize;

use crate::base::error::{Error, InputError, unknown_name};
use crate::base::units::{BLOCK_BYTES, Size};
use crate::host::Progress;
use crate::models::queue::SchedulerChoice;
use crate::runs::simulation;

pub use access::{Access, Overall, Times};
pub use curve::{Curves, Point as CurvePoint};
pub use destage::{Destage, Destages};
pub use iops::RandomReads;
pub use memory::{Memory, Missing, WriteCache};
pub use seek::{HeadSwitch, Seek};
pub use streams::{StreamSpeed, Streams};
pub use writes::{Burst, Interval, Steady, Writes, WritesOverTime};
pub use zones::ZoneSpeed;

use bench::Bench;
use meter::Meter;

/// The version of the answer's form. Keys never change their meaning.
const SCHEMA: u32 = 1;

/// The measurements that can be asked for. Where none is named, the first four are made: the others take longer, and `rotation` stands
/// for what is always measured.
pub const MEASUREMENTS: [&str; 9] = [
    "seek", "access", "zones", "iops", "curve", "streams", "writes", "destage", "rotation",
];
/// Those that are made where none is named.
const USUAL: [&str; 4] = ["seek", "access", "zones", "iops"];

/// Those that are about the drive's memory.
const OF_CACHES: [&str; 3] = ["streams", "writes", "destage"];

/// Reads in units of the deepest queue's depth: enough that the queue's filling and emptying hardly count.
const READS_PER_DEPTH: u64 = 10;
/// The most random writes that are outstanding.
const MOST_OUTSTANDING: u32 = 4096;
/// The most samples of a distance.
const MOST_SAMPLES: u32 = 10_000_000;

/// What to measure, and how closely.
#[derive(Clone, Debug)]
pub struct ProbeOptions {
    /// Some of [`MEASUREMENTS`]; the usual ones where none is named.
    pub only: Vec<String>,
    /// Random accesses at each distance.
    pub samples: u32,
    /// The seed of every random stream.
    pub seed: u64,
    /// Queue depths.
    pub depths: Vec<u32>,
    /// Schedulers, by their names in specs; `shipped` is the one that the drive ships with, if its file says so.
    pub schedulers: Vec<String>,
    /// Size of a random read.
    pub size: Size,
    /// Random reads at each depth with each scheduler.
    pub reads: u64,
    /// Size of a request of a stream.
    pub stream_size: Size,
    /// Random writes outstanding.
    pub write_depth: u32,
}

impl Default for ProbeOptions {
    fn default() -> ProbeOptions {
        ProbeOptions {
            only: Vec::new(),
            samples: 10_000,
            seed: 1,
            depths: (0..=8).map(|power| 1 << power).collect(),
            schedulers: [iops::SHIPPED, "fcfs", "sstf", "c-look", "satf"]
                .map(str::to_owned)
                .into(),
            size: Size::from_blocks(8),
            reads: 30_000,
            stream_size: Size::from_blocks(128),
            write_depth: 16,
        }
    }
}

/// What was measured; what was not asked for is `None`.
#[derive(Clone, Debug, Serialize)]
pub struct Probe {
    /// The version of this form.
    pub schema: u32,
    /// The drive, as it was asked for.
    pub drive: String,
    /// Maker and model.
    pub name: String,
    /// Capacity in 512-byte blocks.
    pub capacity_blocks: u64,
    /// The seed of the random measurements.
    pub seed: u64,
    /// Time of a revolution, ms.
    pub revolution_ms: f64,
    /// Revolutions a minute.
    pub rpm: f64,
    /// The switch to another head of the cylinder; `None` where no cylinder has data under two heads, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_switch: Option<HeadSwitch>,
    /// The seek curve, by rising distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seek: Option<Vec<Seek>>,
    /// Access times between random sectors of the whole drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_access: Option<Overall>,
    /// Access times by distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Vec<Access>>,
    /// Access times by distance in blocks, as the device `curve` takes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Curves>,
    /// Bandwidth by zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Vec<ZoneSpeed>>,
    /// Size of a random read, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_read_bytes: Option<u64>,
    /// The scheduler that the drive ships with, as a spec would have it; `None` where its file does not say, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipped_scheduler: Option<SchedulerChoice>,
    /// Random reads by scheduler and depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<Vec<RandomReads>>,
    /// The memory that the measurements of caches are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Sequential streams; `None` without memory, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<Streams>,
    /// Random writes over time; `None` without memory, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<Writes>,
    /// What becomes of bursts of writes; `None` without memory, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destage: Option<Destages>,
}

fn wrong(message: String, help: String) -> Result<(), Error> {
    Err(InputError::new(message).help(help).into())
}

/// Refuses options that ask for nothing or too much.
fn check(options: &ProbeOptions) -> Result<(), Error> {
    for name in &options.only {
        if !MEASUREMENTS.contains(&name.as_str()) {
            return Err(unknown_name("measurement", name, &MEASUREMENTS).into());
        }
    }
    if !(1..=MOST_SAMPLES).contains(&options.samples) {
        return wrong(
            format!("{} samples of a distance", options.samples),
            format!("accepted: 1 to {MOST_SAMPLES}"),
        );
    }
    Ok(())
}

/// The same of the random reads.
fn check_reads(options: &ProbeOptions, capacity_blocks: u64) -> Result<(), Error> {
    if options.depths.is_empty() || options.schedulers.is_empty() {
        return wrong(
            "random reads need a depth and a scheduler".to_owned(),
            "leave iops out of the measurements if they are not wanted".to_owned(),
        );
    }
    if options.depths.contains(&0) {
        return wrong(
            "a queue of depth 0 takes no request".to_owned(),
            "accepted: 1 or more".to_owned(),
        );
    }
    let deepest = options.depths.iter().copied().max().unwrap_or(1);
    let fewest = READS_PER_DEPTH * u64::from(deepest);
    if options.reads < fewest {
        return wrong(
            format!(
                "{} random reads are too few for a queue of {deepest}",
                options.reads
            ),
            format!("accepted: {fewest} or more, {READS_PER_DEPTH} times the deepest queue"),
        );
    }
    let most = capacity_blocks.min(u32::MAX.into());
    if !(1..=most).contains(&options.size.blocks()) {
        return wrong(
            format!("random reads of {}", options.size),
            format!("accepted: 1 to {most} blocks"),
        );
    }
    Ok(())
}

/// The same of the requests that go to the caches.
fn check_caches(options: &ProbeOptions, capacity_blocks: u64) -> Result<(), Error> {
    let most = (capacity_blocks / 2).min(u32::MAX.into());
    if !(1..=most).contains(&options.stream_size.blocks()) {
        return wrong(
            format!("streams of requests of {}", options.stream_size),
            format!("accepted: 1 to {most} blocks"),
        );
    }
    if !(1..=MOST_OUTSTANDING).contains(&options.write_depth) {
        return wrong(
            format!("random writes at a depth of {}", options.write_depth),
            format!("accepted: 1 to {MOST_OUTSTANDING}"),
        );
    }
    if capacity_blocks < writes::BLOCKS.into() {
        return wrong(
            format!("a drive of {capacity_blocks} blocks has no room for a write of 4 KiB"),
            "leave writes and destage out of the measurements".to_owned(),
        );
    }
    Ok(())
}

/// What was measured of a drive of either kind.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Probed {
    /// Of a hard disk.
    Disk(Box<Probe>),
    /// Of an SSD.
    Flash(Box<flash::FlashProbe>),
}

/// Measures a drive, by name or path.
///
/// # Errors
/// An unknown name, or a file that cannot be read or is wrong; options without sense; an interruption by `progress`.
pub fn probe(
    drive: &str,
    options: &ProbeOptions,
    progress: &mut dyn Progress,
) -> Result<Probed, Error> {
    let summary = simulation::drive_summary(drive)?;
    match summary["kind"].as_str() {
        Some("ssd") => {
            let found = flash::probe(drive, &summary, options, progress)?;
            Ok(Probed::Flash(Box::new(found)))
        }
        _ => {
            probe_disk(drive, summary, options, progress).map(|found| Probed::Disk(Box::new(found)))
        }
    }
}

/// Measures a hard disk.
fn probe_disk(
    drive: &str,
    mut summary: serde_json::Value,
    options: &ProbeOptions,
    progress: &mut dyn Progress,
) -> Result<Probe, Error> {
    let name = summary["name"].as_str().unwrap_or(drive).to_owned();
    // A curve with numbers that JSON cannot hold names no distances of its own.
    let curve = serde_json::from_value(summary["description"]["seek"].take()).ok();
    let read = simulation::drive(drive)?;
    let capacity_blocks = read.hardware.blocks();
    let wanted = |name: &str| match options.only.is_empty() {
        true => USUAL.contains(&name),
        false => options.only.iter().any(|only| only == name),
    };
    check(options)?;
    if wanted("iops") {
        check_reads(options, capacity_blocks)?;
    }
    let ships = read.description.ships.as_ref();
    let shipped = ships.and_then(|ships| ships.scheduler.clone());
    let schedulers = iops::schedulers(&options.schedulers, shipped.as_ref())?;
    let memory = Memory::of(&read.description);
    let has_caches = memory.is_there();
    let asks_for_caches = OF_CACHES.iter().any(|name| wanted(name));
    if asks_for_caches && has_caches {
        check_caches(options, capacity_blocks)?;
    }
    let of_caches = [
        ("streams", streams::steps(capacity_blocks, options)),
        ("writes", writes::steps(&read.description)),
        ("destage", destage::steps(&read.description)),
    ];
    let of_caches = of_caches.into_iter().filter(|_| has_caches);

    let mut bench = Bench::new(read)?;
    let seeks = seek::distances(&bench, curve.as_ref());
    let accesses = access::distances(&bench);
    let apart = curve::distances(bench.layout().sectors());
    let work = [
        ("seek", seeks.len() as u64),
        ("access", access::steps(accesses.len(), options.samples)),
        ("curve", curve::steps(apart.len(), options.samples)),
        ("zones", bench.layout().zones_by_lbn().len() as u64),
        (
            "iops",
            options
                .reads
                .saturating_mul((options.depths.len() * schedulers.len()) as u64),
        ),
    ];
    let total = work.into_iter().chain(of_caches);
    let total = total.filter(|(name, _)| wanted(name));
    let mut meter = Meter::new(
        progress,
        total.map(|(_, steps)| steps).fold(0, u64::saturating_add),
    );

    let turning = rotation::measure(&mut bench)?;
    let mut found = Probe {
        schema: SCHEMA,
        drive: drive.to_owned(),
        name,
        capacity_blocks,
        seed: options.seed,
        revolution_ms: turning.revolution_ms(),
        rpm: turning.rpm(),
        head_switch: None,
        seek: None,
        random_access: None,
        access: None,
        curve: None,
        zones: None,
        random_read_bytes: None,
        shipped_scheduler: None,
        random: None,
        memory: None,
        streams: None,
        writes: None,
        destage: None,
    };
    if wanted("seek") {
        found.head_switch = seek::head_switch(&mut bench)?;
        found.seek = Some(seek::measure(&mut bench, &seeks, &mut meter)?);
    }
    if wanted("access") {
        let (samples, seed) = (options.samples, options.seed);
        let all = access::overall(&mut bench, samples, seed, &mut meter)?;
        found.random_access = Some(all);
        let by_distance = access::measure(&mut bench, &accesses, samples, seed, &mut meter)?;
        found.access = Some(by_distance);
    }
    if wanted("curve") {
        let (samples, seed) = (options.samples, options.seed);
        let curves = curve::measure(&mut bench, &apart, samples, seed, &mut meter)?;
        found.curve = Some(curves);
    }
    if wanted("zones") {
        found.zones = Some(zones::measure(&mut bench, &mut meter)?);
    }
    if wanted("iops") {
        found.random_read_bytes = Some(options.size.blocks() * BLOCK_BYTES);
        found.shipped_scheduler = shipped;
        found.random = Some(iops::measure(drive, options, &schedulers, &mut meter)?);
    }
    if wanted("streams") && has_caches {
        found.streams = Some(streams::measure(drive, options, &memory, &mut meter)?);
    }
    if wanted("writes") && has_caches {
        found.writes = Some(writes::measure(drive, options, &memory, &mut meter)?);
    }
    if wanted("destage") && has_caches {
        found.destage = Some(destage::measure(drive, options, &memory, &mut meter)?);
    }
    found.memory = asks_for_caches.then_some(memory);
    Ok(found)
}

#[cfg(test)]
mod tests;

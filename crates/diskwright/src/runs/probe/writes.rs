//! Random writes over time, from the empty memory to the steady state, in each state of the write cache.

use serde::Serialize;

use crate::base::error::Error;
use crate::base::random::Stream;
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::devices::hdd::drive::DriveDescription;
use crate::engine::request::{Command, Op};
use crate::metrics::Series;
use crate::runs::simulation;

use super::ProbeOptions;
use super::load::{Load, Served, Subject, rate};
use super::memory::{Memory, Missing, WriteCache, states};
use super::meter::Meter;

/// Blocks of a random write: 4 KiB.
pub(super) const BLOCKS: u32 = 8;
/// Its bytes.
pub(super) const BYTES: u64 = BLOCKS as u64 * BLOCK_BYTES;
/// The fewest writes that a steady figure is the mean of.
const STEADY: u64 = 10_000;
/// The fewest after a burst that it leaves out.
const SETTLING: u64 = 1000;
/// The first interval's end.
const FIRST_INTERVAL: Time = Time::from_ms(10);
/// Intervals while time grows tenfold.
const PER_DECADE: u32 = 5;

/// Random writes over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Writes {
    /// Size of a write, bytes.
    pub request_bytes: u64,
    /// Writes outstanding.
    pub depth: u32,
    /// The states of the write cache that the drive has.
    pub states: Vec<WritesOverTime>,
    /// Those that it does not have.
    pub missing: Vec<Missing>,
}

/// Random writes over time in one state of the write cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WritesOverTime {
    /// The state.
    pub write_cache: WriteCache,
    /// Whether the drive ships in it.
    pub ships: bool,
    /// What memory absorbed before the first write that had to wait; `None` where every write waits for the medium, or none ever waited.
    pub burst: Option<Burst>,
    /// The rate after the burst: measured over as many writes again, at least 1000.
    pub steady: Steady,
    /// Writes by time, in intervals whose ends are in equal ratios, five to a decade; the last one ends with the measurement.
    pub intervals: Vec<Interval>,
}

/// Writes that memory absorbed without a pause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Burst {
    /// How many.
    pub writes: u64,
    /// How much.
    pub bytes: u64,
    /// When the last of them was complete, s after the first was issued.
    pub end_s: f64,
    /// Their mean response time, ms.
    pub response_mean_ms: f64,
}

/// The steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Steady {
    /// When its first write was complete, s after the first one of all was issued.
    pub from_s: f64,
    /// How many writes the figures are the means of.
    pub writes: u64,
    /// Writes a second: the depth divided by the mean response time.
    pub iops: f64,
    /// The 95 % confidence interval of `iops`; `None` where that of the mean response time cannot be told.
    pub iops_ci95: Option<[f64; 2]>,
    /// Mean response time, ms.
    pub response_mean_ms: f64,
    /// 99 % of the response times are no longer, ms.
    pub response_p99_ms: f64,
}

/// The writes of a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Where it begins, s.
    pub from_s: f64,
    /// Where it ends, s.
    pub to_s: f64,
    /// Writes that were completed in it.
    pub writes: u64,
    /// Writes a second.
    pub iops: f64,
}

/// Random places for writes.
pub(super) struct Places {
    stream: Stream,
    count: u64,
}

impl Places {
    /// All over a drive; a seed draws the same ones.
    pub fn new(seed: u64, capacity_blocks: u64) -> Places {
        Places {
            stream: Stream::new(seed, "probe.random_writes"),
            count: capacity_blocks / u64::from(BLOCKS),
        }
    }

    pub fn write(&mut self) -> Command {
        Command {
            op: Op::Write,
            fua: false,
            lbn: Lbn(self.stream.below(self.count) * u64::from(BLOCKS)),
            blocks: BLOCKS,
        }
    }
}

/// Writes until the steady state has been seen for long enough.
struct Filling {
    places: Places,
    /// When each write was complete, and its response time.
    complete: Vec<(Time, Time)>,
    /// How many there were before the first that waited.
    burst: Option<u64>,
    /// From which write on the state is steady, and how many there are to be; where the memory never fills, the latter is the most.
    steady_from: Option<u64>,
    wanted: u64,
}

impl Filling {
    fn new(places: Places, absorbs: bool, most: u64) -> Filling {
        Filling {
            places,
            complete: Vec::new(),
            burst: None,
            steady_from: (!absorbs).then_some(SETTLING),
            wanted: match absorbs {
                true => most.max(STEADY),
                false => SETTLING + STEADY,
            },
        }
    }
}

impl Load for Filling {
    fn next(&mut self, _user: u32) -> Option<Command> {
        let is_done = self.complete.len() as u64 >= self.wanted;
        (!is_done).then(|| self.places.write())
    }

    fn served(&mut self, served: &Served) {
        let so_far = self.complete.len() as u64;
        if so_far >= self.wanted {
            return;
        }
        if served.has_waited && self.steady_from.is_none() {
            let from = so_far + so_far.max(SETTLING);
            (self.burst, self.steady_from) = (Some(so_far), Some(from));
            self.wanted = from + so_far.max(STEADY);
        }
        self.complete.push((served.at, served.response));
    }
}

/// Steps of the meter for a state.
const STEPS: u64 = SETTLING + STEADY;

/// Steps of the meter that [`measure`] takes.
pub fn steps(drive: &DriveDescription) -> u64 {
    STEPS * states(drive).0.len() as u64
}

/// Writes 4 KiB at random places, `write_depth` at a time, in each state that the drive has.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn measure(
    drive: &str,
    options: &ProbeOptions,
    memory: &Memory,
    meter: &mut Meter<'_>,
) -> Result<Writes, Error> {
    let (there, missing) = states(&simulation::drive(drive)?.description);
    let states = there.into_iter().map(|state| {
        let found = over_time(drive, state, options, memory, meter)?;
        meter.advance(STEPS)?;
        Ok::<_, Error>(found)
    });
    Ok(Writes {
        request_bytes: BYTES,
        depth: options.write_depth,
        states: states.collect::<Result<_, _>>()?,
        missing,
    })
}

fn over_time(
    drive: &str,
    state: WriteCache,
    options: &ProbeOptions,
    memory: &Memory,
    meter: &mut Meter<'_>,
) -> Result<WritesOverTime, Error> {
    let drive = simulation::drive(drive)?;
    let places = Places::new(options.seed, drive.hardware.blocks());
    let mut load = Filling::new(places, state.absorbs(), memory.most_filling(BYTES));
    let mut subject = Subject::new(drive, Some(state.is_enabled()))?;
    subject.run(options.write_depth, &mut load, meter)?;
    let complete = &load.complete;
    // A memory that never fills is in its steady state from the beginning; half of it will do.
    let from = load.steady_from.unwrap_or(load.wanted / 2) as usize;
    Ok(WritesOverTime {
        write_cache: state,
        ships: memory.write_cache == Some(state),
        burst: load.burst.and_then(|writes| burst(complete, writes)),
        steady: steady(&complete[from..], options.write_depth),
        intervals: intervals(complete),
    })
}

fn burst(complete: &[(Time, Time)], writes: u64) -> Option<Burst> {
    let of_burst = &complete[..writes as usize];
    let &(end, _) = of_burst.last()?;
    let responses: Time = of_burst.iter().map(|&(_, response)| response).sum();
    Some(Burst {
        writes,
        bytes: writes * BYTES,
        end_s: end.s(),
        response_mean_ms: responses.ms() / writes as f64,
    })
}

fn steady(complete: &[(Time, Time)], depth: u32) -> Steady {
    let mut responses = Series::default();
    complete
        .iter()
        .for_each(|&(_, response)| responses.add(response));
    let mean = responses.mean_ms();
    let (iops, iops_ci95) = rate(depth, mean, responses.ci95_ms().ok());
    Steady {
        from_s: complete[0].0.s(),
        writes: responses.count(),
        iops,
        iops_ci95,
        response_mean_ms: mean,
        response_p99_ms: responses.quantile_ms(0.99),
    }
}

/// The ends of intervals.
fn ends() -> impl Iterator<Item = Time> {
    (0u32..).map(|number| {
        let ratio = libm::pow(10.0, f64::from(number) / f64::from(PER_DECADE));
        Time::from_ns(libm::round(FIRST_INTERVAL.ns() as f64 * ratio) as u64)
    })
}

fn intervals(complete: &[(Time, Time)]) -> Vec<Interval> {
    let mut found = Vec::new();
    let (mut rest, mut from) = (complete, Time::ZERO);
    let mut ends = ends();
    while let (Some(&(last, _)), Some(end)) = (rest.last(), ends.next()) {
        let to = end.min(last);
        let writes = rest.partition_point(|&(at, _)| at <= to);
        found.push(Interval {
            from_s: from.s(),
            to_s: to.s(),
            writes: writes as u64,
            iops: writes as f64 / (to - from).s(),
        });
        (rest, from) = (&rest[writes..], to);
    }
    found
}

//! Sequential streams beside one another, on a drive as it ships: bandwidth and latency by their number.

use serde::Serialize;

use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::engine::request::{Command, Op};
use crate::metrics::Series;
use crate::runs::simulation;

use super::ProbeOptions;
use super::load::{Load, Served, Subject};
use super::memory::{Memory, WriteCache};
use super::meter::Meter;

/// The numbers of streams are the powers of two up to this one of them, 64.
const MOST_POWER: u32 = 6;
/// The fewest requests that a figure is the mean of.
const REQUESTS: u64 = 4096;
/// The fewest for each stream.
const REQUESTS_OF_STREAM: u64 = 128;
/// The warm-up is the number of measured requests divided by this.
const WARM_UP: u64 = 4;

/// Streams of requests of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Streams {
    /// Size of a request, bytes.
    pub request_bytes: u64,
    /// The state of the write cache, which is that in which the drive ships.
    pub write_cache: Option<WriteCache>,
    /// Streams of reads, by their number.
    pub read: Vec<StreamSpeed>,
    /// Streams of writes, by their number.
    pub write: Vec<StreamSpeed>,
}

/// A number of streams beside one another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StreamSpeed {
    /// How many there are.
    pub streams: u32,
    /// What all of them move together, MB/s of 10^6 bytes.
    pub mb_per_s: f64,
    /// What the slowest of them moves, MB/s of 10^6 bytes: next to nothing where the others starve it.
    pub slowest_mb_per_s: f64,
    /// Mean response time of a request, ms, by Little's law: each stream has one outstanding at any time, also one that starves.
    pub response_mean_ms: f64,
    /// 99 % of the requests that were completed took no longer, ms.
    pub response_p99_ms: f64,
    /// Requests that were measured, of all streams.
    pub requests: u64,
}

/// A stream for each user, each in its own part of the drive.
struct Beside {
    op: Op,
    blocks: u32,
    /// The part of each stream, and where it is in that.
    parts: Vec<(u64, u64)>,
    next: Vec<u64>,
    /// Requests that are complete, and how many come before the first that is measured; not known while the memory is filling.
    complete: u64,
    warm_up: Option<u64>,
    /// The least of the warm-up, and where the filling is given up.
    least: u64,
    most: u64,
    wanted: u64,
    since: Time,
    until: Time,
    responses: Series,
    /// Requests of each stream that were measured.
    of_stream: Vec<u64>,
}

impl Beside {
    fn is_done(&self) -> bool {
        self.responses.count() == self.wanted
    }
}

impl Load for Beside {
    fn next(&mut self, user: u32) -> Option<Command> {
        if self.is_done() {
            return None;
        }
        let (first, end) = self.parts[user as usize];
        let next = &mut self.next[user as usize];
        if *next + u64::from(self.blocks) > end {
            *next = first;
        }
        let lbn = Lbn(*next);
        *next += u64::from(self.blocks);
        Some(Command {
            op: self.op,
            fua: false,
            lbn,
            blocks: self.blocks,
        })
    }

    fn served(&mut self, served: &Served) {
        if self.is_done() {
            return;
        }
        self.complete += 1;
        match self.warm_up {
            Some(warm_up) if self.complete > warm_up => {
                self.responses.add(served.response);
                self.of_stream[served.user as usize] += 1;
                self.until = served.at;
            }
            Some(_) => self.since = served.at,
            None => {
                // Once it is full, as much again goes by.
                if served.has_waited || self.complete >= self.most {
                    self.warm_up = Some((2 * self.complete).max(self.least));
                }
                self.since = served.at;
            }
        }
    }
}

/// The number of measured requests of `streams` streams.
fn measured(streams: u32) -> u64 {
    REQUESTS.max(REQUESTS_OF_STREAM * u64::from(streams))
}

/// The numbers of streams of which each has room for two requests at least.
fn numbers(capacity_blocks: u64, blocks: u64) -> impl Iterator<Item = u32> {
    let numbers = (0..=MOST_POWER).map(|power| 1 << power);
    numbers.filter(move |&streams| capacity_blocks / u64::from(streams) >= 2 * blocks)
}

/// Steps of the meter that [`measure`] takes.
pub fn steps(capacity_blocks: u64, options: &ProbeOptions) -> u64 {
    let blocks = options.stream_size.blocks();
    2 * numbers(capacity_blocks, blocks).map(measured).sum::<u64>()
}

/// Streams that are spread evenly over the drive, from its beginning on.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn measure(
    drive: &str,
    options: &ProbeOptions,
    memory: &Memory,
    meter: &mut Meter<'_>,
) -> Result<Streams, Error> {
    let capacity = simulation::drive(drive)?.hardware.blocks();
    let mut of = |op| {
        numbers(capacity, options.stream_size.blocks())
            .map(|streams| {
                let speed = beside(drive, op, streams, options, memory, meter)?;
                meter.advance(measured(streams))?;
                Ok(speed)
            })
            .collect::<Result<Vec<_>, Error>>()
    };
    Ok(Streams {
        request_bytes: options.stream_size.blocks() * BLOCK_BYTES,
        write_cache: memory.write_cache,
        read: of(Op::Read)?,
        write: of(Op::Write)?,
    })
}

fn beside(
    drive: &str,
    op: Op,
    streams: u32,
    options: &ProbeOptions,
    memory: &Memory,
    meter: &mut Meter<'_>,
) -> Result<StreamSpeed, Error> {
    let drive = simulation::drive(drive)?;
    let per_sector = u64::from(drive.hardware.blocks_per_sector);
    let sectors = drive.hardware.blocks() / per_sector;
    let border = |stream: u32| {
        let sector = u128::from(sectors) * u128::from(stream) / u128::from(streams);
        sector as u64 * per_sector
    };
    let parts: Vec<_> = (0..streams)
        .map(|stream| (border(stream), border(stream + 1)))
        .collect();
    let blocks = options.stream_size.blocks();
    let wanted = measured(streams);
    let least = wanted / WARM_UP;
    let fills = op == Op::Write && memory.write_cache.is_some_and(WriteCache::absorbs);
    let mut load = Beside {
        op,
        blocks: blocks as u32,
        next: parts.iter().map(|&(first, _)| first).collect(),
        parts,
        complete: 0,
        warm_up: (!fills).then_some(least),
        least,
        most: memory.most_filling(blocks * BLOCK_BYTES),
        wanted,
        since: Time::ZERO,
        until: Time::ZERO,
        responses: Series::default(),
        of_stream: vec![0; streams as usize],
    };
    Subject::new(drive, None)?.run(streams, &mut load, meter)?;
    let span = load.until - load.since;
    let rate = |requests: u64| (requests * blocks * BLOCK_BYTES) as f64 / span.s() / 1e6;
    let slowest = load.of_stream.iter().copied().min().unwrap_or(0);
    Ok(StreamSpeed {
        streams,
        mb_per_s: rate(wanted),
        slowest_mb_per_s: rate(slowest),
        response_mean_ms: f64::from(streams) * span.ms() / wanted as f64,
        response_p99_ms: load.responses.quantile_ms(0.99),
        requests: wanted,
    })
}

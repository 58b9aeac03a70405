//! Latency of one request at a time, and bandwidth of many, by size.

use serde::Serialize;

use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Lbn, Size};
use crate::engine::request::Op;

use super::super::ProbeOptions;
use super::super::meter::Meter;
use super::stand_in::StandIn;
use super::subject::{State, Subject, Times, command, measured, rate};

/// 512 bytes to 1 MiB.
const SIZES: std::ops::RangeInclusive<u32> = 0..=11;
/// The sizes of which the bandwidth is measured: from 4 KiB on.
const LONG: std::ops::RangeInclusive<u32> = 3..=11;
/// Requests outstanding where the bandwidth is measured.
const OUTSTANDING: u32 = 32;
/// The fewest requests of a size.
const FEWEST: u64 = 320;

/// One request at a time of a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Size of a request.
    pub bytes: u64,
    /// Random reads of a half-full drive.
    pub read: Times,
    /// Random writes to a new one.
    pub write: Times,
}

/// Many requests of a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Size of a request.
    pub bytes: u64,
    /// Requests outstanding.
    pub outstanding: u32,
    /// One after another, of a half-full drive; 10⁶ bytes a second.
    pub sequential_read_mb_per_s: f64,
    /// At random places of a half-full drive.
    pub random_read_mb_per_s: f64,
    /// One after another, to a new drive.
    pub sequential_write_mb_per_s: f64,
    /// At random places of a new drive.
    pub random_write_mb_per_s: f64,
}

/// Requests of a size: as many bytes as of 4 KiB, within reason.
fn count(options: &ProbeOptions, size: Size) -> u64 {
    (options.reads * 8 / size.blocks()).clamp(FEWEST.min(options.reads), options.reads)
}

fn steps(sizes: std::ops::RangeInclusive<u32>, options: &ProbeOptions) -> u64 {
    sizes
        .map(|power| count(options, Size::from_blocks(1 << power)))
        .sum()
}

pub fn latency_steps(options: &ProbeOptions) -> u64 {
    2 * steps(SIZES, options)
}

pub fn bandwidth_steps(options: &ProbeOptions) -> u64 {
    4 * steps(LONG, options)
}

/// The state in which a drive is asked for something.
pub fn state_for(op: Op) -> State {
    match op {
        Op::Write => State::New,
        _ => State::Half,
    }
}

/// One request at a time, by size.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn latency(
    stand_in: &StandIn,
    options: &ProbeOptions,
    meter: &mut Meter<'_>,
) -> Result<Vec<Latency>, Error> {
    let fits = |size: &Size| size.blocks() * FEWEST <= stand_in.blocks();
    let sizes = SIZES
        .map(|power| Size::from_blocks(1 << power))
        .filter(fits);
    let mut found = Vec::new();
    for size in sizes {
        let mut times = |op| {
            let mut subject = Subject::new(stand_in, state_for(op))?;
            let mut place = subject.places(size, options.seed, "latency");
            let mut left = count(options, size);
            let samples = subject.run(1, |_| next(&mut left, op, size, &mut place), meter)?;
            meter.advance(samples.len() as u64)?;
            Ok::<_, Error>(Times::of(measured(&samples)).expect("many requests"))
        };
        found.push(Latency {
            bytes: size.blocks() * BLOCK_BYTES,
            read: times(Op::Read)?,
            write: times(Op::Write)?,
        });
    }
    Ok(found)
}

/// The next request of a run with `left` requests left.
fn next(
    left: &mut u64,
    op: Op,
    size: Size,
    place: &mut impl FnMut() -> Lbn,
) -> Option<crate::engine::request::Command> {
    *left = left.checked_sub(1)?;
    Some(command(op, place(), size))
}

/// Bandwidth of many requests, by size.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn bandwidth(
    stand_in: &StandIn,
    options: &ProbeOptions,
    meter: &mut Meter<'_>,
) -> Result<Vec<Bandwidth>, Error> {
    let fits = |size: &Size| size.blocks() * FEWEST <= stand_in.blocks();
    let sizes = LONG.map(|power| Size::from_blocks(1 << power)).filter(fits);
    let mut found = Vec::new();
    for size in sizes {
        let mut mb_per_s = |op, is_random| {
            let mut subject = Subject::new(stand_in, state_for(op))?;
            let mut left = count(options, size).max(u64::from(10 * OUTSTANDING));
            let mut random = subject.places(size, options.seed, "bandwidth");
            let mut in_order = subject.in_order(size);
            let mut place = || if is_random { random() } else { in_order() };
            let samples = subject.run(
                OUTSTANDING,
                |_| next(&mut left, op, size, &mut place),
                meter,
            )?;
            meter.advance(samples.len() as u64)?;
            Ok::<_, Error>(rate(&samples) * (size.blocks() * BLOCK_BYTES) as f64 / 1e6)
        };
        found.push(Bandwidth {
            bytes: size.blocks() * BLOCK_BYTES,
            outstanding: OUTSTANDING,
            sequential_read_mb_per_s: mb_per_s(Op::Read, false)?,
            random_read_mb_per_s: mb_per_s(Op::Read, true)?,
            sequential_write_mb_per_s: mb_per_s(Op::Write, false)?,
            random_write_mb_per_s: mb_per_s(Op::Write, true)?,
        });
    }
    Ok(found)
}

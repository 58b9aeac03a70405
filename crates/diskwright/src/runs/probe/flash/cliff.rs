//! Random writes over time: from a new drive to its steady state.

use serde::Serialize;

use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::request::Op;

use super::super::ProbeOptions;
use super::super::meter::Meter;
use super::stand_in::StandIn;
use super::subject::{Sample, State, Subject, command};

/// Writes outstanding.
const OUTSTANDING: u32 = 16;
/// An interval is as long as this share of the drive takes to write.
const INTERVAL: f64 = 0.05;
/// The most and the fewest times that the drive is written in full: after less than one no block need have been cleaned.
const MOST: f64 = 3.0;
const LEAST: f64 = 1.25;
/// The most times that all flash is programmed: a drive with little spare space moves hundreds of pages for each written one.
const MOST_PROGRAMMED: f64 = 6.0;
/// The number of intervals that show a steady state: their rates lie within this share of their mean.
const ROUNDS: usize = 8;
const WITHIN: f64 = 0.1;

/// Some writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// When the last of them was complete, since the first began, s.
    pub to_s: f64,
    /// What has been written until then, in capacities of the drive.
    pub drive_writes: f64,
    /// Writes a second.
    pub iops: f64,
    /// 10⁶ bytes a second.
    pub mb_per_s: f64,
    /// Bytes programmed for each byte that was written.
    pub write_amplification: f64,
}

/// Writes from a new drive on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cliff {
    /// Writes outstanding.
    pub outstanding: u32,
    /// Writes a second of the first interval.
    pub fresh_iops: f64,
    /// Of the last intervals.
    pub steady_iops: f64,
    /// Bytes programmed for each byte that was written then.
    pub steady_write_amplification: f64,
    /// Whether the last intervals are alike; else the measurement was given up when the drive had been written three times, or its flash
    /// programmed six times.
    pub is_steady: bool,
    /// When the rate first fell below the mean of the fresh and the steady one, in capacities written; absent where it never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub falls_at_drive_writes: Option<f64>,
    /// The intervals.
    pub intervals: Vec<Interval>,
}

fn writes_of_interval(stand_in: &StandIn, options: &ProbeOptions) -> u64 {
    let all = stand_in.blocks() / options.size.blocks();
    ((all as f64 * INTERVAL) as u64).max(u64::from(OUTSTANDING))
}

pub fn steps(stand_in: &StandIn, options: &ProbeOptions) -> u64 {
    (MOST / INTERVAL) as u64 * writes_of_interval(stand_in, options)
}

/// Writes until the rate does not change any more.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn measure(
    stand_in: &StandIn,
    options: &ProbeOptions,
    meter: &mut Meter<'_>,
) -> Result<Cliff, Error> {
    let mut subject = Subject::new(stand_in, State::New)?;
    let mut place = subject.places(options.size, options.seed, "cliff");
    let count = writes_of_interval(stand_in, options);
    let bytes = options.size.blocks() * BLOCK_BYTES;
    let share = (count * options.size.blocks()) as f64 / stand_in.blocks() as f64;
    let mut intervals: Vec<Interval> = Vec::new();
    let (mut from, mut pages) = (Time::ZERO, 0.0);
    let most_pages =
        MOST_PROGRAMMED * (stand_in.blocks() * BLOCK_BYTES / stand_in.page_bytes) as f64;
    while intervals.len() < (MOST / INTERVAL) as usize
        && pages < most_pages
        && !is_steady(&intervals)
    {
        let mut left = count;
        let next = |_| {
            left = u64::checked_sub(left, 1)?;
            Some(command(Op::Write, place(), options.size))
        };
        let samples: Vec<Sample> = subject.run(OUTSTANDING, next, meter)?;
        meter.advance(samples.len() as u64)?;
        let until = samples.last().map_or(from, |last| last.at);
        let programmed = subject.counters()["flash_pages"].as_f64().unwrap_or(0.0);
        let iops = count as f64 / (until - from).s();
        intervals.push(Interval {
            to_s: until.s(),
            drive_writes: (intervals.len() + 1) as f64 * share,
            iops,
            mb_per_s: iops * bytes as f64 / 1e6,
            write_amplification: (programmed - pages) * stand_in.page_bytes as f64
                / (count * bytes) as f64,
        });
        (from, pages) = (until, programmed);
    }
    let last = &intervals[intervals.len().saturating_sub(ROUNDS)..];
    let mean = |of: fn(&Interval) -> f64| last.iter().map(of).sum::<f64>() / last.len() as f64;
    let (fresh, steady) = (intervals[0].iops, mean(|one| one.iops));
    let middle = (fresh + steady) / 2.0;
    let has_fallen = steady < (1.0 - WITHIN) * fresh;
    let fall = (intervals.iter()).find(|one| has_fallen && one.iops < middle);
    Ok(Cliff {
        outstanding: OUTSTANDING,
        fresh_iops: fresh,
        steady_iops: steady,
        steady_write_amplification: mean(|one| one.write_amplification),
        is_steady: is_steady(&intervals),
        falls_at_drive_writes: fall.map(|one| one.drive_writes),
        intervals,
    })
}

fn is_steady(intervals: &[Interval]) -> bool {
    let Some(last) = intervals.last_chunk::<ROUNDS>() else {
        return false;
    };
    let mean = last.iter().map(|one| one.iops).sum::<f64>() / ROUNDS as f64;
    let is_near = |one: &Interval| (one.iops / mean - 1.0).abs() <= WITHIN;
    last[0].drive_writes >= LEAST && last.iter().all(is_near)
}

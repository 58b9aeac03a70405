//! Random requests by depth, and reads and writes together.

use serde::Serialize;

use crate::base::error::Error;
use crate::base::random::Stream;
use crate::engine::request::Op;

use super::super::ProbeOptions;
use super::super::meter::Meter;
use super::sizes::state_for;
use super::stand_in::StandIn;
use super::subject::{State, Subject, Times, command, measured, rate};

/// Shares of reads in a mixture.
const SHARES: [f64; 5] = [0.0, 0.3, 0.5, 0.7, 1.0];
/// Requests outstanding of a mixture.
const OUTSTANDING: u32 = 16;

/// What requests came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Requests a second.
    pub iops: f64,
    /// Their response times.
    #[serde(flatten)]
    pub times: Times,
}

/// Random requests at a depth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtDepth {
    /// Requests outstanding.
    pub depth: u32,
    /// Reads of a half-full drive.
    pub read: Rate,
    /// Writes to a new one.
    pub write: Rate,
}

/// Random reads and writes together, on a half-full drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mixture {
    /// The share of reads.
    pub reads: f64,
    /// Requests outstanding.
    pub outstanding: u32,
    /// Requests a second.
    pub iops: f64,
    /// Response times of reads; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Times>,
    /// Those of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Times>,
}

pub fn depth_steps(options: &ProbeOptions) -> u64 {
    2 * options.reads * options.depths.len() as u64
}

pub fn mixed_steps(options: &ProbeOptions) -> u64 {
    options.reads * SHARES.len() as u64
}

/// Random requests by depth.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn by_depth(
    stand_in: &StandIn,
    options: &ProbeOptions,
    meter: &mut Meter<'_>,
) -> Result<Vec<AtDepth>, Error> {
    let mut found = Vec::new();
    for &depth in &options.depths {
        let mut at_depth = |op| {
            let mut subject = Subject::new(stand_in, state_for(op))?;
            let mut place = subject.places(options.size, options.seed, "depth");
            let mut left = options.reads;
            let next = |_| {
                left = u64::checked_sub(left, 1)?;
                Some(command(op, place(), options.size))
            };
            let samples = subject.run(depth, next, meter)?;
            meter.advance(samples.len() as u64)?;
            Ok::<_, Error>(Rate {
                iops: rate(&samples),
                times: Times::of(measured(&samples)).expect("many requests"),
            })
        };
        found.push(AtDepth {
            depth,
            read: at_depth(Op::Read)?,
            write: at_depth(Op::Write)?,
        });
    }
    Ok(found)
}

/// Reads and writes together.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn mixed(
    stand_in: &StandIn,
    options: &ProbeOptions,
    meter: &mut Meter<'_>,
) -> Result<Vec<Mixture>, Error> {
    let mut found = Vec::new();
    for reads in SHARES {
        let mut subject = Subject::new(stand_in, State::Half)?;
        let mut place = subject.places(options.size, options.seed, "mixed");
        let mut chance = Stream::new(options.seed, "probe.flash.mixed.op");
        let mut left = options.reads;
        let next = |_| {
            left = u64::checked_sub(left, 1)?;
            let op = match chance.unit() < reads {
                true => Op::Read,
                false => Op::Write,
            };
            Some(command(op, place(), options.size))
        };
        let samples = subject.run(OUTSTANDING, next, meter)?;
        meter.advance(samples.len() as u64)?;
        let of = |op| Times::of(measured(&samples).iter().filter(|one| one.op == op));
        found.push(Mixture {
            reads,
            outstanding: OUTSTANDING,
            iops: rate(&samples),
            read: of(Op::Read),
            write: of(Op::Write),
        });
    }
    Ok(found)
}

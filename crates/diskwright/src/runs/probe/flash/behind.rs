//! Reads, one at a time, alone and behind what else keeps the flash busy.

use serde::Serialize;

use crate::base::error::Error;
use crate::engine::request::Op;

use super::super::ProbeOptions;
use super::super::meter::Meter;
use super::stand_in::StandIn;
use super::subject::{State, Subject, Times, command, measured};

/// Writes outstanding beside the read.
const WRITERS: u32 = 4;
/// The factor by which this measurement makes fewer requests than others: on a drive that is being cleaned, a request causes many others.
const PART: u64 = 6;

/// Reads in one situation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Behind {
    /// `alone`, `writes` or `cleaning`.
    pub beside: &'static str,
    /// Response times of reads.
    #[serde(flatten)]
    pub times: Times,
    /// The share of reads that took longer than any of those alone.
    pub delayed: f64,
}

pub fn steps(options: &ProbeOptions) -> u64 {
    3 * (options.reads / PART)
}

/// Random reads, one outstanding: on a half-full drive alone and beside random writes, and beside these on a full one that is being cleaned.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn measure(
    stand_in: &StandIn,
    options: &ProbeOptions,
    meter: &mut Meter<'_>,
) -> Result<Vec<Behind>, Error> {
    let mut found: Vec<Behind> = Vec::new();
    let most_writes = stand_in.blocks() / options.size.blocks() / 4 + 2;
    for (beside, state, writers) in [
        ("alone", State::Half, 0),
        ("writes", State::Half, WRITERS),
        ("cleaning", State::Overwritten, WRITERS),
    ] {
        let mut subject = Subject::new(stand_in, state)?;
        let mut place = subject.places(options.size, options.seed, "behind");
        // All go on until the reader has done, or before so much has been written that what was new is not any more.
        let (mut reads, mut writes) = (options.reads / PART + 1, most_writes);
        let next = |user| {
            let (op, left) = match user {
                0 => (Op::Read, &mut reads),
                _ => (Op::Write, &mut writes),
            };
            *left = left.saturating_sub(1);
            let goes_on = reads > 0 && writes > 0;
            goes_on.then(|| command(op, place(), options.size))
        };
        let samples = subject.run(1 + writers, next, meter)?;
        meter.advance(options.reads / PART)?;
        let reads: Vec<_> = (measured(&samples).iter())
            .filter(|one| one.user == 0)
            .collect();
        let times = Times::of(reads.iter().copied()).expect("many reads");
        let longest = found
            .first()
            .map_or(times.max_ms, |alone| alone.times.max_ms);
        let delayed = reads
            .iter()
            .filter(|one| one.response.ms() > longest)
            .count();
        found.push(Behind {
            beside,
            times,
            delayed: delayed as f64 / reads.len() as f64,
        });
    }
    Ok(found)
}

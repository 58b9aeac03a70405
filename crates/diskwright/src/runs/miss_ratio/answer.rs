//! What was found, as the command prints it.

use std::path::Path;

use serde::Serialize;

use super::accesses::Accesses;
use super::plan::Plan;
use super::policies::Policy;
use super::stack::Counts;
use super::{Measured, MissRatioOptions};
use crate::base::units::BLOCK_BYTES;
use crate::metrics::interval::ci95;

/// The version of the answer's form. Keys never change their meaning.
const SCHEMA: u32 = 1;
/// A sample's cache of fewer objects than this is so coarse that its size, which the interval does not know of, matters.
const COARSE: u64 = 100;

/// How often caches miss on a trace.
#[derive(Clone, Debug, Serialize)]
pub struct MissRatios {
    /// The version of this form.
    pub schema: u32,
    /// The trace.
    pub trace: String,
    /// Its format.
    pub format: String,
    /// `"block"` or `"object"`.
    pub granularity: String,
    /// Bytes of a cache's block; absent where a request is an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// The trace's reads and writes.
    pub requests: u64,
    /// Its reads.
    pub reads: u64,
    /// Its writes.
    pub writes: u64,
    /// Records left out: flushes, trims, other devices, and what the format marks as not to be used.
    pub skipped: u64,
    /// Objects or blocks that the requests touch, each time anew.
    pub accesses: u64,
    /// Distinct ones; estimated where there are samples, null where no measurement needed to count them.
    pub distinct: Option<u64>,
    /// How the trace was sampled; null where all of it counts.
    pub sample: Option<Sampling>,
    /// The policies.
    pub policies: Vec<Policy>,
    /// For each policy and capacity how often the cache misses.
    pub points: Vec<Point>,
    /// What makes the ratios doubtful.
    pub warnings: Vec<String>,
    /// What was left out or changed in the reading because of what the format is.
    pub notes: Vec<String>,
}

/// How a trace was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sampling {
    /// The share of the objects in each sample.
    pub rate: f64,
    /// Independent samples.
    pub seeds: u32,
    /// The seed that they come from.
    pub seed: u64,
}

/// How often one cache misses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The policy, as it was asked for.
    pub policy: String,
    /// Objects, or blocks of the cache.
    pub capacity: u64,
    /// The capacity as it was asked for.
    pub asked: String,
    /// The same in bytes; absent where a request is an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// Accesses of the cache.
    pub requests: u64,
    /// Those that missed; estimated where there are samples.
    pub misses: u64,
    /// Misses of reads.
    pub read_misses: u64,
    /// Misses of writes.
    pub write_misses: u64,
    /// Misses among the accesses, 0 to 1.
    pub miss_ratio: f64,
    /// The same among the reads; null where there are none.
    pub read_miss_ratio: Option<f64>,
    /// The same among the writes; null where there are none.
    pub write_miss_ratio: Option<f64>,
    /// The 95 % interval of the miss ratio over the samples, null for a single one; absent where all objects count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub miss_ratio_ci95: Option<Option<[f64; 2]>>,
}

pub(super) fn answer(
    path: &Path,
    options: &MissRatioOptions,
    plan: Plan,
    accesses: &Accesses,
    measured: &Measured,
) -> MissRatios {
    let read = accesses.read();
    let points = (0..plan.points()).map(|point| {
        let (policy, capacity) = plan.point(point);
        let objects = measured.capacities[capacity];
        let bytes =
            |size: crate::base::units::Size| objects.saturating_mul(size.blocks() * BLOCK_BYTES);
        Point {
            policy: policy.policy.clone(),
            capacity: objects,
            asked: plan.listed[capacity].text.clone(),
            capacity_bytes: plan.block.map(bytes),
            ..misses(&plan, &measured.misses[point], read.accesses)
        }
    });
    let points = points.collect();
    let mut warnings = accesses.warnings();
    warnings.extend(doubts(&plan, measured));
    MissRatios {
        schema: SCHEMA,
        trace: path.display().to_string(),
        format: accesses.format().to_owned(),
        granularity: options.granularity.clone(),
        block_bytes: plan.block.map(|block| block.blocks() * BLOCK_BYTES),
        requests: read.reads + read.writes,
        reads: read.reads,
        writes: read.writes,
        skipped: read.skipped,
        accesses: read.accesses.iter().sum(),
        distinct: measured.distinct,
        sample: (!plan.samples.is_empty()).then_some(Sampling {
            rate: plan.rate,
            seeds: options.sample_seeds,
            seed: options.seed,
        }),
        points,
        policies: plan.policies,
        warnings,
        notes: accesses.notes(),
    }
}

/// The misses of a point, from those of its lanes.
///
/// The misses in a sample are divided by the accesses that it would have on average and not by those that it has: which of the most
/// popular objects happen to be in it changes these more than the misses (the adjustment of SHARDS, section 3.3).
fn misses(plan: &Plan, lanes: &[Counts], accesses: Counts) -> Point {
    let all: u64 = accesses.iter().sum();
    let share = |misses: u64, of: u64| misses as f64 / (of as f64 * plan.rate);
    let mean = |misses: &dyn Fn(&Counts) -> u64, of: u64| {
        let sum: u64 = lanes.iter().map(misses).sum();
        (share(sum, of) / lanes.len() as f64).min(1.0)
    };
    let total = |counts: &Counts| counts.iter().sum::<u64>();
    let shares = [
        mean(&|counts| counts[0], accesses[0]),
        mean(&|counts| counts[1], accesses[1]),
    ];
    let number = |kind: usize| match plan.samples.is_empty() {
        true => lanes[0][kind],
        false if accesses[kind] == 0 => 0,
        false => libm::round(shares[kind] * accesses[kind] as f64) as u64,
    };
    let ratio = |kind: usize| (accesses[kind] > 0).then_some(shares[kind]);
    let interval = || {
        let ratios: Vec<f64> = lanes
            .iter()
            .map(|counts| share(total(counts), all))
            .collect();
        ci95(&ratios).map(|ends| ends.map(|end| end.clamp(0.0, 1.0)))
    };
    Point {
        policy: String::new(),
        capacity: 0,
        asked: String::new(),
        capacity_bytes: None,
        requests: all,
        misses: number(0) + number(1),
        read_misses: number(0),
        write_misses: number(1),
        miss_ratio: mean(&total, all),
        read_miss_ratio: ratio(0),
        write_miss_ratio: ratio(1),
        miss_ratio_ci95: (!plan.samples.is_empty()).then(interval),
    }
}

/// What the user should know of the numbers.
fn doubts(plan: &Plan, measured: &Measured) -> Vec<String> {
    let mut doubts = Vec::new();
    let what = match plan.block {
        Some(_) => "blocks",
        None => "objects",
    };
    let smallest = measured.capacities.iter().min().copied().unwrap_or(0);
    let coarse = libm::round(smallest as f64 * plan.rate) as u64;
    if !plan.samples.is_empty() && coarse < COARSE {
        doubts.push(format!(
            "in a sample, the smallest cache has {coarse} {what}: the intervals do not know what its coarseness does (sample \
             more, or ask for larger caches)"
        ));
    }
    let enough = |distinct: u64| {
        let capacities = plan.listed.iter().zip(&measured.capacities);
        let roomy = capacities
            .filter(|(listed, objects)| **objects >= distinct && !listed.text.ends_with('%'));
        roomy
            .map(|(listed, _)| listed.text.as_str())
            .collect::<Vec<_>>()
    };
    let roomy = measured.distinct.map(enough).unwrap_or_default();
    if !roomy.is_empty() {
        doubts.push(format!(
            "caches of {} hold all the trace's {what}: they miss first accesses only",
            roomy.join(", ")
        ));
    }
    doubts
}

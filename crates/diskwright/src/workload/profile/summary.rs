//! The measures of a trace, as they are told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The measures of a trace or of one of its devices. Random and sequential requests and the working set are of reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Reads, writes, flushes and trims.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// Reads among reads and writes, 0 to 1.
    pub read_share: f64,
    /// Blocks read and written.
    pub blocks: u64,
    /// Blocks read.
    pub read_blocks: u64,
    /// Blocks written.
    pub write_blocks: u64,
    /// Requests that are not sequential, the first of each device among them.
    pub random_requests: u64,
    /// Their blocks.
    pub random_blocks: u64,
    /// Requests that begin at the end of the same device's previous one, or at most the threshold after it.
    pub sequential_requests: u64,
    /// Their blocks.
    pub sequential_blocks: u64,
    /// Distinct first blocks.
    pub working_set_requests: u64,
    /// Distinct blocks.
    pub working_set_blocks: u64,
    /// The block after the last one that was read or written: a drive must be at least this large.
    pub end_lbn: u64,
    /// Sizes of reads and writes.
    pub sizes: Sizes,
    /// From the first arrival to the last.
    pub duration_s: f64,
    /// The same in days.
    pub days: f64,
    /// First arrival on the trace's clock.
    pub first_arrival_s: f64,
    /// Last arrival on the trace's clock.
    pub last_arrival_s: f64,
    /// Mean gap between arrivals; absent for fewer than two.
    pub interarrival_mean_ms: Option<f64>,
    /// Requests that arrive before the one in front of them.
    pub out_of_order: u64,
}

/// How large requests are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// The smallest.
    pub min_blocks: u32,
    /// The mean.
    pub mean_blocks: f64,
    /// The largest.
    pub max_blocks: u32,
    /// How many different sizes there are.
    pub distinct: u64,
    /// The most common ones, the most common first.
    pub common: Vec<SizeCount>,
}

/// A size and how often it occurs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeCount {
    /// The size.
    pub blocks: u32,
    /// How many requests have it.
    pub requests: u64,
}

/// How many of the most common sizes are listed.
const COMMON: usize = 8;

pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// The most common size first, of equally common ones the smaller.
pub fn by_frequency(counts: &BTreeMap<u32, u64>) -> Vec<SizeCount> {
    let mut sizes: Vec<_> = counts
        .iter()
        .map(|(&blocks, &requests)| SizeCount { blocks, requests })
        .collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(size.requests));
    sizes
}

pub fn sizes(counts: &BTreeMap<u32, u64>, mean_blocks: f64) -> Sizes {
    let mut common = by_frequency(counts);
    common.truncate(COMMON);
    Sizes {
        min_blocks: counts.keys().next().copied().unwrap_or(0),
        mean_blocks,
        max_blocks: counts.keys().next_back().copied().unwrap_or(0),
        distinct: counts.len() as u64,
        common,
    }
}

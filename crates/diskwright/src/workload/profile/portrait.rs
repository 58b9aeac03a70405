//! The profile of a trace: what a look-alike is made from.

use std::collections::BTreeMap;

use serde::Serialize;

use super::arrivals::{Arrivals, Dispersion};
use super::references::References;
use super::space::Spread;
use super::{SizeCount, Summary};
use crate::metrics::histogram::LogHistogram;
use crate::request::Op;
use crate::workload::record::Record;

/// The version of the keys. A key never changes its meaning.
const SCHEMA: u32 = 1;
/// Sizes that are counted one by one, for each operation: the most common.
const EXACT: usize = 64;

/// What one device of a trace is, in TOML. Classes, sizes, runs, references and space are of reads and writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The version of the keys.
    pub schema: u32,
    /// The trace's format.
    pub format: String,
    /// The trace's number for the device.
    pub device: u32,
    /// How far behind the end of the one before a sequential request may begin.
    pub threshold_blocks: u64,
    /// Requests of all kinds.
    pub requests: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// From the first arrival to the last.
    pub duration_s: f64,
    /// The block after the last one read or written.
    pub end_lbn: u64,
    /// Distinct first blocks.
    pub working_set_requests: u64,
    /// Distinct blocks.
    pub working_set_blocks: u64,
    /// The four classes.
    pub classes: Classes,
    /// How large reads and writes are.
    pub sizes: OpSizes,
    /// How requests of all kinds arrive.
    pub arrivals: ArrivalProfile,
    /// How many requests follow each other sequentially; a random one that nothing follows is a run of one.
    pub run_requests: LogHistogram,
    /// How often the same first blocks come again.
    pub references: ReferenceProfile,
    /// Where requests go.
    pub space: SpaceProfile,
}

/// Requests and blocks of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Class {
    /// Requests.
    pub requests: u64,
    /// Their blocks.
    pub blocks: u64,
}

/// Random and sequential reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Classes {
    /// Reads among the random requests, 0 to 1.
    pub random_read_share: f64,
    /// Reads among the sequential requests, 0 to 1.
    pub sequential_read_share: f64,
    /// Reads that are not sequential.
    pub random_reads: Class,
    /// Writes that are not sequential.
    pub random_writes: Class,
    /// Sequential reads.
    pub sequential_reads: Class,
    /// Sequential writes.
    pub sequential_writes: Class,
}

/// The sizes of reads and of writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpSizes {
    /// Of reads.
    pub reads: SizeProfile,
    /// Of writes.
    pub writes: SizeProfile,
}

/// Sizes in blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeProfile {
    /// All others.
    pub rest_blocks: LogHistogram,
    /// The most common ones, the most common first.
    pub exact: Vec<SizeCount>,
}

/// Gaps between arrivals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrivalProfile {
    /// Mean gap; absent for fewer than two requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_mean_ms: Option<f64>,
    /// Requests that arrive before the one in front of them; their gap is counted as 0.
    pub out_of_order: u64,
    /// Gaps in nanoseconds.
    pub gap_ns: LogHistogram,
    /// Burstiness, at several lengths of time.
    pub dispersion: Vec<Dispersion>,
}

/// Distances in the LRU stack of first blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceProfile {
    /// References to a first block that had not been seen before.
    pub first: u64,
    /// Their share, 0 to 1.
    pub first_share: f64,
    /// Different first blocks since the last reference to the same one.
    pub distance_objects: LogHistogram,
}

/// Addresses and the distances between them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpaceProfile {
    /// The width of a bin.
    pub bin_blocks: u64,
    /// Requests by their first block.
    pub bin_requests: Vec<u64>,
    /// From the end of the request before on to the first block of one that begins there or behind it.
    pub forward_blocks: LogHistogram,
    /// From the end of the request before back to the first block of one that begins in front of it.
    pub backward_blocks: LogHistogram,
}

/// A device's profile while its requests come by.
#[derive(Default)]
pub struct Portrait {
    classes: [[Class; 2]; 2],
    sizes: [BTreeMap<u32, u64>; 2],
    arrivals: Arrivals,
    run: u64,
    runs: LogHistogram,
    references: References,
    again: LogHistogram,
    spread: Spread,
    forward: LogHistogram,
    backward: LogHistogram,
}

impl Portrait {
    /// Adds a request; `before` is the end of the last read or write in front of it.
    pub fn add(&mut self, record: &Record, before: Option<u64>, threshold: u64) {
        self.arrivals.add(record.arrival);
        let write = match record.op {
            Op::Read => false,
            Op::Write => true,
            Op::Flush | Op::Trim => return,
        };
        let lbn = record.lbn.0;
        let ahead = before.and_then(|before| lbn.checked_sub(before));
        let sequential = ahead.is_some_and(|ahead| ahead <= threshold);
        let class = &mut self.classes[usize::from(sequential)][usize::from(write)];
        class.requests += 1;
        class.blocks += u64::from(record.blocks);
        if !sequential {
            self.end_run();
        }
        self.run += 1;
        match (ahead, before) {
            (Some(ahead), _) => self.forward.add(ahead),
            (None, Some(before)) => self.backward.add(before - lbn),
            (None, None) => {}
        }
        if let Some(distance) = self.references.add(lbn) {
            self.again.add(distance);
        }
        self.spread.add(lbn);
        let sizes = &mut self.sizes[usize::from(write)];
        *sizes.entry(record.blocks).or_default() += 1;
    }

    fn end_run(&mut self) {
        if self.run > 0 {
            self.runs.add(self.run);
        }
        self.run = 0;
    }

    /// The profile; `summary` has what is measured for the inspection too.
    pub fn finish(
        mut self,
        format: &str,
        device: u32,
        threshold: u64,
        summary: &Summary,
    ) -> Profile {
        self.end_run();
        let [
            [random_reads, random_writes],
            [sequential_reads, sequential_writes],
        ] = self.classes;
        let share = |reads: Class, writes: Class| {
            super::ratio(reads.requests, reads.requests + writes.requests)
        };
        let first = self.references.objects();
        let [reads, writes] = self.sizes.map(|sizes| size_profile(&sizes));
        Profile {
            schema: SCHEMA,
            format: format.to_owned(),
            device,
            threshold_blocks: threshold,
            requests: summary.requests,
            flushes: summary.flushes,
            trims: summary.trims,
            duration_s: summary.duration_s,
            end_lbn: summary.end_lbn,
            working_set_requests: summary.working_set_requests,
            working_set_blocks: summary.working_set_blocks,
            classes: Classes {
                random_read_share: share(random_reads, random_writes),
                sequential_read_share: share(sequential_reads, sequential_writes),
                random_reads,
                random_writes,
                sequential_reads,
                sequential_writes,
            },
            sizes: OpSizes { reads, writes },
            arrivals: ArrivalProfile {
                gap_mean_ms: summary.interarrival_mean_ms,
                out_of_order: summary.out_of_order,
                gap_ns: self.arrivals.gaps().clone(),
                dispersion: self.arrivals.dispersion(),
            },
            run_requests: self.runs,
            references: ReferenceProfile {
                first,
                first_share: super::ratio(first, first + self.again.total()),
                distance_objects: self.again,
            },
            space: SpaceProfile {
                bin_blocks: self.spread.bin_blocks(),
                bin_requests: self.spread.counts().to_vec(),
                forward_blocks: self.forward,
                backward_blocks: self.backward,
            },
        }
    }
}

fn size_profile(sizes: &BTreeMap<u32, u64>) -> SizeProfile {
    let mut exact = super::by_frequency(sizes);
    let mut rest_blocks = LogHistogram::default();
    for size in exact.drain(EXACT.min(exact.len())..) {
        rest_blocks.add_many(size.blocks.into(), size.requests);
    }
    SizeProfile { exact, rest_blocks }
}

//! The profile of a trace: what a synthetic clone is made from.

use std::collections::BTreeMap;

use foldhash::quality::FixedState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::arrivals::{Arrivals, Dispersion};
use super::bursts::BurstProfile;
use super::space::{Alignments, Spread};
use super::summary::{SizeCount, Summary, by_frequency, ratio};
use crate::base::order_statistics::KeyedLruStack;
use crate::engine::request::Op;
use crate::metrics::histogram::LogHistogram;
use crate::workload::record::Record;

/// The version of the keys. A key never changes its meaning.
pub const SCHEMA: u32 = 2;
/// Sizes that are counted one by one, for each operation: the most common.
const EXACT: usize = 64;

/// What one device of a trace is, in TOML. Classes, sizes, runs, references and space are of reads and writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// How large requests are.
    pub sizes: ClassSizes,
    /// How reads and writes follow each other.
    pub directions: DirectionProfile,
    /// How requests of all kinds arrive.
    pub arrivals: ArrivalProfile,
    /// How many requests follow each other sequentially; a random one that nothing follows is a run of one.
    pub run_requests: LogHistogram,
    /// The same by what the first request of a run is.
    pub runs: RunProfile,
    /// How often the same first blocks come again.
    pub references: ReferenceProfile,
    /// Where requests go.
    pub space: SpaceProfile,
}

/// Requests and blocks of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Requests.
    pub requests: u64,
    /// Their blocks.
    pub blocks: u64,
}

/// Random and sequential reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// How many requests follow each other sequentially, by the first of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunProfile {
    /// It is a read from a first block that had not been one before.
    pub first_reads: LogHistogram,
    /// A write to one that had not been.
    pub first_writes: LogHistogram,
    /// A read from a first block that had been one before.
    pub again_reads: LogHistogram,
    /// A write to one that had been.
    pub again_writes: LogHistogram,
}

/// The sizes of the four classes, and of trims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSizes {
    /// Of reads that are not sequential.
    pub random_reads: SizeProfile,
    /// Of writes that are not sequential.
    pub random_writes: SizeProfile,
    /// Of sequential reads.
    pub sequential_reads: SizeProfile,
    /// Of sequential writes.
    pub sequential_writes: SizeProfile,
    /// Of trims.
    pub trims: SizeProfile,
}

/// How reads and writes follow each other: requests by the direction of the read or write before, `[read, write]`, and their
/// own, `[[after a read], [after a write]]`. The first of all follows a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectionProfile {
    /// Of requests that are not sequential.
    pub random: [[u64; 2]; 2],
    /// Of sequential ones.
    pub sequential: [[u64; 2]; 2],
}

/// Sizes in blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeProfile {
    /// All others.
    pub rest_blocks: LogHistogram,
    /// The most common ones, the most common first.
    pub exact: Vec<SizeCount>,
}

/// Gaps between arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrivalProfile {
    /// Mean gap; absent for fewer than two requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_mean_ms: Option<f64>,
    /// Requests that arrive before the one in front of them; their gap is counted as 0.
    pub out_of_order: u64,
    /// Gaps in nanoseconds.
    pub gap_ns: LogHistogram,
    /// The width of a slice of time, from the first arrival on, in nanoseconds.
    pub slice_ns: u64,
    /// Requests in each slice, up to the last that has any.
    pub slice_requests: Vec<u64>,
    /// Burstiness, at several lengths of time.
    pub dispersion: Vec<Dispersion>,
    /// Bursts, from those with the shortest gaps to those with the longest.
    pub bursts: Vec<BurstProfile>,
}

/// Distances in the LRU stack of first blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceProfile {
    /// References to a first block that had not been seen before.
    pub first: u64,
    /// Their share, 0 to 1.
    pub first_share: f64,
    /// Those of them that are not sequential.
    pub random_first: u64,
    /// References to a first block with as many blocks as the time before.
    pub same_size: u64,
    /// Different first blocks since the last reference to the same one.
    pub distance_objects: LogHistogram,
    /// The same of requests that are not sequential.
    pub random_distance_objects: LogHistogram,
}

/// Addresses and the distances between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceProfile {
    /// The width of a bin.
    pub bin_blocks: u64,
    /// Requests by their first block.
    pub bin_requests: Vec<u64>,
    /// Different first blocks.
    pub bin_first: Vec<u64>,
    /// Different first blocks by the largest power of two that divides them: 1, 2, 4, … blocks.
    pub alignment: Vec<u64>,
    /// From the end of the request before on to the first block of one that begins there or behind it.
    pub forward_blocks: LogHistogram,
    /// From the end of the request before back to the first block of one that begins in front of it.
    pub backward_blocks: LogHistogram,
}

/// A device's profile while its requests come by.
#[derive(Default)]
pub struct ProfileBuilder {
    classes: [[Class; 2]; 2],
    sizes: [[BTreeMap<u32, u64>; 2]; 2],
    trims: BTreeMap<u32, u64>,
    /// By class, then by the direction before, then by the request's own.
    directions: [[[u64; 2]; 2]; 2],
    /// Whether the last transfer was a write.
    was_write: bool,
    arrivals: Arrivals,
    run: u64,
    /// Whether the run began at a block where a request had begun before, and whether with a write.
    began: (bool, bool),
    runs: LogHistogram,
    runs_by_first: RunProfile,
    references: KeyedLruStack,
    /// The size of the last request that began at each block.
    last_sizes: HashMap<u64, u32, FixedState>,
    random_first: u64,
    same_size: u64,
    again: LogHistogram,
    random_again: LogHistogram,
    spread: Spread,
    first_spread: Spread,
    alignments: Alignments,
    forward: LogHistogram,
    backward: LogHistogram,
}

impl ProfileBuilder {
    /// Adds a request; `before` is the end of the last read or write in front of it.
    pub fn add(&mut self, record: &Record, before: Option<u64>, threshold: u64) {
        self.arrivals.add(record.arrival);
        let write = match record.op {
            Op::Read => false,
            Op::Write => true,
            Op::Flush => return,
            Op::NvCache(command) => command.is_in_no_workload(),
            Op::Trim => {
                *self.trims.entry(record.blocks).or_default() += 1;
                return;
            }
        };
        let lbn = record.lbn.0;
        let ahead = before.and_then(|before| lbn.checked_sub(before));
        let sequential = ahead.is_some_and(|ahead| ahead <= threshold);
        let (c, d) = (usize::from(sequential), usize::from(write));
        let class = &mut self.classes[c][d];
        class.requests += 1;
        class.blocks += u64::from(record.blocks);
        *self.sizes[c][d].entry(record.blocks).or_default() += 1;
        self.directions[c][usize::from(self.was_write)][d] += 1;
        self.was_write = write;
        match (ahead, before) {
            (Some(ahead), _) => self.forward.add(ahead),
            (None, Some(before)) => self.backward.add(before - lbn),
            (None, None) => {}
        }
        let distance = self.references.reference(lbn);
        if !sequential {
            self.end_run();
            self.began = (distance.is_some(), write);
        }
        self.run += 1;
        self.spread.add(lbn);
        if let Some(distance) = distance {
            self.again.add(distance);
            if !sequential {
                self.random_again.add(distance);
            }
        } else {
            self.random_first += u64::from(!sequential);
            self.first_spread.add(lbn);
            self.alignments.add(lbn);
        }
        let before = self.last_sizes.insert(lbn, record.blocks);
        self.same_size += u64::from(before == Some(record.blocks));
    }

    fn end_run(&mut self) {
        if self.run > 0 {
            self.runs.add(self.run);
            let runs = &mut self.runs_by_first;
            let of = match self.began {
                (false, false) => &mut runs.first_reads,
                (false, true) => &mut runs.first_writes,
                (true, false) => &mut runs.again_reads,
                (true, true) => &mut runs.again_writes,
            };
            of.add(self.run);
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
        let share =
            |reads: Class, writes: Class| ratio(reads.requests, reads.requests + writes.requests);
        let first = self.references.len();
        let sizes = self.sizes.each_ref();
        let [random_sizes, sequential_sizes] = sizes.map(|of| of.each_ref().map(size_profile));
        let [random_read_sizes, random_write_sizes] = random_sizes;
        let [sequential_read_sizes, sequential_write_sizes] = sequential_sizes;
        let [random_directions, sequential_directions] = self.directions;
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
            sizes: ClassSizes {
                random_reads: random_read_sizes,
                random_writes: random_write_sizes,
                sequential_reads: sequential_read_sizes,
                sequential_writes: sequential_write_sizes,
                trims: size_profile(&self.trims),
            },
            directions: DirectionProfile {
                random: random_directions,
                sequential: sequential_directions,
            },
            arrivals: ArrivalProfile {
                gap_mean_ms: summary.interarrival_mean_ms,
                out_of_order: summary.out_of_order,
                gap_ns: self.arrivals.gaps().clone(),
                slice_ns: self.arrivals.slices().bin_blocks(),
                slice_requests: self.arrivals.slices().counts().to_vec(),
                dispersion: self.arrivals.dispersion(),
                bursts: self.arrivals.bursts(),
            },
            run_requests: self.runs,
            runs: self.runs_by_first,
            references: ReferenceProfile {
                first,
                first_share: ratio(first, first + self.again.total()),
                random_first: self.random_first,
                same_size: self.same_size,
                distance_objects: self.again,
                random_distance_objects: self.random_again,
            },
            space: SpaceProfile {
                bin_blocks: self.spread.bin_blocks(),
                bin_requests: self.spread.counts().to_vec(),
                // The first request in the last bin is one to a first block, so both have as many bins, as wide.
                bin_first: self.first_spread.counts().to_vec(),
                alignment: self.alignments.counts(),
                forward_blocks: self.forward,
                backward_blocks: self.backward,
            },
        }
    }
}

fn size_profile(sizes: &BTreeMap<u32, u64>) -> SizeProfile {
    let mut exact = by_frequency(sizes);
    let mut rest_blocks = LogHistogram::default();
    for size in exact.drain(EXACT.min(exact.len())..) {
        rest_blocks.add_many(size.blocks.into(), size.requests);
    }
    SizeProfile { exact, rest_blocks }
}

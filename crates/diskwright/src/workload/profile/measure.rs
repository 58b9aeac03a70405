//! The measures of a trace's devices while its requests come by.

use std::collections::BTreeMap;

use foldhash::quality::FixedState;
use hashbrown::HashSet;

use super::summary::{Summary, ratio, sizes};
use crate::base::units::Time;
use crate::engine::request::Op;
use crate::workload::extents::Extents;
use crate::workload::record::Record;

/// The arrival times of a stream of requests.
#[derive(Clone, Copy, Default)]
pub struct Arrivals {
    count: u64,
    first: Time,
    last: Time,
    before: Time,
    out_of_order: u64,
}

impl Arrivals {
    /// Adds a request by its arrival.
    pub fn add(&mut self, at: Time) {
        if self.count == 0 {
            self.first = at;
        }
        self.out_of_order += u64::from(at < self.before);
        self.count += 1;
        self.before = at;
        self.first = self.first.min(at);
        self.last = self.last.max(at);
    }
}

/// One device's measures while its requests come by.
#[derive(Default)]
pub struct Measure {
    counts: Summary,
    sizes: BTreeMap<u32, u64>,
    touched: Extents,
    starts: HashSet<u64, FixedState>,
    /// The block after the previous request.
    pub end: Option<u64>,
    /// When its requests came.
    pub arrivals: Arrivals,
}

impl Measure {
    /// Adds a request; it is sequential at most `threshold` blocks behind the one before.
    pub fn add(&mut self, record: &Record, threshold: u64) {
        self.arrivals.add(record.arrival);
        let counts = &mut self.counts;
        let blocks = u64::from(record.blocks);
        counts.requests += 1;
        match record.op {
            Op::Flush => {
                counts.flushes += 1;
                return;
            }
            Op::Trim => {
                counts.trims += 1;
                return;
            }
            Op::NvCache(command) => command.is_in_no_workload(),
            Op::Read => {
                counts.reads += 1;
                counts.read_blocks += blocks;
            }
            Op::Write => {
                counts.writes += 1;
                counts.write_blocks += blocks;
            }
        }
        let start = record.lbn.0;
        let end = start.saturating_add(blocks);
        let gap = self.end.and_then(|before| start.checked_sub(before));
        if gap.is_some_and(|gap| gap <= threshold) {
            counts.sequential_requests += 1;
            counts.sequential_blocks += blocks;
        } else {
            counts.random_requests += 1;
            counts.random_blocks += blocks;
        }
        counts.end_lbn = counts.end_lbn.max(end);
        self.end = Some(end);
        self.touched.add(start, end);
        self.starts.insert(start);
        *self.sizes.entry(record.blocks).or_default() += 1;
    }
}

/// Measures of one device or several, added up.
#[derive(Default)]
pub struct Total {
    sums: Summary,
    sizes: BTreeMap<u32, u64>,
}

impl Total {
    /// Those of one device.
    pub fn of(measure: &Measure) -> Total {
        let mut total = Total::default();
        total.add(measure);
        total
    }

    /// Adds those of a device.
    pub fn add(&mut self, measure: &Measure) {
        let (sums, counts) = (&mut self.sums, &measure.counts);
        sums.requests += counts.requests;
        sums.reads += counts.reads;
        sums.writes += counts.writes;
        sums.flushes += counts.flushes;
        sums.trims += counts.trims;
        sums.read_blocks += counts.read_blocks;
        sums.write_blocks += counts.write_blocks;
        sums.random_requests += counts.random_requests;
        sums.random_blocks += counts.random_blocks;
        sums.sequential_requests += counts.sequential_requests;
        sums.sequential_blocks += counts.sequential_blocks;
        sums.working_set_requests += measure.starts.len() as u64;
        sums.working_set_blocks += measure.touched.blocks();
        sums.end_lbn = sums.end_lbn.max(counts.end_lbn);
        for (blocks, count) in &measure.sizes {
            *self.sizes.entry(*blocks).or_default() += count;
        }
    }

    /// As they are told.
    pub fn summary(self, arrivals: &Arrivals) -> Summary {
        let sums = self.sums;
        let transfers = sums.reads + sums.writes;
        let blocks = sums.read_blocks + sums.write_blocks;
        let duration = arrivals.last - arrivals.first;
        let gaps = arrivals.count.saturating_sub(1);
        Summary {
            read_share: ratio(sums.reads, transfers),
            blocks,
            sizes: sizes(&self.sizes, ratio(blocks, transfers)),
            duration_s: duration.s(),
            days: duration.s() / 86_400.0,
            first_arrival_s: arrivals.first.s(),
            last_arrival_s: arrivals.last.s(),
            interarrival_mean_ms: (gaps > 0).then(|| duration.ms() / gaps as f64),
            out_of_order: arrivals.out_of_order,
            ..sums
        }
    }
}

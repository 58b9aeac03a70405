//! What a tier counts, and how it reports it.

use serde_json::{Map, Value, json};

use super::work::Cause;
use crate::base::units::Time;
use crate::engine::request::Command;
use crate::models::cache::BlockCache;
use crate::models::cache::block_cache::Counts;

/// Why a part of a request in a line got no place in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bypass {
    /// The write policy caches no such requests.
    WritePolicy,
    /// It is part of a sequential stream that is too long.
    Sequential,
    /// The admission policy did not admit the line.
    Admission,
    /// Every place was in use.
    NoLine,
    /// The cache device has failed, or takes no writes.
    CacheFailed,
    /// The cache changes, or has been removed.
    Changing,
}

/// The reasons in the order of the counts, with their names.
pub(super) const REASONS: [(Bypass, &str); 6] = [
    (Bypass::WritePolicy, "write_policy"),
    (Bypass::Sequential, "sequential"),
    (Bypass::Admission, "admission"),
    (Bypass::NoLine, "no_line"),
    (Bypass::CacheFailed, "cache_failed"),
    (Bypass::Changing, "changing"),
];

/// Requests of one kind, and where their blocks were.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hits {
    pub requests: u64,
    /// Those of which all blocks were held, and those of which some were.
    pub whole: u64,
    pub partial: u64,
    pub blocks: u64,
    pub held_blocks: u64,
}

impl Hits {
    fn add(&mut self, blocks: u64, held: u64) {
        self.requests += 1;
        self.whole += u64::from(held == blocks);
        self.partial += u64::from(held > 0 && held < blocks);
        self.blocks += blocks;
        self.held_blocks += held;
    }

    fn each(&mut self) -> [&mut u64; 5] {
        [
            &mut self.requests,
            &mut self.whole,
            &mut self.partial,
            &mut self.blocks,
            &mut self.held_blocks,
        ]
    }
}

/// What a picture shows of the counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub reads: Hits,
    pub writes: Hits,
    /// By reasons.
    pub bypassed: [u64; REASONS.len()],
    pub evictions: u64,
    pub promoted_blocks: u64,
    pub written_back_blocks: u64,
}

impl Sample {
    /// Reads and writes.
    pub fn requests(&self) -> u64 {
        self.reads.requests + self.writes.requests
    }

    fn each(&mut self) -> impl Iterator<Item = &mut u64> {
        let Sample {
            reads,
            writes,
            bypassed,
            evictions,
            promoted_blocks,
            written_back_blocks,
        } = self;
        let hits = reads.each().into_iter().chain(writes.each());
        let blocks = [evictions, promoted_blocks, written_back_blocks];
        hits.chain(bypassed).chain(blocks)
    }

    /// Adds what was counted afterwards.
    pub fn add(&mut self, other: &Sample) {
        let mut other = *other;
        for (own, other) in self.each().zip(other.each()) {
            *own += *other;
        }
    }

    /// What has been counted since it was `before`.
    pub fn since(mut self, before: &Sample) -> Sample {
        let mut before = *before;
        for (own, before) in self.each().zip(before.each()) {
            *own -= *before;
        }
        self
    }
}

/// Dirty blocks over time.
#[derive(Clone, Copy, Default)]
pub(super) struct Dirty {
    blocks: u64,
    most: u64,
    since: Time,
    /// Their integral up to `since`, block·ns.
    area: u128,
}

impl Dirty {
    /// `blocks` blocks are dirty from `now` on.
    #[inline]
    pub fn clock(&mut self, now: Time, blocks: u64) {
        if blocks != self.blocks {
            self.area += u128::from((now - self.since).ns()) * u128::from(self.blocks);
            (self.since, self.blocks) = (now, blocks);
            self.most = self.most.max(blocks);
        }
    }

    /// Their mean over a span of `elapsed` from `begin` on, or up to the last change if that came later.
    fn mean(&self, begin: Time, elapsed: Time) -> f64 {
        let end = (begin + elapsed).max(self.since);
        if end == begin {
            return self.blocks as f64;
        }
        let rest = u128::from((end - self.since).ns()) * u128::from(self.blocks);
        (self.area + rest) as f64 / (end - begin).ns() as f64
    }
}

/// Counts and sums over a run.
#[derive(Default)]
pub(super) struct TierCounters {
    requests: u64,
    reads: Hits,
    writes: Hits,
    pub absorbed_writes: u64,
    /// Requests that waited for a line that another one used.
    pub conflicts: u64,
    /// Writes that waited until a place was free.
    pub waited_for_place: u64,
    /// Writes that waited until the table named what they had made dirty.
    pub waited_for_commit: u64,
    /// Commits of the table, and the blocks of it that they wrote.
    pub commits: u64,
    pub table_blocks: u64,
    /// Lines that got blocks from a read, and the blocks.
    pub promotions: u64,
    pub promoted_blocks: u64,
    /// Blocks of reads that another read had just fetched.
    pub memory_blocks: u64,
    bypassed: [u64; REASONS.len()],
    of_victims: u64,
    of_cleaning: u64,
    of_flushes: u64,
    of_changes: u64,
    of_retirement: u64,
    pub written_back_blocks: u64,
    pub trimmed_blocks: u64,
    pub trimmed_dirty_blocks: u64,
    pub repeated_reads: u64,
    pub failed_cache_writes: u64,
    pub lost_blocks: u64,
    pub dirty: Dirty,
    begin: Time,
}

impl TierCounters {
    /// Starts all counts anew at `now`, while `dirty` blocks are dirty.
    pub fn forget(&mut self, now: Time, dirty: u64) {
        *self = TierCounters {
            begin: now,
            dirty: Dirty {
                blocks: dirty,
                most: dirty,
                since: now,
                area: 0,
            },
            ..TierCounters::default()
        };
    }

    /// What a picture shows of it, the evictions being counted by the map.
    pub fn sample(&self, evictions: u64) -> Sample {
        Sample {
            reads: self.reads,
            writes: self.writes,
            bypassed: self.bypassed,
            evictions,
            promoted_blocks: self.promoted_blocks,
            written_back_blocks: self.written_back_blocks,
        }
    }

    /// A request of the host arrives.
    pub fn arrives(&mut self) {
        self.requests += 1;
    }

    /// A read begins with `missing` blocks that are not in the cache.
    pub fn reads(&mut self, command: &Command, missing: u64) {
        let blocks = u64::from(command.blocks);
        self.reads.add(blocks, blocks - missing);
    }

    /// A write begins with `held` blocks in lines that were held.
    pub fn writes(&mut self, command: &Command, held: u64) {
        self.writes.add(command.blocks.into(), held);
    }

    /// A part of a request got no place.
    pub fn bypassed(&mut self, reason: Bypass) {
        let index = REASONS.iter().position(|(other, _)| *other == reason);
        self.bypassed[index.expect("every reason is listed")] += 1;
    }

    /// Lines are written back.
    pub fn write_back(&mut self, cause: &Cause) {
        match cause {
            Cause::Victim { .. } => self.of_victims += 1,
            Cause::Cleaning => self.of_cleaning += 1,
            Cause::Flush => self.of_flushes += 1,
            Cause::Change => self.of_changes += 1,
            Cause::Retirement => self.of_retirement += 1,
            Cause::None | Cause::Emptied { .. } => {}
        }
    }

    /// What is told of the table, where there is one.
    pub fn report_commits(&self, report: &mut Map<String, Value>) {
        for (key, count) in [
            ("metadata_commits", self.commits),
            ("metadata_writes", self.table_blocks),
            ("waited_for_metadata", self.waited_for_commit),
        ] {
            report.insert(key.to_owned(), json!(count));
        }
    }

    /// Counters and shares, for the results: `lost` blocks are lost at the end.
    pub fn report(
        &self,
        map: &BlockCache,
        counts: &Counts,
        lost: u64,
        elapsed: Time,
    ) -> Map<String, Value> {
        let share = |part: u64, of: u64| match of {
            0 => 0.0,
            of => part as f64 / of as f64,
        };
        let mut report = Map::new();
        let mut put = |key: String, value: Value| report.insert(key, value);
        put("requests".into(), json!(self.requests));
        for (name, hits) in [("read", &self.reads), ("write", &self.writes)] {
            put(format!("{name}s"), json!(hits.requests));
            put(format!("{name}_hits"), json!(hits.whole));
            put(format!("partial_{name}_hits"), json!(hits.partial));
            put(
                format!("{name}_hit_ratio"),
                json!(share(hits.whole, hits.requests)),
            );
            put(format!("{name}_blocks"), json!(hits.blocks));
            put(format!("{name}_hit_blocks"), json!(hits.held_blocks));
            put(
                format!("{name}_block_hit_ratio"),
                json!(share(hits.held_blocks, hits.blocks)),
            );
        }
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("absorbed_writes", json!(self.absorbed_writes));
        put("lines", json!(map.frames()));
        put("lines_held", json!(map.held()));
        put("line_accesses", json!(counts.accesses));
        put("line_misses", json!(counts.accesses - counts.hits));
        put("line_hit_ratio", json!(share(counts.hits, counts.accesses)));
        put("insertions", json!(counts.insertions));
        put("evictions", json!(counts.evictions));
        put("promotions", json!(self.promotions));
        put("promoted_blocks", json!(self.promoted_blocks));
        put("blocks_from_memory", json!(self.memory_blocks));
        let bypassed = REASONS.iter().zip(&self.bypassed);
        let bypassed = bypassed.map(|((_, name), count)| ((*name).to_owned(), json!(count)));
        put("bypassed", bypassed.collect::<Map<_, _>>().into());
        put("conflicts", json!(self.conflicts));
        put("waited_for_place", json!(self.waited_for_place));
        put(
            "write_backs",
            json!({
                "victims": self.of_victims,
                "cleaning": self.of_cleaning,
                "flushes": self.of_flushes,
                "changes": self.of_changes,
                "retirement": self.of_retirement,
            }),
        );
        put("written_back_blocks", json!(self.written_back_blocks));
        put("trimmed_blocks", json!(self.trimmed_blocks));
        put("trimmed_dirty_blocks", json!(self.trimmed_dirty_blocks));
        put(
            "dirty_blocks_mean",
            json!(self.dirty.mean(self.begin, elapsed)),
        );
        put("dirty_blocks_max", json!(self.dirty.most));
        put("dirty_blocks_at_end", json!(map.dirty_blocks()));
        let rare = [
            ("repeated_reads", self.repeated_reads),
            ("failed_cache_writes", self.failed_cache_writes),
            ("lost_blocks", self.lost_blocks),
            ("lost_blocks_at_end", lost),
        ];
        for (key, count) in rare.into_iter().filter(|(_, count)| *count > 0) {
            put(key, json!(count));
        }
        report
    }
}

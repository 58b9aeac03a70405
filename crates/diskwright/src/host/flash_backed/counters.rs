//! What is counted of flash-backed requests.

use serde_json::{Map, Value, json};

use super::fqueue::FQueue;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::request::Op;

/// Requests, entries and blocks of one kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub requests: u64,
    pub entries: u64,
    pub blocks: u64,
}

impl Tally {
    /// Adds a request with `entries` entries and `blocks` blocks.
    pub fn add(&mut self, entries: u64, blocks: u64) {
        self.requests += 1;
        self.entries += entries;
        self.blocks += blocks;
    }
}

/// What a medium was written for, with the time that this took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// A write of the Request Queue, perhaps with entries of the FQueue.
    Medium,
    /// A redirected write, to the NV cache.
    Flash,
    /// Entries of the FQueue, while requests wait.
    ForegroundFlush,
    /// Entries of the FQueue, while none waits.
    IdleFlush,
}

/// The kinds in the order of the counts.
const WRITTEN: [(Written, &str); 4] = [
    (Written::Medium, "medium"),
    (Written::Flash, "flash"),
    (Written::ForegroundFlush, "foreground_flush"),
    (Written::IdleFlush, "idle_flush"),
];

#[derive(Clone, Copy, Default)]
struct Spent {
    writes: u64,
    blocks: u64,
    time: Time,
}

/// Counts and sums over a run.
#[derive(Default)]
pub(super) struct FlashBackedCounters {
    requests: u64,
    reads: u64,
    writes: u64,
    /// Reads of which all blocks were in the FQueue, and of which some were.
    pub whole_reads: u64,
    pub partial_reads: u64,
    /// Writes that went to the NV cache; those that replaced entries there, with what they replaced.
    pub redirected: Tally,
    pub overwritten: Tally,
    /// Writes that took entries to the medium with them, with these.
    pub coalesced: Tally,
    /// Writes that the rule would have redirected, but for room.
    pub without_room: u64,
    /// Times that flushing began.
    pub flushings: u64,
    pub flushed_entries: u64,
    pub failed_flash_writes: u64,
    /// Reads and trims of the medium for the Request Queue.
    pub medium_reads: u64,
    spent: [Spent; WRITTEN.len()],
    size: u64,
    most: u64,
    since: Time,
    /// The integral of the FQueue's size up to `since`, block·ns.
    area: u128,
    begin: Time,
}

impl FlashBackedCounters {
    /// Starts all counts anew at `now`, with an FQueue of `size` blocks.
    pub fn forget(&mut self, now: Time, size: u64) {
        *self = FlashBackedCounters {
            size,
            most: size,
            since: now,
            begin: now,
            ..FlashBackedCounters::default()
        };
    }

    /// A request arrives.
    pub fn arrives(&mut self, op: Op) {
        self.requests += 1;
        self.reads += u64::from(op == Op::Read);
        self.writes += u64::from(op == Op::Write);
    }

    /// Adds a write of `blocks` blocks that took `time`.
    pub fn wrote(&mut self, what: Written, blocks: u64, time: Time) {
        let index = WRITTEN.iter().position(|(other, _)| *other == what);
        let spent = &mut self.spent[index.expect("every kind is listed")];
        spent.writes += 1;
        spent.blocks += blocks;
        spent.time += time;
    }

    /// The FQueue has `size` blocks from `now` on.
    pub fn clock(&mut self, now: Time, size: u64) {
        if size != self.size {
            self.area += u128::from((now - self.since).ns()) * u128::from(self.size);
            (self.since, self.size) = (now, size);
            self.most = self.most.max(size);
        }
    }

    fn mean(&self, elapsed: Time) -> f64 {
        if elapsed == Time::ZERO {
            return self.size as f64;
        }
        let rest = (self.begin + elapsed).saturating_sub(self.since);
        let area = self.area + u128::from(rest.ns()) * u128::from(self.size);
        area as f64 / elapsed.ns() as f64
    }

    /// The results, for an FQueue that holds up to `capacity` blocks.
    pub fn report(&self, fqueue: &FQueue, capacity: u64, elapsed: Time) -> Map<String, Value> {
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.reads));
        put("writes", json!(self.writes));
        put("reads_from_memory", json!(self.whole_reads));
        put("reads_partly_from_memory", json!(self.partial_reads));
        put("medium_reads", json!(self.medium_reads));
        put("redirected", json!(self.redirected.requests));
        put("redirected_blocks", json!(self.redirected.blocks));
        put("flash_bytes", json!(self.redirected.blocks * BLOCK_BYTES));
        put("overwriting", json!(self.overwritten.requests));
        put("overwritten_entries", json!(self.overwritten.entries));
        put("overwritten_blocks", json!(self.overwritten.blocks));
        put("coalesced", json!(self.coalesced.requests));
        put("coalesced_entries", json!(self.coalesced.entries));
        put("coalesced_blocks", json!(self.coalesced.blocks));
        put("without_room", json!(self.without_room));
        put("flushings", json!(self.flushings));
        put("flushed_entries", json!(self.flushed_entries));
        let kinds = || WRITTEN.iter().zip(&self.spent);
        let of = |value: fn(&Spent) -> Value| -> Value {
            let entries = kinds().map(|((_, name), spent)| ((*name).to_owned(), value(spent)));
            entries.collect::<Map<_, _>>().into()
        };
        put("writes_of", of(|spent| json!(spent.writes)));
        put("written_blocks_of", of(|spent| json!(spent.blocks)));
        put("write_access_ms", of(|spent| json!(spent.time.ms())));
        let counted = kinds().filter(|((what, _), _)| *what != Written::IdleFlush);
        let total: Time = counted.map(|(_, spent)| spent.time).sum();
        put("write_access_total_ms", json!(total.ms()));
        let bytes = |blocks: f64| json!(blocks * BLOCK_BYTES as f64);
        put("fqueue_bytes", json!(capacity * BLOCK_BYTES));
        put("fqueue_bytes_mean", bytes(self.mean(elapsed)));
        put("fqueue_bytes_max", json!(self.most * BLOCK_BYTES));
        put("fqueue_bytes_at_end", json!(fqueue.blocks() * BLOCK_BYTES));
        put("fqueue_entries_at_end", json!(fqueue.len()));
        if self.failed_flash_writes > 0 {
            put("failed_flash_writes", json!(self.failed_flash_writes));
        }
        report
    }
}

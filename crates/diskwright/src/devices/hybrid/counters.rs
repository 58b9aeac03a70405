//! What a hybrid drive counts.

use serde_json::{Map, Value, json};

use super::rest::Wakes;
use crate::engine::request::{NvCacheCommand, Op};

/// Requests to one of its parts.
#[derive(Clone, Copy, Default)]
struct Sent {
    reads: u64,
    read_blocks: u64,
    writes: u64,
    written_blocks: u64,
}

impl Sent {
    fn add(&mut self, op: Op, blocks: u64) {
        match op {
            Op::Read => {
                (self.reads, self.read_blocks) = (self.reads + 1, self.read_blocks + blocks)
            }
            _ => {
                (self.writes, self.written_blocks) = (self.writes + 1, self.written_blocks + blocks)
            }
        }
    }

    fn report(&self) -> Value {
        json!({
            "reads": self.reads,
            "read_blocks": self.read_blocks,
            "writes": self.writes,
            "written_blocks": self.written_blocks,
        })
    }
}

/// Counts over a run.
#[derive(Default)]
pub(super) struct HybridCounters {
    /// Those that have arrived, commands among them.
    pub requests: u64,
    medium: Sent,
    flash: Sent,
    pins: u64,
    unpins: u64,
    queries: u64,
    flushes_of_unpinned: u64,
    pub refused: u64,
    pub populated_blocks: u64,
    /// Writes that the unpinned set has taken.
    absorbed_writes: u64,
    absorbed_blocks: u64,
    /// Reads that the NV cache has served while the medium was at rest.
    pub reads_at_rest: u64,
    /// Flushes of the unpinned set that nobody had asked for, and blocks that all flushes have brought to the medium.
    pub own_flushes: u64,
    pub flushed_blocks: u64,
    woken: Wakes,
}

impl HybridCounters {
    /// A read or a write of `blocks` blocks goes to the NV cache, or to the medium.
    pub fn sends(&mut self, is_flash: bool, op: Op, blocks: u64) {
        let part = if is_flash {
            &mut self.flash
        } else {
            &mut self.medium
        };
        part.add(op, blocks);
    }

    /// The unpinned set takes `blocks` blocks of a write.
    pub fn absorbs(&mut self, blocks: u64) {
        self.absorbed_writes += u64::from(blocks > 0);
        self.absorbed_blocks += blocks;
    }

    /// A request for one of this kind, or for the drive's own flush, finds the medium down.
    pub fn wakes(&mut self, of: Option<Op>) {
        self.woken.add(of);
    }

    /// A command to the NV cache arrives.
    pub fn commanded(&mut self, command: NvCacheCommand) {
        match command {
            NvCacheCommand::Pin | NvCacheCommand::PinAndPopulate | NvCacheCommand::PinAndWrite => {
                self.pins += 1;
            }
            NvCacheCommand::Unpin => self.unpins += 1,
            NvCacheCommand::QueryPinned => self.queries += 1,
            NvCacheCommand::FlushUnpinned => self.flushes_of_unpinned += 1,
            NvCacheCommand::PowerModeOn
            | NvCacheCommand::PowerModeOff
            | NvCacheCommand::ReadMedium
            | NvCacheCommand::WriteMedium
            | NvCacheCommand::WriteMediumAndUnpin => {}
        }
    }

    /// The second of two commands in one request has its turn, as a request of its own: a write, or an unpin.
    pub fn goes_on(&mut self, unpins: bool) {
        self.requests += 1;
        self.unpins += u64::from(unpins);
    }

    /// The results, while `pinned` blocks are pinned and `held` blocks have a place.
    pub fn report(&self, pinned: u64, held: u64) -> Map<String, Value> {
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("medium", self.medium.report());
        put("nv_cache", self.flash.report());
        put(
            "commands",
            json!({
                "pin": self.pins,
                "unpin": self.unpins,
                "query_pinned": self.queries,
                "flush_unpinned": self.flushes_of_unpinned,
                "refused": self.refused,
            }),
        );
        put("populated_blocks", json!(self.populated_blocks));
        put(
            "unpinned_set",
            json!({
                "writes": self.absorbed_writes,
                "written_blocks": self.absorbed_blocks,
                "own_flushes": self.own_flushes,
                "flushed_blocks": self.flushed_blocks,
            }),
        );
        put("reads_at_rest", json!(self.reads_at_rest));
        put(
            "wakes",
            json!({
                "reads": self.woken.reads,
                "writes": self.woken.writes,
                "commands": self.woken.commands,
                "flushes": self.woken.flushes,
            }),
        );
        put("pinned_blocks", json!(pinned));
        put("unpinned_blocks", json!(held - pinned));
        report
    }
}

//! What a hybrid drive counts.

use serde_json::{Map, Value, json};

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
}

impl HybridCounters {
    /// A read or a write of so many blocks goes to the NV cache, or to the medium.
    pub fn sends(&mut self, is_flash: bool, op: Op, blocks: u64) {
        let part = if is_flash {
            &mut self.flash
        } else {
            &mut self.medium
        };
        part.add(op, blocks);
    }

    /// A command to the NV cache arrives.
    pub fn commanded(&mut self, command: NvCacheCommand) {
        match command {
            NvCacheCommand::Pin | NvCacheCommand::PinAndPopulate => self.pins += 1,
            NvCacheCommand::Unpin => self.unpins += 1,
            NvCacheCommand::QueryPinned => self.queries += 1,
            NvCacheCommand::FlushUnpinned => self.flushes_of_unpinned += 1,
            NvCacheCommand::PowerModeOn
            | NvCacheCommand::PowerModeOff
            | NvCacheCommand::ReadMedium
            | NvCacheCommand::WriteMedium => {}
        }
    }

    /// For the results, while so many blocks are pinned and so many have a place.
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
        put("pinned_blocks", json!(pinned));
        put("unpinned_blocks", json!(held - pinned));
        report
    }
}

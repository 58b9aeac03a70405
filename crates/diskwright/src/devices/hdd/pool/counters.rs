//! What a drive's pool counts, and how it reports it.

use serde_json::{Map, Value, json};

use crate::base::units::Time;
use crate::models::cache::BlockCache;
use crate::models::cache::block_cache::Counts;

/// Counts of requests and of what the pool did for itself.
#[derive(Default)]
pub(super) struct PoolCounters {
    pub requests: u64,
    pub reads: u64,
    /// Reads served from memory alone, and in part.
    pub read_hits: u64,
    pub partial_hits: u64,
    pub writes: u64,
    pub written_blocks: u64,
    /// Writes that were complete in memory, and those that had to wait for room first.
    pub absorbed_writes: u64,
    pub waited_for_room: u64,
    /// Requests that waited for a transfer of others with which they had blocks in common.
    pub conflicts: u64,
    /// Extents of requests for which no frame could be freed.
    pub bypassed: u64,
    pub trimmed_blocks: u64,
    pub trimmed_dirty_blocks: u64,
    pub destages: u64,
    /// Those of them that were begun in idle time.
    pub idle_destages: u64,
    pub destaged_blocks: u64,
    pub destage_time: Time,
    /// Passes over the region in which writes are kept.
    pub region_passes: u64,
    /// Pieces of read-ahead, those that a request cut short, and what they brought.
    pub pieces: u64,
    pub cut_pieces: u64,
    pub read_ahead_blocks: u64,
    /// What was read ahead of streams that were given up, and dropped.
    pub dropped_blocks: u64,
    /// The most extents that were dirty or on their way.
    pub dirty_max: u32,
}

impl PoolCounters {
    /// Everything, for the results; `counts` are those of the frames.
    pub fn report(&self, cache: &BlockCache, counts: &Counts) -> Map<String, Value> {
        let share = |part: u64, of: u64| {
            if of == 0 {
                0.0
            } else {
                part as f64 / of as f64
            }
        };
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.reads));
        put("writes", json!(self.writes));
        put("read_hits", json!(self.read_hits));
        put("partial_read_hits", json!(self.partial_hits));
        put("read_hit_ratio", json!(share(self.read_hits, self.reads)));
        put("absorbed_writes", json!(self.absorbed_writes));
        put("writes_that_waited_for_room", json!(self.waited_for_room));
        put("frames", json!(cache.frames()));
        put("frame_accesses", json!(counts.accesses));
        put("frame_misses", json!(counts.accesses - counts.hits));
        put("hit_ratio", json!(share(counts.hits, counts.accesses)));
        put("evictions", json!(counts.evictions));
        put("bypassed", json!(self.bypassed));
        put("conflicts", json!(self.conflicts));
        put("trimmed_blocks", json!(self.trimmed_blocks));
        put("trimmed_dirty_blocks", json!(self.trimmed_dirty_blocks));
        put("destages", json!(self.destages));
        put("idle_destages", json!(self.idle_destages));
        put("destaged_blocks", json!(self.destaged_blocks));
        put("destage_ms", json!(self.destage_time.ms()));
        put("region_passes", json!(self.region_passes));
        put("read_ahead_pieces", json!(self.pieces));
        put("read_ahead_pieces_cut_short", json!(self.cut_pieces));
        put("read_ahead_blocks", json!(self.read_ahead_blocks));
        put("read_ahead_blocks_dropped", json!(self.dropped_blocks));
        put("dirty_extents_max", json!(self.dirty_max));
        put("dirty_blocks_at_end", json!(cache.dirty_blocks()));
        report
    }
}

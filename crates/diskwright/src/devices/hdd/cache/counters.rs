//! What a drive's cache counts, and how it reports it.

use serde_json::{Map, Value, json};

use crate::base::units::Time;
use crate::models::cache::BlockCache;
use crate::models::cache::block_cache::Counts;

/// Counts of requests and of what the cache wrote for itself.
#[derive(Default)]
pub(super) struct CacheCounters {
    pub(super) requests: u64,
    pub(super) reads: u64,
    /// Reads served from the cache alone, and in part.
    pub(super) read_hits: u64,
    pub(super) partial_hits: u64,
    pub(super) writes: u64,
    /// Writes that were complete in the cache.
    pub(super) absorbed_writes: u64,
    /// Requests that waited for a transfer of others with which they had blocks in common.
    pub(super) conflicts: u64,
    /// Pieces of requests for which no frame could be freed.
    pub(super) bypassed: u64,
    /// Blocks that trims took from frames, and those of them that were dirty.
    pub(super) trimmed_blocks: u64,
    pub(super) trimmed_dirty_blocks: u64,
    pub(super) destages: u64,
    pub(super) destaged_blocks: u64,
    /// Seek, switch, settle and rotation of destages that had the medium to themselves, and the time from start to end of all.
    pub(super) destage_access: Time,
    pub(super) destage_time: Time,
}

impl CacheCounters {
    /// Everything, for the results; `counts` are those of the frames.
    pub(super) fn report(&self, cache: &BlockCache, counts: &Counts) -> Map<String, Value> {
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
        put("frames", json!(cache.frames()));
        put("frame_accesses", json!(counts.accesses));
        put("frame_misses", json!(counts.accesses - counts.hits));
        put("hit_ratio", json!(share(counts.hits, counts.accesses)));
        put("insertions", json!(counts.insertions));
        put("evictions", json!(counts.evictions));
        put("bypassed", json!(self.bypassed));
        put("conflicts", json!(self.conflicts));
        put("trimmed_blocks", json!(self.trimmed_blocks));
        put("trimmed_dirty_blocks", json!(self.trimmed_dirty_blocks));
        put("destages", json!(self.destages));
        put("destaged_blocks", json!(self.destaged_blocks));
        put("destage_access_ms", json!(self.destage_access.ms()));
        put("destage_ms", json!(self.destage_time.ms()));
        put("dirty_blocks", json!(cache.dirty_blocks()));
        report
    }
}

//! What a drive's description says of its pool and its write cache, as `docs/model/pool.md` defines them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::{Size, Time};
use crate::models::cache::replacement::ReplacementChoice;
use crate::models::cache::{MOST_FRAMES, MOST_LINE_BLOCKS};

/// The memory of a drive, shared by all that it reads and writes: `[pool]` in a drive's file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolDescription {
    /// How much it holds.
    pub size: Size,
    /// What it holds and replaces as one: at most 1 MiB, a whole number of physical sectors.
    #[serde(default = "four_kib")]
    pub extent: Size,
    /// Which extent leaves when another needs its place.
    #[serde(default)]
    pub policy: ReplacementChoice,
    /// The controller's time for a request that is served from memory alone.
    #[serde(default)]
    pub hit_overhead: Time,
    /// What is read beyond requests; nothing where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<StreamsDescription>,
    /// What is behind the switch for the write cache; nothing where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<WriteCacheDescription>,
    /// What keeps writes without power, with the write cache disabled; nothing where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent: Option<PersistentDescription>,
}

/// How a drive reads ahead: `[pool.read_ahead]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StreamsDescription {
    /// Streams that it follows.
    pub streams: u32,
    /// Reads that must have continued a stream before it is read ahead.
    pub after: u32,
    /// How far ahead of the last read.
    pub most: Size,
    /// What an arm goes on to read of a stream behind a read of the host's, whatever waits: the minimum prefetch of SCSI's caching page.
    pub least: Size,
    /// Whether it stops at once for a request that waits, beyond `least`.
    pub yields: bool,
}

/// How dirty blocks are kept and brought to the medium: `[pool.write_cache]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WriteCacheDescription {
    /// The share of the pool's extents that may be dirty.
    pub share: f64,
    /// The share of those from which on destaging is pressing.
    pub high: f64,
    /// The share of those at which it is so no longer.
    pub low: f64,
    /// How long the arms rest before they destage without need.
    pub idle: Time,
    /// How long blocks may be dirty.
    pub age: Time,
    /// The most that is destaged at once.
    pub longest: Size,
}

/// What keeps writes without power: `[pool.persistent]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersistentDescription {
    /// How much of the pool's memory is kept.
    pub memory: Size,
    /// Where on the medium it is kept: a write is complete when it is there. Where it is left out, it is kept in flash, or by the
    /// energy of the platters, and a write is complete in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<RegionDescription>,
}

/// The regions of the medium that keep writes: `[pool.persistent.region]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionDescription {
    /// How many there are, spread evenly over the cylinders.
    #[serde(default = "one")]
    pub count: u32,
    /// How much they have room for together, at least one extent more than the memory that they keep.
    pub size: Size,
}

fn one() -> u32 {
    1
}

fn four_kib() -> Size {
    Size::from_blocks(8)
}

impl Default for StreamsDescription {
    fn default() -> StreamsDescription {
        StreamsDescription {
            streams: 32,
            after: 1,
            most: Size::from_blocks(4096),
            least: Size::from_blocks(0),
            yields: true,
        }
    }
}

impl Default for WriteCacheDescription {
    fn default() -> WriteCacheDescription {
        WriteCacheDescription {
            share: 0.5,
            high: 0.8,
            low: 0.6,
            idle: Time::from_ms(20),
            age: Time::from_s(10),
            longest: Size::from_blocks(2048),
        }
    }
}

impl PartialEq for PoolDescription {
    fn eq(&self, other: &PoolDescription) -> bool {
        let plain = |description| serde_json::to_value(description).expect("text and numbers");
        plain(self) == plain(other)
    }
}

impl PoolDescription {
    /// Frames of the pool, and blocks of an extent.
    pub fn frames(&self) -> (u32, u32) {
        let (size, extent) = (self.size.blocks(), self.extent.blocks());
        ((size / extent) as u32, extent as u32)
    }

    /// Extents that may be dirty with the write cache enabled or disabled; none where writes go to the medium.
    pub fn most_dirty(&self, write_cache: bool) -> Option<u32> {
        let (frames, extent) = self.frames();
        if write_cache {
            let share = self.write_cache.as_ref()?.share;
            return Some(((f64::from(frames) * share) as u32).max(1));
        }
        let kept = self.persistent.as_ref()?.memory.blocks();
        Some((kept / u64::from(extent)) as u32)
    }

    /// Checks everything that does not fit, on a drive with sectors of `blocks_per_sector` blocks.
    ///
    /// # Errors
    /// The first value without sense, and what is accepted.
    pub fn check(&self, blocks_per_sector: u64) -> Result<(), InputError> {
        let wrong = |what: String, help: &str| Err(InputError::new(what).help(help));
        let (size, extent) = (self.size.blocks(), self.extent.blocks());
        if !(1..=u64::from(MOST_LINE_BLOCKS)).contains(&extent)
            || !extent.is_multiple_of(blocks_per_sector)
        {
            return wrong(
                format!("a pool with extents of {}", self.extent),
                "accepted: a whole number of the drive's sectors, at most 1 MiB, such as \"4 KiB\"",
            );
        }
        if size == 0 || !size.is_multiple_of(extent) || size / extent > u64::from(MOST_FRAMES) {
            return wrong(
                format!("a pool of {} in extents of {}", self.size, self.extent),
                "accepted: a whole number of extents, below 2^31 of them, such as \"256 MiB\"",
            );
        }
        if let ReplacementChoice::Known(policy) = &self.policy
            && policy.needs_future()
        {
            return wrong(
                format!("{:?} must know future requests", policy.name()),
                "a simulation does not: `diskwright miss-ratio` has it beside the others",
            );
        }
        if let Some(cache) = &self.write_cache {
            if !(cache.share > 0.0 && cache.share <= 1.0) {
                return wrong(
                    format!("a write cache with a share of {}", cache.share),
                    "accepted: above 0 and at most 1",
                );
            }
            if !(0.0 <= cache.low && cache.low <= cache.high && cache.high <= 1.0) {
                return wrong(
                    format!(
                        "a write cache with low = {} and high = {}",
                        cache.low, cache.high
                    ),
                    "accepted: 0 ≤ low ≤ high ≤ 1",
                );
            }
            if cache.longest.blocks() == 0 {
                return wrong(
                    "destages of 0 blocks at most".to_owned(),
                    "accepted: longest = \"1 block\" or more, such as \"1 MiB\"",
                );
            }
        }
        if let Some(StreamsDescription { most, least, .. }) = &self.read_ahead
            && least.blocks() > most.blocks()
        {
            return wrong(
                format!("a read-ahead of at least {least} and at most {most}"),
                "accepted: least = \"0 B\" to what `most` is",
            );
        }
        if let Some(kept) = &self.persistent {
            let memory = kept.memory.blocks();
            if let Some(RegionDescription { count, size }) = kept.region {
                if count == 0 || u64::from(count) > size.blocks() / extent {
                    return wrong(
                        format!("{count} regions of {size} together"),
                        "accepted: one or more, each with room for an extent",
                    );
                }
                let slots = size.blocks() / extent / u64::from(count) * u64::from(count);
                if slots <= memory / extent || slots > u64::from(MOST_FRAMES) {
                    return wrong(
                        format!("{count} regions of {size} for a memory of {}", kept.memory),
                        "accepted: together an extent more than the memory, or more: what is kept anew needs a second place",
                    );
                }
            }
            if memory == 0 || !memory.is_multiple_of(extent) || memory > size {
                return wrong(
                    format!("a persistent memory of {}", kept.memory),
                    "accepted: a whole number of extents, no more than the pool has",
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::{Node, from_node};
    use crate::base::error::Source;

    fn pool(more: &str) -> PoolDescription {
        let text = format!("size = \"1 MiB\"\n{more}");
        let tree = Node::parse(&Source::new("test", text)).expect(more);
        from_node(&tree).expect(more)
    }

    #[test]
    fn what_may_be_dirty_is_a_number_of_extents() {
        let both = pool("[write_cache]\nshare = 0.3\n[persistent]\nmemory = \"16 KiB\"");
        assert_eq!(both.frames(), (256, 8));
        assert_eq!(both.most_dirty(true), Some(76));
        assert_eq!(both.most_dirty(false), Some(4));
        assert_eq!(pool("").most_dirty(true), None);
        assert_eq!(pool("").most_dirty(false), None);
        let tiny = pool("[write_cache]\nshare = 0.001");
        assert_eq!(tiny.most_dirty(true), Some(1));
    }

    #[test]
    fn what_makes_no_pool_is_refused() {
        for (more, word) in [
            ("extent = \"3 KiB\"", "extents of 6 blocks"),
            ("extent = \"2 MiB\"", "extents of 4096 blocks"),
            ("policy = \"belady\"", "belady"),
            ("[write_cache]\nshare = 0.0", "share of 0"),
            ("[write_cache]\nlow = 0.9", "low = 0.9"),
            ("[write_cache]\nlongest = \"0 B\"", "0 blocks"),
            (
                "[persistent]\nmemory = \"2 MiB\"",
                "persistent memory of 4096 blocks",
            ),
            (
                "[persistent]\nmemory = \"64 KiB\"\nregion.size = \"64 KiB\"",
                "1 regions of 128 blocks for a memory of 128 blocks",
            ),
            (
                "[persistent]\nmemory = \"16 KiB\"\nregion = { count = 3, size = \"20 KiB\" }",
                "3 regions of 40 blocks",
            ),
            (
                "[persistent]\nmemory = \"1 KiB\"",
                "persistent memory of 2 blocks",
            ),
        ] {
            let error = pool(more).check(8).expect_err(more);
            assert!(error.to_string().contains(word), "{more}: {error}");
        }
        assert_eq!(
            pool("[write_cache]\n[persistent]\nmemory = \"1 MiB\"").check(8),
            Ok(())
        );
    }
}

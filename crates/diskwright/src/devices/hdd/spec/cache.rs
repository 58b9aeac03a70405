//! What a spec says of a drive's block cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, InputError};
use crate::base::units::{Size, Time};
use crate::devices::hdd::cache::WritePolicy;
use crate::models::cache::replacement::{ReplacementChoice, lines_memory};
use crate::models::cache::{MOST_FRAMES, MOST_LINE_BLOCKS};

/// A block cache in front of a drive's queue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// How much it holds.
    pub size: Size,
    /// The unit of the cache, at most 1 MiB. Only the requested part of a cache block is fetched.
    #[serde(default = "four_kib")]
    pub block_size: Size,
    /// Which block leaves when another needs its place.
    #[serde(default)]
    pub policy: ReplacementChoice,
    /// When a write is complete.
    #[serde(default)]
    pub write_policy: WritePolicy,
    /// The controller's time for a request that the cache serves; without it, the drive's overhead for a command after one of
    /// its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_overhead: Option<Time>,
}

fn four_kib() -> Size {
    Size::from_blocks(8)
}

impl CacheSpec {
    /// Frames of the cache, and blocks of a frame.
    ///
    /// # Errors
    /// The key and what is wrong with its value: a cache block of more than 1 MiB, a size that is no multiple of it, a
    /// policy that only a run over a whole trace can have.
    pub fn frames(&self) -> Result<(u32, u32), (&'static str, Error)> {
        let (size, block) = (self.size.blocks(), self.block_size.blocks());
        let wrong = |key, message: String, help: &str| {
            Err((key, Error::from(InputError::new(message).help(help))))
        };
        if !(1..=u64::from(MOST_LINE_BLOCKS)).contains(&block) {
            return wrong(
                "block_size",
                format!("cache blocks of {}", self.block_size),
                "accepted: 1 block to 1 MiB, such as \"4 KiB\"",
            );
        }
        if size == 0 || !size.is_multiple_of(block) {
            return wrong(
                "size",
                format!(
                    "a cache of {} is no whole number of its blocks of {}",
                    self.size, self.block_size
                ),
                "write a multiple of block_size, such as \"8 MiB\"",
            );
        }
        let frames = u32::try_from(size / block).unwrap_or(u32::MAX);
        if frames > MOST_FRAMES {
            return wrong(
                "size",
                format!("a cache of {} in blocks of {}", self.size, self.block_size),
                "accepted: below 2^31 cache blocks",
            );
        }
        if let ReplacementChoice::Known(policy) = &self.policy
            && policy.needs_future()
        {
            return wrong(
                "policy",
                format!("{:?} must know future requests", policy.name()),
                "a simulation does not: `diskwright miss-ratio` has it beside the others",
            );
        }
        Ok((frames, block as u32))
    }
}

/// What a cache may come to need of the memory.
pub struct MemoryOfCache {
    /// Bytes of its frames, and of what its policy keeps beside them.
    pub frames: u64,
    /// Bytes of the latter alone.
    pub policy: u64,
}

impl CacheSpec {
    /// The most memory of a cache of `frames` frames of `per_frame` blocks in front of a device of `blocks` blocks.
    pub fn memory(&self, frames: u32, per_frame: u32, blocks: u64) -> MemoryOfCache {
        let keys = blocks.div_ceil(per_frame.into());
        MemoryOfCache {
            frames: lines_memory(frames, per_frame, keys),
            policy: match &self.policy {
                ReplacementChoice::Known(policy) => policy.memory(frames, keys),
                ReplacementChoice::Custom(_) => 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::{Node, from_node};
    use crate::base::error::Source;

    fn frames(text: &str) -> Result<(u32, u32), String> {
        let tree = Node::parse(&Source::new("test", text)).expect(text);
        let spec: CacheSpec = from_node(&tree).expect(text);
        spec.frames()
            .map_err(|(key, error)| format!("{key}: {error}"))
    }

    #[test]
    fn a_size_is_a_number_of_frames() {
        assert_eq!(frames("size = \"8 MiB\""), Ok((2048, 8)));
        let large = "size = \"2 TiB\"\nblock_size = \"1 MiB\"";
        assert_eq!(frames(large), Ok((1 << 21, 2048)));
        let odd = "size = \"195 blocks\"\nblock_size = \"65 blocks\"";
        assert_eq!(frames(odd), Ok((3, 65)));
    }

    #[test]
    fn what_makes_no_cache_is_refused_where_it_stands() {
        for (text, key) in [
            ("size = \"0 B\"", "size: "),
            ("size = \"9 blocks\"", "size: "),
            (
                "size = \"2049 blocks\"\nblock_size = \"2049 blocks\"",
                "block_size: ",
            ),
            ("size = \"8 MiB\"\nblock_size = \"0 B\"", "block_size: "),
            ("size = \"1000 TiB\"", "size: "),
            ("size = \"8 MiB\"\npolicy = \"belady\"", "policy: "),
        ] {
            let error = frames(text).expect_err(text);
            assert!(error.starts_with(key), "{text}: {error}");
        }
    }
}

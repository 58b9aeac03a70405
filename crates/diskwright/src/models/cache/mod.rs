//! Caches of blocks: what is where, and which block leaves when another needs its place.
//!
//! A cache has a fixed number of [frames](Frame), each of which holds one block. A [`Directory`] says which block is in which
//! frame; a [`Replacement`](replacement::Replacement) policy chooses the frame to be freed and sees frames, keys and
//! accesses only. The cache in a drive, the tier on an SSD and [`ObjectCache`], which only counts, share both.

mod bits;
pub mod block_cache;
pub mod directory;
mod dirty_order;
mod ghosts;
mod index;
mod line_piece;
mod lines;
mod lists;
pub mod object_cache;
mod occupancy;
mod ordered_keys;
mod passed_over;
pub(crate) mod per_frame;
pub mod pins;
mod ranking;
pub mod recent_counts;
pub mod replacement;

pub use block_cache::BlockCache;
pub use directory::Directory;
pub use object_cache::ObjectCache;
pub use pins::Pins;

/// The most frames that a cache may have, and the most blocks that have left it which a policy remembers.
pub const MOST_FRAMES: u32 = (1 << 31) - 1;

/// The most 512-byte blocks of a [line](BlockCache): 1 MiB.
pub const MOST_LINE_BLOCKS: u32 = 2048;

/// A place for one block: a number below the cache's capacity in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame(pub u32);

impl Frame {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

//! S3-FIFO.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{Variant, part, share};
use super::{
    Access, Frame, Ghosts, Links, List, PerFrame, Pins, Replacement, Setting, second_chance,
};
use crate::base::units::Share;

/// Rule: a new block comes into a small FIFO queue; from its end it moves to the main one if it had hits enough, else it leaves and its key
/// is remembered; one that is remembered comes into the main queue. There every hit, of three at most, saves a block from leaving once.
/// Tie: none can be. Source: Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023, algorithm 1; a promotion into a full
/// main queue frees one block, not two. Weakness: a second access later than the small queue and the ghosts last comes too late.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct S3Fifo {
    /// The share of the cache that the small queue has; one block at least.
    pub small: Share,
    /// How many keys are remembered, as a share of the cache's blocks.
    pub ghosts: Share,
    /// Hits in the small queue with which a block moves to the main one.
    pub hits: u8,
    /// In the paper a block that moves into a full main queue makes that give one up, which then is the one to leave;
    /// with `"libcachesim"` the small queue goes on until one of its own leaves.
    pub variant: Variant,
}

impl Default for S3Fifo {
    fn default() -> S3Fifo {
        S3Fifo {
            small: share(0.1),
            ghosts: share(0.9),
            hits: 2,
            variant: Variant::Paper,
        }
    }
}

impl S3Fifo {
    pub(super) const SUMMARY: &str = "Three FIFO queues: a small one for new blocks, the main one, and one of the keys of what left the small one.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        let Setting { capacity, .. } = *setting;
        let small = part(self.small, capacity).max(1);
        Box::new(S3FifoState {
            links: Links::new(),
            small: List::default(),
            main: List::default(),
            small_room: small as usize,
            main_room: (capacity - small) as usize,
            blocks: PerFrame::new(Block::default()),
            keys: PerFrame::new(0),
            ghosts: Ghosts::new(part(self.ghosts, capacity)),
            enough: self.hits,
            variant: self.variant,
            is_back: false,
        })
    }
}

/// Hits in the main queue that count.
const MOST: u8 = 3;

#[derive(Clone, Copy, Default)]
struct Block {
    hits: u8,
    is_main: bool,
}

struct S3FifoState {
    links: Links,
    /// The oldest block of each is at its back.
    small: List,
    main: List,
    small_room: usize,
    main_room: usize,
    blocks: PerFrame<Block>,
    keys: PerFrame<u64>,
    ghosts: Ghosts<1>,
    enough: u8,
    variant: Variant,
    /// The block of the last miss was remembered.
    is_back: bool,
}

impl S3FifoState {
    /// Lets a block of the small queue go; those that had hits enough move to the main one, until that is over its share.
    fn evict_small(&mut self, pins: &Pins) -> Option<Frame> {
        while let Some(frame) = self.links.last_free(&mut self.small, pins) {
            self.links.remove(&mut self.small, frame);
            let block = &mut self.blocks[frame.index()];
            if block.hits < self.enough {
                self.ghosts.push(0, self.keys[frame.index()]);
                return Some(frame);
            }
            *block = Block {
                hits: 0,
                is_main: true,
            };
            self.links.push_front(&mut self.main, frame);
            if self.variant == Variant::Paper && self.main.len() > self.main_room {
                return self.evict_main(pins);
            }
        }
        None
    }

    fn evict_main(&mut self, pins: &Pins) -> Option<Frame> {
        let S3FifoState {
            links,
            main,
            blocks,
            ..
        } = self;
        let passes = |frame: Frame| {
            let hits = &mut blocks[frame.index()].hits;
            let has_any = *hits > 0;
            *hits = hits.saturating_sub(1);
            has_any
        };
        let frame = second_chance(links, main, pins, passes)?;
        links.remove(main, frame);
        Some(frame)
    }
}

impl Replacement for S3FifoState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        let block = &mut self.blocks[frame.index()];
        let most = if block.is_main {
            MOST
        } else {
            MOST.max(self.enough)
        };
        block.hits = block.hits.saturating_add(1).min(most);
    }
    fn miss(&mut self, access: &Access) {
        self.is_back = self.ghosts.take(access.key).is_some();
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        if self.small.len() >= self.small_room {
            self.evict_small(pins).or_else(|| self.evict_main(pins))
        } else {
            self.evict_main(pins).or_else(|| self.evict_small(pins))
        }
    }
    fn insert(&mut self, frame: Frame, access: &Access) {
        let is_main = self.is_back;
        self.keys[frame.index()] = access.key;
        self.blocks[frame.index()] = Block { hits: 0, is_main };
        let list = if is_main {
            &mut self.main
        } else {
            &mut self.small
        };
        self.links.push_front(list, frame);
    }
    fn release(&mut self, frame: Frame) {
        let list = if self.blocks[frame.index()].is_main {
            &self.main
        } else {
            &self.small
        };
        self.links.release(list, frame);
    }
    fn remove(&mut self, frame: Frame) {
        let list = if self.blocks[frame.index()].is_main {
            &mut self.main
        } else {
            &mut self.small
        };
        self.links.remove(list, frame);
    }
}

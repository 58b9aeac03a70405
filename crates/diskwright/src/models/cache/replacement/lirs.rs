//! Low inter-reference recency set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{Factor, part, share};
use super::{Access, Directory, Frame, Links, List, Pins, Replacement, Setting, last_free};
use crate::base::units::Share;

/// Rule: the blocks whose last two accesses were close together (LIR) have most of the cache; the others (HIR) share the rest, and the one
/// that has been there longest without an access leaves. A stack by recency, down to the last LIR block, tells whether a HIR block that is
/// accessed was so more recently than a LIR block: then they change places. Tie: none can be. Source: Jiang and Zhang, "LIRS: an efficient
/// low inter-reference recency set replacement policy", SIGMETRICS 2002. Weakness: slow to let go of blocks that were popular once.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lirs {
    /// The share of the cache that HIR blocks have; one block at least.
    pub high: Share,
    /// How many keys of blocks that have left are remembered, in capacities of the cache. The paper sets no bound; beyond this
    /// one the key that left first is forgotten.
    pub ghosts: Factor,
}

impl Default for Lirs {
    fn default() -> Lirs {
        Lirs {
            high: share(0.01),
            ghosts: Factor::TWO,
        }
    }
}

impl Lirs {
    pub(super) const SUMMARY: &str = "Most of the cache for the blocks whose last two accesses were closest together; of the others the oldest leaves.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        let Setting { capacity, .. } = *setting;
        let ghosts = libm::round(self.ghosts.value() * f64::from(capacity));
        // Frames and ghosts together are numbered in 32 bits, of which the last number is none's.
        let ghosts = ghosts.min(f64::from(u32::MAX - 1 - capacity)) as u32;
        Box::new(LirsState {
            capacity,
            stack_links: Links::new(capacity + ghosts),
            stack: List::default(),
            links: Links::new(capacity),
            low: List::default(),
            high: List::default(),
            room: (capacity - part(self.high, capacity).max(1)) as usize,
            blocks: vec![Block::default(); capacity as usize].into(),
            keys: vec![0; capacity as usize].into(),
            directory: Directory::new(ghosts),
            ghost_links: Links::new(ghosts),
            ghosts: List::default(),
            is_back: false,
        })
    }
}

#[derive(Clone, Copy, Default)]
struct Block {
    is_low: bool,
    is_stacked: bool,
}

struct LirsState {
    capacity: u32,
    /// S in the paper, the most recent in front. Ghosts are numbered from the capacity on.
    stack_links: Links,
    stack: List,
    links: Links,
    /// The LIR blocks, the least recently accessed at the back.
    low: List,
    /// The HIR blocks, Q in the paper; the next to leave at the back.
    high: List,
    /// How many LIR blocks there may be.
    room: usize,
    blocks: Box<[Block]>,
    keys: Box<[u64]>,
    /// The keys of HIR blocks that have left, all of them in the stack.
    directory: Directory,
    ghost_links: Links,
    /// By age, the one that left first at the back.
    ghosts: List,
    /// The block of the last miss was in the stack.
    is_back: bool,
}

impl LirsState {
    fn node(&self, ghost: Frame) -> Frame {
        Frame(self.capacity + ghost.0)
    }

    fn forget(&mut self, ghost: Frame) {
        let node = self.node(ghost);
        self.stack_links.remove(&mut self.stack, node);
        self.ghost_links.remove(&mut self.ghosts, ghost);
        self.directory.remove(ghost);
    }

    fn unstack(&mut self, frame: Frame) {
        if std::mem::take(&mut self.blocks[frame.index()].is_stacked) {
            self.stack_links.remove(&mut self.stack, frame);
        }
    }

    /// Puts a block on top of the stack.
    fn stack(&mut self, frame: Frame) {
        self.unstack(frame);
        self.blocks[frame.index()].is_stacked = true;
        self.stack_links.push_front(&mut self.stack, frame);
    }

    /// Takes everything off the stack's end that is below the last LIR block.
    fn prune(&mut self) {
        while let Some(node) = self.stack.back() {
            if node.0 >= self.capacity {
                self.forget(Frame(node.0 - self.capacity));
            } else if self.blocks[node.index()].is_low {
                return;
            } else {
                self.unstack(node);
            }
        }
    }

    /// Makes a block that is in neither list a LIR block; one too many becomes a HIR block.
    fn lower(&mut self, frame: Frame) {
        self.blocks[frame.index()].is_low = true;
        self.links.push_front(&mut self.low, frame);
        if self.low.len() > self.room {
            let last = self.low.back().expect("one was put there");
            self.links.remove(&mut self.low, last);
            self.blocks[last.index()].is_low = false;
            self.unstack(last);
            self.links.push_front(&mut self.high, last);
        }
    }

    /// Leaves the key of a block that is stacked in its place.
    fn haunt(&mut self, frame: Frame) {
        if self.directory.is_full() {
            match self.ghosts.back() {
                Some(oldest) => self.forget(oldest),
                None => return self.unstack(frame),
            }
        }
        let ghost = self.directory.insert(self.keys[frame.index()]);
        self.ghost_links.push_front(&mut self.ghosts, ghost);
        let node = self.node(ghost);
        self.stack_links.replace(&mut self.stack, frame, node);
        self.blocks[frame.index()].is_stacked = false;
    }
}

impl Replacement for LirsState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        let block = self.blocks[frame.index()];
        self.stack(frame);
        if block.is_low {
            self.links.move_to_front(&mut self.low, frame);
        } else if block.is_stacked {
            self.links.remove(&mut self.high, frame);
            self.lower(frame);
        } else {
            self.links.move_to_front(&mut self.high, frame);
        }
        self.prune();
    }
    fn miss(&mut self, access: &Access) {
        let ghost = self.directory.find(access.key);
        self.is_back = ghost.is_some();
        if let Some(ghost) = ghost {
            self.forget(ghost);
        }
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        if let Some(frame) = last_free(&self.links, &self.high, pins) {
            self.links.remove(&mut self.high, frame);
            if self.blocks[frame.index()].is_stacked {
                self.haunt(frame);
            }
            return Some(frame);
        }
        let frame = last_free(&self.links, &self.low, pins)?;
        self.remove(frame);
        Some(frame)
    }
    fn insert(&mut self, frame: Frame, access: &Access) {
        self.keys[frame.index()] = access.key;
        self.blocks[frame.index()] = Block::default();
        self.stack(frame);
        if self.is_back || self.low.len() < self.room {
            self.lower(frame);
        } else {
            self.links.push_front(&mut self.high, frame);
        }
        self.prune();
    }
    fn remove(&mut self, frame: Frame) {
        let list = if self.blocks[frame.index()].is_low {
            &mut self.low
        } else {
            &mut self.high
        };
        self.links.remove(list, frame);
        self.unstack(frame);
        self.prune();
    }
}

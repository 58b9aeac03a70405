//! Low inter-reference recency set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{Factor, part, share};
use super::{Access, Directory, Frame, Links, List, PerFrame, Pins, Replacement, Setting};
use crate::base::units::Share;
use crate::models::cache::MOST_FRAMES;

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
    /// How many keys it remembers.
    pub(super) fn remembered(&self, capacity: u32) -> u32 {
        let ghosts = libm::floor(self.ghosts.value() * f64::from(capacity));
        ghosts.min(f64::from(MOST_FRAMES)) as u32
    }

    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        let Setting { capacity, .. } = *setting;
        let ghosts = self.remembered(capacity);
        Box::new(LirsState {
            stack_links: Links::new(),
            stack: List::default(),
            links: Links::new(),
            low: List::default(),
            high: List::default(),
            room: (capacity - part(self.high, capacity).max(1)) as usize,
            blocks: PerFrame::new(Block::default()),
            keys: PerFrame::new(0),
            directory: Directory::new(ghosts),
            ghost_links: Links::new(),
            ghosts: List::default(),
            is_back: false,
        })
    }
}

/// The place of a frame in the stack, and that of a ghost: memory grows with both.
fn of_frame(frame: Frame) -> Frame {
    Frame(2 * frame.0)
}

fn of_ghost(ghost: Frame) -> Frame {
    Frame(2 * ghost.0 + 1)
}

#[derive(Clone, Copy, Default)]
struct Block {
    is_low: bool,
    is_stacked: bool,
}

struct LirsState {
    /// S in the paper, the most recent in front: frames have the even numbers, ghosts the odd ones.
    stack_links: Links,
    stack: List,
    links: Links,
    /// The LIR blocks, the least recently accessed at the back.
    low: List,
    /// The HIR blocks, Q in the paper; the next to leave at the back.
    high: List,
    /// How many LIR blocks there may be.
    room: usize,
    blocks: PerFrame<Block>,
    keys: PerFrame<u64>,
    /// The keys of HIR blocks that have left, all of them in the stack.
    directory: Directory,
    ghost_links: Links,
    /// By age, the one that left first at the back.
    ghosts: List,
    /// The block of the last miss was in the stack.
    is_back: bool,
}

impl LirsState {
    fn forget(&mut self, ghost: Frame) {
        self.stack_links.remove(&mut self.stack, of_ghost(ghost));
        self.ghost_links.remove(&mut self.ghosts, ghost);
        self.directory.remove(ghost);
    }

    fn unstack(&mut self, frame: Frame) {
        if std::mem::take(&mut self.blocks[frame.index()].is_stacked) {
            self.stack_links.remove(&mut self.stack, of_frame(frame));
        }
    }

    /// Puts a block on top of the stack.
    fn stack(&mut self, frame: Frame) {
        self.unstack(frame);
        self.blocks[frame.index()].is_stacked = true;
        self.stack_links
            .push_front(&mut self.stack, of_frame(frame));
    }

    /// Takes everything off the stack's end that is below the last LIR block.
    fn prune(&mut self) {
        while let Some(node) = self.stack.back() {
            let known = Frame(node.0 / 2);
            if node.0 % 2 == 1 {
                self.forget(known);
            } else if self.blocks[known.index()].is_low {
                return;
            } else {
                self.unstack(known);
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
        let (frame_there, ghost_there) = (of_frame(frame), of_ghost(ghost));
        self.stack_links
            .replace(&mut self.stack, frame_there, ghost_there);
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
        if let Some(frame) = self.links.last_free(&mut self.high, pins) {
            self.links.remove(&mut self.high, frame);
            if self.blocks[frame.index()].is_stacked {
                self.haunt(frame);
            }
            return Some(frame);
        }
        let frame = self.links.last_free(&mut self.low, pins)?;
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
    fn release(&mut self, frame: Frame) {
        let list = if self.blocks[frame.index()].is_low {
            &self.low
        } else {
            &self.high
        };
        self.links.release(list, frame);
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

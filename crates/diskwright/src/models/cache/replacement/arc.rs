//! Adaptive replacement cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Ghosts, Links, List, PerFrame, Pins, Replacement, Setting};

/// Rule: T1 holds the blocks accessed once of late, T2 the others, both by recency; B1 and B2 remember the keys that left them. An access to
/// one remembered in B1 makes the target size of T1 larger, in B2 smaller; T1 gives a block up where it is above its target, else T2.
/// Tie: none can be. Source: Megiddo and Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003, figure 4, with the target
/// to 2⁻³² of a block. Weakness: a block accessed twice at once is taken for popular; the target swings with the load.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arc {}

impl Arc {
    pub(super) const SUMMARY: &str = "Adaptive: a list by recency and one of blocks accessed again, whose sizes follow the misses of what has just left.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        let Setting { capacity, .. } = *setting;
        Box::new(ArcState {
            capacity: capacity as usize,
            links: Links::new(),
            lists: [List::default(); 2],
            list_of: PerFrame::new(0),
            keys: PerFrame::new(0),
            ghosts: Ghosts::new(capacity),
            target: 0,
            was_in: None,
        })
    }
}

/// Of the lists: accessed once (T1, B1), accessed again (T2, B2).
const ONCE: usize = 0;
const AGAIN: usize = 1;
/// The target is counted in 2⁻³² of a block.
const BLOCK: u64 = 1 << 32;

struct ArcState {
    capacity: usize,
    links: Links,
    lists: [List; 2],
    list_of: PerFrame<u8>,
    keys: PerFrame<u64>,
    ghosts: Ghosts<2>,
    /// The target size of T1, p in the paper.
    target: u64,
    /// Where the block of the last miss was remembered.
    was_in: Option<usize>,
}

impl ArcState {
    /// Lets the last of a list go that may.
    fn let_go(&mut self, list: usize, is_remembered: bool, pins: &Pins) -> Option<Frame> {
        let frame = self.links.last_free(&mut self.lists[list], pins)?;
        self.links.remove(&mut self.lists[list], frame);
        if is_remembered {
            self.ghosts.push(list, self.keys[frame.index()]);
        }
        Some(frame)
    }

    /// The paper's REPLACE.
    fn replace(&mut self, pins: &Pins) -> Option<Frame> {
        let once = self.lists[ONCE].len() as u64 * BLOCK;
        let is_over = once > self.target || once == self.target && self.was_in == Some(AGAIN);
        let list = if once > 0 && is_over { ONCE } else { AGAIN };
        let other = 1 - list;
        let frame = self.let_go(list, true, pins);
        frame.or_else(|| self.let_go(other, true, pins))
    }

    /// Blocks and keys of one kind: L1 or L2.
    fn known(&self, list: usize) -> usize {
        self.lists[list].len() + self.ghosts.len(list)
    }
}

impl Replacement for ArcState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        let list = &mut self.list_of[frame.index()];
        if usize::from(*list) == AGAIN {
            return self.links.move_to_front(&mut self.lists[AGAIN], frame);
        }
        *list = AGAIN as u8;
        self.links.remove(&mut self.lists[ONCE], frame);
        self.links.push_front(&mut self.lists[AGAIN], frame);
    }
    fn miss(&mut self, access: &Access) {
        self.was_in = self.ghosts.take(access.key);
        let Some(list) = self.was_in else {
            return;
        };
        // The key has gone from its list already.
        let (hit, other) = (self.ghosts.len(list) + 1, self.ghosts.len(1 - list));
        let step = (other as u64 * BLOCK / hit as u64).max(BLOCK);
        self.target = match list {
            ONCE => self
                .target
                .saturating_add(step)
                .min(self.capacity as u64 * BLOCK),
            _ => self.target.saturating_sub(step),
        };
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        if self.was_in.is_none() {
            if self.known(ONCE) >= self.capacity {
                if self.ghosts.forget_oldest(ONCE) {
                    return self.replace(pins);
                }
                let frame = self.let_go(ONCE, false, pins);
                return frame.or_else(|| self.let_go(AGAIN, true, pins));
            }
            if self.known(ONCE) + self.known(AGAIN) >= 2 * self.capacity {
                self.ghosts.forget_oldest(AGAIN);
            }
        }
        self.replace(pins)
    }
    fn insert(&mut self, frame: Frame, access: &Access) {
        self.keys[frame.index()] = access.key;
        let list = if self.was_in.is_some() { AGAIN } else { ONCE };
        self.list_of[frame.index()] = list as u8;
        self.links.push_front(&mut self.lists[list], frame);
        // Where blocks were removed, others come without an eviction.
        if list == ONCE && self.known(ONCE) > self.capacity {
            self.ghosts.forget_oldest(ONCE);
        }
    }
    fn release(&mut self, frame: Frame) {
        let list = usize::from(self.list_of[frame.index()]);
        self.links.release(&self.lists[list], frame);
    }
    fn remove(&mut self, frame: Frame) {
        let list = usize::from(self.list_of[frame.index()]);
        self.links.remove(&mut self.lists[list], frame);
    }
}

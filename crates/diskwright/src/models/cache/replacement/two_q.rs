//! 2Q.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{part, share};
use super::{Access, Frame, Ghosts, Links, List, PerFrame, Pins, Replacement, Setting};
use crate::base::units::Share;

/// Rule: a block that comes for the first time is in a FIFO queue, A1in; when it has left that and is accessed while its key is still
/// remembered, in A1out, it comes into an LRU list, Am. A1in gives a block up while it has more than its share, else Am. Tie: none can be.
/// Source: Johnson and Shasha, "2Q: a low overhead high performance buffer management replacement algorithm", VLDB 1994, the full version;
/// libCacheSim's is the same. Weakness: the shares do not adapt, and hits in A1in count for nothing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoQ {
    /// The share of the cache that A1in has (Kin).
    pub first: Share,
    /// How many keys A1out remembers, as a share of the cache's blocks (Kout).
    pub ghosts: Share,
}

impl Default for TwoQ {
    fn default() -> TwoQ {
        TwoQ {
            first: share(0.25),
            ghosts: share(0.5),
        }
    }
}

impl TwoQ {
    pub(super) const SUMMARY: &str = "A FIFO queue for blocks that came once, an LRU list for those that came again after they had left it.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        let Setting { capacity, .. } = *setting;
        Box::new(TwoQState {
            links: Links::new(),
            first: List::default(),
            again: List::default(),
            room: part(self.first, capacity) as usize,
            is_first: PerFrame::new(false),
            keys: PerFrame::new(0),
            ghosts: Ghosts::new(part(self.ghosts, capacity)),
            is_back: false,
        })
    }
}

struct TwoQState {
    links: Links,
    /// A1in, the oldest at the back.
    first: List,
    /// Am, the least recently used at the back.
    again: List,
    /// Blocks that A1in may keep.
    room: usize,
    is_first: PerFrame<bool>,
    keys: PerFrame<u64>,
    /// A1out.
    ghosts: Ghosts<1>,
    /// The block of the last miss was in A1out.
    is_back: bool,
}

impl TwoQState {
    fn evict_first(&mut self, pins: &Pins) -> Option<Frame> {
        let frame = self.links.last_free(&mut self.first, pins)?;
        self.links.remove(&mut self.first, frame);
        self.ghosts.push(0, self.keys[frame.index()]);
        Some(frame)
    }
    fn evict_again(&mut self, pins: &Pins) -> Option<Frame> {
        let frame = self.links.last_free(&mut self.again, pins)?;
        self.links.remove(&mut self.again, frame);
        Some(frame)
    }
}

impl Replacement for TwoQState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        if !self.is_first[frame.index()] {
            self.links.move_to_front(&mut self.again, frame);
        }
    }
    fn miss(&mut self, access: &Access) {
        self.is_back = self.ghosts.take(access.key).is_some();
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        if self.first.len() > self.room {
            self.evict_first(pins).or_else(|| self.evict_again(pins))
        } else {
            self.evict_again(pins).or_else(|| self.evict_first(pins))
        }
    }
    fn insert(&mut self, frame: Frame, access: &Access) {
        self.keys[frame.index()] = access.key;
        self.is_first[frame.index()] = !self.is_back;
        let list = if self.is_back {
            &mut self.again
        } else {
            &mut self.first
        };
        self.links.push_front(list, frame);
    }
    fn release(&mut self, frame: Frame) {
        let list = if self.is_first[frame.index()] {
            &self.first
        } else {
            &self.again
        };
        self.links.release(list, frame);
    }
    fn remove(&mut self, frame: Frame) {
        let list = if self.is_first[frame.index()] {
            &mut self.first
        } else {
            &mut self.again
        };
        self.links.remove(list, frame);
    }
}

//! SIEVE: a clock whose hand moves while the blocks stay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Links, List, PerFrame, Pins, Replacement, Setting};

/// Rule: a hand goes from the oldest block to the youngest and round again; what was accessed since it came by is passed, the first that
/// was not leaves. Tie: none can be. Source: Zhang et al., "SIEVE is simpler than LRU", NSDI 2024. Weakness: blocks that were popular
/// once stay until the hand has come round.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sieve {}

impl Sieve {
    pub(super) const SUMMARY: &str = "As clock, but what the hand passes stays where it is, so that new blocks are looked at soon.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(SieveState {
            links: Links::new(),
            list: List::default(),
            hand: None,
            accessed: PerFrame::new(false),
        })
    }
}

/// The blocks, the oldest at the back.
struct SieveState {
    links: Links,
    list: List,
    /// The block looked at next; `None` for the oldest.
    hand: Option<Frame>,
    accessed: PerFrame<bool>,
}

impl Replacement for SieveState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        self.accessed[frame.index()] = true;
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        // One round at most takes the marks away, another finds a block without, if one is not pinned.
        for _ in 0..2 * self.list.len() {
            let frame = self.hand.or(self.list.back())?;
            if !pins.holds(frame) && !std::mem::take(&mut self.accessed[frame.index()]) {
                self.hand = Some(frame);
                self.remove(frame);
                return Some(frame);
            }
            self.hand = self.links.previous(frame);
        }
        None
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.accessed[frame.index()] = false;
        self.links.push_front(&mut self.list, frame);
    }
    fn remove(&mut self, frame: Frame) {
        if self.hand == Some(frame) {
            self.hand = self.links.previous(frame);
        }
        self.links.remove(&mut self.list, frame);
    }
}

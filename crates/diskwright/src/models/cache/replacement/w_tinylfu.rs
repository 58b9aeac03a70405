//! W-TinyLFU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{Factor, part, share};
use super::sketch::Sketch;
use super::{Access, Frame, Links, List, PerFrame, Pins, Replacement, Setting};
use crate::base::units::Share;

/// Rule: a new block comes into a small LRU window; when it falls out it is compared with the block that the main part, an SLRU, would give
/// up: the one whose estimated frequency is lower leaves. Tie: the one from the window leaves. Source: Einziger, Friedman and Manes,
/// "TinyLFU: a highly efficient cache admission policy", ACM Transactions on Storage 13(4), 2017, section 5; the sketch has four rows of
/// four-bit counters and no doorkeeper. Weakness: a small window loses blocks that are accessed again soon but never were before.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WTinyLfu {
    /// The share of the cache that the window has; one block at least.
    pub window: Share,
    /// The share of the main part that is protected.
    pub protected: Share,
    /// The number of accesses after which all counts are halved, in capacities of the cache (W / C in the paper).
    pub sample: Factor,
}

impl Default for WTinyLfu {
    fn default() -> WTinyLfu {
        WTinyLfu {
            window: share(0.01),
            protected: share(0.8),
            sample: Factor::TEN,
        }
    }
}

impl WTinyLfu {
    pub(super) const SUMMARY: &str = "A small LRU window, and an SLRU that takes a block from it only if that is accessed more often than its own victim.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        let Setting { capacity, .. } = *setting;
        let window = part(self.window, capacity).max(1);
        let sample = libm::round(self.sample.value() * f64::from(capacity));
        Box::new(WTinyLfuState {
            links: Links::new(),
            lists: [List::default(); 3],
            list_of: PerFrame::new(0),
            keys: PerFrame::new(0),
            window_room: window as usize,
            protected_room: part(self.protected, capacity - window) as usize,
            sketch: Sketch::new(capacity, sample as u64),
        })
    }
}

const WINDOW: usize = 0;
const PROBATION: usize = 1;
const PROTECTED: usize = 2;

struct WTinyLfuState {
    links: Links,
    /// By recency, the least recently used block of each at its back.
    lists: [List; 3],
    list_of: PerFrame<u8>,
    keys: PerFrame<u64>,
    window_room: usize,
    protected_room: usize,
    sketch: Sketch,
}

impl WTinyLfuState {
    fn put(&mut self, frame: Frame, list: usize) {
        self.list_of[frame.index()] = list as u8;
        self.links.push_front(&mut self.lists[list], frame);
    }
    fn last(&mut self, list: usize, pins: &Pins) -> Option<Frame> {
        self.links.last_free(&mut self.lists[list], pins)
    }
    fn frequency(&self, frame: Frame) -> u8 {
        self.sketch.frequency(self.keys[frame.index()])
    }
}

impl Replacement for WTinyLfuState {
    fn hit(&mut self, frame: Frame, access: &Access) {
        self.sketch.count(access.key);
        let list = usize::from(self.list_of[frame.index()]);
        if list != PROBATION {
            return self.links.move_to_front(&mut self.lists[list], frame);
        }
        self.remove(frame);
        self.put(frame, PROTECTED);
        if self.lists[PROTECTED].len() > self.protected_room {
            let falls = self.lists[PROTECTED].back();
            let falls = falls.expect("the one that rose is there at least");
            self.remove(falls);
            self.put(falls, PROBATION);
        }
    }
    fn miss(&mut self, access: &Access) {
        self.sketch.count(access.key);
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let victim = self.last(PROBATION, pins);
        let victim = victim.or_else(|| self.last(PROTECTED, pins));
        let candidate = match victim {
            Some(_) if self.lists[WINDOW].len() < self.window_room => None,
            _ => self.last(WINDOW, pins),
        };
        let frame = match (candidate, victim) {
            (Some(candidate), Some(victim)) => {
                if self.frequency(candidate) > self.frequency(victim) {
                    self.remove(candidate);
                    self.put(candidate, PROBATION);
                    victim
                } else {
                    candidate
                }
            }
            (one, other) => one.or(other)?,
        };
        self.remove(frame);
        Some(frame)
    }
    fn insert(&mut self, frame: Frame, access: &Access) {
        self.keys[frame.index()] = access.key;
        self.put(frame, WINDOW);
        // While the cache fills, the main part takes what the window has no room for.
        if self.lists[WINDOW].len() > self.window_room {
            let falls = self.lists[WINDOW].back().expect("one was put there");
            self.remove(falls);
            self.put(falls, PROBATION);
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

//! Least frequently used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Links, List, PerFrame, Pins, Replacement, Setting};

/// Rule: the block with the fewest accesses since it came leaves; a count dies with its block's departure. Tie: the one that reached the
/// count first. Source: Denning, "Virtual memory", ACM Computing Surveys 2(3), 1970; in constant time as Matani, Shah and Mitra, "An O(1)
/// algorithm for implementing the LFU cache eviction scheme", 2010. Weakness: what was popular once stays; new blocks leave each other.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lfu {}

impl Lfu {
    pub(super) const SUMMARY: &str =
        "Least frequently used: the block with the fewest accesses since it came leaves.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(LfuState {
            links: Links::new(),
            counts: Vec::new(),
            free: Vec::new(),
            least: NONE,
            count_of: PerFrame::new(NONE),
        })
    }
}

const NONE: u32 = u32::MAX;

/// The blocks with this number of accesses; at the back is the one that has had it longest.
struct Count {
    accesses: u64,
    blocks: List,
    fewer: u32,
    more: u32,
}

/// A list for every count that a block has, in a list by count.
struct LfuState {
    links: Links,
    counts: Vec<Count>,
    /// Places in `counts` that are not in use.
    free: Vec<u32>,
    least: u32,
    count_of: PerFrame<u32>,
}

impl LfuState {
    /// Makes a count between two others.
    fn count(&mut self, accesses: u64, fewer: u32, more: u32) -> u32 {
        let count = Count {
            accesses,
            blocks: List::default(),
            fewer,
            more,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.counts[index as usize] = count;
                index
            }
            None => {
                self.counts.push(count);
                self.counts.len() as u32 - 1
            }
        };
        self.join(fewer, index);
        self.join(index, more);
        index
    }

    /// Makes two counts neighbours, of which one may be none.
    fn join(&mut self, fewer: u32, more: u32) {
        match fewer {
            NONE => self.least = more,
            fewer => self.counts[fewer as usize].more = more,
        }
        if more != NONE {
            self.counts[more as usize].fewer = fewer;
        }
    }

    fn put(&mut self, frame: Frame, count: u32) {
        self.count_of[frame.index()] = count;
        let blocks = &mut self.counts[count as usize].blocks;
        self.links.push_front(blocks, frame);
    }
}

impl Replacement for LfuState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        let now = self.count_of[frame.index()];
        let Count {
            accesses,
            more,
            ref blocks,
            ..
        } = self.counts[now as usize];
        let has_next = more != NONE && self.counts[more as usize].accesses == accesses + 1;
        if !has_next && blocks.len() == 1 {
            self.counts[now as usize].accesses += 1;
            return;
        }
        let next = if has_next {
            more
        } else {
            self.count(accesses + 1, now, more)
        };
        self.remove(frame);
        self.put(frame, next);
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let mut index = self.least;
        while index != NONE {
            let count = &mut self.counts[index as usize];
            let more = count.more;
            if let Some(frame) = self.links.last_free(&mut count.blocks, pins) {
                self.remove(frame);
                return Some(frame);
            }
            index = more;
        }
        None
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        let has_one = self.least != NONE && self.counts[self.least as usize].accesses == 1;
        let first = if has_one {
            self.least
        } else {
            self.count(1, NONE, self.least)
        };
        self.put(frame, first);
    }
    fn release(&mut self, frame: Frame) {
        if let Some(count) = self.counts.get(self.count_of[frame.index()] as usize) {
            self.links.release(&count.blocks, frame);
        }
    }
    fn remove(&mut self, frame: Frame) {
        let index = self.count_of[frame.index()];
        let count = &mut self.counts[index as usize];
        self.links.remove(&mut count.blocks, frame);
        if count.blocks.len() == 0 {
            let (fewer, more) = (count.fewer, count.more);
            self.join(fewer, more);
            self.free.push(index);
        }
    }
}

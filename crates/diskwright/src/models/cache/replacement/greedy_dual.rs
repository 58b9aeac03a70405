//! GreedyDual.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access_time::of_block;
use super::{Access, Cost, Frame, PerFrame, Pins, Ranking, Replacement, Setting};

/// Rule: at every access a block's worth becomes L + N, where N is the access time of the media access that last brought or wrote it, and L
/// the worth of the last block that left for another; the smallest worth leaves. Tie: the least recently accessed, so that with equal costs
/// it is lru. Source: Young, "On-line caching as cache size varies", SODA 1991; with L as Cao and Irani, "Cost-aware WWW proxy caching
/// algorithms", USITS 1997. Weakness: an expensive block that nobody wants stays until others have paid for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GreedyDual {
    /// Whether the access time is divided by the blocks of its media access.
    pub per_block: bool,
}

impl GreedyDual {
    pub(super) const SUMMARY: &str = "The block leaves whose access time, added to what the last to leave was worth at its own last access, is smallest.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(GreedyDualState {
            per_block: self.per_block,
            left: 0,
            times: PerFrame::new(0),
            ranking: Ranking::new(),
        })
    }
}

struct GreedyDualState {
    per_block: bool,
    /// L, in ns.
    left: u64,
    /// N of each block, in ns.
    times: PerFrame<u64>,
    ranking: Ranking,
}

impl GreedyDualState {
    fn worth(&self, frame: Frame) -> u64 {
        self.left.saturating_add(self.times[frame.index()])
    }
}

impl Replacement for GreedyDualState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        self.ranking.touch(frame, self.worth(frame));
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let (frame, worth) = self.ranking.take_least(pins)?;
        // Where cheaper blocks were pinned, L is ahead of what they are worth.
        self.left = self.left.max(worth);
        Some(frame)
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.times[frame.index()] = 0;
        self.ranking.touch(frame, self.left);
    }
    fn paid(&mut self, frame: Frame, cost: Cost) {
        self.times[frame.index()] = of_block(cost, self.per_block).ns();
        self.ranking.change(frame, self.worth(frame));
    }
    fn release(&mut self, frame: Frame) {
        self.ranking.release(frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.ranking.remove(frame);
    }
}

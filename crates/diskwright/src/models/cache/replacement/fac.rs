//! Frequency and access cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::share;
use super::{Access, Cost, Frame, PerFrame, Pins, Ranking, Replacement, Setting};
use crate::base::units::Share;

/// Rule: with every access a block's worth grows by 1 + N / Nmax, where N is the access time of the media access that last brought or wrote
/// it, and Nmax the longest, slowly averaged; the block of the smallest worth leaves. Tie: the least recently accessed.
/// Source: Kim, "Frequency-based NCQ-aware disk cache algorithm", IEICE Electronics Express 11(11), 2014; the average and the ageing, as
/// Arlitt and others' LFU with dynamic ageing (2000), are ours. Weakness: without ageing what was popular once stays, as with lfu.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fac {
    /// The share of the way that Nmax goes towards a longer access time; it never becomes shorter.
    pub follow: Share,
    /// Whether a block's worth counts from that of the last that left when it is accessed, so that old merit fades.
    pub ageing: bool,
}

impl Default for Fac {
    fn default() -> Fac {
        Fac {
            follow: share(0.1),
            ageing: false,
        }
    }
}

impl Fac {
    pub(super) const SUMMARY: &str = "Frequency and access time: every access is worth 1, and up to 1 more the longer the block's access time is.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(FacState {
            parameters: self.clone(),
            longest: 0.0,
            left: 0,
            blocks: PerFrame::new(Block::default()),
            ranking: Ranking::new(),
        })
    }
}

/// Worths are in 2⁻²⁴: 2⁴⁰ accesses can be counted.
const ONE: u64 = 1 << 24;

#[derive(Clone, Copy, Default)]
struct Block {
    /// What its accesses have been worth.
    merit: u64,
    /// The part of an access' worth that comes from its access time.
    extra: u64,
    is_paid: bool,
}

struct FacState {
    parameters: Fac,
    /// Nmax, in ns.
    longest: f64,
    /// With ageing, what the last block that left was worth.
    left: u64,
    blocks: PerFrame<Block>,
    ranking: Ranking,
}

impl FacState {
    fn touch(&mut self, frame: Frame) {
        let block = &mut self.blocks[frame.index()];
        block.merit = block.merit.saturating_add(ONE + block.extra);
        self.ranking
            .touch(frame, self.left.saturating_add(block.merit));
    }
}

impl Replacement for FacState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        self.touch(frame);
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let (frame, worth) = self.ranking.take_least(pins)?;
        if self.parameters.ageing {
            self.left = self.left.max(worth);
        }
        Some(frame)
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.blocks[frame.index()] = Block::default();
        self.touch(frame);
    }
    fn paid(&mut self, frame: Frame, cost: Cost) {
        let time = cost.media.ns() as f64;
        if self.longest == 0.0 {
            self.longest = time;
        } else if time > self.longest {
            self.longest += (time - self.longest) * self.parameters.follow.value();
        }
        let Some(worth) = self.ranking.worth(frame) else {
            return;
        };
        let ratio = if self.longest > 0.0 {
            (time / self.longest).min(1.0)
        } else {
            0.0
        };
        let block = &mut self.blocks[frame.index()];
        block.extra = libm::round(ratio * ONE as f64) as u64;
        // The access that brought the block was counted when its time was not known.
        if !std::mem::replace(&mut block.is_paid, true) {
            block.merit = block.merit.saturating_add(block.extra);
            let worth = worth.saturating_add(block.extra);
            self.ranking.change(frame, worth);
        }
    }
    fn release(&mut self, frame: Frame) {
        self.ranking.release(frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.ranking.remove(frame);
    }
}

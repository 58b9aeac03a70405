//! Access-time-aware cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access_time::{Meter, of_block};
use super::parameters::Factor;
use super::worth::{Worths, accesses};
use super::{Access, Cost, Frame, PerFrame, Pins, Replacement, Setting};

/// Rule: the block of the smallest worth M + α·N leaves, where M numbers the block accesses up to its last, and N is the access time of the
/// media access that last brought or wrote it; α = `weight` · capacity / mean N, as it was when the block was last accessed or paid for.
/// Tie: the least recently accessed. Source: Arfan, Kim and Kwon, IEICE Electronics Express 9(22), 2012, who print neither α nor its unit:
/// this one is ours. Weakness: access time says little of what is accessed again; a block that was expensive once is kept long for it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Atca {
    /// How many turnovers of the cache longer a block of mean access time lives than one that was free (κ). With 0 the policy is lru.
    pub weight: Factor,
    /// What an access time is compared with.
    pub relative_to: Scale,
    /// In place of `weight`: accesses of longer life for a millisecond (α).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Factor>,
    /// Whether N is divided by the blocks of its media access.
    pub per_block: bool,
}

/// What an access time is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// The mean access time so far.
    #[default]
    Mean,
    /// The longest access time so far.
    Maximum,
}

impl Default for Atca {
    fn default() -> Atca {
        Atca {
            weight: Factor::ONE,
            relative_to: Scale::Mean,
            alpha: None,
            per_block: false,
        }
    }
}

impl Atca {
    pub(super) const SUMMARY: &str = "As lru, but a block that took long to access stays longer, in proportion to its access time.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        Box::new(AtcaState {
            parameters: self.clone(),
            capacity: setting.capacity,
            meter: Meter::default(),
            alpha: self.alpha.map_or(0.0, |alpha| alpha.value() / 1e6),
            worths: Worths::new(),
            times: PerFrame::new(0),
        })
    }
}

struct AtcaState {
    parameters: Atca,
    capacity: u32,
    meter: Meter,
    /// Accesses for a nanosecond.
    alpha: f64,
    worths: Worths,
    /// N of each block, in ns.
    times: PerFrame<u64>,
}

impl AtcaState {
    fn bonus(&self, frame: Frame) -> u64 {
        accesses(self.alpha * self.times[frame.index()] as f64)
    }
}

impl Replacement for AtcaState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        self.worths.access();
        self.worths.touch(frame, self.bonus(frame));
    }
    fn miss(&mut self, _access: &Access) {
        self.worths.access();
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        self.worths.evict(pins)
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.times[frame.index()] = 0;
        self.worths.touch(frame, 0);
    }
    fn paid(&mut self, frame: Frame, cost: Cost) {
        let time = of_block(cost, self.parameters.per_block);
        self.meter.add(cost, time);
        if self.parameters.alpha.is_none() {
            let scale = match self.parameters.relative_to {
                Scale::Mean => self.meter.mean_ns(),
                Scale::Maximum => self.meter.longest().ns() as f64,
            };
            let turnovers = self.parameters.weight.value() * f64::from(self.capacity);
            // Accesses that took no time at all give no scale, and need none.
            self.alpha = if scale > 0.0 { turnovers / scale } else { 0.0 };
        }
        self.times[frame.index()] = time.ns();
        self.worths.change(frame, self.bonus(frame));
    }
    fn release(&mut self, frame: Frame) {
        self.worths.release(frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.worths.remove(frame);
    }
}

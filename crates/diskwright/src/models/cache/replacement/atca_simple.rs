//! The simple form of the access-time-aware cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access_time::Meter;
use super::parameters::Factor;
use super::worth::{Worths, accesses};
use super::{Access, Cost, Frame, PerFrame, Pins, Replacement, Setting};
use crate::base::units::Time;

/// Rule: as atca, but an access time is only big or small, and big gives a fixed bonus. Tie: the least recently accessed.
/// Source: section 2 of the paper on ATCA, as for `atca`; the sizes of threshold and bonus are ours.
/// Weakness: as atca's, and an access just over the threshold counts as much as the longest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtcaSimple {
    /// Access times above this are big; without it, those above the mean of all media accesses so far, this one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Time>,
    /// How many turnovers of the cache longer a block lives whose access time was big.
    pub bonus: Factor,
}

impl Default for AtcaSimple {
    fn default() -> AtcaSimple {
        AtcaSimple {
            threshold: None,
            bonus: Factor::ONE,
        }
    }
}

impl AtcaSimple {
    pub(super) const SUMMARY: &str = "As lru, but a block that took longer to access than a threshold stays longer by a fixed bonus.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        let bonus = self.bonus.value() * f64::from(setting.capacity);
        Box::new(AtcaSimpleState {
            threshold: self.threshold,
            bonus: accesses(bonus),
            meter: Meter::default(),
            worths: Worths::new(),
            is_big: PerFrame::new(false),
        })
    }
}

struct AtcaSimpleState {
    threshold: Option<Time>,
    bonus: u64,
    meter: Meter,
    worths: Worths,
    is_big: PerFrame<bool>,
}

impl AtcaSimpleState {
    fn bonus(&self, frame: Frame) -> u64 {
        if self.is_big[frame.index()] {
            self.bonus
        } else {
            0
        }
    }
}

impl Replacement for AtcaSimpleState {
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
        self.is_big[frame.index()] = false;
        self.worths.touch(frame, 0);
    }
    fn paid(&mut self, frame: Frame, cost: Cost) {
        self.meter.add(cost, cost.media);
        self.is_big[frame.index()] = match self.threshold {
            Some(threshold) => cost.media > threshold,
            None => cost.media.ns() as f64 > self.meter.mean_ns(),
        };
        self.worths.change(frame, self.bonus(frame));
    }
    fn release(&mut self, frame: Frame) {
        self.worths.release(frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.worths.remove(frame);
    }
}

//! SATF whose positioning times shrink with waiting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::best_first::least;
use super::{Order, Pending, Scheduler, Slot, Starvation, Time, View};

/// Rule: the least positioning time · (`window` − time waited) / `window`, and 0 for what has waited that long. Tie: the
/// one that has waited longer, so that overdue requests are served in the order of their arrival.
/// Source: Seltzer, Chen and Ousterhout, USENIX Winter 1990, as the weighted shortest time first; DiskSim's policy 11,
/// where the factor of an overdue request is negative and so prefers the slowest of them.
/// Weakness: with a window below a few queue lengths of service it degenerates to FCFS.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WeightedSatf {
    /// The wait after which a request counts as no positioning time at all; `"0 ms"` for never.
    pub window: Time,
    #[serde(skip)]
    promotions: u64,
}

impl Default for WeightedSatf {
    fn default() -> WeightedSatf {
        WeightedSatf {
            window: Time::from_s(2),
            promotions: 0,
        }
    }
}

impl WeightedSatf {
    pub(super) const SUMMARY: &str = "Weighted SATF: the shortest positioning time, which shrinks to nothing as the wait reaches a window.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for WeightedSatf {
    fn order(&self) -> Order {
        Order::Position
    }
    fn needs_geometry(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        if self.window == Time::ZERO {
            return least(view, |positioning, _: &Pending| positioning);
        }
        let left = |pending: &Pending| {
            let waited = view.now.saturating_sub(pending.entered);
            self.window.saturating_sub(waited)
        };
        let slot = least(view, |positioning, pending: &Pending| {
            u128::from(positioning.ns()) * u128::from(left(pending).ns())
        });
        self.promotions += u64::from(left(view.pool.get(slot)) == Time::ZERO);
        slot
    }
    fn promotions(&self) -> u64 {
        self.promotions
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        if self.window == Time::ZERO {
            return Starvation::Unbounded;
        }
        Starvation::Age {
            after: self.window,
            under_way: 0,
            each: 1,
        }
    }
}

//! Circular LOOK.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elevator::{By, upwards};
use super::{Order, Scheduler, Slot, Starvation, Time, View};

/// Rule: the next request at or above the end of the previous one, else the lowest. Tie: the one that has waited longer.
/// Source: Merten, 1970, as C-SCAN without the run to the edge; Worthington, Ganger and Patt, SIGMETRICS 1994; DiskSim's
/// policies 3 (by LBN) and 6 (by cylinder).
/// Weakness: blind to rotation; a stream just ahead of the arm holds up everything behind it; by LBN, a request that
/// begins within the previous one waits for the next sweep.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CLook {
    /// Whether it goes by LBN or by cylinder.
    pub by: By,
}

impl Default for CLook {
    fn default() -> CLook {
        CLook { by: By::Lbn }
    }
}

impl CLook {
    pub(super) const SUMMARY: &str =
        "Circular LOOK: upwards, then back to the lowest waiting request.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for CLook {
    fn order(&self) -> Order {
        self.by.order()
    }
    fn needs_phases(&self) -> bool {
        false
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let places = view.pool.by_place();
        let ahead = upwards(places, self.by.here(&view.space));
        let next = ahead.or_else(|| places.first().copied());
        next.expect("a scheduler is asked only when something waits")
            .1
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Turns(3)
    }
}

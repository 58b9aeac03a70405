//! Circular LOOK.

use serde::{Deserialize, Serialize};

use super::{Order, Scheduler, Slot, View};

/// Rule: the next request at or above the end of the previous one, else the lowest. Tie: the one that has waited longer.
/// Source: Merten, 1970, as C-SCAN without the run to the edge; Worthington, Ganger and Patt, SIGMETRICS 1994.
/// Weakness: blind to rotation; a stream just ahead of the arm holds up everything behind it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CLook {}

impl CLook {
    pub(super) const SUMMARY: &str =
        "Circular LOOK: upwards by LBN, then back to the lowest waiting request.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for CLook {
    fn order(&self) -> Order {
        Order::Lbn
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let places = view.pool.by_place();
        let ahead = places.partition_point(|&(key, _)| key < view.space.last());
        let next = places.get(ahead).or_else(|| places.first());
        next.expect("a scheduler is asked only when something waits")
            .1
    }
}

//! SATF in batches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::best_first::least;
use super::{Order, Pending, Scheduler, Slot, Starvation, Time, View};

/// Rule: the shortest positioning time among the requests of the present batch; when that is empty, all that wait are
/// the next one. Tie: the one that has waited longer.
/// Source: the two queues of FSCAN, Coffman, Klimko and Ryan, SIAM Journal on Computing 1(3), 1972, with SATF in place
/// of SCAN; Jacobson and Wilkes, HPL-CSP-91-7, 1991.
/// Weakness: the last requests of a batch leave little to choose from.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchSatf {
    /// The first ticket after the present batch.
    #[serde(skip)]
    end: u64,
}

impl BatchSatf {
    pub(super) const SUMMARY: &str = "Batched SATF: all that wait are served by shortest positioning time before any that come later.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for BatchSatf {
    fn order(&self) -> Order {
        Order::Position
    }
    fn needs_geometry(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let ticket = |slot: Slot| view.pool.get(slot).ticket;
        let is_over = view
            .pool
            .oldest()
            .is_none_or(|oldest| ticket(oldest) >= self.end);
        if is_over {
            let newest = view.pool.by_arrival().last();
            self.end = newest.map_or(self.end, |newest| ticket(newest) + 1);
        }
        least(view, |positioning, pending: &Pending| {
            (pending.ticket >= self.end, positioning)
        })
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Queues(2)
    }
}

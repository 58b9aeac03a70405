//! SATF with a reward for waiting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::best_first::least;
use super::weight::Weight;
use super::{Order, Pending, Scheduler, Slot, Starvation, Time, View};

/// Rule: the least positioning time − `weight` · time waited. Tie: the one that has waited longer. With a weight of 0 it
/// is SATF, with a very large one FCFS.
/// Source: Jacobson and Wilkes, HPL-CSP-91-7, 1991, as ASATF; Worthington, Ganger and Patt, SIGMETRICS 1994, as
/// ASPTF(W); DiskSim's policy 14, whose weight is in ms a second: its 6 is 0.006 here.
/// Weakness: the weight that suits depends on the load.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgedSatf {
    /// How much positioning time a unit of waiting time is worth.
    pub weight: Weight,
}

impl Default for AgedSatf {
    fn default() -> AgedSatf {
        AgedSatf {
            weight: Weight::new(0.006).expect("a weight within its limits"),
        }
    }
}

impl AgedSatf {
    pub(super) const SUMMARY: &str =
        "Aged SATF: the shortest positioning time after deduction of a share of the time waited.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for AgedSatf {
    fn order(&self) -> Order {
        Order::Position
    }
    fn needs_geometry(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        least(view, |positioning, pending: &Pending| {
            let waited = view.now.saturating_sub(pending.entered);
            self.weight.scaled(positioning) - self.weight.times(waited)
        })
    }
    fn starvation(&self, slowest: Time) -> Starvation {
        match self.weight.worth(slowest) {
            Some(span) => Starvation::Later(span),
            None => Starvation::Unbounded,
        }
    }
}

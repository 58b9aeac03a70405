//! First come, first served.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Order, Scheduler, Slot, Starvation, Time, View};

/// Rule: the request that has waited longest. Tie: none can arise.
/// Source: the baseline of every study. Weakness: pays the full seek between any two requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fcfs {}

impl Fcfs {
    pub(super) const SUMMARY: &str = "First come, first served.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for Fcfs {
    fn order(&self) -> Order {
        Order::Arrival
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        view.pool
            .oldest()
            .expect("a scheduler is asked only when something waits")
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Age {
            after: Time::ZERO,
            under_way: 0,
            each: 1,
        }
    }
}

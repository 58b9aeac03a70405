//! Native command queueing: SATF that lets nobody starve.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Order, Scheduler, Slot, Starvation, View, soonest};
use crate::base::units::Time;

/// Rule: shortest access time first, but a request that has waited `timeout` in the queue is next; of several the
/// oldest. Source: Arfan, Kim and Kwon, IEICE Electronics Express 9(22), 2012, whose NCQ is similar to SATF, with a timeout.
/// Weakness: with a timeout below a few queue lengths of service it degenerates to FCFS.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ncq {
    /// The longest wait before a request is promoted; `"0 ms"` for never.
    pub timeout: Time,
    #[serde(skip)]
    promotions: u64,
}

impl Default for Ncq {
    fn default() -> Ncq {
        Ncq {
            timeout: Time::from_s(2),
            promotions: 0,
        }
    }
}

impl Ncq {
    pub(super) const SUMMARY: &str = "Native command queueing: SATF, with promotion of requests that have waited longer than a timeout.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for Ncq {
    fn order(&self) -> Order {
        Order::Bands
    }
    fn needs_geometry(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let oldest = view
            .pool
            .longest_waiting()
            .expect("a scheduler is asked only when something waits");
        let waited = view.now - view.pool.get(oldest).entered;
        if self.timeout > Time::ZERO && waited >= self.timeout {
            self.promotions += 1;
            return oldest;
        }
        soonest(view)
    }
    fn promotions(&self) -> u64 {
        self.promotions
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        if self.timeout == Time::ZERO {
            return Starvation::Unbounded;
        }
        Starvation::Age {
            after: self.timeout,
            under_way: 0,
            each: 1,
        }
    }
}

//! First come, first served.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Order, Scheduler, Slot, Starvation, Time, View};

const TIMEOUT: Time = Time::from_s(2);

/// Rule: the request that came first; but one that has waited `timeout` in the queue is next, of several the one that has
/// waited longest. Tie: none can arise. Source: the baseline of every study; the timeout from work on I/O clustering in SATA disks: only requests
/// that were merged can be served before older ones. Weakness: pays the full seek between any two requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fcfs {
    /// The longest wait before a request is promoted, where requests are merged: `"2 s"` unless said, `"0 ms"` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Time>,
    #[serde(skip)]
    promotions: u64,
}

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
    fn needs_phases(&self) -> bool {
        false
    }
    fn takes_oldest(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let pool = view.pool;
        let (first, longest) = (pool.oldest(), pool.longest_waiting());
        let (first, longest) = first
            .zip(longest)
            .expect("a scheduler is asked only when something waits");
        let waited = view.now - pool.get(longest).entered;
        let timeout = self.timeout.unwrap_or(TIMEOUT);
        if timeout > Time::ZERO && waited >= timeout && longest != first {
            self.promotions += 1;
            return longest;
        }
        first
    }
    fn promotions(&self) -> u64 {
        self.promotions
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Age {
            after: Time::ZERO,
            under_way: 0,
            each: 1,
        }
    }
}

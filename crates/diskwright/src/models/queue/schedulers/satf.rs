//! Shortest access time first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::soonest::soonest;
use super::{Order, Scheduler, Slot, View};

/// Rule: the shortest positioning time: seek, switch, settle and rotation, not transfer. Tie: the one that has
/// waited longer. Source: Jacobson and Wilkes, HPL-CSP-91-7, 1991; Seltzer, Chen and Ousterhout, USENIX 1990.
/// Weakness: no bound on waiting.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Satf {}

impl Satf {
    pub(super) const SUMMARY: &str =
        "Shortest access time first: the shortest seek, switch, settle and rotation together.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for Satf {
    fn order(&self) -> Order {
        Order::Bands
    }
    fn needs_geometry(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        soonest(view)
    }
}

//! Which of the free slots a write takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::free::FreeSlots;
use super::slots::Slots;
use super::soonest::{Found, Head};

/// The rule by which a logging drive chooses among free slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Allocator {
    /// The slot with the shortest positioning time: seek, head switch, settling and rotation.
    #[default]
    Soonest,
    /// The soonest slot of the nearest cylinder that has a free one: no seek while the arm's own cylinder has room.
    NearestCylinder,
    /// The soonest slot that does not lie before the highest cylinder written so far; from the first cylinder again when the
    /// end of the disk is reached.
    Edge,
}

/// Where the log ends, for [`Allocator::Edge`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Edge {
    /// The highest cylinder written since the log last began anew.
    pub cylinder: u32,
    /// How often it began anew.
    pub wraps: u64,
}

impl Allocator {
    /// The slot that a head takes, if any it reaches is free.
    pub fn choose(
        self,
        free: &FreeSlots,
        slots: &Slots,
        head: &Head<'_>,
        edge: Edge,
    ) -> Option<Found> {
        match self {
            Allocator::Soonest => free.soonest(slots, head, 0),
            Allocator::NearestCylinder => free.in_nearest_cylinder(slots, head),
            Allocator::Edge => free
                .soonest(slots, head, edge.cylinder)
                .or_else(|| free.soonest(slots, head, 0)),
        }
    }
}

impl Edge {
    /// A slot in `cylinder` was taken.
    pub fn written(&mut self, cylinder: u32) {
        // Nothing was left from the edge on: the log begins anew.
        self.wraps += u64::from(cylinder < self.cylinder);
        self.cylinder = cylinder;
    }
}

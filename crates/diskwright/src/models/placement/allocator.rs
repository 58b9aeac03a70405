//! Which of the free slots a write takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::free::FreeSlots;
use super::slots::DriveSlots;
use super::soonest::{FreeSlot, Head};

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

/// Which cylinder a write takes where free slots of several come by at the same instant, none of them in the arm's own.
///
/// Tracks have their sector edges in common, so that this is frequent, and it decides where a log grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// One with a higher number than the arm's, the nearest of them: the arm stays at the edge of the log.
    #[default]
    Outward,
    /// The one with the most free slots; of those with as many the nearest, and of two as near the one with the higher number.
    Emptier,
    /// One with a lower number than the arm's, the nearest of them: the arm stays among the holes of the log.
    Inward,
}

impl Ties {
    /// A cylinder's place among those whose slots come by at the same instant, for an arm that is `here`: the least is taken.
    #[inline]
    pub(super) fn rank(self, free: &FreeSlots, cylinder: u32, here: u32) -> u64 {
        let distance = u64::from(cylinder.abs_diff(here));
        let (is_below, is_above) = (u64::from(cylinder < here), u64::from(cylinder > here));
        match self {
            Ties::Outward => is_below << 32 | distance,
            Ties::Emptier => {
                let used = u64::from(u32::MAX >> 1) - u64::from(free.of_cylinder(cylinder));
                used << 33 | distance << 1 | is_below
            }
            Ties::Inward => is_above << 32 | distance,
        }
    }
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
        slots: &DriveSlots,
        head: &Head<'_>,
        ties: Ties,
        edge: Edge,
    ) -> Option<FreeSlot> {
        match self {
            Allocator::Soonest => free.soonest(slots, head, ties, 0),
            Allocator::NearestCylinder => free.in_nearest_cylinder(slots, head, ties),
            Allocator::Edge => free
                .soonest(slots, head, ties, edge.cylinder)
                .or_else(|| free.soonest(slots, head, ties, 0)),
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

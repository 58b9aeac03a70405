//! What the elevators share: what they go by, and the next request on either side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DiskSpace, Order, Slot, Space};

/// What places are told apart by. A host's queue knows LBNs only and goes by them, whichever is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The first LBN. The present place is the end of the previous request.
    Lbn,
    /// The cylinder of the first LBN. The present place is the arm's.
    Cylinder,
}

impl By {
    pub(super) fn order(self) -> Order {
        match self {
            By::Lbn => Order::Lbn,
            By::Cylinder => Order::Position,
        }
    }

    /// The present place, as a key of [`Self::order`]: upwards lies what is there or above.
    pub(super) fn here(self, space: &Space<'_>) -> u64 {
        match self {
            By::Lbn => space.last(),
            By::Cylinder => space.position(),
        }
    }

    /// How many places the drive has.
    pub(super) fn size(self, disk: &DiskSpace<'_>) -> u64 {
        match self {
            By::Lbn => disk.blocks,
            By::Cylinder => disk.mechanics.layout.cylinders().into(),
        }
    }

    /// The uppermost place that lies downwards of `here`: on the arm's cylinder requests lie in both directions, but
    /// what begins where the previous request ended lies upwards only. `None` below LBN 0.
    fn below(self, space: &Space<'_>, here: u64) -> Option<u64> {
        match (self, space) {
            (By::Cylinder, Space::Disk(_)) => Some(here),
            _ => here.checked_sub(1),
        }
    }
}

/// Where the arm is going.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Direction {
    #[default]
    Up,
    Down,
}

impl Direction {
    pub(super) fn reversed(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }
}

/// The next requests on both sides of a place, with their keys; of several at one place the oldest.
pub(super) struct Sides {
    pub(super) up: Option<(u64, Slot)>,
    pub(super) down: Option<(u64, Slot)>,
}

impl Sides {
    pub(super) fn of(places: &[(u64, Slot)], by: By, space: &Space<'_>) -> Sides {
        let here = by.here(space);
        Sides {
            up: upwards(places, here),
            down: (by.below(space, here)).and_then(|below| downwards(places, below)),
        }
    }

    pub(super) fn towards(&self, direction: Direction) -> Option<Slot> {
        let side = match direction {
            Direction::Up => self.up,
            Direction::Down => self.down,
        };
        side.map(|(_, slot)| slot)
    }
}

/// The first request at `from` or above.
pub(super) fn upwards(places: &[(u64, Slot)], from: u64) -> Option<(u64, Slot)> {
    let ahead = places.partition_point(|&(key, _)| key < from);
    places.get(ahead).copied()
}

/// The first request at `from` or below.
pub(super) fn downwards(places: &[(u64, Slot)], from: u64) -> Option<(u64, Slot)> {
    let split = places.partition_point(|&(key, _)| key <= from);
    let (nearest, _) = *places[..split].last()?;
    upwards(places, nearest)
}

//! Circular SCAN.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elevator::{By, upwards};
use super::{Order, Scheduler, Slot, Space, Starvation, Time, View};

/// Rule: the next request at or above the end of the previous one; with none left there the arm travels to the upper
/// edge of the disk, from there to the lower one, and begins again. Tie: the one that has waited longer.
/// Source: Seaman, Lind and Wilson, "On teleprocessing system design, part IV: an analysis of auxiliary-storage
/// activity", IBM Systems Journal 5(3), 1966, and Teorey and Pinkerton, CACM 15(3), 1972, who name it.
/// Weakness: a full stroke each turn is wasted; in a host's queue, which moves no arm, it is C-LOOK.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CScan {
    /// Whether it goes by LBN or by cylinder.
    pub by: By,
    #[serde(skip)]
    leg: Leg,
}

/// What the arm is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Leg {
    /// Serving requests, upwards.
    #[default]
    Sweep,
    /// At the upper edge, with nothing ahead.
    Top,
    /// At the lower edge, before the first request of the next sweep.
    Bottom,
}

impl Default for CScan {
    fn default() -> CScan {
        CScan {
            by: By::Lbn,
            leg: Leg::Sweep,
        }
    }
}

impl CScan {
    pub(super) const SUMMARY: &str = "As c-look, but the arm travels to the upper edge and back to the lower one before it begins again.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }

    fn ahead(&self, view: &View<'_>) -> Option<(u64, Slot)> {
        upwards(view.pool.by_place(), self.by.here(&view.space))
    }
}

impl Scheduler for CScan {
    fn order(&self) -> Order {
        self.by.order()
    }
    fn needs_phases(&self) -> bool {
        false
    }
    fn travel(&mut self, view: &View<'_>) -> Option<u32> {
        let Space::Disk(disk) = &view.space else {
            return None;
        };
        let (first, last) = disk.edges();
        if self.leg == Leg::Sweep {
            if self.ahead(view).is_some() {
                return None;
            }
            self.leg = Leg::Top;
            if disk.arm.cylinder != last {
                return Some(last);
            }
        }
        if self.leg == Leg::Top {
            self.leg = Leg::Bottom;
            return (disk.arm.cylinder != first).then_some(first);
        }
        None
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let ahead = match self.leg {
            Leg::Sweep => self.ahead(view),
            Leg::Top | Leg::Bottom => None,
        };
        self.leg = Leg::Sweep;
        let next = ahead.or_else(|| view.pool.by_place().first().copied());
        next.expect("a scheduler is asked only when something waits")
            .1
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Turns(3)
    }
}

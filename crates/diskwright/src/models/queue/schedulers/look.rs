//! LOOK: the elevator that turns when nothing is left ahead.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elevator::{By, Direction, Sides};
use super::{Order, Scheduler, Slot, Starvation, Time, View};

/// Rule: the next request in the direction of the arm, upwards at first; with none left there it turns. Tie: the one
/// that has waited longer. Source: Merten, 1970, who calls it LOOK; DiskSim's policies 2 (by LBN) and 5 (by cylinder).
/// Weakness: blind to rotation; at the edges a request may wait for two sweeps, in the middle for one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Look {
    /// Whether it goes by LBN or by cylinder.
    pub by: By,
    #[serde(skip)]
    direction: Direction,
}

impl Default for Look {
    fn default() -> Look {
        Look {
            by: By::Lbn,
            direction: Direction::Up,
        }
    }
}

impl Look {
    pub(super) const SUMMARY: &str = "The elevator: the next request in the arm's direction, which turns when none is left there.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for Look {
    fn order(&self) -> Order {
        self.by.order()
    }
    fn needs_phases(&self) -> bool {
        false
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let sides = Sides::of(view.pool.by_place(), self.by, &view.space);
        if let Some(next) = sides.towards(self.direction) {
            return next;
        }
        self.direction = self.direction.reversed();
        sides
            .towards(self.direction)
            .expect("a scheduler is asked only when something waits")
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Turns(1)
    }
}

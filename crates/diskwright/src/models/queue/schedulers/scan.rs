//! SCAN: the elevator that turns at the edge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elevator::{By, Direction, Sides, downwards, upwards};
use super::{Order, Scheduler, Slot, Space, Starvation, Time, View};

/// Rule: the next request in the direction of the arm, upwards at first; with none left there the arm travels to the
/// edge of the disk, turns, and takes the request next to it, those included that have come on the way. Tie: the one
/// that has waited longer. Source: Denning, "Effects of scheduling on file memory operations", AFIPS 1967.
/// Weakness: the travel to the edge is wasted; in a host's queue, which moves no arm, it is LOOK.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scan {
    /// Whether it goes by LBN or by cylinder.
    pub by: By,
    #[serde(skip)]
    direction: Direction,
    /// The arm has turned at the edge, and nothing has been picked since.
    #[serde(skip)]
    at_edge: bool,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan {
            by: By::Lbn,
            direction: Direction::Up,
            at_edge: false,
        }
    }
}

impl Scan {
    pub(super) const SUMMARY: &str =
        "As look, but the arm travels on to the edge of the disk before it turns.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }

    /// The next request in the present direction.
    fn ahead(&self, view: &View<'_>) -> Option<Slot> {
        let places = view.pool.by_place();
        if !self.at_edge {
            return Sides::of(places, self.by, &view.space).towards(self.direction);
        }
        // After a turn everything lies ahead, what begins beyond the previous request's end too.
        let next = match self.direction {
            Direction::Up => upwards(places, 0),
            Direction::Down => downwards(places, u64::MAX),
        };
        next.map(|(_, slot)| slot)
    }

    fn turn(&mut self) {
        self.direction = self.direction.reversed();
        self.at_edge = true;
    }
}

impl Scheduler for Scan {
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
        if self.ahead(view).is_some() {
            return None;
        }
        let (first, last) = disk.edges();
        let edge = match self.direction {
            Direction::Up => last,
            Direction::Down => first,
        };
        self.turn();
        (edge != disk.arm.cylinder).then_some(edge)
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let next = self.ahead(view).or_else(|| {
            self.turn();
            self.ahead(view)
        });
        self.at_edge = false;
        next.expect("a scheduler is asked only when something waits")
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Turns(1)
    }
}

//! V(R): the continuum between SSTF and the elevator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elevator::{By, Direction, Sides};
use super::{Order, Scheduler, Slot, Space, Starvation, Time, View};
use crate::base::units::Share;

/// Rule: the nearest request, where those against the direction of the arm count as `r` times the size of the drive
/// further away, rounded to whole places. The direction is that of the last move, upwards at first. Tie: the one that
/// has waited longer. `r = 0` is SSTF, `r = 1` is LOOK.
/// Source: Geist and Daniel, "A continuum of disk scheduling algorithms", ACM TOCS 5(1), 1987, who find 0.2 good;
/// DiskSim's policies 17 (by LBN) and 18 (by cylinder).
/// Weakness: blind to rotation; below 1, requests far from the crowd starve.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VScan {
    /// The penalty for a turn, as a share of the drive's size.
    pub r: Share,
    /// Whether it goes by LBN or by cylinder.
    pub by: By,
    #[serde(skip)]
    direction: Direction,
}

impl Default for VScan {
    fn default() -> VScan {
        VScan {
            r: Share::new(0.2).expect("a number from 0 to 1"),
            by: By::Cylinder,
            direction: Direction::Up,
        }
    }
}

impl VScan {
    pub(super) const SUMMARY: &str =
        "V(R): the nearest request, with a penalty for a turn; between sstf (0) and look (1).";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for VScan {
    fn order(&self) -> Order {
        self.by.order()
    }
    fn needs_phases(&self) -> bool {
        false
    }
    fn needs_geometry(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let Space::Disk(disk) = &view.space else {
            unreachable!("a queue without geometry is given no scheduler that needs it");
        };
        let here = self.by.here(&view.space);
        // A product of two exact numbers, correctly rounded: the same everywhere.
        let turn = libm::round(self.r.value() * self.by.size(disk) as f64) as u64;
        let sides = Sides::of(view.pool.by_place(), self.by, &view.space);
        let candidate = |side: Option<(u64, Slot)>, direction: Direction| {
            let (key, slot) = side?;
            let distance = key.abs_diff(here);
            let on_the_spot = self.by == By::Cylinder && distance == 0;
            let penalty = if on_the_spot || direction == self.direction {
                0
            } else {
                turn
            };
            let next = if on_the_spot {
                self.direction
            } else {
                direction
            };
            Some((distance + penalty, view.pool.get(slot).ticket, slot, next))
        };
        let up = candidate(sides.up, Direction::Up);
        let down = candidate(sides.down, Direction::Down);
        let best = up
            .into_iter()
            .chain(down)
            .min_by_key(|&(distance, ticket, ..)| (distance, ticket));
        let (.., slot, next) = best.expect("a scheduler is asked only when something waits");
        self.direction = next;
        slot
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        if self.r.value() == 1.0 {
            Starvation::Turns(1)
        } else {
            Starvation::Unbounded
        }
    }
}

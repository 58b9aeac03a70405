//! Shortest access time first.

use serde::{Deserialize, Serialize};

use super::{Order, Scheduler, Slot, Space, View};
use crate::units::Time;

/// Rule: the shortest positioning time: seek, switch, settle and rotation, not transfer. Tie: the one that has
/// waited longer. Source: Jacobson and Wilkes, HPL-CSP-91-7, 1991; Seltzer, Chen and Ousterhout, USENIX 1990.
/// Weakness: no bound on waiting.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
        Order::Position
    }
    fn needs_geometry(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        soonest(view)
    }
}

/// The request with the shortest positioning time.
///
/// Looks outwards from the arm, nearest cylinder first, and stops where motion alone takes longer than the best
/// found: every request further out is slower, so the choice is exact.
pub(super) fn soonest(view: &View<'_>) -> Slot {
    let Space::Disk(disk) = &view.space else {
        unreachable!("a queue without geometry is given no scheduler that needs it");
    };
    let places = view.pool.by_place();
    let here = u64::from(disk.arm.cylinder);
    let mut above = places.partition_point(|&(key, _)| key < here);
    let mut below = above;
    // The best so far: its time, its turn of arrival, its slot.
    let mut best: (Time, u64, Option<Slot>) = (Time::MAX, u64::MAX, None);
    loop {
        let up = places.get(above).map_or(u64::MAX, |&(key, _)| key - here);
        let down = below
            .checked_sub(1)
            .map_or(u64::MAX, |last| here - places[last].0);
        let distance = up.min(down);
        if distance == u64::MAX {
            break;
        }
        let slot = if up <= down {
            above += 1;
            places[above - 1].1
        } else {
            below -= 1;
            places[below].1
        };
        let pending = view.pool.get(slot);
        let Some(target) = &pending.target else {
            // Nothing to position for.
            return slot;
        };
        let motion = disk.motion(target);
        if motion > best.0 {
            if disk.mechanics.soonest(distance as u32) > best.0 {
                break;
            }
            continue;
        }
        if let Some(wait) = disk.wait_within(target, motion, best.0 - motion)
            && (motion + wait, pending.ticket) < (best.0, best.1)
        {
            best = (motion + wait, pending.ticket, Some(slot));
        }
    }
    best.2
        .expect("a scheduler is asked only when something waits")
}

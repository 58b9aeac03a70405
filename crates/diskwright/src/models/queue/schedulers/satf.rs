//! Shortest access time first.

use std::hint::select_unpredictable;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DiskSpace, Order, Scheduler, Slot, Space, View};
use crate::models::queue::bands::Placed;

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

/// The request with the shortest positioning time, of a pool in [bands](crate::models::queue::bands); the one that has waited longest of
/// several within a nanosecond.
///
/// # Panics
/// In a queue that knows LBNs only, and where nothing waits.
pub fn soonest(view: &View<'_>) -> Slot {
    let Space::Disk(disk) = &view.space else {
        unreachable!("a queue without geometry is given no scheduler that needs it");
    };
    if disk.arms.is_empty() {
        let phases = [disk.read_phase, disk.write_phase];
        let reach = |placed: &Placed| disk.mechanics.reach(disk.arm, phases, &placed.aim);
        search(view, disk, reach)
    } else {
        let pool = view.pool;
        let target = |placed: &Placed| pool.get(placed.slot).target.as_ref();
        search(view, disk, |placed| {
            target(placed).map_or(0, |target| disk.reach(target))
        })
    }
}

/// The distance of a band that there is not.
const NONE: u32 = u32::MAX;

/// [`soonest`], by how far a request is to be reached, in the spindle's units.
///
/// Looks at one band of cylinders after the other, from the arm outwards, and stops where motion alone takes longer than the best found:
/// every request further out is slower, so the choice is exact. A request that is nowhere is reached at once.
#[inline]
fn search(view: &View<'_>, disk: &DiskSpace<'_>, reach: impl Fn(&Placed) -> u64) -> Slot {
    let bands = view.pool.bands();
    let here = disk.arm.cylinder;
    let mut best = Best::default();
    for &slot in bands.nowhere() {
        best.offer(0, slot);
    }
    // The bands that have been looked at are those from `low` to before `high`.
    let mut number = bands.number(here).min(bands.count().saturating_sub(1));
    let (mut low, mut high) = (number, number);
    while number < bands.count() {
        for placed in bands.band(number) {
            best.offer(reach(placed), placed.slot);
        }
        (low, high) = (low.min(number), high.max(number + 1));
        let below = match low {
            0 => NONE,
            _ => here - (bands.first_cylinder(low) - 1),
        };
        let above = match high == bands.count() {
            true => NONE,
            false => bands.first_cylinder(high) - here,
        };
        let distance = below.min(above);
        // Later than this by a whole nanosecond, whatever is rounded.
        let limit = best.reach.saturating_add(disk.nanosecond());
        if distance == NONE || disk.least_reach(distance) >= limit {
            break;
        }
        number = if below <= above { low - 1 } else { high };
    }
    let seen = bands.nowhere().iter().map(|&slot| (0, slot));
    let seen = seen.chain((low..high).flat_map(|number| {
        let band = bands.band(number).iter();
        band.map(|placed| (reach(placed), placed.slot))
    }));
    best.oldest_of_equals(view, disk, seen)
}

/// The best two so far, kept without a branch: which request is best cannot be foreseen.
struct Best {
    /// In the spindle's units.
    reach: u64,
    slot: Option<Slot>,
    /// Of the second best.
    second: u64,
}

impl Default for Best {
    fn default() -> Best {
        Best {
            reach: u64::MAX,
            slot: None,
            second: u64::MAX,
        }
    }
}

impl Best {
    #[inline]
    fn offer(&mut self, reach: u64, slot: Slot) {
        self.second = self.second.min(reach.max(self.reach));
        self.slot = select_unpredictable(reach < self.reach, Some(slot), self.slot);
        self.reach = self.reach.min(reach);
    }

    /// Of the requests that are reached within the same nanosecond as the best, the one that has waited longest; `seen` are all
    /// that were looked at.
    #[inline]
    fn oldest_of_equals(
        &self,
        view: &View<'_>,
        disk: &DiskSpace<'_>,
        seen: impl Iterator<Item = (u64, Slot)>,
    ) -> Slot {
        let limit = self.reach.next_multiple_of(disk.nanosecond());
        let found = match self.second > limit {
            true => self.slot,
            false => seen
                .filter(|&(reach, _)| reach <= limit)
                .map(|(_, slot)| slot)
                .min_by_key(|&slot| view.pool.get(slot).ticket),
        };
        found.expect("a scheduler is asked only when something waits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{Lbn, Time};
    use crate::engine::request::{Command, Op, RequestId};
    use crate::models::queue::{Pending, Pool};
    use crate::runs::simulation::hardware;

    /// What is nowhere is chosen before all else, however far the arm is from the first cylinder.
    #[test]
    fn no_arm_moves_for_a_request_that_is_nowhere() {
        let hardware = hardware("cheetah-9lp").expect("a drive of the library");
        let mechanics = &hardware.mechanics;
        let command = |lbn| Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(lbn),
            blocks: 8,
        };
        let arm = mechanics.target(mechanics.layout.run(15_000_000, 8), false);
        let mut pool = Pool::new(Order::Bands);
        for number in 0..100 {
            let target = mechanics.layout.run(15_000_000 + u64::from(number) * 8, 8);
            let target = (number != 70).then(|| mechanics.target(target, false));
            let request = RequestId(number);
            pool.push(Pending::new(request, command(0), Time::ZERO, target, 0));
        }
        let phase = mechanics.spindle.phase(Time::from_ms(3));
        let view = View {
            now: Time::from_ms(3),
            pool: &pool,
            space: Space::Disk(DiskSpace {
                mechanics,
                arm: arm.arm(),
                last: Lbn(0),
                blocks: hardware.blocks(),
                read_phase: phase,
                write_phase: phase,
                arms: &[],
            }),
        };
        assert_eq!(pool.get(soonest(&view)).request, RequestId(70));
    }
}

//! Shortest access time first.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DiskSpace, Order, Scheduler, Slot, Space, View};

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
        Order::Position
    }
    fn needs_geometry(&self) -> bool {
        true
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        soonest(view)
    }
}

/// How many requests are looked at on either side before the search asks whether to go on: the question costs
/// more than a request.
const CHUNK: usize = 4;

/// The request with the shortest positioning time.
pub(super) fn soonest(view: &View<'_>) -> Slot {
    let Space::Disk(disk) = &view.space else {
        unreachable!("a queue without geometry is given no scheduler that needs it");
    };
    let pool = view.pool;
    if disk.arms.is_empty() {
        let phases = [disk.read_phase, disk.write_phase];
        let reach = |slot| disk.mechanics.reach(disk.arm, phases, pool.aim(slot));
        search(view, disk, reach)
    } else {
        // No way at all where there is nothing to position for.
        let target = |slot| pool.get(slot).target.as_ref();
        search(view, disk, |slot| {
            target(slot).map_or(0, |target| disk.reach(target))
        })
    }
}

/// [`soonest`], by how far a request is to be reached, in the spindle's units.
///
/// Looks outwards from the arm on both sides, and stops on a side where motion alone takes longer than the best found:
/// every request further out is slower, so the choice is exact.
#[inline]
fn search(view: &View<'_>, disk: &DiskSpace<'_>, reach: impl Fn(Slot) -> u64) -> Slot {
    let places = view.pool.by_place();
    let here = u64::from(disk.arm.cylinder);
    let start = places.partition_point(|&(key, _)| key < here);
    let mut best = Best::default();
    // What was looked at, and how far it is worth looking.
    let (mut low, mut high) = (start, start);
    let (mut lowest, mut highest) = (0, places.len());
    while low > lowest || high < highest {
        let below = low.saturating_sub(CHUNK).max(lowest)..low;
        let above = high..(high + CHUNK).min(highest);
        (low, high) = (below.start, above.end);
        for (index, &(_, slot)) in below.clone().zip(&places[below]) {
            best.offer(reach(slot), index);
        }
        for (index, &(_, slot)) in above.clone().zip(&places[above]) {
            best.offer(reach(slot), index);
        }
        // Later than this by a whole nanosecond, whatever is rounded.
        let limit = best.reach.saturating_add(disk.nanosecond());
        if low > lowest && disk.least_reach((here - places[low - 1].0) as u32) >= limit {
            lowest = low;
        }
        if high < highest && disk.least_reach((places[high].0 - here) as u32) >= limit {
            highest = high;
        }
    }
    best.oldest_of_equals(view, disk, low..high, reach)
}

/// The best two so far, kept without a branch: which request is best cannot be foreseen.
struct Best {
    /// In the spindle's units.
    reach: u64,
    index: usize,
    /// Of the second best.
    second: u64,
}

impl Default for Best {
    fn default() -> Best {
        Best {
            reach: u64::MAX,
            index: 0,
            second: u64::MAX,
        }
    }
}

impl Best {
    #[inline]
    fn offer(&mut self, reach: u64, index: usize) {
        self.second = self.second.min(reach.max(self.reach));
        self.index = if reach < self.reach {
            index
        } else {
            self.index
        };
        self.reach = self.reach.min(reach);
    }

    /// Of the requests that are reached within the same nanosecond as the best, the one that has waited longest.
    #[inline]
    fn oldest_of_equals(
        &self,
        view: &View<'_>,
        disk: &DiskSpace<'_>,
        seen: Range<usize>,
        reach: impl Fn(Slot) -> u64,
    ) -> Slot {
        let places = view.pool.by_place();
        let limit = self.reach.next_multiple_of(disk.nanosecond());
        if self.second > limit {
            return places[self.index].1;
        }
        let seen = places[seen].iter().map(|&(_, slot)| slot);
        let equals = seen.filter(|&slot| reach(slot) <= limit);
        let oldest = equals.min_by_key(|&slot| view.pool.get(slot).ticket);
        oldest.expect("the best is among them")
    }
}

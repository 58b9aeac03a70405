//! The request that is reached soonest, among many.

use std::array;

use super::{DiskSpace, Slot, Space, View};
use crate::base::units::Time;
use crate::models::geometry::estimate::{Aim, Estimates, NEVER, TOLERANCE, WIDTH};
use crate::models::geometry::mechanics::{HeadPosition, Mechanics};
use crate::models::geometry::spindle::Phase;
use crate::models::queue::bands::{Bands, Block};

/// The request with the shortest positioning time, of a pool in [bands](crate::models::queue::bands); the one that has waited longest of
/// several within a nanosecond.
///
/// Looks at one band of cylinders after the other, from the arm outwards, and stops where motion alone takes longer than the best found:
/// every request further out is slower. Within a band it compares [estimates](crate::models::geometry::estimate), and where these cannot
/// tell, the positioning times of the few that may be the best: the choice is exact.
///
/// # Panics
/// In a queue that knows LBNs only, and where nothing waits.
pub fn soonest(view: &View<'_>) -> Slot {
    let Space::Disk(disk) = &view.space else {
        unreachable!("a queue without geometry is given no scheduler that needs it");
    };
    let bands = view.pool.bands();
    if disk.arms.is_empty() && bands.nowhere().is_empty() {
        let phases = [disk.read_phase, disk.write_phase];
        let estimates = disk.mechanics.estimates(disk.arm, phases);
        if let Some(slot) = clear_best(bands, disk.mechanics, &estimates) {
            return slot;
        }
    }
    Search::of_all(view, disk)
}

/// The request of the least estimate, where that is right and no other is near.
#[inline(always)]
fn clear_best(bands: &Bands, mechanics: &Mechanics, estimates: &Estimates<'_>) -> Option<Slot> {
    let from = estimates.cylinder();
    let mut least = Least::new();
    for (band, distance) in bands.outwards(from) {
        for block in band {
            least.add(estimates.to(&block.aims));
        }
        let is_later = |distance| mechanics.is_later(mechanics.soonest(distance), least.estimate());
        if distance.is_none_or(is_later) {
            break;
        }
    }
    let (number, place) = least.clear()?;
    let block = bands.block(from, number)?;
    let is_sure = least.all_are_sure() || estimates.is_sure(&block.aims.get(place));
    is_sure.then_some(block.slots[place])
}

/// The least estimate of many blocks, for each place within a block: what a processor compares at once.
struct Least {
    estimates: [i16; WIDTH],
    /// Of which block, in the order in which they were added.
    blocks: [i16; WIDTH],
    /// The second least.
    second: [i16; WIDTH],
    /// Below zero where an estimate is not sure.
    sure: [i16; WIDTH],
    /// How many blocks have been added.
    count: i16,
}

impl Least {
    #[inline(always)]
    fn new() -> Least {
        Least {
            estimates: [NEVER; WIDTH],
            blocks: [0; WIDTH],
            second: [NEVER; WIDTH],
            sure: [0; WIDTH],
            count: 0,
        }
    }

    /// Adds the estimates of a block, and how sure they are.
    #[inline(always)]
    fn add(&mut self, (estimates, sure): ([i16; WIDTH], [i16; WIDTH])) {
        for place in 0..WIDTH {
            let (least, estimate) = (self.estimates[place], estimates[place]);
            // Masks, for eight are chosen at once.
            let is_less = -i16::from(estimate < least);
            self.blocks[place] = (self.count & is_less) | (self.blocks[place] & !is_less);
            self.second[place] = self.second[place].min(least.max(estimate));
            self.estimates[place] = least.min(estimate);
            self.sure[place] |= sure[place];
        }
        self.count = self.count.saturating_add(1);
    }

    /// The least of all.
    #[inline(always)]
    fn estimate(&self) -> i16 {
        fold(self.estimates, i16::min)
    }

    /// The number of its block and its place there, if no other estimate is near.
    #[inline(always)]
    fn clear(&self) -> Option<(usize, usize)> {
        let limit = self.estimate().saturating_add(TOLERANCE);
        let places: [i16; WIDTH] = array::from_fn(|place| {
            let is_near = -i16::from(self.estimates[place] <= limit);
            (place as i16 & is_near) | (NEVER & !is_near)
        });
        let near: [i16; WIDTH] = array::from_fn(|place| i16::from(self.estimates[place] <= limit));
        let is_alone = fold(near, i16::wrapping_add) == 1
            && fold(self.second, i16::min) > limit
            && self.count < i16::MAX;
        let place = fold(places, i16::min) as usize % WIDTH;
        is_alone.then(|| (self.blocks[place] as usize, place))
    }

    #[inline(always)]
    fn all_are_sure(&self) -> bool {
        fold(self.sure, |one, other| one | other) >= 0
    }
}

/// Folds all, halves with each other: a compiler makes a few instructions of it.
#[inline(always)]
fn fold(values: [i16; WIDTH], both: impl Fn(i16, i16) -> i16) -> i16 {
    let half: [i16; 8] = array::from_fn(|at| both(values[at], values[at + 8]));
    let half: [i16; 8] = array::from_fn(|at| both(half[at], half[(at + 4) % 8]));
    let half: [i16; 8] = array::from_fn(|at| both(half[at], half[(at + 2) % 8]));
    both(half[0], half[1])
}

/// A search by positioning times.
struct Search<'a> {
    view: &'a View<'a>,
    disk: &'a DiskSpace<'a>,
    /// How soon the best so far is reached, its turn in the order of arrival, and it.
    best: Option<(Time, u64, Slot)>,
    /// No request of a larger estimate is better.
    limit: i16,
}

impl<'a> Search<'a> {
    /// The best of all.
    #[inline(never)]
    fn of_all(view: &'a View<'a>, disk: &'a DiskSpace<'a>) -> Slot {
        let mut search = Search {
            view,
            disk,
            best: None,
            limit: NEVER - 1,
        };
        // No arm has to move for what is nowhere.
        for &slot in view.pool.bands().nowhere() {
            search.offer(slot, Time::ZERO);
        }
        if disk.arms.is_empty() {
            search.look_from(disk.arm, [disk.read_phase, disk.write_phase], |_| true);
        }
        for arm in disk.arms {
            search.look_from(arm.at, [arm.read_phase, arm.write_phase], |aim| {
                arm.serves(aim.arm(), aim.write())
            });
        }
        let (_, _, slot) = search
            .best
            .expect("a scheduler is asked only when something waits");
        slot
    }

    /// Looks at the requests that an arm serves.
    fn look_from(&mut self, from: HeadPosition, phases: [Phase; 2], serves: impl Fn(&Aim) -> bool) {
        let mechanics = self.disk.mechanics;
        let estimates = mechanics.estimates(from, phases);
        for (band, distance) in self.view.pool.bands().outwards(from.cylinder) {
            for block in band {
                let (mut estimates, _) = estimates.to(&block.aims);
                for (place, estimate) in estimates.iter_mut().enumerate() {
                    if !serves(&block.aims.get(place)) {
                        *estimate = NEVER;
                    }
                }
                self.work_out(block, &estimates);
            }
            let is_later = |distance| {
                let soonest = mechanics.soonest(distance);
                self.best.is_some_and(|(time, ..)| soonest > time)
            };
            if distance.is_some_and(is_later) {
                break;
            }
        }
    }

    /// Works out the positioning times of those of a block that may be the best.
    fn work_out(&mut self, block: &Block, estimates: &[i16; WIDTH]) {
        let mut done = -1;
        loop {
            // A few at a time, for the first may be far better than the last.
            let rest = estimates.iter().filter(|&&estimate| estimate > done);
            let Some(&next) = rest.min().filter(|&&next| next <= self.limit) else {
                return;
            };
            done = next.saturating_add(TOLERANCE).min(NEVER - 1);
            for (&slot, estimate) in block.slots.iter().zip(estimates) {
                if (next..=done).contains(estimate) {
                    let target = self.view.pool.get(slot).target.as_ref();
                    let target = target.expect("what is in a band is somewhere");
                    self.offer(slot, self.disk.positioning(target));
                }
            }
        }
    }

    /// One is reached after a time.
    fn offer(&mut self, slot: Slot, time: Time) {
        let ticket = self.view.pool.get(slot).ticket;
        let is_better = |(soonest, oldest, _)| (time, ticket) < (soonest, oldest);
        if self.best.is_none_or(is_better) {
            self.best = Some((time, ticket, slot));
            self.limit = self.disk.mechanics.largest_estimate(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Lbn;
    use crate::base::units::quantities::Rotation;
    use crate::engine::request::{Command, Op, RequestId};
    use crate::models::geometry::describe::{HeadOrder, LayoutDescription, ZoneDescription};
    use crate::models::geometry::layout::Layout;
    use crate::models::geometry::mechanics::Reach;
    use crate::models::geometry::seek::{SeekCurve, SeekDescription, SeekTable};
    use crate::models::geometry::spindle::Spindle;
    use crate::models::queue::pool::{Order, Pending, Pool};
    use crate::models::queue::schedulers::ArmView;
    use proptest::prelude::*;

    fn mechanics(cylinders: u32, sectors: u32, seek_ms: (f64, f64), settle_us: i64) -> Mechanics {
        let description = LayoutDescription {
            surfaces: 2,
            cylinders,
            access_ranges: 1,
            order: HeadOrder::Ascending,
            sectors: None,
            zones: vec![ZoneDescription::plain(0, cylinders - 1, sectors)],
        };
        let mut points_ms = vec![(1, seek_ms.0), (cylinders - 1, seek_ms.0 + seek_ms.1)];
        points_ms.dedup_by_key(|point| point.0);
        let seek = SeekDescription::Table(SeekTable { points_ms });
        Mechanics::new(
            Layout::build(&description).expect("a layout"),
            SeekCurve::build(&seek, cylinders).expect("a seek curve"),
            Spindle::new(Rotation::Rpm(7_200)),
            Time::from_us(700),
            settle_us * 1000,
        )
    }

    /// Of all that wait the soonest, of those the one that has waited longest.
    fn brute_force(view: &View<'_>, disk: &DiskSpace<'_>) -> Slot {
        let key = |slot: &Slot| {
            let pending = view.pool.get(*slot);
            let target = pending.target.as_ref();
            (
                target.map_or(Time::ZERO, |target| disk.positioning(target)),
                pending.ticket,
            )
        };
        view.pool
            .by_arrival()
            .min_by_key(key)
            .expect("something waits")
    }

    proptest! {
        /// Requests that come, are chosen one after the other and served, against a list: with one arm and with several that serve some;
        /// on a few sectors, where many are equal, and on many; and with requests that are nowhere.
        #[test]
        fn the_choice_is_that_of_a_plain_search(
            cylinders in prop::sample::select(vec![2u32, 30, 3_000]), sectors in prop::sample::select(vec![1u32, 4, 300]),
            seek_ms in prop::sample::select(vec![(0.0, 0.0), (0.6, 9.0), (15.0, 60.0)]), settle_us in prop::sample::select(vec![0i64, 500, -300, 9_000]),
            waiting in prop::sample::select(vec![1usize, 5, 31, 32, 100, 400]), draws in prop::collection::vec(any::<[u32; 2]>(), 500),
            arms in 1u32..4, nowhere in prop::bool::weighted(0.1),
        ) {
            let m = mechanics(cylinders, sectors, seek_ms, settle_us);
            let blocks = u64::from(cylinders * sectors) * 2;
            let mut pool = Pool::new(Order::Bands);
            let mut now = Time::ZERO;
            let mut at = vec![HeadPosition::default(); arms as usize];
            for (number, draw) in (0u32..).zip(draws) {
                let lbn = u64::from(draw[0]) % blocks;
                let write = draw[1] % 3 == 0;
                let target = (!nowhere || draw[1] % 7 > 0).then(|| m.target(m.layout.run(lbn, 1), write));
                let op = if write { Op::Write } else { Op::Read };
                let command = Command { op, fua: false, lbn: Lbn(lbn), blocks: 1 };
                pool.push(Pending::new(RequestId(number), command, now, target, 0));
                if pool.len() < waiting {
                    continue;
                }
                let phase = m.spindle.phase(now);
                let later = m.spindle.phase(now + Time::from_us(u64::from(draw[1] % 2) * 300));
                let views: Vec<ArmView> = (0u32..).zip(&at).map(|(arm, &at)| ArmView {
                    at,
                    read_phase: m.spindle.phase(now + Time::from_us(u64::from(arm) * 3_000)),
                    write_phase: later,
                    reads: arm != 1,
                    writes: arm != 2,
                    // All have one arm at least that serves them.
                    reach: if arm == 1 { Reach { heads: (0, 0), cylinders: (1, cylinders) } } else { Reach::ALL },
                }).collect();
                let disk = DiskSpace {
                    mechanics: &m,
                    arm: at[0],
                    last: Lbn(0),
                    blocks,
                    read_phase: phase,
                    write_phase: later,
                    arms: if arms > 1 { &views } else { &[] },
                };
                let view = View { now, pool: &pool, space: Space::Disk(disk) };
                let Space::Disk(disk) = &view.space else { unreachable!() };
                let slot = soonest(&view);
                prop_assert_eq!(slot, brute_force(&view, disk));
                let pending = *pool.remove(slot);
                if let Some(target) = pending.target {
                    // Served by any arm: a place from which to go on.
                    let arm = (draw[1] % arms) as usize;
                    now += m.positioning(at[arm], m.spindle.phase(now), &target) + Time::from_us(u64::from(draw[1] % 5) * 100);
                    at[arm] = target.arm();
                }
            }
        }
    }
}

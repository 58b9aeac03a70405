//! Which free slot a head can reach soonest.

use super::allocator::Ties;
use super::free::{FreeSlots, FreeZone};
use super::slots::{DriveSlots, SlotId};
use crate::base::units::Time;
use crate::models::geometry::mechanics::{HeadPosition, Mechanics, Reach};
use crate::models::geometry::spindle::{Phase, Spindle};

/// A head that wants to write.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// The drive.
    pub mechanics: &'a Mechanics,
    /// Where the arm is.
    pub from: HeadPosition,
    /// The platter as the arm sees it when it may begin to move.
    pub phase: Phase,
    /// Where it can write.
    pub reach: Reach,
    /// Leaves out tracks that hold nothing, and this one: where a cleaner puts what it takes from a track.
    pub not_to: Option<usize>,
}

impl Head<'_> {
    /// The motion to a slot: seek, head switch and settling.
    pub fn motion_to(&self, found: &FreeSlot) -> Time {
        self.motion(found.cylinder, found.head)
    }

    fn motion(&self, cylinder: u32, head: u32) -> Time {
        let to = HeadPosition { cylinder, head };
        self.mechanics.motion_time(self.from, to, true)
    }
}

/// A free slot, and how soon a head reaches it.
///
/// Of slots that are reached within the same nanosecond the one in the arm's own cylinder is better, then that in the cylinder that
/// [`Ties`] prefers; in a cylinder that of the arm's own surface, then that of the lowest; then the slot with the lower number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FreeSlot {
    /// Seek, head switch, settling and rotation.
    pub positioning: Time,
    is_away: bool,
    rank: u64,
    is_other_head: bool,
    head: u32,
    /// The slot.
    pub slot: SlotId,
    cylinder: u32,
}

impl FreeSlot {
    #[inline]
    fn new(
        free: &FreeSlots,
        by: &Head<'_>,
        ties: Ties,
        positioning: Time,
        (cylinder, head, slot): (u32, u32, SlotId),
    ) -> FreeSlot {
        FreeSlot {
            positioning,
            is_away: cylinder != by.from.cylinder,
            rank: ties.rank(free, cylinder, by.from.cylinder),
            is_other_head: head != by.from.head,
            head,
            slot,
            cylinder,
        }
    }

    /// The slot's cylinder.
    pub fn cylinder(&self) -> u32 {
        self.cylinder
    }
}

impl FreeSlots {
    /// The free slot that a head reaches soonest, of those from cylinder `lowest` on.
    ///
    /// First the arm's own cylinder; then, zone by zone outwards, one sector after the other as they come by: for each, those of
    /// the cylinders within reach in which a free slot begins there, in the order of `ties`. The first that is reached in time is the
    /// best of its zone. A zone is left as soon as its next sector passes later than the best one found. So the choice is exact.
    pub fn soonest(
        &self,
        slots: &DriveSlots,
        head: &Head<'_>,
        ties: Ties,
        lowest: u32,
    ) -> Option<FreeSlot> {
        let here = head.from.cylinder;
        let mut best = (here >= lowest)
            .then(|| self.in_cylinder(slots, head, ties, here))
            .flatten();
        let zones = self.zones();
        let mut above = self.zones_to(here);
        let mut below = above;
        loop {
            let up = zones.get(above).map(|zone| zone.cylinders.0 - here);
            let down = below.checked_sub(1).map(|below| &zones[below]);
            let down = down.map(|zone| (here + 1).saturating_sub(zone.cylinders.1).max(1));
            let (zone, distance) = match (up, down) {
                (None, None) => return best,
                (Some(up), None) => (above, up),
                (Some(up), Some(down)) if up < down => (above, up),
                (_, Some(down)) => (below - 1, down),
            };
            if zone == above {
                above += 1;
            } else {
                below -= 1;
            }
            let (first, end) = zones[zone].cylinders;
            if first == here && end == here + 1 {
                continue;
            }
            let soonest = head.mechanics.soonest_write(distance);
            if best.is_some_and(|best| best.positioning < soonest) {
                return best;
            }
            let found = self.in_zone(slots, head, ties, &zones[zone], lowest, (soonest, best));
            best = best.into_iter().chain(found).min();
        }
    }

    /// The free slot of a zone that a head reaches soonest, in a cylinder other than its own, if that is not later than `best`;
    /// none is reached before `soonest`.
    fn in_zone(
        &self,
        slots: &DriveSlots,
        head: &Head<'_>,
        ties: Ties,
        zone: &FreeZone,
        lowest: u32,
        (soonest, best): (Time, Option<FreeSlot>),
    ) -> Option<FreeSlot> {
        let Mechanics { spindle, .. } = head.mechanics;
        if zone.cylinders.1 <= lowest {
            return None;
        }
        // A turn after the longest motion, every slot has come by.
        let all = head.mechanics.longest_write() + spindle.period();
        let latest = best.map_or(all, |best| best.positioning);
        let arrival = spindle.later(head.phase, soonest);
        let under = spindle.sector(arrival, zone.per_track);
        let is_caught = spindle.catches(arrival, spindle.edge(under, zone.per_track));
        let first = (under + u32::from(!is_caught)) % zone.per_track;
        let mut from = soonest;
        loop {
            let arrival = spindle.later(head.phase, from);
            let (wait, passing) = spindle.come_by(arrival, first, zone.per_track);
            let turn_begins = from + wait;
            for sector in zone.sectors_from(first) {
                let wraps = if sector < first { zone.per_track } else { 0 };
                let at = turn_begins + spindle.passing(&passing, sector + wraps - first);
                if at > latest {
                    return None;
                }
                let found = self.best_at(slots, head, ties, zone, lowest, (sector, at));
                if found.is_some() {
                    return found;
                }
            }
            from = turn_begins + spindle.passing(&passing, zone.per_track);
            if from > latest {
                return None;
            }
        }
    }

    /// The best of the free slots of a zone that begin at a sector and are reached just when that comes by at `at`, in cylinders
    /// other than the arm's own.
    fn best_at(
        &self,
        slots: &DriveSlots,
        head: &Head<'_>,
        ties: Ties,
        zone: &FreeZone,
        lowest: u32,
        (sector, at): (u32, Time),
    ) -> Option<FreeSlot> {
        let here = head.from.cylinder;
        let reach = head.mechanics.farthest_write(at);
        let begin = here.saturating_sub(reach).max(zone.cylinders.0).max(lowest);
        let end = zone.cylinders.1.min(here.saturating_add(reach) + 1);
        let row = sector as usize;
        let next = |from: u32| {
            let from = from.max(begin).checked_sub(zone.cylinders.0)?;
            let found = zone.starts.first_from(row, from)? + zone.cylinders.0;
            (found < end).then_some(found)
        };
        let previous = |below: u32| {
            let below = below.min(end).checked_sub(zone.cylinders.0)?;
            let found = zone.starts.last_below(row, below)? + zone.cylinders.0;
            (found >= begin).then_some(found)
        };
        let mut above = std::iter::successors(next(here + 1), |&cylinder| next(cylinder + 1));
        let mut below = std::iter::successors(previous(here), |&cylinder| previous(cylinder));
        let reached = |cylinder: u32| {
            let place = (sector, zone.per_track);
            self.reached_at(slots, head, ties, cylinder, place, at)
        };
        match ties {
            Ties::Outward => above.find_map(reached).or_else(|| below.find_map(reached)),
            Ties::Inward => below.find_map(reached).or_else(|| above.find_map(reached)),
            Ties::Emptier => above.chain(below).filter_map(reached).min(),
        }
    }

    /// The free slot of a cylinder that begins at a sector and is reached just when that comes by at `at`.
    fn reached_at(
        &self,
        slots: &DriveSlots,
        head: &Head<'_>,
        ties: Ties,
        cylinder: u32,
        (sector, per_track): (u32, u32),
        at: Time,
    ) -> Option<FreeSlot> {
        let Mechanics {
            layout, spindle, ..
        } = head.mechanics;
        let edge = spindle.edge(sector, per_track);
        let found = slots.tracks_of(cylinder).filter_map(|number| {
            let slot = self.at(slots, layout, number, sector)?;
            let by_head = slots.tracks()[number].head;
            let motion = head.motion(cylinder, by_head);
            let is_reached = self.may_take(slots, head, number)
                && motion <= at
                && motion + spindle.wait(spindle.later(head.phase, motion), edge) == at;
            let place = (cylinder, by_head, slot);
            is_reached.then(|| FreeSlot::new(self, head, ties, at, place))
        });
        found.min()
    }

    /// Whether a head may write to a track if it has a free slot.
    #[inline]
    fn may_take(&self, slots: &DriveSlots, head: &Head<'_>, number: usize) -> bool {
        let track = &slots.tracks()[number];
        let is_left_out = |cleaned| number == cleaned || self.on_track(number) == track.slots;
        head.reach.holds(track.cylinder, track.head) && !head.not_to.is_some_and(is_left_out)
    }

    /// The free slot that a head reaches soonest in the nearest cylinder that has any.
    pub fn in_nearest_cylinder(
        &self,
        slots: &DriveSlots,
        head: &Head<'_>,
        ties: Ties,
    ) -> Option<FreeSlot> {
        let here = head.from.cylinder;
        let mut above = self.first_from(here);
        let mut below = self.last_below(here);
        loop {
            let up = above.map_or(u32::MAX, |cylinder| cylinder - here);
            let down = below.map_or(u32::MAX, |cylinder| here - cylinder);
            let distance = up.min(down);
            if distance == u32::MAX {
                return None;
            }
            let sides = [
                above.filter(|_| up == distance),
                below.filter(|_| down == distance),
            ];
            let found = sides.into_iter().flatten();
            let best = found
                .filter_map(|cylinder| self.in_cylinder(slots, head, ties, cylinder))
                .min();
            if best.is_some() {
                return best;
            }
            if up == distance {
                above = self.first_from(here + distance + 1);
            }
            if down == distance {
                below = self.last_below(here - distance);
            }
        }
    }

    /// The free slot of a cylinder that a head reaches soonest.
    pub fn in_cylinder(
        &self,
        slots: &DriveSlots,
        head: &Head<'_>,
        ties: Ties,
        cylinder: u32,
    ) -> Option<FreeSlot> {
        let layout = &head.mechanics.layout;
        // Over the active head the arm arrives sooner than where it must change heads.
        let mut same = Arrival::new(head, cylinder, head.from.head);
        let mut other = Arrival::new(head, cylinder, head.from.head.wrapping_add(1));
        for number in slots.tracks_of(cylinder) {
            let track = &slots.tracks()[number];
            if self.on_track(number) == 0 || !self.may_take(slots, head, number) {
                continue;
            }
            let arrival = if track.head == head.from.head {
                &mut same
            } else {
                &mut other
            };
            arrival.turn_to(&head.mechanics.spindle, track.per_track);
            let passed = slots.passed(layout, track, arrival.sector);
            let is_caught = arrival.catches && slots.angle(layout, track, passed) == arrival.sector;
            let from = passed + u32::from(!is_caught);
            if let Some(slot) = self.next_on_track(slots, number, track, from) {
                let angle = slots.angle(layout, track, slot);
                arrival.offer(angle, track.head, slots.id(number, slot));
            }
        }
        let found = [same, other].into_iter().filter_map(|arrival| {
            let (_, by_head, slot, angle) = arrival.best?;
            let spindle = &head.mechanics.spindle;
            let edge = spindle.edge(angle, arrival.per_track);
            let positioning = arrival.motion + spindle.wait(arrival.phase, edge);
            Some(FreeSlot::new(
                self,
                head,
                ties,
                positioning,
                (cylinder, by_head, slot),
            ))
        });
        found.min()
    }
}

/// An arm that has come to a cylinder, and the first free slot to come by there.
///
/// All tracks of a cylinder have as many sectors, so that slots are compared by whole sectors.
struct Arrival {
    motion: Time,
    phase: Phase,
    per_track: u32,
    /// The sector under the head.
    sector: u32,
    /// Its edge is caught; else it has passed.
    catches: bool,
    /// How many sectors pass before it, its head, its number and its angle.
    best: Option<(u32, u32, SlotId, u32)>,
}

impl Arrival {
    #[inline]
    fn new(head: &Head<'_>, cylinder: u32, by_head: u32) -> Arrival {
        let motion = head.motion(cylinder, by_head);
        Arrival {
            motion,
            phase: head.mechanics.spindle.later(head.phase, motion),
            per_track: 0,
            sector: 0,
            catches: false,
            best: None,
        }
    }

    #[inline]
    fn turn_to(&mut self, spindle: &Spindle, per_track: u32) {
        if self.per_track != per_track {
            self.per_track = per_track;
            self.sector = spindle.sector(self.phase, per_track);
            self.catches = spindle.catches(self.phase, spindle.edge(self.sector, per_track));
        }
    }

    #[inline]
    fn offer(&mut self, angle: u32, head: u32, slot: SlotId) {
        let way = if angle > self.sector || angle == self.sector && self.catches {
            angle - self.sector
        } else {
            angle + self.per_track - self.sector
        };
        if self
            .best
            .is_none_or(|(least, by, id, _)| (way, head, slot) < (least, by, id))
        {
            self.best = Some((way, head, slot, angle));
        }
    }
}

#[cfg(test)]
#[path = "soonest_tests.rs"]
mod tests;

//! Which free slot a head can reach soonest.

use super::free::{FreeSlots, part};
use super::slots::{SlotId, Slots, Track};
use crate::geometry::mechanics::{Arm, Mechanics, Reach};
use crate::geometry::spindle::{Phase, Spindle};
use crate::units::Time;

/// A head that wants to write.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// The drive.
    pub mechanics: &'a Mechanics,
    /// Where the arm is.
    pub from: Arm,
    /// The platter as the arm sees it when it may begin to move.
    pub phase: Phase,
    /// Where it can write.
    pub reach: Reach,
    /// Leaves out tracks that hold nothing, and this one: where a cleaner puts what it takes from a track.
    pub not_to: Option<usize>,
}

impl Head<'_> {
    /// The motion to a slot: seek, head switch and settling.
    pub fn motion_to(&self, found: &Found) -> Time {
        self.motion(found.cylinder, found.head)
    }

    fn motion(&self, cylinder: u32, head: u32) -> Time {
        let to = Arm { cylinder, head };
        self.mechanics.motion_time(self.from, to, true)
    }

    /// The phase when the arm comes to a cylinder without another head's being chosen; no slot there comes by sooner.
    #[inline]
    fn arrival(&self, distance: u32) -> Phase {
        let Mechanics {
            spindle,
            seek,
            write_settle_ns,
            ..
        } = self.mechanics;
        let motion = seek
            .time(distance)
            .ns()
            .saturating_add_signed(*write_settle_ns);
        spindle.later(self.phase, Time::from_ns(motion))
    }
}

/// A free slot, and how soon a head reaches it.
///
/// Of slots that are reached within the same nanosecond the nearest is better, then the one in the lower cylinder, with the lower head, and
/// with the lower number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Seek, head switch, settling and rotation.
    pub positioning: Time,
    distance: u32,
    cylinder: u32,
    head: u32,
    /// The slot.
    pub slot: SlotId,
}

impl Found {
    /// The slot's cylinder.
    pub fn cylinder(&self) -> u32 {
        self.cylinder
    }
}

impl FreeSlots {
    /// The free slot that a head reaches soonest, of those from cylinder `lowest` on.
    ///
    /// Looks outwards from the arm, and stops where the motion alone takes as long as the best that was found. Of a cylinder
    /// it looks first at the parts of the turn in which free slots begin: where none of them passes between the arm's arrival
    /// and the best found, the cylinder's tracks are not looked at. So the choice is exact.
    pub fn soonest(&self, slots: &Slots, head: &Head<'_>, lowest: u32) -> Option<Found> {
        let here = head.from.cylinder;
        let spindle = &head.mechanics.spindle;
        let mut best = Best {
            found: None,
            latest: head.phase,
            window: u64::MAX,
        };
        if here >= lowest {
            best.offer(self.in_cylinder(slots, head, here), head);
        }
        let mut above = self.first_from(here.saturating_add(1).max(lowest));
        let mut below = self.last_below(here, lowest);
        loop {
            let up = above.map_or(u32::MAX, |cylinder| cylinder - here);
            let down = below.map_or(u32::MAX, |cylinder| here - cylinder);
            let distance = up.min(down);
            if distance == u32::MAX || best.is_sooner_than(head.mechanics.soonest_write(distance)) {
                return best.found;
            }
            let from = spindle.just_before(head.arrival(distance));
            let passing = best.passing(spindle, head.mechanics.soonest_write(distance), from);
            if up == distance {
                let cylinder = here + distance;
                if self.parts_of(cylinder) & passing != 0 {
                    best.offer(self.in_cylinder(slots, head, cylinder), head);
                }
                above = self.first_from(cylinder + 1);
            }
            if down == distance {
                let cylinder = here - distance;
                if self.parts_of(cylinder) & passing != 0 {
                    best.offer(self.in_cylinder(slots, head, cylinder), head);
                }
                below = self.last_below(cylinder, lowest);
            }
        }
    }

    /// The free slot that a head reaches soonest in the nearest cylinder that has any.
    pub fn in_nearest_cylinder(&self, slots: &Slots, head: &Head<'_>) -> Option<Found> {
        let here = head.from.cylinder;
        let mut above = self.first_from(here);
        let mut below = self.last_below(here, 0);
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
                .filter_map(|cylinder| self.in_cylinder(slots, head, cylinder))
                .min();
            if best.is_some() {
                return best;
            }
            if up == distance {
                above = self.first_from(here + distance + 1);
            }
            if down == distance {
                below = self.last_below(here - distance, 0);
            }
        }
    }

    /// The free slot of a cylinder that a head reaches soonest.
    pub fn in_cylinder(&self, slots: &Slots, head: &Head<'_>, cylinder: u32) -> Option<Found> {
        let distance = head.from.cylinder.abs_diff(cylinder);
        let tracks = slots.tracks_of(cylinder);
        tracks
            .filter(|&number| self.on_track(number) > 0)
            .filter_map(|number| {
                let track = &slots.tracks()[number];
                let is_wanted = head
                    .not_to
                    .is_none_or(|cleaned| number != cleaned && self.on_track(number) < track.slots);
                if !is_wanted || !head.reach.holds(cylinder, track.head) {
                    return None;
                }
                let motion = head.motion(cylinder, track.head);
                let (slot, wait) = self.on_track_after(slots, head, number, track, motion)?;
                Some(Found {
                    positioning: motion + wait,
                    distance,
                    cylinder,
                    head: track.head,
                    slot: slots.id(number, slot),
                })
            })
            .min()
    }

    /// The first free slot of a track to come by after a motion, and the wait for it.
    #[inline]
    fn on_track_after(
        &self,
        slots: &Slots,
        head: &Head<'_>,
        number: usize,
        track: &Track,
        motion: Time,
    ) -> Option<(u32, Time)> {
        let Mechanics {
            spindle, layout, ..
        } = head.mechanics;
        let arrival = spindle.later(head.phase, motion);
        let wait = |slot: u32| {
            let angle = slots.angle(layout, track, slot);
            spindle.wait(arrival, spindle.edge(angle, track.per_track))
        };
        // It may have passed by less than a nanosecond, and is caught then.
        let passed = slots.passed(layout, track, spindle.sector(arrival, track.per_track));
        let first = self.next_on_track(slots, number, track, passed)?;
        let first = (wait(first), first);
        if first.1 != passed {
            return Some((first.1, first.0));
        }
        let next = self.next_on_track(slots, number, track, passed + 1)?;
        let best = first.min((wait(next), next));
        Some((best.1, best.0))
    }
}

/// The best slot found so far.
struct Best {
    found: Option<Found>,
    /// The phase when it comes by.
    latest: Phase,
    /// Its positioning time, ns.
    window: u64,
}

impl Best {
    #[inline]
    fn offer(&mut self, found: Option<Found>, head: &Head<'_>) {
        if let Some(found) = found
            && self.found.is_none_or(|best| found < best)
        {
            self.found = Some(found);
            self.latest = head.mechanics.spindle.later(head.phase, found.positioning);
            self.window = found.positioning.ns();
        }
    }

    /// Whether nothing that is reached at `soonest`, further away, can be better.
    #[inline]
    fn is_sooner_than(&self, soonest: Time) -> bool {
        self.window <= soonest.ns()
    }

    /// The parts of the turn that pass from a phase on, at which the arm arrives at `soonest`, until the best comes by.
    #[inline]
    fn passing(&self, spindle: &Spindle, soonest: Time, from: Phase) -> u64 {
        // Within a part of a whole turn first and last part may be the same.
        let nearly_a_turn = spindle.period().ns() / 64 * 62;
        if self.window.saturating_sub(soonest.ns()) >= nearly_a_turn {
            return u64::MAX;
        }
        let (first, last) = (part(spindle, from), part(spindle, self.latest));
        let (up, down) = (u64::MAX << first, u64::MAX >> (63 - last));
        if first <= last { up & down } else { up | down }
    }
}

#[cfg(test)]
#[path = "soonest_tests.rs"]
mod tests;

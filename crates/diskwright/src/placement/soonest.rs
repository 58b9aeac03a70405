//! Which free slot a head can reach soonest.

use super::free::{FreeSlots, PARTS, Parts, WORDS, between, part};
use super::slots::{SlotId, Slots};
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
                if self.has_in(cylinder, &passing) {
                    best.offer(self.in_cylinder(slots, head, cylinder), head);
                }
                above = self.first_from(cylinder + 1);
            }
            if down == distance {
                let cylinder = here - distance;
                if self.has_in(cylinder, &passing) {
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
        let layout = &head.mechanics.layout;
        // Over the active head the arm arrives sooner than where it must change heads.
        let mut same = Arrival::new(head, cylinder, head.from.head);
        let mut other = Arrival::new(head, cylinder, head.from.head.wrapping_add(1));
        for number in slots.tracks_of(cylinder) {
            let track = &slots.tracks()[number];
            let free = self.on_track(number);
            if free == 0
                || !head.reach.holds(cylinder, track.head)
                || head
                    .not_to
                    .is_some_and(|cleaned| number == cleaned || free == track.slots)
            {
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
        let distance = head.from.cylinder.abs_diff(cylinder);
        let found = [same, other].into_iter().filter_map(|arrival| {
            let (_, by_head, slot, angle) = arrival.best?;
            let spindle = &head.mechanics.spindle;
            let edge = spindle.edge(angle, arrival.per_track);
            Some(Found {
                positioning: arrival.motion + spindle.wait(arrival.phase, edge),
                distance,
                cylinder,
                head: by_head,
                slot,
            })
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
    fn passing(&self, spindle: &Spindle, soonest: Time, from: Phase) -> Parts {
        // Within a part of a whole turn first and last part may be the same.
        let nearly_a_turn = spindle.period().ns() / PARTS as u64 * (PARTS as u64 - 2);
        if self.window.saturating_sub(soonest.ns()) >= nearly_a_turn {
            return [u64::MAX; WORDS];
        }
        between(part(spindle, from), part(spindle, self.latest))
    }
}

#[cfg(test)]
#[path = "soonest_tests.rs"]
mod tests;

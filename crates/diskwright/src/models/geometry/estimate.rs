//! How soon places are reached from where an arm is, worked out for sixteen at once: coarse, for finding the few that may be the soonest.
//!
//! Times are in steps, 2^13 to a turn, in 16 bits: the words of which any processor compares eight in one instruction. What the steps are
//! too coarse for, [`Mechanics::positioning`] decides.

use std::array;
use std::sync::Arc;

use super::mechanics::{HeadPosition, Mechanics, Target};
use super::seek::SeekCurve;
use super::spindle::{Phase, STEPS_SHIFT, Spindle};
use crate::base::units::Time;

/// Takes the rest after whole turns.
const IN_TURN: i16 = (1 << STEPS_SHIFT) - 1;
/// How many places are looked at together.
pub const WIDTH: usize = 16;
/// Longer motions count as that long: with a settling, a wait of a turn and the tolerance they fit in 16 bits.
const LONGEST_MOTION: i16 = 20_000;
const LONGEST_SETTLE: i16 = 4_000;
/// An estimate of the place that is not there.
pub const NEVER: i16 = i16::MAX;
/// A wait counts as that much longer, so that rounding does not make the least of them a whole turn: an angle and a motion may each be one step
/// out, and the edge may have passed by a nanosecond.
const MARGIN: i16 = 3;
/// A wait below that may be one of a turn and that: by the margin, and by as much again as angles and motions are too small.
const SURE_WAIT: i16 = MARGIN + 4;
/// How far above the soonest estimate that of a place is at most which is reached as soon, to the nanosecond.
pub const TOLERANCE: i16 = 4;

/// Where a target is, in few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    cylinder: u32,
    /// When the first sector's leading edge comes by, in steps.
    angle: i16,
    /// The head; with the sign bit where it must settle for writing.
    track: i16,
}

impl Aim {
    /// Of a target.
    #[inline]
    pub fn at(target: &Target) -> Aim {
        let position = &target.run.position;
        // A layout has at most 2^10 surfaces.
        let head = position.head as i16;
        Aim {
            cylinder: position.cylinder,
            angle: target.angle,
            track: head | if target.write { i16::MIN } else { 0 },
        }
    }

    /// Cylinder and head.
    #[inline]
    pub fn arm(&self) -> HeadPosition {
        HeadPosition {
            cylinder: self.cylinder,
            head: (self.track & i16::MAX) as u32,
        }
    }

    /// Whether the head must settle for writing.
    #[inline]
    pub fn write(&self) -> bool {
        self.track < 0
    }
}

/// Where up to sixteen targets are, an array for each thing that is asked of all of them.
#[derive(Clone, Copy, Debug)]
pub struct Aims {
    cylinders: [u32; WIDTH],
    angles: [i16; WIDTH],
    tracks: [i16; WIDTH],
    /// [`NEVER`] where there is none, else zero.
    absent: [i16; WIDTH],
}

impl Aims {
    /// None.
    pub const NONE: Aims = Aims {
        cylinders: [0; WIDTH],
        angles: [0; WIDTH],
        tracks: [0; WIDTH],
        absent: [NEVER; WIDTH],
    };

    /// One of them.
    #[inline]
    pub fn get(&self, number: usize) -> Aim {
        Aim {
            cylinder: self.cylinders[number],
            angle: self.angles[number],
            track: self.tracks[number],
        }
    }

    /// Whether there is one.
    #[cfg(test)]
    pub fn is_there(&self, number: usize) -> bool {
        self.absent[number] == 0
    }

    /// Puts one there.
    #[inline]
    pub fn set(&mut self, number: usize, aim: Aim) {
        self.cylinders[number] = aim.cylinder;
        self.angles[number] = aim.angle;
        self.tracks[number] = aim.track;
        self.absent[number] = 0;
    }

    /// Leaves none there.
    #[inline]
    pub fn clear(&mut self, number: usize) {
        self.absent[number] = NEVER;
    }
}

/// The motions of a drive in steps.
#[derive(Clone)]
pub(super) struct Steps {
    /// Of a read and of a write, by distance: rounded down, but for those of less than a step.
    seeks: [Arc<[i16]>; 2],
    head_switch: i16,
    write_settle: i16,
    /// Of a longer motion only that is known.
    longest: i16,
    /// Steps in a nanosecond, times two to the power of `shift`.
    per_ns: u64,
    shift: u32,
}

/// Two to the power of this many nanoseconds are longer than any seek, settling and turn together.
const LONGEST_NS: u32 = 34;

impl Steps {
    /// Of a drive with one seek curve for reads and writes.
    pub fn new(
        spindle: &Spindle,
        seek: &SeekCurve,
        head_switch: Time,
        write_settle_ns: i64,
    ) -> Steps {
        let fits = |&shift: &u32| spindle.steps_in(shift) < 1 << (64 - LONGEST_NS);
        let shift = (0..=60).rev().find(fits).unwrap_or(0);
        let mut steps = Steps {
            seeks: [Arc::from([]), Arc::from([])],
            head_switch: 0,
            write_settle: 0,
            longest: 0,
            per_ns: spindle.steps_in(shift) as u64,
            shift,
        };
        let seeks: Arc<[i16]> = steps.of_curve(seek);
        steps.seeks = [seeks.clone(), seeks];
        steps.head_switch = steps.motion(head_switch);
        let settle = steps.of(Time::from_ns(write_settle_ns.unsigned_abs()));
        // Rounded down, and not above what it is, either way.
        (steps.write_settle, steps.longest) = match write_settle_ns < 0 {
            true if settle >= LONGEST_MOTION => (-LONGEST_MOTION, -1),
            true => (-settle - 1, LONGEST_MOTION - settle - 2),
            false if settle >= LONGEST_SETTLE => (LONGEST_SETTLE, -1),
            false => (settle, LONGEST_MOTION - 1),
        };
        steps
    }

    /// The same with a seek curve for writes, without the settling.
    pub fn with_write_seek(self, curve: &SeekCurve) -> Steps {
        let write = self.of_curve(curve);
        let [read, _] = self.seeks;
        Steps {
            seeks: [read, write],
            ..self
        }
    }

    fn of_curve(&self, curve: &SeekCurve) -> Arc<[i16]> {
        let times = curve.times().iter();
        let steps = times.map(|&ns| self.motion(Time::from_ns(ns.into())));
        steps.collect()
    }

    /// A motion: none only where nothing moves.
    fn motion(&self, time: Time) -> i16 {
        match time == Time::ZERO {
            true => 0,
            false => self.of(time).clamp(1, LONGEST_MOTION),
        }
    }

    /// A time, rounded down; of one longer than all that matters, the longest.
    #[inline]
    fn of(&self, time: Time) -> i16 {
        let ns = time.ns().min((1 << LONGEST_NS) - 1);
        let steps = (ns * self.per_ns) >> self.shift;
        steps.min((NEVER - 1) as u64) as i16
    }
}

/// Estimates from one place.
#[derive(Clone, Copy)]
pub struct Estimates<'a> {
    /// Of a read and of a write, by distance.
    seeks: [&'a [i16]; 2],
    have_one_curve: bool,
    cylinder: u32,
    rest: Rest,
}

/// What is the same for every target: in a few words of its own, so that it is seen that nothing changes it.
#[derive(Clone, Copy)]
struct Rest {
    head: i16,
    head_switch: i16,
    write_settle: i16,
    longest: i16,
    /// Where the platter is when a read could begin to move the arm, less the margin.
    angle: i16,
    /// How far it turns until a write could.
    before_write: i16,
}

impl Rest {
    /// Seek, head switch and settling.
    #[inline(always)]
    fn motion(self, seek: i16, track: i16) -> i16 {
        let is_there = track & i16::MAX == self.head;
        let switch = select(is_there, 0, self.head_switch);
        let moved = seek.max(switch);
        // Where nothing moves, nothing settles.
        let settle = select(moved == 0, 0, (track >> 15) & self.write_settle);
        moved.wrapping_add(settle).max(0)
    }

    /// From the end of the motion on.
    #[inline(always)]
    fn wait(self, motion: i16, angle: i16, track: i16) -> i16 {
        let before_write = (track >> 15) & self.before_write;
        let ready = self.angle.wrapping_add(before_write).wrapping_add(motion);
        angle.wrapping_sub(ready) & IN_TURN
    }

    /// Below zero where one of them is not known for sure.
    #[inline(always)]
    fn sure(self, motion: i16, wait: i16) -> i16 {
        (wait - SURE_WAIT) | (self.longest - motion)
    }
}

/// A choice without a branch.
#[inline(always)]
fn select(condition: bool, yes: i16, no: i16) -> i16 {
    let mask = -i16::from(condition);
    (yes & mask) | (no & !mask)
}

impl Estimates<'_> {
    /// How soon each of sixteen targets is reached, and below zero where that is not [sure](Self::is_sure).
    ///
    /// That is the positioning time and two to four steps; where it is not sure, it may be less by whole turns. [`NEVER`] where there is no
    /// target.
    #[inline(always)]
    pub fn to(&self, aims: &Aims) -> ([i16; WIDTH], [i16; WIDTH]) {
        // Two loops: the lookups one by one, all else eight at once.
        let seeks: [i16; WIDTH] = match self.have_one_curve {
            true => aims
                .cylinders
                .map(|cylinder| self.seeks[0][self.cylinder.abs_diff(cylinder) as usize]),
            false => array::from_fn(|at| self.seek(&aims.get(at))),
        };
        let (rest, mut estimates, mut sure) = (self.rest, [0; WIDTH], [0; WIDTH]);
        for at in 0..WIDTH {
            let motion = rest.motion(seeks[at], aims.tracks[at]);
            let wait = rest.wait(motion, aims.angles[at], aims.tracks[at]);
            estimates[at] = motion.wrapping_add(wait) | aims.absent[at];
            sure[at] = rest.sure(motion, wait);
        }
        (estimates, sure)
    }

    #[inline(always)]
    fn seek(&self, aim: &Aim) -> i16 {
        let distance = self.cylinder.abs_diff(aim.cylinder);
        self.seeks[usize::from(aim.write())][distance as usize]
    }

    /// The cylinder that they are from.
    #[inline]
    pub fn cylinder(&self) -> u32 {
        self.cylinder
    }

    /// Whether the estimate of a place is right: not where it is missed or caught by a few steps, nor after the longest motions.
    #[inline]
    pub fn is_sure(&self, aim: &Aim) -> bool {
        let motion = self.rest.motion(self.seek(aim), aim.track);
        let wait = self.rest.wait(motion, aim.angle, aim.track);
        self.rest.sure(motion, wait) >= 0
    }
}

impl Mechanics {
    /// Estimates from a place, for accesses that begin when the platter is at `phases`, that of a read and that of a write.
    #[inline]
    pub fn estimates(&self, from: HeadPosition, phases: [Phase; 2]) -> Estimates<'_> {
        let [read, write] = phases.map(|phase| self.spindle.steps(phase));
        let Steps {
            seeks,
            head_switch,
            write_settle,
            longest,
            ..
        } = &self.steps;
        Estimates {
            seeks: [&seeks[0], &seeks[1]],
            have_one_curve: Arc::ptr_eq(&seeks[0], &seeks[1]),
            cylinder: from.cylinder,
            rest: Rest {
                head: from.head as i16,
                head_switch: *head_switch,
                write_settle: *write_settle,
                longest: *longest,
                angle: read - MARGIN,
                before_write: write - read,
            },
        }
    }

    /// The largest estimate of a place that is reached within a time.
    #[inline]
    pub fn largest_estimate(&self, time: Time) -> i16 {
        let largest = self.steps.of(time).saturating_add(2 * TOLERANCE);
        largest.min(NEVER - 1)
    }

    /// Whether a place that is reached no sooner than at a time is reached later than one of an estimate that is sure.
    #[inline]
    pub fn is_later(&self, time: Time, estimate: i16) -> bool {
        self.steps.of(time) >= estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::quantities::Rotation;
    use crate::models::geometry::describe::{HeadOrder, LayoutDescription, ZoneDescription};
    use crate::models::geometry::layout::Layout;
    use crate::models::geometry::seek::{SeekDescription, SeekTable};
    use proptest::prelude::*;

    const CYLINDERS: u32 = 300;
    const SECTORS: u32 = 37;

    fn curve(first_ms: f64, last_ms: f64) -> SeekCurve {
        let points_ms = vec![(1, first_ms), (CYLINDERS - 1, last_ms)];
        let table = SeekDescription::Table(SeekTable { points_ms });
        SeekCurve::build(&table, CYLINDERS).expect("a seek curve")
    }

    /// Three surfaces; times are in microseconds.
    fn mechanics(
        rotation: Rotation,
        read: (u32, u32),
        write: Option<(u32, u32)>,
        switch: u32,
        settle: i32,
    ) -> Mechanics {
        let description = LayoutDescription {
            surfaces: 3,
            cylinders: CYLINDERS,
            access_ranges: 1,
            order: HeadOrder::Ascending,
            sectors: None,
            zones: vec![ZoneDescription::plain(0, CYLINDERS - 1, SECTORS)],
        };
        let ms = |us: u32| f64::from(us) / 1e3;
        let mechanics = Mechanics::new(
            Layout::build(&description).expect("a layout"),
            curve(ms(read.0), ms(read.0 + read.1)),
            Spindle::new(rotation),
            Time::from_us(switch.into()),
            i64::from(settle) * 1000,
        );
        match write {
            None => mechanics,
            Some((first, more)) => {
                let first = ms(first) + f64::from(settle.max(0)) / 1e3 + 0.001;
                let write = curve(first, first + ms(more));
                mechanics
                    .with_write_seek(&write)
                    .expect("longer than the settling")
            }
        }
    }

    fn rotation() -> impl Strategy<Value = Rotation> {
        prop_oneof![
            prop::sample::select(vec![10, 3_600, 5_400, 7_200, 10_025, 15_000, 1_000_000])
                .prop_map(Rotation::Rpm),
            (60_000_000u64..20_000_000_000).prop_map(Rotation::PeriodPs),
        ]
    }

    /// Mostly as in drives, and up to far longer than 16 bits hold.
    fn micros() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), 1u32..2_000, 1u32..40_000, 1u32..1_900_000]
    }

    proptest! {
        /// Estimates against positioning times, over spindles, motions and places; the last ones at sectors that are just caught or missed.
        #[test]
        fn an_estimate_is_little_more_than_the_positioning_time(
            rotation in rotation(), read in (micros(), micros()), write in prop::option::of((micros(), micros())), switch in micros(),
            settle in -2_000i32..4_000, from in (0..CYLINDERS, 0u32..3), at in any::<u32>(), before_write in 0u64..2_000_000,
            places in prop::collection::vec((0..CYLINDERS, 0u32..3, 0..SECTORS, any::<bool>()), 1..=WIDTH), just in -3i64..4,
        ) {
            let m = mechanics(rotation, read, write, switch, settle);
            let from = HeadPosition { cylinder: from.0, head: from.1 };
            let lbn = |(cylinder, head, sector, _): &(u32, u32, u32, bool)| {
                (u64::from(*cylinder) * 3 + u64::from(*head)) * u64::from(SECTORS) + u64::from(*sector)
            };
            let targets: Vec<Target> = places.iter().map(|place| m.target(m.layout.run(lbn(place), 1), place.3)).collect();
            // From a time at which the arm reaches the first one's sector about when that comes by.
            let start = Time::from_ns(u64::from(at));
            let phases = |start| [m.spindle.phase(start), m.spindle.phase(start + Time::from_ns(before_write))];
            let wait = m.positioning(from, phases(start)[usize::from(targets[0].write)], &targets[0])
                - m.motion_time(from, targets[0].arm(), targets[0].write);
            let start = Time::from_ns((start + wait).ns().saturating_add_signed(just));
            let phases = phases(start);
            let estimates = m.estimates(from, phases);
            let mut aims = Aims::NONE;
            for (number, target) in targets.iter().enumerate() {
                aims.set(number, Aim::at(target));
            }
            let (found, sure) = estimates.to(&aims);
            let steps = |time: Time| time.ns() as f64 / m.spindle.turn_ns() * f64::from(1 << STEPS_SHIFT);
            for (number, target) in targets.iter().enumerate() {
                let aim = Aim::at(target);
                prop_assert_eq!((aim.arm(), aim.write()), (target.arm(), target.write));
                let time = m.positioning(from, phases[usize::from(target.write)], target);
                let (estimate, is_sure) = (found[number], estimates.is_sure(&aim));
                prop_assert_eq!(is_sure, sure[number] >= 0);
                prop_assert!(f64::from(estimate) < steps(time) + 4.01, "{} steps, not {}", estimate, steps(time));
                prop_assert!(estimate <= m.largest_estimate(time));
                if is_sure {
                    let least = steps(time.saturating_sub(Time::from_ns(1))) + 1.99;
                    prop_assert!(f64::from(estimate) > least, "{} steps, not {}", estimate, least);
                    prop_assert!(!m.is_later(time, estimate));
                    prop_assert!(m.is_later(time + Time::from_ns((m.spindle.turn_ns() / 1000.0) as u64), estimate));
                }
            }
            prop_assert!(found[targets.len()..].iter().all(|&estimate| estimate == NEVER));
        }
    }

    /// Of a drive's random requests nearly all estimates are sure: else the search would be slow.
    #[test]
    fn few_estimates_are_not_sure() {
        let m = mechanics(Rotation::Rpm(7_200), (800, 16_000), None, 1_000, 500);
        let mut unsure = 0;
        for number in 0..10_000u64 {
            let lbn = number * 7_919 % (u64::from(CYLINDERS * SECTORS) * 3);
            let target = m.target(m.layout.run(lbn, 1), number % 3 == 0);
            let phase = m.spindle.phase(Time::from_us(number * 977));
            let from = HeadPosition {
                cylinder: (number * 31 % 300) as u32,
                head: 0,
            };
            unsure += u32::from(!m.estimates(from, [phase; 2]).is_sure(&Aim::at(&target)));
        }
        assert!(unsure < 30, "{unsure}");
    }
}

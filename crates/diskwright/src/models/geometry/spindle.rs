//! Exact rotation: where the platter is at an instant, and when a place on it comes by.
//!
//! A revolution is divided into `turn` units of which `rate` pass every nanosecond, both integers, so
//! the phase at any instant is exact however long the run: after `turn` nanoseconds the platter has
//! made `rate` whole revolutions and everything repeats. At a whole number N of revolutions per minute
//! the units are 1/60,000,000,000 of a revolution, N a nanosecond; at any other speed they are the
//! picoseconds of the period, 1000 a nanosecond.
//!
//! A sector's edge passes at some real instant; the simulation rounds it up to the nanosecond, and a head
//! that is ready at exactly that nanosecond catches it.

use crate::base::divide::{Divisor, WideDivisor};
use crate::base::units::Time;
use crate::base::units::angle::Angle;
use crate::base::units::quantities::Rotation;

/// Nanoseconds in a minute: the units of a revolution at a whole number of revolutions per minute.
const MINUTE: u64 = 60_000_000_000;

/// Two to the power of this many steps are a turn: what [estimates](super::estimate) count in.
pub const STEPS_SHIFT: u32 = 13;

/// A place on the circle, in the spindle's units; always less than one turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phase(u64);

/// The turning of a platter.
#[derive(Clone, Copy, Debug)]
pub struct Spindle {
    turn: u64,
    rate: u64,
    by_turn: WideDivisor,
    by_rate: Divisor,
    /// The phase at time zero.
    start: u64,
    /// The units of fewer nanoseconds, and a turn, fit in 64 bits.
    fits: u64,
}

/// The slots of a track as they pass one after the other, from the instant on at which the first one's edge came by.
#[derive(Clone, Copy, Debug)]
pub struct PassingSlots {
    slot: u32,
    per_track: u32,
    /// The place under the head at that instant, in the spindle's units: the edge, or less than a nanosecond behind it.
    origin: u64,
}

impl Spindle {
    /// A spindle whose angle is zero at time zero.
    pub fn new(rotation: Rotation) -> Spindle {
        let (turn, rate) = match rotation {
            Rotation::Rpm(rpm) => (MINUTE, u64::from(rpm)),
            Rotation::PeriodPs(ps) => (ps, 1000),
        };
        Spindle {
            turn,
            rate,
            by_turn: WideDivisor::new(turn),
            // A wait and a whole turn, and what rounding up adds.
            by_rate: Divisor::new(rate, 2 * turn + 2 * rate),
            start: 0,
            fits: (u64::MAX - turn) / rate,
        }
    }

    /// The same spindle, at `angle` at time zero: to the nearest of its units.
    #[must_use]
    pub fn starting_at(self, angle: Angle) -> Spindle {
        Spindle {
            start: angle.of(self.turn),
            ..self
        }
    }

    /// The same spindle as a head sees it that stands at `angle` from the first arm's, the way the platters turn.
    #[must_use]
    pub fn seen_from(self, angle: Angle) -> Spindle {
        let behind = self.turn - angle.of(self.turn);
        Spindle {
            start: self.wrap(self.start + behind),
            ..self
        }
    }

    /// The same spindle, `span` ahead.
    #[must_use]
    pub fn ahead_by(self, span: Time) -> Spindle {
        Spindle {
            start: self.later(Phase(self.start), span).0,
            ..self
        }
    }

    /// After this time the platter is exactly where it was, whole revolutions later.
    pub fn repeats_after(&self) -> Time {
        Time::from_ns(self.turn)
    }

    /// The remainder of a division by one turn.
    #[inline]
    fn wrap(&self, units: u64) -> u64 {
        self.by_turn.divide(units).1
    }

    /// The length of a revolution, rounded up to the nanosecond.
    pub fn period(&self) -> Time {
        Time::from_ns(self.turn.div_ceil(self.rate))
    }

    /// Where the platter is at an instant.
    #[inline]
    pub fn phase(&self, at: Time) -> Phase {
        self.later(Phase(self.start), at)
    }

    /// The length of a revolution in ns, to a double's precision.
    pub fn turn_ns(&self) -> f64 {
        self.turn as f64 / self.rate as f64
    }

    /// A phase in [steps](super::estimate), less than one and a billionth too small.
    #[inline]
    pub fn steps(&self, phase: Phase) -> i16 {
        (self.by_turn.part(phase.0) >> (64 - STEPS_SHIFT)) as i16
    }

    /// How many steps pass in two to the power of `shift` nanoseconds, rounded down.
    pub fn steps_in(&self, shift: u32) -> u128 {
        (u128::from(self.rate) << (STEPS_SHIFT + shift)) / u128::from(self.turn)
    }

    /// A phase in turns, to a double's precision.
    pub fn turned(&self, phase: Phase) -> f64 {
        phase.0 as f64 / self.turn as f64
    }

    /// The leading edge of angular slot `slot` of a track with `per_track` of them.
    #[inline]
    pub fn edge(&self, slot: u32, per_track: u32) -> Phase {
        Phase((u64::from(slot) * self.turn).div_ceil(u64::from(per_track)))
    }

    /// The sector of a track with `per_track` of them that passes under the head at a phase.
    #[inline]
    pub fn sector(&self, phase: Phase, per_track: u32) -> u32 {
        self.turns(phase.0 * u64::from(per_track)) as u32
    }

    /// From the phase at a moment to the phase `span` later.
    #[inline]
    pub fn later(&self, phase: Phase, span: Time) -> Phase {
        // The units of motions, and of the first days of a run, fit in a word.
        let span = if span.ns() < self.fits {
            span.ns()
        } else {
            self.wrap(span.ns())
        };
        Phase(self.wrap(phase.0 + span * self.rate))
    }

    /// The way, in units, that the platter still has to turn from `now` until `target` comes by; not
    /// positive when the target's edge, rounded up to the nanosecond, is this very one.
    #[inline]
    fn way(&self, now: Phase, target: Phase) -> i64 {
        let passed = now.0 as i64 - target.0 as i64;
        let passed = if passed < 0 {
            passed + self.turn as i64
        } else {
            passed
        };
        // Passed by less than a nanosecond: the edge fell between the last nanosecond and this one.
        if passed < self.rate as i64 {
            -passed
        } else {
            self.turn as i64 - passed
        }
    }

    /// The wait, from a moment with phase `now`, until `target` comes by; zero if it comes by now.
    #[inline]
    pub fn wait(&self, now: Phase, target: Phase) -> Time {
        self.ceil(self.way(now, target))
    }

    /// Whether a head that is ready at a moment with phase `now` catches `target`.
    #[inline]
    pub fn catches(&self, now: Phase, target: Phase) -> bool {
        self.way(now, target) <= 0
    }

    /// A span of time in the spindle's units.
    #[inline]
    pub fn units(&self, span: Time) -> u64 {
        span.ns() * self.rate
    }

    /// Waits for slot `slot` from a moment with phase `now` and stays for `slots` slots: the wait, and
    /// the time from the moment to the end of the last slot.
    #[inline]
    pub fn pass(&self, now: Phase, slot: u32, slots: u32, per_track: u32) -> (Time, Time) {
        let (wait, passing) = self.come_by(now, slot, per_track);
        (wait, wait + self.passing(&passing, slots))
    }

    /// Waits for slot `slot` from a moment with phase `now`: the wait, and the slots that pass from then on.
    #[inline]
    pub fn come_by(&self, now: Phase, slot: u32, per_track: u32) -> (Time, PassingSlots) {
        self.come_by_edge(now, self.edge(slot, per_track), slot, per_track)
    }

    /// [`Self::come_by`], where the slot's [edge](Self::edge) is known.
    #[inline]
    pub fn come_by_edge(
        &self,
        now: Phase,
        start: Phase,
        slot: u32,
        per_track: u32,
    ) -> (Time, PassingSlots) {
        let way = self.way(now, start);
        let wait = self.ceil(way);
        let slots = PassingSlots {
            slot,
            per_track,
            origin: start.0 + (self.units(wait) as i64 - way) as u64,
        };
        (wait, slots)
    }

    /// How long after the first edge came by `count` slots have passed, at most a turn of them.
    #[inline]
    pub fn passing(&self, slots: &PassingSlots, count: u32) -> Time {
        let behind = u64::from(slots.slot) + u64::from(count);
        let end = (behind * self.turn).div_ceil(u64::from(slots.per_track));
        self.ceil(end as i64 - slots.origin as i64)
    }

    /// How many slots have passed whole, `span` after the first edge came by, at most a turn later.
    #[inline]
    pub fn passed(&self, slots: &PassingSlots, span: Time) -> u32 {
        // The most slots whose end, rounded up to a unit, is not beyond the place under the head.
        let place = slots.origin + self.units(span);
        let behind = self.turns(place * u64::from(slots.per_track));
        (behind - u64::from(slots.slot)) as u32
    }

    /// Whole turns in `units`.
    #[inline]
    fn turns(&self, units: u64) -> u64 {
        self.by_turn.divide(units).0
    }

    #[inline]
    fn ceil(&self, units: i64) -> Time {
        let units = units.max(0) as u64;
        Time::from_ns(self.by_rate.divide(units + self.rate - 1).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first nanosecond at or after `ready` at which the slot's edge, rounded up, comes by: by
    /// rational arithmetic over whole revolutions since time zero.
    fn brute_force(rpm: u64, ready: u64, slot: u64, per_track: u64) -> u64 {
        let (minute, rpm) = (u128::from(MINUTE), u128::from(rpm));
        let (slot, per_track) = (u128::from(slot), u128::from(per_track));
        let revolution = (u128::from(ready) * rpm / minute).saturating_sub(1);
        (revolution..)
            .map(|turn| ((turn * per_track + slot) * minute).div_ceil(per_track * rpm))
            .find(|&edge| edge >= u128::from(ready))
            .expect("an endless range") as u64
    }

    proptest! {
        #[test]
        fn the_wait_is_exact(
            rpm in 60u32..20_000, ready in 0u64..u64::MAX / 4, per_track in 1u32..5000, slot in 0u32..5000, slots in 1u32..3000,
        ) {
            let slot = slot % per_track;
            let spindle = Spindle::new(Rotation::Rpm(rpm));
            let edge = brute_force(rpm.into(), ready, slot.into(), per_track.into());
            let (wait, end) = spindle.pass(spindle.phase(Time::from_ns(ready)), slot, slots, per_track);
            prop_assert_eq!(wait.ns(), edge - ready);
            // The end of the last slot is the edge of the slot behind it, in the same or a later revolution.
            let behind = slot + slots;
            let full = u64::from(behind / per_track);
            let at_edge = brute_force(rpm.into(), edge, (behind % per_track).into(), per_track.into());
            let last = brute_force_end(rpm.into(), edge, slot.into(), slots.into(), per_track.into());
            prop_assert_eq!(ready + end.ns(), last);
            prop_assert!(full > 0 || last == at_edge);
        }

        #[test]
        fn slots_pass_one_after_the_other(
            rpm in 60u32..20_000, at in 0u64..u64::MAX / 4, per_track in 1u32..5000, slot in 0u32..5000, count in 1u32..5000,
        ) {
            let (slot, count) = (slot % per_track, (count - 1) % per_track + 1);
            let spindle = Spindle::new(Rotation::Rpm(rpm));
            let now = spindle.phase(Time::from_ns(at));
            let (wait, slots) = spindle.come_by(now, slot, per_track);
            prop_assert_eq!(wait, spindle.wait(now, spindle.edge(slot, per_track)));
            prop_assert_eq!(wait + spindle.passing(&slots, count), spindle.pass(now, slot, count, per_track).1);
            // They pass alike for a head that was ready only when the edge came by.
            let (none, later) = spindle.come_by(spindle.phase(Time::from_ns(at) + wait), slot, per_track);
            prop_assert_eq!(none, Time::ZERO);
            prop_assert_eq!(spindle.passing(&later, count), spindle.passing(&slots, count));
            // Each has passed at its end, and not a nanosecond before.
            let end = spindle.passing(&slots, count);
            prop_assert!(spindle.passed(&slots, end) >= count);
            prop_assert!(spindle.passed(&slots, end - Time::from_ns(1)) < count);
            prop_assert_eq!(spindle.passed(&slots, Time::ZERO), 0);
        }

        #[test]
        fn a_head_ready_at_the_edge_catches_it_and_one_a_nanosecond_late_waits_a_turn(
            rpm in 60u32..20_000, after in 0u64..u64::MAX / 4, per_track in 1u32..5000, slot in 0u32..5000,
        ) {
            let slot = slot % per_track;
            let spindle = Spindle::new(Rotation::Rpm(rpm));
            let target = spindle.edge(slot, per_track);
            let edge = brute_force(rpm.into(), after, slot.into(), per_track.into());
            prop_assert_eq!(spindle.wait(spindle.phase(Time::from_ns(edge)), target), Time::ZERO);
            let wait = spindle.wait(spindle.phase(Time::from_ns(edge + 1)), target);
            let turn = spindle.period();
            prop_assert!(wait <= turn && wait + Time::from_ns(2) >= turn, "{wait} of {turn}");
        }

        #[test]
        fn a_platter_that_starts_further_on_is_one_that_has_turned_longer(
            rpm in 60u32..20_000, thousandths in 0u64..1000, minutes in 0u64..1_000_000, at in 0u64..u64::MAX / 4,
        ) {
            // A minute's turns in thousandths of a turn, of which `rpm` pass in 60,000,000 ns.
            let angle = (thousandths * u64::from(rpm)) % 1000;
            let turned = Time::from_ns(minutes * MINUTE + thousandths * 60_000_000);
            let (at, angle) = (Time::from_ns(at), Angle::from_turns(angle as f64 / 1000.0).expect("less than a turn"));
            let spindle = Spindle::new(Rotation::Rpm(rpm));
            prop_assert_eq!(spindle.starting_at(angle).phase(at), spindle.phase(at + turned));
        }

        #[test]
        fn a_phase_is_exact_however_long_the_run(rpm in 10u32..1_000_001, start in 0.0f64..1.0, at in any::<u64>(), near in 0u64..6) {
            let spindle = Spindle::new(Rotation::Rpm(rpm)).starting_at(Angle::from_turns(start).expect("less than a turn"));
            // Up to the last nanosecond whose units fit in a word, and from there on.
            for at in [at, at % spindle.fits, spindle.fits + near - 3] {
                let units = u128::from(spindle.start) + u128::from(at) * u128::from(rpm);
                prop_assert_eq!(u128::from(spindle.phase(Time::from_ns(at)).0), units % u128::from(MINUTE));
            }
        }

        #[test]
        fn later_is_the_phase_later(rpm in 60u32..20_000, at in 0u64..u64::MAX / 4, span in 0u64..u64::MAX / 4) {
            let spindle = Spindle::new(Rotation::Rpm(rpm));
            let (at, span) = (Time::from_ns(at), Time::from_ns(span));
            prop_assert_eq!(spindle.later(spindle.phase(at), span), spindle.phase(at + span));
        }
    }

    /// The end of the slots that began at the edge rounded up to `edge`.
    fn brute_force_end(rpm: u64, edge: u64, slot: u64, slots: u64, per_track: u64) -> u64 {
        let (minute, rpm) = (u128::from(MINUTE), u128::from(rpm));
        let (slot, slots, per_track) = (u128::from(slot), u128::from(slots), u128::from(per_track));
        let first = (u128::from(edge) * rpm / minute).saturating_sub(1);
        let turn = (first..)
            .find(|turn| {
                ((turn * per_track + slot) * minute).div_ceil(per_track * rpm) >= u128::from(edge)
            })
            .expect("an endless range");
        ((turn * per_track + slot + slots) * minute).div_ceil(per_track * rpm) as u64
    }

    #[test]
    fn what_is_drawn_is_where_the_platter_is() {
        for spindle in [
            Spindle::new(Rotation::Rpm(7_200)),
            Spindle::new(Rotation::PeriodPs(8_333_333_333)),
        ] {
            let year = Time::from_s(366 * 86_400);
            let quarter = Time::from_ns((spindle.turn_ns() / 4.0) as u64);
            let turned = |at: Time| spindle.turned(spindle.phase(at));
            let way = (turned(year + quarter) - turned(year)).rem_euclid(1.0);
            assert!((way - 0.25).abs() < 1e-6, "{way}");
            assert_eq!(turned(Time::ZERO), 0.0);
        }
    }

    #[test]
    fn rotation_does_not_drift_in_a_century() {
        let spindle = Spindle::new(Rotation::Rpm(10_045));
        let century = Time::from_s(100 * 366 * 86_400);
        // A whole number of minutes is a whole number of revolutions.
        assert_eq!(spindle.phase(century), spindle.phase(Time::ZERO));
    }

    #[test]
    fn an_uneven_speed_keeps_its_picoseconds() {
        let rotation: Rotation = "10044.5 rpm".parse().unwrap();
        assert_eq!(rotation, Rotation::PeriodPs(5_973_418_289));
        let spindle = Spindle::new(rotation);
        let thousand_turns = Time::from_ns(5_973_418_289);
        assert_eq!(spindle.phase(thousand_turns), Phase(0));
        assert_eq!(
            spindle.wait(spindle.phase(Time::from_ns(1)), Phase(0)).ns(),
            5_973_418
        );
    }
}

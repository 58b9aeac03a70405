//! Fractions of a nanosecond: what an instant lacks, or has too much, for the exact time that it stands for.
//!
//! Gaps are drawn to far below a nanosecond, and instants are whole nanoseconds. Without the fractions every gap would be off by half a
//! nanosecond at most, and over ten thousand requests that adds up to some ten. The time of a completion is that of a beginning and a
//! whole number of nanoseconds; so its fraction is that of what the device began at: the request's arrival, or the completion before.

use std::collections::VecDeque;

use crate::base::units::Time;

/// How many completions are remembered: a request begins at one of the last, of which there are about as many as there are devices.
const REMEMBERED: usize = 64;

/// The present fraction, and those of the last completions, in ns, from −0.5 to 0.5.
#[derive(Clone, Debug, Default)]
pub struct Fractions {
    now: f64,
    /// The last completion is the first.
    completions: VecDeque<(Time, f64)>,
}

impl Fractions {
    /// That of the present instant.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// The present instant is one with this fraction.
    pub fn set(&mut self, fraction: f64) {
        self.now = fraction;
    }

    /// The instant `ms` from now on, as a span from now, and its fraction.
    pub fn after_ms(&self, ms: f64) -> (Time, f64) {
        let exact = self.now + ms * 1e6;
        match Time::from_ns_f64(exact.max(0.0)) {
            Some(span) => (span, exact - span.ns() as f64),
            None => (Time::MAX, 0.0),
        }
    }

    /// A request is complete that arrived at `arrival` with a fraction, and that its device began at `start`.
    pub fn completed(&mut self, now: Time, arrival: (Time, f64), start: Time) {
        let mut earlier = self.completions.iter().take_while(|(at, _)| *at >= start);
        let before = earlier.find(|(at, _)| *at == start && start != arrival.0);
        self.now = before.map_or(arrival.1, |&(_, fraction)| fraction);
        self.completions.truncate(REMEMBERED - 1);
        self.completions.push_front((now, self.now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_add_up_to_their_exact_sum() {
        let mut fractions = Fractions::default();
        let mut now = Time::ZERO;
        for _ in 0..1_000 {
            let (span, fraction) = fractions.after_ms(1.000_000_3);
            now += span;
            fractions.set(fraction);
            assert!(fraction.abs() <= 0.5);
        }
        assert_eq!(now.ns(), 1_000_000_300);
    }

    #[test]
    fn a_completion_has_the_fraction_of_what_it_followed() {
        let ns = Time::from_ns;
        let mut fractions = Fractions::default();
        // It began when it arrived.
        fractions.completed(ns(110), (ns(100), 0.25), ns(100));
        assert_eq!(fractions.now(), 0.25);
        // It began when that one was complete; the next one when this one was.
        fractions.completed(ns(120), (ns(105), -0.5), ns(110));
        fractions.completed(ns(130), (ns(106), 0.125), ns(120));
        assert_eq!(fractions.now(), 0.25);
        // It began at an instant that nothing is known of.
        fractions.completed(ns(140), (ns(107), 0.375), ns(133));
        assert_eq!(fractions.now(), 0.375);
        // At a completion, but because it arrived then.
        fractions.completed(ns(150), (ns(130), 0.0), ns(130));
        assert_eq!(fractions.now(), 0.0);
    }

    #[test]
    fn a_span_is_not_before_now_and_not_without_end() {
        let mut fractions = Fractions::default();
        fractions.set(-0.5);
        assert_eq!(fractions.after_ms(0.0), (Time::ZERO, -0.5));
        assert_eq!(fractions.after_ms(1e300), (Time::MAX, 0.0));
    }
}

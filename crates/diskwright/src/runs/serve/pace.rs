//! How simulated time follows the wall's.

use crate::base::units::Time;

/// What moves simulated time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// The wall clock.
    Real(Speed),
    /// The requests: time moves on to the next completion when so many are in flight.
    Fast {
        /// How many requests, 1 or more.
        depth: u32,
    },
}

/// How many simulated seconds a second of the wall is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(f64);

impl Speed {
    /// The slowest and the fastest: beyond these an instant of one clock is no instant of the other.
    pub const RANGE: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

    /// A speed, if it is within [`RANGE`](Speed::RANGE).
    pub fn new(factor: f64) -> Option<Speed> {
        Speed::RANGE.contains(&factor).then_some(Speed(factor))
    }

    /// Simulated seconds in a second.
    pub fn factor(self) -> f64 {
        self.0
    }

    /// The simulated instant at a wall instant, ns since the start.
    pub fn simulated(self, wall: u64) -> Time {
        Time::from_ns((wall as f64 * self.0) as u64)
    }

    /// The first wall instant, ns since the start, at which a simulated one is there.
    pub fn wall(self, simulated: Time) -> u64 {
        (simulated.ns() as f64 / self.0).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_follow_each_other() {
        let at = |factor| Speed::new(factor).expect("a speed");
        for factor in [1e-3, 0.5, 1.0, 3.0, 50.0, 1e3] {
            for ns in [0, 1, 7, 1_000_003, 86_400_000_000_000] {
                let (speed, wall) = (at(factor), at(factor).wall(Time::from_ns(ns)));
                let there = speed.simulated(wall).ns();
                assert!(
                    there.abs_diff(ns) as f64 <= factor.max(1.0),
                    "{factor} {ns} {there}"
                );
            }
        }
        assert_eq!(at(50.0).simulated(1_000), Time::from_us(50));
        assert_eq!(at(0.5).wall(Time::from_us(1)), 2_000);
    }

    #[test]
    fn speeds_have_both_ends() {
        assert!(Speed::new(1e-6).is_some() && Speed::new(1e6).is_some());
        for wrong in [0.0, -1.0, 9e-7, 1.1e6, f64::NAN, f64::INFINITY] {
            assert_eq!(Speed::new(wrong), None);
        }
    }
}

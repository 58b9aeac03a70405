//! What accesses to the medium have taken so far.

use super::Cost;
use crate::base::units::Time;

/// The access time N of a block: that of its request, or its part of it.
#[inline]
pub(super) fn of_block(cost: Cost, per_block: bool) -> Time {
    let parts = if per_block { cost.blocks.max(1) } else { 1 };
    Time::from_ns(cost.media.ns() / u64::from(parts))
}

/// The mean of the access times of all media accesses so far, and the longest.
///
/// A cache tells the cost of an access once for each of its blocks: each counts as the access' share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    /// Of an access, 2³².
    weights: u128,
    /// Nanoseconds by weight.
    times: u128,
    longest: Time,
}

impl Meter {
    /// Counts an access, or one block's share of it, with the time that it counts for.
    pub(super) fn add(&mut self, cost: Cost, time: Time) {
        let weight = (1u128 << 32) / u128::from(cost.blocks.max(1));
        self.weights += weight;
        self.times += weight * u128::from(time.ns());
        self.longest = self.longest.max(time);
    }
    /// The mean, in ns; 0 before the first.
    pub(super) fn mean_ns(&self) -> f64 {
        match self.weights {
            0 => 0.0,
            weights => self.times as f64 / weights as f64,
        }
    }
    /// The longest; 0 before the first.
    pub(super) fn longest(&self) -> Time {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_counts_once_however_many_blocks_it_has() {
        let mut meter = Meter::default();
        assert_eq!(meter.mean_ns(), 0.0);
        let cost = |ms, blocks| Cost {
            media: Time::from_ms(ms),
            blocks,
        };
        (0..8).for_each(|_| meter.add(cost(4, 8), Time::from_ms(4)));
        meter.add(cost(10, 1), Time::from_ms(10));
        assert_eq!(meter.mean_ns(), 7e6);
        assert_eq!(meter.longest(), Time::from_ms(10));
        assert_eq!(of_block(cost(4, 8), true), Time::from_us(500));
        assert_eq!(of_block(cost(4, 8), false), Time::from_ms(4));
    }
}

//! What a device's accesses are expected to take, by distance alone: what a host can know of it, as from a measurement.

use crate::base::units::quantities::Rate;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::request::{Command, Op};

/// Expected times of a device that serves one request after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessTimes {
    read: Vec<Point>,
    write: Vec<Point>,
    /// The transfer of a 512-byte block, in thousandths of a nanosecond.
    block_ps: u64,
}

/// The access at a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Blocks between the end of a request and the beginning of the next, in either direction.
    pub distance: u64,
    /// What the access takes without its transfer.
    pub time: Time,
}

/// Picoseconds of a nanosecond.
const PS: u64 = 1_000;

impl AccessTimes {
    /// The points of reads and of writes, at least one each, by rising distance; `block_ps` is the transfer time of a 512-byte block, ps.
    pub fn new(read: Vec<Point>, write: Vec<Point>, block_ps: u64) -> AccessTimes {
        for points in [&read, &write] {
            let rises = |pair: &[Point]| pair[0].distance < pair[1].distance;
            assert!(!points.is_empty() && points.windows(2).all(rises));
        }
        AccessTimes {
            read,
            write,
            block_ps,
        }
    }

    /// The same time at every distance.
    pub fn level(read: Time, write: Time, block_ps: u64) -> AccessTimes {
        let point = |time| vec![Point { distance: 0, time }];
        AccessTimes::new(point(read), point(write), block_ps)
    }

    /// A request's access over a distance, without its transfer: on the straight line between the points beside it, and level before the
    /// first and behind the last.
    pub fn access(&self, op: Op, distance: u64) -> Time {
        let points = if op == Op::Write {
            &self.write
        } else {
            &self.read
        };
        let above = points.partition_point(|point| point.distance < distance);
        let Some(right) = points.get(above) else {
            return points[points.len() - 1].time;
        };
        let Some(left) = above.checked_sub(1).map(|below| points[below]) else {
            return right.time;
        };
        let (part, whole) = (distance - left.distance, right.distance - left.distance);
        Time::from_ns(between(left.time.ns(), right.time.ns(), part, whole))
    }

    /// The transfer time of `blocks` blocks.
    pub fn transfer(&self, blocks: u32) -> Time {
        let ns = match self.block_ps.checked_mul(blocks.into()) {
            Some(ps) => ps.div_ceil(PS),
            None => {
                let ps = u128::from(self.block_ps) * u128::from(blocks);
                ps.div_ceil(u128::from(PS)) as u64
            }
        };
        Time::from_ns(ns)
    }

    /// Access and transfer of a request that begins so far from the last one.
    pub fn whole(&self, command: &Command, distance: u64) -> Time {
        self.access(command.op, distance) + self.transfer(command.blocks)
    }
}

/// What lies at `part` of `whole` on the line from `left` to `right`, to the nearest number. In 64 bits where they are enough, as mostly: the
/// division is a shorter one.
fn between(left: u64, right: u64, part: u64, whole: u64) -> u64 {
    let narrow = || {
        let left = left.checked_mul(whole - part)?;
        let sum = left.checked_add(right.checked_mul(part)?)?;
        Some(sum.checked_add(whole / 2)? / whole)
    };
    narrow().unwrap_or_else(|| {
        let (part, whole) = (u128::from(part), u128::from(whole));
        let sum = u128::from(left) * (whole - part) + u128::from(right) * part;
        ((sum + whole / 2) / whole) as u64
    })
}

/// The transfer of a 512-byte block at a rate, in picoseconds; none where there is no rate.
pub fn block_ps(rate: Option<Rate>) -> u64 {
    // The time of a thousand blocks in ns is that of one in ps.
    rate.map_or(0, |rate| rate.time(PS * BLOCK_BYTES).ns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fakes::command;

    #[test]
    fn numbers_of_any_size_are_on_the_line() {
        let huge = u64::MAX / 2;
        for shift in 0..40 {
            let whole = (1 << shift) * 8;
            assert_eq!(between(huge - 80, huge, whole / 4, whole), huge - 60);
            assert_eq!(between(80, 0, whole / 4, whole), 60);
        }
        // Halves go up.
        assert_eq!((between(0, 1, 1, 2), between(0, 1, 1, 3)), (1, 0));
        let times = AccessTimes::level(Time::ZERO, Time::ZERO, u64::MAX / 1_000);
        let blocks = 1_000_000;
        let ps = u128::from(u64::MAX / 1_000) * u128::from(blocks);
        assert_eq!(u128::from(times.transfer(blocks).ns()), ps.div_ceil(1_000));
        assert_eq!(times.transfer(1).ns(), (u64::MAX / 1_000).div_ceil(1_000));
    }

    #[test]
    fn between_points_times_are_on_a_straight_line() {
        let point = |distance, us| Point {
            distance,
            time: Time::from_us(us),
        };
        let times = AccessTimes::new(
            vec![point(0, 10), point(100, 20), point(1_000, 100)],
            vec![point(10, 30)],
            1_500,
        );
        let read = |distance| times.access(Op::Read, distance).ns();
        assert_eq!(read(0), 10_000);
        assert_eq!(read(50), 15_000);
        assert_eq!(read(100), 20_000);
        assert_eq!(read(550), 60_000);
        assert_eq!(read(u64::MAX), 100_000);
        let write = |distance| times.access(Op::Write, distance).ns();
        assert_eq!((write(0), write(10), write(11)), (30_000, 30_000, 30_000));
        assert_eq!(
            times.whole(&command(Op::Write, 7, 4), 9),
            Time::from_ns(30_006)
        );
    }

    #[test]
    fn a_rate_gives_the_time_of_a_block() {
        let rate = "51.2 MB/s".parse().expect("a rate");
        assert_eq!(block_ps(Some(rate)), 10_000_000);
        assert_eq!(block_ps(None), 0);
    }
}

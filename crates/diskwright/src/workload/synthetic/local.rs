//! Locality: each request begins near the one before, now and then somewhere else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::places::Places;
use crate::base::units::percent::Percent;

/// How near, and how often elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LocalParams {
    /// The mean distance from a request's beginning to the next one's.
    pub distance: Size,
    /// How distances are distributed; both directions are as likely.
    pub distances: Distances,
    /// The percentage of requests that go anywhere in the range.
    pub jumps: Percent,
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Requests begin at multiples of this; of their own size when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

/// How distances are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distances {
    /// Exponentially: with both directions, Laplace's distribution.
    #[default]
    Exponential,
    /// Half of a normal distribution: with both directions, the whole.
    Normal,
}

impl Default for LocalParams {
    fn default() -> LocalParams {
        LocalParams {
            distance: Size::from_blocks(2_048),
            distances: Distances::Exponential,
            jumps: Percent::default(),
            from: Lbn(0),
            blocks: None,
            align: None,
        }
    }
}

/// Walks at random. What would leave the range is reflected at its end, so that in the long run every place is as likely as
/// another.
pub struct Local {
    places: Vec<Places>,
    distance: f64,
    distances: Distances,
    jumps: f64,
    /// The previous request's first block; none before the first.
    before: Option<Lbn>,
    stream: Stream,
}

impl Local {
    /// # Errors
    /// A range that is not on the drive or has no aligned place for one of the sizes.
    pub fn new(params: &LocalParams, drive: &Drive<'_>) -> Result<Local, InputError> {
        Ok(Local {
            places: drive.places("local", params.from, params.blocks, params.align)?,
            distance: params.distance.blocks() as f64,
            distances: params.distances,
            jumps: params.jumps.share(),
            before: None,
            stream: drive.stream(),
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let places = self.places[size];
        let lbn = match self.before {
            Some(before) if self.jumps == 0.0 || self.stream.unit() >= self.jumps => {
                let blocks = self.distance * self.relative_distance();
                let upwards = self.stream.bits() >> 63 == 0;
                let steps = libm::round(blocks / places.spacing() as f64) as u64;
                places.at(reflected(
                    places.index_at(before),
                    steps,
                    upwards,
                    places.count,
                ))
            }
            _ => places.at(self.stream.below(places.count)),
        };
        self.before = Some(lbn);
        lbn
    }

    /// A distance whose mean is 1.
    #[inline]
    fn relative_distance(&mut self) -> f64 {
        // 1 − u lies in (0, 1], so the logarithm is finite.
        let exponential = -libm::log(1.0 - self.stream.unit());
        match self.distances {
            Distances::Exponential => exponential,
            Distances::Normal => {
                // Box and Muller, "A note on the generation of random normal deviates", 1958. The mean of |z| is √(2/π).
                let angle = std::f64::consts::TAU * self.stream.unit();
                let z = libm::sqrt(2.0 * exponential) * libm::cos(angle);
                z.abs() * libm::sqrt(std::f64::consts::FRAC_PI_2)
            }
        }
    }
}

/// `steps` from `index` up or down among `count` places between two mirrors.
#[inline]
fn reflected(index: u64, steps: u64, upwards: bool, count: u64) -> u64 {
    // Up and down again is a circle of twice as many places.
    let circle = u128::from(count) * 2;
    let steps = u128::from(steps) % circle;
    let at = if upwards {
        u128::from(index) + steps
    } else {
        u128::from(index) + circle - steps
    } % circle;
    if at < u128::from(count) {
        at as u64
    } else {
        (circle - 1 - at) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_reflect() {
        let to = |index, steps, upwards| reflected(index, steps, upwards, 5);
        assert_eq!(
            [
                to(1, 3, true),
                to(4, 1, true),
                to(4, 3, true),
                to(2, 13, true)
            ],
            [4, 4, 2, 4]
        );
        assert_eq!(
            [to(3, 3, false), to(0, 1, false), to(1, 4, false)],
            [0, 0, 2]
        );
        assert_eq!(
            (
                reflected(0, 7, true, 1),
                reflected(0, u64::MAX, false, u64::MAX)
            ),
            (0, u64::MAX - 1)
        );
    }

    #[test]
    fn distances_have_their_mean_and_spread() {
        // The second moment is 2 of an exponential distance with mean 1, π/2 of a normal one.
        for (distances, second) in [
            (Distances::Exponential, 2.0),
            (Distances::Normal, std::f64::consts::FRAC_PI_2),
        ] {
            let params = LocalParams {
                distance: Size::from_blocks(10_000),
                distances,
                align: Some(Size::from_blocks(1)),
                ..LocalParams::default()
            };
            let mut pattern = Local::new(&params, &Drive::for_test(&[8], 1, 1 << 40)).unwrap();
            let lbns: Vec<_> = (0..100_001).map(|_| pattern.next(0).0).collect();
            let relative = |pair: &[u64]| pair[0].abs_diff(pair[1]) as f64 / 1e4;
            let mean = lbns.windows(2).map(relative).sum::<f64>() / 1e5;
            let squares = lbns.windows(2).map(|p| relative(p).powi(2)).sum::<f64>() / 1e5;
            assert!(
                (mean - 1.0).abs() < 5.0 * ((second - 1.0) / 1e5f64).sqrt(),
                "{mean}"
            );
            assert!((squares / second - 1.0).abs() < 0.04, "{squares}");
            let up = lbns.windows(2).filter(|pair| pair[1] > pair[0]).count();
            assert!(up.abs_diff(50_000) < 5 * 158, "{up}");
        }
    }

    #[test]
    fn every_place_is_as_likely_in_the_long_run() {
        let params = LocalParams {
            distance: Size::from_blocks(160),
            ..LocalParams::default()
        };
        let mut pattern = Local::new(&params, &Drive::for_test(&[8], 7, 808)).unwrap();
        let mut counts = [0u32; 101];
        for _ in 0..1_000_000 {
            counts[pattern.next(0).0 as usize / 8] += 1;
        }
        // Neighbouring draws depend on each other: the bound is that of a tenth as many independent ones.
        let bound = 5.0 * (1e6 / 101.0 * 10.0f64).sqrt();
        assert!(
            counts
                .iter()
                .all(|c| (f64::from(*c) - 1e6 / 101.0).abs() < bound),
            "{counts:?}"
        );
    }

    #[test]
    fn jumps_go_anywhere() {
        let params = LocalParams {
            distance: Size::from_blocks(8),
            jumps: "25 %".parse().unwrap(),
            ..LocalParams::default()
        };
        let mut pattern = Local::new(&params, &Drive::for_test(&[8], 7, 1 << 40)).unwrap();
        let lbns: Vec<_> = (0..40_000).map(|_| pattern.next(0).0).collect();
        // A walk of mean 8 blocks goes no further than 1,000; a jump over 2⁴⁰ blocks almost always does.
        let far = lbns
            .windows(2)
            .filter(|pair| pair[0].abs_diff(pair[1]) > 1_000)
            .count();
        assert!(far.abs_diff(10_000) < 5 * 87, "{far}");
    }
}

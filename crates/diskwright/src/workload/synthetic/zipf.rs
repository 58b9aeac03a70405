//! Zipf's law: the place of rank k, from 1, is as likely as 1/k^theta.
//!
//! Ranks are drawn exactly, without a table, by rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to
//! generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996, section 5.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::permutation::Permutation;
use super::places::Places;

/// How skewed, and over which places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ZipfParams {
    /// The exponent, 0 or more: 0 is uniform, 1 is Zipf's own law.
    pub theta: f64,
    /// Ranks are scattered over the range at random; if not, rank 1 is the lowest place, and so on upwards.
    pub scatter: bool,
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Requests begin at multiples of this; of their own size when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

impl Default for ZipfParams {
    fn default() -> ZipfParams {
        ZipfParams {
            theta: 1.0,
            scatter: true,
            from: Lbn(0),
            blocks: None,
            align: None,
        }
    }
}

/// Draws addresses by Zipf's law.
pub struct Zipf {
    /// For each size its places, and how to draw their ranks.
    sizes: Vec<(Places, Ranks, Option<Permutation>)>,
    stream: Stream,
}

impl Zipf {
    /// # Errors
    /// A theta below 0; a range that is not on the drive or has no aligned place for one of the sizes.
    pub fn new(params: &ZipfParams, drive: &Drive<'_>) -> Result<Zipf, InputError> {
        let theta = params.theta;
        if !(theta.is_finite() && theta >= 0.0) {
            return Err(drive.wrong(
                "zipf",
                format_args!("theta is {theta}: expected a number, 0 or more"),
            ));
        }
        let places = drive.places("zipf", params.from, params.blocks, params.align)?;
        let scatter = params.scatter.then(|| scattering(&places, drive));
        let sizes = places.into_iter().map(|places| {
            let scatter = scatter.map(|all| all.for_up_to(places.count));
            (places, Ranks::new(places.count, theta), scatter)
        });
        Ok(Zipf {
            sizes: sizes.collect(),
            stream: drive.stream(),
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let (places, ranks, scatter) = &self.sizes[size];
        let index = ranks.draw(&mut self.stream) - 1;
        place_of(index, places, scatter.as_ref())
    }

    /// The places for the size of index `size`, from that of rank 1 on.
    pub fn places_by_rank(&self, size: usize) -> impl Iterator<Item = Lbn> + '_ {
        let (places, _, scatter) = &self.sizes[size];
        (0..places.count).map(|index| place_of(index, places, scatter.as_ref()))
    }
}

/// The place of rank `index` + 1.
#[inline]
fn place_of(index: u64, places: &Places, scatter: Option<&Permutation>) -> Lbn {
    places.at(match scatter {
        Some(scatter) => scatter.apply(index, places.count),
        None => index,
    })
}

/// One permutation for the places of all sizes, so that what is popular with one is so with another, as far as they share
/// their places.
pub fn scattering(places: &[Places], drive: &Drive<'_>) -> Permutation {
    let most = places.iter().map(|places| places.count).max().unwrap_or(1);
    Permutation::new(&mut drive.scope.stream("scatter"), most)
}

/// Draws ranks from 1 to n, the rank k with a probability in proportion to 1/k^theta.
///
/// Under the curve h(x) = 1/x^theta a point of the area H from 1.5 − (area of rank 1) to n + 0.5 is drawn, and the nearest
/// whole x taken if the point lies in that rank's bar. H is h's integral from 1.
#[derive(Clone, Copy, Debug)]
pub struct Ranks {
    n: u64,
    theta: f64,
    /// The ends of the area that is drawn from.
    low: f64,
    high: f64,
    /// A rank less than this above x is taken without a look at its bar.
    sure: f64,
}

impl Ranks {
    /// `n` must not be 0, nor `theta` negative.
    pub fn new(n: u64, theta: f64) -> Ranks {
        let mut ranks = Ranks {
            n,
            theta,
            low: 0.0,
            high: 0.0,
            sure: 0.0,
        };
        ranks.low = ranks.area(1.5) - 1.0;
        ranks.high = ranks.area(n as f64 + 0.5);
        ranks.sure = 2.0 - ranks.place_of(ranks.area(2.5) - ranks.height(2.0));
        ranks
    }

    /// Draws a rank.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let area = self.high + stream.unit() * (self.low - self.high);
            let x = self.place_of(area);
            // A float converts to the nearest rank there is, whatever it is.
            let rank = ((x + 0.5) as u64).clamp(1, self.n);
            let k = rank as f64;
            if k - x <= self.sure || area >= self.area(k + 0.5) - self.height(k) {
                return rank;
            }
        }
    }

    /// h(x).
    fn height(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// H(x) = (x^(1 − theta) − 1)/(1 − theta), and ln x where theta is 1.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        log * expm1_over((1.0 - self.theta) * log)
    }

    /// The inverse of H.
    fn place_of(&self, area: f64) -> f64 {
        // Rounding must not lead below the least value that (1 − theta) H has.
        let scaled = ((1.0 - self.theta) * area).max(-1.0);
        libm::exp(area * log1p_over(scaled))
    }
}

/// (e^x − 1)/x, also at 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::expm1(x) / x
    } else {
        1.0 + x / 2.0
    }
}

/// ln(1 + x)/x, also at 0.
fn log1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::log1p(x) / x
    } else {
        1.0 - x / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of `draws` ranks in bins of ranks that expect a hundred draws each at least.
    fn chi_squared(n: u64, theta: f64, draws: u32) -> (f64, usize) {
        let ranks = Ranks::new(n, theta);
        let mut stream = Stream::new(11, "zipf");
        let weight = |k: u64| libm::pow(k as f64, -theta);
        let sum: f64 = (1..=n).map(weight).sum();
        let (mut bin_of, mut expected) = (vec![0; n as usize], vec![0.0]);
        for k in 1..=n {
            if *expected.last().unwrap() >= 100.0 {
                expected.push(0.0);
            }
            bin_of[k as usize - 1] = expected.len() - 1;
            *expected.last_mut().unwrap() += f64::from(draws) * weight(k) / sum;
        }
        let mut counts = vec![0.0; expected.len()];
        for _ in 0..draws {
            counts[bin_of[ranks.draw(&mut stream) as usize - 1]] += 1.0;
        }
        let bins = counts.iter().zip(&expected).filter(|(_, e)| **e >= 20.0);
        let terms: Vec<f64> = bins
            .map(|(c, e): (&f64, &f64)| (c - e).powi(2) / e)
            .collect();
        (terms.iter().sum(), terms.len())
    }

    #[test]
    fn ranks_are_as_frequent_as_the_law_says() {
        for theta in [0.0, 0.2, 0.5, 0.99, 1.0, 1.000_000_001, 1.2, 2.0, 5.0] {
            for n in [1, 2, 3, 10, 1_000_000] {
                // A million powers take their time: the thetas that matter most.
                if n == 1_000_000 && ![0.0, 0.5, 1.0, 1.2, 2.0].contains(&theta) {
                    continue;
                }
                let (chi, bins) = chi_squared(n, theta, 200_000);
                // Of d degrees of freedom, mean d and variance 2d: four standard deviations, and more for few degrees.
                let degrees = (bins - 1) as f64;
                let bound =
                    degrees + 4.0 * (2.0 * degrees).sqrt() + 6.0 * f64::from(u8::from(bins > 1));
                assert!(chi <= bound, "theta {theta}, n {n}: {chi} with {bins} bins");
            }
        }
    }

    #[test]
    fn extremes_stay_in_range() {
        let mut stream = Stream::new(1, "extremes");
        for theta in [0.0, 1e-12, 1.0, 1.0 + 1e-12, 50.0, 1e6, f64::MAX] {
            for n in [1, 2, 1 << 32, 1 << 53, 1 << 63] {
                let ranks = Ranks::new(n, theta);
                for _ in 0..200 {
                    let rank = ranks.draw(&mut stream);
                    assert!((1..=n).contains(&rank), "theta {theta}, n {n}: {rank}");
                    assert!(theta < 40.0 || rank == 1, "theta {theta}, n {n}: {rank}");
                }
            }
        }
    }

    fn drawn(params: &ZipfParams, sizes: &[u32], size: usize, count: usize) -> Vec<u64> {
        let mut pattern = Zipf::new(params, &Drive::for_test(sizes, 3, 100_000)).unwrap();
        (0..count).map(|_| pattern.next(size).0).collect()
    }

    fn most_common(lbns: &[u64]) -> u64 {
        let mut counts = std::collections::BTreeMap::new();
        for lbn in lbns {
            *counts.entry(lbn).or_insert(0) += 1;
        }
        *counts
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .unwrap()
            .0
    }

    #[test]
    fn ranks_go_upwards_or_anywhere() {
        let upwards = ZipfParams {
            scatter: false,
            from: Lbn(800),
            ..ZipfParams::default()
        };
        assert_eq!(most_common(&drawn(&upwards, &[8], 0, 10_000)), 800);
        let scattered = drawn(&ZipfParams::default(), &[8], 0, 10_000);
        assert!(most_common(&scattered) > 8);
        assert!(
            scattered
                .iter()
                .all(|lbn| lbn.is_multiple_of(8) && lbn + 8 <= 100_000)
        );
        // As many different places are seen as without scattering: none falls upon another.
        let distinct = |mut lbns: Vec<u64>| {
            lbns.sort_unstable();
            lbns.dedup();
            lbns.len()
        };
        let whole = ZipfParams {
            scatter: false,
            ..ZipfParams::default()
        };
        assert_eq!(
            distinct(scattered),
            distinct(drawn(&whole, &[8], 0, 10_000))
        );
    }

    #[test]
    fn sizes_that_share_their_places_share_the_popular_ones() {
        let params = ZipfParams {
            align: Some(Size::from_blocks(8)),
            ..ZipfParams::default()
        };
        let small = most_common(&drawn(&params, &[8, 16], 0, 10_000));
        assert_eq!(most_common(&drawn(&params, &[8, 16], 1, 10_000)), small);
    }

    #[test]
    fn a_theta_that_makes_no_sense_names_its_key() {
        for theta in [-0.1, f64::NAN, f64::INFINITY] {
            let params = ZipfParams {
                theta,
                ..ZipfParams::default()
            };
            let error = Zipf::new(&params, &Drive::for_test(&[8], 1, 100))
                .err()
                .unwrap();
            assert!(
                error
                    .message
                    .contains("workload.synthetic.address: zipf.theta"),
                "{error}"
            );
        }
    }
}

//! What fio 3 makes of `random_distribution=zipf:THETA`, as its lib/zipf.c has it: not quite Zipf's law.
//!
//! Ranks come from 32 random bits by the approximation of J. Gray et al., "Quickly generating billion-record synthetic
//! databases", SIGMOD 1994, with a zeta sum of 10 million items at most. They are scattered by a multiplication and a
//! remainder, so that several ranks may fall upon one place and others have none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::places::Places;

/// How skewed, and over which places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FioZipfParams {
    /// The exponent, 0 or more, not 1.
    pub theta: f64,
    /// Where in the range rank 1 is, 0 to 1; drawn when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<f64>,
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Requests begin at multiples of this; of their own size when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

impl Default for FioZipfParams {
    /// fio's theta where none is given (`ZIPF_DEFAULT` in its options.c).
    fn default() -> FioZipfParams {
        FioZipfParams {
            theta: 1.1,
            center: None,
            from: Lbn(0),
            blocks: None,
            align: None,
        }
    }
}

/// Draws addresses as fio does.
pub struct FioZipf {
    sizes: Vec<(Scattered, Ranks)>,
    stream: Stream,
}

impl FioZipf {
    /// # Errors
    /// A theta below 0 or of 1, a centre that is no share; a range that is not on the drive or has no aligned place for one
    /// of the sizes.
    pub fn new(params: &FioZipfParams, drive: &Drive<'_>) -> Result<FioZipf, InputError> {
        let theta = params.theta;
        if !(theta.is_finite() && theta >= 0.0) || theta == 1.0 {
            let error = drive.wrong(
                "fio-zipf",
                format_args!("theta is {theta}: expected a number, 0 or more, not 1"),
            );
            return Err(error.help("{ zipf = { theta = 1.0 } } is exact for every theta"));
        }
        let places = drive.places("fio-zipf", params.from, params.blocks, params.align)?;
        let mut stream = drive.stream();
        let scattered = Scattered::new("fio-zipf", &places, params.center, &mut stream, drive)?;
        let ranks = |scattered: Scattered| (scattered, Ranks::new(scattered.places.count, theta));
        Ok(FioZipf {
            sizes: scattered.into_iter().map(ranks).collect(),
            stream,
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let (scattered, ranks) = &self.sizes[size];
        scattered.at(ranks.of(unit32(&mut self.stream)))
    }
}

/// A number from 0 to 1, both included, of 32 bits: fio's `__rand() / FRAND32_MAX`.
#[inline]
pub fn unit32(stream: &mut Stream) -> f64 {
    (stream.bits() >> 32) as f64 / f64::from(u32::MAX)
}

/// How fio scatters what its distributions draw.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    /// The places of one size.
    pub places: Places,
    /// fio's `rand_off`.
    offset: u64,
}

/// `GR_PRIME_64` of fio's hash.h: 2⁶³ + 2⁶¹ − 2⁵⁷ + 2⁵⁴ − 2⁵¹ − 2¹⁸ + 1.
const GOLDEN_RATIO_PRIME: u64 = 0x9e37_ffff_fffc_0001;

impl Scattered {
    /// For every size; the offset is 32 random bits, or lies at `center` of the range.
    ///
    /// # Errors
    /// A centre that is no share.
    pub fn new(
        pattern: &str,
        places: &[Places],
        center: Option<f64>,
        stream: &mut Stream,
        drive: &Drive<'_>,
    ) -> Result<Vec<Scattered>, InputError> {
        check_center(pattern, center, drive)?;
        let drawn = stream.bits() >> 32;
        let scattered = places.iter().map(|places| Scattered {
            places: *places,
            offset: center.map_or(drawn, |center| (places.count as f64 * center) as u64),
        });
        Ok(scattered.collect())
    }

    /// With this offset.
    pub fn with_offset(places: Places, offset: u64) -> Scattered {
        Scattered { places, offset }
    }

    /// Where what was drawn as `index` lies.
    #[inline]
    pub fn at(&self, index: u64) -> Lbn {
        let hash = index.wrapping_mul(GOLDEN_RATIO_PRIME);
        self.places
            .at(hash.wrapping_add(self.offset) % self.places.count)
    }
}

/// # Errors
/// It is given and not from 0 to 1.
pub fn check_center(
    pattern: &str,
    center: Option<f64>,
    drive: &Drive<'_>,
) -> Result<(), InputError> {
    match center {
        Some(center) if !(0.0..=1.0).contains(&center) => Err(drive.wrong(
            pattern,
            format_args!("center is {center}: expected a number from 0 to 1"),
        )),
        _ => Ok(()),
    }
}

/// Gray's approximation, with the rounding and the limits that fio has.
#[derive(Clone, Copy, Debug)]
struct Ranks {
    n: f64,
    /// Below this u·zeta(n) is rank 1, and below that rank 2.
    zeta_n: f64,
    zeta_2: f64,
    alpha: f64,
    eta: f64,
}

/// fio's `ZIPF_MAX_GEN`.
const SUMMED: u64 = 10_000_000;

impl Ranks {
    fn new(count: u64, theta: f64) -> Ranks {
        let n = count as f64;
        let zeta_n = zeta(count.min(SUMMED), theta);
        let zeta_2 = 1.0 + libm::pow(0.5, theta);
        Ranks {
            n,
            zeta_n,
            zeta_2,
            alpha: 1.0 / (1.0 - theta),
            eta: (1.0 - libm::pow(2.0 / n, 1.0 - theta)) / (1.0 - zeta_2 / zeta_n),
        }
    }

    /// The rank, from 0, that a number from 0 to 1 stands for; with rounding it may be n and more.
    #[inline]
    fn of(&self, drawn: f64) -> u64 {
        let z = drawn * self.zeta_n;
        if z < 1.0 {
            0
        } else if z < self.zeta_2 {
            1
        } else {
            // A float that is too large or no number converts to the nearest whole number there is.
            (self.n * libm::pow(self.eta * drawn - self.eta + 1.0, self.alpha)) as u64
        }
    }
}

/// The sum of 1/k^theta for k from 1 to n: term by term for the first thousand, and the rest by the formula of Euler and
/// Maclaurin, whose error there is below that of a float.
fn zeta(n: u64, theta: f64) -> f64 {
    const HEAD: u64 = 1_000;
    let term = |k: f64| libm::pow(k, -theta);
    let head: f64 = (1..=n.min(HEAD)).rev().map(|k| term(k as f64)).sum();
    if n <= HEAD {
        return head;
    }
    let (a, b) = (HEAD as f64, n as f64);
    let one = 1.0 - theta;
    // The integral from a to b is a^(1 − theta) (r^(1 − theta) − 1)/(1 − theta) with r = b/a.
    let integral = libm::pow(a, one) * libm::expm1(one * libm::log(b / a)) / one;
    let slope = |k: f64| -theta * libm::pow(k, -theta - 1.0);
    head + integral + (term(b) - term(a)) / 2.0 + (slope(b) - slope(a)) / 12.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zeta_sum_is_that_of_its_terms() {
        for theta in [0.0, 0.2, 0.8, 0.999, 1.001, 1.2, 2.5] {
            for n in [1u64, 2, 999, 1_000, 1_001, 50_000, 200_000] {
                let sum: f64 = (1..=n).rev().map(|k| libm::pow(k as f64, -theta)).sum();
                assert!(
                    (zeta(n, theta) / sum - 1.0).abs() < 1e-12,
                    "theta {theta}, n {n}"
                );
            }
        }
    }

    /// The formula as lib/zipf.c writes it, step by step.
    fn as_in_fio(n: u64, theta: f64, rand: u32, rand_off: u64) -> u64 {
        let mut zetan = 0.0;
        for i in 0..n.min(10_000_000) {
            zetan += libm::pow(1.0 / (i + 1) as f64, theta);
        }
        let zeta2 = libm::pow(1.0, theta) + libm::pow(0.5, theta);
        let alpha = 1.0 / (1.0 - theta);
        let eta = (1.0 - libm::pow(2.0 / n as f64, 1.0 - theta)) / (1.0 - zeta2 / zetan);
        let rand_uni = f64::from(rand) / f64::from(u32::MAX);
        let rand_z = rand_uni * zetan;
        let val: u64 = if rand_z < 1.0 {
            1
        } else if rand_z < 1.0 + libm::pow(0.5, theta) {
            2
        } else {
            1u64.wrapping_add((n as f64 * libm::pow(eta * rand_uni - eta + 1.0, alpha)) as u64)
        };
        val.wrapping_sub(1)
            .wrapping_mul(0x9e37_ffff_fffc_0001)
            .wrapping_add(rand_off)
            % n
    }

    #[test]
    fn the_places_are_those_of_fio() {
        let mut stream = Stream::new(4, "fio");
        for theta in [0.3, 0.9, 1.1, 1.2, 2.0] {
            for n in [1u64, 2, 3, 100, 12_345] {
                let places = Places::new(0, n, 1, 1).unwrap();
                let ranks = Ranks::new(n, theta);
                for _ in 0..300 {
                    let (rand, offset) = ((stream.bits() >> 32) as u32, stream.bits() >> 32);
                    let scattered = Scattered::with_offset(places, offset);
                    let lbn = scattered.at(ranks.of(f64::from(rand) / f64::from(u32::MAX)));
                    assert_eq!(
                        lbn.0,
                        as_in_fio(n, theta, rand, offset),
                        "theta {theta}, n {n}, {rand}"
                    );
                }
                for rand in [0, u32::MAX] {
                    let lbn = Scattered::with_offset(places, 7)
                        .at(ranks.of(f64::from(rand) / f64::from(u32::MAX)));
                    assert!(lbn.0 < n);
                }
            }
        }
    }

    #[test]
    fn the_first_rank_is_as_frequent_as_its_share_of_zeta() {
        let params = FioZipfParams {
            theta: 1.2,
            center: Some(0.25),
            ..FioZipfParams::default()
        };
        let sizes = [8];
        let mut pattern = FioZipf::new(&params, &Drive::for_test(&sizes, 1, 80_000)).unwrap();
        let hits = (0..100_000)
            .filter(|_| pattern.next(0) == Lbn(2_500 * 8))
            .count();
        let share = 1.0 / zeta(10_000, 1.2);
        let error = (share * (1.0 - share) / 1e5).sqrt();
        assert!((hits as f64 / 1e5 - share).abs() < 5.0 * error, "{hits}");
    }

    #[test]
    fn parameters_that_make_no_sense_name_their_key() {
        for (theta, center, key) in [
            (1.0, None, "fio-zipf.theta"),
            (-1.0, None, "fio-zipf.theta"),
            (f64::NAN, None, "fio-zipf.theta"),
            (1.2, Some(1.1), "fio-zipf.center"),
        ] {
            let params = FioZipfParams {
                theta,
                center,
                ..FioZipfParams::default()
            };
            let error = FioZipf::new(&params, &Drive::for_test(&[8], 1, 100))
                .err()
                .unwrap();
            assert!(error.message.contains(key), "{error}");
        }
    }
}

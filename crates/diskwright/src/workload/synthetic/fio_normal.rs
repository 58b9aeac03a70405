//! What fio 3 makes of `random_distribution=normal:DEVIATION` (lib/gauss.c): the mean of twelve uniform numbers, moved
//! uniformly by up to half the deviation, scattered as in `fio_zipf`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::fio_zipf::{Scattered, check_center};

/// How wide, and over which places.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FioNormalParams {
    /// A percentage of the range, 0 to below 100.
    pub deviation: f64,
    /// Where in the range the most likely place is before it is scattered, 0 to 1; 0.5 when not given.
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

/// Draws addresses as fio does.
pub struct FioNormal {
    /// For each size its places, and the deviation in places.
    sizes: Vec<(Scattered, u64)>,
    stream: Stream,
}

/// fio's `GAUSS_ITERS`.
const SUMMED: u64 = 12;

impl FioNormal {
    /// # Errors
    /// A deviation that is no percentage below 100, a centre that is no share; a range that is not on the drive or has no
    /// aligned place for one of the sizes.
    pub fn new(params: &FioNormalParams, drive: &Drive<'_>) -> Result<FioNormal, InputError> {
        let percent = params.deviation;
        if !(0.0..100.0).contains(&percent) {
            let what =
                format_args!("deviation is {percent}: expected a number from 0 to below 100");
            return Err(drive.wrong("fio-normal", what));
        }
        check_center("fio-normal", params.center, drive)?;
        let places = drive.places("fio-normal", params.from, params.blocks, params.align)?;
        let sizes = places.into_iter().map(|places| {
            let n = places.count as f64;
            let deviation = (libm::ceil(n * percent / 100.0) as u64).min(places.count / 2);
            // fio keeps the offset in 32 bits without a sign.
            let offset = params
                .center
                .map_or(0, |center| (n * (center - 0.5)) as i64 as u32);
            (Scattered::with_offset(places, u64::from(offset)), deviation)
        });
        Ok(FioNormal {
            sizes: sizes.collect(),
            stream: drive.stream(),
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let (scattered, deviation) = self.sizes[size];
        let n = scattered.places.count;
        let mut sum = 0u64;
        for _ in 0..SUMMED {
            // Twelve numbers of 32 bits each.
            sum += (self.stream.bits() >> 32) % (n.saturating_add(1));
        }
        let mean = sum.div_ceil(SUMMED);
        scattered.at(moved(mean, deviation, n, &mut self.stream))
    }
}

/// `mean` and up to half the deviation more or less; the way is halved until it ends within the `n` places.
#[inline]
fn moved(mean: u64, deviation: u64, n: u64, stream: &mut Stream) -> u64 {
    if deviation == 0 {
        return mean;
    }
    let part = (stream.bits() >> 32) as f64 / (f64::from(u32::MAX) + 1.0);
    let drawn = (deviation as f64 * part) as i64;
    let mut way = drawn - (deviation / 2) as i64;
    // fio does not end where all twelve numbers are the largest; here the remainder in the scattering takes care.
    while way != 0 && mean.checked_add_signed(way).is_none_or(|at| at >= n) {
        way /= 2;
    }
    mean.saturating_add_signed(way)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of the indices before they are scattered.
    fn moments(deviation: f64) -> (f64, f64) {
        let n = 1u64 << 16;
        let params = FioNormalParams {
            deviation,
            ..FioNormalParams::default()
        };
        let mut pattern = FioNormal::new(&params, &Drive::for_test(&[1], 2, n)).unwrap();
        let index: std::collections::HashMap<u64, u64> = (0..n)
            .map(|i| (i.wrapping_mul(0x9e37_ffff_fffc_0001) % n, i))
            .collect();
        let drawn: Vec<f64> = (0..50_000)
            .map(|_| index[&pattern.next(0).0] as f64 / n as f64)
            .collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_sum() {
        // The mean of twelve uniform numbers deviates by 1/12 of the range, a uniform number of width w by w/√12 more.
        for (deviation, expected) in [
            (0.0, 1.0 / 12.0),
            (20.0, (1.0 / 144.0 + 0.04 / 12.0f64).sqrt()),
        ] {
            let (mean, found) = moments(deviation);
            // Standard errors: σ/√N of the mean, about σ/√(2N) of the deviation.
            assert!(
                (mean - 0.5).abs() < 5.0 * expected / 50_000f64.sqrt(),
                "{mean}"
            );
            assert!(
                (found - expected).abs() < 5.0 * expected / 100_000f64.sqrt(),
                "{found}, not {expected}"
            );
        }
    }

    #[test]
    fn the_smallest_ranges_end_too() {
        for blocks in 1..6 {
            for deviation in [0.0, 50.0, 99.0] {
                let params = FioNormalParams {
                    deviation,
                    center: Some(0.1),
                    ..FioNormalParams::default()
                };
                let mut pattern =
                    FioNormal::new(&params, &Drive::for_test(&[1], 2, blocks)).unwrap();
                assert!((0..2_000).all(|_| pattern.next(0).0 < blocks));
            }
        }
    }

    #[test]
    fn parameters_that_make_no_sense_name_their_key() {
        for (deviation, center, key) in [
            (100.0, None, "fio-normal.deviation"),
            (f64::NAN, None, "fio-normal.deviation"),
            (1.0, Some(2.0), "fio-normal.center"),
        ] {
            let params = FioNormalParams {
                deviation,
                center,
                ..FioNormalParams::default()
            };
            let error = FioNormal::new(&params, &Drive::for_test(&[8], 1, 100))
                .err()
                .unwrap();
            assert!(error.message.contains(key), "{error}");
        }
    }
}

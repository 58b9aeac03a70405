//! What fio 3 makes of `random_distribution=pareto:H` (lib/zipf.c): the place of index (n − 1) u^(ln h / ln(1 − h)),
//! scattered as in `fio_zipf`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::fio_zipf::{Scattered, unit32};

/// How skewed, and over which places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FioParetoParams {
    /// Between 0 and 1: the part h of the places gets the part 1 − h of the requests.
    pub h: f64,
    /// Where in the range the most likely place is, 0 to 1; drawn when not given.
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

impl Default for FioParetoParams {
    /// fio's power where none is given (`PARETO_DEFAULT` in its options.c).
    fn default() -> FioParetoParams {
        FioParetoParams {
            h: 0.2,
            center: None,
            from: Lbn(0),
            blocks: None,
            align: None,
        }
    }
}

/// Draws addresses as fio does.
pub struct FioPareto {
    sizes: Vec<Scattered>,
    power: f64,
    stream: Stream,
}

impl FioPareto {
    /// # Errors
    /// An h that is not between 0 and 1, a centre that is no share; a range that is not on the drive or has no aligned place
    /// for one of the sizes.
    pub fn new(params: &FioParetoParams, drive: &Drive<'_>) -> Result<FioPareto, InputError> {
        let h = params.h;
        if !(h > 0.0 && h < 1.0) {
            return Err(drive.wrong(
                "fio-pareto",
                format_args!("h is {h}: expected a number between 0 and 1"),
            ));
        }
        let places = drive.places("fio-pareto", params.from, params.blocks, params.align)?;
        let mut stream = drive.stream();
        Ok(FioPareto {
            sizes: Scattered::new("fio-pareto", &places, params.center, &mut stream, drive)?,
            power: libm::log(h) / libm::log(1.0 - h),
            stream,
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let scattered = &self.sizes[size];
        let last = (scattered.places.count - 1) as f64;
        scattered.at((last * libm::pow(unit32(&mut self.stream), self.power)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_the_places_gets_four_fifths_of_the_requests() {
        for h in [0.1, 0.2, 0.5, 0.9] {
            let params = FioParetoParams {
                h,
                center: Some(0.0),
                ..FioParetoParams::default()
            };
            // 2^k places and an odd multiplier: the scattering is a permutation, which is undone here.
            let n = 1u64 << 16;
            let mut pattern = FioPareto::new(&params, &Drive::for_test(&[1], 1, n)).unwrap();
            let index: std::collections::HashMap<u64, u64> = (0..n)
                .map(|i| (i.wrapping_mul(0x9e37_ffff_fffc_0001) % n, i))
                .collect();
            let few = (0..100_000)
                .filter(|_| (index[&pattern.next(0).0] as f64) < h * n as f64)
                .count();
            let error = (h * (1.0 - h) / 1e5).sqrt();
            assert!(
                (few as f64 / 1e5 - (1.0 - h)).abs() < 5.0 * error,
                "{h}: {few}"
            );
        }
    }

    #[test]
    fn parameters_that_make_no_sense_name_their_key() {
        for (h, center, key) in [
            (0.0, None, "fio-pareto.h"),
            (1.0, None, "fio-pareto.h"),
            (f64::NAN, None, "fio-pareto.h"),
            (0.2, Some(-0.1), "fio-pareto.center"),
        ] {
            let params = FioParetoParams {
                h,
                center,
                ..FioParetoParams::default()
            };
            let error = FioPareto::new(&params, &Drive::for_test(&[8], 1, 100))
                .err()
                .unwrap();
            assert!(error.message.contains(key), "{error}");
        }
    }
}

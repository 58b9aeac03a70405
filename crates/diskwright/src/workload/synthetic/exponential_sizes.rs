//! Sizes that are exponentially distributed and rounded up to a multiple.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::units::Size;

/// Sizes drawn from an exponential distribution, each rounded up to a multiple.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSizes {
    /// The mean before rounding.
    pub exponential: Size,
    /// What sizes are multiples of.
    #[serde(default = "ExponentialSizes::one_block")]
    pub multiple: Size,
    /// The largest size, a multiple; larger ones become this. Without it the largest is 37 times the mean, which one size in 10^16 exceeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<Size>,
}

/// No stream draws more than this factor times the mean: a draw has 53 bits, and 53 ln 2 is 36.7.
const LONGEST: f64 = 37.0;
/// More sizes than these would take memory for nothing.
const MOST_SIZES: u64 = 10_000;

impl ExponentialSizes {
    /// The multiple when none is given.
    pub fn one_block() -> Size {
        Size::from_blocks(1)
    }

    /// All sizes in blocks, and for each but the last one the share of those up to and with it.
    ///
    /// # Errors
    /// What is wrong, behind the name of the key: `.multiple is 0 blocks`.
    pub fn table(&self) -> Result<(Vec<u64>, Vec<f64>), String> {
        let multiple = self.multiple.blocks();
        for (key, size) in [
            ("exponential", self.exponential),
            ("multiple", self.multiple),
        ] {
            if size.blocks() == 0 {
                return Err(format!(".{key} is {size}: expected 1 block or more"));
            }
        }
        let mean = self.exponential.blocks() as f64 / multiple as f64;
        let count = match self.most {
            None => (LONGEST * mean).ceil() as u64,
            Some(most) if most.blocks() == 0 || !most.blocks().is_multiple_of(multiple) => {
                return Err(format!(
                    ".most is {most}: expected a multiple of {}",
                    self.multiple
                ));
            }
            Some(most) => most.blocks() / multiple,
        };
        if count > MOST_SIZES {
            return Err(format!(
                ": {count} different sizes: expected at most {MOST_SIZES}, by a larger multiple or a smaller most"
            ));
        }
        let blocks = (1..=count).map(|multiples| multiples.saturating_mul(multiple));
        let below = (1..count).map(|multiples| 1.0 - libm::exp(-(multiples as f64) / mean));
        Ok((blocks.collect(), below.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(exponential: u64, multiple: u64, most: Option<u64>) -> ExponentialSizes {
        ExponentialSizes {
            exponential: Size::from_blocks(exponential),
            multiple: Size::from_blocks(multiple),
            most: most.map(Size::from_blocks),
        }
    }

    #[test]
    fn the_mean_of_rounded_sizes_is_that_of_a_geometric_distribution() {
        // Of an exponential number rounded up with mean m in multiples it is 1/(1 − e^(−1/m)).
        for (exponential, multiple) in [(8, 8), (100, 8), (3, 16)] {
            let (blocks, below) = sizes(exponential, multiple, None).table().unwrap();
            let upper = below.iter().copied().chain([1.0]);
            let lower = [0.0].into_iter().chain(below.iter().copied());
            let mean: f64 = blocks
                .iter()
                .zip(upper.zip(lower))
                .map(|(blocks, (upper, lower))| *blocks as f64 * (upper - lower))
                .sum();
            let m = exponential as f64 / multiple as f64;
            let expected = multiple as f64 / (1.0 - libm::exp(-1.0 / m));
            assert!(
                (mean / expected - 1.0).abs() < 1e-9,
                "{mean} for {expected}"
            );
        }
    }

    #[test]
    fn the_largest_size_is_the_one_that_is_given() {
        let (blocks, below) = sizes(8, 8, Some(24)).table().unwrap();
        assert_eq!(blocks, [8, 16, 24]);
        assert_eq!(below.len(), 2);
        assert_eq!(sizes(8, 8, None).table().unwrap().0.len(), 37);
    }

    #[test]
    fn sizes_that_make_no_sense_name_their_key() {
        for (sizes, words) in [
            (sizes(0, 8, None), ".exponential is"),
            (sizes(8, 0, None), ".multiple is"),
            (sizes(8, 8, Some(20)), ".most is"),
            (sizes(8, 8, Some(0)), ".most is"),
            (sizes(10_000, 1, None), "370000 different sizes"),
        ] {
            let error = sizes.table().unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}

//! Programs and erases that fail, and how often by the wear of their block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::base::error::InputError;
use crate::base::units::percent::Percent;

/// Programs and erases that fail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FailuresDescription {
    /// Of programs, those of cleaning among them; none fails where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<FailureRate>,
    /// Of erases; none fails where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erase: Option<FailureRate>,
    /// Blocks of each plane that are left to cleaning for when others fail.
    pub reserve: u32,
}

impl Default for FailuresDescription {
    fn default() -> FailuresDescription {
        FailuresDescription {
            program: None,
            erase: None,
            reserve: 1,
        }
    }
}

/// How probable the failure of an operation is: it changes in a straight line with the erases of the block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureRate {
    /// In a block that was never erased.
    #[serde(default)]
    pub new: Percent,
    /// In a block that has been erased `erases` times or oftener.
    pub worn: Percent,
    /// The number of erases after which the probability stays as it is.
    #[schemars(range(min = 1))]
    pub erases: u32,
}

impl FailureRate {
    /// The probability in a block that has been erased so often.
    pub fn probability(&self, erases: u32) -> f64 {
        let (new, worn) = (self.new.share(), self.worn.share());
        let way = f64::from(erases.min(self.erases)) / f64::from(self.erases);
        new + (worn - new) * way
    }
}

/// Which operations fail: each by a number of its own, whatever happens before it.
#[derive(Clone, Copy, Debug)]
pub struct Failures {
    description: FailuresDescription,
    key: u64,
}

impl FailuresDescription {
    /// The failures of a drive, drawn with a key, in planes of `blocks` blocks.
    ///
    /// # Errors
    /// A probability that is reached after no erases, a reserve of more blocks than there are.
    pub fn build(&self, blocks: u32, key: u64) -> Result<Failures, InputError> {
        let rates = [self.program, self.erase];
        if rates.into_iter().flatten().any(|rate| rate.erases == 0) {
            let error = InputError::new("a probability of failures after 0 erases");
            return Err(error.help("erases: 1 or more; the same new and worn for one that stays"));
        }
        if self.reserve >= blocks {
            let error = InputError::new(format!("a reserve of {} blocks of a plane", self.reserve));
            return Err(error.help(format!("accepted: less than its {blocks} blocks")));
        }
        Ok(Failures {
            description: *self,
            key,
        })
    }
}

impl Failures {
    /// Whether the program of a page of a block fails that has been erased so often.
    #[inline]
    pub fn program_fails(&self, block: u32, erases: u32, page: u32) -> bool {
        let rate = self.description.program;
        rate.is_some_and(|rate| self.draw(block, erases, page) < rate.probability(erases))
    }

    /// Whether the next erase of a block fails that has been erased so often.
    #[inline]
    pub fn erase_fails(&self, block: u32, erases: u32) -> bool {
        let rate = self.description.erase;
        rate.is_some_and(|rate| self.draw(block, erases, u32::MAX) < rate.probability(erases))
    }

    /// Uniform in [0, 1): the hash of a block, its erases and a page, 64 bits of which the upper 53 count.
    fn draw(&self, block: u32, erases: u32, page: u32) -> f64 {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&block.to_le_bytes());
        bytes[4..8].copy_from_slice(&erases.to_le_bytes());
        bytes[8..].copy_from_slice(&page.to_le_bytes());
        let bits = xxh3_64_with_seed(&bytes, self.key);
        (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(value: f64) -> Percent {
        Percent::new(value).expect("a percentage")
    }

    fn failures(new: f64, worn: f64, erases: u32) -> Failures {
        let rate = FailureRate {
            new: percent(new),
            worn: percent(worn),
            erases,
        };
        let description = FailuresDescription {
            program: Some(rate),
            erase: Some(rate),
            reserve: 1,
        };
        description.build(64, 7).expect("sound")
    }

    #[test]
    fn the_probability_goes_in_a_straight_line_and_stays() {
        let rate = FailureRate {
            new: percent(1.0),
            worn: percent(5.0),
            erases: 8,
        };
        let expected = [
            (0, 0.01),
            (1, 0.015),
            (4, 0.03),
            (7, 0.045),
            (8, 0.05),
            (9, 0.05),
        ];
        for (erases, probability) in expected {
            let found = rate.probability(erases);
            assert!((found - probability).abs() < 1e-12, "{erases}: {found}");
        }
    }

    /// Of 40,000 operations the failures lie within four standard deviations of what is expected, at any wear.
    #[test]
    fn as_many_fail_as_are_to() {
        let failures = failures(2.0, 20.0, 10);
        for (erases, probability) in [(0, 0.02), (5, 0.11), (10, 0.2), (30, 0.2)] {
            let all = (0..200).flat_map(|block| (0..200).map(move |page| (block, page)));
            let programs = all.filter(|&(block, page)| failures.program_fails(block, erases, page));
            let erased = (0..40_000).filter(|&block| failures.erase_fails(block, erases));
            let mean = 40_000.0 * probability;
            let most = 4.0 * libm::sqrt(mean * (1.0 - probability));
            for found in [programs.count(), erased.count()] {
                assert!((found as f64 - mean).abs() < most, "{found} of {mean}");
            }
        }
    }

    #[test]
    fn none_and_all_fail_at_the_ends() {
        let (none, all) = (failures(0.0, 0.0, 1), failures(100.0, 100.0, 1));
        for number in 0..2000 {
            assert!(!none.program_fails(number, 3, 1) && !none.erase_fails(number, 3));
            assert!(all.program_fails(number, 3, 1) && all.erase_fails(number, 3));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let rate = |erases| FailureRate {
            new: percent(0.0),
            worn: percent(1.0),
            erases,
        };
        let with = |erases, reserve| FailuresDescription {
            program: None,
            erase: Some(rate(erases)),
            reserve,
        };
        assert!(with(1, 7).build(8, 0).is_ok());
        let refused = with(0, 1).build(8, 0).expect_err("no erases");
        assert!(refused.to_string().contains("after 0 erases"), "{refused}");
        let refused = with(1, 8).build(8, 0).expect_err("all blocks");
        assert!(
            refused.to_string().contains("a reserve of 8 blocks"),
            "{refused}"
        );
    }
}

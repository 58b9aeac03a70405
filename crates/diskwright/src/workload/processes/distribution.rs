//! The distributions that a generator's gaps, limits, distances and sizes are drawn from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::random::Random48;
use crate::base::units::Share;

/// A distribution of numbers: of milliseconds, or of blocks.
///
/// How each is drawn, and from how many random numbers, is that of DiskSim 4.0: the same generator gives the same stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DistributionSpec {
    /// Every number of a range alike.
    Uniform(UniformDistribution),
    /// The normal distribution.
    Normal(NormalDistribution),
    /// A number, and an exponentially distributed one.
    Exponential(ExponentialDistribution),
    /// A number, and the number of events in a Poisson process.
    Poisson(PoissonDistribution),
    /// One of two numbers.
    TwoValue(TwoValueDistribution),
}

/// Every number of a range alike: one random number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformDistribution {
    /// The least.
    pub min: f64,
    /// The end of the range, which is not drawn itself.
    pub max: f64,
}

/// The normal distribution, by von Neumann's comparison of two exponential numbers: three random numbers or more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NormalDistribution {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

/// `base`, and an exponentially distributed number: one random number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialDistribution {
    /// What is added to each.
    #[serde(default)]
    pub base: f64,
    /// The mean, without `base`.
    pub mean: f64,
}

/// `base`, and the number of events in a Poisson process: one random number for each event, and one more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonDistribution {
    /// What is added to each.
    #[serde(default)]
    pub base: f64,
    /// The mean, without `base`: at most 700.
    pub mean: f64,
}

/// One of two numbers: one random number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoValueDistribution {
    /// The usual number.
    pub usual: f64,
    /// The other one.
    pub other: f64,
    /// The share of the other one.
    pub share: Share,
}

/// The largest mean of a Poisson distribution: e to the power of minus this is still a number with all its digits.
const MOST_EVENTS: f64 = 700.0;

impl DistributionSpec {
    /// What is wrong with its numbers, and what is accepted; the name of the number first.
    ///
    /// # Errors
    /// A number that is not finite, a range whose end is before its begin, a negative deviation or mean.
    pub fn check(&self) -> Result<(), String> {
        let finite = |name: &str, value: f64| match value.is_finite() {
            true => Ok(()),
            false => Err(format!("{name} is {value}: expected a finite number")),
        };
        let mean = |value: f64| {
            finite("mean", value)?;
            match value >= 0.0 {
                true => Ok(()),
                false => Err(format!("mean is {value}: expected 0 or more")),
            }
        };
        match self {
            DistributionSpec::Uniform(of) => {
                finite("min", of.min)?;
                finite("max", of.max)?;
                if of.max < of.min {
                    let (min, max) = (of.min, of.max);
                    return Err(format!("max is {max}: expected {min} (min) or more"));
                }
                Ok(())
            }
            DistributionSpec::Normal(of) => {
                finite("mean", of.mean)?;
                finite("deviation", of.deviation)?;
                if of.deviation < 0.0 {
                    let found = of.deviation;
                    return Err(format!("deviation is {found}: expected 0 or more"));
                }
                Ok(())
            }
            DistributionSpec::Exponential(of) => {
                finite("base", of.base)?;
                mean(of.mean)
            }
            DistributionSpec::Poisson(of) => {
                finite("base", of.base)?;
                mean(of.mean)?;
                if of.mean > MOST_EVENTS {
                    let found = of.mean;
                    return Err(format!("mean is {found}: expected at most {MOST_EVENTS}"));
                }
                Ok(())
            }
            DistributionSpec::TwoValue(of) => {
                finite("usual", of.usual)?;
                finite("other", of.other)
            }
        }
    }

    /// Draws a number.
    pub fn draw(&self, random: &mut Random48) -> f64 {
        match self {
            DistributionSpec::Uniform(of) => of.min + (of.max - of.min) * random.uniform(),
            DistributionSpec::Normal(of) => of.deviation * standard_normal(random) + of.mean,
            DistributionSpec::Exponential(of) => of.base + of.mean * exponential(random),
            DistributionSpec::Poisson(of) => of.base + events(of.mean, random),
            DistributionSpec::TwoValue(of) => match random.uniform() < of.share.value() {
                true => of.other,
                false => of.usual,
            },
        }
    }
}

/// An exponentially distributed number of mean 1.
fn exponential(random: &mut Random48) -> f64 {
    -libm::log(1.0 - random.uniform())
}

/// A normally distributed number of mean 0 and deviation 1.
fn standard_normal(random: &mut Random48) -> f64 {
    loop {
        let second = exponential(random);
        let first = exponential(random);
        let distance = first - 1.0;
        if second - distance * distance / 2.0 > 0.0 {
            return match random.uniform() < 0.5 {
                true => -first,
                false => first,
            };
        }
    }
}

/// The number of events in a Poisson process with this mean.
fn events(mean: f64, random: &mut Random48) -> f64 {
    let least = libm::exp(-mean);
    let (mut product, mut events) = (1.0, -1.0);
    loop {
        product *= random.uniform();
        events += 1.0;
        if product < least {
            return events;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> DistributionSpec {
        #[derive(Deserialize)]
        struct Table {
            of: DistributionSpec,
        }
        let table: Table = toml::from_str(&format!("of = {text}")).expect(text);
        table.of
    }

    /// Mean and variance of many draws.
    fn moments(text: &str) -> (f64, f64) {
        const DRAWS: u32 = 200_000;
        let (of, mut random) = (read(text), Random48::new(7));
        of.check().expect(text);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..DRAWS {
            let drawn = of.draw(&mut random);
            sum += drawn;
            squares += drawn * drawn;
        }
        let mean = sum / f64::from(DRAWS);
        (mean, squares / f64::from(DRAWS) - mean * mean)
    }

    #[test]
    fn each_has_its_mean_and_variance() {
        for (text, mean, variance) in [
            ("{ uniform = { min = -2.0, max = 10.0 } }", 4.0, 12.0),
            (
                "{ normal = { mean = 30.0, deviation = 10.0 } }",
                30.0,
                100.0,
            ),
            ("{ exponential = { base = 5.0, mean = 8.0 } }", 13.0, 64.0),
            ("{ exponential = { mean = 0.0 } }", 0.0, 0.0),
            ("{ poisson = { base = 1.0, mean = 6.0 } }", 7.0, 6.0),
            ("{ poisson = { mean = 0.0 } }", 0.0, 0.0),
            // 2 + 0.25 · 8, and 0.25 · 0.75 · 8².
            (
                "{ two-value = { usual = 2.0, other = 10.0, share = 0.25 } }",
                4.0,
                12.0,
            ),
        ] {
            let found = moments(text);
            assert!((found.0 - mean).abs() <= 0.02 * mean, "{text}: {found:?}");
            let off = (found.1 - variance).abs();
            assert!(off <= 0.02 * variance, "{text}: {found:?}");
        }
    }

    #[test]
    fn each_takes_its_random_numbers_even_where_they_decide_nothing() {
        let taken = |text: &str| {
            let (mut random, mut other) = (Random48::new(1), Random48::new(1));
            read(text).draw(&mut random);
            (0..20).find(|_| {
                let is_there = random == other;
                other.uniform();
                is_there
            })
        };
        for text in [
            "{ uniform = { min = 3.0, max = 3.0 } }",
            "{ exponential = { mean = 0.0 } }",
            "{ poisson = { mean = 0.0 } }",
            "{ two-value = { usual = 1.0, other = 1.0, share = 0.0 } }",
        ] {
            assert_eq!(taken(text), Some(1), "{text}");
        }
        // Two for each try, and one for the sign.
        let of_normal = taken("{ normal = { mean = 0.0, deviation = 0.0 } }");
        assert_eq!(of_normal.map(|taken| taken % 2), Some(1));
    }

    #[test]
    fn the_shares_of_two_values_have_ends() {
        let drawn = |share: &str| {
            let text = format!("{{ two-value = {{ usual = 1.0, other = 2.0, share = {share} }} }}");
            let (of, mut random) = (read(&text), Random48::new(1));
            let drawn: Vec<f64> = (0..100).map(|_| of.draw(&mut random)).collect();
            drawn
        };
        assert_eq!(drawn("0.0"), vec![1.0; 100]);
        assert_eq!(drawn("1.0"), vec![2.0; 100]);
    }

    #[test]
    fn numbers_without_sense_are_told() {
        for (text, told) in [
            (
                "{ uniform = { min = 1.0, max = 0.5 } }",
                "max is 0.5: expected 1 (min)",
            ),
            ("{ uniform = { min = nan, max = 0.5 } }", "min is NaN"),
            (
                "{ normal = { mean = 0.0, deviation = -1.0 } }",
                "deviation is -1",
            ),
            (
                "{ normal = { mean = inf, deviation = 1.0 } }",
                "mean is inf",
            ),
            ("{ exponential = { mean = -0.5 } }", "mean is -0.5"),
            ("{ poisson = { mean = 700.5 } }", "at most 700"),
            (
                "{ two-value = { usual = 0.0, other = inf, share = 0.0 } }",
                "other is inf",
            ),
        ] {
            let error = read(text).check().expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
        for text in [
            "{ uniform = { min = 1.0, max = 1.0 } }",
            "{ normal = { mean = -5.0, deviation = 0.0 } }",
            "{ poisson = { mean = 700.0 } }",
        ] {
            read(text).check().expect(text);
        }
    }
}

//! What a synthetic clone is made with, besides its file; and what of that a table of counts leaves open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::{Size, Time};

/// What a synthetic clone is made with, besides its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SyntheticCloneOptions {
    /// The seed; 1 when not given.
    pub seed: Option<u64>,
    /// Parameters over those of the file, which must be a table of counts.
    pub parameters: Parameters,
}

/// What a table of counts leaves open: in the file's `[parameters]`, and over these in a spec. What is not given has a
/// default that favours nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SyntheticCloneParameters")]
pub struct Parameters {
    /// The sizes that requests have, in blocks, ascending: 8, 16, 64, 128 and 256 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<u32>>,
    /// How common each size is before the shares are fitted to the means of the table; all alike when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// The share of small requests, 0 to 1; what the weights and the means give when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_share: Option<f64>,
    /// The largest size that counts as small: 16 blocks when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small: Option<Size>,
    /// The share of reads among the random requests, 0 to 1; that among all requests when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_read_share: Option<f64>,
    /// The mean number of requests in a sequential run of two or more; as if each request were sequential by chance when not
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_requests: Option<f64>,
    /// The exponent of Zipf's law by which runs are referenced again, by their depth in the LRU stack, 0 or more: 1 when not
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// The range of addresses; twice the working set when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Size>,
    /// The mean gap between arrivals: 50 ms when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_gap: Option<Time>,
    /// The mean number of requests in a burst, 1 or more: 10 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_requests: Option<f64>,
    /// The mean gap between the arrivals of a burst: 1 ms when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_gap: Option<Time>,
}

/// The parameters with their defaults in place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// Sizes in blocks, ascending.
    pub modes: Vec<u32>,
    /// One for each mode.
    pub weights: Vec<f64>,
    /// The share of small requests, where it is given.
    pub small_share: Option<f64>,
    /// The largest small size, in blocks.
    pub small_blocks: u64,
    /// The share of reads among random requests, where it is given.
    pub random_read_share: Option<f64>,
    /// The mean of runs of two or more, where it is given.
    pub run_requests: Option<f64>,
    /// Zipf's exponent.
    pub theta: f64,
    /// The range of addresses in blocks, where it is given.
    pub span_blocks: Option<u64>,
    /// The mean gap.
    pub mean_gap: Time,
    /// Requests in a burst.
    pub burst_requests: f64,
    /// The mean gap in a burst.
    pub burst_gap: Time,
}

/// The sizes of requests, when not given.
const MODES: [u32; 5] = [8, 16, 64, 128, 256];

impl Parameters {
    /// These, and where they say nothing, `under`.
    #[must_use]
    pub fn over(&self, under: &Parameters) -> Parameters {
        let (top, under) = (self.clone(), under.clone());
        Parameters {
            modes: top.modes.or(under.modes),
            weights: top.weights.or(under.weights),
            small_share: top.small_share.or(under.small_share),
            small: top.small.or(under.small),
            random_read_share: top.random_read_share.or(under.random_read_share),
            run_requests: top.run_requests.or(under.run_requests),
            theta: top.theta.or(under.theta),
            span: top.span.or(under.span),
            mean_gap: top.mean_gap.or(under.mean_gap),
            burst_requests: top.burst_requests.or(under.burst_requests),
            burst_gap: top.burst_gap.or(under.burst_gap),
        }
    }

    /// The first parameter that is given, by name.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("modes", self.modes.is_some()),
            ("weights", self.weights.is_some()),
            ("small_share", self.small_share.is_some()),
            ("small", self.small.is_some()),
            ("random_read_share", self.random_read_share.is_some()),
            ("run_requests", self.run_requests.is_some()),
            ("theta", self.theta.is_some()),
            ("span", self.span.is_some()),
            ("mean_gap", self.mean_gap.is_some()),
            ("burst_requests", self.burst_requests.is_some()),
            ("burst_gap", self.burst_gap.is_some()),
        ];
        given.into_iter().find(|(_, is)| *is).map(|(name, _)| name)
    }

    /// With the defaults in place.
    ///
    /// # Errors
    /// A value that is none of its kind, named with its key.
    pub fn resolve(&self) -> Result<Resolved, InputError> {
        let modes = self.modes.clone().unwrap_or_else(|| MODES.to_vec());
        if modes.is_empty() || modes[0] == 0 || modes.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(InputError::new(format!(
                "modes is {modes:?}: expected sizes in blocks above 0, each larger than the one before"
            )));
        }
        if modes.len() > MOST_MODES {
            return Err(InputError::new(format!(
                "modes has {} sizes: expected at most {MOST_MODES}",
                modes.len()
            )));
        }
        if let Some(large) = modes.iter().find(|mode| **mode > LARGEST) {
            return Err(InputError::new(format!(
                "modes has {large} blocks: expected at most {LARGEST}"
            )));
        }
        let weights = self
            .weights
            .clone()
            .unwrap_or_else(|| vec![1.0; modes.len()]);
        let is_weight = |weight: &f64| weight.is_finite() && *weight > 0.0;
        if weights.len() != modes.len() || !weights.iter().all(is_weight) {
            return Err(InputError::new(format!(
                "weights is {weights:?}: expected {} numbers above 0, one for each of the modes {modes:?}",
                modes.len()
            )));
        }
        let share = |key: &str, share: Option<f64>| match share {
            Some(share) if !(0.0..=1.0).contains(&share) => Err(InputError::new(format!(
                "{key} is {share}: expected a number from 0 to 1"
            ))),
            share => Ok(share),
        };
        let theta = self.theta.unwrap_or(1.0);
        if !(theta.is_finite() && theta >= 0.0) {
            return Err(InputError::new(format!(
                "theta is {theta}: expected a number, 0 or more"
            )));
        }
        if let Some(run) = self.run_requests
            && !(run.is_finite() && run >= 2.0)
        {
            return Err(InputError::new(format!(
                "run_requests is {run}: expected a number, 2 or more"
            )));
        }
        let burst = self.burst_requests.unwrap_or(10.0);
        if !(burst.is_finite() && burst >= 1.0) {
            return Err(InputError::new(format!(
                "burst_requests is {burst}: expected a number, 1 or more"
            )));
        }
        let mean_gap = self.mean_gap.unwrap_or(Time::from_ms(50));
        let burst_gap = self.burst_gap.unwrap_or(Time::from_ms(1));
        if burst_gap.ns() as f64 * (burst - 1.0) > mean_gap.ns() as f64 * burst {
            return Err(InputError::new(format!(
                "burst_gap is {burst_gap} and mean_gap {mean_gap}: with {burst} requests in a burst the gaps within are longer already than the mean allows"
            )));
        }
        Ok(Resolved {
            modes,
            weights,
            small_share: share("small_share", self.small_share)?,
            small_blocks: self.small.map_or(16, Size::blocks),
            random_read_share: share("random_read_share", self.random_read_share)?,
            run_requests: self.run_requests,
            theta,
            span_blocks: self.span.map(Size::blocks),
            mean_gap,
            burst_requests: burst,
            burst_gap,
        })
    }
}

/// More sizes than this are a histogram, not a mixture of modes.
const MOST_MODES: usize = 64;
/// The largest request: 512 MiB in blocks. Times the largest number of requests, it still fits its type.
const LARGEST: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<Resolved, InputError> {
        toml::from_str::<Parameters>(text).unwrap().resolve()
    }

    #[test]
    fn what_is_not_given_favours_nothing() {
        let resolved = resolve("").unwrap();
        assert_eq!(resolved.modes, MODES);
        assert_eq!(resolved.weights, [1.0; 5]);
        assert_eq!((resolved.theta, resolved.small_share), (1.0, None));
    }

    #[test]
    fn wrong_values_are_named_with_their_keys() {
        for (text, expected) in [
            ("modes = []", "modes is []"),
            ("modes = [0, 8]", "modes is [0, 8]"),
            ("modes = [8, 8]", "modes is [8, 8]"),
            ("modes = [8, 1048577]", "modes has 1048577 blocks"),
            ("weights = [1.0]", "expected 5 numbers"),
            ("modes = [8]\nweights = [0.0]", "expected 1 numbers"),
            ("small_share = 1.1", "small_share is 1.1"),
            ("random_read_share = -0.1", "random_read_share is -0.1"),
            ("theta = -1.0", "theta is -1"),
            ("theta = nan", "theta is NaN"),
            ("run_requests = 1.9", "run_requests is 1.9"),
            ("burst_requests = 0.5", "burst_requests is 0.5"),
            (
                "mean_gap = '1 ms'\nburst_gap = '1.2 ms'",
                "burst_gap is 1.2 ms",
            ),
        ] {
            let error = resolve(text).unwrap_err();
            assert!(error.message.contains(expected), "{text}: {error}");
        }
        // Both sides of the last edge: 9 gaps within and one of nothing.
        for (gap, fits) in [("10 ms", true), ("10.1 ms", false)] {
            let text = format!("mean_gap = '9 ms'\nburst_gap = '{gap}'");
            assert_eq!(resolve(&text).is_ok(), fits, "{gap}");
        }
    }

    #[test]
    fn what_lies_over_hides_what_lies_under() {
        let of = |text: &str| toml::from_str::<Parameters>(text).unwrap();
        let both = of("theta = 0.5").over(&of("theta = 1.5\nsmall_share = 0.5"));
        assert_eq!((both.theta, both.small_share), (Some(0.5), Some(0.5)));
        assert_eq!(both.first_given(), Some("small_share"));
        assert_eq!(Parameters::default().first_given(), None);
    }
}

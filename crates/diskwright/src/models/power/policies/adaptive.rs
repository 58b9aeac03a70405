//! A timeout that is learnt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PowerPolicy, Timeout, known_state};
use crate::base::error::InputError;
use crate::base::units::Time;
use crate::models::power::figures::PowerFigures;

/// Rule: the timeout is the weighted mean of fixed ones, the experts, from 0 to the state's break-even time b. After an idle period of
/// length x each expert t has lost (t + b if t < x, else x, less the smaller of x and b) / b, which multiplies its weight by e^(-η · loss);
/// then it gives the share 1 - (1 - α)^loss of what is left, and all experts get equal parts of what was given. Source: Helmbold, Long,
/// Sconyers, Sherrod, "Adaptive disk spin-down for mobile computers", Mobile Networks and Applications 5 (2000): the share algorithm.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveTimeout {
    /// The state that it goes into; the deepest that the drive has where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// How many experts.
    #[schemars(range(min = 2, max = 10000))]
    pub experts: u32,
    /// How fast an expert that errs loses weight: η.
    #[schemars(range(min = 0.0))]
    pub learning_rate: f64,
    /// How much weight experts share: α.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

impl Default for AdaptiveTimeout {
    fn default() -> AdaptiveTimeout {
        AdaptiveTimeout {
            state: None,
            experts: 25,
            learning_rate: 4.0,
            share: 0.08,
        }
    }
}

/// The most experts.
const MOST: u32 = 10_000;

impl AdaptiveTimeout {
    pub(super) const SUMMARY: &str =
        "A timeout for one state that follows the lengths of idle periods: the share algorithm.";

    pub(super) fn build(&self, figures: &PowerFigures) -> Result<Box<dyn PowerPolicy>, InputError> {
        let wrong = |what: String, help: &str| Err(InputError::new(what).help(help));
        if !(2..=MOST).contains(&self.experts) {
            return wrong(format!("{} experts", self.experts), "accepted: 2 to 10000");
        }
        if !(self.learning_rate.is_finite() && self.learning_rate >= 0.0) {
            let what = format!("a learning_rate of {}", self.learning_rate);
            return wrong(what, "accepted: 0 or more");
        }
        if !(0.0..1.0).contains(&self.share) {
            let what = format!("a share of {}", self.share);
            return wrong(what, "accepted: from 0 to below 1");
        }
        let state = match (&self.state, figures.low.len().checked_sub(1)) {
            (Some(name), _) => known_state(figures, name)?,
            (None, Some(deepest)) => deepest,
            (None, None) => known_state(figures, "standby_z")?,
        };
        let low = &figures.low[state];
        let Some(cost) = low
            .break_even(figures.idle)
            .filter(|&cost| cost > Time::ZERO)
        else {
            let what = format!(
                "{} never takes less energy than idle, or always",
                low.state.name()
            );
            return wrong(
                what,
                "name a state with a break-even time, or use fixed timeouts",
            );
        };
        let cost = cost.ns() as f64;
        let last = f64::from(self.experts - 1);
        let timeouts = (0..self.experts).map(|expert| cost * f64::from(expert) / last);
        Ok(Box::new(Shares {
            state,
            cost,
            learning_rate: self.learning_rate,
            share: self.share,
            timeouts: timeouts.collect(),
            weights: vec![1.0 / f64::from(self.experts); self.experts as usize],
        }))
    }
}

struct Shares {
    state: usize,
    /// The break-even time, ns.
    cost: f64,
    learning_rate: f64,
    share: f64,
    /// Of the experts, ns.
    timeouts: Vec<f64>,
    weights: Vec<f64>,
}

impl Shares {
    /// The weighted mean of the experts' timeouts, ns.
    fn timeout(&self) -> f64 {
        let weighted = self.weights.iter().zip(&self.timeouts);
        let sum: f64 = weighted.map(|(weight, timeout)| weight * timeout).sum();
        sum / self.weights.iter().sum::<f64>()
    }
}

impl PowerPolicy for Shares {
    fn plan(&mut self, timeouts: &mut Vec<Timeout>) {
        let after = Time::from_ns_f64(self.timeout()).unwrap_or(Time::MAX);
        let state = self.state;
        timeouts.push(Timeout { after, state });
    }

    fn ended(&mut self, length: Time) {
        let length = length.ns() as f64;
        let best = length.min(self.cost);
        let mut pool = 0.0;
        for (weight, &timeout) in self.weights.iter_mut().zip(&self.timeouts) {
            let own = if timeout < length {
                timeout + self.cost
            } else {
                length
            };
            let loss = (own - best) / self.cost;
            let left = *weight * libm::exp(-self.learning_rate * loss);
            let kept = left * libm::pow(1.0 - self.share, loss);
            pool += left - kept;
            *weight = kept;
        }
        let part = pool / self.weights.len() as f64;
        self.weights.iter_mut().for_each(|weight| *weight += part);
        // The sum shrinks with every loss: it is the proportions that count.
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::power::Power;
    use crate::models::power::figures::{LowState, PowerState};

    /// Idle 1 W; a standby of no power whose ways take no time and 10 J: it pays from 10 s on.
    fn figures() -> PowerFigures {
        let idle = Power::from_microwatts(1_000_000);
        let low = LowState {
            state: PowerState::StandbyZ,
            power: Power::default(),
            enter: (Time::ZERO, 0),
            leave: (Time::ZERO, idle.over(Time::from_s(10))),
        };
        PowerFigures {
            idle,
            low: vec![low],
        }
    }

    fn next(policy: &mut Box<dyn PowerPolicy>) -> f64 {
        let mut plan = Vec::new();
        policy.plan(&mut plan);
        plan[0].after.s()
    }

    #[test]
    fn it_begins_with_the_mean_and_learns_by_the_formula() {
        let two = AdaptiveTimeout {
            experts: 2,
            ..AdaptiveTimeout::default()
        };
        let mut policy = two.build(&figures()).expect("sound");
        assert_eq!(next(&mut policy), 5.0);
        // 4 s: the expert of 0 has lost (0 + 10 − 4) / 10, the one of 10 s nothing.
        policy.ended(Time::from_s(4));
        let left = 0.5 * libm::exp(-4.0 * 0.6);
        let kept = left * libm::pow(0.92, 0.6);
        let part = (left - kept) / 2.0;
        let expected = 10.0 * (0.5 + part) / (0.5 + kept + 2.0 * part);
        assert!((next(&mut policy) - expected).abs() < 1e-8, "{expected}");
    }

    #[test]
    fn long_idle_periods_shorten_the_timeout_and_short_ones_prolong_it() {
        let mut policy = AdaptiveTimeout::default().build(&figures()).expect("sound");
        for _ in 0..50 {
            policy.ended(Time::from_s(100));
        }
        let short = next(&mut policy);
        assert!(short < 1.0, "{short}");
        for _ in 0..50 {
            policy.ended(Time::from_s(9));
        }
        let long = next(&mut policy);
        assert!(long > 9.0, "{long}");
    }

    #[test]
    fn values_without_sense_are_refused() {
        let refused = |change: fn(&mut AdaptiveTimeout)| {
            let mut adaptive = AdaptiveTimeout::default();
            change(&mut adaptive);
            let error = adaptive.build(&figures()).err();
            error.expect("refused").to_string()
        };
        assert!(refused(|adaptive| adaptive.experts = 1).contains("1 experts"));
        assert!(refused(|adaptive| adaptive.share = 1.0).contains("share of 1"));
        assert!(refused(|adaptive| adaptive.learning_rate = f64::NAN).contains("NaN"));
        let unknown = refused(|adaptive| adaptive.state = Some("idle_b".to_owned()));
        assert!(
            unknown.contains("no figures of idle_b: it has standby_z"),
            "{unknown}"
        );
    }
}

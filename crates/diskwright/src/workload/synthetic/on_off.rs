//! Arrivals in bursts: periods in which requests arrive, and periods in which none do.
//!
//! Requests arrive on a clock that stands still while the load is off. With periods and gaps all exponential this is the
//! interrupted Poisson process: A. Kuczura, "The interrupted Poisson process as an overflow process", Bell System Technical
//! Journal 52(3), 1973.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::Time;

use super::scope::Scope;

/// How long the periods are, and how far apart requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffParams {
    /// The mean length of a period with requests; the load begins with one.
    pub on: Time,
    /// The mean length of a period without.
    pub off: Time,
    /// The mean gap between requests in a period with requests.
    pub gap: Time,
    /// How the lengths of periods are distributed.
    #[serde(default)]
    pub periods: Lengths,
    /// How gaps are distributed.
    #[serde(default)]
    pub gaps: Lengths,
}

/// How times are distributed about their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lengths {
    /// Exponentially.
    #[default]
    Exponential,
    /// All the same.
    Constant,
}

impl Lengths {
    #[inline]
    fn draw(self, mean: Time, stream: &mut Stream) -> Time {
        match self {
            Lengths::Exponential => stream.exponential(mean),
            Lengths::Constant => mean,
        }
    }
}

/// Tells the arrival times one after the other.
pub struct OnOff {
    params: OnOffParams,
    /// The next arrival on the clock that stands still while the load is off.
    next: Option<Time>,
    /// When the current period ends on that clock, and how long the load was off before.
    ends: Time,
    off: Time,
    gaps: Stream,
    periods: Stream,
}

/// With less than one request in this number of periods, nearly all periods would be drawn for nothing.
const PERIODS_A_GAP: u64 = 1_000;

impl OnOff {
    /// # Errors
    /// Periods or gaps of no length, or gaps that are far longer than periods.
    pub fn new(params: &OnOffParams, scope: &Scope) -> Result<OnOff, InputError> {
        for (name, time) in [("on", params.on), ("gap", params.gap)] {
            if time == Time::ZERO {
                return Err(scope.wrong(
                    "arrivals",
                    format_args!(": on-off.{name} is 0: expected a time"),
                ));
            }
        }
        if params.gap.ns() / PERIODS_A_GAP > params.on.ns() {
            return Err(scope.wrong(
                "arrivals",
                format_args!(
                    ": on-off.gap is {} and on-off.on {}: expected a gap of at most {PERIODS_A_GAP} times as long",
                    params.gap, params.on
                ),
            ));
        }
        let mut gaps = scope.stream("arrivals");
        let mut periods = scope.stream("periods");
        let first = match params.gaps {
            Lengths::Constant => Time::ZERO,
            Lengths::Exponential => gaps.exponential(params.gap),
        };
        Ok(OnOff {
            next: Some(first),
            ends: params.periods.draw(params.on, &mut periods),
            off: Time::ZERO,
            gaps,
            periods,
            params: params.clone(),
        })
    }

    /// The next arrival; `None` past the end of time.
    #[inline]
    pub fn next(&mut self) -> Option<Time> {
        let at = self.next?;
        let OnOffParams {
            on,
            off,
            gap,
            periods,
            gaps,
        } = self.params;
        while at >= self.ends {
            self.off = self.off.checked_add(periods.draw(off, &mut self.periods))?;
            self.ends = self.ends.checked_add(periods.draw(on, &mut self.periods))?;
        }
        self.next = at.checked_add(gaps.draw(gap, &mut self.gaps));
        at.checked_add(self.off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(params: &OnOffParams, count: usize) -> Vec<Time> {
        let mut clock = OnOff::new(params, &Scope::only(5)).unwrap();
        (0..count).map(|_| clock.next().unwrap()).collect()
    }

    fn params(on: u64, off: u64, gap: u64) -> OnOffParams {
        OnOffParams {
            on: Time::from_ms(on),
            off: Time::from_ms(off),
            gap: Time::from_ms(gap),
            periods: Lengths::Exponential,
            gaps: Lengths::Exponential,
        }
    }

    #[test]
    fn constant_bursts_are_a_timetable() {
        let constant = OnOffParams {
            periods: Lengths::Constant,
            gaps: Lengths::Constant,
            ..params(3, 7, 1)
        };
        let ms: Vec<_> = arrivals(&constant, 8)
            .iter()
            .map(|t| t.ns() / 1_000_000)
            .collect();
        assert_eq!(ms, [0, 1, 2, 10, 11, 12, 20, 21]);
        // A gap goes on where it was when the load was off in between.
        let ms: Vec<_> = arrivals(
            &OnOffParams {
                gap: Time::from_ms(2),
                ..constant
            },
            5,
        )
        .iter()
        .map(|t| t.ns() / 1_000_000)
        .collect();
        assert_eq!(ms, [0, 2, 11, 20, 22]);
    }

    #[test]
    fn the_rate_is_that_of_the_periods_and_gaps() {
        for (periods, gaps) in [
            (Lengths::Exponential, Lengths::Exponential),
            (Lengths::Exponential, Lengths::Constant),
            (Lengths::Constant, Lengths::Exponential),
        ] {
            let params = OnOffParams {
                periods,
                gaps,
                ..params(100, 300, 1)
            };
            let count = 400_000;
            let end = *arrivals(&params, count).last().unwrap();
            // One request a millisecond for a quarter of the time: 4 ms a request. The time of 4,000 cycles varies by
            // √4,000 times √(100² + 300²) ms at most.
            let bound = 5.0 * (4_000.0f64 * (1e4 + 9e4)).sqrt() / count as f64;
            assert!(
                (end.ms() / count as f64 - 4.0).abs() < bound,
                "{periods:?} {gaps:?}: {end}"
            );
        }
    }

    #[test]
    fn bursts_have_as_many_requests_as_they_should() {
        // Requests of an exponential period are geometric: n with probability (1 − p) pⁿ, p = on/(on + gap); none shows
        // as no burst. With off periods 10⁵ times a gap, a long pause is the end of a burst.
        let params = params(10, 100_000, 1);
        let times = arrivals(&params, 200_000);
        let (mut bursts, mut size) = (Vec::new(), 1.0f64);
        for pair in times.windows(2) {
            if (pair[1] - pair[0]).ms() > 100.0 {
                bursts.push(std::mem::replace(&mut size, 1.0));
            } else {
                size += 1.0;
            }
        }
        let count = bursts.len() as f64;
        let mean = bursts.iter().sum::<f64>() / count;
        // Of those with at least one: mean 1 + on/gap = 11, variance 10 · 11.
        assert!(
            (mean - 11.0).abs() < 5.0 * (110.0 / count).sqrt() + 0.03,
            "{mean} in {count} bursts"
        );
        let variance = bursts.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / count;
        assert!(
            (variance / 110.0 - 1.0).abs() < 5.0 * (8.0 / count).sqrt(),
            "{variance}"
        );
    }

    #[test]
    fn the_index_of_dispersion_is_that_of_an_interrupted_poisson_process() {
        // Of the count in a time t, variance over mean is 1 + 2λa/(a + b)² (1 − (1 − e^(−(a + b)t))/((a + b)t)), with
        // a = 1/on, b = 1/off and λ = 1/gap.
        let params = params(20, 60, 1);
        let (a, b, rate) = (1.0 / 20.0, 1.0 / 60.0, 1.0);
        let times = arrivals(&params, 1_500_000);
        let end = times.last().unwrap().ms();
        for t in [10.0, 100.0, 1_000.0] {
            let windows = (end / t) as usize;
            let mut counts = vec![0.0f64; windows];
            for time in &times {
                if let Some(count) = counts.get_mut((time.ms() / t) as usize) {
                    *count += 1.0;
                }
            }
            let mean = counts.iter().sum::<f64>() / windows as f64;
            let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / windows as f64;
            let s: f64 = a + b;
            let expected =
                1.0 + 2.0 * rate * a / (s * s) * (1.0 - (1.0 - (-s * t).exp()) / (s * t));
            let found = variance / mean;
            assert!(
                (found / expected - 1.0).abs() < 0.06,
                "t {t}: {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn time_ends() {
        let mut clock = OnOff::new(
            &OnOffParams {
                off: Time::MAX,
                periods: Lengths::Constant,
                ..params(1, 1, 1)
            },
            &Scope::only(1),
        )
        .unwrap();
        let times: Vec<_> = std::iter::from_fn(|| clock.next()).collect();
        assert!(times.iter().all(|t| *t < Time::from_ms(1)));
        assert!(clock.next().is_none());
    }

    #[test]
    fn times_that_make_no_sense_name_their_key() {
        for (params, key) in [
            (params(0, 1, 1), "on-off.on"),
            (params(1, 1, 0), "on-off.gap"),
            (params(1, 1, 2_000), "on-off.gap"),
        ] {
            let error = OnOff::new(&params, &Scope::only(1)).err().unwrap();
            assert!(
                error.message.contains("workload.synthetic.arrivals"),
                "{error}"
            );
            assert!(error.message.contains(key), "{error}");
        }
        OnOff::new(&params(1, 0, 1_000), &Scope::only(1)).unwrap();
    }
}

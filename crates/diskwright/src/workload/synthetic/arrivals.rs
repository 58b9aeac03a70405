//! When the requests of a synthetic load arrive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::Time;

use super::on_off::{OnOff, OnOffParams};
use super::plan::PauseSpec;
use super::rate::RateSpec;
use super::refill::RefillSpec;
use super::scope::Scope;
use super::think::ThinkSpec;

/// When requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalsSpec {
    /// At random, independently of each other, with this mean gap; the first after one such gap.
    Poisson(Time),
    /// At this gap; the first at time 0.
    Constant(Time),
    /// With gaps that are uniformly distributed; the first after one such gap.
    Uniform(UniformGaps),
    /// In bursts.
    OnOff(OnOffParams),
    /// Each of a number of users sends its next request some time after its last one is done.
    Closed(ClosedParams),
}

/// The shortest and the longest gap, between which every whole nanosecond is as likely as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformGaps {
    /// The shortest.
    #[serde(default)]
    pub min: Time,
    /// The longest.
    pub max: Time,
}

/// Users that wait for their requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClosedParams {
    /// How many; the host's outstanding limit when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// From a completion to the same user's next request.
    pub think: ThinkSpec,
    /// The most that all of them issue in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateSpec>,
    /// When all of them pause together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseSpec>,
    /// When they issue again once each has a request outstanding; each for itself if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refill: Option<RefillSpec>,
}

/// Tells the arrival times one after the other.
pub enum Clock {
    /// Exponential gaps.
    Poisson {
        now: Time,
        mean: Time,
        stream: Stream,
    },
    /// Uniform gaps: `min` and up to `more` nanoseconds.
    Uniform {
        now: Time,
        min: Time,
        more: u64,
        stream: Stream,
    },
    /// The next arrival, and the gap.
    Constant { next: Option<Time>, gap: Time },
    /// Bursts.
    OnOff(Box<OnOff>),
    /// The host decides; every arrival is at 0.
    Closed,
}

impl Clock {
    /// # Errors
    /// A gap of no length, or no users.
    pub fn new(spec: &ArrivalsSpec, scope: &Scope) -> Result<Clock, InputError> {
        let gap = |gap: Time, name| match gap {
            Time::ZERO => Err(scope
                .wrong(
                    "arrivals",
                    format_args!(": the gap of {name} arrivals is 0"),
                )
                .help("requests as fast as they are served are { closed = {} }")),
            gap => Ok(gap),
        };
        Ok(match spec {
            ArrivalsSpec::Poisson(mean) => Clock::Poisson {
                now: Time::ZERO,
                mean: gap(*mean, "poisson")?,
                stream: scope.stream("arrivals"),
            },
            ArrivalsSpec::Constant(constant) => Clock::Constant {
                next: Some(Time::ZERO),
                gap: gap(*constant, "constant")?,
            },
            ArrivalsSpec::Uniform(UniformGaps { min, max }) => {
                let Some(more) = max.ns().checked_sub(min.ns()) else {
                    return Err(scope.wrong(
                        "arrivals",
                        format_args!(": uniform.min is {min} and uniform.max {max}"),
                    ));
                };
                gap(*max, "uniform")?;
                Clock::Uniform {
                    now: Time::ZERO,
                    min: *min,
                    more,
                    stream: scope.stream("arrivals"),
                }
            }
            ArrivalsSpec::OnOff(params) => Clock::OnOff(Box::new(OnOff::new(params, scope)?)),
            ArrivalsSpec::Closed(ClosedParams { users: Some(0), .. }) => {
                return Err(scope.wrong("arrivals", ": closed.users is 0: expected 1 or more"));
            }
            ArrivalsSpec::Closed(_) => Clock::Closed,
        })
    }

    /// The next arrival; `None` past the end of time.
    #[inline]
    pub fn next(&mut self) -> Option<Time> {
        match self {
            Clock::Poisson { now, mean, stream } => {
                let at = now.checked_add(stream.exponential(*mean));
                *now = at.unwrap_or(Time::MAX);
                at
            }
            Clock::Uniform {
                now,
                min,
                more,
                stream,
            } => {
                let drawn = match more.checked_add(1) {
                    Some(count) => stream.below(count),
                    None => stream.bits(),
                };
                let at = now.checked_add(*min + Time::from_ns(drawn));
                *now = at.unwrap_or(Time::MAX);
                at
            }
            Clock::Constant { next, gap } => {
                let at = *next;
                *next = at.and_then(|at| at.checked_add(*gap));
                at
            }
            Clock::OnOff(bursts) => bursts.next(),
            Clock::Closed => Some(Time::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_gaps_have_their_mean_and_spread() {
        let mut clock =
            Clock::new(&ArrivalsSpec::Poisson(Time::from_ms(20)), &Scope::only(7)).unwrap();
        let (mut before, mut squares) = (Time::ZERO, 0.0);
        let count = 200_000;
        for _ in 0..count {
            let at = clock.next().unwrap();
            squares += (at - before).ms().powi(2);
            before = at;
        }
        // The mean of n exponential gaps is off by more than 4/√n once in 16,000 seeds.
        let mean = before.ms() / f64::from(count);
        assert!(
            (mean / 20.0 - 1.0).abs() < 4.0 / f64::from(count).sqrt(),
            "{mean}"
        );
        let second = squares / f64::from(count) / (2.0 * 20.0 * 20.0);
        assert!((second - 1.0).abs() < 0.03, "{second}");
    }

    fn uniform(min: u64, max: u64) -> ArrivalsSpec {
        ArrivalsSpec::Uniform(UniformGaps {
            min: Time::from_ns(min),
            max: Time::from_ns(max),
        })
    }

    #[test]
    fn uniform_gaps_fill_their_interval() {
        let mut clock = Clock::new(&uniform(3, 7), &Scope::only(7)).unwrap();
        let mut now = Time::ZERO;
        let mut counts = [0u32; 8];
        for _ in 0..50_000 {
            let at = clock.next().unwrap();
            counts[(at - now).ns() as usize] += 1;
            now = at;
        }
        assert_eq!(counts[..3], [0; 3]);
        // 10,000 of each, whose standard deviation is √(50,000 · 0.2 · 0.8) = 89.
        assert!(
            counts[3..].iter().all(|count| count.abs_diff(10_000) < 450),
            "{counts:?}"
        );
        let mut longest = Clock::new(&uniform(0, u64::MAX), &Scope::only(7)).unwrap();
        assert!((0..100).any(|_| longest.next().is_none()));
        let mut constant = Clock::new(&uniform(5, 5), &Scope::only(7)).unwrap();
        assert_eq!(constant.next().unwrap().ns(), 5);
    }

    #[test]
    fn constant_gaps_start_at_zero_and_end_with_time() {
        let mut clock =
            Clock::new(&ArrivalsSpec::Constant(Time::from_ms(3)), &Scope::only(0)).unwrap();
        let times: Vec<_> = (0..3).map(|_| clock.next().unwrap().ns()).collect();
        assert_eq!(times, [0, 3_000_000, 6_000_000]);
        let mut clock = Clock::new(&ArrivalsSpec::Constant(Time::MAX), &Scope::only(0)).unwrap();
        assert_eq!(clock.next().unwrap(), Time::ZERO);
        assert_eq!(clock.next().unwrap(), Time::MAX);
        assert!(clock.next().is_none());
        assert!(clock.next().is_none());
    }

    #[test]
    fn gaps_and_users_must_be_there() {
        for spec in [
            ArrivalsSpec::Poisson(Time::ZERO),
            ArrivalsSpec::Constant(Time::ZERO),
            uniform(0, 0),
            uniform(2, 1),
            ArrivalsSpec::Closed(ClosedParams {
                users: Some(0),
                ..ClosedParams::default()
            }),
        ] {
            let error = Clock::new(&spec, &Scope::only(0)).err().unwrap();
            assert!(error.message.contains("workload.synthetic.arrivals"));
        }
    }
}

//! When the requests of a synthetic load arrive.

use serde::{Deserialize, Serialize};

use crate::error::{Error, InputError};
use crate::random::Stream;
use crate::units::Time;

use super::super::Pacing;

/// When requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalsSpec {
    /// At random, independently of each other, with this mean gap; the first after one such gap.
    Poisson(Time),
    /// At this gap; the first at time 0.
    Constant(Time),
    /// Each of a number of users sends its next request some time after its last one is done.
    Closed(ClosedParams),
}

/// Users that wait for their requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClosedParams {
    /// How many; the host's outstanding limit when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// From a completion to the same user's next request.
    pub think: Time,
}

/// Tells the arrival times one after the other.
pub enum Clock {
    /// Exponential gaps.
    Poisson {
        now: Time,
        mean: Time,
        stream: Stream,
    },
    /// The next arrival, and the gap.
    Constant { next: Option<Time>, gap: Time },
    /// The host decides; every arrival is at 0.
    Closed(ClosedParams),
}

impl Clock {
    /// # Errors
    /// A gap of no length, or no users.
    pub fn new(spec: &ArrivalsSpec, seed: u64) -> Result<Clock, InputError> {
        let gap = |gap: Time, name| match gap {
            Time::ZERO => Err(InputError::new(format!(
                "workload.synthetic.arrivals: the gap of {name} arrivals is 0"
            ))
            .help("requests as fast as they are served are { closed = {} }")),
            gap => Ok(gap),
        };
        Ok(match spec {
            ArrivalsSpec::Poisson(mean) => Clock::Poisson {
                now: Time::ZERO,
                mean: gap(*mean, "poisson")?,
                stream: Stream::new(seed, "workload.arrivals"),
            },
            ArrivalsSpec::Constant(constant) => Clock::Constant {
                next: Some(Time::ZERO),
                gap: gap(*constant, "constant")?,
            },
            ArrivalsSpec::Closed(ClosedParams { users: Some(0), .. }) => {
                return Err(InputError::new(
                    "workload.synthetic.arrivals: closed.users is 0: expected 1 or more",
                ));
            }
            ArrivalsSpec::Closed(closed) => Clock::Closed(closed.clone()),
        })
    }

    /// How the host is to pull.
    pub fn pacing(&self) -> Pacing {
        match self {
            Clock::Closed(ClosedParams { users, think }) => Pacing::Closed {
                users: *users,
                think: *think,
            },
            _ => Pacing::Open,
        }
    }

    /// The next arrival.
    ///
    /// # Errors
    /// It is past the end of time.
    #[inline]
    pub fn next(&mut self) -> Result<Time, Error> {
        let at = match self {
            Clock::Poisson { now, mean, stream } => {
                let at = now.checked_add(stream.exponential(*mean));
                *now = at.unwrap_or(Time::MAX);
                at
            }
            Clock::Constant { next, gap } => {
                let at = *next;
                *next = at.and_then(|at| at.checked_add(*gap));
                at
            }
            Clock::Closed(_) => Some(Time::ZERO),
        };
        at.ok_or_else(too_long)
    }
}

#[cold]
fn too_long() -> Error {
    Error::input("workload.synthetic.arrivals: the requests take more than 584 years to arrive")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_gaps_have_their_mean_and_spread() {
        let mut clock = Clock::new(&ArrivalsSpec::Poisson(Time::from_ms(20)), 7).unwrap();
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

    #[test]
    fn constant_gaps_start_at_zero_and_end_with_time() {
        let mut clock = Clock::new(&ArrivalsSpec::Constant(Time::from_ms(3)), 0).unwrap();
        let times: Vec<_> = (0..3).map(|_| clock.next().unwrap().ns()).collect();
        assert_eq!(times, [0, 3_000_000, 6_000_000]);
        let mut clock = Clock::new(&ArrivalsSpec::Constant(Time::MAX), 0).unwrap();
        assert_eq!(clock.next().unwrap(), Time::ZERO);
        assert_eq!(clock.next().unwrap(), Time::MAX);
        assert!(clock.next().is_err());
    }

    #[test]
    fn gaps_and_users_must_be_there() {
        for spec in [
            ArrivalsSpec::Poisson(Time::ZERO),
            ArrivalsSpec::Constant(Time::ZERO),
            ArrivalsSpec::Closed(ClosedParams {
                users: Some(0),
                think: Time::ZERO,
            }),
        ] {
            let error = Clock::new(&spec, 0).err().unwrap();
            assert!(error.message.contains("workload.synthetic.arrivals"));
        }
        let closed = ClosedParams {
            users: Some(1),
            think: Time::from_ms(5),
        };
        let clock = Clock::new(&ArrivalsSpec::Closed(closed), 0).unwrap();
        assert_eq!(
            clock.pacing(),
            Pacing::Closed {
                users: Some(1),
                think: Time::from_ms(5)
            }
        );
    }
}

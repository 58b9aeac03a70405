//! The most that a stream with users issues in a second.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{BLOCK_BYTES, Time};

use super::scope::Scope;

const SECOND: u128 = 1_000_000_000;

/// A limit of what the users of a stream issue together; a stream that fell behind catches up, as far as its users are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateSpec {
    /// A number of requests a second, at equal distances.
    Requests(u64),
    /// A mean number of requests a second, at exponentially distributed distances.
    PoissonRequests(u64),
    /// A number of bytes a second: a request waits until those before it would have been carried at this rate.
    Bytes(u64),
}

/// Tells when the next request may be issued, from the beginning of its stream.
#[derive(Clone, Debug)]
pub struct RateClock {
    rate: RateSpec,
    /// Requests or bytes issued.
    issued: u128,
    next: Time,
    stream: Stream,
}

impl RateClock {
    /// # Errors
    /// A rate of 0, or of more than a request a nanosecond.
    pub(super) fn new(rate: RateSpec, scope: &Scope) -> Result<RateClock, InputError> {
        let (RateSpec::Requests(most) | RateSpec::PoissonRequests(most) | RateSpec::Bytes(most)) =
            rate;
        if most == 0 {
            let what = ": closed.rate is 0: expected 1 or more in a second";
            return Err(scope.wrong("arrivals", what));
        }
        if u128::from(most) > SECOND && !matches!(rate, RateSpec::Bytes(_)) {
            let what =
                format_args!(": closed.rate is {most} requests a second: expected 10^9 at most");
            return Err(scope.wrong("arrivals", what));
        }
        Ok(RateClock {
            rate,
            issued: 0,
            next: Time::ZERO,
            stream: scope.stream("rate"),
        })
    }

    /// When the next request may be issued.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Notes that a request of `blocks` blocks is issued.
    pub fn issue(&mut self, blocks: u32) {
        let after = |issued: u128, rate: u64| {
            let ns = issued * SECOND / u128::from(rate);
            u64::try_from(ns).map_or(Time::MAX, Time::from_ns)
        };
        self.next = match self.rate {
            RateSpec::Requests(rate) => {
                self.issued += 1;
                after(self.issued, rate)
            }
            RateSpec::Bytes(rate) => {
                self.issued += u128::from(blocks) * u128::from(BLOCK_BYTES);
                after(self.issued, rate)
            }
            RateSpec::PoissonRequests(rate) => {
                let gap = self.stream.exponential(after(1, rate));
                self.next.checked_add(gap).unwrap_or(Time::MAX)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(rate: RateSpec) -> RateClock {
        RateClock::new(rate, &Scope::only(1)).unwrap()
    }

    fn times(rate: RateSpec, blocks: &[u32]) -> Vec<u64> {
        let mut clock = clock(rate);
        let times = blocks.iter().map(|blocks| {
            clock.issue(*blocks);
            clock.next().ns()
        });
        times.collect()
    }

    #[test]
    fn requests_keep_their_rate_without_drift() {
        assert_eq!(clock(RateSpec::Requests(3)).next(), Time::ZERO);
        assert_eq!(
            times(RateSpec::Requests(3), &[1; 6]),
            [
                333_333_333,
                666_666_666,
                1_000_000_000,
                1_333_333_333,
                1_666_666_666,
                2_000_000_000
            ]
        );
    }

    #[test]
    fn bytes_wait_for_those_before_them() {
        // 512 bytes at 1024 a second are half a second.
        assert_eq!(
            times(RateSpec::Bytes(1024), &[1, 2, 1]),
            [500_000_000, 1_500_000_000, 2_000_000_000]
        );
    }

    #[test]
    fn random_gaps_have_their_mean() {
        let mut clock = clock(RateSpec::PoissonRequests(1_000));
        let count = 100_000u32;
        (0..count).for_each(|_| clock.issue(1));
        let mean = clock.next().ms() / f64::from(count);
        assert!((mean - 1.0).abs() < 4.0 / f64::from(count).sqrt(), "{mean}");
    }

    #[test]
    fn rates_are_of_something() {
        for rate in [
            RateSpec::Requests(0),
            RateSpec::PoissonRequests(0),
            RateSpec::Bytes(0),
            RateSpec::Requests(1_000_000_001),
        ] {
            let error = RateClock::new(rate, &Scope::only(1)).unwrap_err();
            assert!(
                error
                    .message
                    .contains("workload.synthetic.arrivals: closed.rate")
            );
        }
    }
}

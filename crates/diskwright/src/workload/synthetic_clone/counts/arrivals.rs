//! Arrivals in bursts of geometric length, with exponential gaps within and between them.

use crate::base::random::Stream;
use crate::base::units::Time;

use crate::workload::clone_options::Resolved;

/// Tells the arrival times one after the other.
#[derive(Debug)]
pub struct Arrivals {
    now: Option<Time>,
    within: Time,
    between: Time,
    /// The chance that a request is the first of a burst.
    fresh: f64,
    stream: Stream,
}

impl Arrivals {
    /// Of these parameters.
    pub fn new(parameters: &Resolved, seed: u64) -> Arrivals {
        let burst = parameters.burst_requests;
        let within = parameters.burst_gap;
        // Of `burst` gaps one is between bursts, and all have the mean.
        let all = burst * parameters.mean_gap.ns() as f64;
        let between = (all - (burst - 1.0) * within.ns() as f64).max(0.0);
        Arrivals {
            now: Some(Time::ZERO),
            within,
            between: Time::from_ns_f64(between).unwrap_or(Time::MAX),
            fresh: 1.0 / burst,
            stream: Stream::new(seed, "look-alike.arrivals"),
        }
    }

    /// The next arrival; `None` past the end of time.
    pub fn next(&mut self) -> Option<Time> {
        let at = self.now?;
        let mean = if self.stream.unit() < self.fresh {
            self.between
        } else {
            self.within
        };
        self.now = at.checked_add(self.stream.exponential(mean));
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::clone_options::Parameters;

    fn gaps(parameters: &Parameters) -> Vec<f64> {
        let mut arrivals = Arrivals::new(&parameters.resolve().unwrap(), 1);
        let times: Vec<f64> = (0..200_001)
            .map(|_| arrivals.next().unwrap().ms())
            .collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn gaps_have_their_mean_within_bursts_and_in_all() {
        let gaps = gaps(&Parameters::default());
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        // A tenth of the gaps is exponential with a mean of 491 ms: the mean of 200,000 varies by 0.5 ms.
        assert!((mean - 50.0).abs() < 2.5, "{mean}");
        let short = gaps.iter().filter(|gap| **gap < 10.0).count() as f64 / gaps.len() as f64;
        // All within bursts but one in 20,000, and 2 % of the others.
        assert!((short - 0.902).abs() < 0.005, "{short}");
    }

    #[test]
    fn a_burst_of_one_is_none() {
        let parameters = Parameters {
            burst_requests: Some(1.0),
            ..Parameters::default()
        };
        let gaps = gaps(&parameters);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let squares = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 50.0).abs() < 0.6, "{mean}");
        assert!((squares / (mean * mean) - 2.0).abs() < 0.05, "{squares}");
    }
}

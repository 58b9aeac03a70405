//! How late answers leave, and why.

use serde_json::{Value, json};

use crate::metrics::histogram::Logarithmic;

/// Answers that are later than this share of the mean service time are warned of.
const MOST_SHARE: f64 = 0.05;

/// What made an answer late, ns of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// The process slept longer than it had asked to.
    pub timer: u64,
    /// It simulated.
    pub engine: u64,
    /// It read and wrote sockets and contents, or had no processor.
    pub host: u64,
}

/// The lateness of all answers, in time of the wall.
#[derive(Default)]
pub struct Lateness {
    times: Logarithmic<7>,
    answers: u64,
    total: u128,
    max: u64,
    timer: u128,
    engine: u128,
    host: u128,
}

impl Lateness {
    /// Adds an answer, late by the sum of its causes.
    pub fn add(&mut self, causes: Causes) {
        let Causes {
            timer,
            engine,
            host,
        } = causes;
        let late = timer + engine + host;
        self.times.add(late);
        self.answers += 1;
        self.total += u128::from(late);
        self.max = self.max.max(late);
        self.timer += u128::from(timer);
        self.engine += u128::from(engine);
        self.host += u128::from(host);
    }

    /// The mean, ns; 0 of none.
    pub fn mean(&self) -> f64 {
        self.share(self.total)
    }

    fn share(&self, sum: u128) -> f64 {
        sum as f64 / self.answers.max(1) as f64
    }

    /// Its object of results, ms of the wall.
    pub fn json(&self) -> Value {
        let p99 = self.times.quantile(0.99).unwrap_or(0).min(self.max);
        json!({
            "mean": self.mean() / 1e6,
            "p99": p99 as f64 / 1e6,
            "max": self.max as f64 / 1e6,
            "mean_by_cause": {
                "host": self.share(self.host) / 1e6,
                "engine": self.share(self.engine) / 1e6,
                "timer": self.share(self.timer) / 1e6,
            },
        })
    }

    /// What to warn of, where a request's service takes so long on the mean, ns of the wall.
    pub fn warning(&self, service: f64) -> Option<String> {
        let mean = self.mean();
        if self.answers == 0 || mean <= MOST_SHARE * service {
            return None;
        }
        let causes = [
            (self.host, "this machine is too slow or has too much to do"),
            (self.engine, "the simulation takes too long"),
            (self.timer, "the timer wakes too late: --busy-wait helps"),
        ];
        let (_, cause) = causes.iter().max_by_key(|(sum, _)| *sum)?;
        Some(format!(
            "answers left {:.1} µs late on the mean, {:.0} % of the mean service time of {:.1} µs, most of it because {cause}; \
             a smaller --speed makes it a smaller share",
            mean / 1e3,
            100.0 * mean / service,
            service / 1e3
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(timer: u64, engine: u64, host: u64) -> Causes {
        Causes {
            timer,
            engine,
            host,
        }
    }

    #[test]
    fn causes_add_up_to_the_mean() {
        let mut lateness = Lateness::default();
        for number in 1..=100 {
            lateness.add(late(1_000, 2_000 * number, 500));
        }
        let json = lateness.json();
        let ms = |key: &str| json[key].as_f64().expect("a number");
        assert!((ms("mean") - 0.1025).abs() < 1e-9);
        assert!((ms("max") - 0.2015).abs() < 1e-9);
        assert!((ms("p99") - 0.1995).abs() < 0.002);
        let causes = json["mean_by_cause"].as_object().expect("an object");
        let sum: f64 = causes.values().filter_map(Value::as_f64).sum();
        assert!((sum - ms("mean")).abs() < 1e-12);
    }

    #[test]
    fn warns_above_a_twentieth_and_names_the_largest_cause() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.warning(0.0), None);
        lateness.add(late(30_000, 10_000, 10_000));
        assert_eq!(lateness.warning(1_000_000.0), None);
        let text = lateness.warning(999_999.0).expect("a warning");
        assert!(
            text.contains("50.0 µs late") && text.contains("timer"),
            "{text}"
        );
        lateness.add(late(0, 0, 50_000));
        assert!(
            lateness
                .warning(1.0)
                .expect("a warning")
                .contains("machine")
        );
    }
}

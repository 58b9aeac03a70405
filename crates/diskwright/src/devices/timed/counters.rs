//! What such a device counts, and how it reports it.

use serde_json::{Map, Value, json};

use crate::base::units::Time;
use crate::devices::measured::Measured;
use crate::engine::request::{Op, Part, Parts};

/// Counts and sums over a run.
#[derive(Default)]
pub(super) struct TimedCounters {
    requests: u64,
    reads: u64,
    writes: u64,
    measured: Measured<Sums>,
    sums: Sums,
    /// Up to when the sums are known.
    clocked: Time,
    waiting_max: usize,
    longest_wait: Time,
    parts: Parts,
}

/// Integrals over time of the requests that are served and that wait, request·ns.
#[derive(Clone, Copy, Default)]
struct Sums {
    serving: u128,
    waiting: u128,
}

impl TimedCounters {
    /// Begins at `now`, while `waiting` requests wait.
    pub fn since(now: Time, waiting: usize) -> TimedCounters {
        let mut measured = Measured::default();
        measured.begin_anew(now, Sums::default());
        TimedCounters {
            measured,
            clocked: now,
            waiting_max: waiting,
            ..TimedCounters::default()
        }
    }

    /// A request arrives.
    pub fn arrives(&mut self, op: Op) {
        self.requests += 1;
        self.reads += u64::from(op == Op::Read);
        self.writes += u64::from(op == Op::Write);
    }

    /// A request begins that has waited so long.
    pub fn begins(&mut self, wait: Time, parts: &Parts) {
        self.longest_wait = self.longest_wait.max(wait);
        self.parts.add_all(parts);
    }

    /// `waiting` requests wait now.
    pub fn waits(&mut self, waiting: usize) {
        self.waiting_max = self.waiting_max.max(waiting);
    }

    /// Until `now`, `serving` requests were in service at a time, and `waiting` waited.
    pub fn clock(&mut self, now: Time, serving: usize, waiting: usize) {
        let span = u128::from((now - self.clocked).ns());
        self.sums.serving += span * serving as u128;
        self.sums.waiting += span * waiting as u128;
        self.clocked = now;
        let sums = self.sums;
        self.measured.begin(now, || sums);
    }

    /// What comes from `now` on, up to which the sums are known, is not measured.
    pub fn until(&mut self, now: Time) {
        self.measured.end(now, self.sums);
    }

    /// Counters and shares of a run that took `elapsed`.
    pub fn report(&self, elapsed: Time, parallel: usize, parts: &[Part]) -> Map<String, Value> {
        let mean = |of: fn(&Sums) -> u128| self.measured.mean(elapsed, |_| self.sums, of);
        let ms = |part: &Part| (part.name().to_owned(), json!(self.parts.get(*part).ms()));
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.reads));
        put("writes", json!(self.writes));
        put(
            "utilisation",
            json!(mean(|sums| sums.serving) / parallel as f64),
        );
        put("queue_length_mean", json!(mean(|sums| sums.waiting)));
        put("queue_length_max", json!(self.waiting_max));
        put("longest_wait_ms", json!(self.longest_wait.ms()));
        put(
            "busy_ms",
            parts.iter().map(ms).collect::<Map<_, _>>().into(),
        );
        report
    }
}

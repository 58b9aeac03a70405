//! What such a device counts, and how it reports it.

use serde_json::{Map, Value, json};

use crate::base::units::Time;
use crate::engine::request::{Op, Part, Parts};

/// Counts and sums over a run.
#[derive(Default)]
pub(super) struct TimedCounters {
    requests: u64,
    reads: u64,
    writes: u64,
    /// Integrals over time of the requests that are served and that wait, request·ns, up to `since`.
    serving: u128,
    waiting: u128,
    since: Time,
    /// When counting began: at the first request, or with the end of the warm-up.
    begin: Option<Time>,
    waiting_max: usize,
    longest_wait: Time,
    parts: Parts,
}

impl TimedCounters {
    /// Begins at `now`, while `waiting` requests wait.
    pub fn since(now: Time, waiting: usize) -> TimedCounters {
        TimedCounters {
            since: now,
            begin: Some(now),
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
        self.begin.get_or_insert(now);
        let span = u128::from((now - self.since).ns());
        self.serving += span * serving as u128;
        self.waiting += span * waiting as u128;
        self.since = now;
    }

    /// Counters and shares of a run that took `elapsed`, and longer where a parent went on with this device.
    pub fn report(&self, elapsed: Time, parallel: usize, parts: &[Part]) -> Map<String, Value> {
        let own = self.begin.map_or(Time::ZERO, |begin| self.since - begin);
        let elapsed = elapsed.max(own);
        let mean = |area: u128| match elapsed {
            Time::ZERO => 0.0,
            elapsed => area as f64 / elapsed.ns() as f64,
        };
        let ms = |part: &Part| (part.name().to_owned(), json!(self.parts.get(*part).ms()));
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.reads));
        put("writes", json!(self.writes));
        put("utilisation", json!(mean(self.serving) / parallel as f64));
        put("queue_length_mean", json!(mean(self.waiting)));
        put("queue_length_max", json!(self.waiting_max));
        put("longest_wait_ms", json!(self.longest_wait.ms()));
        put(
            "busy_ms",
            parts.iter().map(ms).collect::<Map<_, _>>().into(),
        );
        report
    }
}

//! What a driver counts, and how it reports it.

use serde_json::{Map, Value, json};

use crate::base::units::Time;
use crate::engine::request::{Class, Command, Op};
use crate::metrics::Series;

/// Counts and distributions over a run.
#[derive(Default)]
pub(super) struct DriverCounters {
    requests: u64,
    reads: u64,
    writes: u64,
    /// Arrived requests that their process waits for at once, and after a time.
    critical: u64,
    limited: u64,
    /// What was sent below, and how many requests became part of another's there.
    sent: u64,
    joined: u64,
    /// Requests that became urgent while they waited, and that had waited too long.
    raised: u64,
    late: u64,
    completed: u64,
    response: Series,
    access: Series,
    /// Integrals over time of what is outstanding and of what waits, request·ns, up to `since`.
    outstanding: u128,
    waiting: u128,
    since: Time,
    /// When counting began: at the first request, or with the end of the warm-up.
    begin: Option<Time>,
    waiting_max: usize,
}

impl DriverCounters {
    /// Begins at `now`, while `waiting` requests wait.
    pub fn since(now: Time, waiting: usize) -> DriverCounters {
        DriverCounters {
            since: now,
            begin: Some(now),
            waiting_max: waiting,
            ..DriverCounters::default()
        }
    }

    /// A request arrives.
    pub fn arrives(&mut self, command: &Command, class: Class) {
        self.requests += 1;
        self.reads += u64::from(command.op == Op::Read);
        self.writes += u64::from(command.op == Op::Write);
        self.critical += u64::from(class == Class::Critical);
        self.limited += u64::from(class == Class::Limited);
    }

    /// One is sent below that is made of `parts` requests.
    pub fn sends(&mut self, parts: usize) {
        self.sent += 1;
        self.joined += parts as u64 - 1;
    }

    /// A waiting request becomes urgent.
    pub fn raised(&mut self) {
        self.raised += 1;
    }

    /// Requests have waited too long.
    pub fn late(&mut self, requests: u64) {
        self.late += requests;
    }

    /// `waiting` requests wait now.
    pub fn waits(&mut self, waiting: usize) {
        self.waiting_max = self.waiting_max.max(waiting);
    }

    /// A request ends, so long after its arrival and after it was sent.
    pub fn ends(&mut self, response: Time, access: Time) {
        self.completed += 1;
        self.response.add(response);
        self.access.add(access);
    }

    /// Until `now`, `outstanding` requests were below, and `waiting` waited.
    pub fn clock(&mut self, now: Time, outstanding: u32, waiting: usize) {
        self.begin.get_or_insert(now);
        let span = u128::from((now - self.since).ns());
        self.outstanding += span * u128::from(outstanding);
        self.waiting += span * waiting as u128;
        self.since = now;
    }

    /// Everything, of a run that took `elapsed`, and longer where a parent went on with this device.
    pub fn report(&self, elapsed: Time) -> Map<String, Value> {
        let own = self.begin.map_or(Time::ZERO, |begin| self.since - begin);
        let elapsed = elapsed.max(own);
        let mean = |area: u128| match elapsed {
            Time::ZERO => 0.0,
            elapsed => area as f64 / elapsed.ns() as f64,
        };
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.reads));
        put("writes", json!(self.writes));
        put("critical", json!(self.critical));
        put("limited", json!(self.limited));
        put("completed", json!(self.completed));
        put("sent", json!(self.sent));
        put("joined", json!(self.joined));
        put("raised", json!(self.raised));
        put("late", json!(self.late));
        put("response_ms", times(&self.response));
        put("physical_access_ms", times(&self.access));
        put("outstanding_mean", json!(mean(self.outstanding)));
        put("queue_length_mean", json!(mean(self.waiting)));
        put("queue_length_max", json!(self.waiting_max));
        report
    }
}

/// What is told of times, without the interval of their mean: that is the whole run's.
fn times(series: &Series) -> Value {
    let mut times = series.json();
    if let Value::Object(times) = &mut times {
        times.remove("ci95");
    }
    times
}

//! What a hard disk counts, and how it reports it.

use serde_json::{Map, Value, json};

use super::PARTS;
use crate::base::units::Time;
use crate::devices::measured::Measured;
use crate::engine::request::{Op, Part, Parts};
use crate::models::queue::Pending;

/// Counts, sums and extremes over a run.
#[derive(Default)]
pub(super) struct HddCounters {
    pub(super) requests: u64,
    measured: Measured<Sums>,
    /// Requests by the number of their operation.
    by_op: [u64; Op::NUMBERS],
    pub(super) accesses: u64,
    pub(super) read_modify_writes: u64,
    pub(super) seeks: u64,
    pub(super) seek_cylinders: u64,
    /// Motions of the arm without a request.
    pub(super) travels: u64,
    pub(super) travel_cylinders: u64,
    /// How long the medium has been at work or will be, ns; of the whole run.
    pub(super) busy: u128,
    /// What the accesses of the arms went into, ns.
    parts: [u128; Part::COUNT],
    pub(super) queue_max: usize,
    /// Integral of the queue's length over time, request·ns; of the whole run.
    pub(super) queue_area: u128,
    pub(super) queue_since: Time,
    /// The longest time from the queue to the start.
    longest_wait: Time,
    /// Served requests by the number of parts that were merged into them, from one on.
    merged: Vec<u64>,
}

/// Sums over time up to an instant.
#[derive(Clone, Copy)]
struct Sums {
    busy: u128,
    queue_area: u128,
}

impl HddCounters {
    /// A request arrives at `now`.
    #[inline]
    pub(super) fn arrives(&mut self, op: Op, now: Time) {
        let (busy, queue_area) = (self.busy, self.queue_area);
        self.measured.begin(now, || Sums { busy, queue_area });
        self.requests += 1;
        self.by_op[op.number()] += 1;
    }

    /// Since the last change of its length up to `now` the queue has had `queued` requests.
    #[inline]
    pub(super) fn clock_queue(&mut self, now: Time, queued: usize) {
        if now == self.queue_since {
            return;
        }
        let span = now - self.queue_since;
        self.queue_area += u128::from(span.ns()) * queued as u128;
        self.queue_since = now;
    }

    /// Begins anew at `now`, with `queued` requests in the queue and a medium that is at work until `busy_until`.
    pub(super) fn measure_from(&mut self, now: Time, queued: usize, busy_until: Time) {
        let mut measured = Measured::default();
        measured.begin_anew(now, self.sums(now, busy_until));
        *self = HddCounters {
            measured,
            queue_since: now,
            queue_max: queued,
            busy: self.busy,
            queue_area: self.queue_area,
            ..HddCounters::default()
        };
    }

    /// From when on it counts: the first request, or the end of the warm-up.
    pub(super) fn since(&self) -> Option<Time> {
        self.measured.since()
    }

    /// What has been summed up to `now`, when the queue was clocked, while the medium is at work until `busy_until`.
    fn sums(&self, now: Time, busy_until: Time) -> Sums {
        let rest = busy_until.saturating_sub(now);
        Sums {
            busy: self.busy.saturating_sub(u128::from(rest.ns())),
            queue_area: self.queue_area,
        }
    }

    /// The load has ended at `now`, while the medium is at work until `busy_until`: the rest of that time is not measured.
    pub(super) fn measure_until(&mut self, now: Time, busy_until: Time) {
        self.measured.end(now, self.sums(now, busy_until));
    }

    /// An arm moves over `cylinders` cylinders without a request.
    pub(super) fn travelled(&mut self, cylinders: u32, time: Time) {
        self.travels += 1;
        self.travel_cylinders += u64::from(cylinders);
        self.parts[Part::Seek as usize] += u128::from(time.ns());
    }

    /// A request, merged or not, is picked at `now`.
    #[inline]
    pub(super) fn picked(&mut self, pending: &Pending, now: Time, merges: bool) {
        self.longest_wait = self.longest_wait.max(now - pending.entered);
        if merges {
            self.count_merge(pending.parts());
        }
    }

    /// Counts a request of so many parts.
    #[inline(never)]
    fn count_merge(&mut self, parts: usize) {
        let index = parts - 1;
        if self.merged.len() <= index {
            self.merged.resize(index + 1, 0);
        }
        self.merged[index] += 1;
    }

    /// An access to the medium, for which an arm moved over `distance` cylinders.
    #[inline]
    pub(super) fn accessed(&mut self, distance: u32, read_modify_writes: u32) {
        self.accesses += 1;
        self.read_modify_writes += u64::from(read_modify_writes);
        self.seeks += u64::from(distance > 0);
        self.seek_cylinders += u64::from(distance);
    }

    /// What the time of an access went into.
    #[inline]
    pub(super) fn spent(&mut self, parts: &Parts) {
        // One by one: several together would wait for those that have only just been written.
        for part in PARTS {
            self.parts[part as usize] += u128::from(parts.get(part).ns());
        }
    }

    /// Adds how many requests of one part, two parts and so on were served, and how many requests were parts of others.
    pub(super) fn report_merges(&self, report: &mut Map<String, Value>) {
        let sizes = (1u64..).zip(&self.merged).filter(|&(_, &count)| count > 0);
        let joined: u64 = sizes
            .clone()
            .map(|(parts, count)| (parts - 1) * count)
            .sum();
        let sizes = sizes.map(|(parts, &count)| (parts.to_string(), json!(count)));
        report.insert("merged_requests".to_owned(), json!(joined));
        let sizes: Map<String, Value> = sizes.collect();
        report.insert("merge_sizes".to_owned(), sizes.into());
    }
}

impl HddCounters {
    /// Counters and shares of a run of which `elapsed` was measured, with `promotions` picks that a scheduler promoted, of a medium that is at
    /// work until `busy_until`.
    pub(super) fn report(
        &self,
        elapsed: Time,
        promotions: u64,
        busy_until: Time,
    ) -> Map<String, Value> {
        let share = |of: fn(&Sums) -> u128| {
            let last = |end| self.sums(end, busy_until);
            self.measured.mean(elapsed, last, of)
        };
        let mean = |sum: u64, n: u64| if n == 0 { 0.0 } else { sum as f64 / n as f64 };
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.by_op[Op::Read.number()]));
        put("writes", json!(self.by_op[Op::Write.number()]));
        put("media_accesses", json!(self.accesses));
        put("read_modify_writes", json!(self.read_modify_writes));
        put("seeks", json!(self.seeks));
        put(
            "seek_distance_mean_cylinders",
            json!(mean(self.seek_cylinders, self.accesses)),
        );
        put("travels", json!(self.travels));
        put("travel_cylinders", json!(self.travel_cylinders));
        put("utilisation", json!(share(|sums| sums.busy)));
        put("queue_length_mean", json!(share(|sums| sums.queue_area)));
        put("queue_length_max", json!(self.queue_max));
        put("promotions", json!(promotions));
        put("longest_wait_ms", json!(self.longest_wait.ms()));
        report
    }

    /// The time of every part, ms.
    pub(super) fn busy_ms(&self) -> Value {
        let ms = |part: &Part| json!(self.parts[*part as usize] as f64 / 1e6);
        let parts = PARTS.iter().map(|part| (part.name().to_owned(), ms(part)));
        let parts: Map<String, Value> = parts.collect();
        parts.into()
    }
}

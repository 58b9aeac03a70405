//! Counts and distributions of the host's requests, in the order of their completions.

use serde_json::{Map, Value, json};

use super::digest::Digest;
use super::group::{Group, rate};
use super::interval::{Batches, NoInterval};
use super::series::{FEWEST_ABOVE, PERCENTILES, Series};
use crate::base::units::Time;
use crate::engine::request::{Op, Outcome, Part, Request};

/// The operations, in the order of their numbers.
const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Flush, Op::Trim];

/// Requests of a batch: enough that its cost is shared, few enough that they stay in the fastest cache.
pub(super) const BATCH: usize = 64;

/// A completed request.
pub(super) struct Completed {
    pub request: Request,
    /// Of which of the load's streams it is, from 0.
    pub stream: u32,
    /// It is in the statistics: not of the warm-up, and without an error.
    pub is_measured: bool,
}

/// What is kept of all requests.
#[derive(Default)]
pub struct Measurements {
    completed: u64,
    /// Those completed by the number of their operation.
    completed_by_op: [u64; Op::NUMBERS],
    blocks: u64,
    failed: u64,
    first_arrival: Option<Time>,
    /// When the warm-up was over, as far as is known.
    measured_since: Option<Time>,
    last_completion: Time,
    /// What is measured, by operation.
    by_op: [Group; OPS.len()],
    /// What is measured of the streams of the load, by the name that they are reported under.
    by_stream: Vec<Reported>,
    /// Which of these each stream is.
    reported: Vec<u32>,
    /// Of the times of all measured requests, in the order of their completions.
    response: Batches,
    service: Batches,
    access: Series,
    parts: [u128; Part::COUNT],
    issue_lag_sum: u128,
    issue_lag_max: Time,
    digest: Digest,
    columns: Box<Columns>,
}

/// What is measured of the streams of one name.
#[derive(Default)]
struct Reported {
    name: String,
    group: Group,
    /// Where streams begin and end by a plan: when the first of them is measured, and its last measured completion.
    from: Option<Time>,
    to: Time,
}

impl Reported {
    /// The time that its rates are of; `all` is that of the whole run.
    fn span(&self, all: Time) -> Time {
        self.from.map_or(all, |from| self.to.saturating_sub(from))
    }

    /// Its object of results.
    fn json(&self, all: Time) -> Value {
        let span = self.span(all);
        let mut object = self.group.json(span);
        object["measured_s"] = json!(span.s());
        object
    }
}

/// The measured requests of a batch, by what is measured of them; kept for its memory.
#[derive(Default)]
struct Columns {
    all: Times,
    by_op: [Times; OPS.len()],
    access: Column,
}

/// Times of some requests, and the blocks that they asked for.
#[derive(Default)]
struct Times {
    blocks: u64,
    response: Column,
    service: Column,
}

/// Times of the requests of a batch, ns.
struct Column {
    count: usize,
    times: [u64; BATCH],
}

impl Default for Column {
    fn default() -> Column {
        Column {
            count: 0,
            times: [0; BATCH],
        }
    }
}

impl Column {
    #[inline]
    fn push(&mut self, time: Time) {
        self.times[self.count] = time.ns();
        self.count += 1;
    }

    /// The times, of which it then has none.
    #[inline]
    fn take(&mut self) -> &[u64] {
        &self.times[..std::mem::take(&mut self.count)]
    }
}

impl Times {
    #[inline]
    fn add(&mut self, request: &Request) {
        self.blocks += u64::from(request.command.blocks);
        self.response.push(request.response());
        self.service.push(request.service());
    }
}

/// Instants before this, 2.3 years, let [`BATCH`] times be summed in 64 bits.
const EARLY: Time = Time::from_ns(u64::MAX / BATCH as u64 / 4);

impl Measurements {
    /// Tells apart the streams of these names.
    pub(super) fn tell_apart(&mut self, streams: Vec<String>) {
        for name in streams {
            let known = self.by_stream.iter().position(|all| all.name == name);
            let index = known.unwrap_or(self.by_stream.len());
            if known.is_none() {
                self.by_stream.push(Reported {
                    name,
                    ..Reported::default()
                });
            }
            self.reported.push(index as u32);
        }
    }

    /// A stream begins, and is measured from an instant on.
    pub(super) fn stream_begins(&mut self, stream: u32, measured_from: Time) {
        if let Some(index) = self.reported.get(stream as usize) {
            let from = &mut self.by_stream[*index as usize].from;
            *from = Some(from.map_or(measured_from, |first| first.min(measured_from)));
        }
    }

    /// The first request arrives.
    pub(super) fn starts(&mut self, at: Time) {
        self.first_arrival = Some(at);
    }

    /// What is measured begins at an instant; the last one told counts.
    pub(super) fn begin_at(&mut self, at: Time) {
        self.measured_since = Some(at);
    }

    /// Adds the next completions, at most [`BATCH`].
    pub(super) fn add(&mut self, batch: &[Completed]) {
        self.digest
            .add(batch.iter().map(|completed| &completed.request));
        self.count(batch);
        self.add_parts(batch);
        self.add_times(batch);
        for Completed { request, .. } in measured(batch) {
            let lag = request.issue - request.arrival;
            self.issue_lag_sum += u128::from(lag.ns());
            self.issue_lag_max = self.issue_lag_max.max(lag);
        }
        if !self.by_stream.is_empty() {
            self.add_to_streams(batch);
        }
    }

    fn add_to_streams(&mut self, batch: &[Completed]) {
        for Completed {
            request, stream, ..
        } in measured(batch)
        {
            if let Some(index) = self.reported.get(*stream as usize) {
                let reported = &mut self.by_stream[*index as usize];
                reported.group.add(request);
                reported.to = reported.to.max(request.completion);
            }
        }
    }

    /// Counts completions, measured or not.
    fn count(&mut self, batch: &[Completed]) {
        self.completed += batch.len() as u64;
        for Completed { request, .. } in batch {
            self.completed_by_op[request.command.op.number()] += 1;
            self.blocks += u64::from(request.command.blocks);
            self.failed += u64::from(request.outcome != Some(Outcome::Ok));
            self.last_completion = self.last_completion.max(request.completion);
        }
    }

    fn add_parts(&mut self, batch: &[Completed]) {
        let at_once = if self.last_completion < EARLY {
            BATCH
        } else {
            1
        };
        for some in batch.chunks(at_once) {
            let mut sums = [0u64; Part::COUNT];
            for completed in measured(some) {
                for (sum, part) in sums.iter_mut().zip(completed.request.parts.all()) {
                    *sum += part.ns();
                }
            }
            for (all, sum) in self.parts.iter_mut().zip(sums) {
                *all += u128::from(sum);
            }
        }
    }

    fn add_times(&mut self, batch: &[Completed]) {
        let Columns { all, by_op, access } = &mut *self.columns;
        for Completed { request, .. } in measured(batch) {
            all.add(request);
            by_op[request.command.op.number()].add(request);
            if !request.shares_access {
                access.push(request.parts.access());
            }
        }
        self.response.add_all(all.response.take());
        self.service.add_all(all.service.take());
        self.access.add_all(access.take());
        for ((group, op), times) in self.by_op.iter_mut().zip(OPS).zip(by_op) {
            let blocks = std::mem::take(&mut times.blocks);
            group.add_all(op, blocks, times.response.take(), times.service.take());
        }
    }

    /// The number of requests that are in the statistics.
    pub fn measured_count(&self) -> u64 {
        self.by_op.iter().map(Group::count).sum()
    }

    /// The number of requests completed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Those of them that ended with an error.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// From the first arrival to the last completion.
    pub fn span(&self) -> Time {
        self.last_completion
            .saturating_sub(self.first_arrival.unwrap_or_default())
    }

    /// The time that rates are of: up to the last completion from the end of the warm-up, or from the first arrival where there is none.
    pub fn measured_span(&self) -> Time {
        let (from, to) = self.measured_window();
        to.saturating_sub(from)
    }

    /// From when until when [that](Self::measured_span) is.
    pub fn measured_window(&self) -> (Time, Time) {
        let start = self.measured_since.or(self.first_arrival);
        (start.unwrap_or_default(), self.last_completion)
    }

    /// The digest so far.
    pub fn digest(&self) -> String {
        self.digest.to_string()
    }

    /// The counts that belong into `requests` of a result.
    pub fn counts(&self) -> Map<String, Value> {
        let counts = [
            ("completed", self.completed),
            ("measured", self.measured_count()),
            ("reads", self.completed_by_op[Op::Read.number()]),
            ("writes", self.completed_by_op[Op::Write.number()]),
            ("blocks", self.blocks),
            ("failed", self.failed),
        ];
        counts
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect()
    }

    /// Adds the statistics to a result.
    pub fn statistics(&self, result: &mut Map<String, Value>) {
        let measured = self.measured_count();
        let span = self.measured_span();
        result.insert("simulated_s".into(), json!(self.span().s()));
        result.insert("measured_s".into(), json!(span.s()));
        result.insert("iops".into(), json!(rate(measured as f64, span)));
        let mb_per_s: f64 = self.by_op.iter().map(|op| op.mb_per_s(span)).sum();
        result.insert("mb_per_s".into(), json!(mb_per_s));
        let measured = measured.max(1) as f64;
        let lag = json!({
            "mean": self.issue_lag_sum as f64 / measured / 1e6,
            "max": self.issue_lag_max.ms(),
        });
        result.insert("issue_lag_ms".into(), lag);
        result.insert("response_ms".into(), self.responses().json());
        result.insert("service_ms".into(), self.services().json());
        result.insert("access_ms".into(), self.access.json());
        let parts = Part::ALL.iter().zip(&self.parts);
        let parts: Map<String, Value> = parts
            .map(|(part, &sum)| (part.name().to_owned(), json!(sum as f64 / measured / 1e6)))
            .collect();
        result.insert("parts_ms".into(), parts.into());
        let by_op = OPS.map(Op::name).into_iter().zip(&self.by_op);
        result.insert("by_op".into(), groups(by_op, span));
        if !self.by_stream.is_empty() {
            let measured = self.by_stream.iter().filter(|all| all.group.count() > 0);
            let streams = measured.map(|all| (all.name.clone(), all.json(span)));
            result.insert("by_stream".into(), streams.collect::<Map<_, _>>().into());
        }
    }

    /// Adds to an object all keys that [`Self::statistics`] may add.
    pub fn outline(&self, result: &mut Map<String, Value>) {
        self.statistics(result);
        let group = || Group::default().json(Time::ZERO);
        let groups = |names: &mut dyn Iterator<Item = &str>| -> Value {
            let groups = names.map(|name| (name.to_owned(), group()));
            groups.collect::<Map<_, _>>().into()
        };
        result.insert("by_op".into(), groups(&mut OPS.map(Op::name).into_iter()));
        if !self.by_stream.is_empty() {
            let streams = self.by_stream.iter();
            let streams = streams.map(|all| (all.name.clone(), all.json(Time::ZERO)));
            result.insert("by_stream".into(), streams.collect::<Map<_, _>>().into());
        }
    }

    /// The service times of all reads and of all writes, in ms.
    pub fn service_totals_ms(&self) -> [f64; 2] {
        [Op::Read, Op::Write].map(|op| {
            let service = &self.by_op[op.number()].service;
            service.mean_ms() * service.count() as f64
        })
    }

    /// The response times of all measured requests.
    fn responses(&self) -> Series {
        Series::joined(self.by_op.iter().map(|op| &op.response), &self.response)
    }

    /// Their service times.
    fn services(&self) -> Series {
        Series::joined(self.by_op.iter().map(|op| &op.service), &self.service)
    }

    /// Adds the curves of all measured requests to what a picture shows.
    pub fn add_curves(&self, picture: &mut Value) {
        picture["response"]["all"] = self.responses().curve();
        picture["service"] = json!({ "all": self.services().curve() });
    }

    /// What the statistics should not be trusted for.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let count = self.measured_count();
        if count == 0 {
            warnings.push(
                "no request was measured: behind the warm-up none was completed without an error"
                    .to_owned(),
            );
            return warnings;
        }
        let thin: Vec<&str> = PERCENTILES
            .iter()
            .filter(|(_, quantile)| (1.0 - quantile) * (count as f64) < FEWEST_ABOVE - 1e-6)
            .map(|(name, _)| *name)
            .collect();
        if !thin.is_empty() {
            warnings.push(format!(
                "fewer than {FEWEST_ABOVE} of the {count} measured requests lie above {}: do not rely on it",
                thin.join(", ")
            ));
        }
        match self.response.ci95() {
            Ok(_) => {}
            Err(NoInterval::TooShort) => warnings.push(too_few(count)),
            Err(NoInterval::Correlated) => warnings.push(CORRELATED.to_owned()),
        }
        if self.failed > 0 {
            warnings.push(format!("{} requests ended with an error", self.failed));
        }
        warnings
    }
}

/// Why a run has no interval of its response time that has requests enough.
pub(crate) const CORRELATED: &str = "response times are correlated over the whole run: no confidence interval (run longer, or \
    repeat with other seeds)";

const TOO_FEW: &str =
    "measured requests are too few for a confidence interval of the response time";

/// Why a run has no interval of its response time that has few requests.
pub(crate) fn too_few(requests: u64) -> String {
    format!("{requests} {TOO_FEW}")
}

/// Whether a warning is that a single run has no interval of its response time: of several runs with other seeds there is one.
pub(crate) fn is_of_one_run(warning: &str) -> bool {
    warning == CORRELATED || warning.ends_with(TOO_FEW)
}

/// Those of a batch that are in the statistics.
#[inline]
fn measured(batch: &[Completed]) -> impl Iterator<Item = &Completed> {
    batch.iter().filter(|completed| completed.is_measured)
}

/// Those of the groups that have requests, by name.
fn groups<'a>(groups: impl Iterator<Item = (&'a str, &'a Group)>, span: Time) -> Value {
    let groups = groups.filter(|(_, group)| group.count() > 0);
    let groups = groups.map(|(name, group)| (name.to_owned(), group.json(span)));
    groups.collect::<Map<_, _>>().into()
}

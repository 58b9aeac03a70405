//! Counts and distributions of the host's requests, as they complete.

use serde_json::{Map, Value, json};

use super::digest::Digest;
use super::group::{Group, rate};
use super::interval::{Batches, NoInterval};
use super::picture::Picture;
use super::series::{FEWEST_ABOVE, PERCENTILES, Series};
use crate::base::units::Time;
use crate::engine::request::{Op, Outcome, Part, Request};
use crate::engine::window::{WarmUp, Window};

/// The operations, in the order of their numbers.
const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Flush, Op::Trim];

/// The most streams of a load that are told apart: each takes some 100 KiB for its distributions.
pub const MOST_STREAMS: usize = 256;

/// What is kept of all requests.
#[derive(Default)]
pub struct Recorder {
    warm_up: WarmUp,
    arrived: u64,
    /// Requests of the warm-up that have arrived and are not complete.
    warming_up: u64,
    /// When the warm-up was over, as far as is known.
    measured_since: Option<Time>,
    completed: u64,
    reads: u64,
    writes: u64,
    blocks: u64,
    failed: u64,
    first_arrival: Option<Time>,
    last_completion: Time,
    /// What is measured, by operation.
    by_op: [Group; OPS.len()],
    /// What is measured of each stream of the load, where it has several.
    by_stream: Vec<(String, Group)>,
    /// Of the times of all measured requests, in the order of their completions.
    response: Batches,
    service: Batches,
    access: Series,
    parts: [u128; Part::COUNT],
    issue_lag_sum: u128,
    issue_lag_max: Time,
    digest: Digest,
    picture: Option<Box<Picture>>,
}

impl Recorder {
    /// A recorder that leaves the warm-up out of its statistics, though not out of its counts and digest.
    pub fn new(warm_up: WarmUp) -> Recorder {
        Recorder {
            warm_up,
            ..Recorder::default()
        }
    }

    /// Collects what a picture of a run on a device of so many blocks is drawn from; `window` is that of the disks' films.
    #[must_use]
    pub fn with_picture(mut self, blocks: u64, window: Option<Window>) -> Recorder {
        let picture = Picture::new(self.warm_up, blocks).with_window(window);
        self.picture = Some(Box::new(picture));
        self
    }

    /// Tells apart the streams of these names, if they are not too many.
    #[must_use]
    pub fn with_streams(mut self, names: Vec<String>) -> Recorder {
        if names.len() <= MOST_STREAMS {
            let streams = names.into_iter().map(|name| (name, Group::default()));
            self.by_stream = streams.collect();
        }
        self
    }

    /// Notes an arrival; the first one starts the clock.
    #[inline]
    pub fn arrived(&mut self, at: Time) {
        self.first_arrival.get_or_insert(at);
        self.warming_up += u64::from(self.is_of_warm_up(self.arrived, at));
        self.arrived += 1;
        if let Some(picture) = &mut self.picture {
            picture.arrived(at);
        }
    }

    /// Notes a completion of a request of a stream, counted from 0. `true` where no request of the warm-up is left: unless more of them
    /// arrive, what is measured begins now.
    pub fn completed(&mut self, request: &Request, stream: u32) -> bool {
        self.completed += 1;
        match request.command.op {
            Op::Read => self.reads += 1,
            Op::Write => self.writes += 1,
            Op::Flush | Op::Trim => {}
        }
        self.blocks += u64::from(request.command.blocks);
        let failed = request.outcome != Some(Outcome::Ok);
        self.failed += u64::from(failed);
        self.last_completion = self.last_completion.max(request.completion);
        self.digest.add(request);
        let is_warm_up = self.is_of_warm_up(request.sequence, request.arrival);
        let is_measured = !failed && !is_warm_up;
        if let Some(picture) = &mut self.picture {
            picture.completed(request, is_measured);
        }
        if is_warm_up {
            self.warming_up -= 1;
            let is_over = self.warming_up == 0;
            if is_over {
                self.measured_since = Some(request.completion);
            }
            return is_over;
        }
        if failed {
            return false;
        }
        self.by_op[request.command.op as usize].add(request);
        if let Some((_, stream)) = self.by_stream.get_mut(stream as usize) {
            stream.add(request);
        }
        self.response.add(request.response().ns());
        self.service.add(request.service().ns());
        if !request.shares_access {
            self.access.add(request.parts.access());
        }
        for (sum, part) in self.parts.iter_mut().zip(Part::ALL) {
            *sum += u128::from(request.parts.get(*part).ns());
        }
        let lag = request.issue - request.arrival;
        self.issue_lag_sum += u128::from(lag.ns());
        self.issue_lag_max = self.issue_lag_max.max(lag);
        false
    }

    #[inline]
    fn is_of_warm_up(&self, sequence: u64, arrival: Time) -> bool {
        match self.warm_up {
            WarmUp::None => false,
            WarmUp::Requests(requests) => sequence < requests,
            WarmUp::Time(time) => {
                arrival.saturating_sub(self.first_arrival.unwrap_or_default()) < time
            }
        }
    }

    /// Requests that are in the statistics.
    fn measured_count(&self) -> u64 {
        self.by_op.iter().map(Group::count).sum()
    }

    /// The number of requests completed.
    pub fn completed_count(&self) -> u64 {
        self.completed
    }

    /// Requests that ended with an error.
    pub fn failed_count(&self) -> u64 {
        self.failed
    }

    /// From the first arrival to the last completion.
    pub fn span(&self) -> Time {
        self.last_completion
            .saturating_sub(self.first_arrival.unwrap_or_default())
    }

    /// The time that rates are of: up to the last completion from the end of the warm-up, or from the first arrival where there is none.
    pub fn measured_span(&self) -> Time {
        let start = self.measured_since.or(self.first_arrival);
        self.last_completion
            .saturating_sub(start.unwrap_or_default())
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
            ("reads", self.reads),
            ("writes", self.writes),
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
            let streams = self.by_stream.iter();
            let streams = streams.map(|(name, group)| (name.as_str(), group));
            result.insert("by_stream".into(), groups(streams, span));
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
            let mut names = self.by_stream.iter().map(|(name, _)| name.as_str());
            result.insert("by_stream".into(), groups(&mut names));
        }
    }

    /// The response times of all measured requests.
    fn responses(&self) -> Series {
        Series::joined(self.by_op.iter().map(|op| &op.response), &self.response)
    }

    /// Their service times.
    fn services(&self) -> Series {
        Series::joined(self.by_op.iter().map(|op| &op.service), &self.service)
    }

    /// What a picture is drawn from, where it was collected.
    pub fn picture(&self) -> Option<Value> {
        let mut picture = self.picture.as_ref()?.json();
        picture["response"]["all"] = self.responses().curve();
        picture["service"] = json!({ "all": self.services().curve() });
        Some(picture)
    }

    /// What the statistics should not be trusted for.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let count = self.measured_count();
        if count == 0 {
            warnings.push(
                "no request was measured: the run is empty or all of it was warm-up".to_owned(),
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
            Err(NoInterval::TooShort) => warnings.push(format!(
                "{count} measured requests are too few for a confidence interval of the response time"
            )),
            Err(NoInterval::Correlated) => warnings.push(
                "response times are correlated over the whole run: no confidence interval (run longer, or \
                 repeat with other seeds)"
                    .to_owned(),
            ),
        }
        if self.failed > 0 {
            warnings.push(format!("{} requests ended with an error", self.failed));
        }
        warnings
    }
}

/// Those of the groups that have requests, by name.
fn groups<'a>(groups: impl Iterator<Item = (&'a str, &'a Group)>, span: Time) -> Value {
    let groups = groups.filter(|(_, group)| group.count() > 0);
    let groups = groups.map(|(name, group)| (name.to_owned(), group.json(span)));
    groups.collect::<Map<_, _>>().into()
}

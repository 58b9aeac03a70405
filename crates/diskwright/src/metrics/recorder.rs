//! Counts and distributions of the host's requests, as they complete.

use serde_json::{Map, Value, json};

use super::digest::Digest;
use super::interval::NoInterval;
use super::picture::Picture;
use super::picture::window::Window;
use super::series::{FEWEST_ABOVE, PERCENTILES, Series};
use crate::base::units::Time;
use crate::engine::request::{Op, Outcome, Part, Request};

/// How much of the start of a run is left out of the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmUp {
    /// Nothing.
    #[default]
    None,
    /// The first so many requests, by arrival.
    Requests(u64),
    /// Requests that arrive before this time has passed since the first arrival.
    Time(Time),
}

/// What is kept of all requests.
#[derive(Default)]
pub struct Recorder {
    warm_up: WarmUp,
    completed: u64,
    reads: u64,
    writes: u64,
    blocks: u64,
    failed: u64,
    first_arrival: Option<Time>,
    last_completion: Time,
    response: Series,
    service: Series,
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

    /// Notes an arrival; the first one starts the clock of the rates.
    #[inline]
    pub fn arrived(&mut self, at: Time) {
        self.first_arrival.get_or_insert(at);
        if let Some(picture) = &mut self.picture {
            picture.arrived(at);
        }
    }

    /// Notes a completion.
    pub fn completed(&mut self, request: &Request) {
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
        let is_measured = !failed && !self.is_warming_up(request);
        if let Some(picture) = &mut self.picture {
            picture.completed(request, is_measured);
        }
        if !is_measured {
            return;
        }
        self.response.add(request.response());
        self.service.add(request.service());
        if !request.shares_access {
            self.access.add(request.parts.access());
        }
        for (sum, part) in self.parts.iter_mut().zip(Part::ALL) {
            *sum += u128::from(request.parts.get(*part).ns());
        }
        let lag = request.issue - request.arrival;
        self.issue_lag_sum += u128::from(lag.ns());
        self.issue_lag_max = self.issue_lag_max.max(lag);
    }

    fn is_warming_up(&self, request: &Request) -> bool {
        match self.warm_up {
            WarmUp::None => false,
            WarmUp::Requests(requests) => request.sequence < requests,
            WarmUp::Time(time) => {
                request
                    .arrival
                    .saturating_sub(self.first_arrival.unwrap_or_default())
                    < time
            }
        }
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

    /// The digest so far.
    pub fn digest(&self) -> String {
        self.digest.to_string()
    }

    /// The counts that belong into `requests` of a result.
    pub fn counts(&self) -> Map<String, Value> {
        let counts = [
            ("completed", self.completed),
            ("measured", self.response.count()),
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
        let measured = self.response.count().max(1) as f64;
        let lag = json!({
            "mean": self.issue_lag_sum as f64 / measured / 1e6,
            "max": self.issue_lag_max.ms(),
        });
        result.insert("issue_lag_ms".into(), lag);
        let span = self.span().s();
        result.insert("simulated_s".into(), json!(span));
        let iops = if span > 0.0 {
            self.completed as f64 / span
        } else {
            0.0
        };
        result.insert("iops".into(), json!(iops));
        result.insert("response_ms".into(), self.response.json());
        result.insert("service_ms".into(), self.service.json());
        result.insert("access_ms".into(), self.access.json());
        let parts = Part::ALL.iter().zip(&self.parts);
        let parts: Map<String, Value> = parts
            .map(|(part, &sum)| (part.name().to_owned(), json!(sum as f64 / measured / 1e6)))
            .collect();
        result.insert("parts_ms".into(), parts.into());
    }

    /// What a picture is drawn from, where it was collected.
    pub fn picture(&self) -> Option<Value> {
        let mut picture = self.picture.as_ref()?.json();
        picture["response"]["all"] = self.response.curve();
        picture["service"] = json!({ "all": self.service.curve() });
        Some(picture)
    }

    /// What the statistics should not be trusted for.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let count = self.response.count();
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
        match self.response.ci95_ms() {
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

//! What a host must know of a stream beside its requests: when it begins and ends, and how fast it may go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::Time;

use super::arrivals::ArrivalsSpec;
use super::rate::RateClock;
use super::refill::Refill;
use super::scope::Scope;
use super::spec::LoadSpec;

/// All users of a stream stop, wait until what is under way has completed, and pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseSpec {
    /// How long.
    pub time: Time,
    /// The number of requests from the end of one pause to the next; flushes are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// When so much time has passed since the end of the last pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
}

/// What makes the requests of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Arrival times, from the stream's beginning.
    Arrivals,
    /// Users: how many, or as many as the host's outstanding limit.
    Users(Option<u32>),
}

/// When a stream begins and ends, and how fast it may go.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// What makes its requests.
    pub source: Source,
    /// It begins when all streams of lower stages have ended,
    pub stage: u32,
    /// and not before this instant.
    pub start: Time,
    /// It issues nothing later than this after its beginning.
    pub duration: Option<Time>,
    /// Requests that arrive earlier than this after its beginning are not measured.
    pub warmup: Time,
    /// The other streams of its stage stop when it has ended.
    pub ends_stage: bool,
    /// The most that its users issue.
    pub rate: Option<RateClock>,
    /// When its users pause.
    pub pause: Option<PauseSpec>,
    /// When its users issue again.
    pub refill: Option<Refill>,
}

impl LoadSpec {
    /// Whether the load has a time of its own, which only a plan tells.
    pub(super) fn is_planned(&self) -> bool {
        let paced = match &self.arrivals {
            ArrivalsSpec::Closed(closed) => {
                closed.rate.is_some() || closed.pause.is_some() || closed.refill.is_some()
            }
            _ => false,
        };
        paced
            || self.requests.is_none()
            || self.stage > 0
            || !self.start.is_at_once()
            || self.duration.is_some()
            || self.warmup.is_some()
            || self.ends_stage
    }

    /// The plan of the load.
    ///
    /// # Errors
    /// A value that makes no sense; the message names its key.
    pub(super) fn plan(&self, scope: &Scope) -> Result<StreamPlan, InputError> {
        if self.requests.is_none() && self.duration.is_none() {
            let error = scope.wrong(
                "requests",
                " is missing, and duration, too: the load has no end",
            );
            return Err(error.help("give one of them, or both: the load ends with the first"));
        }
        if self.duration == Some(Time::ZERO) {
            return Err(scope.wrong("duration", " is 0: expected a time"));
        }
        let warmup = self.warmup.unwrap_or_default();
        if let Some(duration) = self.duration
            && warmup >= duration
        {
            let what = format_args!(
                " is {warmup}, and the load lasts {duration}: nothing would be measured"
            );
            return Err(scope.wrong("warmup", what));
        }
        let (source, rate, pause, refill) = match &self.arrivals {
            ArrivalsSpec::Closed(closed) => {
                let clock = |rate| RateClock::new(rate, scope);
                let rate = closed.rate.map(clock).transpose()?;
                let refill = |spec| Refill::new(spec, closed.users, scope);
                let refill = closed.refill.map(refill).transpose()?;
                (Source::Users(closed.users), rate, closed.pause, refill)
            }
            _ => (Source::Arrivals, None, None, None),
        };
        if let Some(pause) = pause {
            let wrong = match pause {
                PauseSpec {
                    time: Time::ZERO, ..
                } => "time is 0: expected a time",
                PauseSpec {
                    requests: Some(0), ..
                } => "requests is 0: expected 1 or more",
                PauseSpec {
                    period: Some(Time::ZERO),
                    ..
                } => "period is 0: expected a time",
                PauseSpec {
                    requests: None,
                    period: None,
                    ..
                } => "requests and period are missing: expected one of them, or both",
                _ => "",
            };
            if !wrong.is_empty() {
                return Err(scope.wrong("arrivals", format_args!(": closed.pause.{wrong}")));
            }
        }
        Ok(StreamPlan {
            source,
            stage: self.stage,
            start: self.start.draw(scope)?,
            duration: self.duration,
            warmup,
            ends_stage: self.ends_stage,
            rate,
            pause,
            refill,
        })
    }
}

//! Hears of the host's requests while a run goes on: arrivals, completions, the end of the warm-up.
//!
//! What is measured of completed requests is [`Measurements`]: they are handed over in batches, for a batch costs far less than its
//! requests one by one.

use std::collections::BTreeSet;

use super::jobs::Jobs;
use super::measurements::{BATCH, Completed, Measurements};
use super::picture::Picture;
use crate::base::units::Time;
use crate::engine::request::{Outcome, Request};
use crate::engine::window::{ArmTraceWindow, WarmUp};

/// The most streams of a load that are told apart: each takes some 100 KiB for its distributions.
pub const MOST_STREAMS: usize = 256;

/// What hears of arrivals and completions.
#[derive(Default)]
pub struct Recorder {
    warm_up: WarmUp,
    arrived: u64,
    /// Requests of the warm-up that have arrived and are not complete.
    warming_up: u64,
    completed: u64,
    first_arrival: Option<Time>,
    /// The last completions, in their order.
    batch: Vec<Completed>,
    measurements: Measurements,
    picture: Option<Box<Picture>>,
    jobs: Option<Box<Jobs>>,
    /// From when on each stream is measured, where each has a warm-up of its own.
    measured_from: Vec<Time>,
    /// A request that is measured has arrived.
    measures: bool,
}

impl Recorder {
    /// A recorder that leaves the warm-up out of its statistics, though not out of its counts and digest.
    pub fn new(warm_up: WarmUp) -> Recorder {
        Recorder {
            warm_up,
            batch: Vec::with_capacity(BATCH),
            ..Recorder::default()
        }
    }

    /// Collects what a picture of a run on a device of `blocks` blocks is drawn from; `window` is that of the disks' arm traces.
    #[must_use]
    pub fn with_picture(mut self, blocks: u64, window: Option<ArmTraceWindow>) -> Recorder {
        let picture = Picture::new(self.warm_up, blocks).with_window(window);
        self.picture = Some(Box::new(picture));
        self
    }

    /// Tells apart the streams of these names, if they are not too many; those with the same name are one.
    #[must_use]
    pub fn with_streams(mut self, names: Vec<String>) -> Recorder {
        let different: BTreeSet<&String> = names.iter().collect();
        if different.len() <= MOST_STREAMS {
            self.measurements.tell_apart(names);
        }
        self
    }

    /// Collects what fio tells of jobs: those of streams of these names.
    #[must_use]
    pub fn with_jobs(mut self, names: &[String]) -> Recorder {
        self.jobs = Some(Box::new(Jobs::new(names)));
        self
    }

    /// What fio tells of jobs, where it was collected.
    pub fn take_jobs(&mut self) -> Option<Box<Jobs>> {
        self.jobs.take()
    }

    /// A stream begins now, and is measured from an instant on.
    pub fn stream_begins(&mut self, stream: u32, now: Time, measured_from: Time) {
        if let Some(jobs) = &mut self.jobs {
            jobs.stream_begins(stream, now, measured_from);
        }
        self.measurements.stream_begins(stream, measured_from);
        if self.warm_up == WarmUp::ByStream {
            let index = stream as usize;
            if self.measured_from.len() <= index {
                self.measured_from.resize(index + 1, Time::MAX);
            }
            self.measured_from[index] = measured_from;
        }
    }

    /// Notes an arrival; the first one starts the clock. `true` where it is the first that is measured, of a load whose streams have
    /// warm-ups of their own.
    #[inline]
    pub fn arrived(&mut self, at: Time, stream: u32) -> bool {
        if self.first_arrival.is_none() {
            self.first_arrival = Some(at);
            self.measurements.starts(at);
        }
        let is_warm_up = self.is_of_warm_up(self.arrived, at, stream);
        let begins = self.warm_up == WarmUp::ByStream && !is_warm_up && !self.measures;
        if begins {
            self.measures = true;
            self.measurements.begin_at(at);
        }
        self.warming_up += u64::from(is_warm_up);
        self.arrived += 1;
        if self.jobs.is_some() || self.picture.is_some() {
            self.show_arrival(at, stream, !is_warm_up, begins);
        }
        begins
    }

    /// An arrival for what is collected besides measurements.
    #[cold]
    fn show_arrival(&mut self, at: Time, stream: u32, is_measured: bool, begins: bool) {
        if let Some(jobs) = &mut self.jobs {
            jobs.arrived(stream, is_measured);
        }
        if let Some(picture) = &mut self.picture {
            if begins {
                picture.measures_from(at);
            }
            picture.arrived(at);
        }
    }

    /// Notes a completion of a request of a stream, counted from 0. `true` where no request of the warm-up is left: unless more of them
    /// arrive, what is measured begins now.
    #[inline]
    pub fn completed(&mut self, request: &Request, stream: u32) -> bool {
        self.completed += 1;
        let is_warm_up = self.is_of_warm_up(request.sequence, request.arrival, stream);
        let is_measured = !is_warm_up && request.outcome == Some(Outcome::Ok);
        if self.jobs.is_some() || self.picture.is_some() {
            self.show_completion(request, stream, is_measured);
        }
        self.batch.push(Completed {
            request: request.clone(),
            stream,
            is_measured,
        });
        if self.batch.len() >= BATCH {
            self.hand_over();
        }
        is_warm_up && self.ends_warm_up(request.completion)
    }

    /// A completion for what is collected besides measurements.
    #[cold]
    fn show_completion(&mut self, request: &Request, stream: u32, is_measured: bool) {
        if let Some(picture) = &mut self.picture {
            picture.completed(request, is_measured);
        }
        if let Some(jobs) = &mut self.jobs {
            jobs.completed(request, stream, is_measured);
        }
    }

    /// A request of the warm-up is complete: whether it was the last.
    fn ends_warm_up(&mut self, at: Time) -> bool {
        self.warming_up -= 1;
        let is_over = self.warming_up == 0 && self.warm_up != WarmUp::ByStream;
        if is_over {
            self.measurements.begin_at(at);
        }
        is_over
    }

    #[inline]
    fn is_of_warm_up(&self, sequence: u64, arrival: Time, stream: u32) -> bool {
        match self.warm_up {
            WarmUp::None => false,
            WarmUp::Requests(requests) => sequence < requests,
            WarmUp::Time(time) => {
                arrival.saturating_sub(self.first_arrival.unwrap_or_default()) < time
            }
            WarmUp::ByStream => (self.measured_from.get(stream as usize))
                .is_some_and(|measured_from| arrival < *measured_from),
        }
    }

    /// The number of requests completed.
    #[inline]
    pub fn completed_count(&self) -> u64 {
        self.completed
    }

    #[inline(never)]
    fn hand_over(&mut self) {
        self.measurements.add(&self.batch);
        self.batch.clear();
    }

    /// Ends the recording: what was measured, and what a picture is drawn from, where it was collected.
    pub fn finish(&mut self) -> (Measurements, Option<Box<Picture>>) {
        self.hand_over();
        (std::mem::take(&mut self.measurements), self.picture.take())
    }
}

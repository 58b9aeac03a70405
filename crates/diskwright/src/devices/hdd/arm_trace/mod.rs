//! What a picture of a run shows of a disk at work: every step of the arm and of the requests in a short window of time.
//!
//! A request's steps are those of its critical path, and add up to the parts in the log of requests. What the arm does is
//! told beside: without a buffer it is the same; with one the arm also reads ahead, and writes behind completed requests.

pub mod json;
pub mod steps;

use super::tally::Track;
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Part, RequestId, ServedBy};
use crate::engine::window::ArmTraceWindow;
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::HeadPosition;
use steps::{ArmActivity, Step};

/// The most requests that an arm trace shows.
const MOST: usize = 2_000;
/// The most that it shows waiting at its end.
const MOST_WAITING: usize = 500;

/// A request in the arm trace.
pub struct TracedRequest {
    sequence: Option<u64>,
    command: Command,
    arrival: Time,
    /// When it got a slot in the drive's queue, if it has one.
    acceptance: Option<Time>,
    /// The track of its first sector, from that on, where it has a place.
    track: Option<Run>,
    /// How it was served, if it was.
    service: Option<TracedService>,
    /// How many of its shares, if it has several, wait for their arms.
    pub unbegun: usize,
}

impl TracedRequest {
    /// A request whose first sector is on a track, from that sector on.
    pub fn new(
        request: RequestId,
        track: Option<Run>,
        has_slot: bool,
        cx: &Context<'_>,
    ) -> TracedRequest {
        let entry = cx.request(request);
        TracedRequest {
            sequence: entry.of_host(),
            command: entry.command,
            arrival: entry.arrival,
            acceptance: has_slot.then_some(entry.acceptance),
            track,
            service: None,
            unbegun: 0,
        }
    }
}

/// How a request was served.
pub struct TracedService {
    /// Counts services: the name of this one.
    pub number: u64,
    /// When that began.
    pub start: Time,
    /// When it was complete.
    pub completion: Time,
    /// Where its data were.
    pub by: ServedBy,
    /// The steps of its critical path.
    pub steps: Vec<Step>,
}

/// What an arm does something for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A service, by its number: to read or to write.
    Service(u64, Op),
    /// A read before the arm trace, behind which it goes on reading.
    ReadAhead,
    /// The drive's own order: to read or to write.
    Cleaning(Op),
    /// The scheduler wants it to be somewhere.
    Travel,
}

/// What an arm did.
struct ArmWork {
    /// The number of the arm.
    arm: usize,
    purpose: Purpose,
    activity: ArmActivity,
}

/// Collected while a disk runs.
pub struct ArmTrace {
    /// What it shows.
    pub window: ArmTraceWindow,
    /// Where each arm is before its first work.
    rest: Vec<HeadPosition>,
    shown: Vec<TracedRequest>,
    works: Vec<ArmWork>,
    /// Those that wait when the window ends, and how many more there are.
    waiting: Vec<TracedRequest>,
    left_out: usize,
    services: u64,
    /// The service for which the medium began to read.
    pub reads_for: Option<u64>,
    is_open: bool,
    /// Whether all that begins from now on is beyond the window.
    pub is_closed: bool,
}

impl ArmTrace {
    /// An empty arm trace of a window.
    pub fn new(window: ArmTraceWindow) -> ArmTrace {
        ArmTrace {
            window,
            rest: Vec::new(),
            shown: Vec::new(),
            works: Vec::new(),
            waiting: Vec::new(),
            left_out: 0,
            services: 0,
            reads_for: None,
            is_open: false,
            is_closed: false,
        }
    }

    /// Whether what begins at `now` may be shown; `sequence` is that of the host's request, where it is for one.
    pub fn is_near(&self, sequence: Option<u64>, now: Time) -> bool {
        !self.is_closed && self.window.is_near(sequence, now)
    }

    /// The same of what begins without a service: the arms are known to be followed up to now, or an instant is awaited.
    pub fn is_near_behind(&self, now: Time) -> bool {
        let is_followed = self.is_open || self.window.from().is_some();
        is_followed && self.is_near(None, now)
    }

    /// A request is served, which may begin the window.
    pub fn serves(&self, sequence: Option<u64>, now: Time) {
        self.window.serves(sequence, now);
    }

    /// Whether it records what arms do.
    pub fn is_recording(&self) -> bool {
        self.is_open && !self.is_closed
    }

    /// Begins, unless it has, with the arms where they are.
    pub fn open(&mut self, arms: impl Iterator<Item = HeadPosition>) {
        if !self.is_open {
            self.is_open = true;
            self.rest = arms.collect();
        }
    }

    /// Makes room for a service of some requests that begins now; false where that is beyond the window.
    pub fn makes_room(&mut self, requests: usize, now: Time) -> bool {
        self.forget(now);
        let has_begun = self.window.from().is_some_and(|from| from <= now);
        if self.shown.len() + requests > MOST && has_begun {
            self.window.fill(now);
        }
        now < self.window.to()
    }

    /// Forgets what is over before the window begins.
    pub fn forget(&mut self, now: Time) {
        let from = self.window.from().unwrap_or(now).min(now);
        let is_shown = |shown: &TracedRequest| {
            let service = shown.service.as_ref();
            service.is_none_or(|service| service.completion > from)
        };
        self.shown.retain(is_shown);
        let rest = &mut self.rest;
        self.works.retain(|work| {
            let is_kept = work.activity.ends() > from;
            if !is_kept && let Some(arm) = work.activity.arm() {
                rest[work.arm] = arm;
            }
            is_kept
        });
    }

    /// The number of a new service.
    pub fn number(&mut self) -> u64 {
        self.services += 1;
        self.services - 1
    }

    /// Shows a request that was served.
    pub fn show(&mut self, shown: TracedRequest, served: TracedService) {
        let service = Some(served);
        self.shown.push(TracedRequest { service, ..shown });
    }

    /// Whether it shows a request with this service.
    pub fn shows(&self, number: u64) -> bool {
        self.place_of(number).is_some()
    }

    fn place_of(&self, number: u64) -> Option<usize> {
        self.shown.iter().rposition(|shown| {
            let service = shown.service.as_ref();
            service.is_some_and(|service| service.number == number)
        })
    }

    /// The service of the host's request `sequence` that was shown last ends later: it waits before that.
    pub fn ends_later(&mut self, sequence: Option<u64>, wait: Time) {
        let mut shown = self.shown.iter_mut().rev();
        let found = shown.find(|shown| shown.sequence == sequence && shown.service.is_some());
        let Some(service) = found.and_then(|shown| shown.service.as_mut()) else {
            return;
        };
        service.completion += wait;
        if let Some(&last) = service.steps.last() {
            service.steps.push(Step {
                part: Part::Wait,
                time: wait,
                slots: None,
                ..last
            });
        }
    }

    /// Shows a further share in a request that is shown already, of whose shares `unbegun` are left: the service of the request is that
    /// of the one that ends last.
    pub fn show_share(&mut self, served: TracedService, unbegun: usize, is_last: bool) {
        if let Some(place) = self.place_of(served.number) {
            let shown = &mut self.shown[place];
            shown.unbegun = unbegun;
            if is_last {
                shown.service = Some(served);
            }
        }
    }

    /// A further share begins beyond the window: if it ends last, the request is one that waited at the window's end.
    pub fn begins_late(&mut self, number: u64, is_last: bool) {
        let Some(place) = self.place_of(number) else {
            return;
        };
        if is_last {
            let mut shown = self.shown.remove(place);
            (shown.service, shown.unbegun) = (None, 0);
            self.waiting.push(shown);
        } else {
            self.shown[place].unbegun -= 1;
        }
    }

    /// Shows what an arm does.
    pub fn work(&mut self, arm: usize, purpose: Purpose, activity: ArmActivity) {
        if activity.steps.is_empty() {
            return;
        }
        // Of what was broken off for it, no more is seen.
        if let Some(last) = self.works.iter_mut().rfind(|work| work.arm == arm) {
            last.activity.cut(activity.begins);
        }
        self.works.push(ArmWork {
            arm,
            purpose,
            activity,
        });
    }

    /// Shows that the scheduler moves an arm to a place from now on.
    pub fn travel(&mut self, arm: usize, to: HeadPosition, time: Time, now: Time) {
        if self.is_recording() && now < self.window.to() {
            let step = Step {
                part: Part::Seek,
                time,
                by: arm,
                arm: to,
                slots: None,
            };
            let steps = vec![step];
            self.work(arm, Purpose::Travel, ArmActivity { begins: now, steps });
        }
    }

    /// The medium has read a track.
    pub fn read(&mut self, track: Track) {
        self.work(0, self.reads(), track.into());
    }

    /// What the medium reads for.
    fn reads(&self) -> Purpose {
        let service = self.reads_for;
        service.map_or(Purpose::ReadAhead, |number| {
            Purpose::Service(number, Op::Read)
        })
    }

    /// Everything that begins from now on is beyond the window. Of `requests`, those are shown that waited at its end: told are whether
    /// they have a slot in the drive's queue, and the track of a command's first sector.
    pub fn close(
        &mut self,
        requests: impl Iterator<Item = (RequestId, bool)>,
        track: impl Fn(&Command) -> Option<Run>,
        cx: &Context<'_>,
    ) {
        self.is_closed = true;
        for (request, has_slot) in requests {
            let entry = cx.request(request);
            if entry.arrival.min(entry.acceptance) >= self.window.to() {
                continue;
            }
            if self.waiting.len() < MOST_WAITING {
                let shown = TracedRequest::new(request, track(&entry.command), has_slot, cx);
                self.waiting.push(shown);
            } else {
                self.left_out += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Lbn;
    use crate::engine::window::ArmTraceFrom;
    use crate::engine::window::WarmUp;

    fn served(start: u64, completion: u64) -> TracedService {
        TracedService {
            number: 0,
            start: Time::from_ms(start),
            completion: Time::from_ms(completion),
            by: ServedBy::Medium,
            steps: Vec::new(),
        }
    }

    /// An arm trace whose window is over, of a request with three shares: one from 400 to 700 ms, one from 450 to 600 ms, one to come.
    fn trace() -> ArmTrace {
        let window =
            ArmTraceWindow::new(ArmTraceFrom::Instant(Time::ZERO), WarmUp::None).expect("wanted");
        let mut trace = ArmTrace::new(window);
        let shown = TracedRequest {
            sequence: Some(5),
            command: Command {
                op: Op::Read,
                fua: false,
                lbn: Lbn(0),
                blocks: 8,
            },
            arrival: Time::ZERO,
            acceptance: Some(Time::ZERO),
            track: None,
            service: None,
            unbegun: 2,
        };
        trace.show(shown, served(400, 700));
        trace.show_share(served(450, 600), 1, false);
        trace.is_closed = true;
        trace
    }

    fn start(trace: &ArmTrace) -> Option<Time> {
        Some(trace.shown.first()?.service.as_ref()?.start)
    }

    #[test]
    fn a_share_beyond_the_window_that_ends_before_another_one_completes_the_request() {
        let mut trace = trace();
        assert_eq!(
            (start(&trace), trace.shown[0].unbegun),
            (Some(Time::from_ms(400)), 1)
        );
        trace.begins_late(0, false);
        assert_eq!(
            (start(&trace), trace.shown[0].unbegun),
            (Some(Time::from_ms(400)), 0)
        );
        assert!(trace.waiting.is_empty());
    }

    #[test]
    fn a_share_beyond_the_window_that_ends_last_makes_it_a_request_that_waited() {
        let mut trace = trace();
        trace.begins_late(0, true);
        assert_eq!((trace.shown.len(), trace.waiting.len()), (0, 1));
        assert!(trace.waiting[0].service.is_none() && trace.waiting[0].unbegun == 0);
        // A further share finds nothing to change.
        trace.begins_late(0, true);
        assert_eq!(trace.waiting.len(), 1);
    }

    #[test]
    fn the_share_that_ends_last_is_the_service_of_the_request() {
        let mut trace = trace();
        trace.show_share(served(480, 900), 0, true);
        assert_eq!(
            (start(&trace), trace.shown[0].unbegun),
            (Some(Time::from_ms(480)), 0)
        );
    }
}

//! How a disk records its arm trace.

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use serde_json::Value;

use super::arm_trace::json::TracedArm;
use super::arm_trace::steps::StepRecorder;
use super::arm_trace::{Purpose, TracedRequest, TracedService};
use super::disk::Disk;
use super::tally::Track;
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId, ServedBy};
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::HeadPosition;
use crate::models::queue::{Pending, Slot};

/// What an arm trace keeps of a service.
pub(super) struct ServiceTrace {
    pub steps: StepRecorder,
    /// The requests that are served together, each with the track of its first sector when they were picked, from that on, where it had
    /// a place.
    requests: Vec<(RequestId, Option<Run>)>,
}

impl Disk {
    /// Begins to record a service that begins now, where the arm trace shows it.
    #[inline(always)]
    pub(super) fn begin_service_trace(
        &mut self,
        group: usize,
        slot: Slot,
        cx: &Context<'_>,
    ) -> Option<Box<ServiceTrace>> {
        match &self.arm_trace {
            Some(trace) if !trace.is_closed => {
                let pending = *self.queues[group].pool.get(slot);
                self.new_service_trace(group, &pending, cx).map(Box::new)
            }
            _ => None,
        }
    }

    #[cold]
    fn new_service_trace(
        &mut self,
        group: usize,
        pending: &Pending,
        cx: &Context<'_>,
    ) -> Option<ServiceTrace> {
        let (now, sequence) = (cx.now(), cx.request(pending.request).of_host());
        let trace = self.arm_trace.as_mut()?;
        if !trace.is_near(sequence, now) {
            return None;
        }
        trace.open(self.medium.arms.iter().map(|arm| arm.at));
        trace.serves(sequence, now);
        self.trace_tracks();
        let trace = self.arm_trace.as_mut()?;
        if trace.makes_room(pending.parts(), now) {
            let requests = self.requests_of(group, pending);
            let track = |request| (request, self.track_now(&cx.request(request).command));
            return Some(ServiceTrace {
                steps: StepRecorder::default(),
                requests: requests.map(track).collect(),
            });
        }
        self.end_arm_trace(group, pending, cx);
        None
    }

    /// Begins to record what the cleaner begins now, where the arm trace shows it.
    pub(super) fn begin_cleaning_trace(&mut self, now: Time) -> Option<StepRecorder> {
        let trace = self.arm_trace.as_mut()?;
        if !trace.is_near_behind(now) {
            return None;
        }
        trace.open(self.medium.arms.iter().map(|arm| arm.at));
        trace.makes_room(0, now).then(StepRecorder::default)
    }

    /// The track of the first of a command's sectors that has a place now, from that on: what is to be written into a log has none yet.
    fn track_now(&self, command: &Command) -> Option<Run> {
        match &self.log {
            Some(log) => Some(log.target(&self.medium, command, None)?.run),
            None => Some(self.medium.hardware.track_of(command)),
        }
    }

    /// Shows a service that began now, or a share in it: when it ends, where its data are, and whether an arm began to move for it.
    #[cold]
    pub(super) fn trace_service(
        &mut self,
        group: usize,
        slot: Slot,
        service_trace: Option<Box<ServiceTrace>>,
        how: (Time, ServedBy, bool),
        cx: &Context<'_>,
    ) {
        let pending = *self.queues[group].pool.get(slot);
        match service_trace {
            None => self.trace_late_share(group, &pending, how.0),
            Some(service_trace) => self.trace_shares(&pending, *service_trace, how, cx),
        }
    }

    /// A share begins beyond the window.
    fn trace_late_share(&mut self, group: usize, pending: &Pending, end: Time) {
        for request in self.requests_of(group, pending).collect::<Vec<_>>() {
            let shared = self.intake.shared.get(&request);
            if let (Some(shared), Some(trace)) = (shared, &mut self.arm_trace)
                && let Some(number) = shared.number
            {
                trace.begins_late(number, end >= shared.end);
            }
        }
    }

    fn trace_shares(
        &mut self,
        pending: &Pending,
        service_trace: ServiceTrace,
        (end, by, has_begun): (Time, ServedBy, bool),
        cx: &Context<'_>,
    ) {
        // Where reading ahead was interrupted.
        self.trace_tracks();
        let Some(mut trace) = self.arm_trace.take() else {
            return;
        };
        let shared = &mut self.intake.shared;
        let known = shared.get(&pending.request);
        let number = known.and_then(|shared| shared.number);
        let number = number.unwrap_or_else(|| trace.number());
        let ServiceTrace { steps, requests } = service_trace;
        for (request, track) in requests {
            let (mut own_number, mut unbegun, mut is_last) = (number, 0, true);
            if let Some(shared) = shared.get_mut(&request) {
                own_number = *shared.number.get_or_insert(number);
                (unbegun, is_last) = (shared.unbegun, end >= shared.end);
            }
            let served = TracedService {
                number: own_number,
                start: cx.now(),
                completion: end,
                by,
                steps: steps.steps().to_vec(),
            };
            if shared.contains_key(&request) && trace.shows(own_number) {
                trace.show_share(served, unbegun, is_last);
            } else {
                let mut shown = TracedRequest::new(request, track, true, cx);
                shown.unbegun = unbegun;
                trace.show(shown, served);
            }
        }
        let purpose = Purpose::Service(number, pending.command.op);
        match &self.buffered {
            None => {
                for (arm, activity) in steps.activities(cx.now()) {
                    trace.work(arm, purpose, activity);
                }
            }
            Some(buffered) => {
                for activity in steps.beside {
                    trace.work(0, purpose, activity);
                }
                if pending.command.op == Op::Read && has_begun {
                    trace.reads_for = Some(number);
                }
                if buffered.buffer.is_larger_than_a_segment(&pending.command) {
                    steps.left.into_iter().for_each(|track| trace.read(track));
                }
            }
        }
        self.arm_trace = Some(trace);
    }

    /// Shows what the cleaner began now.
    pub(super) fn trace_cleaning(&mut self, steps: &StepRecorder, op: Op, now: Time) {
        if let Some(trace) = &mut self.arm_trace {
            for (arm, activity) in steps.activities(now) {
                trace.work(arm, Purpose::Cleaning(op), activity);
            }
        }
    }

    /// Shows that a scheduler moves an arm from now on.
    pub(super) fn trace_travel(&mut self, arm: usize, to: HeadPosition, time: Time, now: Time) {
        self.trace_tracks();
        if let Some(trace) = &mut self.arm_trace {
            trace.travel(arm, to, time, now);
        }
    }

    /// Records what the buffer's medium has read.
    fn trace_tracks(&mut self) {
        if let (Some(trace), Some(buffered)) = (&mut self.arm_trace, &mut self.buffered)
            && trace.is_recording()
        {
            buffered.buffer.tracks().for_each(|track| trace.read(track));
        }
    }

    /// Everything that begins from now on, with the service of `next`, is beyond the window.
    fn end_arm_trace(&mut self, group: usize, next: &Pending, cx: &Context<'_>) {
        let rest = self.rest_of_arm_trace();
        let Some(mut trace) = self.arm_trace.take() else {
            return;
        };
        rest.into_iter().for_each(|track| trace.read(track));
        if let Some(buffered) = &mut self.buffered {
            buffered.buffer.forget_tracks();
        }
        let mut queued: Vec<(usize, &Pending)> = Vec::new();
        for (number, queue) in self.queues.iter().enumerate() {
            let pool = &queue.pool;
            queued.extend(pool.by_arrival().map(|slot| (number, pool.get(slot))));
        }
        if self.queues.len() > 1 {
            queued.sort_by_key(|(_, pending)| pending.entered);
        }
        // A request waits in the queues of several groups, and of some of them it may have got an arm.
        let mut seen: HashSet<RequestId, FixedState> = HashSet::default();
        let mut requests: Vec<(RequestId, bool)> = Vec::new();
        for (group, pending) in std::iter::once((group, next)).chain(queued) {
            for request in self.requests_of(group, pending) {
                let shared = self.intake.shared.get(&request);
                let number = shared.and_then(|shared| shared.number);
                if seen.insert(request) && !number.is_some_and(|number| trace.shows(number)) {
                    requests.push((request, true));
                }
            }
        }
        let outside = self.intake.outside.iter();
        requests.extend(outside.map(|&request| (request, false)));
        trace.close(requests.into_iter(), |command| self.track_now(command), cx);
        self.arm_trace = Some(trace);
    }

    /// What the medium reads up to the window's end behind the last service.
    fn rest_of_arm_trace(&self) -> Vec<Track> {
        match (&self.arm_trace, &self.buffered) {
            (Some(trace), Some(buffered)) if trace.is_recording() => {
                let hardware = &self.medium.hardware;
                buffered.buffer.tracks_until(hardware, trace.window.to())
            }
            _ => Vec::new(),
        }
    }

    /// A request that waits for a group of arms, and those that were merged with it.
    fn requests_of(&self, group: usize, pending: &Pending) -> impl Iterator<Item = RequestId> {
        let others = self.queues[group].pool.others(pending.others);
        std::iter::once(pending.request).chain(others)
    }

    /// The arm trace as it stands in the picture of a run.
    pub(super) fn arm_trace_json(&self) -> Option<Value> {
        let trace = self.arm_trace.as_ref()?;
        let arms = self.medium.arms.iter().map(|arm| TracedArm {
            angle: arm.parts.angle.turns(),
            at: arm.at,
            reads: arm.parts.reads,
            writes: arm.parts.writes,
            reach: arm.parts.reach,
        });
        let arms: Vec<TracedArm> = arms.collect();
        Some(trace.json(&self.medium.hardware, &arms, || self.rest_of_arm_trace()))
    }
}

//! A request is served: its whole course is worked out when it begins, and noted when it is done.

use super::alarm::Alarm;
use super::arm::{StartedRequest, Work};
use super::arm_group::GroupQueue;
use super::arm_trace::steps::StepRecorder;
use super::buffer::{BufferedService, Service};
use super::disk::Disk;
use super::log::{LogPlacement, Pass};
use super::medium::{AccessCursor, ArmFilter, Medium};
use super::power::DiskPower;
use super::tally::Tally;
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, Parts, RequestId, ServedBy};
use crate::models::geometry::mechanics::Target;
use crate::models::queue::{Pending, Pool, Slot};

/// How a request, or a group's share in it, is served.
struct MediumService {
    /// The arm that did it, or the last of them.
    arm: usize,
    end: Time,
}

impl Disk {
    /// Takes a request from a group's queue and works out its whole course.
    #[inline]
    pub fn start(&mut self, group: usize, slot: Slot, cx: &mut Context<'_>) {
        let now = cx.now();
        self.take(group, slot, now);
        let woken = self.waited_for_medium(group, slot, cx);
        let mut service_trace = self.begin_service_trace(group, slot, cx);
        let Disk {
            queues,
            medium,
            log,
            intake,
            power,
            ..
        } = self;
        let log = log.as_deref_mut();
        let Pending {
            request,
            others,
            command,
            target,
            ready,
            ..
        } = queues[group].pool.get(slot);
        let asked = (group, command, target.as_ref(), *ready);
        // The parts of a share are the request's only if it ends last, which is not known yet.
        let mut of_share = (!intake.shared.is_empty()).then(Parts::default);
        let parts = match &mut of_share {
            None => &mut cx.request_mut(*request).parts,
            Some(parts) => parts,
        };
        let served = match &mut service_trace {
            None => serve(medium, log, asked, now, parts),
            Some(trace) => {
                let served = serve_traced(medium, log, asked, now, &mut trace.steps);
                *parts = trace.steps.parts();
                served
            }
        };
        medium.after_write = command.op == Op::Write;
        medium.counters.spent(parts);
        if let Some(power) = power {
            power.worked(command.op, parts, now, served.end);
            parts.add(Part::Wake, woken);
        }
        medium.choice.served(command.op, served.end - now);
        let begun = StartedRequest {
            request: *request,
            others: *others,
            segment: 0,
        };
        self.hand_effects_to(served.arm);
        let course = (now - woken, served.end, ServedBy::Medium);
        self.stamp(group, &begun, course, of_share.as_ref(), cx);
        if self.arm_trace.is_some() {
            let how = (served.end, ServedBy::Medium, true);
            self.trace_service(group, slot, service_trace, how, cx);
        }
        self.work(served.arm, Work::Request(begun), served.end, cx);
        if self.log.is_some() {
            self.begun_with_log(cx);
        }
    }

    /// A request has begun: arms that read for a write are at work, too, and the cleaner gives way.
    #[inline(never)]
    fn begun_with_log(&mut self, cx: &mut Context<'_>) {
        while let Some((arm, until)) = self.medium.borrowed.pop() {
            self.work(arm, Work::Travel, until, cx);
        }
        if let Some(log) = &mut self.log {
            log.cleaning.yields();
        }
    }

    /// Takes a request from a group's queue.
    #[inline(always)]
    fn take(&mut self, group: usize, slot: Slot, now: Time) {
        let GroupQueue { pool, last, .. } = &mut self.queues[group];
        let pending = pool.remove(slot);
        *last = pending.command.end();
        let merges = self.intake.clustering.is_some();
        self.medium.counters.picked(pending, now, merges);
    }

    /// How long a request that was taken, and all that were merged with it, have waited for the medium, of which the way back from a low
    /// power state ends now.
    #[inline(always)]
    fn waited_for_medium(&self, group: usize, slot: Slot, cx: &Context<'_>) -> Time {
        match &self.power {
            Some(power) => self.waited_for_power(power, group, slot, cx),
            None => Time::ZERO,
        }
    }

    #[inline(never)]
    fn waited_for_power(
        &self,
        power: &DiskPower,
        group: usize,
        slot: Slot,
        cx: &Context<'_>,
    ) -> Time {
        let pool = &self.queues[group].pool;
        let pending = pool.get(slot);
        let others = pool.others(pending.others);
        let came = others.map(|other| cx.request(other).acceptance);
        let came = came.fold(cx.request(pending.request).acceptance, Time::max);
        power.waited(came, cx.now())
    }

    /// Gives a request, and those that were merged with it, the course that is worked out: of several shares of a request that of the one
    /// that ends last. The parts of its time are noted with the request already, unless they are those `of_share`.
    #[inline(always)]
    fn stamp(
        &mut self,
        group: usize,
        begun: &StartedRequest,
        (start, end, by): (Time, Time, ServedBy),
        of_share: Option<&Parts>,
        cx: &mut Context<'_>,
    ) {
        if self.intake.begins(begun.request, end) {
            let entry = cx.request_mut(begun.request);
            if let Some(parts) = of_share {
                entry.parts = *parts;
            }
            (entry.start, entry.served_by) = (start, by);
            entry.media = entry.parts.access();
        }
        if begun.others.count() > 0 {
            self.stamp_others(group, begun, (start, end, by), of_share, cx);
        }
    }

    /// The same for those that were merged with a request.
    #[inline(never)]
    fn stamp_others(
        &mut self,
        group: usize,
        begun: &StartedRequest,
        (start, end, by): (Time, Time, ServedBy),
        of_share: Option<&Parts>,
        cx: &mut Context<'_>,
    ) {
        let parts = match of_share {
            Some(parts) => *parts,
            None => cx.request(begun.request).parts,
        };
        for request in self.queues[group].pool.others(begun.others) {
            if self.intake.begins(request, end) {
                let entry = cx.request_mut(request);
                (entry.start, entry.parts, entry.served_by) = (start, parts, by);
                entry.media = parts.access();
                entry.shares_access = true;
            }
        }
    }

    /// Takes a request from the queue and works out its whole course with the buffer.
    pub fn start_buffered(&mut self, slot: Slot, cx: &mut Context<'_>) {
        let now = cx.now();
        self.take(0, slot, now);
        let woken = self.waited_for_medium(0, slot, cx);
        let mut service_trace = self.begin_service_trace(0, slot, cx);
        let request = self.queues[0].pool.get(slot).request;
        let parts = &mut cx.request_mut(request).parts;
        let served = match &mut service_trace {
            None => self.serve_buffered(slot, now, parts),
            Some(trace) => {
                let served = self.serve_buffered_traced(slot, now, &mut trace.steps);
                *parts = trace.steps.parts();
                served
            }
        };
        self.medium.counters.spent(parts);
        let pending = self.queues[0].pool.get(slot);
        let is_write = pending.command.op == Op::Write;
        if let Some(power) = &mut self.power {
            power.worked(pending.command.op, parts, now, served.end);
            parts.add(Part::Wake, woken);
        }
        let begun = StartedRequest::of(pending, served.segment);
        self.medium.after_write = is_write;
        let course = (now - woken, served.end, served.by);
        self.stamp(0, &begun, course, None, cx);
        if self.arm_trace.is_some() {
            let how = (served.end, served.by, served.moved.is_some());
            self.trace_service(0, slot, service_trace, how, cx);
        }
        if let Some(distance) = served.moved {
            self.medium
                .count_access(distance, served.read_modify_writes);
        }
        let Some(buffered) = &mut self.buffered else {
            return;
        };
        let busy = buffered.buffer.destaged_at(served.end);
        self.medium.count_busy(now, busy);
        if let Some(power) = &mut self.power {
            power.destages(served.end, busy);
        }
        if is_write && cx.checker().is_some() {
            tell_buffered(&self.queues[0].pool, &begun, cx);
        }
        // Read anew: a copy of what has just been written would be waited for.
        let pending = self.queues[0].pool.get(slot);
        buffered.begins(StartedRequest::of(pending, served.segment), served.end);
        (buffered.released, buffered.bus_free) = (served.released, served.end);
        let course = (served.wants_bus, served.end, served.released);
        if self.on_bus.is_some() && self.asks_for_bus(begun.request, course, cx) {
            return;
        }
        cx.alarm(served.end, Alarm::BufferedDone.token());
        if served.released < served.end {
            cx.alarm(served.released, Alarm::ArmReleased.token());
        }
    }

    /// [`Self::serve_buffered`], step by step.
    #[inline(never)]
    fn serve_buffered_traced(
        &mut self,
        slot: Slot,
        now: Time,
        steps: &mut StepRecorder,
    ) -> BufferedService {
        self.serve_buffered(slot, now, steps)
    }

    fn serve_buffered<T: Tally>(
        &mut self,
        slot: Slot,
        now: Time,
        parts: &mut T,
    ) -> BufferedService {
        let buffered = self.buffered.as_mut().expect("it serves with its buffer");
        let pending = self.queues[0].pool.get(slot);
        let target = pending.target.as_ref();
        let service = Service {
            command: &pending.command,
            target: target.expect("a queue in place knows every target"),
            accepted: pending.entered,
            now,
            bus_free: buffered.bus_free,
            after_write: self.medium.after_write,
        };
        buffered.buffer.serve(&self.medium.hardware, service, parts)
    }

    /// The request that began first of those with the buffer is complete.
    #[inline(never)]
    pub fn buffered_done(&mut self, cx: &mut Context<'_>) {
        let buffered = self.buffered.as_ref();
        if let Some((request, wait)) =
            buffered.and_then(|buffered| buffered.ahead_of_active(cx.now()))
        {
            // The alarm is that of the other one.
            cx.alarm(cx.now() + wait, Alarm::BufferedDone.token());
            return self.ends_later(request, wait, cx);
        }
        self.clock_queue(cx.now());
        let was_full = cx.has_parent() && !self.has_slot();
        let buffered = self.buffered.as_mut();
        let done = buffered.and_then(|buffered| buffered.ends());
        let done = done.expect("the alarm of a request with the buffer");
        self.ended = cx.now();
        let mut next = Some(done.request);
        let mut others = done.others;
        while let Some(request) = next {
            if let Some(buffered) = &mut self.buffered {
                let hardware = &self.medium.hardware;
                buffered.commit(hardware, (request, done.segment), cx);
            }
            self.intake.queued -= 1;
            cx.complete(request, Outcome::Ok);
            next = self.queues[0].pool.release(&mut others);
        }
        self.admit_waiting(was_full, cx);
    }

    /// An arm has done what it did.
    #[inline]
    pub fn arm_done(&mut self, arm: usize, cx: &mut Context<'_>) {
        let was_full = cx.has_parent() && !self.has_slot();
        let work = self.medium.arms[arm].done();
        match work.expect("the alarm of an arm at work") {
            Work::Request(begun) => self.request_done(arm, begun, was_full, cx),
            Work::Travel | Work::ReadAhead | Work::Region | Work::Parked => {}
            Work::Load => {
                if let Some(log) = &mut self.log {
                    log.loaded();
                }
            }
            Work::Move { from } => {
                if let Some(log) = &mut self.log {
                    log.moved_away(&mut self.medium, arm, from, cx);
                }
            }
        }
        if let Some(log) = &mut self.log {
            log.let_go(&mut self.medium, arm);
        }
    }

    /// An arm has done with a request, or with its group's share in it.
    #[inline]
    fn request_done(
        &mut self,
        arm: usize,
        begun: StartedRequest,
        was_full: bool,
        cx: &mut Context<'_>,
    ) {
        if begun.others.count() > 0 {
            return self.merged_done(arm, begun, was_full, cx);
        }
        if self.log.is_some() || cx.checker().is_some() {
            let command = cx.request(begun.request).command;
            self.commit(arm, &[(begun.request, command)], cx);
        }
        if self.intake.ends(begun.request) {
            self.complete(std::iter::once(begun.request), was_full, cx);
        } else if self.intake.shares_slots() {
            self.admit_waiting(was_full, cx);
        }
    }

    /// The same for requests that were merged.
    #[inline(never)]
    fn merged_done(
        &mut self,
        arm: usize,
        begun: StartedRequest,
        was_full: bool,
        cx: &mut Context<'_>,
    ) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        parts.push((begun.request, cx.request(begun.request).command));
        let group = self.medium.arms[arm].group;
        let mut others = begun.others;
        while let Some(request) = self.queues[group].pool.release(&mut others) {
            parts.push((request, cx.request(request).command));
        }
        self.commit(arm, &parts, cx);
        parts.retain(|&(request, _)| self.intake.ends(request));
        if !parts.is_empty() {
            self.complete(parts.iter().map(|&(request, _)| request), was_full, cx);
        } else if self.intake.shares_slots() {
            // One slot less is taken where the first of them was the first nowhere else.
            self.admit_waiting(was_full, cx);
        }
        self.parts = parts;
    }

    /// Requests that were served as one, at least one, are complete.
    #[inline]
    fn complete(
        &mut self,
        requests: impl ExactSizeIterator<Item = RequestId>,
        was_full: bool,
        cx: &mut Context<'_>,
    ) {
        self.clock_queue(cx.now());
        self.intake.queued -= requests.len();
        self.ended = cx.now();
        for request in requests {
            cx.complete(request, Outcome::Ok);
        }
        if let Some(log) = &mut self.log {
            log.cleaning.looks_again();
        }
        self.admit_waiting(was_full, cx);
    }

    /// Notes what an arm has done for requests that were served as one, and tells the checker what the medium did.
    #[inline(never)]
    fn commit(&mut self, arm: usize, parts: &[(RequestId, Command)], cx: &mut Context<'_>) {
        let Some(log) = &mut self.log else {
            if cx.checker().is_some() {
                parts
                    .iter()
                    .for_each(|part| self.commit_in_place(arm, part, cx));
            }
            return;
        };
        let op = parts[0].1.op;
        if op == Op::Read {
            return log.commit_read(&self.medium, arm, parts, cx);
        }
        let first = parts.iter().map(|(_, command)| command.lbn).min();
        let blocks = parts.iter().map(|(_, command)| command.blocks).sum();
        let whole = Command {
            lbn: first.expect("there is at least one"),
            blocks,
            ..parts[0].1
        };
        log.commit_write(&mut self.medium, arm, &whole, parts, cx);
    }

    /// Tells the checker what an arm did for a request, or for its group's share in it, with data in place.
    fn commit_in_place(
        &self,
        arm: usize,
        &(request, command): &(RequestId, Command),
        cx: &mut Context<'_>,
    ) {
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        for (from, blocks) in self.medium.share(self.medium.arms[arm].group, &command) {
            let offset = (from - command.lbn.0) as u32;
            match command.op {
                Op::Write => checker.wrote(device, request, offset, from, blocks),
                Op::Read => checker.read(device, request, offset, from, blocks),
                _ => {}
            }
        }
    }

    /// Gives free slots of the queue to requests that wait for one; where they leave any, and all slots were taken, the parent hears of it.
    #[inline(always)]
    pub fn admit_waiting(&mut self, was_full: bool, cx: &mut Context<'_>) {
        if was_full || !self.intake.outside.is_empty() {
            self.admit_those_outside(was_full, cx);
        }
    }

    #[inline(never)]
    fn admit_those_outside(&mut self, was_full: bool, cx: &mut Context<'_>) {
        while !self.intake.outside.is_empty() && self.has_slot() {
            let next = self.intake.outside.pop_front();
            let next = next.expect("one waits");
            if self.on_bus.is_none() || !self.waits_for_bus(next, cx) {
                self.admit(next, cx);
            }
        }
        if was_full && self.has_slot() {
            cx.announce_room();
        }
    }

    /// Carries out the writes before time zero, once.
    pub fn write_initially(&mut self) {
        let mut groups = self.medium.groups.iter();
        let writers = groups.position(|group| group.can(Op::Write));
        let writers = writers.expect("some arm writes");
        let (mut now, mut written) = (Time::ZERO, 0);
        loop {
            let log = self.log.as_mut();
            let Some((command, gap)) = log.and_then(|log| log.initial_write(written)) else {
                break;
            };
            let parts = &mut Parts::default();
            let log = self.log.as_deref_mut();
            let asked = (writers, &command, None, now);
            now = serve(&mut self.medium, log, asked, now + gap, parts).end;
            written += 1;
            if let Some(log) = &mut self.log {
                log.commit_initially(&mut self.medium);
            }
        }
        if written > 0 {
            self.medium.forget_counts();
            self.log.iter_mut().for_each(|log| log.forget_counts());
        }
    }
}

/// Tells the checker that the blocks of writes that were served as one are in the buffer.
#[cold]
fn tell_buffered(pool: &Pool, begun: &StartedRequest, cx: &mut Context<'_>) {
    let all = std::iter::once(begun.request).chain(pool.others(begun.others));
    for part in all {
        let Command { lbn, blocks, .. } = cx.request(part).command;
        if let Some((checker, device)) = cx.checker() {
            checker.buffered(device, begun.segment, part, lbn.0, blocks);
        }
    }
}

/// A group, a command, where it begins, if that is known, and when the arm may begin to move where the controller works beside the medium.
type Asked<'a> = (usize, &'a Command, Option<&'a Target>, Time);

/// [`serve`], step by step.
#[inline(never)]
fn serve_traced(
    medium: &mut Medium,
    log: Option<&mut LogPlacement>,
    asked: Asked<'_>,
    now: Time,
    steps: &mut StepRecorder,
) -> MediumService {
    serve(medium, log, asked, now, steps)
}

/// Works out the whole course of a command, or of a group's share in it.
#[inline(always)]
fn serve<T: Tally>(
    medium: &mut Medium,
    log: Option<&mut LogPlacement>,
    (group, command, target, ready): Asked<'_>,
    now: Time,
    parts: &mut T,
) -> MediumService {
    let is_write = command.op == Op::Write;
    let overhead = &medium.hardware.overhead;
    let before = match medium.is_behind_memory {
        true => ready.saturating_sub(now),
        false => overhead.before(is_write, medium.after_write),
    };
    parts.add(Part::Overhead, before);
    let mut cursor = AccessCursor::new(ArmFilter::Group(group), now + before);
    let interface = &medium.hardware.interface;
    let blocks = match interface.overlapped || log.is_some() {
        true => command.blocks,
        false => medium.blocks_of_share(group, command),
    };
    if !interface.overlapped && is_write {
        let bus = interface.write_time(blocks);
        parts.add(Part::Bus, bus);
        cursor.now += bus;
    }
    let first = match medium.arms.len() {
        1 => 0,
        _ => medium.idle_arm(group).expect("an arm of the group is idle"),
    };
    match log {
        None => medium.serve_in_place(group, command, target, &mut cursor, parts),
        Some(log) => {
            let mut pass = Pass {
                medium,
                cursor: &mut cursor,
                parts,
            };
            match is_write {
                true => log.write(command, &mut pass),
                false => log.read(command, &mut pass),
            }
        }
    }
    if !is_write {
        medium.finish_read(blocks, &mut cursor, parts);
    }
    let completion = match medium.is_behind_memory {
        true => Time::ZERO,
        false => medium.hardware.overhead.completion(is_write),
    };
    parts.add(Part::Overhead, completion);
    MediumService {
        arm: cursor.arm.unwrap_or(first),
        end: cursor.now + completion,
    }
}

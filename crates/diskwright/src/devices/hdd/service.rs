//! A request is served: its whole course is worked out when it begins, and noted when it is done.

use super::alarm::Alarm;
use super::arm::{StartedRequest, Work};
use super::buffer::{BufferedService, Service};
use super::disk::Disk;
use super::log::Pass;
use super::medium::{AccessCursor, ArmFilter, runs};
use super::tally::Tally;
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, Parts, RequestId, ServedBy};
use crate::models::geometry::mechanics::Target;
use crate::models::queue::{Pending, Slot};

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
        let pending = self.take(group, slot, now);
        let (command, target) = (&pending.command, pending.target.as_ref());
        let mut parts = Parts::default();
        let service_trace = self.begin_service_trace(group, &pending, cx);
        let (served, service_trace) = match service_trace {
            None => (self.serve(group, command, target, now, &mut parts), None),
            Some(mut service_trace) => {
                let served = self.serve(group, command, target, now, &mut service_trace.steps);
                parts = service_trace.steps.parts();
                (served, Some(service_trace))
            }
        };
        self.hand_effects_to(served.arm);
        self.medium.after_write = command.op == Op::Write;
        self.medium.counters.spent(&parts);
        self.medium.choice.served(command.op, served.end - now);
        let course = (now, parts, ServedBy::Medium);
        self.stamp(group, &pending, course, served.end, cx);
        self.trace_service(
            group,
            &pending,
            service_trace,
            (served.end, ServedBy::Medium, true),
            cx,
        );
        let begun = StartedRequest {
            request: pending.request,
            others: pending.others,
            segment: 0,
        };
        self.work(served.arm, Work::Request(begun), served.end, cx);
        while let Some((arm, until)) = self.medium.borrowed.pop() {
            self.work(arm, Work::Travel, until, cx);
        }
        if let Some(log) = &mut self.log {
            log.cleaning.yields();
        }
    }

    /// Takes a request from a group's queue.
    #[inline]
    fn take(&mut self, group: usize, slot: Slot, now: Time) -> Pending {
        let queue = &mut self.queues[group];
        let pending = queue.pool.remove(slot);
        queue.last = pending.command.end();
        let merges = self.intake.clustering.is_some();
        self.medium.counters.picked(&pending, now, merges);
        pending
    }

    /// Gives a request, and those that were merged with it, the course that is worked out: of several shares of a request that of the one
    /// that ends last.
    #[inline]
    fn stamp(
        &mut self,
        group: usize,
        pending: &Pending,
        (start, parts, by): (Time, Parts, ServedBy),
        end: Time,
        cx: &mut Context<'_>,
    ) {
        if self.intake.begins(pending.request, end) {
            let entry = cx.request_mut(pending.request);
            (entry.start, entry.parts, entry.served_by) = (start, parts, by);
            entry.media = parts.access();
        }
        if pending.others.count() == 0 {
            return;
        }
        for request in self.queues[group].pool.others(pending.others) {
            if self.intake.begins(request, end) {
                let entry = cx.request_mut(request);
                (entry.start, entry.parts, entry.served_by) = (start, parts, by);
                entry.media = parts.access();
                entry.shares_access = true;
            }
        }
    }

    /// Works out the whole course of a command, or of a group's share in it.
    #[inline]
    fn serve<T: Tally>(
        &mut self,
        group: usize,
        command: &Command,
        target: Option<&Target>,
        now: Time,
        parts: &mut T,
    ) -> MediumService {
        let medium = &mut self.medium;
        let is_write = command.op == Op::Write;
        let overhead = medium
            .hardware
            .overhead
            .before(is_write, medium.after_write);
        parts.add(Part::Overhead, overhead);
        let mut cursor = AccessCursor::new(ArmFilter::Group(group), now + overhead);
        let first = match medium.arms.len() {
            1 => 0,
            _ => medium.idle_arm(group).expect("an arm of the group is idle"),
        };
        match &mut self.log {
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
            self.medium.finish_read(command, &mut cursor, parts);
        }
        let completion = self.medium.hardware.overhead.completion(is_write);
        parts.add(Part::Overhead, completion);
        MediumService {
            arm: cursor.arm.unwrap_or(first),
            end: cursor.now + completion,
        }
    }

    /// Takes a request from the queue and works out its whole course with the buffer.
    pub fn start_buffered(&mut self, slot: Slot, cx: &mut Context<'_>) {
        let now = cx.now();
        let pending = self.take(0, slot, now);
        let mut parts = Parts::default();
        let service_trace = self.begin_service_trace(0, &pending, cx);
        let (served, service_trace) = match service_trace {
            None => (self.serve_buffered(&pending, now, &mut parts), None),
            Some(mut service_trace) => {
                let served = self.serve_buffered(&pending, now, &mut service_trace.steps);
                parts = service_trace.steps.parts();
                (served, Some(service_trace))
            }
        };
        self.medium.after_write = pending.command.op == Op::Write;
        self.medium.counters.spent(&parts);
        self.stamp(0, &pending, (now, parts, served.by), served.end, cx);
        let shown = (served.end, served.by, served.moved.is_some());
        self.trace_service(0, &pending, service_trace, shown, cx);
        if let Some(distance) = served.moved {
            self.medium
                .count_access(distance, served.read_modify_writes);
        }
        let Some(buffered) = &mut self.buffered else {
            return;
        };
        let busy = buffered.buffer.destaged_at(served.end);
        self.medium.count_busy(now, busy);
        if pending.command.op == Op::Write && cx.checker().is_some() {
            let others = self.queues[0].pool.others(pending.others);
            for part in std::iter::once(pending.request).chain(others) {
                let Command { lbn, blocks, .. } = cx.request(part).command;
                if let Some((checker, device)) = cx.checker() {
                    checker.buffered(device, served.segment, part, lbn.0, blocks);
                }
            }
        }
        buffered.begins(StartedRequest {
            request: pending.request,
            others: pending.others,
            segment: served.segment,
        });
        (buffered.released, buffered.bus_free) = (served.released, served.end);
        cx.alarm(served.end, Alarm::BufferedDone.token());
        if served.released < served.end {
            cx.alarm(served.released, Alarm::ArmReleased.token());
        }
    }

    fn serve_buffered<T: Tally>(
        &mut self,
        pending: &Pending,
        now: Time,
        parts: &mut T,
    ) -> BufferedService {
        let buffered = self.buffered.as_mut().expect("it serves with its buffer");
        let target = pending.target.expect("a queue in place knows every target");
        let service = Service {
            command: &pending.command,
            track: &target.run,
            accepted: pending.entered,
            now,
            bus_free: buffered.bus_free,
            after_write: self.medium.after_write,
        };
        buffered.buffer.serve(&self.medium.hardware, service, parts)
    }

    /// The request that began first of those with the buffer is complete.
    pub fn buffered_done(&mut self, cx: &mut Context<'_>) {
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
        let work = self.medium.arms[arm].done();
        match work.expect("the alarm of an arm at work") {
            Work::Request(begun) => self.request_done(arm, begun, cx),
            Work::Travel => {}
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
    fn request_done(&mut self, arm: usize, begun: StartedRequest, cx: &mut Context<'_>) {
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
            self.clock_queue(cx.now());
            let was_full = cx.has_parent() && !self.has_slot();
            self.intake.queued -= parts.len();
            self.ended = cx.now();
            for &(request, _) in &parts {
                cx.complete(request, Outcome::Ok);
            }
            if let Some(log) = &mut self.log {
                log.cleaning.looks_again();
            }
            self.admit_waiting(was_full, cx);
        }
        self.parts = parts;
    }

    /// Notes what an arm has done for requests that were served as one, and tells the checker what the medium did.
    #[inline]
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
        let group = &self.medium.groups[self.medium.arms[arm].group];
        let per_sector = u64::from(self.medium.hardware.blocks_per_sector);
        let mut sector = command.lbn.0 / per_sector;
        for run in runs(&self.medium.hardware, &command) {
            let from = (sector * per_sector).max(command.lbn.0);
            sector += u64::from(run.sectors);
            let end = (sector * per_sector).min(command.end().0);
            let is_own = self.medium.groups.len() == 1
                || group.reaches(run.position.cylinder, run.position.head);
            let (offset, blocks) = ((from - command.lbn.0) as u32, (end - from) as u32);
            match command.op {
                Op::Write if is_own => checker.wrote(device, request, offset, from, blocks),
                Op::Read if is_own => checker.read(device, request, offset, from, blocks),
                _ => {}
            }
        }
    }

    /// Gives free slots of the queue to requests that wait for one; where they leave any, and all slots were taken, the parent hears of it.
    #[inline]
    fn admit_waiting(&mut self, was_full: bool, cx: &mut Context<'_>) {
        while !self.intake.outside.is_empty() && self.has_slot() {
            let next = self.intake.outside.pop_front();
            self.admit(next.expect("one waits"), cx);
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
            now = self.serve(writers, &command, None, now + gap, parts).end;
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

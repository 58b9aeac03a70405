//! Operations: what is asked of the devices below, on its way through their queues and back.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::memory::OF_CACHE;
use super::work::WorkId;
use super::{ANSWERED, Cache, Controller, SENT};
use crate::base::block_runs::without;
use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, Parts, Request, RequestId};

/// Where the data of an operation are that is no read, or go to where it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// The host's request, which waits for it.
    Host,
    /// The memory cache, or memory of the controller's own for the work.
    Segment(u32),
    /// There are none.
    None,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub work: WorkId,
    /// The queue that it is in.
    pub child: usize,
    /// By the device's own blocks.
    pub command: Command,
    /// Its first block on the controller.
    pub lbn: u64,
    pub data: Data,
}

/// Operations that a device has been given as one.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    child: usize,
    command: Command,
    parts: Vec<u32>,
    ended: Option<Ended>,
}

/// What is kept of a device's request that has ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    start: Time,
    completion: Time,
    parts: Parts,
    media: Time,
    outcome: Outcome,
}

impl Ended {
    fn of(request: &Request) -> Ended {
        Ended {
            start: request.start,
            completion: request.completion,
            parts: request.parts,
            media: request.media,
            outcome: request.outcome.expect("it is complete"),
        }
    }
}

/// The operations that wait or are under way.
#[derive(Default)]
pub(super) struct Operations {
    entries: Vec<Option<Operation>>,
    free: Vec<u32>,
    groups: Vec<Group>,
    free_groups: Vec<u32>,
    /// The group of each request to a device.
    sent: Vec<u32>,
    /// Of fetches for the memory cache the runs that something else was changing on the device meanwhile: what was read of them may be old.
    outdated: HashMap<u32, Vec<(u64, u32)>, FixedState>,
}

impl Operation {
    fn end(&self) -> u64 {
        self.lbn + u64::from(self.command.blocks)
    }

    fn is_fetch(&self) -> bool {
        self.command.op == Op::Read && self.data == Data::Segment(OF_CACHE)
    }

    fn changes_the_device(&self) -> bool {
        matches!(self.command.op, Op::Write | Op::Trim)
    }
}

impl Operations {
    fn add(&mut self, operation: Operation) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.entries[index as usize] = Some(operation);
                index
            }
            None => {
                self.entries.push(Some(operation));
                self.entries.len() as u32 - 1
            }
        }
    }

    pub(super) fn get(&self, number: u32) -> Operation {
        self.entries[number as usize].expect("it is under way")
    }

    fn end(&mut self, number: u32) {
        self.outdated.remove(&number);
        self.entries[number as usize] = None;
        self.free.push(number);
    }

    /// Notes for each fetch what the operation of a number, which begins, and another one under way do at the same time.
    fn note_what_is_outdated(&mut self, number: u32) {
        let begins = self.get(number);
        for (other, under_way) in (0..).zip(&self.entries) {
            let Some(under_way) = under_way else {
                continue;
            };
            let fetch = if begins.is_fetch() && under_way.changes_the_device() {
                number
            } else if begins.changes_the_device() && under_way.is_fetch() {
                other
            } else {
                continue;
            };
            let from = begins.lbn.max(under_way.lbn);
            let end = begins.end().min(under_way.end());
            if from < end {
                self.outdated
                    .entry(fetch)
                    .or_default()
                    .push((from, (end - from) as u32));
            }
        }
    }

    fn group(&mut self) -> u32 {
        self.free_groups.pop().unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() as u32 - 1
        })
    }
}

impl Controller {
    /// Asks the devices below for a run of the controller's blocks, or of the cache device where `child` names it; the work waits for that.
    pub(super) fn ask(
        &mut self,
        work: WorkId,
        command: Command,
        child: Option<usize>,
        data: Data,
        cx: &mut Context<'_>,
    ) {
        if let Some(child) = child {
            return self.ask_child(work, child, command, data, cx);
        }
        let (mut at, end) = (command.lbn.0, command.end().0);
        while at < end {
            let child = self.child_of(at);
            let until = end.min(self.queues[child].end());
            let part = Command {
                lbn: Lbn(at),
                blocks: (until - at) as u32,
                ..command
            };
            self.ask_child(work, child, part, data, cx);
            at = until;
        }
    }

    /// The device of a block.
    pub(super) fn child_of(&self, lbn: u64) -> usize {
        let addressed = &self.queues[..self.addressed];
        addressed.partition_point(|queue| queue.end() <= lbn)
    }

    /// The same of one device.
    pub(super) fn ask_child(
        &mut self,
        work: WorkId,
        child: usize,
        command: Command,
        data: Data,
        cx: &mut Context<'_>,
    ) {
        let queue = &mut self.queues[child];
        let own = Command {
            lbn: Lbn(command.lbn.0.saturating_sub(queue.base)),
            ..command
        };
        let number = self.operations.add(Operation {
            work,
            child,
            command: own,
            lbn: command.lbn.0,
            data,
        });
        queue.push(number, own, cx.now());
        if let Cache::Memory(memory) = &self.cache
            && !self.locks.cover_lines(memory.cache.blocks_per_line())
        {
            self.operations.note_what_is_outdated(number);
        }
        if child < self.addressed {
            self.is_busy(cx);
        }
        self.works.get_mut(work).left += 1;
        self.counters.asked(&own, child);
    }

    /// Gives the devices what they can take.
    pub(super) fn dispatch(&mut self, cx: &mut Context<'_>) {
        for child in 0..self.queues.len() {
            loop {
                let mut parts = std::mem::take(&mut self.parts);
                parts.clear();
                let next = self.queues[child].next(cx.now(), &mut parts);
                self.parts = parts;
                let Some(command) = next else {
                    break;
                };
                let number = self.operations.group();
                let group = &mut self.operations.groups[number as usize];
                (group.child, group.command, group.ended) = (child, command, None);
                group.parts.clear();
                group.parts.extend_from_slice(&self.parts);
                self.counters.sent(child, self.parts.len());
                match self.message(cx) {
                    Some(at) => _ = cx.alarm(at, Token::new(SENT, number)),
                    None => self.send(number, cx),
                }
            }
        }
    }

    /// A group of operations goes to its device.
    pub(super) fn send(&mut self, number: u32, cx: &mut Context<'_>) {
        let group = &self.operations.groups[number as usize];
        let child = &self.queues[group.child];
        let request = cx.submit(child.child.device, group.command);
        let mut of_works = group.parts.iter().map(|&part| {
            let work = self.works.get(self.operations.get(part).work);
            work.request
                .map_or(cx.is_behind_background(), |of| cx.request(of).is_background)
        });
        if of_works.all(|is_background| is_background) {
            cx.put_in_background(request);
        }
        let first = self.operations.get(group.parts[0]);
        if let Some(of) = self.works.get(first.work).request {
            let of = cx.request(of);
            let of_host = (of.sequence, of.stream);
            let entry = cx.request_mut(request);
            (entry.sequence, entry.stream) = of_host;
        }
        for &part in &group.parts {
            self.bring_data(part, request, cx);
        }
        let index = request.0 as usize;
        if self.operations.sent.len() <= index {
            self.operations.sent.resize(index + 1, u32::MAX);
        }
        self.operations.sent[index] = number;
    }

    /// Tells the checker what a write brings to its device.
    fn bring_data(&self, part: u32, to: RequestId, cx: &mut Context<'_>) {
        let operation = self.operations.get(part);
        let Command {
            op, lbn, blocks, ..
        } = operation.command;
        if op != Op::Write {
            return;
        }
        let of_host = self.works.get(operation.work).request;
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        match operation.data {
            Data::Host => {
                let of_host = of_host.expect("the host waits for it");
                checker.moved((of_host, operation.lbn), (to, lbn.0), blocks);
            }
            Data::Segment(segment) => {
                let from = (device, segment, operation.lbn);
                checker.read_buffered_at(from, (to, lbn.0), blocks);
            }
            Data::None => {}
        }
    }

    /// Tells the checker where what a read has brought is now.
    fn take_data(&self, part: u32, from: RequestId, cx: &mut Context<'_>) {
        let operation = self.operations.get(part);
        let Command {
            op, lbn, blocks, ..
        } = operation.command;
        if op != Op::Read {
            return;
        }
        let of_host = self.works.get(operation.work).request;
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        match operation.data {
            Data::Host => {
                let of_host = of_host.expect("the host waits for it");
                checker.moved((from, lbn.0), (of_host, operation.lbn), blocks);
            }
            Data::Segment(segment) => {
                for (first, blocks) in self.kept_of(part) {
                    let read = lbn.0 + (first - operation.lbn);
                    checker.buffered_at((from, read), (device, segment, first), blocks);
                }
            }
            Data::None => {}
        }
    }

    /// The runs of what a read has brought that are kept: a block of the memory cache that has been written meanwhile stays as it is, and what
    /// may be old is not kept. That lies beside what the work has locked: nobody writes to a device what others have locked.
    pub(super) fn kept_of(&self, number: u32) -> Vec<(u64, u32)> {
        let operation = self.operations.get(number);
        let run = (operation.lbn, operation.command.blocks);
        let Cache::Memory(memory) = &self.cache else {
            return vec![run];
        };
        if !operation.is_fetch() {
            return vec![run];
        }
        let mut kept: Vec<(u64, u32)> = memory.lacks((operation.lbn, operation.end())).collect();
        let outdated = self.operations.outdated.get(&number);
        for &other in outdated.into_iter().flatten() {
            kept = kept
                .into_iter()
                .flat_map(|run| without(run, other))
                .collect();
        }
        kept
    }

    /// A device has ended a group of operations.
    pub(super) fn came_back(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let number = self.operations.sent[request.0 as usize];
        let ended = Ended::of(cx.request(request));
        if ended.outcome == Outcome::Ok {
            for index in 0..self.operations.groups[number as usize].parts.len() {
                let part = self.operations.groups[number as usize].parts[index];
                self.take_data(part, request, cx);
            }
        }
        self.operations.groups[number as usize].ended = Some(ended);
        match self.message(cx) {
            Some(at) => _ = cx.alarm(at, Token::new(ANSWERED, number)),
            None => self.answered(number, cx),
        }
    }

    /// The controller has heard of it.
    pub(super) fn answered(&mut self, number: u32, cx: &mut Context<'_>) {
        let group = std::mem::take(&mut self.operations.groups[number as usize]);
        let ended = group.ended.expect("it has come back");
        // The acknowledgement keeps the controller busy; nothing waits for it.
        self.message(cx);
        self.queues[group.child].ended();
        if group.child < self.addressed {
            self.is_less_busy(cx.now());
        }
        for (place, &part) in group.parts.iter().enumerate() {
            let operation = self.operations.get(part);
            self.account(operation.work, &ended, place > 0, cx);
            self.operation_ended(part, ended.outcome, cx);
            self.operations.end(part);
            let work = self.works.get_mut(operation.work);
            if work.outcome == Outcome::Ok {
                work.outcome = ended.outcome;
            }
            self.one_less(operation.work);
        }
        self.operations.groups[number as usize].parts = group.parts;
        self.operations.free_groups.push(number);
    }

    /// Divides the time of the host's request up to now: what it has waited for is over.
    fn account(&mut self, work: WorkId, ended: &Ended, is_shared: bool, cx: &mut Context<'_>) {
        let now = cx.now();
        let work = self.works.get_mut(work);
        let Some(request) = work.request else {
            return;
        };
        let entry = cx.request_mut(request);
        if ended.start >= work.accounted {
            entry.parts.add(Part::Wait, ended.start - work.accounted);
            for &part in Part::ALL {
                entry.parts.add(part, ended.parts.get(part));
            }
            entry.parts.add(Part::Overhead, now - ended.completion);
        } else {
            entry.parts.add(Part::Wait, now - work.accounted);
        }
        entry.media += ended.media;
        entry.shares_access |= is_shared;
        work.accounted = now;
    }
}

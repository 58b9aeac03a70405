//! A driver: the queue of an operating system before one device, as the I/O driver of DiskSim 4.0 has one for each.
//!
//! Requests wait in it in sub-queues with a scheduler each: the urgent ones, those that have waited too long, and all others, served in
//! this order. It keeps a number of them outstanding at the device below. A completion is passed on, and then the next request is
//! chosen: of what arrives because of it, in the same instant, an array's writes that have waited for it come before the choice, and the
//! host's next request comes after it.
//!
//! The rules are those of "The DiskSim simulation environment version 4.0 reference manual" (Bucy et al., CMU-PDL-08-101, 2008),
//! chapter 3.3 on the driver and its queue.

mod counters;
mod lanes;
pub mod spec;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Location};
use crate::engine::request::{DeviceId, Op, Outcome, Promise, RequestId};
use crate::models::queue::Pending;
use counters::DriverCounters;
use lanes::{Lane, Lanes};

/// The device that a driver stands before.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its number in the arena.
    pub device: DeviceId,
    /// Its capacity in blocks.
    pub blocks: u64,
    /// What it promises.
    pub promise: Promise,
}

/// Steps from a completion to the choice of the next request.
const HEARD: u32 = 0;
const ANSWERED: u32 = 1;

/// A driver.
pub struct Driver {
    child: Child,
    /// The most requests outstanding below; `None` for no limit.
    most: Option<u32>,
    outstanding: u32,
    lanes: Lanes,
    /// Which requests of this device are outstanding below, by the numbers of theirs there.
    sent: Vec<Option<Sent>>,
    /// An alarm is set that looks for requests which have waited too long.
    is_watching: bool,
    counters: DriverCounters,
}

/// What was sent to the device below.
#[derive(Clone, Copy, Debug)]
struct Sent {
    pending: Pending,
    lane: Lane,
    at: Time,
}

impl Driver {
    /// An idle driver before `child`, to which it gives at most this number of requests at a time.
    pub(crate) fn new(child: Child, most: Option<u32>, lanes: Lanes) -> Driver {
        Driver {
            child,
            most,
            outstanding: 0,
            lanes,
            sent: Vec::new(),
            is_watching: false,
            counters: DriverCounters::default(),
        }
    }

    /// How many more requests the device below may have.
    fn room(&self) -> u32 {
        self.most
            .map_or(u32::MAX, |most| most.saturating_sub(self.outstanding))
    }

    fn clock(&mut self, now: Time) {
        let waiting = self.lanes.waiting();
        self.counters.clock(now, self.outstanding, waiting);
    }

    /// Sends what may be sent.
    fn send_next(&mut self, cx: &mut Context<'_>) {
        while self.room() > 0
            && let Some((lane, pending)) = self.lanes.take(cx.now())
        {
            self.send(lane, pending, cx);
        }
    }

    fn send(&mut self, lane: Lane, pending: Pending, cx: &mut Context<'_>) {
        let first = cx.request(pending.request);
        let of_host = (first.sequence, first.stream, first.class);
        let child = cx.submit(self.child.device, pending.command);
        if cx.request(pending.request).is_background {
            cx.put_in_background(child);
        }
        let entry = cx.request_mut(child);
        (entry.sequence, entry.stream, entry.class) = of_host;
        if pending.command.op == Op::Write {
            self.carry(&pending, lane, cx, |part| (part, child));
        }
        let sent = Sent {
            pending,
            lane,
            at: cx.now(),
        };
        let index = child.0 as usize;
        if self.sent.len() <= index {
            self.sent.resize(index + 1, None);
        }
        self.sent[index] = Some(sent);
        self.outstanding += 1;
        self.counters.sends(pending.parts());
    }

    /// Tells the checker, for each request that is part of one below, between which two its data go.
    fn carry(
        &self,
        pending: &Pending,
        lane: Lane,
        cx: &mut Context<'_>,
        way: impl Fn(RequestId) -> (RequestId, RequestId),
    ) {
        if cx.checker().is_none() {
            return;
        }
        for part in self.lanes.parts(lane, pending) {
            let command = cx.request(part).command;
            let (from, to) = way(part);
            if let Some((checker, _)) = cx.checker() {
                checker.carried(from, to, command.lbn.0, command.blocks);
            }
        }
    }

    /// Ends a request of this device with the times and the outcome of the one below.
    fn end(&mut self, part: RequestId, below: RequestId, shares: bool, cx: &mut Context<'_>) {
        let ended = cx.request(below);
        let outcome = ended.outcome.expect("the request below is complete");
        let (acceptance, start, parts) = (ended.acceptance, ended.start, ended.parts);
        let (media, served_by) = (ended.media, ended.served_by);
        let shares = shares || ended.shares_access;
        let entry = cx.request_mut(part);
        (entry.acceptance, entry.start, entry.parts) = (acceptance, start, parts);
        (entry.media, entry.served_by, entry.shares_access) = (media, served_by, shares);
        cx.complete(part, outcome);
    }

    /// Has the queue looked at on the next full period, where requests may come to wait too long.
    fn watch(&mut self, cx: &mut Context<'_>) {
        if let Some(late) = self.lanes.late()
            && !self.is_watching
            && self.lanes.has_base()
        {
            self.is_watching = true;
            let every = late.every.ns();
            let next = Time::from_ns((cx.now().ns() / every + 1) * every);
            cx.background_alarm(next, Token::new(0, 0));
        }
    }
}

impl Device for Driver {
    fn children(&self) -> Vec<DeviceId> {
        vec![self.child.device]
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.clock(cx.now());
        let entry = cx.request(request);
        let (command, is_urgent) = (entry.command, entry.class.is_urgent());
        self.counters.arrives(&command, entry.class);
        self.lanes.add(request, command, cx.now(), is_urgent);
        self.send_next(cx);
        self.counters.waits(self.lanes.waiting());
        self.watch(cx);
    }

    fn alarm(&mut self, _token: Token, cx: &mut Context<'_>) {
        self.is_watching = false;
        let moved = self.lanes.move_late(cx.now(), |request| {
            let entry = cx.request(request);
            (entry.command, entry.issue)
        });
        self.counters.late(moved);
        self.watch(cx);
    }

    fn made_urgent(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let moved = self.lanes.make_urgent(request, |part| {
            let entry = cx.request(part);
            (entry.command, entry.issue)
        });
        if moved {
            self.counters.raised();
            return;
        }
        let below = (0..).zip(&self.sent).find(|(_, sent)| {
            sent.as_ref()
                .is_some_and(|sent| self.lanes.has_part(sent.lane, &sent.pending, request))
        });
        if let Some((below, _)) = below {
            cx.make_urgent(RequestId(below));
        }
    }

    fn child_completed(&mut self, _child: DeviceId, below: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        self.clock(now);
        let sent = self.sent[below.0 as usize].take();
        let Sent {
            mut pending,
            lane,
            at,
        } = sent.expect("a device completes what was sent to it");
        self.outstanding -= 1;
        let ended = cx.request(below);
        if ended.command.op == Op::Read && ended.outcome == Some(Outcome::Ok) {
            self.carry(&pending, lane, cx, |part| (below, part));
        }
        let mut part = Some(pending.request);
        let mut shares = false;
        while let Some(request) = part {
            let entered = cx.request(request).issue;
            self.counters.ends(now - entered, now - at);
            self.end(request, below, shares, cx);
            shares = true;
            part = self.lanes.release(lane, &mut pending);
        }
        match cx.has_parent() {
            true => cx.again(HEARD),
            false => self.send_next(cx),
        }
    }

    fn again(&mut self, step: u32, cx: &mut Context<'_>) {
        match step {
            // The parent has heard of the completion; what it has sent because of that is behind this.
            HEARD => cx.again(ANSWERED),
            _ => self.send_next(cx),
        }
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        self.lanes.waiting().min(self.room() as usize)
    }

    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus {
        let index = self.child.device.0 as usize;
        let child = below[index].status(now, &below[..index]);
        DeviceStatus {
            outstanding: self.outstanding + self.lanes.waiting() as u32,
            // Its queue has no end.
            free_slots: u32::MAX,
            is_down: child.is_down,
        }
    }

    fn stand_by(&mut self, cx: &mut Context<'_>) {
        cx.stand_by(self.child.device);
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        (copy == 0).then_some(Location::On(self.child.device, lbn))
    }

    fn blocks(&self) -> u64 {
        self.child.blocks
    }

    fn promise(&self) -> Promise {
        self.child.promise
    }

    fn measure_from(&mut self, now: Time) {
        self.counters = DriverCounters::since(now, self.lanes.waiting());
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        self.counters.report(elapsed)
    }
}

#[cfg(test)]
mod tests;

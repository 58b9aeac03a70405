//! A hard disk: a queue, an arm, a spinning stack of platters and an interface.

pub mod access;
pub mod buffer;
pub mod cached;
mod counters;
mod film;
pub mod hardware;
pub mod interface;
pub mod multi;
mod picture;
pub mod tally;

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus};
use crate::engine::request::{Command, Op, Outcome, Part, Parts, Promise, RequestId, ServedBy};
use crate::metrics::picture::window::Window;
use crate::models::geometry::mechanics::Arm;
use crate::models::queue::clustering::Slots;
use crate::models::queue::pool::Order;
use crate::models::queue::pool::Others;
use crate::models::queue::schedulers::DiskSpace;
use crate::models::queue::{Clustering, Pending, Pool, Scheduler, Slot, Space, View};
use access::{Access, Arrivals};
use buffer::{Buffer, Move, Served, Service};
use counters::Counters;
use film::Film;
pub use hardware::{Hardware, Overhead};
use picture::HddPicture;
use tally::Tally;

/// A share of promoted picks above which NCQ is hardly NCQ any more.
const MANY_PROMOTIONS: f64 = 0.10;

/// A hard disk.
pub struct Hdd {
    hardware: Hardware,
    depth: usize,
    scheduler: Box<dyn Scheduler>,
    clustering: Option<Clustering>,
    pool: Pool,
    /// Issued to the drive, but without a queue slot yet.
    outside: VecDeque<RequestId>,
    arm: Arm,
    active: Option<Begun>,
    /// The one that the arm has set off for while the active one is being completed.
    ahead: Option<Begun>,
    /// When the arm may set off for another request.
    released: Time,
    /// When the active request will be complete.
    bus_free: Time,
    /// The arm is on its way to a place where the scheduler wants it before the next choice.
    is_travelling: bool,
    after_write: bool,
    last: Lbn,
    buffer: Option<Buffer>,
    /// An alarm is set for when the medium has done with buffered writes.
    awaits_medium: bool,
    /// Until when time has been counted as busy.
    busy_until: Time,
    /// When the last request was complete.
    ended: Time,
    counters: Counters,
    picture: Option<Box<HddPicture>>,
    film: Option<Box<Film>>,
}

/// The kind of alarm that ends a request for which only the controller works.
const CONTROLLER_DONE: u32 = 0;
/// The alarm that ends the active request.
const ACTIVE_DONE: Token = Token::new(1, 0);
/// The alarm that ends a travel of the arm.
const TRAVELLED: Token = Token::new(2, 0);
/// The alarm that ends what the medium did behind completed requests.
const MEDIUM_FREE: Token = Token::new(3, 0);
/// The alarm after which the arm may set off for the next request.
const ARM_FREE: Token = Token::new(4, 0);

/// A request whose course has been worked out.
struct Begun {
    request: RequestId,
    /// The other parts of a merged one.
    others: Others,
    /// The segment of the buffer that it uses.
    segment: u32,
}

impl Hdd {
    /// A hard disk at rest at cylinder 0 with `depth` queue slots.
    pub fn new(hardware: Hardware, depth: u32, scheduler: Box<dyn Scheduler>) -> Hdd {
        let pool = Pool::new(scheduler.order());
        Hdd {
            buffer: hardware
                .buffer
                .clone()
                .map(|buffer| Buffer::new(buffer, hardware.chance.clone())),
            awaits_medium: false,
            busy_until: Time::ZERO,
            ended: Time::ZERO,
            hardware,
            depth: depth as usize,
            scheduler,
            clustering: None,
            pool,
            outside: VecDeque::new(),
            arm: Arm::default(),
            active: None,
            ahead: None,
            released: Time::ZERO,
            bus_free: Time::ZERO,
            is_travelling: false,
            after_write: false,
            last: Lbn(0),
            counters: Counters::default(),
            picture: None,
            film: None,
        }
    }

    /// The same, with requests in its queue merged.
    #[must_use]
    pub fn with_clustering(self, clustering: Clustering) -> Hdd {
        Hdd {
            clustering: Some(clustering),
            ..self
        }
    }

    /// Requests in the queue: waiting ones and those under way.
    fn queued(&self) -> usize {
        let begun = self.active.iter().chain(&self.ahead);
        let begun: usize = begun.map(|begun| 1 + begun.others.count()).sum();
        self.pool.requests() + begun
    }

    /// Queue slots that are taken.
    fn taken_slots(&self) -> usize {
        match self.clustering {
            Some(Clustering {
                slots: Slots::Merged,
                ..
            }) => self.pool.len() + self.active.iter().chain(&self.ahead).count(),
            _ => self.queued(),
        }
    }

    /// Whether a queue slot is free.
    fn has_slot(&self) -> bool {
        self.taken_slots() < self.depth
    }

    /// Notes a change of the queue's length at `now`, before it happens.
    #[inline]
    fn clock_queue(&mut self, now: Time) {
        let queued = self.queued();
        if let Some(picture) = &mut self.picture {
            picture.queued(self.counters.queue_since, now, queued);
        }
        let span = now - self.counters.queue_since;
        self.counters.queue_area += u128::from(span.ns()) * queued as u128;
        self.counters.queue_since = now;
    }

    /// Gives a request a queue slot.
    fn admit(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        self.clock_queue(now);
        let entry = cx.request_mut(request);
        entry.acceptance = now;
        let command = entry.command;
        let track = self.hardware.track_of(&command);
        let target = self
            .hardware
            .mechanics
            .target(track, command.op == Op::Write);
        let key = match self.pool.order() {
            Order::Arrival => 0,
            Order::Lbn => command.lbn.0,
            Order::Position => track.position.cylinder.into(),
        };
        let pending = Pending::new(request, command, now, Some(target), key);
        match &self.clustering {
            Some(clustering) => clustering.add(&mut self.pool, pending),
            None => self.pool.push(pending),
        };
        self.counters.queue_max = self.counters.queue_max.max(self.queued());
    }

    /// Picks the next request and works out its whole course.
    fn dispatch(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        let has_begun = self.active.is_some() && (self.ahead.is_some() || now < self.released);
        if has_begun || self.is_travelling || self.pool.is_empty() {
            return;
        }
        self.settle_buffer(cx);
        if let Some(buffer) = &self.buffer {
            let free = buffer.free_at(&self.hardware, now);
            if free > now {
                return self.await_medium(free, cx);
            }
            self.arm = buffer.arm();
        }
        let Hardware {
            mechanics,
            overhead,
            ..
        } = &self.hardware;
        let phase = |write| {
            let overhead = overhead.before(write, self.after_write);
            mechanics.spindle.phase(now + overhead)
        };
        let (read_phase, write_phase) = if self.buffer.is_some() {
            // The controller works on commands as they come, beside the medium.
            let phase = mechanics.spindle.phase(now);
            (phase, phase)
        } else {
            (phase(false), phase(true))
        };
        let view = View {
            now,
            pool: &self.pool,
            space: Space::Disk(DiskSpace {
                mechanics,
                arm: self.arm,
                last: self.last,
                blocks: self.hardware.blocks(),
                read_phase,
                write_phase,
                arms: &[],
            }),
        };
        if let Some(cylinder) = self.scheduler.travel(&view) {
            return self.travel(cylinder, cx);
        }
        let slot = self.scheduler.pick(&view);
        self.start(slot, cx);
    }

    /// Takes a request from the pool and works out its whole course.
    fn start(&mut self, slot: Slot, cx: &mut Context<'_>) {
        let pending = self.pool.remove(slot);
        let (request, others) = (pending.request, pending.others);
        let merges = self.clustering.is_some();
        self.counters.picked(&pending, cx.now(), merges);
        if self.buffer.is_none() {
            self.active = Some(Begun {
                request,
                others,
                segment: 0,
            });
            let end = self.begin(&pending, cx);
            self.share(&pending, cx);
            self.released = end;
            cx.alarm(end, ACTIVE_DONE);
            return;
        }
        let served = self.serve(&pending, cx);
        self.share(&pending, cx);
        let (end, segment) = (served.end, served.segment);
        let begun = if self.active.is_none() {
            &mut self.active
        } else {
            &mut self.ahead
        };
        *begun = Some(Begun {
            request,
            others,
            segment,
        });
        (self.released, self.bus_free) = (served.released, end);
        cx.alarm(end, ACTIVE_DONE);
        if served.released < end {
            cx.alarm(served.released, ARM_FREE);
        }
    }

    /// Gives every part of a merged request what the whole has.
    fn share(&mut self, pending: &Pending, cx: &mut Context<'_>) {
        let one = cx.request(pending.request);
        let (start, parts, served_by) = (one.start, one.parts, one.served_by);
        let media = one.media;
        for request in self.pool.others(pending.others) {
            let part = cx.request_mut(request);
            (part.start, part.parts, part.served_by) = (start, parts, served_by);
            part.media = media;
            part.shares_access = true;
        }
    }

    /// The medium writes what was buffered until `free`: the oldest write that goes on with that may join it, all else
    /// waits.
    fn await_medium(&mut self, free: Time, cx: &mut Context<'_>) {
        let now = cx.now();
        let buffer = self
            .buffer
            .as_ref()
            .expect("only a buffer makes requests wait");
        let joining = buffer.awaits(self.pool.len(), now).and_then(|next| {
            let joins = |slot: &Slot| Buffer::joins(&self.pool.get(*slot).command, next);
            self.pool.beginning_at(next).find(joins)
        });
        if let Some(slot) = joining {
            return self.start(slot, cx);
        }
        if !self.awaits_medium {
            self.awaits_medium = true;
            cx.alarm(free, MEDIUM_FREE);
        }
    }

    /// Moves the arm without a request: the time is the drive's, and part of no request's service.
    fn travel(&mut self, cylinder: u32, cx: &mut Context<'_>) {
        let to = Arm {
            cylinder,
            head: self.arm.head,
        };
        let time = self.hardware.mechanics.motion_time(self.arm, to, false);
        let counters = &mut self.counters;
        counters.travels += 1;
        counters.travel_cylinders += u64::from(self.arm.cylinder.abs_diff(cylinder));
        counters.parts[Part::Seek as usize] += u128::from(time.ns());
        self.count_busy(cx.now(), cx.now() + time);
        if let Some(buffer) = &mut self.buffer {
            buffer.travel(&self.hardware, cx.now(), to);
        }
        self.show_travel(to, time, cx.now());
        self.arm = to;
        self.is_travelling = true;
        cx.alarm(cx.now() + time, TRAVELLED);
    }

    /// Starts a request: stamps it, divides its time into parts, and returns its end.
    fn begin(&mut self, pending: &Pending, cx: &mut Context<'_>) -> Time {
        let now = cx.now();
        let command = &pending.command;
        let mut parts = Parts::default();
        let (access, end) = match self.camera(pending, cx) {
            None => self.access(pending, now, &mut parts),
            Some(mut steps) => {
                let (access, end) = self.access(pending, now, &mut steps);
                parts = steps.parts();
                self.show(pending, steps, (end, ServedBy::Medium, true), cx);
                (access, end)
            }
        };
        let target = pending.target.expect("a drive's queue knows every target");
        let from = std::mem::replace(&mut self.arm, access.arm);
        self.after_write = command.op == Op::Write;
        self.last = command.end();
        let distance = from.cylinder.abs_diff(target.run.position.cylinder);
        self.count_access(distance, access.read_modify_writes);
        self.counters.spent(&parts);
        self.count_busy(now, end);
        let entry = cx.request_mut(pending.request);
        entry.start = now;
        (entry.parts, entry.media) = (parts, parts.access());
        end
    }

    /// What the arm does for a request from `now` on, and when that is complete.
    fn access<T: Tally>(&self, pending: &Pending, now: Time, parts: &mut T) -> (Access, Time) {
        let command = &pending.command;
        let write = command.op == Op::Write;
        let overhead = self.hardware.overhead.before(write, self.after_write);
        parts.add(Part::Overhead, overhead);
        let target = pending.target.expect("a drive's queue knows every target");
        let (from, start) = (self.arm, now + overhead);
        let hardware = &self.hardware;
        let run = hardware.first_run(command, &target.run);
        let access = if write {
            let arrivals = Arrivals::from(start);
            access::write(hardware, from, start, arrivals, command, run, parts)
        } else {
            access::read(hardware, from, start, command, run, parts)
        };
        let completion = hardware.overhead.completion(write);
        parts.add(Part::Overhead, completion);
        (access, access.end + completion)
    }

    /// [`Self::begin`] for a drive with a buffer.
    fn serve(&mut self, pending: &Pending, cx: &mut Context<'_>) -> Served {
        let now = cx.now();
        let command = &pending.command;
        let camera = self.camera(pending, cx);
        let buffer = self.buffer.as_mut().expect("the drive has a buffer");
        let mut parts = Parts::default();
        let target = pending.target.expect("a drive's queue knows every target");
        let service = Service {
            command,
            track: &target.run,
            accepted: pending.entered,
            now,
            bus_free: self.bus_free,
            after_write: self.after_write,
        };
        let served = match camera {
            None => buffer.serve(&self.hardware, service, &mut parts),
            Some(mut steps) => {
                let served = buffer.serve(&self.hardware, service, &mut steps);
                parts = steps.parts();
                let told = (served.end, served.by, served.moved.is_some());
                self.show(pending, steps, told, cx);
                served
            }
        };
        let buffer = self.buffer.as_ref().expect("the drive has a buffer");
        let busy = buffer.destaged_at(served.end);
        self.after_write = command.op == Op::Write;
        self.last = command.end();
        if let Some(distance) = served.moved {
            self.count_access(distance, served.read_modify_writes);
        }
        self.counters.spent(&parts);
        self.count_busy(now, busy);
        let entry = cx.request_mut(pending.request);
        entry.start = now;
        (entry.parts, entry.media) = (parts, parts.access());
        entry.served_by = served.by;
        if command.op == Op::Write && cx.checker().is_some() {
            for part in std::iter::once(pending.request).chain(self.pool.others(pending.others)) {
                let Command { lbn, blocks, .. } = cx.request(part).command;
                if let Some((checker, device)) = cx.checker() {
                    checker.buffered(device, served.segment, part, lbn.0, blocks);
                }
            }
        }
        served
    }

    /// Counts an access to the medium for which the arm moved over `distance` cylinders.
    fn count_access(&mut self, distance: u32, read_modify_writes: u32) {
        self.counters.accessed(distance, read_modify_writes);
        if let Some(picture) = &mut self.picture {
            picture.access(distance);
        }
    }

    /// Counts the time from `from` to `to` as busy, as far as it is not counted yet.
    fn count_busy(&mut self, from: Time, to: Time) {
        let from = from.max(self.busy_until);
        if to > from {
            self.counters.busy += u128::from((to - from).ns());
            self.busy_until = to;
            if let Some(picture) = &mut self.picture {
                picture.busy(from, to);
            }
        }
    }

    /// Brings buffer and checker up to date.
    fn settle_buffer(&mut self, cx: &mut Context<'_>) {
        let Some(buffer) = &mut self.buffer else {
            return;
        };
        buffer.settle(&self.hardware, cx.now());
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        for step in buffer.moves() {
            match step {
                Move::Fill(to) => checker.filled(device, to.segment, to.lbn, to.blocks),
                Move::Drain(from) => checker.drained(device, from.segment, from.lbn, from.blocks),
            }
        }
    }

    /// Reports to the checker what the active request did with the buffer.
    fn settle_buffered(&mut self, request: RequestId, segment: u32, cx: &mut Context<'_>) {
        self.settle_buffer(cx);
        let Command {
            op, lbn, blocks, ..
        } = cx.request(request).command;
        if op == Op::Read
            && let Some((checker, device)) = cx.checker()
        {
            checker.read_buffered(device, segment, request, lbn.0, blocks);
        }
    }

    /// Reports to the checker what the medium did for a request, or for a part of a merged one.
    fn settle_accounts(&mut self, request: RequestId, segment: u32, cx: &mut Context<'_>) {
        if cx.checker().is_none() {
            return;
        }
        if self.buffer.is_some() {
            return self.settle_buffered(request, segment, cx);
        }
        let command = cx.request(request).command;
        if let Some((checker, medium)) = cx.checker() {
            match command.op {
                Op::Write => checker.wrote(medium, request, 0, command.lbn.0, command.blocks),
                Op::Read => checker.read(medium, request, 0, command.lbn.0, command.blocks),
                Op::Flush | Op::Trim => {}
            }
        }
    }

    fn count(&mut self, op: Op, now: Time) {
        if self.counters.requests == 0 {
            self.counters.first = now;
        }
        self.counters.requests += 1;
        match op {
            Op::Read => self.counters.reads += 1,
            Op::Write => self.counters.writes += 1,
            Op::Flush | Op::Trim => {}
        }
    }
}

impl Device for Hdd {
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let op = cx.request(request).command.op;
        self.count(op, cx.now());
        if matches!(op, Op::Flush | Op::Trim) {
            // Every acknowledged write is on the medium already, and a disk keeps no map to trim: only the
            // controller has work to do.
            let (now, overhead) = (
                cx.now(),
                self.hardware.overhead.before(true, self.after_write),
            );
            let ready = now + overhead;
            // A flush waits until what was buffered is on the medium.
            let end = match &self.buffer {
                Some(buffer) if op == Op::Flush => buffer.destaged_at(ready),
                _ => ready,
            };
            let entry = cx.request_mut(request);
            (entry.acceptance, entry.start) = (now, now);
            entry.parts.add(Part::Overhead, overhead);
            entry.parts.add(Part::Wait, end - ready);
            cx.alarm(end, Token::of_request(CONTROLLER_DONE, request));
        } else if self.has_slot() {
            self.admit(request, cx);
            if self.active.is_none() || self.ahead.is_none() && cx.now() >= self.released {
                cx.wake();
            }
        } else {
            self.outside.push_back(request);
        }
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        if token == TRAVELLED {
            self.is_travelling = false;
            return cx.wake();
        }
        if token == ARM_FREE {
            return cx.wake();
        }
        if token == MEDIUM_FREE {
            self.awaits_medium = false;
            return cx.wake();
        }
        if token != ACTIVE_DONE {
            self.settle_buffer(cx);
            return cx.complete(token.request(), Outcome::Ok);
        }
        self.clock_queue(cx.now());
        let was_full = cx.has_parent() && !self.has_slot();
        let done = self.active.take().expect("the alarm of an active request");
        self.ended = cx.now();
        self.active = self.ahead.take();
        self.settle_accounts(done.request, done.segment, cx);
        cx.complete(done.request, Outcome::Ok);
        let mut others = done.others;
        while let Some(part) = self.pool.release(&mut others) {
            self.settle_accounts(part, done.segment, cx);
            cx.complete(part, Outcome::Ok);
        }
        while self.has_slot()
            && let Some(next) = self.outside.pop_front()
        {
            self.admit(next, cx);
        }
        if was_full && self.has_slot() {
            cx.announce_room();
        }
        // The next choice waits for what is submitted in answer to this completion, within the same instant.
        cx.wake();
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        self.dispatch(cx);
    }

    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: (self.queued() + self.outside.len()) as u32,
            free_slots: self.depth.saturating_sub(self.taken_slots()) as u32,
        }
    }

    fn blocks(&self) -> u64 {
        self.hardware.blocks()
    }

    fn promise(&self) -> Promise {
        match &self.buffer {
            Some(buffer) if buffer.is_volatile() => Promise::AfterFlush,
            _ => Promise::Durable,
        }
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        self.counted(elapsed)
    }

    fn collect_picture(&mut self, window: Option<&Window>) {
        let cylinders = self.hardware.mechanics.layout.cylinders();
        self.picture = Some(Box::new(HddPicture::new(cylinders)));
        self.film = window.map(|window| Box::new(Film::new(window.clone())));
    }

    fn picture(&self) -> Option<Map<String, Value>> {
        let mut picture = self.picture.as_ref()?.json(self.ended);
        picture.extend(self.film_json().map(|film| ("film".to_owned(), film)));
        Some(picture)
    }

    fn warnings(&self) -> Vec<String> {
        let (promotions, accesses) = (self.scheduler.promotions(), self.counters.accesses);
        let share = promotions as f64 / accesses.max(1) as f64;
        if share <= MANY_PROMOTIONS {
            return Vec::new();
        }
        vec![format!(
            "{:.0} % of the accesses were promoted by the scheduler's timeout: it works much like FCFS (a longer \
             timeout, or a shorter queue, would let it choose)",
            100.0 * share
        )]
    }
}

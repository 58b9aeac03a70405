//! A hard disk with any number of arms, whose data are in place or in a log.
//!
//! Like [`Hdd`](super::Hdd) it works out the whole course of a request when that is picked. What it has beyond: a choice of the arm for
//! every access; a [`Log`] that says where blocks are, and takes free slots for what is written; arms that
//! move one at a time or each by itself; and a cleaner that works between requests. It has no buffer.

mod arm;
mod background;
mod course;
mod film;
mod initial;
mod log_course;
mod recovery;
mod report;
mod settle;
mod station;

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde_json::{Map, Value};

use super::counters::{Counters, Ends};
use super::film::Film;
use super::hardware::Hardware;
use super::picture::HddPicture;
use crate::base::units::{Lbn, Time};
use crate::config::arms::{ArmMotion, ArmParts};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location};
use crate::engine::request::{Command, Op, Outcome, Part, Parts, Promise, RequestId};
use crate::metrics::picture::window::Window;
use crate::models::geometry::mechanics::{Arm, Target};
use crate::models::placement::arm_choice::{ArmChoice, Candidate};
use crate::models::placement::cleaner::Cleaner;
use crate::models::placement::log::{Content, Log};
use crate::models::placement::slots::SlotId;
use crate::models::placement::soonest::Found;
use crate::models::queue::pool::Order;
use crate::models::queue::schedulers::{ArmView, DiskSpace};
use crate::models::queue::{Pending, Pool, Scheduler, Slot, Space, View};
use arm::{ArmUnit, Course, Reading, Work};
use background::Cleaning;
pub use initial::InitialWrites;
use recovery::Recovered;
use station::Station;
pub use station::stations;

/// What a drive with several arms, or a log, is built of.
pub struct MultiParts {
    /// Its arms.
    pub arms: Vec<ArmParts>,
    /// Whether they move one at a time.
    pub motion: ArmMotion,
    /// Which of them serves an access.
    pub choice: Box<dyn ArmChoice>,
    /// A scheduler for each of the [`stations`] of the arms.
    pub schedulers: Vec<Box<dyn Scheduler>>,
    /// Where data are, unless in place.
    pub log: Option<Log>,
    /// When tracks are made empty.
    pub cleaner: Option<Cleaner>,
    /// What is in the log at time zero.
    pub initial: Option<InitialWrites>,
    /// Queue slots.
    pub depth: u32,
}

/// A hard disk with any number of arms, whose data are in place or in a log.
pub struct MultiHdd {
    hardware: Hardware,
    depth: usize,
    arms: Vec<ArmUnit>,
    stations: Vec<Station>,
    motion: ArmMotion,
    choice: Box<dyn ArmChoice>,
    log: Option<Log>,
    cleaner: Option<Cleaner>,
    cleaning: Cleaning,
    initial: Option<InitialWrites>,
    /// Issued to the drive, but without a queue slot yet.
    outside: VecDeque<RequestId>,
    /// Requests that have a queue slot.
    queued: usize,
    /// Requests of which several stations serve a share each: how many still do, and when the last will have.
    shared: HashMap<RequestId, Shared, FixedState>,
    after_write: bool,
    busy_until: Time,
    ended: Time,
    counters: Counters,
    picture: Option<Box<HddPicture>>,
    film: Option<Box<Film>>,
    recovered: Option<Recovered>,
    /// Blocks that were written where they were although there is a log.
    rewrites: u64,
    /// What the request that is being worked out writes, and reads.
    course: Course,
    /// Arms of other stations that read for a write, and until when.
    borrowed: Vec<(usize, Time)>,
    /// A station whose next write waits for an arm that reads.
    waits_for_reader: Option<usize>,
    candidates: Vec<Candidate>,
    found: Vec<Found>,
    views: Vec<ArmView>,
}

/// A request of which several stations serve a share each.
#[derive(Clone, Copy)]
struct Shared {
    /// How many shares are not done, and how many of those not begun.
    left: usize,
    unbegun: usize,
    /// When the last of those begun will be done.
    end: Time,
    /// The number of the service in the film, if it is shown there.
    number: Option<u64>,
}

/// The kind of alarm that ends a request for which only the controller works.
const CONTROLLER_DONE: u32 = 0;
/// The kind of alarm of an arm, whose number is the value, that has done its work.
const ARM_DONE: u32 = 1;
/// The kind of alarm after which an idle drive may be cleaned.
const IDLE: u32 = 2;

impl MultiHdd {
    /// A disk at rest.
    pub fn new(hardware: Hardware, parts: MultiParts) -> MultiHdd {
        let groups = stations(&parts.arms, parts.motion);
        let mut arms: Vec<ArmUnit> = parts
            .arms
            .iter()
            .map(|&arm| ArmUnit::new(arm, hardware.mechanics.spindle, 0))
            .collect();
        for (station, group) in groups.iter().enumerate() {
            for &arm in group {
                arms[arm].station = station;
            }
        }
        let stations = groups.into_iter().zip(parts.schedulers);
        MultiHdd {
            stations: stations
                .map(|(group, scheduler)| Station::new(group, &parts.arms, scheduler))
                .collect(),
            hardware,
            depth: parts.depth as usize,
            arms,
            motion: parts.motion,
            choice: parts.choice,
            log: parts.log,
            cleaner: parts.cleaner,
            cleaning: Cleaning::default(),
            initial: parts.initial,
            outside: VecDeque::new(),
            queued: 0,
            shared: HashMap::default(),
            after_write: false,
            busy_until: Time::ZERO,
            ended: Time::ZERO,
            counters: Counters::default(),
            picture: None,
            film: None,
            recovered: None,
            rewrites: 0,
            course: Course::default(),
            borrowed: Vec::new(),
            waits_for_reader: None,
            candidates: Vec::new(),
            found: Vec::new(),
            views: Vec::new(),
        }
    }

    /// Sectors of a slot, where there is a log.
    fn slot_blocks(&self) -> Option<u64> {
        let log = self.log.as_ref()?;
        let sectors = log.slots().sectors_per_slot();
        Some(u64::from(sectors) * u64::from(self.hardware.blocks_per_sector))
    }

    /// The first block on the medium of a slot.
    fn medium_lbn(&self, slot: SlotId) -> u64 {
        let log = self.log.as_ref().expect("slots are a log's");
        log.slots().sector(slot) * u64::from(self.hardware.blocks_per_sector)
    }

    /// Notes a change of the queue's length at `now`, before it happens.
    #[inline]
    fn clock_queue(&mut self, now: Time) {
        if let Some(picture) = &mut self.picture {
            picture.queued(self.counters.queue_since, now, self.queued);
        }
        let span = now - self.counters.queue_since;
        self.counters.queue_area += u128::from(span.ns()) * self.queued as u128;
        self.counters.queue_since = now;
    }

    /// Gives a request a queue slot.
    fn admit(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        self.clock_queue(now);
        self.queued += 1;
        self.counters.queue_max = self.counters.queue_max.max(self.queued);
        let entry = cx.request_mut(request);
        entry.acceptance = now;
        let command = entry.command;
        if self.stations.len() == 1 {
            return self.enter(0, request, &command, now);
        }
        let mut left = 0;
        for station in 0..self.stations.len() {
            if self.serves(station, &command) {
                self.enter(station, request, &command, now);
                left += 1;
            }
        }
        if left > 1 {
            let shared = Shared {
                left,
                unbegun: left,
                end: Time::ZERO,
                number: None,
            };
            self.shared.insert(request, shared);
        }
    }

    /// Whether one of several stations has a share in a request.
    fn serves(&self, station: usize, command: &Command) -> bool {
        let station = &self.stations[station];
        // With a log every arm that reads, or writes, serves all of the drive.
        let serves_all =
            || self.log.is_some() || station.reaches_all(&self.hardware.mechanics.layout);
        station.can(command.op)
            && (serves_all() || {
                let mut runs = course::runs(&self.hardware, command);
                runs.any(|run| station.reaches(run.position.cylinder, run.position.head))
            })
    }

    /// Puts a request into a station's queue.
    fn enter(&mut self, station: usize, request: RequestId, command: &Command, now: Time) {
        let order = self.stations[station].pool.order();
        let (target, key) = match &self.log {
            // Where its data are, or will be, is asked when the next request is chosen.
            Some(_) => (None, self.key(order, command, None)),
            None => {
                let target = self.target_in_place(station, command);
                (Some(target), self.key(order, command, Some(&target)))
            }
        };
        let pending = Pending::new(request, *command, now, target, key);
        self.stations[station].pool.push(pending);
    }

    fn key(&self, order: Order, command: &Command, target: Option<&Target>) -> u64 {
        match order {
            Order::Arrival => 0,
            Order::Lbn => command.lbn.0,
            Order::Position => target.map_or(0, |target| target.run.position.cylinder.into()),
        }
    }

    /// Where the share of a station in a request begins, with data in place.
    fn target_in_place(&self, station: usize, command: &Command) -> Target {
        let station = &self.stations[station];
        let first = self.hardware.track_of(command);
        let own = |run: &crate::models::geometry::layout::Run| {
            station.reaches(run.position.cylinder, run.position.head)
        };
        let run = if self.stations.len() == 1 || own(&first) {
            first
        } else {
            let mut runs = course::runs(&self.hardware, command);
            runs.find(own).unwrap_or(first)
        };
        self.hardware.mechanics.target(run, command.op == Op::Write)
    }

    /// Lets idle arms begin what waits.
    fn dispatch(&mut self, cx: &mut Context<'_>) {
        for station in 0..self.stations.len() {
            while self.begin_one(station, cx) {}
        }
        self.clean(cx);
    }

    /// Whether an arm of a station can begin something now.
    fn has_idle_arm(&self, station: usize) -> bool {
        match self.motion {
            ArmMotion::OneAtATime => self.arms.iter().all(|arm| arm.work.is_none()),
            ArmMotion::Independent => {
                let arms = &self.stations[station].arms;
                arms.iter().any(|&arm| self.arms[arm].work.is_none())
            }
        }
    }

    /// Begins one request of a station, if one waits and an arm is idle.
    fn begin_one(&mut self, station: usize, cx: &mut Context<'_>) -> bool {
        if self.stations[station].pool.is_empty() || !self.has_idle_arm(station) {
            return false;
        }
        if self.cleans_first() || self.waits_for_reader.is_some_and(|other| other != station) {
            return false;
        }
        let now = cx.now();
        self.aim(station, now);
        match self.pick(station, now) {
            Ok(slot) => {
                let command = self.stations[station].pool.get(slot).command;
                let waits = self.lacks_reader(station, &command);
                self.waits_for_reader = waits.then_some(station);
                if waits {
                    return false;
                }
                self.start(station, slot, cx);
            }
            Err((arm, cylinder)) => self.travel(arm, cylinder, cx),
        }
        true
    }

    /// Says where the data of waiting requests are now, where there is a log and more than one to choose from.
    fn aim(&mut self, station: usize, now: Time) {
        if self.log.is_none() {
            return;
        }
        let pool = &self.stations[station].pool;
        if pool.len() < 2 {
            return;
        }
        let order = pool.order();
        let next_write = self.next_write(station, now);
        let mut pool = std::mem::replace(&mut self.stations[station].pool, Pool::new(order));
        pool.retarget(|command| {
            let target = self.target_in_log(command, next_write);
            (target, self.key(order, command, target.as_ref()))
        });
        self.stations[station].pool = pool;
    }

    /// The choice of a station's scheduler, or else the arm that it wants to travel and where to.
    fn pick(&mut self, station: usize, now: Time) -> Result<Slot, (usize, u32)> {
        let Hardware {
            mechanics,
            overhead,
            ..
        } = &self.hardware;
        let after_write = self.after_write;
        let phases = |arm: &ArmUnit| {
            let phase = |write| arm.phase(now + overhead.before(write, after_write));
            (phase(false), phase(true))
        };
        let mut views = std::mem::take(&mut self.views);
        views.clear();
        let Station {
            arms,
            pool,
            scheduler,
            last,
            ..
        } = &mut self.stations[station];
        let idle = |&&arm: &&usize| self.arms[arm].work.is_none();
        let first = *arms.iter().find(idle).expect("one of its arms is idle");
        if self.arms.len() > 1 {
            views.extend(arms.iter().filter(idle).map(|&number| {
                let arm = &self.arms[number];
                let (read_phase, write_phase) = phases(arm);
                ArmView {
                    at: arm.at,
                    read_phase,
                    write_phase,
                    reads: arm.parts.reads,
                    writes: arm.parts.writes,
                    reach: arm.parts.reach,
                }
            }));
        }
        let (read_phase, write_phase) = phases(&self.arms[first]);
        let view = View {
            now,
            pool,
            space: Space::Disk(DiskSpace {
                mechanics,
                arm: self.arms[first].at,
                last: *last,
                blocks: self.hardware.blocks(),
                read_phase,
                write_phase,
                arms: &views,
            }),
        };
        let choice = match scheduler.travel(&view) {
            Some(cylinder) => Err((first, cylinder)),
            None => Ok(scheduler.pick(&view)),
        };
        self.views = views;
        choice
    }

    /// Moves an arm without a request.
    fn travel(&mut self, arm: usize, cylinder: u32, cx: &mut Context<'_>) {
        let unit = &mut self.arms[arm];
        let to = Arm {
            cylinder,
            head: unit.at.head,
        };
        let time = self.hardware.mechanics.motion_time(unit.at, to, false);
        let counters = &mut self.counters;
        counters.travels += 1;
        counters.travel_cylinders += u64::from(unit.at.cylinder.abs_diff(cylinder));
        counters.parts[Part::Seek as usize] += u128::from(time.ns());
        unit.at = to;
        if let Some(film) = &mut self.film {
            film.travel(arm, to, time, cx.now());
        }
        self.work(arm, Work::Travel, cx.now() + time, cx);
    }

    /// An arm is at work until `end`.
    fn work(&mut self, arm: usize, work: Work, end: Time, cx: &mut Context<'_>) {
        self.arms[arm].work = Some(work);
        self.count_busy(cx.now(), end);
        cx.alarm(end, Token::new(ARM_DONE, arm as u32));
    }

    /// Takes a request from a station's queue and works out its whole course.
    fn start(&mut self, station: usize, slot: Slot, cx: &mut Context<'_>) {
        let now = cx.now();
        let pending = self.stations[station].pool.remove(slot);
        self.counters.picked(&pending, now, false);
        self.stations[station].last = pending.command.end();
        let mut parts = Parts::default();
        let mut take = self.camera(&pending, cx);
        let served = match &mut take {
            None => self.serve(station, &pending.command, now, &mut parts),
            Some(take) => {
                let served = self.serve(station, &pending.command, now, &mut take.steps);
                parts = take.steps.parts();
                served
            }
        };
        std::mem::swap(&mut self.course, &mut self.arms[served.arm].course);
        self.after_write = pending.command.op == Op::Write;
        self.counters.spent(&parts);
        self.choice.served(pending.command.op, served.end - now);
        let is_last = match self.shared.get_mut(&pending.request) {
            Some(shared) => {
                let is_last = served.end >= shared.end;
                shared.end = shared.end.max(served.end);
                shared.unbegun -= 1;
                is_last
            }
            None => true,
        };
        self.show(&pending, take, (served.end, is_last), cx);
        // The course of a request with several shares is that of the one that ends last.
        if is_last {
            let entry = cx.request_mut(pending.request);
            (entry.start, entry.parts) = (now, parts);
            entry.media = parts.access();
        }
        self.work(served.arm, Work::Request(pending.request), served.end, cx);
        while let Some((arm, until)) = self.borrowed.pop() {
            self.work(arm, Work::Travel, until, cx);
        }
        self.cleaning.yields();
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

    /// An arm has done what it did.
    fn done(&mut self, arm: usize, cx: &mut Context<'_>) {
        let work = self.arms[arm].work.take();
        match work.expect("the alarm of an arm at work") {
            Work::Request(request) => {
                self.settle(arm, request, cx);
                if self.has_all(request) {
                    self.complete(request, cx);
                }
            }
            Work::Travel => {}
            Work::Load => self.loaded(),
            Work::Move { from } => self.moved_away(arm, from, cx),
        }
        self.let_go(arm);
        cx.wake();
    }

    /// Whether all stations have served their shares of a request, now that one more has.
    fn has_all(&mut self, request: RequestId) -> bool {
        let Some(shared) = self.shared.get_mut(&request) else {
            return true;
        };
        shared.left -= 1;
        let has_all = shared.left == 0;
        if has_all {
            self.shared.remove(&request);
        }
        has_all
    }

    fn complete(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.cleaning.looks_again();
        self.clock_queue(cx.now());
        let was_full = cx.has_parent() && self.queued == self.depth;
        self.queued -= 1;
        self.ended = cx.now();
        cx.complete(request, Outcome::Ok);
        while self.queued < self.depth
            && let Some(next) = self.outside.pop_front()
        {
            self.admit(next, cx);
        }
        if was_full && self.queued < self.depth {
            cx.announce_room();
        }
    }

    /// Frees the slots that were held for an arm's reading.
    fn let_go(&mut self, arm: usize) {
        let mut held = std::mem::take(&mut self.arms[arm].course.held);
        self.arms[arm].course.clear();
        for slot in held.drain(..) {
            self.release(slot);
        }
        self.arms[arm].course.held = held;
    }

    /// Frees a slot, or has an arm do it that still reads there.
    fn release(&mut self, slot: SlotId) {
        let log = self.log.as_mut().expect("slots are a log's");
        let per_sector = u64::from(self.hardware.blocks_per_sector);
        let first = log.slots().sector(slot) * per_sector;
        let end = first + u64::from(log.slots().sectors_per_slot()) * per_sector;
        let reader = self.arms.iter_mut().find(|arm| {
            let mut reading = arm.course.reading.iter();
            let meets = |piece: &Reading| {
                piece.medium < end && first < piece.medium + u64::from(piece.blocks)
            };
            arm.work.is_some() && reading.any(meets)
        });
        match reader {
            Some(arm) => arm.course.held.push(slot),
            None => log.release(&self.hardware.mechanics, slot),
        }
    }

    /// Forgets the blocks of a trim that it covers whole.
    fn trim(&mut self, command: &Command) {
        let Some(per_slot) = self.slot_blocks() else {
            return;
        };
        let blocks = command.lbn.0.div_ceil(per_slot)..command.end().0 / per_slot;
        for block in blocks {
            let log = self.log.as_mut().expect("it was there");
            if let Some(slot) = log.discard(block) {
                self.release(slot);
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

impl Device for MultiHdd {
    fn prepare(&mut self, _cx: &mut Context<'_>) {
        self.write_initially();
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let op = cx.request(request).command.op;
        self.count(op, cx.now());
        if matches!(op, Op::Flush | Op::Trim) {
            // Every acknowledged write is on the medium already: only the controller has work to do.
            let now = cx.now();
            let overhead = self.hardware.overhead.before(true, self.after_write);
            let entry = cx.request_mut(request);
            (entry.acceptance, entry.start) = (now, now);
            entry.parts.add(Part::Overhead, overhead);
            cx.alarm(now + overhead, Token::of_request(CONTROLLER_DONE, request));
        } else if self.queued < self.depth {
            self.admit(request, cx);
            cx.wake();
        } else {
            self.outside.push_back(request);
        }
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            ARM_DONE => return self.done(token.value() as usize, cx),
            IDLE => return self.idle_for_long(cx),
            _ => {}
        }
        let request = token.request();
        let command = cx.request(request).command;
        if command.op == Op::Trim {
            self.trim(&command);
        }
        self.ended = cx.now();
        cx.complete(request, Outcome::Ok);
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        self.dispatch(cx);
    }

    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: (self.queued + self.outside.len()) as u32,
            free_slots: self.depth.saturating_sub(self.queued) as u32,
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        let place = match (&self.log, self.slot_blocks()) {
            (Some(log), Some(per_slot)) => {
                let slot = log.map().get(lbn.0 / per_slot);
                slot.map(|slot| self.medium_lbn(slot) + lbn.0 % per_slot)
            }
            _ => Some(lbn.0),
        };
        let location = place.map_or(Location::Nowhere, |place| Location::Here(Lbn(place)));
        (copy == 0).then_some(location)
    }

    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        if fault == Fault::PowerLost {
            self.recover(cx.now());
        }
    }

    fn blocks(&self) -> u64 {
        match (&self.log, self.slot_blocks()) {
            (Some(log), Some(per_slot)) => log.blocks() * per_slot,
            _ => self.hardware.blocks(),
        }
    }

    fn promise(&self) -> Promise {
        Promise::Durable
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        let stations = self.stations.iter();
        let mut report = self.counters.report(&Ends {
            elapsed,
            ended: self.ended,
            busy_until: self.busy_until,
            promotions: stations.map(|station| station.scheduler.promotions()).sum(),
        });
        self.report_arms(&mut report);
        report
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
}

/// What a write puts into the log beside its data: the parts of the map that change with blocks from `first` to `last`.
fn map_parts(log: &Log, first: u64, last: u64) -> impl Iterator<Item = Content> + use<> {
    let parts = log.part_of(first).zip(log.part_of(last));
    let parts = parts.map(|(first, last)| first..=last);
    parts.into_iter().flatten().map(Content::Map)
}

//! A disk behind its cache, if it has one: a queue, perhaps a buffer, a placement, arms and a medium.
//!
//! The whole course of a request is worked out when it is picked; an alarm ends it. What the parts are: requests get a slot of the queue
//! ([`intake`](super::intake)); idle arms begin what waits ([`dispatch`](super::dispatch)); how a request is served is a matter of the
//! buffer, if there is one, or else of the placement, which asks the [`Medium`] for accesses ([`service`](super::service)).

use serde_json::{Map, Value};

use super::alarm::Alarm;
use super::arm::{Arm, StartedRequest, Work};
use super::arm_group::{GroupQueue, arm_groups};
use super::arm_trace::ArmTrace;
use super::arms_spec::{ArmMotion, ArmParts};
use super::buffer::{Buffer, BufferCounters};
use super::buffered::Buffered;
use super::bus::OnBus;
use super::hardware::Hardware;
use super::intake::Intake;
use super::log::{InitialWrites, LogPlacement};
use super::medium::Medium;
use super::picture::HddPicture;
use super::power::DiskPower;
use crate::base::units::{Lbn, Time};
use crate::engine::access_times::AccessTimes;
use crate::engine::context::Context;
use crate::engine::device::Location;
use crate::engine::request::{Command, Op, Outcome, Part, Promise, RequestId};
use crate::engine::window::ArmTraceWindow;
use crate::models::geometry::mechanics::Target;
use crate::models::placement::arm_choice::ArmChoice;
use crate::models::placement::cleaner::Cleaner;
use crate::models::placement::log::Log;
use crate::models::queue::pool::Order;
use crate::models::queue::schedulers::ArmView;
use crate::models::queue::{Clustering, Pending, Pool, Scheduler, Slot};

/// A share of promoted picks above which NCQ is hardly NCQ any more.
const MANY_PROMOTIONS: f64 = 0.10;

/// What a disk is built of.
pub struct DiskParts {
    /// Its hardware; what is in its buffer is served as if by one arm in place.
    pub hardware: Hardware,
    /// Queue slots.
    pub depth: u32,
    /// How waiting requests are merged, if they are.
    pub clustering: Option<Clustering>,
    /// Its arms.
    pub arms: Vec<ArmParts>,
    /// Whether they move one at a time.
    pub motion: ArmMotion,
    /// Which of them serves an access.
    pub choice: Box<dyn ArmChoice>,
    /// A scheduler for each of the [groups](arm_groups) of the arms.
    pub schedulers: Vec<Box<dyn Scheduler>>,
    /// Where data are, unless in place.
    pub log: Option<LogParts>,
    /// The results tell of each arm.
    pub reports_arms: bool,
    /// What it draws, where that is known.
    pub power: Option<Box<DiskPower>>,
    /// A pool is in front of it, which has the interface, and to which the controller's work belongs.
    pub is_behind_memory: bool,
}

impl DiskParts {
    /// Capacity in 512-byte blocks.
    pub fn blocks(&self) -> u64 {
        let sectors = |parts: &LogParts| u64::from(parts.log.slots().sectors_per_slot());
        match &self.log {
            Some(parts) => {
                parts.log.blocks() * sectors(parts) * u64::from(self.hardware.blocks_per_sector)
            }
            None => self.hardware.blocks(),
        }
    }
}

/// What a placement in a log is built of.
pub struct LogParts {
    /// The log.
    pub log: Log,
    /// When tracks are made empty.
    pub cleaner: Option<Cleaner>,
    /// What is in the log at time zero.
    pub initial: Option<InitialWrites>,
}

/// A disk.
pub(super) struct Disk {
    pub intake: Intake,
    /// What waits for the arms of each group.
    pub queues: Vec<GroupQueue>,
    pub buffered: Option<Box<Buffered>>,
    /// Where data are, unless in place.
    pub log: Option<Box<LogPlacement>>,
    pub medium: Medium,
    /// A group, and its next request, which waits for an arm at work.
    pub waits_for_arm: Option<(usize, RequestId)>,
    /// When the last request was complete.
    pub ended: Time,
    pub arm_trace: Option<Box<ArmTrace>>,
    /// What it draws, where that is known.
    pub power: Option<Box<DiskPower>>,
    /// The bus, where other drives share it.
    pub on_bus: Option<Box<OnBus>>,
    reports_arms: bool,
    /// How many picks the schedulers had promoted when counting began.
    promoted_before: u64,
    /// Idle arms as a scheduler sees them, kept for their memory.
    pub views: Vec<ArmView>,
    /// The requests that end together, kept for their memory.
    pub parts: Vec<(RequestId, Command)>,
}

impl Disk {
    /// A disk at rest.
    pub fn new(mut parts: DiskParts) -> Disk {
        let groups = arm_groups(&parts.arms, parts.motion);
        let buffer = parts.hardware.buffer.take();
        let chance = parts.hardware.chance.clone();
        let blocks_per_sector = parts.hardware.blocks_per_sector;
        let log = parts.log.map(
            |LogParts {
                 log,
                 cleaner,
                 initial,
             }| {
                Box::new(LogPlacement::new(log, cleaner, initial, blocks_per_sector))
            },
        );
        let is_behind_memory = parts.is_behind_memory;
        let mut medium = Medium::new(
            parts.hardware,
            &parts.arms,
            parts.motion,
            parts.choice,
            groups,
        );
        medium.is_behind_memory = is_behind_memory;
        let buffered = buffer.map(|description| {
            debug_assert!(
                log.is_none() && medium.arms.len() == 1,
                "a segmented buffer is for one arm in place"
            );
            let buffer = Buffer::new(description, chance).starting_at(medium.arms[0].at);
            Box::new(Buffered::new(buffer))
        });
        let asks_for_neighbours = parts.clustering.is_some() || buffered.is_some();
        let schedulers = parts.schedulers.into_iter();
        let queue = |scheduler| GroupQueue::new(scheduler, asks_for_neighbours);
        Disk {
            intake: Intake::new(parts.depth, parts.clustering),
            queues: schedulers.map(queue).collect(),
            buffered,
            log,
            medium,
            waits_for_arm: None,
            ended: Time::ZERO,
            arm_trace: None,
            power: parts.power,
            on_bus: None,
            reports_arms: parts.reports_arms,
            promoted_before: 0,
            views: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// The requests that have begun and are not done, merged ones and shares as one each.
    pub fn begun(&self) -> impl Iterator<Item = &StartedRequest> {
        let by_arms = self.medium.arms.iter().filter_map(|arm| match &arm.work {
            Some(Work::Request(begun)) => Some(begun),
            _ => None,
        });
        by_arms.chain(self.buffered.iter().flat_map(|buffered| buffered.begun()))
    }

    /// Queue slots that are taken.
    #[inline]
    fn taken_slots(&self) -> usize {
        if self.intake.shares_slots() {
            self.leaders()
        } else {
            self.intake.queued
        }
    }

    /// How many requests are in the queue where those that were merged count as one: of several groups' queues, a request counts that is
    /// the first of what waits in one of them.
    #[inline(never)]
    fn leaders(&self) -> usize {
        if let [queue] = &self.queues[..] {
            return queue.pool.len() + self.begun().count();
        }
        let begun = self.begun().map(|begun| begun.request);
        let waiting = self.queues.iter().flat_map(|queue| {
            let slots = queue.pool.by_arrival();
            slots.map(|slot| queue.pool.get(slot).request)
        });
        let mut leaders: Vec<RequestId> = begun.chain(waiting).collect();
        leaders.sort_unstable();
        leaders.dedup();
        leaders.len()
    }

    /// Whether the medium is in standby or on its way there.
    pub fn is_down(&self) -> bool {
        self.power.as_ref().is_some_and(|power| power.is_down())
    }

    /// Requests that have a queue slot, and whose command waits for the bus.
    #[inline]
    fn coming(&self) -> usize {
        self.on_bus.as_ref().map_or(0, |on_bus| on_bus.commands)
    }

    /// Whether a queue slot is free.
    #[inline]
    pub fn has_slot(&self) -> bool {
        self.taken_slots() + self.coming() < self.intake.depth
    }

    /// Queue slots that are free.
    pub fn free_slots(&self) -> u32 {
        let taken = self.taken_slots() + self.coming();
        self.intake.depth.saturating_sub(taken) as u32
    }

    /// Requests that are in the queue, or wait for a slot of it.
    pub fn outstanding(&self) -> usize {
        self.intake.queued + self.intake.outside.len() + self.coming()
    }

    /// A request arrives.
    #[inline(always)]
    pub fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let op = cx.request(request).command.op;
        if !self.medium.is_behind_memory {
            self.medium.counters.arrives(op, cx.now());
        }
        if matches!(op, Op::Flush | Op::Trim) {
            return self.control(request, op, cx);
        }
        if !self.has_slot() {
            return self.stays_outside(request);
        }
        if self.on_bus.is_some() && self.waits_for_bus(request, cx) {
            return;
        }
        self.admit(request, cx);
        let may_begin = match &self.buffered {
            Some(buffered) => buffered.may_begin(cx.now()),
            None => self.medium.arms.len() > 1 || self.medium.arms[0].work.is_none(),
        };
        if may_begin {
            cx.wake();
        }
    }

    /// A request waits for a slot of the queue.
    #[inline(never)]
    fn stays_outside(&mut self, request: RequestId) {
        self.intake.outside.push_back(request);
    }

    /// A request for which only the controller works: every acknowledged write is on the medium already, or will be when what was buffered
    /// is, for which a flush waits.
    #[inline(never)]
    fn control(&mut self, request: RequestId, op: Op, cx: &mut Context<'_>) {
        let now = cx.now();
        let Medium {
            hardware,
            after_write,
            is_behind_memory,
            ..
        } = &self.medium;
        let overhead = (hardware.overhead).before(true, *after_write || *is_behind_memory);
        let ready = now + overhead;
        let end = match &self.buffered {
            Some(buffered) if op == Op::Flush => buffered.buffer.destaged_at(ready),
            _ => ready,
        };
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        entry.parts.add(Part::Overhead, overhead);
        entry.parts.add(Part::Wait, end - ready);
        self.intake.in_controller += 1;
        cx.alarm(end, Alarm::Controller(request).token());
    }

    /// The length of the queue that the host sees.
    #[inline]
    fn shown_queue(&self) -> usize {
        match self.medium.is_behind_memory {
            true => self.intake.of_host,
            false => self.intake.queued,
        }
    }

    /// The slots that the host's requests have taken, where a pool gives them, change at `now`.
    pub fn show_queue(&mut self, slots: u32, now: Time) {
        self.clock_queue(now);
        self.intake.of_host = slots as usize;
        let queue_max = &mut self.medium.counters.queue_max;
        *queue_max = (*queue_max).max(self.intake.of_host);
    }

    /// Notes a change of the queue's length at `now`, before it happens.
    #[inline]
    pub fn clock_queue(&mut self, now: Time) {
        let queued = self.shown_queue();
        if self.medium.picture.is_some() {
            self.picture_queued(now, queued);
        }
        self.medium.counters.clock_queue(now, queued);
    }

    #[cold]
    fn picture_queued(&mut self, now: Time, queued: usize) {
        if let Some(picture) = &mut self.medium.picture {
            picture.queued(self.medium.counters.queue_since, now, queued);
        }
    }

    /// Gives a request a queue slot.
    #[inline(always)]
    pub fn admit(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        self.clock_queue(now);
        self.intake.queued += 1;
        if !self.medium.is_behind_memory {
            let queue_max = &mut self.medium.counters.queue_max;
            *queue_max = (*queue_max).max(self.intake.queued);
        }
        let entry = cx.request_mut(request);
        entry.acceptance = now;
        let command = entry.command;
        let times = (now, entry.start);
        if self.queues.len() == 1 {
            return self.enter(0, request, &command, times);
        }
        let mut shares = 0;
        for group in 0..self.queues.len() {
            if self.serves(group, &command) {
                self.enter(group, request, &command, times);
                shares += 1;
            }
        }
        self.intake.divide(request, shares);
    }

    /// Gives a request of the drive's own to a group's queue and picks it at once; nobody else has a share in it.
    pub fn begin_own(&mut self, group: usize, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        let command = cx.request(request).command;
        self.intake.queued += 1;
        let Disk { queues, medium, .. } = self;
        let pool = &mut queues[group].pool;
        let of = (request, &command, (now, now), pool.order());
        let slot = pool.add(|pending| fill(pending, group, of, Some(&*medium)));
        self.start(group, slot, cx);
    }

    /// The group of arms that writes a block, and where that is, as far as it is known.
    pub fn place_of_write(&self, block: &Command) -> (usize, Option<Target>) {
        let group = match self.queues.len() {
            1 => 0,
            groups => (0..groups)
                .find(|&group| self.serves(group, block))
                .expect("some arm writes every block"),
        };
        let is_known = self.log.is_none();
        (
            group,
            is_known.then(|| self.medium.hardware.target_of(block)),
        )
    }

    /// How many of a command's blocks from the first on the arms of a group reach.
    pub fn blocks_within_reach(&self, group: usize, command: &Command) -> u32 {
        if self.queues.len() == 1 || self.log.is_some() {
            return command.blocks;
        }
        let mut end = command.lbn.0;
        for (from, blocks) in self.medium.share(group, command) {
            if from > end {
                break;
            }
            end = from + u64::from(blocks);
        }
        (end - command.lbn.0) as u32
    }

    /// Whether one of several groups has a share in a request: with a log every arm that reads, or writes, serves all of the drive.
    fn serves(&self, group: usize, command: &Command) -> bool {
        self.medium.groups[group].can(command.op)
            && (self.log.is_some() || self.medium.reaches(group, command))
    }

    /// Puts a request into a group's queue.
    #[inline]
    fn enter(&mut self, group: usize, request: RequestId, command: &Command, times: (Time, Time)) {
        let Disk {
            queues,
            medium,
            log,
            intake,
            ..
        } = self;
        let pool = &mut queues[group].pool;
        let in_place = log.is_none().then_some(&*medium);
        let of = (request, command, times, pool.order());
        match &intake.clustering {
            None => pool.add(|pending| fill(pending, group, of, in_place)),
            Some(clustering) => enter_merged(*clustering, pool, group, of, in_place),
        };
    }

    /// An alarm that is due.
    #[inline]
    pub fn alarm(&mut self, alarm: Alarm, cx: &mut Context<'_>) {
        match alarm {
            Alarm::ArmDone(arm) => self.arm_done(arm as usize, cx),
            Alarm::BufferedDone => self.buffered_done(cx),
            Alarm::ArmReleased => {}
            Alarm::Controller(request) => return self.controlled(request, cx),
            _ => self.rare_alarm(alarm, cx),
        }
        // The next choice waits for what is submitted in answer to a completion, within the same instant.
        cx.wake();
    }

    /// An alarm that few requests need.
    #[inline(never)]
    fn rare_alarm(&mut self, alarm: Alarm, cx: &mut Context<'_>) {
        match alarm {
            Alarm::MediumFree => {
                if let Some(buffered) = &mut self.buffered {
                    buffered.awaits_medium = false;
                }
            }
            Alarm::Idle => {
                if let Some(log) = &mut self.log {
                    log.idle_for_long();
                }
            }
            Alarm::Power => self.power_rings(cx),
            Alarm::Command(request) => self.command_comes(request, cx),
            Alarm::WantsBus(request) => self.wants_bus(request, cx),
            _ => unreachable!("the disk has dealt with it, or never set it"),
        }
    }

    /// The controller has done with a flush or a trim.
    #[inline(never)]
    fn controlled(&mut self, request: RequestId, cx: &mut Context<'_>) {
        if let Some(buffered) = &mut self.buffered {
            buffered.advance_and_report(&self.medium.hardware, cx);
        }
        let command = cx.request(request).command;
        if let Some(log) = &mut self.log {
            if command.op == Op::Trim {
                log.trim(&mut self.medium, &command);
            }
            // A write may have waited for what is trimmed, and the cleaner for room.
            cx.wake();
        }
        self.intake.in_controller -= 1;
        self.ended = cx.now();
        cx.complete(request, Outcome::Ok);
    }

    /// Does what happens before time zero, since when the drive is idle.
    pub fn prepare(&mut self, cx: &mut Context<'_>) {
        self.write_initially();
        // The cleaner is asked in the first instant, behind what arrives in it.
        if self.log.as_ref().is_some_and(|log| log.has_cleaner()) {
            cx.alarm(cx.now(), Alarm::Idle.token());
        }
    }

    /// Where a block of the host's is on the medium.
    pub fn location(&self, lbn: Lbn) -> Location {
        match &self.log {
            Some(log) => log.place(lbn).map_or(Location::Nowhere, Location::Here),
            None => Location::Here(lbn),
        }
    }

    /// The power has failed at `now`.
    pub fn power_lost(&mut self, now: Time) {
        if let Some(log) = &mut self.log {
            log.recover(&mut self.medium, now);
        }
    }

    /// What accesses are expected to take; of a log nothing is known.
    pub fn access_times(&self) -> Option<AccessTimes> {
        let is_in_place = self.log.is_none();
        is_in_place.then(|| self.medium.hardware.access_times())
    }

    /// Capacity in 512-byte blocks.
    pub fn blocks(&self) -> u64 {
        match &self.log {
            Some(log) => log.blocks(),
            None => self.medium.hardware.blocks(),
        }
    }

    /// What acknowledging a write promises.
    pub fn promise(&self) -> Promise {
        match &self.buffered {
            Some(buffered) if buffered.buffer.is_volatile() => Promise::AfterFlush,
            _ => Promise::Durable,
        }
    }

    /// Picks that the schedulers have promoted in the whole run.
    fn promoted(&self) -> u64 {
        let queues = self.queues.iter();
        queues.map(|queue| queue.scheduler.promotions()).sum()
    }

    fn promotions(&self) -> u64 {
        self.promoted() - self.promoted_before
    }

    /// Counts anew from `now` on.
    pub fn measure_from(&mut self, now: Time) {
        self.clock_queue(now);
        let queued = self.shown_queue();
        self.medium.measure_from(now, queued);
        self.promoted_before = self.promoted();
        if let Some(buffered) = &mut self.buffered {
            buffered.buffer.counters = BufferCounters::default();
        }
        if let Some(log) = &mut self.log {
            log.measure_from_here();
        }
        if let Some(power) = &mut self.power {
            power.measure_from(now);
        }
    }

    /// The load has ended at `now`.
    pub fn measure_until(&mut self, now: Time) {
        self.clock_queue(now);
        let Medium {
            counters,
            busy_until,
            ..
        } = &mut self.medium;
        counters.measure_until(now, *busy_until);
    }

    /// Counters and shares of a run of which `elapsed` was measured.
    pub fn report(&self, elapsed: Time) -> Map<String, Value> {
        let counters = &self.medium.counters;
        let busy_until = self.medium.busy_until;
        let mut report = counters.report(elapsed, self.promotions(), busy_until);
        if self.intake.clustering.is_some() {
            counters.report_merges(&mut report);
        }
        report.insert("busy_ms".to_owned(), counters.busy_ms());
        if let Some(buffered) = &self.buffered {
            buffered.buffer.counters.report(&mut report);
        }
        if self.reports_arms {
            let arms = self.medium.arms.iter().map(Arm::report);
            report.insert("arms".to_owned(), arms.collect());
            let switches = self.medium.switches();
            report.insert("arm_mode_switches".to_owned(), switches.into());
        }
        if let Some(log) = &self.log {
            log.report(&self.medium.hardware.mechanics, &mut report);
        }
        report
    }

    /// Collects a picture from now on.
    pub fn collect_picture(&mut self, window: Option<&ArmTraceWindow>) {
        let cylinders = self.medium.hardware.mechanics.layout.cylinders();
        self.medium.picture = Some(Box::new(HddPicture::new(cylinders)));
        if let Some(power) = &mut self.power {
            power.collect_picture();
        }
        self.arm_trace = window.map(|window| Box::new(ArmTrace::new(window.clone())));
    }

    /// What a picture of the run shows.
    pub fn picture(&self) -> Option<Map<String, Value>> {
        let mut picture = self.medium.picture.as_ref()?.json(self.ended);
        let power = self.power.as_ref();
        let power = power.and_then(|power| power.picture(self.ended));
        picture.extend(power.map(|power| ("power".to_owned(), power)));
        picture.extend(
            self.arm_trace_json()
                .map(|arm_trace| ("film".to_owned(), arm_trace)),
        );
        Some(picture)
    }

    /// What the results should warn of.
    pub fn warnings(&self) -> Vec<String> {
        let accesses = self.medium.counters.accesses;
        let share = self.promotions() as f64 / accesses.max(1) as f64;
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

/// The key of a waiting command in a queue's order of place.
#[inline]
pub(super) fn key(order: Order, command: &Command, target: Option<&Target>) -> u64 {
    match order {
        Order::Arrival | Order::Bands => 0,
        Order::Lbn => command.lbn.0,
        Order::Position => target.map_or(0, |target| target.run.position.cylinder.into()),
    }
}

/// Puts a request into the queue of a group that merges requests.
#[inline(never)]
fn enter_merged(
    clustering: Clustering,
    pool: &mut Pool,
    group: usize,
    of: (RequestId, &Command, (Time, Time), Order),
    in_place: Option<&Medium>,
) -> Slot {
    let mut pending = Pending::default();
    fill(&mut pending, group, of, in_place);
    clustering.add(pool, pending)
}

/// Writes what waits of a request that enters the queue of a group at an instant, to be kept in an order. Where its data are, or will be, is
/// asked when the next request is chosen, unless they are `in_place`.
#[inline(always)]
fn fill(
    pending: &mut Pending,
    group: usize,
    (request, command, (now, ready), order): (RequestId, &Command, (Time, Time), Order),
    in_place: Option<&Medium>,
) {
    pending.request = request;
    pending.command.copy_fields(command);
    pending.entered = now;
    pending.ready = ready;
    match in_place {
        None => pending.target = None,
        Some(medium) => {
            let target = pending.target.get_or_insert_default();
            medium.aim_in_place(group, command, target);
        }
    }
    pending.key = key(order, command, pending.target.as_ref());
}

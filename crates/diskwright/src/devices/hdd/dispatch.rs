//! Idle arms begin what waits.

use super::alarm::Alarm;
use super::arm::{Arm, Work};
use super::buffer::Buffer;
use super::disk::{Disk, key};
use super::hardware::Hardware;
use super::log::{Next, make_access};
use super::medium::Medium;
use crate::base::units::{Lbn, Time};
use crate::engine::context::Context;
use crate::engine::request::{Op, Part, Parts};
use crate::models::geometry::mechanics::HeadPosition;
use crate::models::queue::pool::Order;
use crate::models::queue::schedulers::{ArmView, DiskSpace, soonest};
use crate::models::queue::{Pool, Slot, Space, View};

/// What a scheduler chose.
enum Choice {
    /// The request to serve next.
    Serve(Slot),
    /// First an arm moves to a cylinder.
    Travel { arm: usize, cylinder: u32 },
}

impl Disk {
    /// Lets idle arms begin what waits.
    #[inline]
    pub fn dispatch(&mut self, cx: &mut Context<'_>) {
        if self.log.is_some() {
            return self.dispatch_with_log(cx);
        }
        if self.buffered.is_some() {
            if self.can_begin(0, cx.now()) {
                self.begin_buffered(cx);
            }
            return;
        }
        for group in 0..self.queues.len() {
            while !self.queues[group].pool.is_empty() && self.medium.has_idle_arm(group) {
                self.begin_waiting(group, cx);
            }
        }
    }

    #[inline(never)]
    fn dispatch_with_log(&mut self, cx: &mut Context<'_>) {
        loop {
            let waited = self.waits_for_arm;
            for group in 0..self.queues.len() {
                while self.can_begin(group, cx.now()) && self.begin_with_log(group, cx) {}
            }
            // Groups that gave way to one that waited for an arm can begin once it has that.
            if waited.is_some() && self.waits_for_arm.is_none() {
                continue;
            }
            let gave_way = self.cleans_first();
            self.clean(cx);
            // Requests that gave way to the cleaner have what arms it leaves: all, where it found nothing to do.
            if !gave_way {
                return;
            }
        }
    }

    /// Whether requests that wait let the cleaner make an access first.
    fn cleans_first(&mut self) -> bool {
        let log = self.log.as_mut();
        log.is_some_and(|log| log.cleans_first(&self.medium))
    }

    /// Whether a request of a group waits, and an arm is free to begin it.
    #[inline]
    fn can_begin(&self, group: usize, now: Time) -> bool {
        !self.queues[group].pool.is_empty() && self.may_begin(group, now)
    }

    /// Begins one request of a group that [can](Self::can_begin), unless it gives way to something else.
    fn begin_with_log(&mut self, group: usize, cx: &mut Context<'_>) -> bool {
        let now = cx.now();
        if self.cleans_first() || self.waits_for_arm.is_some_and(|(other, _)| other != group) {
            return false;
        }
        match self.choose_in_log(group, now) {
            Choice::Serve(slot) => {
                if let Some(log) = &self.log {
                    let command = self.queues[group].pool.get(slot).command;
                    let waits = log.waits_for_arm(&self.medium, group, &command);
                    let request = self.queues[group].pool.get(slot).request;
                    self.waits_for_arm = waits.then_some((group, request));
                    if waits {
                        return false;
                    }
                }
                self.start(group, slot, cx);
            }
            Choice::Travel { arm, cylinder } => self.travel(arm, cylinder, cx),
        }
        true
    }

    /// What is next of a group: what waits for an arm already, or the choice of its scheduler.
    fn choose_in_log(&mut self, group: usize, now: Time) -> Choice {
        if let Some((_, request)) = self.waits_for_arm {
            let pool = &self.queues[group].pool;
            let mut slots = pool.by_arrival();
            if let Some(slot) = slots.find(|&slot| pool.get(slot).request == request) {
                return Choice::Serve(slot);
            }
        }
        self.aim(group, now);
        self.choose(group, now)
    }

    /// Whether an arm of a group may begin something now.
    #[inline]
    pub fn may_begin(&self, group: usize, now: Time) -> bool {
        let may_begin = self.medium.has_idle_arm(group);
        match &self.buffered {
            Some(buffered) => may_begin && buffered.may_begin(now),
            None => may_begin,
        }
    }

    /// Begins one request where there is a buffer, unless the medium has no time for it. Another one may begin when the arm's release is
    /// announced, not before.
    fn begin_buffered(&mut self, cx: &mut Context<'_>) {
        let Some(buffered) = &mut self.buffered else {
            return;
        };
        let (now, hardware) = (cx.now(), &self.medium.hardware);
        buffered.advance_and_report(hardware, cx);
        let free = buffered.buffer.free_at(hardware, now);
        self.medium.arms[0].at = buffered.buffer.arm();
        if free > now {
            return self.await_medium(free, cx);
        }
        match self.choose(0, now) {
            Choice::Serve(slot) => self.start_buffered(slot, cx),
            Choice::Travel { arm, cylinder } => self.travel(arm, cylinder, cx),
        }
    }

    /// The medium writes what was buffered until `free`: the oldest write that goes on with that may join it, all else waits.
    #[inline(never)]
    fn await_medium(&mut self, free: Time, cx: &mut Context<'_>) {
        let Some(buffered) = &mut self.buffered else {
            return;
        };
        let pool = &self.queues[0].pool;
        let joining = buffered
            .buffer
            .awaits(pool.len(), cx.now())
            .and_then(|next| {
                let joins = |slot: &Slot| Buffer::joins(&pool.get(*slot).command, next);
                pool.beginning_at(next).find(joins)
            });
        if let Some(slot) = joining {
            return self.start_buffered(slot, cx);
        }
        if !buffered.awaits_medium {
            buffered.awaits_medium = true;
            cx.alarm(free, Alarm::MediumFree.token());
        }
    }

    /// Says where the data of waiting requests are in the log now, where there is more than one to choose from, or the scheduler goes on from the
    /// place of the last one.
    fn aim(&mut self, group: usize, now: Time) {
        let Some(log) = &self.log else {
            return;
        };
        let pool = &mut self.queues[group].pool;
        let order = pool.order();
        if pool.len() < 2 && order != Order::Position {
            return;
        }
        let next_write = log.next_write(&self.medium, group, now);
        pool.retarget(|command| {
            let target = log.target(&self.medium, command, next_write);
            (target, key(order, command, target.as_ref()))
        });
    }

    /// The choice of a group's scheduler.
    #[inline]
    fn choose(&mut self, group: usize, now: Time) -> Choice {
        if let Some(slot) = self.queues[group].foregone() {
            return Choice::Serve(slot);
        }
        self.ask_scheduler(group, now)
    }

    #[inline(never)]
    fn ask_scheduler(&mut self, group: usize, now: Time) -> Choice {
        let queue = &mut self.queues[group];
        let seen = (group, now, queue.last, queue.needs_phases);
        let is_beside = self.buffered.is_some();
        let (first, space) = space(&self.medium, &mut self.views, seen, is_beside);
        let view = View {
            now,
            pool: &queue.pool,
            space: Space::Disk(space),
        };
        match queue.scheduler.travel(&view) {
            Some(cylinder) => Choice::Travel {
                arm: first,
                cylinder,
            },
            None => Choice::Serve(queue.scheduler.pick(&view)),
        }
    }

    /// The request of a pool in [bands](crate::models::queue::bands) that an idle arm of a group reaches soonest, and how soon.
    pub fn soonest_of(&mut self, group: usize, pool: &Pool, now: Time) -> (Slot, Time) {
        let seen = (group, now, self.queues[group].last, true);
        let (_, space) = space(&self.medium, &mut self.views, seen, true);
        let view = View {
            now,
            pool,
            space: Space::Disk(space),
        };
        let slot = soonest(&view);
        let Space::Disk(space) = view.space else {
            unreachable!("it was made above");
        };
        let target = pool.get(slot).target;
        let time = target.map_or(Time::ZERO, |target| space.positioning(&target));
        (slot, time)
    }

    /// How soon an idle arm of a group reaches the nearest request of its queue; `None` where none waits.
    pub fn soonest_waiting(&mut self, group: usize, now: Time) -> Option<Time> {
        let queue = &self.queues[group];
        let seen = (group, now, queue.last, true);
        let (_, space) = space(&self.medium, &mut self.views, seen, true);
        let waiting = queue.pool.by_arrival().map(|slot| queue.pool.get(slot));
        let times = waiting.map(|pending| {
            let target = pending.target.as_ref();
            target.map_or(Time::ZERO, |target| space.positioning(target))
        });
        times.min()
    }

    /// Lets an idle arm of a group begin what its scheduler chooses of what waits.
    pub fn begin_waiting(&mut self, group: usize, cx: &mut Context<'_>) {
        match self.choose(group, cx.now()) {
            Choice::Serve(slot) => self.start(group, slot, cx),
            Choice::Travel { arm, cylinder } => self.travel(arm, cylinder, cx),
        }
    }

    /// Moves an arm without a request: the time is the drive's, and part of no request's service.
    #[inline(never)]
    fn travel(&mut self, arm: usize, cylinder: u32, cx: &mut Context<'_>) {
        let medium = &mut self.medium;
        let at = medium.arms[arm].at;
        let to = HeadPosition {
            cylinder,
            head: at.head,
        };
        let time = medium.hardware.mechanics.motion_time(at, to, false);
        medium
            .counters
            .travelled(at.cylinder.abs_diff(cylinder), time);
        let mut start = cx.now();
        if let Some(buffered) = &mut self.buffered {
            start += buffered.buffer.travel(&medium.hardware, start, to);
        }
        medium.arms[arm].at = to;
        if let Some(power) = &mut self.power {
            let mut parts = Parts::default();
            parts.add(Part::Seek, time);
            power.worked(Op::Read, &parts, start, start + time);
        }
        self.trace_travel(arm, to, time, start);
        self.work(arm, Work::Travel, start + time, cx);
    }

    /// An arm is at work until `end`.
    #[inline(always)]
    pub fn work(&mut self, arm: usize, work: Work, end: Time, cx: &mut Context<'_>) {
        self.medium.work(arm, work, cx.now(), end);
        let token = Alarm::ArmDone(arm as u32).token();
        match work {
            Work::Request(begun) if cx.request(begun.request).is_background => {
                cx.background_alarm(end, token)
            }
            _ => cx.alarm(end, token),
        };
    }

    /// Lets the cleaner make an access, if it is wanted and nothing else is to be done.
    fn clean(&mut self, cx: &mut Context<'_>) {
        let Some(log) = &mut self.log else {
            return;
        };
        let now = cx.now();
        let state = (self.intake.is_serving(), self.ended);
        let (work, command, arm) = match log.next_cleaning(&mut self.medium, state, now) {
            Next::Nothing => return,
            Next::AskAt(due) => {
                cx.alarm(due, Alarm::Idle.token());
                return;
            }
            Next::Access { work, command, arm } => (work, command, arm),
        };
        let (arm, end, parts) = match self.begin_cleaning_trace(now) {
            None => {
                let mut parts = Parts::default();
                let (arm, end) = make_access(&mut self.medium, &command, arm, now, &mut parts);
                (arm, end, parts)
            }
            Some(mut steps) => {
                let (arm, end) = make_access(&mut self.medium, &command, arm, now, &mut steps);
                self.trace_cleaning(&steps, command.op, now);
                (arm, end, steps.parts())
            }
        };
        self.medium.counters.spent(&parts);
        if let Some(power) = &mut self.power {
            power.worked(command.op, &parts, now, end);
        }
        self.hand_effects_to(arm);
        self.work(arm, work, end, cx);
    }

    /// What is to be noted of what was just worked out is noted when an arm has done its work.
    #[inline]
    pub fn hand_effects_to(&mut self, arm: usize) {
        if self.log.is_some() {
            let effects = &mut self.medium.arms[arm].effects;
            std::mem::swap(&mut self.medium.effects, effects);
        }
    }

    /// How many requests wait at `now` although an arm that could begin one is free, or have no slot although one is.
    pub fn neglected(&self, now: Time) -> usize {
        // All give way to a group that waits for an arm at work.
        let all_wait = self.waits_for_arm.is_some() && !self.medium.is_at_rest();
        let awaits_medium = self
            .buffered
            .as_ref()
            .is_some_and(|buffered| buffered.awaits_medium);
        let groups = 0..self.queues.len();
        let idle =
            groups.filter(|&group| !all_wait && !awaits_medium && self.may_begin(group, now));
        let in_queue: usize = idle.map(|group| self.queues[group].pool.requests()).sum();
        let outside = match self.has_slot() {
            true => self.intake.outside.len(),
            false => 0,
        };
        in_queue + outside
    }
}

/// What a scheduler sees of a drive at an instant, and the first idle arm of its group; `seen` are the group, the instant, the block behind
/// the last request, and whether phases are asked for. The controller's work comes before the motion unless it is done beside the medium.
#[inline(always)]
fn space<'a>(
    medium: &'a Medium,
    views: &'a mut Vec<ArmView>,
    seen: (usize, Time, Lbn, bool),
    is_beside: bool,
) -> (usize, DiskSpace<'a>) {
    let (group, now, last, needs_phases) = seen;
    let Hardware {
        mechanics,
        overhead,
        ..
    } = &medium.hardware;
    let before = |write| match is_beside || medium.is_behind_memory {
        true => Time::ZERO,
        false => overhead.before(write, medium.after_write),
    };
    let (before_read, before_write) = (before(false), before(true));
    let phases = |arm: &Arm| {
        if !needs_phases {
            return Default::default();
        }
        let read = arm.phase(now + before_read);
        (read, arm.phase(now + before_write))
    };
    views.clear();
    let first = match medium.arms.len() {
        1 => 0,
        _ => {
            let arms = medium.groups[group].arms.iter();
            let arms = arms.map(|&arm| &medium.arms[arm]);
            let idle = arms.filter(|arm| arm.work.is_none());
            views.extend(idle.map(|arm| {
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
            medium.idle_arm(group).expect("an arm of the group is idle")
        }
    };
    let (read_phase, write_phase) = phases(&medium.arms[first]);
    let space = DiskSpace {
        mechanics,
        arm: medium.arms[first].at,
        last,
        blocks: medium.hardware.blocks(),
        read_phase,
        write_phase,
        arms: views,
    };
    (first, space)
}

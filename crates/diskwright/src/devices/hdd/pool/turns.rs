//! What an idle arm begins next: a transfer for the host, a destage, a piece of read-ahead, or nothing.

use super::super::alarm::Alarm;
use super::super::disk::Disk;
use super::DrivePool;
use crate::base::units::Time;
use crate::engine::context::Context;

impl DrivePool {
    /// Lets idle arms begin what waits.
    pub fn dispatch(&mut self, disk: &mut Disk, cx: &mut Context<'_>) {
        if disk.log.is_some() {
            return self.dispatch_with_log(disk, cx);
        }
        for group in 0..self.groups_count() {
            while !disk.medium.serves_on_all_arms() && self.begin_one(group, disk, cx) {}
        }
        if self.dirty.held() > 0 {
            self.ask_later(cx);
        }
    }

    /// Lets an idle arm of a group begin its next work; returns whether there was any.
    fn begin_next(&mut self, group: usize, disk: &mut Disk, cx: &mut Context<'_>) -> bool {
        let now = cx.now();
        let waits = !disk.queues[group].pool.is_empty();
        if self.stay(group, disk, cx) {
            self.last_was_host[group] = false;
            return true;
        }
        let is_pressing = self.must_destage(group, now);
        if !is_pressing && self.begin_region_pass(group, disk, cx) {
            self.last_was_host[group] = true;
            return true;
        }
        if waits && !(is_pressing && self.last_was_host[group]) {
            return self.begin_of_host(group, disk, cx);
        }
        if is_pressing {
            let candidates = self.dirty.candidates(group);
            let (slot, time) = disk.soonest_of(group, candidates, now);
            if waits
                && disk
                    .soonest_waiting(group, now)
                    .is_some_and(|host| host <= time)
            {
                return self.begin_of_host(group, disk, cx);
            }
            self.last_was_host[group] = false;
            self.begin_destage(group, slot, false, disk, cx);
            return true;
        }
        if self.streams.are_wanted() && self.begin_piece(group, disk, cx) {
            self.last_was_host[group] = false;
            return true;
        }
        let candidates = self.dirty.candidates(group);
        if !candidates.is_empty() && self.is_idle(now) {
            let (slot, _) = disk.soonest_of(group, candidates, now);
            self.last_was_host[group] = false;
            self.begin_destage(group, slot, true, disk, cx);
            return true;
        }
        false
    }

    /// The same, once a piece of read-ahead has been cut short that keeps an arm of the group from a request.
    fn begin_one(&mut self, group: usize, disk: &mut Disk, cx: &mut Context<'_>) -> bool {
        let waits = !disk.queues[group].pool.is_empty();
        if waits && !disk.medium.has_idle_arm(group) {
            self.cut_a_piece(group, disk, cx);
        }
        disk.medium.has_idle_arm(group) && self.begin_next(group, disk, cx)
    }

    fn begin_of_host(&mut self, group: usize, disk: &mut Disk, cx: &mut Context<'_>) -> bool {
        self.last_was_host[group] = true;
        disk.begin_waiting(group, cx);
        true
    }

    /// A log has its own order for what waits, and its cleaner: destages wait in its queue like all else.
    #[inline(never)]
    fn dispatch_with_log(&mut self, disk: &mut Disk, cx: &mut Context<'_>) {
        for group in 0..self.groups_count() {
            if !self.must_destage(group, cx.now()) {
                self.begin_region_pass(group, disk, cx);
            }
        }
        disk.dispatch(cx);
        for group in 0..self.groups_count() {
            while disk.medium.has_idle_arm(group) && disk.queues[group].pool.is_empty() {
                let now = cx.now();
                let is_pressing = self.is_pressing(now);
                let has_candidates = !self.dirty.candidates(group).is_empty();
                if !has_candidates || !(is_pressing || self.is_idle(now)) {
                    break;
                }
                let candidates = self.dirty.candidates(group);
                let slot = candidates.oldest().expect("there is a candidate");
                self.begin_destage(group, slot, !is_pressing, disk, cx);
                disk.dispatch(cx);
            }
        }
        self.ask_later(cx);
    }

    /// Whether the arms of a group have something to destage, and must.
    fn must_destage(&self, group: usize, now: Time) -> bool {
        !self.dirty.candidates(group).is_empty() && self.is_pressing(now)
    }

    /// Whether what is dirty has to go to the medium.
    fn is_pressing(&self, now: Time) -> bool {
        let has_waiting = !self.room.is_empty() || !self.flushes.is_empty();
        let age = self.parts.destaging.age;
        let is_old = || self.oldest_since().is_some_and(|since| since + age <= now);
        has_waiting || self.dirty.is_over() || is_old()
    }

    /// Whether the arms have rested long enough.
    fn is_idle(&self, now: Time) -> bool {
        self.busy == 0 && self.rest_since + self.parts.destaging.idle <= now
    }

    /// Has the pool asked again when the arms will have rested long enough, or something will have been dirty for too long.
    #[inline(never)]
    fn ask_later(&mut self, cx: &mut Context<'_>) {
        let Some(since) = self.oldest_since() else {
            return;
        };
        let now = cx.now();
        let old = since + self.parts.destaging.age;
        let idle = self.rest_since + self.parts.destaging.idle;
        let next = match self.busy {
            0 if idle > now => old.min(idle),
            _ => old,
        };
        if next > now && self.asks_at.is_none_or(|at| at <= now || next < at) {
            self.asks_at = Some(next);
            cx.background_alarm(next, Alarm::PoolAsks.token());
        }
    }

    /// Whether the medium has something to do for it, now or after a while: what is dirty must go there.
    pub fn wants_medium(&self) -> bool {
        self.dirty.held() > 0 || self.region.as_ref().is_some_and(|region| region.has_any())
    }

    /// How many requests wait although nothing keeps them.
    pub fn neglected(&self, now: Time, disk: &Disk) -> usize {
        let unsent = usize::from(self.transfers.ready().is_some());
        let first = self.outside.front();
        let outside = match first.is_some_and(|(_, command)| self.may_take(command)) {
            true => self.outside.len(),
            false => 0,
        };
        // In the queue of a log, a destage waits behind what is there.
        let is_behind = |group: usize| disk.log.is_some() && !disk.queues[group].pool.is_empty();
        let may_destage = (0..self.groups_count()).any(|group| {
            disk.medium.has_idle_arm(group) && !is_behind(group) && self.must_destage(group, now)
        });
        let flushes = match self.dirty.held() {
            0 => self.flushes.len(),
            _ => 0,
        };
        unsent + outside + usize::from(may_destage) + flushes + disk.neglected(now)
    }
}

//! What a controller does by itself once the devices that have its blocks have been idle for long enough: dirty data are written, one run
//! after another, until a device has something else to do.

use super::queues::ChildQueue;
use super::work::WorkId;
use super::{Cache, Controller, IDLE};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::Outcome;
use crate::engine::timeline::AlarmId;

/// The rest of the devices that have the controller's blocks.
pub(super) struct Idle {
    /// How long it lasts before something is written; `None` where nothing is.
    delay: Option<Time>,
    /// When it began; `None` before they have been asked for anything.
    since: Option<Time>,
    alarm: Option<AlarmId>,
    /// They had been idle for long enough, but the cache device was not idle then.
    waits_for_cache: bool,
    /// What is being written because of it.
    work: Option<WorkId>,
}

impl Idle {
    /// Nothing is written before the devices have been idle for `delay`.
    pub fn new(delay: Option<Time>) -> Idle {
        Idle {
            delay,
            since: None,
            alarm: None,
            waits_for_cache: false,
            work: None,
        }
    }
}

impl Controller {
    /// A device that has the controller's blocks is asked for something.
    pub(super) fn is_busy(&mut self, cx: &mut Context<'_>) {
        if let Some(alarm) = self.idle.alarm.take() {
            cx.cancel(alarm);
        }
    }

    /// Such a device has ended something.
    pub(super) fn is_less_busy(&mut self, now: Time) {
        if self.rests() {
            self.idle.since = Some(now);
        }
    }

    /// Whether the devices that have its blocks are idle.
    fn rests(&self) -> bool {
        let mut addressed = self.queues[..self.addressed].iter();
        addressed.all(ChildQueue::is_idle)
    }

    /// Whether the cache device is idle as well.
    fn is_idle(&self) -> bool {
        self.queues.iter().all(ChildQueue::is_idle)
    }

    fn has_dirty(&self) -> bool {
        match &self.cache {
            Cache::None => false,
            Cache::Memory(memory) => memory.cache.dirty_blocks() > 0,
            Cache::Device(device) => device.can_settle(),
        }
    }

    /// Waits for the devices to have been idle for long enough, if they are and something is dirty. What becomes dirty after that time waits
    /// for as long again.
    pub(super) fn look_for_idleness(&mut self, cx: &mut Context<'_>) {
        let Some(delay) = self.idle.delay else {
            return;
        };
        if self.idle.alarm.is_some()
            || self.idle.work.is_some()
            || !self.rests()
            || !self.has_dirty()
        {
            return;
        }
        if self.idle.waits_for_cache && !self.is_idle() {
            return;
        }
        self.idle.waits_for_cache = false;
        let now = cx.now();
        let of_rest = self.idle.since.and_then(|since| since.checked_add(delay));
        let at = of_rest.filter(|&at| at > now).or(now.checked_add(delay));
        // Longer than all time: never.
        if let Some(at) = at {
            self.idle.alarm = Some(cx.background_alarm(at, Token::new(IDLE, 0)));
        }
    }

    /// The devices have been idle for long enough. If the cache device is not idle, they are to be so for as long again once it is.
    pub(super) fn idle_for_long(&mut self, cx: &mut Context<'_>) {
        self.idle.alarm = None;
        match self.is_idle() {
            true => self.write_one(cx),
            false => self.idle.waits_for_cache = true,
        }
    }

    fn write_one(&mut self, cx: &mut Context<'_>) {
        self.idle.work = match &self.cache {
            Cache::None => None,
            Cache::Memory(_) => self.write_first_back(cx),
            Cache::Device(_) => self.begin_to_settle(cx),
        };
        self.counters.idle_runs += u64::from(self.idle.work.is_some());
    }

    /// Some work has ended: if it was what was written because of idleness, the next run follows as long as no device has anything else to do.
    pub(super) fn idle_work_ended(&mut self, id: WorkId, outcome: Outcome, cx: &mut Context<'_>) {
        if self.idle.work != Some(id) {
            return;
        }
        self.idle.work = None;
        if outcome != Outcome::Ok {
            // A device has failed: trying again would change nothing.
            self.idle.delay = None;
            return;
        }
        if self.is_idle() && self.has_dirty() {
            self.write_one(cx);
        }
    }
}

//! What a controller does by itself once the devices have been idle for long enough: dirty data are written, one run after another.

use super::work::WorkId;
use super::{Cache, Controller, IDLE};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::Outcome;
use crate::engine::timeline::AlarmId;

/// The devices' rest.
pub(super) struct Idle {
    /// How long it lasts before something is written; `None` where nothing is.
    delay: Option<Time>,
    alarm: Option<AlarmId>,
    /// What is being written because of it.
    work: Option<WorkId>,
}

impl Idle {
    /// Nothing is written before the devices have been idle for `delay`.
    pub fn new(delay: Option<Time>) -> Idle {
        Idle {
            delay,
            alarm: None,
            work: None,
        }
    }
}

impl Controller {
    /// A request has come: the devices are idle no longer.
    pub(super) fn is_busy(&mut self, cx: &mut Context<'_>) {
        if let Some(alarm) = self.idle.alarm.take() {
            cx.cancel(alarm);
        }
    }

    fn is_idle(&self) -> bool {
        let mut queues = self.queues.iter();
        self.active == 0 && self.ready.is_empty() && queues.all(|queue| queue.is_idle())
    }

    fn has_dirty(&self) -> bool {
        match &self.cache {
            Cache::None => false,
            Cache::Memory(memory) => memory.cache.dirty_blocks() > 0,
            Cache::Device(device) => device.can_settle(),
        }
    }

    /// Waits for the devices to have been idle for long enough, if they are.
    pub(super) fn look_for_idleness(&mut self, cx: &mut Context<'_>) {
        let Some(delay) = self.idle.delay else {
            return;
        };
        if self.idle.alarm.is_none()
            && self.idle.work.is_none()
            && self.is_idle()
            && self.has_dirty()
        {
            // Longer than all time: never.
            if let Some(at) = cx.now().checked_add(delay) {
                self.idle.alarm = Some(cx.background_alarm(at, Token::new(IDLE, 0)));
            }
        }
    }

    /// The devices have been idle for long enough.
    pub(super) fn idle_for_long(&mut self, cx: &mut Context<'_>) {
        self.idle.alarm = None;
        self.write_one(cx);
    }

    fn write_one(&mut self, cx: &mut Context<'_>) {
        self.idle.work = match &self.cache {
            Cache::None => None,
            Cache::Memory(_) => self.write_first_back(cx),
            Cache::Device(_) => self.begin_to_settle(cx),
        };
        self.counters.idle_runs += u64::from(self.idle.work.is_some());
    }

    /// Some work has ended: if it was what was written because of idleness, the next run follows as long as no request has come.
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

//! The power of an SSD: as data sheets give it, by what the whole drive is at, and its low power states.
//!
//! It writes while an operation programs, moves or erases, or waits for that; it reads while it does anything else for a request. In a low
//! power state requests wait for a slot of the queue, and operations that cleaning begins wait for their start: both wake it.

use serde_json::{Map, Value};

use super::{Ssd, kinds};
use crate::base::units::Time;
use crate::base::units::power::Power;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::timeline::AlarmId;
use crate::models::power::PowerControl;
use crate::models::power::control::Due;
use crate::models::power::figures::SsdPowerFigures;

/// What an SSD is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    Rest,
    Read,
    Write,
}

/// The power of an SSD.
pub(super) struct DrivePower {
    control: PowerControl,
    read: Power,
    write: Power,
    alarm: Option<AlarmId>,
    /// What the account has it at; not known behind the way back from a low power state.
    activity: Option<Activity>,
    /// From when on it was last on its way back.
    woken: Time,
}

impl DrivePower {
    /// A drive at rest at time zero, with these figures.
    pub fn new(control: PowerControl, figures: &SsdPowerFigures) -> DrivePower {
        let idle = control.figures().idle;
        DrivePower {
            read: figures.read.unwrap_or(idle),
            write: figures.write.unwrap_or(idle),
            control,
            alarm: None,
            activity: Some(Activity::Rest),
            woken: Time::ZERO,
        }
    }

    fn set_alarm(&mut self, at: Option<Time>, cx: &mut Context<'_>) {
        if let Some(alarm) = self.alarm.take() {
            cx.cancel(alarm);
        }
        let token = Token::new(kinds::POWER, 0);
        self.alarm = at.map(|at| cx.background_alarm(at, token));
    }

    fn follow(&mut self, activity: Activity, is_wanted: bool, cx: &mut Context<'_>) {
        let now = cx.now();
        if !self.control.is_ready() {
            if is_wanted && !self.control.is_waking() {
                let ready = self.control.wants(now);
                self.woken = now;
                self.set_alarm(ready, cx);
            }
            return;
        }
        if is_wanted && self.control.is_idle() {
            self.set_alarm(None, cx);
            self.control.wants(now);
        }
        if self.activity != Some(activity) {
            self.activity = Some(activity);
            let account = self.control.account();
            match activity {
                Activity::Rest => account.becomes_idle(now, now),
                Activity::Read => account.becomes_active(now, self.read),
                Activity::Write => account.becomes_active(now, self.write),
            }
        }
        if !is_wanted && !self.control.is_idle() {
            let alarm = self.control.begins_idle(now, now);
            self.set_alarm(alarm, cx);
        }
    }

    /// From when on it was last on its way back.
    pub fn woken(&self) -> Time {
        self.woken
    }

    pub fn measure_from(&mut self, now: Time) {
        self.control.measure_from(now);
    }

    pub fn report(&self, from: Time, to: Time) -> Map<String, Value> {
        self.control.report(from, to)
    }

    pub fn collect_picture(&mut self) {
        self.control.account().collect_picture();
    }

    pub fn picture(&self, end: Time) -> Option<Value> {
        self.control.picture(end)
    }
}

impl Ssd {
    /// Whether it is in a low power state, or on its way there or back.
    #[inline]
    pub(super) fn is_asleep(&self) -> bool {
        self.power
            .as_ref()
            .is_some_and(|power| !power.control.is_ready())
    }

    /// Has the power follow what there is to do.
    #[inline]
    pub(super) fn follow_power(&mut self, cx: &mut Context<'_>) {
        if self.power.is_some() {
            self.follow_activity(cx);
        }
    }

    #[inline(never)]
    fn follow_activity(&mut self, cx: &mut Context<'_>) {
        let holds = self.writes.entries.held() > 0 || self.waiting() > 0;
        let Some(power) = &mut self.power else {
            return;
        };
        let activity = match (self.serving, self.operations.live()) {
            (_, (_, writing)) if writing > 0 => Activity::Write,
            (0, (0, _)) => Activity::Rest,
            _ => Activity::Read,
        };
        power.follow(activity, activity != Activity::Rest || holds, cx);
    }

    /// The alarm of a drive with low power states: requests that have waited get their slots.
    pub(super) fn power_rings(&mut self, cx: &mut Context<'_>) {
        let power = self.power.as_mut();
        let power = power.expect("only a drive with low power states sets the alarm");
        power.alarm = None;
        match power.control.rings(cx.now()) {
            Due::Down(next) => power.set_alarm(next, cx),
            Due::Ready => {
                power.activity = None;
                while self.serving < self.depth
                    && let Some(next) = self.next_waiting()
                {
                    self.take_woken(next, cx);
                }
                // What cleaning has begun may start.
                cx.wake();
            }
        }
    }
}

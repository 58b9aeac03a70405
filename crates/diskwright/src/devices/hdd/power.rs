//! The power of a disk: what its accesses take, and its low power states.

use serde_json::{Map, Value};

use super::alarm::Alarm;
use crate::base::units::Time;
use crate::base::units::power::Power;
use crate::engine::context::Context;
use crate::engine::request::{Op, Part, Parts};
use crate::engine::timeline::AlarmId;
use crate::models::power::PowerControl;
use crate::models::power::control::Due;
use crate::models::power::figures::HddPowerFigures;

/// The power of a disk.
pub struct DiskPower {
    control: PowerControl,
    /// While an arm moves, while sectors are read, and while they are written.
    seek: Power,
    read: Power,
    write: Power,
    alarm: Option<AlarmId>,
    /// From when until when the medium was last on its way back.
    woken: Option<(Time, Time)>,
    /// Whether the account has the disk at work; not known behind the way back from a low power state.
    was_busy: Option<bool>,
    /// Until when buffered writes have been accounted for.
    destaged: Time,
}

/// What a disk has to do.
#[derive(Clone, Copy)]
pub(super) struct Need {
    /// An arm is at work.
    pub is_busy: bool,
    /// The medium is needed, now or after a while.
    pub is_wanted: bool,
    /// Idle arms have begun what waits: before that, an arm that is idle may be so for no time at all.
    pub is_settled: bool,
}

impl DiskPower {
    /// A disk at rest at time zero, with these figures.
    pub fn new(control: PowerControl, figures: &HddPowerFigures) -> DiskPower {
        let idle = control.figures().idle;
        DiskPower {
            control,
            seek: figures.seek.unwrap_or(idle),
            read: figures.read.unwrap_or(idle),
            write: figures.write.unwrap_or(idle),
            alarm: None,
            woken: None,
            was_busy: Some(false),
            destaged: Time::ZERO,
        }
    }

    /// An access for a command of a kind, whose time divides so, lasts from `from` to `to`.
    #[inline(never)]
    pub fn worked(&mut self, op: Op, parts: &Parts, from: Time, to: Time) {
        self.set_busy(true, from);
        let idle = self.control.figures().idle;
        let moving = parts.get(Part::Seek) + parts.get(Part::HeadSwitch) + parts.get(Part::Settle);
        let passing = match op {
            Op::Write => self.write,
            _ => self.read,
        };
        let extra = self.seek.over_beyond(idle, moving)
            + passing.over_beyond(idle, parts.get(Part::Transfer));
        if to > from {
            self.control.account().works(from, to, extra);
        }
    }

    /// What was buffered goes to the medium until `until`, behind what has been accounted for and not before `from`.
    pub fn destages(&mut self, from: Time, until: Time) {
        let from = from.max(self.destaged);
        if until > from {
            let idle = self.control.figures().idle;
            let extra = self.write.over_beyond(idle, until - from);
            self.control.account().works(from, until, extra);
            self.destaged = until;
        }
    }

    /// How long a request that came at `came` has waited for the way back that ended now.
    pub fn waited(&self, came: Time, now: Time) -> Time {
        match self.woken {
            Some((from, ready)) if ready == now => now - came.max(from),
            _ => Time::ZERO,
        }
    }

    /// Whether the medium is in standby or on its way there.
    pub fn is_down(&self) -> bool {
        self.control.is_down()
    }

    fn set_busy(&mut self, is_busy: bool, now: Time) {
        if self.was_busy == Some(is_busy) {
            return;
        }
        self.was_busy = Some(is_busy);
        let idle = self.control.figures().idle;
        match is_busy {
            true => self.control.account().becomes_active(now, idle),
            false => self.control.account().becomes_idle(now, now),
        }
    }

    fn set_alarm(&mut self, at: Option<Time>, cx: &mut Context<'_>) {
        self.cancel(cx);
        self.alarm = at.map(|at| cx.background_alarm(at, Alarm::Power.token()));
    }

    fn cancel(&mut self, cx: &mut Context<'_>) {
        if let Some(alarm) = self.alarm.take() {
            cx.cancel(alarm);
        }
    }

    /// Follows what the disk has to do. Where that is nothing, the medium is at rest from `rests` on.
    pub(super) fn follow(&mut self, need: Need, rests: Time, cx: &mut Context<'_>) {
        let Need {
            is_busy,
            is_wanted,
            is_settled,
        } = need;
        let now = cx.now();
        if !self.control.is_ready() {
            if is_wanted && !self.control.is_waking() {
                let ready = self.control.wants(now);
                self.woken = ready.map(|ready| (now, ready));
                self.set_alarm(ready, cx);
            }
            return;
        }
        if is_wanted {
            if self.control.is_idle() {
                self.cancel(cx);
                self.control.wants(now);
            }
            if is_settled {
                self.set_busy(is_busy, now);
            }
        } else if is_settled && !self.control.is_idle() {
            self.was_busy = Some(false);
            let alarm = self.control.begins_idle(now, rests);
            self.set_alarm(alarm, cx);
        }
    }

    /// A request of the parent's has come.
    pub fn hears_request(&mut self) {
        self.control.forgets_to_stop();
    }

    /// Counts anew from an instant on.
    pub fn measure_from(&mut self, now: Time) {
        self.control.measure_from(now);
    }

    /// What it comes to.
    pub fn report(&self, from: Time, to: Time) -> Map<String, Value> {
        self.control.report(from, to)
    }

    /// From now on, notes the power over time, too.
    pub fn collect_picture(&mut self) {
        self.control.account().collect_picture();
    }

    /// The power over time.
    pub fn picture(&self, end: Time) -> Option<Value> {
        self.control.picture(end)
    }

    /// The alarm rings: whether the arms are free from now on, or parked.
    pub(super) fn rings(&mut self, cx: &mut Context<'_>) -> bool {
        self.alarm = None;
        match self.control.rings(cx.now()) {
            Due::Ready => {
                self.was_busy = None;
                true
            }
            Due::Down(next) => {
                self.set_alarm(next, cx);
                false
            }
        }
    }

    /// The parent asks it to stop.
    pub(super) fn stand_by(&mut self, cx: &mut Context<'_>) {
        let at = self.control.stand_by(cx.now());
        if at.is_some() {
            self.set_alarm(at, cx);
        }
    }
}

//! Programs and erases that make way for reads, and go on when none waits.

use serde_json::{Value, json};

use super::drive::{SuspendDescription, SuspensionLimits};
use super::operations::{Action, OpId, Phase};
use super::{Ssd, kinds};
use crate::base::error::InputError;
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::timeline::AlarmId;

/// The longest time of a suspension's cost, resumption or gap.
const LONGEST: Time = Time::from_s(10);

/// What a worker's operation that programs or erases is at.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// The operation that is suspended, and what is left of it.
    suspended: Option<(OpId, Time)>,
    /// From when on it works, until when, and the alarm of its end.
    from: Time,
    until: Time,
    end: Option<AlarmId>,
    /// How often it was suspended.
    times: u32,
    /// The latest instant for which an alarm is set at which it has worked for long enough.
    alarm_at: Time,
}

/// When a drive suspends operations, and those of its workers.
pub(super) struct Suspensions {
    program: Option<SuspensionLimits>,
    erase: Option<SuspensionLimits>,
    workers: Vec<Work>,
    /// Channels that have been looked at in this instant.
    seen: u64,
    /// How often programs and erases were suspended.
    pub counts: [u64; 2],
}

impl SuspendDescription {
    /// Checks it, for a number of workers.
    ///
    /// # Errors
    /// A time that is too long; operations that are never suspended.
    pub(super) fn build(&self, workers: u32) -> Result<Box<Suspensions>, InputError> {
        for (limits, what) in [(&self.program, "programs"), (&self.erase, "erases")] {
            let Some(limits) = limits else { continue };
            if limits.most == 0 {
                let error = InputError::new(format!("{what} that are suspended 0 times"));
                return Err(error.help("accepted: 1 or more; leave the table out to suspend none"));
            }
            let longest = limits.cost.max(limits.resume).max(limits.gap);
            if longest > LONGEST {
                let error = InputError::new(format!("suspended {what} that take {longest}"));
                return Err(error.help(format!("at most {LONGEST}")));
            }
        }
        Ok(Box::new(Suspensions {
            program: self.program,
            erase: self.erase,
            workers: vec![Work::default(); workers as usize],
            seen: 0,
            counts: [0; 2],
        }))
    }
}

impl Suspensions {
    fn limits(&self, action: Action) -> Option<SuspensionLimits> {
        match action {
            Action::Erase => self.erase,
            _ => self.program,
        }
    }

    /// A worker's operation has its last phase: it works from an instant to another one, at which this alarm rings.
    pub fn works(&mut self, worker: u32, (from, until): (Time, Time), end: AlarmId) {
        let work = &mut self.workers[worker as usize];
        (work.from, work.until, work.end) = (from, until, Some(end));
        work.times = 0;
    }

    /// A channel has been looked at.
    #[inline]
    pub fn saw(&mut self, channel: u32) {
        self.seen |= 1 << channel;
    }

    pub fn json(&self) -> Value {
        let [programs, erases] = self.counts;
        json!({ "programs": programs, "erases": erases })
    }
}

/// What a worker does about suspension.
enum Step {
    Resume(OpId, Time),
    Suspend(OpId),
    /// Its operation has not worked for long enough.
    LookAgain(Time),
}

impl Ssd {
    /// The operation of a worker that is suspended.
    #[inline]
    pub(super) fn suspended_of(&self, worker: u32) -> Option<OpId> {
        let work = &self.suspensions.as_ref()?.workers[worker as usize];
        work.suspended.map(|(id, _)| id)
    }

    /// Whether an operation of a worker is suspended.
    #[inline]
    pub(super) fn has_suspended(&self, worker: u32) -> bool {
        self.suspended_of(worker).is_some()
    }

    /// Suspends and resumes operations of the channels that were looked at, when nothing more can begin there.
    #[inline]
    pub(super) fn look_at_suspensions(&mut self, cx: &mut Context<'_>) {
        if self.suspensions.is_some() {
            self.suspend_or_resume(cx);
        }
    }

    #[inline(never)]
    fn suspend_or_resume(&mut self, cx: &mut Context<'_>) {
        let Some(suspensions) = &mut self.suspensions else {
            return;
        };
        let mut seen = std::mem::take(&mut suspensions.seen);
        while seen != 0 {
            let channel = seen.trailing_zeros();
            seen &= seen - 1;
            let first = channel * self.workers_of_channel;
            for worker in first..first + self.workers_of_channel {
                match self.next_step_of(worker, cx.now()) {
                    Some(Step::Resume(id, rest)) => self.resume(worker, id, rest, cx),
                    Some(Step::Suspend(id)) => self.suspend(worker, id, cx),
                    Some(Step::LookAgain(at)) => self.look_again(channel, worker, at, cx),
                    None => {}
                }
            }
        }
    }

    fn next_step_of(&self, worker: u32, now: Time) -> Option<Step> {
        let suspensions = self.suspensions.as_ref()?;
        let (work, state) = (
            &suspensions.workers[worker as usize],
            &self.workers[worker as usize],
        );
        if let Some((id, rest)) = work.suspended {
            let may_go_on = state.current.is_none() && state.reads.is_empty();
            return may_go_on.then_some(Step::Resume(id, rest));
        }
        let id = state.current.filter(|_| !state.reads.is_empty())?;
        let operation = self.operations.get(id);
        // One that is being suspended has no end any more.
        if operation.phase != Phase::Last || work.end.is_none() {
            return None;
        }
        let limits = suspensions.limits(operation.action)?;
        let at = now.max(work.from + limits.gap);
        if work.times >= limits.most || at + limits.cost >= work.until {
            return None;
        }
        Some(match at == now {
            true => Step::Suspend(id),
            false => Step::LookAgain(at),
        })
    }

    fn work_mut(&mut self, worker: u32) -> &mut Work {
        let suspensions = self.suspensions.as_mut();
        let suspensions = suspensions.expect("only a drive that suspends comes here");
        &mut suspensions.workers[worker as usize]
    }

    fn look_again(&mut self, channel: u32, worker: u32, at: Time, cx: &mut Context<'_>) {
        let work = self.work_mut(worker);
        if std::mem::replace(&mut work.alarm_at, at) != at {
            cx.alarm(at, Token::new(kinds::CHANNEL, channel));
        }
    }

    fn suspend(&mut self, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let action = self.operations.get(id).action;
        let limits = self
            .suspensions
            .as_mut()
            .and_then(|all| all.limits(action))
            .expect("it may be suspended");
        let work = self.work_mut(worker);
        work.times += 1;
        work.suspended = None;
        let rest = work.until - cx.now();
        if let Some(end) = work.end.take() {
            cx.cancel(end);
        }
        work.until = rest;
        if let Some(suspensions) = &mut self.suspensions {
            suspensions.counts[usize::from(action == Action::Erase)] += 1;
        }
        if let Some(picture) = &mut self.picture {
            picture.suspended(worker, cx.now());
        }
        cx.alarm(cx.now() + limits.cost, Token::new(kinds::SUSPENDED, worker));
    }

    /// The operation of a worker is suspended: reads may begin.
    pub(super) fn suspended(&mut self, worker: u32, cx: &mut Context<'_>) {
        let state = &mut self.workers[worker as usize];
        state.busy += cx.now() - state.busy_since;
        let id = state.current.take().expect("it was being suspended");
        let work = self.work_mut(worker);
        work.suspended = Some((id, work.until));
        let channel = self.geometry.channel_of(self.operations.get(id).plane);
        self.is_ready(channel, worker);
        self.schedule(channel, cx);
    }

    fn resume(&mut self, worker: u32, id: OpId, rest: Time, cx: &mut Context<'_>) {
        let now = cx.now();
        let action = self.operations.get(id).action;
        let limits = self.suspensions.as_ref().and_then(|all| all.limits(action));
        let from = now + limits.expect("it was suspended").resume;
        let end = self.set_end(worker, id, from + rest, cx);
        let work = self.work_mut(worker);
        work.suspended = None;
        (work.from, work.until, work.end) = (from, from + rest, Some(end));
        let state = &mut self.workers[worker as usize];
        (state.current, state.busy_since) = (Some(id), now);
        if self.picture.is_some() {
            self.picture_resumes(worker, id, from + rest, cx);
        }
    }
}

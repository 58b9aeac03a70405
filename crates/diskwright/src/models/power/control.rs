//! The states of a device over time: into a low power state when the policy says so, and back when the device is wanted.

use serde_json::{Map, Value};

use super::account::{Draws, PowerAccount, Span};
use super::figures::{LowState, PowerFigures, PowerState};
use super::policies::{PowerPolicy, Timeout};
use crate::base::units::Time;

/// What the device can do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Its medium is ready.
    Ready,
    /// It is in a low power state, or on its way there until `since`.
    Low { state: usize, since: Time },
    /// It is on its way back.
    Waking,
}

/// What is to happen when the alarm of a device rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The device has gone into a low power state, or into a deeper one; the next alarm, if there is one.
    Down(Option<Time>),
    /// The device's medium is ready.
    Ready,
}

/// The states of a device over time.
///
/// The device says when it [has nothing to do](Self::begins_idle) and when its medium [is wanted](Self::wants), notes in the
/// [account](Self::account) when it is at work, and sets the one alarm that it is told to set.
pub struct PowerControl {
    figures: PowerFigures,
    policy: Option<Box<dyn PowerPolicy>>,
    account: PowerAccount,
    mode: Mode,
    /// Since when the device has had nothing to do.
    idle_since: Option<Time>,
    /// The states of this idle period, and how many of them are behind.
    plan: Vec<Timeout>,
    passed: usize,
    /// It is to go to standby as soon as it has nothing to do.
    is_told_to_stop: bool,
}

impl PowerControl {
    /// A device at rest at time zero; without a policy it goes into no low power state unless it is [told to](Self::stand_by).
    pub fn new(figures: PowerFigures, policy: Option<Box<dyn PowerPolicy>>) -> PowerControl {
        PowerControl {
            account: PowerAccount::new(figures.idle),
            figures,
            policy,
            mode: Mode::Ready,
            idle_since: None,
            plan: Vec::new(),
            passed: 0,
            is_told_to_stop: false,
        }
    }

    /// What the device draws.
    pub fn figures(&self) -> &PowerFigures {
        &self.figures
    }

    /// The account, to note what the device is at.
    pub fn account(&mut self) -> &mut PowerAccount {
        &mut self.account
    }

    /// Whether the device's medium is ready.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.mode == Mode::Ready
    }

    /// Whether it is on its way back from a low power state.
    pub fn is_waking(&self) -> bool {
        self.mode == Mode::Waking
    }

    /// Whether the device is in standby or on its way there.
    pub fn is_down(&self) -> bool {
        match self.mode {
            Mode::Low { state, .. } => self.figures.low[state].state.is_standby(),
            _ => false,
        }
    }

    /// Whether the device has had nothing to do since some instant.
    pub fn is_idle(&self) -> bool {
        self.idle_since.is_some()
    }

    /// The device has nothing to do from an instant on, not before `now`: the instant of its alarm, if it needs one.
    pub fn begins_idle(&mut self, now: Time, at: Time) -> Option<Time> {
        self.account.becomes_idle(now, at);
        self.idle_since = Some(at);
        self.plan.clear();
        self.passed = 0;
        if self.is_told_to_stop {
            self.plan_to_stop();
        } else if let Some(policy) = &mut self.policy {
            policy.plan(&mut self.plan);
        }
        self.next_alarm(now)
    }

    /// It goes to standby as soon as it has nothing to do, which it may have now: the instant of its alarm, if it needs one. Without
    /// figures of a standby nothing happens.
    pub fn stand_by(&mut self, now: Time) -> Option<Time> {
        // Without a standby its policy's plan holds, and the alarm that was set for that.
        if !(self.figures.low.iter()).any(|low| low.state.is_standby()) {
            return None;
        }
        self.is_told_to_stop = true;
        if self.idle_since.is_none() || self.is_down() {
            return None;
        }
        self.plan.clear();
        self.passed = 0;
        self.plan_to_stop();
        self.next_alarm(now)
    }

    /// A request has come: what it was told to do before no longer holds.
    pub fn forgets_to_stop(&mut self) {
        self.is_told_to_stop = false;
    }

    fn plan_to_stop(&mut self) {
        let mut states = self.figures.low.iter();
        let standby = states.rposition(|low| low.state.is_standby());
        let after = Time::ZERO;
        self.plan
            .extend(standby.map(|state| Timeout { after, state }));
    }

    /// When the next state of the plan is due that is deeper than the present one; the way into that ends first.
    fn next_alarm(&mut self, now: Time) -> Option<Time> {
        let idle_since = self.idle_since?;
        let (present, earliest) = match self.mode {
            Mode::Ready => (None, now.max(idle_since)),
            Mode::Low { state, since } => (Some(state), now.max(since)),
            Mode::Waking => return None,
        };
        while let Some(next) = self.plan.get(self.passed) {
            if present.is_none_or(|present| next.state > present) {
                let due = idle_since.checked_add(next.after)?;
                return Some(due.max(earliest));
            }
            self.passed += 1;
        }
        None
    }

    /// The alarm that was set last rings.
    pub fn rings(&mut self, now: Time) -> Due {
        if self.is_waking() {
            self.mode = Mode::Ready;
            return Due::Ready;
        }
        let state = self.plan[self.passed].state;
        self.passed += 1;
        let low = self.figures.low[state];
        let was_unloaded = match self.mode {
            Mode::Low { state, .. } => self.figures.low[state].state.is_unloaded(),
            _ => false,
        };
        let (time, energy) = low.enter;
        let since = now + time;
        if time > Time::ZERO {
            let way = Draws::Way(time, energy);
            self.account.enter(low.state.way_in(), now, way);
            let draws = Draws::Power(low.power);
            self.account.enter_later(low.state, since, draws);
        } else {
            self.account.enter(low.state, now, Draws::Power(low.power));
        }
        if low.state.is_unloaded() && !was_unloaded {
            self.account.unloads_heads(now);
        }
        self.mode = Mode::Low { state, since };
        Due::Down(self.next_alarm(now))
    }

    /// The device's medium is wanted: the instant of its alarm, if it is not ready. The alarm that was set before is void.
    pub fn wants(&mut self, now: Time) -> Option<Time> {
        self.ends_idle(now);
        let Mode::Low { state, since } = self.mode else {
            return None;
        };
        let low = self.figures.low[state];
        let (time, energy) = low.leave;
        let begins = now.max(since);
        let ready = begins + time;
        if time > Time::ZERO {
            let (state, way) = (low.state.way_out(), Draws::Way(time, energy));
            match begins > now {
                true => self.account.enter_later(state, begins, way),
                false => self.account.enter(state, now, way),
            }
        } else if begins > now {
            self.account.stays_until_another();
        }
        self.mode = Mode::Waking;
        Some(ready)
    }

    /// The idle period, if this is one, is over.
    fn ends_idle(&mut self, now: Time) {
        let Some(since) = self.idle_since.take() else {
            return;
        };
        // Wanted before its rest began: there was none.
        if since >= now {
            return;
        }
        self.account.advance(now);
        let spans = self.best_spans(since, now, true);
        self.account.replace_idle(&spans);
        if let Some(policy) = &mut self.policy {
            policy.ended(now - since);
        }
    }

    /// The states of an idle period in which it takes least energy, where the policy chooses them so; none if that is idle.
    fn best_spans(&self, since: Time, end: Time, comes_back: bool) -> Vec<Span> {
        let knows = self
            .policy
            .as_ref()
            .is_some_and(|policy| policy.knows_length());
        if !knows || end <= since || !self.is_ready() {
            return Vec::new();
        }
        best(&self.figures, since, end, comes_back)
    }

    /// Counts anew from an instant on.
    pub fn measure_from(&mut self, now: Time) {
        self.account.measure_from(now);
    }

    /// What it comes to up to `end`, from when on it was told to count or else from `from` on.
    pub fn report(&self, from: Time, end: Time) -> Map<String, Value> {
        let since = self.idle_since.unwrap_or(end);
        let spans = self.best_spans(since, end, false);
        self.account.report(from, end, &spans)
    }

    /// The power over time.
    pub fn picture(&self, end: Time) -> Option<Value> {
        self.account.picture(end)
    }
}

/// The states in which an idle period takes least energy: a way in, a state, a way back unless the run ends with the period; none where it
/// is best spent in idle.
pub fn best(figures: &PowerFigures, since: Time, end: Time, comes_back: bool) -> Vec<Span> {
    let length = end - since;
    let energy = |low: &&LowState| low.energy(length, comes_back).unwrap_or(u128::MAX);
    let best = figures.low.iter().min_by_key(energy);
    let Some(low) = best.filter(|low| energy(low) < figures.idle.over(length)) else {
        return Vec::new();
    };
    let (enter, leave) = (low.enter, low.leave);
    let down = since + enter.0;
    let up = match comes_back {
        true => end - leave.0,
        false => end,
    };
    let span = |state: PowerState, from: Time, to: Time, energy: u128| Span {
        state,
        from,
        to,
        energy,
    };
    let spans = [
        span(low.state.way_in(), since, down, enter.1),
        span(low.state, down, up, low.power.over(up - down)),
        span(low.state.way_out(), up, end, leave.1),
    ];
    spans
        .into_iter()
        .filter(|span| span.to > span.from)
        .collect()
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;

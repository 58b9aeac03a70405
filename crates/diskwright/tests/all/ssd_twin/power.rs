//! Low power states: when the drive goes into them, and when it is back.

use super::model::{Event, Model};
use super::specs::{LowState, PowerStates};

/// What the drive can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Ready,
    /// In a state, or on its way there until an instant.
    Low {
        state: usize,
        until: u64,
    },
    Waking,
}

/// Where the drive is among its states.
#[derive(Default)]
pub struct Power {
    mode: Mode,
    /// Since when it has had nothing to do.
    rests_since: Option<u64>,
    /// The alarm that counts: earlier ones are void.
    alarm: u64,
    /// How often each state was entered.
    pub entries: [u64; 2],
}

impl PowerStates {
    /// How long after the beginning of an idle period each state is due, in this order; of states that are due together the deepest is first.
    fn due(&self) -> Vec<(usize, u64)> {
        let states = self.states.iter().enumerate();
        let states = states.filter_map(|(number, state)| Some((number, (*state)?)));
        let Some(max_latency) = self.apst else {
            let after = |(number, state): (usize, LowState)| (number, state.after);
            let mut due: Vec<_> = states.map(after).collect();
            due.sort_by_key(|&(number, after)| (after, std::cmp::Reverse(number)));
            return due;
        };
        let mut at = 0;
        let mut due = Vec::new();
        for (number, LowState { enter, leave, .. }) in states {
            if leave > max_latency {
                continue;
            }
            let microseconds = enter / 1_000 + leave / 1_000;
            at += (50 * microseconds).div_ceil(1_000) * 1_000_000;
            due.push((number, at));
            at += enter;
        }
        due
    }
}

impl Model<'_> {
    /// Whether nothing can begin.
    pub fn sleeps(&self) -> bool {
        self.power.mode != Mode::Ready
    }

    /// Whether there is something to do.
    fn has_work(&self) -> bool {
        let has_work = |worker: &super::model::Worker| {
            worker.running.is_some()
                || worker.suspended.is_some()
                || !worker.reads.is_empty()
                || !worker.programs.is_empty()
                || !worker.tasks.is_empty()
                || !worker.cleaning_tasks.is_empty()
                || !worker.cleaning.is_empty()
                || !worker.merging.is_empty()
        };
        self.under_way > 0
            || !self.waiting.is_empty()
            || self.entries.iter().any(|entry| !entry.is_over)
            || self.workers.iter().any(has_work)
    }

    /// The drive's state follows what there is to do.
    pub fn follows_power(&mut self) {
        let Some(states) = &self.case.drive.power else {
            return;
        };
        let wants = self.has_work();
        match self.power.mode {
            Mode::Waking => {}
            Mode::Low { state, until } if wants => {
                let leave = states.states[state].expect("it is in it").leave;
                self.leaves_state();
                self.power.mode = Mode::Waking;
                self.power.rests_since = None;
                self.rings_at(self.now.max(until) + leave);
            }
            Mode::Low { .. } => {}
            Mode::Ready if wants => {
                self.power.rests_since = None;
                self.power.alarm += 1;
            }
            Mode::Ready => {
                if self.power.rests_since.is_none() {
                    self.power.rests_since = Some(self.now);
                    self.next_state(states);
                }
            }
        }
    }

    /// Counts the state that it leaves, unless it never came there, or before the first arrival, from which on results are.
    pub fn leaves_state(&mut self) {
        if let Mode::Low { state, until } = self.power.mode {
            let is_measured = self.case.requests.iter().any(|asked| asked.at <= until);
            self.power.entries[state] += u64::from(is_measured && until <= self.now);
        }
    }

    fn rings_at(&mut self, at: u64) {
        self.power.alarm += 1;
        self.events.push((at, Event::Power(self.power.alarm)));
    }

    /// The next deeper state that is due, which is entered when the way into the present one is over.
    fn next_state(&mut self, states: &PowerStates) {
        let (present, earliest) = match self.power.mode {
            Mode::Low { state, until } => (Some(state), until),
            _ => (None, self.now),
        };
        let since = self.power.rests_since.expect("it has nothing to do");
        let due = states.due().into_iter();
        let mut deeper = due.filter(|&(state, _)| Some(state) > present);
        if let Some((_, after)) = deeper.next() {
            self.rings_at((since + after).max(earliest));
        }
    }

    /// A state is due, or the drive is back.
    pub fn power_rings(&mut self, alarm: u64) {
        let Some(states) = (self.case.drive.power.as_ref()).filter(|_| alarm == self.power.alarm)
        else {
            return;
        };
        let present = match self.power.mode {
            Mode::Waking => {
                self.power.mode = Mode::Ready;
                return self.take();
            }
            Mode::Ready => None,
            Mode::Low { state, .. } => Some(state),
        };
        let mut due = states.due().into_iter().map(|(state, _)| state);
        let state = due.find(|&state| Some(state) > present);
        let state = state.expect("it is due");
        let enter = states.states[state].expect("it is due").enter;
        self.leaves_state();
        self.power.mode = Mode::Low {
            state,
            until: self.now + enter,
        };
        self.next_state(states);
    }
}

//! The medium at rest, and NV cache power mode.

use diskwright::engine::request::Op;

use super::instants::{Alarm, Message};
use super::model::{Model, What};

impl Model<'_> {
    pub fn is_at_rest(&self) -> bool {
        self.medium_is_down() || self.waker.is_some()
    }

    /// Whether a write to the medium that has a block in common with these is under way.
    pub fn is_being_written(&self, lbn: usize, end: usize) -> bool {
        self.writing
            .iter()
            .any(|&(from, until)| from < end && lbn < until)
    }

    pub fn unpinned_set_takes(&mut self, lbn: usize, end: usize) -> bool {
        let is_spared = self.is_at_rest();
        if !is_spared && !self.is_saving {
            return false;
        }
        if !self.waiting_pins.is_empty() {
            self.meets("a write keeps room for pins");
            return false;
        }
        if self.is_being_written(lbn, end) {
            self.meets("a write follows another to the medium");
            return false;
        }
        if is_spared && !self.medium_is_down() {
            self.meets("a write does not wait for a spin-up");
        }
        if is_spared && !self.is_saving {
            self.meets("at rest without power mode");
        }
        true
    }

    /// A request is sent to the medium.
    pub fn asks_medium(&mut self, sent: usize, job: usize, op: Op) {
        self.cancel(Alarm::Rest);
        self.has_told = false;
        self.to_medium += 1;
        if !matches!(op, Op::Read | Op::Write) {
            if self.medium_is_down() {
                self.meets("a flush or a trim does not wake the medium");
            }
            return;
        }
        if self.waker.is_some() || !self.medium_is_down() {
            return;
        }
        self.waker = Some(sent);
        let of = self.jobs[job]
            .request
            .map(|request| self.case.requests[request].op);
        self.add(
            match of {
                None => "wakes.flushes",
                Some(Op::Read) => "wakes.reads",
                Some(Op::Write) => "wakes.writes",
                Some(_) => "wakes.commands",
            },
            1,
        );
    }

    /// A request to the medium has ended.
    pub fn medium_has_ended(&mut self, sent: usize, what: What) {
        self.to_medium -= 1;
        if matches!(what, What::Medium { .. }) {
            self.flush_need_not_wait();
        }
        if self.waker == Some(sent) {
            self.waker = None;
            self.back_since = self.now;
            if !self.medium_is_down() {
                self.own_flush();
            } else {
                self.meets("down again at once");
            }
        }
    }

    /// In NV cache power mode, tells the medium to stop, or sees to it that it will be told.
    pub fn tells_medium(&mut self) {
        let is_set = self.alarms.iter().any(|(_, alarm)| *alarm == Alarm::Rest);
        if !self.is_saving || self.has_told || self.to_medium > 0 || self.flush.is_some() || is_set
        {
            return;
        }
        let at = self.back_since + self.case.high_power;
        if at > self.now {
            self.meets("the minimum high-power time");
            return self.alarm(at, Alarm::Rest);
        }
        self.has_told = true;
        self.messages.push(Message::StandBy);
    }
}

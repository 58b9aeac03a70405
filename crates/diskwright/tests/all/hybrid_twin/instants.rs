//! Instants: alarms that are due in the order in which they were set, then messages, first in, first out. And the devices below the drive.

use diskwright::engine::request::Op;

use super::model::{Model, What};

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    Arrival(usize),
    /// A device has served a request, or passed it over.
    Served(usize),
    Passed(usize),
    /// The medium stops; it turns again.
    Stop,
    Up,
    /// A command is complete, whether well or not.
    Answer(usize),
    /// The medium may be told to stop.
    Rest,
}

#[derive(Clone, Copy, Debug)]
pub enum Message {
    Arrives(usize),
    ToDevice(usize),
    Complete(usize),
    StandBy,
}

/// A request to device 0, the medium, or 1, the NV cache.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub device: usize,
    pub op: Op,
    pub blocks: u64,
    pub job: usize,
    pub what: What,
}

/// What one of the devices is at.
#[derive(Clone, Debug, Default)]
pub struct Below {
    pub serving: usize,
    pub waiting: Vec<usize>,
}

/// The medium's motor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    Turning,
    DownFrom(u64),
    Waking,
}

impl Model<'_> {
    pub fn alarm(&mut self, at: u64, alarm: Alarm) {
        self.alarms.push((at, alarm));
    }

    pub fn cancel(&mut self, alarm: Alarm) {
        self.alarms.retain(|(_, set)| *set != alarm);
    }

    pub fn run(&mut self) {
        self.medium_rests();
        self.tells_medium();
        for number in 0..self.case.requests.len() {
            self.alarm(self.case.requests[number].at, Alarm::Arrival(number));
        }
        loop {
            while !self.messages.is_empty() {
                match self.messages.remove(0) {
                    Message::Arrives(request) => self.arrives(request),
                    Message::ToDevice(sent) => self.reaches_device(sent),
                    Message::Complete(sent) => self.ended(sent),
                    Message::StandBy => self.stands_by(),
                }
            }
            let is_over = self.under_way == 0
                && (self.alarms.iter())
                    .all(|(_, alarm)| matches!(alarm, Alarm::Stop | Alarm::Rest));
            let next = self.alarms.iter().map(|(at, _)| *at).min();
            let Some(next) = next.filter(|_| !is_over) else {
                return;
            };
            self.now = next;
            while let Some(due) = self.alarms.iter().position(|(at, _)| *at == self.now) {
                let (_, alarm) = self.alarms.remove(due);
                self.rings(alarm);
            }
        }
    }

    fn rings(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Arrival(request) => {
                self.under_way += 1;
                self.messages.push(Message::Arrives(request));
            }
            Alarm::Served(sent) => {
                self.messages.push(Message::Complete(sent));
                let device = self.sent[sent].device;
                self.below[device].serving -= 1;
                self.serve(device);
                if device == 0 {
                    self.medium_rests();
                }
            }
            Alarm::Passed(sent) => self.messages.push(Message::Complete(sent)),
            Alarm::Stop => self.medium_stops(),
            Alarm::Up => {
                self.state = State::Turning;
                self.serve(0);
            }
            Alarm::Answer(request) => self.answered(request),
            Alarm::Rest => self.tells_medium(),
        }
    }

    fn reaches_device(&mut self, sent: usize) {
        let Sent { device, op, .. } = self.sent[sent];
        if device == 0 {
            self.is_told_by_parent = false;
        }
        if !matches!(op, Op::Read | Op::Write) {
            return self.alarm(self.now, Alarm::Passed(sent));
        }
        self.below[device].waiting.push(sent);
        if device == 0 {
            self.cancel(Alarm::Stop);
            if let State::DownFrom(since) = self.state {
                let up = self.case.motor.map_or(0, |motor| motor.up);
                self.state = State::Waking;
                self.alarm(since.max(self.now) + up, Alarm::Up);
            }
        }
        self.serve(device);
    }

    fn serve(&mut self, device: usize) {
        let times = [self.case.medium, self.case.flash][device];
        while (device == 1 || self.state == State::Turning)
            && self.below[device].serving < times.parallel
            && !self.below[device].waiting.is_empty()
        {
            let next = self.below[device].waiting.remove(0);
            self.below[device].serving += 1;
            let Sent { op, blocks, .. } = self.sent[next];
            let access = if op == Op::Write {
                times.write
            } else {
                times.read
            };
            self.alarm(
                self.now + access + blocks * times.per_block,
                Alarm::Served(next),
            );
        }
    }

    fn medium_is_idle(&self) -> bool {
        let medium = &self.below[0];
        medium.serving == 0 && medium.waiting.is_empty() && self.state == State::Turning
    }

    fn medium_rests(&mut self) {
        let Some(motor) = self.case.motor.filter(|_| self.medium_is_idle()) else {
            return;
        };
        if self.is_told_by_parent {
            self.medium_stops();
        } else if let Some(timeout) = motor.timeout {
            self.alarm(self.now + timeout, Alarm::Stop);
        }
    }

    fn medium_stops(&mut self) {
        self.cancel(Alarm::Stop);
        let down = self.case.motor.map_or(0, |motor| motor.down);
        self.state = State::DownFrom(self.now + down);
        self.add("motor.stops", 1);
    }

    fn stands_by(&mut self) {
        self.add("motor.tellings", 1);
        self.is_told_by_parent = true;
        if self.case.motor.is_some() && self.medium_is_idle() {
            self.medium_stops();
        }
    }

    pub fn medium_is_down(&self) -> bool {
        matches!(self.state, State::DownFrom(_))
    }
}

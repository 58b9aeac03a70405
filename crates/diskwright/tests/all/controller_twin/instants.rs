//! Instants: alarms that are due in the order in which they were set, then messages, first in, first out. And the devices.

use diskwright::engine::request::Op;

use super::model::Model;

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    Arrival(usize),
    /// A device has served a group.
    Served(usize),
    /// A message has come: of a group to its device, of its answer, of the end of a piece to the host.
    Sent(usize),
    Answered(usize),
    Told(usize),
    /// The data of a piece have been moved.
    Moved(usize),
    /// The devices have been idle for long enough.
    Idle,
    /// A period is over.
    Period,
}

impl Alarm {
    /// Whether a run that is over otherwise does not wait for it.
    fn is_for_dirt(self) -> bool {
        matches!(self, Alarm::Idle | Alarm::Period)
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Message {
    Arrives(usize),
    ToDevice(usize),
    Complete(usize),
}

/// What a device is at: groups.
#[derive(Default)]
pub struct Below {
    serving: usize,
    waiting: Vec<usize>,
}

impl Model<'_> {
    pub fn alarm(&mut self, at: u64, alarm: Alarm) {
        self.alarms.push((at, alarm));
    }

    fn next_arrival(&mut self, number: usize) {
        if let Some(asked) = self.case.requests.get(number) {
            self.alarm(asked.at, Alarm::Arrival(number));
        }
    }

    pub fn run(&mut self) {
        self.next_arrival(0);
        loop {
            while !self.messages.is_empty() {
                match self.messages.remove(0) {
                    Message::Arrives(request) => {
                        self.outside.push(request);
                        self.take_up();
                        self.go_on();
                    }
                    Message::ToDevice(group) => {
                        let device = self.groups[group].device;
                        self.below[device].waiting.push(group);
                        self.serve(device);
                    }
                    Message::Complete(group) => {
                        self.comes_back(group);
                        self.go_on();
                    }
                }
            }
            // Once all is over, what is dirty stays so.
            let mut alarms = self.alarms.iter();
            if alarms.all(|(_, alarm)| alarm.is_for_dirt()) {
                return;
            }
            let next = self.alarms.iter().map(|(at, _)| *at).min();
            self.now = next.expect("there is an alarm");
            while let Some(due) = self.alarms.iter().position(|(at, _)| *at == self.now) {
                let (_, alarm) = self.alarms.remove(due);
                self.rings(alarm);
            }
        }
    }

    fn rings(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Arrival(request) => {
                self.messages.push(Message::Arrives(request));
                return self.next_arrival(request + 1);
            }
            Alarm::Served(group) => {
                let device = self.groups[group].device;
                self.messages.push(Message::Complete(group));
                self.below[device].serving -= 1;
                return self.serve(device);
            }
            Alarm::Sent(group) => self.messages.push(Message::ToDevice(group)),
            Alarm::Answered(group) => self.answered(group),
            Alarm::Told(work) => self.told(work),
            Alarm::Moved(work) => self.ready.push(work),
            Alarm::Idle => self.idle_for_long(),
            Alarm::Period => self.period_is_over(),
        }
        self.go_on();
    }

    fn serve(&mut self, device: usize) {
        let simple = self.case.device(device);
        while self.below[device].serving < simple.parallel && !self.below[device].waiting.is_empty()
        {
            let next = self.below[device].waiting.remove(0);
            self.below[device].serving += 1;
            let entry = &self.groups[next].entry;
            let bytes = entry.blocks * simple.per_block;
            let time = match entry.op {
                Op::Read => simple.read + bytes,
                Op::Write => simple.write + bytes,
                Op::Flush | Op::Trim => 0,
                Op::NvCache(command) => command.is_in_no_workload(),
            };
            self.alarm(self.now + time, Alarm::Served(next));
        }
    }

    /// When a message that is sent now has come, unless that is at once.
    pub fn message(&mut self) -> Option<u64> {
        let time = self.case.message;
        if time == 0 {
            return None;
        }
        if !self.case.one_message {
            return Some(self.now + time);
        }
        self.meet(
            "a message that waits for another",
            self.messages_until > self.now,
        );
        self.messages_until = self.messages_until.max(self.now) + time;
        Some(self.messages_until)
    }
}

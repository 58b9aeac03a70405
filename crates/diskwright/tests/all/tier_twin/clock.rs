//! Instants: alarms that are due in the order in which they were set, then messages, first in, first out.

use diskwright::engine::request::Op;

use super::model::{Model, What};
use super::specs::Simple;

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    Arrival(usize),
    /// A device has served a request.
    Served(usize),
    Idle(u64),
    Clean,
    Commit(u64),
    Change(usize),
}

impl Alarm {
    fn is_background(&self) -> bool {
        !matches!(self, Alarm::Arrival(_) | Alarm::Served(_))
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Message {
    Arrives(usize),
    ToDevice(usize),
    Complete(usize),
}

/// A request to a device.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub device: usize,
    pub op: Op,
    pub blocks: u64,
    pub what: What,
}

/// One of the two devices.
pub struct Device {
    pub simple: Simple,
    pub serving: usize,
    pub waiting: Vec<usize>,
}

impl Model<'_> {
    pub fn alarm(&mut self, at: u64, alarm: Alarm) {
        self.alarms.push((at, alarm));
    }

    /// Sends a request to device 0, the cache, or 1, the backing device.
    pub fn send(&mut self, device: usize, op: Op, blocks: u64, what: What) {
        self.sent.push(Sent {
            device,
            op,
            blocks,
            what,
        });
        self.messages.push(Message::ToDevice(self.sent.len() - 1));
        self.under_way += 1;
    }

    fn serve(&mut self, device: usize) {
        while self.devices[device].serving < self.devices[device].simple.parallel
            && !self.devices[device].waiting.is_empty()
        {
            let next = self.devices[device].waiting.remove(0);
            self.devices[device].serving += 1;
            let simple = self.devices[device].simple;
            let time = match self.sent[next].op {
                Op::Read => simple.read + self.sent[next].blocks * simple.per_block,
                Op::Write => simple.write + self.sent[next].blocks * simple.per_block,
                Op::Flush | Op::Trim => 0,
                Op::NvCache(command) => command.is_in_no_workload(),
            };
            self.alarm(self.now + time, Alarm::Served(next));
        }
    }

    pub fn run(&mut self) {
        self.begin();
        loop {
            while !self.messages.is_empty() {
                match self.messages.remove(0) {
                    Message::Arrives(request) => self.arrives(request),
                    Message::ToDevice(sent) => {
                        let device = self.sent[sent].device;
                        self.devices[device].waiting.push(sent);
                        self.serve(device);
                    }
                    Message::Complete(sent) => self.ended(sent),
                }
            }
            let is_over = self.under_way == 0
                && self.outstanding == 0
                && self.alarms.iter().all(|(_, alarm)| alarm.is_background());
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
            Alarm::Arrival(request) => self.messages.push(Message::Arrives(request)),
            Alarm::Served(sent) => {
                self.messages.push(Message::Complete(sent));
                let device = self.sent[sent].device;
                self.devices[device].serving -= 1;
                self.serve(device);
            }
            Alarm::Idle(number) => self.idle_for_long(number),
            Alarm::Clean => self.clean(),
            Alarm::Commit(number) => self.commit_is_due(number),
            Alarm::Change(number) => self.begin_change(number),
        }
    }
}

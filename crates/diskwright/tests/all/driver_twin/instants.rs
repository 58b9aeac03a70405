//! Instants: alarms that are due in the order in which they were set, then messages, first in, first out.

use diskwright::engine::request::Op;

use super::model::Model;

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    Arrival(usize),
    Awaited(usize),
    /// The device has served a request.
    Served(usize),
    Look,
}

#[derive(Clone, Copy, Debug)]
pub enum Message {
    Arrives(usize),
    Awaited(usize),
    ToDevice(usize),
    Complete(usize),
}

/// The device: what it serves, and what waits.
#[derive(Default)]
pub struct Below {
    serving: usize,
    waiting: Vec<usize>,
}

impl Model<'_> {
    pub fn run(&mut self) {
        for (request, asked) in self.case.requests.iter().enumerate() {
            self.alarms.push((asked.at, Alarm::Arrival(request)));
            if let Some(at) = asked.awaited {
                self.alarms.push((at, Alarm::Awaited(request)));
            }
        }
        loop {
            while !self.messages.is_empty() {
                match self.messages.remove(0) {
                    Message::Arrives(request) => self.arrives(request),
                    Message::Awaited(request) => self.raise(request),
                    Message::ToDevice(sent) => {
                        self.below.waiting.push(sent);
                        self.serve();
                    }
                    Message::Complete(sent) => self.ended(sent),
                }
            }
            let is_over =
                self.outstanding == 0 && self.alarms.iter().all(|(_, alarm)| *alarm == Alarm::Look);
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
                self.is_submitted[request] = true;
                self.messages.push(Message::Arrives(request));
            }
            Alarm::Awaited(request) => self.is_awaited(request),
            Alarm::Served(sent) => {
                self.messages.push(Message::Complete(sent));
                self.below.serving -= 1;
                self.serve();
            }
            Alarm::Look => self.look(),
        }
    }

    fn serve(&mut self) {
        let device = self.case.device;
        while self.below.serving < device.parallel && !self.below.waiting.is_empty() {
            let next = self.below.waiting.remove(0);
            self.below.serving += 1;
            let time = match self.sent[next].entry.op {
                Op::Read => device.read,
                Op::Write => device.write,
                Op::Flush | Op::Trim => 0,
                Op::NvCache(command) => command.is_in_no_workload(),
            };
            self.alarms.push((self.now + time, Alarm::Served(next)));
        }
    }
}

//! Instants: faults, then alarms that are due in the order in which they were set, then messages, first in, first out. And the members.

use diskwright::engine::request::Op;

use super::jobs::Purpose;
use super::model::Model;
use super::specs::Fault;

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    Arrival(usize),
    /// A member has served a request.
    Served(usize),
    /// The next step of a rebuild.
    Rebuild,
}

#[derive(Clone, Copy, Debug)]
pub enum Message {
    Arrives(usize),
    ToMember(usize),
    Complete(usize),
    HasFailed(usize),
}

/// How a request of a member ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    Good,
    Unreadable,
    Failed,
}

/// A request to a member.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The place of the member, and the device that was there.
    pub member: usize,
    pub device: usize,
    pub op: Op,
    pub at: u64,
    pub blocks: u64,
    pub job: usize,
    pub piece: usize,
    pub end: Option<End>,
}

/// What a device is at.
#[derive(Clone, Debug, Default)]
pub struct Device {
    pub serving: Vec<usize>,
    pub waiting: Vec<usize>,
    pub has_failed: bool,
    /// Blocks that cannot be read.
    pub unreadable: Vec<u64>,
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
        let mut faults = self.case.faults.clone();
        faults.sort_by_key(|(at, _)| *at);
        loop {
            while !self.messages.is_empty() {
                match self.messages.remove(0) {
                    Message::Arrives(request) => self.arrives(request),
                    Message::ToMember(sent) => self.reaches_member(sent),
                    Message::Complete(sent) => self.ended(sent),
                    Message::HasFailed(device) => self.hears_of_failure(device),
                }
            }
            let alarms = self.alarms.iter().map(|(at, _)| *at);
            let Some(next) = alarms.chain(faults.iter().map(|(at, _)| *at)).min() else {
                return;
            };
            self.now = next;
            while faults.first().is_some_and(|(at, _)| *at == self.now) {
                let (_, fault) = faults.remove(0);
                self.suffers(fault);
            }
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
                self.next_arrival(request + 1);
            }
            Alarm::Rebuild => {
                self.steps();
                self.go_on();
            }
            Alarm::Served(sent) => {
                let Sent {
                    device,
                    op,
                    at,
                    blocks,
                    ..
                } = self.sent[sent];
                let blocks = at..at + blocks;
                let unreadable = &mut self.devices[device].unreadable;
                let mut end = End::Good;
                match op {
                    Op::Read if unreadable.iter().any(|block| blocks.contains(block)) => {
                        end = End::Unreadable;
                    }
                    Op::Write => unreadable.retain(|block| !blocks.contains(block)),
                    _ => {}
                }
                self.ends(sent, end);
                self.devices[device].serving.retain(|&other| other != sent);
                self.serve(device);
            }
        }
    }

    fn ends(&mut self, sent: usize, end: End) {
        self.sent[sent].end = Some(end);
        self.messages.push(Message::Complete(sent));
    }

    fn reaches_member(&mut self, sent: usize) {
        let device = self.sent[sent].device;
        if self.devices[device].has_failed {
            return self.ends(sent, End::Failed);
        }
        self.devices[device].waiting.push(sent);
        self.serve(device);
    }

    fn serve(&mut self, device: usize) {
        let simple = self.case.device(device);
        while self.devices[device].serving.len() < simple.parallel
            && !self.devices[device].waiting.is_empty()
        {
            let next = self.devices[device].waiting.remove(0);
            self.devices[device].serving.push(next);
            let bytes = self.sent[next].blocks * simple.per_block;
            let time = match self.sent[next].op {
                Op::Read => simple.read + bytes,
                Op::Write => simple.write + bytes,
                Op::Flush | Op::Trim => 0,
                Op::NvCache(command) => command.is_in_no_workload(),
            };
            self.alarm(self.now + time, Alarm::Served(next));
        }
    }

    fn suffers(&mut self, fault: Fault) {
        match fault {
            Fault::Unreadable(device, from, blocks) => {
                self.devices[device].unreadable.extend(from..from + blocks);
            }
            Fault::Fails(device) => {
                if std::mem::replace(&mut self.devices[device].has_failed, true) {
                    return;
                }
                self.devices[device].serving.clear();
                self.devices[device].waiting.clear();
                self.alarms.retain(|&(_, alarm)| {
                    !matches!(alarm, Alarm::Served(sent) if self.sent[sent].device == device)
                });
                self.messages.push(Message::HasFailed(device));
                let mut under_way: Vec<usize> = (0..self.sent.len()).collect();
                under_way.retain(|&sent| {
                    let sent = self.sent[sent];
                    sent.device == device && sent.end.is_none()
                });
                under_way.sort_by_key(|&sent| match self.jobs[self.sent[sent].job].purpose {
                    Purpose::Request(number) => number,
                    Purpose::Step(_) | Purpose::Seal => usize::MAX,
                });
                for sent in under_way {
                    self.ends(sent, End::Failed);
                }
            }
        }
    }
}

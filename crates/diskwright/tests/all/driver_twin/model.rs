//! What the twin knows, and what a driver does with requests.

use std::collections::{BTreeMap, BTreeSet};

use diskwright::engine::request::{Class, Op};

use super::instants::{Alarm, Below, Message};
use super::queues::Queue;
use super::specs::Case;
use crate::hdd_twin::queue::Waiting;

/// A request to the device.
#[derive(Clone, Debug)]
pub struct Sent {
    pub entry: Waiting,
    pub at: u64,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    pub alarms: Vec<(u64, Alarm)>,
    pub messages: Vec<Message>,
    pub below: Below,
    pub sent: Vec<Sent>,
    pub outstanding: usize,
    /// That of all requests, and that of those which go first.
    pub queues: [Queue; 2],
    pub classes: Vec<Class>,
    pub is_submitted: Vec<bool>,
    is_watching: bool,

    pub completions: Vec<Option<u64>>,
    pub response: u64,
    pub access: u64,
    pub counts: BTreeMap<&'static str, u64>,
    pub met: BTreeSet<&'static str>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        let first = match (case.priority, case.timeout) {
            (Some(scheduler), _) => scheduler,
            (None, Some(timeout)) => timeout.scheduler,
            (None, None) => case.scheduler,
        };
        let requests = case.requests.len();
        Model {
            case,
            now: 0,
            alarms: Vec::new(),
            messages: Vec::new(),
            below: Below::default(),
            sent: Vec::new(),
            outstanding: 0,
            queues: [case.scheduler, first].map(Queue::new),
            classes: case.requests.iter().map(|asked| asked.class).collect(),
            is_submitted: vec![false; requests],
            is_watching: false,
            completions: vec![None; requests],
            response: 0,
            access: 0,
            counts: BTreeMap::new(),
            met: BTreeSet::new(),
        }
    }

    pub fn add(&mut self, name: &'static str, count: u64) {
        *self.counts.entry(name).or_default() += count;
    }

    fn waiting(&self) -> usize {
        self.queues.iter().map(Queue::len).sum()
    }

    pub fn arrives(&mut self, request: usize) {
        let op = self.case.requests[request].op;
        let class = self.classes[request];
        self.add("requests", 1);
        self.add("reads", u64::from(op == Op::Read));
        self.add("writes", u64::from(op == Op::Write));
        self.add("critical", u64::from(class == Class::Critical));
        self.add("limited", u64::from(class == Class::Limited));
        let goes_first = self.case.priority.is_some() && class != Class::Plain;
        self.enter(usize::from(goes_first), request);
        self.send_what_may();
        let waiting = self.waiting() as u64;
        let most = self.counts.entry("queue_length_max").or_default();
        *most = waiting.max(*most);
        self.watch();
    }

    /// A request enters a queue behind those that wait there, or joins some of them.
    fn enter(&mut self, queue: usize, request: usize) {
        let asked = self.case.requests[request];
        let entry = Waiting {
            parts: vec![request],
            op: asked.op,
            fua: asked.fua,
            lbn: asked.lbn,
            blocks: asked.blocks,
            since: asked.at,
            cylinder: 0,
        };
        let met = self.queues[queue].enter(entry, self.case.join);
        self.met.extend(met);
    }

    fn send_what_may(&mut self) {
        let most = self.case.outstanding.unwrap_or(usize::MAX);
        while self.outstanding < most && self.waiting() > 0 {
            let queue = usize::from(self.queues[1].len() > 0);
            if queue == 1 && self.queues[0].len() > 0 {
                self.met.insert("a queue that goes first");
            }
            if self.queues[queue].len() > 1 {
                self.met.insert(self.queues[queue].scheduler.name());
            }
            let entry = self.queues[queue].take(self.now, self.case.device.blocks);
            self.add("sent", 1);
            self.add("joined", entry.parts.len() as u64 - 1);
            self.sent.push(Sent {
                entry,
                at: self.now,
            });
            self.messages.push(Message::ToDevice(self.sent.len() - 1));
            self.outstanding += 1;
        }
    }

    /// A request to the device is complete: all that it is made of are, and the next one is chosen.
    pub fn ended(&mut self, sent: usize) {
        self.outstanding -= 1;
        let Sent { entry, at } = self.sent[sent].clone();
        for &part in &entry.parts {
            self.add("completed", 1);
            self.completions[part] = Some(self.now);
            self.response += self.now - self.case.requests[part].at;
            self.access += self.now - at;
        }
        self.send_what_may();
    }

    /// A process begins to wait for a request.
    pub fn is_awaited(&mut self, request: usize) {
        let is_under_way = self.is_submitted[request] && self.completions[request].is_none();
        if is_under_way && self.classes[request] != Class::Critical {
            self.classes[request] = Class::Critical;
            self.messages.push(Message::Awaited(request));
        }
    }

    /// The driver hears of it.
    pub fn raise(&mut self, request: usize) {
        if self.case.priority.is_none() {
            return;
        }
        let Some(entry) = self.queues[0].remove_with(request) else {
            let is_below = self.completions[request].is_none()
                && self
                    .sent
                    .iter()
                    .any(|sent| sent.entry.parts.contains(&request));
            if is_below {
                self.met.insert("a request that is awaited at the device");
            }
            return;
        };
        self.add("raised", 1);
        self.met.insert("a request that is raised");
        if entry.parts.len() > 1 {
            self.met.insert("a joined request that is raised");
        }
        for part in entry.parts {
            self.enter(1, part);
        }
    }

    /// Requests are looked at on the next whole multiple of the period, where any wait that may come to wait too long.
    fn watch(&mut self) {
        if let Some(timeout) = self.case.timeout
            && !self.is_watching
            && self.queues[0].len() > 0
        {
            self.is_watching = true;
            let next = (self.now / timeout.every + 1) * timeout.every;
            self.alarms.push((next, Alarm::Look));
        }
    }

    /// Requests that have waited too long go to those which go first.
    pub fn look(&mut self) {
        self.is_watching = false;
        let after = self.case.timeout.expect("there is a timeout").after;
        while let Some(entry) = self.queues[0].remove_late(self.now, after) {
            self.add("late", entry.parts.len() as u64);
            self.met.insert("a request that has waited too long");
            if entry.parts.len() > 1 {
                self.met.insert("a joined request that has waited too long");
            }
            for part in entry.parts {
                self.enter(1, part);
            }
        }
        self.watch();
    }
}

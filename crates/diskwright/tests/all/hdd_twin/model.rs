//! The twin: the host, the queue, and a drive without memory, as docs/model/access.md defines them. Instants and times are ns.

use std::collections::{BTreeMap, VecDeque};

use diskwright::engine::request::Op;

use super::buffered::Memory;
use super::cached::{Cached as _, CachedDrive};
use super::front::Front;
use super::medium::{Access, Medium};
use super::queue::{Next, Queue, View, Waiting};
use super::seeks::Arm;
use super::specs::{Asked, Case};

pub struct Model<'a> {
    pub case: &'a Case,
    pub medium: Medium<'a>,
    pub now: u64,
    pub arm: Arm,
    pub memory: Option<Memory<'a>>,
    pub front: Front<'a>,
    pub queue: Queue,
    /// Requests that have no slot.
    pub intake: VecDeque<usize>,
    /// What ends when, in the order in which that was foreseen.
    pub ends: Vec<(u64, End)>,
    /// Whether the arm is at work, and whether the last request of the medium was a write.
    pub is_busy: bool,
    pub last_was_write: bool,
    /// Slots of requests that do not wait.
    pub active: u64,
    /// What happened the twin does not know: a request was larger than a segment, or the medium came to a sector for which one may have had no
    /// room.
    pub is_left_out: bool,
    /// Counters, by the names of the results; none is 0.
    pub counts: BTreeMap<&'static str, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Of requests that have the medium, as one.
    Served(Vec<usize>),
    /// Of a flush or a trim.
    Passed(usize),
    /// Of a request that the cache serves.
    FromCache(usize),
    Travel,
    /// Of a write on the medium.
    Written,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        Model {
            case,
            medium: Medium::new(case),
            now: 0,
            arm: Arm::default(),
            memory: case.drive.buffer.as_ref().map(Memory::new),
            front: Front::new(case),
            queue: Queue::new(case.scheduler),
            intake: VecDeque::new(),
            ends: Vec::new(),
            is_busy: false,
            last_was_write: false,
            active: 0,
            is_left_out: false,
            counts: BTreeMap::new(),
        }
    }

    pub fn count(&mut self, name: &'static str, by: u64) {
        if by > 0 {
            *self.counts.entry(name).or_default() += by;
        }
    }

    /// The controller's time before a command.
    pub fn before(&self, write: bool) -> u64 {
        self.case.drive.overhead.before(write, self.last_was_write)
    }

    /// Runs until every request is complete or nothing happens any more.
    pub fn run(&mut self) {
        self.go_on();
        self.count("promotions", self.queue.promotions);
        self.count("dirty_blocks", self.front.dirty_blocks());
    }

    fn go_on(&mut self) {
        loop {
            // What has been foreseen for this instant; what is foreseen in it comes after the drive's choice.
            let ends = std::mem::take(&mut self.ends).into_iter();
            let (due, later): (Vec<_>, Vec<_>) = ends.partition(|(at, _)| *at == self.now);
            self.ends = later;
            due.into_iter().for_each(|(_, end)| self.end(end));
            self.front.issue(self.now);
            self.deliver();
            while self.accept() {}
            if !self.is_busy && !self.is_writing() && !self.queue.waiting.is_empty() {
                self.begin();
            }
            let arrival = self.front.next_arrival();
            let ends = self.ends.iter().map(|(at, _)| *at);
            match ends.chain(arrival).min() {
                Some(instant) => self.now = instant,
                None => return,
            }
        }
    }

    /// How many slots the parts of a request have.
    fn slots_of(&self, parts: &[usize]) -> u64 {
        match self.case.shares_slots() {
            true => 1,
            false => parts.len() as u64,
        }
    }

    /// Gives free slots to requests; whether something did get one.
    fn accept(&mut self) -> bool {
        if self.taken_slots() >= self.case.depth {
            return false;
        }
        let Some(request) = self.intake.pop_front() else {
            return false;
        };
        let Asked {
            op,
            fua,
            lbn,
            blocks,
            ..
        } = self.asked(request);
        let new = Waiting {
            parts: vec![request],
            since: self.now,
            op,
            fua,
            lbn,
            blocks,
            cylinder: self.medium.place(lbn).cylinder,
        };
        let join = self.case.clustering.map(|clustering| clustering.join);
        for met in self.queue.enter(new, join) {
            self.count(met, 1);
        }
        true
    }

    fn end(&mut self, end: End) {
        match end {
            End::Travel => self.is_busy = false,
            End::Served(parts) => {
                self.is_busy = false;
                self.active -= self.slots_of(&parts);
                parts.into_iter().for_each(|part| self.complete(part));
            }
            End::Passed(request) | End::FromCache(request) => self.complete(request),
            End::Written => {}
        }
    }

    /// The arm is free and something waits.
    fn begin(&mut self) {
        let (medium, arm, now) = (&self.medium, self.arm_now(), self.now);
        // With a buffer, the controller is at work as requests arrive.
        let before = match self.memory {
            Some(_) => [0; 2],
            None => [self.before(false), self.before(true)],
        };
        let positioning = |waiting: &Waiting| {
            let before = before[usize::from(waiting.is_write())];
            medium.positioning(arm, now + before, waiting.lbn, waiting.is_write())
        };
        let view = View {
            now,
            cylinder: arm.cylinder,
            edges: (0, self.case.drive.layout.cylinders - 1),
            cylinders: self.case.drive.layout.cylinders,
            blocks: medium.blocks(),
            positioning: &positioning,
        };
        match self.queue.next(&view) {
            Next::Travel(to) => self.travel(to),
            Next::Serve(place) => {
                let waiting = self.queue.take(place);
                self.active += self.slots_of(&waiting.parts);
                self.count("merged_requests", waiting.parts.len() as u64 - 1);
                let memory = self.memory.as_ref();
                let fits = memory.is_none_or(|memory| waiting.blocks <= memory.settings.longest());
                self.is_left_out |= !fits;
                let (end, parts) = match (&self.memory, waiting.is_write()) {
                    (None, _) => (self.serve(&waiting), waiting.parts),
                    (Some(_), false) => (self.serve_read(&waiting), waiting.parts),
                    (Some(_), true) => (self.serve_write(&waiting), waiting.parts),
                };
                self.ends.push((end, End::Served(parts)));
            }
        }
        self.is_busy = true;
    }

    fn travel(&mut self, to: u64) {
        if self.memory.is_some() {
            self.settle();
        }
        let (start, _) = self.interrupt(self.now);
        let distance = to.abs_diff(self.arm.cylinder);
        self.arm.cylinder = to;
        self.count("travels", 1);
        self.count("travel_cylinders", distance);
        let end = start + self.case.drive.travel(distance);
        self.ends.push((end, End::Travel));
    }

    /// Serves a request; when that is complete.
    fn serve(&mut self, waiting: &Waiting) -> u64 {
        let (lbn, blocks, to) = (waiting.lbn, waiting.blocks, waiting.end());
        let write = waiting.is_write();
        let ready = self.now + self.before(write);
        let interface = self.case.drive.interface;
        let overhead = &self.case.drive.overhead;
        let (access, end) = match (write, interface.overlapped) {
            (false, overlapped) => {
                let access = self.medium.read(self.arm, ready, lbn, to);
                let crossed = match overlapped {
                    true => access.sectors.iter().fold(0, |free, &(passed, blocks)| {
                        passed.max(free) + blocks * interface.block
                    }),
                    false => access.end() + blocks * interface.block,
                };
                (access, crossed + overhead.completion_read)
            }
            (true, overlapped) => {
                let (start, from) = match overlapped {
                    true => (ready, ready),
                    false => (ready + blocks * interface.write_block, 0),
                };
                let arrival = |count| match overlapped {
                    true => from + count * interface.write_block,
                    false => start,
                };
                let access = self.medium.write(self.arm, start, (lbn, to), 0, arrival);
                let end = access.end() + overhead.completion_write;
                (access, end)
            }
        };
        let Access { arm, rewritten, .. } = access;
        self.arm = arm;
        self.last_was_write = write;
        self.count("media_accesses", 1);
        self.count("read_modify_writes", rewritten);
        end
    }
}

impl<'a> CachedDrive<'a> for Model<'a> {
    fn now(&self) -> u64 {
        self.now
    }

    fn front(&self) -> &Front<'a> {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front<'a> {
        &mut self.front
    }

    fn taken_slots(&self) -> u64 {
        let waiting = self.queue.waiting.iter();
        let waiting: u64 = waiting.map(|waiting| self.slots_of(&waiting.parts)).sum();
        self.active + waiting
    }

    /// A request comes to the drive's queue. A flush or a trim needs no slot.
    fn comes_to_disk(&mut self, request: usize) {
        match self.asked(request).op {
            Op::Read | Op::Write => {
                self.intake.push_back(request);
                while self.accept() {}
            }
            _ => {
                let end = self.passes(request);
                self.ends.push((end, End::Passed(request)));
            }
        }
    }

    fn served_from_cache_at(&mut self, end: u64, request: usize) {
        self.ends.push((end, End::FromCache(request)));
    }

    fn count(&mut self, name: &'static str, by: u64) {
        Model::count(self, name, by);
    }
}

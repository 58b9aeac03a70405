//! What the twin knows, and the order in which requests begin.

use std::collections::BTreeSet;

use diskwright::engine::request::Op;

use super::clock::{Alarm, Device, Message, Sent};
use super::specs::{Asked, Case, Event};

/// A line that has a place.
#[derive(Clone, Debug)]
pub struct Held {
    pub key: u64,
    pub place: usize,
    /// Of its blocks, those that are there, and those that are dirty.
    pub there: Vec<bool>,
    pub dirty: Vec<bool>,
    /// When it became dirty, by a count.
    pub since: u64,
}

/// A line in use.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub key: u64,
    pub work: usize,
    pub alone: bool,
    /// The work has its blocks in memory.
    pub promoting: bool,
    /// The work writes it back.
    pub cleaning: bool,
    /// The place that it keeps for the line.
    pub place: Option<usize>,
}

/// What a request to a device is.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// Part of a work's stage.
    Work(usize),
    Commit,
    Flush(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    Waiting,
    Reading,
    Promoting,
    Writing,
    Trimming,
    Gathering,
    Spreading,
    /// It waits for a commit.
    Committing,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Pass,
    Fill,
    Absorb,
    Update,
    Drop,
}

/// A work's part in a line.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub key: u64,
    /// Its blocks.
    pub lbn: u64,
    pub blocks: u64,
    pub place: Option<usize>,
    pub is_new: bool,
    pub action: Action,
}

/// A run of blocks on the cache device.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub lbn: u64,
    pub blocks: u64,
    pub at: u64,
}

/// What lines are written back for, or struck out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    Host(usize),
    /// The number of the victim, its line and its place, and the work that waits for it.
    Victim(u64, u64, usize, usize),
    Cleaning,
    Flush,
    Change,
    Emptied(u64),
}

/// A request of the host, or a write-back.
#[derive(Clone, Debug)]
pub struct Work {
    pub cause: Cause,
    pub asked: Asked,
    pub bypassed: bool,
    pub stage: Stage,
    pub parts: Vec<Part>,
    pub runs: Vec<Run>,
    /// Places that it waits for.
    pub awaited: usize,
    /// Requests to devices that have not ended.
    pub left: usize,
    pub completed: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct FlushUnderWay {
    pub request: usize,
    pub next: u64,
    /// Once nothing is left to be written back, how many victims had left.
    pub victims: Option<u64>,
    pub commit: u64,
    pub is_writing: bool,
}

#[derive(Default)]
pub struct Counts {
    pub read_hits: u64,
    pub partial_read_hits: u64,
    pub read_hit_blocks: u64,
    pub write_hits: u64,
    pub write_hit_blocks: u64,
    pub absorbed_writes: u64,
    pub line_accesses: u64,
    pub line_misses: u64,
    pub insertions: u64,
    pub evictions: u64,
    pub promotions: u64,
    pub promoted_blocks: u64,
    pub blocks_from_memory: u64,
    pub conflicts: u64,
    pub waited_for_place: u64,
    pub waited_for_metadata: u64,
    pub of_victims: u64,
    pub of_cleaning: u64,
    pub of_flushes: u64,
    pub of_changes: u64,
    pub written_back_blocks: u64,
    pub trimmed_blocks: u64,
    pub trimmed_dirty_blocks: u64,
    pub commits: u64,
    pub table_blocks: u64,
    pub changes: u64,
    pub changes_ns: u64,
    pub by_write_policy: u64,
    pub by_sequential: u64,
    pub by_admission: u64,
    pub by_no_line: u64,
    pub by_changing: u64,
}

/// The table's entry of a place: the commit of its last change, and whether it names dirty blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    pub changed: u64,
    pub names: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Waiter {
    Write(usize),
    Line(usize),
    Place(usize),
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    pub alarms: Vec<(u64, Alarm)>,
    pub messages: Vec<Message>,
    pub sent: Vec<Sent>,
    pub devices: [Device; 2],
    pub under_way: usize,
    /// Requests of the host that are not complete.
    pub outstanding: usize,
    pub completions: Vec<Option<u64>>,
    pub lines: usize,
    pub held: Vec<Held>,
    /// Places by the policy: the one that leaves first in front.
    pub order: Vec<usize>,
    pub free: Vec<usize>,
    pub next_place: usize,
    pub uses: Vec<Use>,
    pub works: Vec<Work>,
    pub waiting: Vec<usize>,
    /// Streams: the one that was continued last in front: operation, end, blocks.
    pub streams: Vec<(Op, u64, u64)>,
    /// Misses that are remembered, the last one in front: line and accesses.
    pub missed: Vec<(u64, usize)>,
    pub flushes: Vec<usize>,
    pub flush: Option<FlushUnderWay>,
    pub leaving: Vec<u64>,
    pub victims: u64,
    pub dirtied: u64,
    // The cleaner.
    pub is_idle: bool,
    pub idle_number: u64,
    pub is_beyond: bool,
    pub is_cleaning: bool,
    pub has_next: bool,
    pub rests: u64,
    pub position: u64,
    // The table.
    pub entries: Vec<Entry>,
    pub changed: BTreeSet<u64>,
    pub begun: u64,
    pub ended: u64,
    pub is_wanted: bool,
    pub waiters: Vec<(u64, Waiter)>,
    pub commit_alarm: Option<u64>,
    pub commit_number: u64,
    pub commit_left: usize,
    // Changes.
    pub removed: bool,
    pub changes: Vec<(usize, u64)>,
    pub change_next: u64,
    pub change_writes: bool,
    pub change_since: u64,
    pub counts: Counts,
    pub flush_left: Vec<(usize, usize)>,
    pub met: BTreeSet<&'static str>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        let device = |simple| Device {
            simple,
            serving: 0,
            waiting: Vec::new(),
        };
        Model {
            case,
            now: 0,
            alarms: Vec::new(),
            messages: Vec::new(),
            sent: Vec::new(),
            devices: [device(case.cache), device(case.backing)],
            under_way: 0,
            outstanding: 0,
            completions: vec![None; case.requests.len()],
            lines: case.lines,
            held: Vec::new(),
            order: Vec::new(),
            free: Vec::new(),
            next_place: 0,
            uses: Vec::new(),
            works: Vec::new(),
            waiting: Vec::new(),
            streams: Vec::new(),
            missed: Vec::new(),
            flushes: Vec::new(),
            flush: None,
            leaving: Vec::new(),
            victims: 0,
            dirtied: 0,
            is_idle: false,
            idle_number: 0,
            is_beyond: false,
            is_cleaning: false,
            has_next: false,
            rests: 0,
            position: 0,
            entries: vec![Entry::default(); 12],
            changed: BTreeSet::new(),
            begun: 0,
            ended: 0,
            is_wanted: false,
            waiters: Vec::new(),
            commit_alarm: None,
            commit_number: 0,
            commit_left: 0,
            removed: false,
            changes: Vec::new(),
            change_next: 0,
            change_writes: false,
            change_since: 0,
            counts: Counts::default(),
            flush_left: Vec::new(),
            met: BTreeSet::new(),
        }
    }

    /// Before the run.
    pub fn begin(&mut self) {
        self.warm();
        if self.held.iter().any(Held::is_dirty) {
            self.host_is_idle();
            self.advance_cleaning();
        }
        // Events whose instants are equal keep their order.
        let mut events: Vec<(u64, usize)> = Vec::new();
        for (number, (at, _)) in self.case.events.iter().enumerate() {
            events.push((*at, number));
        }
        events.sort();
        for (at, number) in events {
            self.alarm(at, Alarm::Change(number));
        }
        for number in 0..self.case.requests.len() {
            self.alarm(self.case.requests[number].at, Alarm::Arrival(number));
        }
    }

    pub fn event(&self, number: usize) -> Event {
        self.case.events[number].1
    }

    pub fn line_of(&self, lbn: u64) -> u64 {
        lbn / self.case.line
    }

    /// The parts of a run of blocks in lines, ascending.
    pub fn parts(&self, lbn: u64, blocks: u64) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for block in lbn..lbn + blocks {
            let key = self.line_of(block);
            match parts.last_mut() {
                Some(part) if part.key == key => part.blocks += 1,
                _ => parts.push(Part {
                    key,
                    lbn: block,
                    blocks: 1,
                    place: None,
                    is_new: false,
                    action: Action::Pass,
                }),
            }
        }
        parts
    }

    pub fn work(&mut self, cause: Cause, asked: Asked) -> usize {
        self.works.push(Work {
            cause,
            asked,
            bypassed: false,
            stage: Stage::Waiting,
            parts: Vec::new(),
            runs: Vec::new(),
            awaited: 0,
            left: 0,
            completed: false,
        });
        self.works.len() - 1
    }

    /// A request of the host arrives.
    pub fn arrives(&mut self, request: usize) {
        self.outstanding += 1;
        self.is_idle = false;
        self.idle_number += 1;
        let asked = self.case.requests[request];
        if asked.op == Op::Flush {
            self.flushes.push(request);
        } else {
            let bypassed = matches!(asked.op, Op::Read | Op::Write) && self.follow(&asked);
            let work = self.work(Cause::Host(request), asked);
            self.works[work].bypassed = bypassed;
            self.waiting.push(work);
            if self.may_begin(self.waiting.len() - 1) {
                self.waiting.pop();
                self.begin_work(work);
            } else {
                self.counts.conflicts += 1;
            }
        }
        self.proceed();
    }

    /// Whether a request belongs to a stream that is too long.
    pub fn follow(&mut self, asked: &Asked) -> bool {
        let Some((longest, most)) = self.case.bypass else {
            return false;
        };
        let continued = |stream: &(Op, u64, u64)| stream.0 == asked.op && stream.1 == asked.lbn;
        let before = match self.streams.iter().position(continued) {
            Some(at) => self.streams.remove(at).2,
            None => {
                if self.streams.len() == most {
                    self.streams.pop();
                }
                0
            }
        };
        let blocks = before + asked.blocks;
        self.streams
            .insert(0, (asked.op, asked.lbn + asked.blocks, blocks));
        blocks > longest
    }

    pub fn complete(&mut self, request: usize) {
        self.completions[request] = Some(self.now);
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.host_is_idle();
        }
    }

    /// A request to a device has ended.
    pub fn ended(&mut self, sent: usize) {
        self.under_way -= 1;
        match self.sent[sent].what {
            What::Work(work) => {
                self.works[work].left -= 1;
                if self.works[work].left == 0 {
                    self.stage_ended(work);
                }
            }
            What::Commit => {
                self.commit_left -= 1;
                if self.commit_left == 0 {
                    self.commit_ended();
                }
            }
            What::Flush(request) => {
                let left = self
                    .flush_left
                    .iter()
                    .position(|(other, _)| *other == request);
                let left = &mut self.flush_left[left.expect("it was sent")];
                left.1 -= 1;
                if left.1 == 0 {
                    self.complete(request);
                }
            }
        }
        self.proceed();
    }

    fn stage_ended(&mut self, work: usize) {
        match self.works[work].stage {
            Stage::Reading => self.read_ended(work),
            Stage::Promoting => self.promotion_ended(work),
            Stage::Writing => self.written(work),
            Stage::Trimming => {
                self.works[work].stage = Stage::Ended;
                if let Cause::Host(request) = self.works[work].cause {
                    self.complete(request);
                }
            }
            Stage::Gathering => self.spread(work),
            Stage::Spreading => self.written_back(work),
            Stage::Waiting | Stage::Committing | Stage::Ended => {
                unreachable!("it has sent nothing")
            }
        }
    }

    /// What goes on after everything.
    pub fn proceed(&mut self) {
        loop {
            self.advance_flush();
            while let Some(ready) = (0..self.waiting.len()).find(|&at| self.may_begin(at)) {
                let work = self.waiting.remove(ready);
                self.begin_work(work);
                self.advance_flush();
            }
            if !self.advance_change() {
                break;
            }
        }
        self.advance_commits();
        self.advance_cleaning();
    }

    pub fn uses_of(&self, key: u64) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |one| one.key == key)
    }

    /// Whether the request at a place of those that wait may begin.
    fn may_begin(&self, at: usize) -> bool {
        if self.is_closing() {
            return false;
        }
        let work = &self.works[self.waiting[at]];
        let keys = |work: &Work| {
            let first = self.line_of(work.asked.lbn);
            first..=self.line_of(work.asked.lbn + work.asked.blocks - 1)
        };
        let mine = keys(work);
        for &before in &self.waiting[..at] {
            let other = keys(&self.works[before]);
            if other.start() <= mine.end() && mine.start() <= other.end() {
                return false;
            }
        }
        let op = work.asked.op;
        if op == Op::Trim {
            return self.uses.iter().all(|one| !mine.contains(&one.key));
        }
        self.parts(work.asked.lbn, work.asked.blocks)
            .iter()
            .all(|part| {
                let has_all = self.has_all(part);
                match self.uses_of(part.key).find(|one| one.alone) {
                    Some(alone) => op == Op::Read && alone.promoting && has_all,
                    None => {
                        self.uses_of(part.key).next().is_none() || !self.needs_alone(work, part)
                    }
                }
            })
    }

    fn needs_alone(&self, work: &Work, part: &Part) -> bool {
        let is_read = work.asked.op == Op::Read;
        if is_read && self.has_all(part) {
            return false;
        }
        match self.find(part.key) {
            Some(_) => !is_read || self.fills(work),
            None => self.against(work).is_none() && self.would_admit(part.key),
        }
    }

    pub fn fills(&self, work: &Work) -> bool {
        self.case.write_policy != "pass-through"
            && !work.bypassed
            && !self.removed
            && self.changes.is_empty()
    }

    /// Why a request gets no places, whatever line it asks for.
    pub fn against(&self, work: &Work) -> Option<&'static str> {
        let gets = match (self.case.write_policy, work.asked.op) {
            ("pass-through", _) => false,
            (_, Op::Read) => true,
            (policy, _) => policy == "write-back" || policy == "write-through",
        };
        if !gets {
            return Some("write_policy");
        }
        if self.removed || !self.changes.is_empty() {
            return Some("changing");
        }
        work.bypassed.then_some("sequential")
    }

    pub fn would_admit(&self, key: u64) -> bool {
        let Some((accesses, _)) = self.case.admission else {
            return true;
        };
        let missed = self.missed.iter().find(|(other, _)| *other == key);
        missed.map_or(0, |(_, count)| *count) + 1 >= accesses
    }

    /// A line misses; whether it is admitted.
    pub fn admits(&mut self, key: u64) -> bool {
        let Some((_, remembered)) = self.case.admission else {
            return true;
        };
        let is_admitted = self.would_admit(key);
        let at = self.missed.iter().position(|(other, _)| *other == key);
        let before = at.map_or(0, |at| self.missed.remove(at).1);
        if !is_admitted {
            self.met.insert("a line that is not admitted");
            self.missed.insert(0, (key, before + 1));
            self.missed.truncate(remembered);
        }
        is_admitted
    }
}

//! The twin: the host, the queues, and who is at work. Instants and times are ns.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use diskwright::engine::request::Op;

use super::adaptive::Modes;
use super::cleaning::Cleaning;
use super::log::Log;
use super::logged::Effects;
use super::specs::{Adaptive, ArmSpec, Case, Choice};
use crate::hdd_twin::cached::{Cached as _, CachedDrive};
use crate::hdd_twin::front::Front;
use crate::hdd_twin::medium::Medium;
use crate::hdd_twin::queue::{Next, Queue, View, Waiting};
use crate::hdd_twin::seeks::Arm;
use crate::support::twins::Asked;

/// An arm: where it is, whether it is at work, and the first part of what it serves.
pub struct State<'a> {
    pub spec: &'a ArmSpec,
    pub medium: Medium<'a>,
    pub at: Arm,
    pub is_busy: bool,
    serves: Option<usize>,
    pub effects: Effects,
}

/// Arms that serve the same requests, by their numbers, and what waits for them.
pub struct Group {
    pub arms: Vec<usize>,
    pub queue: Queue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// An arm has served requests, as one, or its group's shares in them.
    Served {
        arm: usize,
        parts: Vec<usize>,
    },
    /// Of a flush or a trim.
    Passed(usize),
    /// Of a request that the cache serves.
    FromCache(usize),
    /// An arm has read for another one's write.
    Helped(usize),
    /// An arm has moved to an edge.
    Travelled(usize),
    /// The cleaner has read a track, or moved what was in a slot.
    Loaded(usize),
    Moved {
        arm: usize,
        from: usize,
    },
    /// The drive may have been idle for long enough to clean.
    Idle,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    pub front: Front<'a>,
    pub arms: Vec<State<'a>>,
    pub groups: Vec<Group>,
    intake: VecDeque<usize>,
    /// Whether a request has got a slot in this instant.
    has_admitted: bool,
    /// What ends when, in the order in which that was foreseen.
    pub ends: Vec<(u64, End)>,
    pub last_was_write: bool,
    /// Of each request the shares that are not done; none before it has a slot.
    pub shares: Vec<u64>,
    pub log: Option<Log>,
    /// What the request that is being worked out leaves to be noted, and arms that read for it, until when.
    pub effects: Effects,
    pub helpers: Vec<(usize, u64)>,
    /// The group whose next request waits for an arm at work, and that, by its first part.
    waits_for_arm: Option<(usize, usize)>,
    pub cleaning: Cleaning,
    modes: Option<Modes>,
    /// When the last request was complete.
    pub ended: u64,
    /// Counters, by the names of the results, and rules that were met; none is 0.
    pub counts: BTreeMap<&'static str, u64>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        let arms = case.arms.iter().map(|spec| State {
            spec,
            medium: Medium::seen_from(&case.disk, spec.angle),
            at: Arm {
                cylinder: spec.start,
                head: spec.surfaces.0,
            },
            is_busy: false,
            serves: None,
            effects: Effects::default(),
        });
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (number, arm) in case.arms.iter().enumerate() {
            let is_its =
                |group: &&mut Vec<usize>| !case.is_independent || case.arms[group[0]].is_like(arm);
            match groups.iter_mut().find(is_its) {
                Some(group) => group.push(number),
                None => groups.push(vec![number]),
            }
        }
        let groups = groups.into_iter().map(|arms| Group {
            arms,
            queue: Queue::new(case.disk.scheduler),
        });
        let requests = case.disk.requests.len();
        let arms: Vec<State<'_>> = arms.collect();
        Model {
            case,
            now: 0,
            front: Front::new(&case.disk),
            log: case.log.map(|log| Log::new(log, &arms[0].medium)),
            effects: Effects::default(),
            helpers: Vec::new(),
            waits_for_arm: None,
            cleaning: Cleaning::default(),
            modes: match case.choice {
                Choice::Adaptive(adaptive) => Some(Modes::new(adaptive)),
                _ => None,
            },
            ended: 0,
            arms,
            groups: groups.collect(),
            intake: VecDeque::new(),
            has_admitted: false,
            ends: Vec::new(),
            last_was_write: false,
            shares: vec![0; requests],
            counts: BTreeMap::new(),
        }
    }

    pub fn count(&mut self, name: &'static str, by: u64) {
        if by > 0 {
            *self.counts.entry(name).or_default() += by;
        }
    }

    /// The present choice of arms.
    pub fn choice(&self) -> Choice {
        match (self.case.choice, &self.modes) {
            (Choice::Adaptive(Adaptive { reads, writes, .. }), Some(modes)) if modes.is_log => {
                Choice::Split { reads, writes }
            }
            (Choice::Adaptive(_), _) => Choice::Soonest,
            (other, _) => other,
        }
    }

    /// Whether blocks that have a slot stay there.
    pub fn is_in_place(&self) -> bool {
        self.modes.as_ref().is_some_and(|modes| !modes.is_log)
    }

    pub fn met(&mut self, rule: &'static str) {
        self.count(rule, 1);
    }

    /// The controller's time before a command.
    pub fn before(&self, write: bool) -> u64 {
        let overhead = &self.case.disk.drive.overhead;
        overhead.before(write, self.last_was_write)
    }

    /// Runs until every request is complete or nothing happens any more.
    pub fn run(&mut self) {
        self.write_initially();
        self.awaits_first_cleaning();
        // A closed load has begun when time zero begins.
        if self.case.disk.users.is_some() {
            self.take_in();
            if self.has_admitted {
                self.dispatch();
            }
        }
        loop {
            self.has_admitted = false;
            let ends = std::mem::take(&mut self.ends).into_iter();
            let (due, later): (Vec<_>, Vec<_>) = ends.partition(|(at, _)| *at == self.now);
            self.ends = later;
            let is_of_disk = |(_, end): &(u64, End)| !matches!(end, End::FromCache(_));
            let has_ended = due.iter().any(is_of_disk);
            due.into_iter().for_each(|(_, end)| self.end(end));
            self.take_in();
            if self.has_admitted || has_ended {
                self.dispatch();
            }
            let arrival = self.front.next_arrival();
            let ends = self.ends.iter().map(|(at, _)| *at);
            match ends.chain(arrival).min() {
                Some(instant) => self.now = instant,
                None => break,
            }
        }
        let promotions = self.groups.iter().map(|group| group.queue.promotions);
        self.count("promotions", promotions.sum());
        let switches = self.modes.as_ref().map_or(0, |modes| modes.switches);
        self.count("arm_mode_switches", switches);
        self.count("dirty_blocks", self.front.dirty_blocks());
    }

    /// What the host issues now arrives, who made what has ended hears of that, and requests get slots as far as there are some.
    fn take_in(&mut self) {
        self.front.issue(self.now);
        self.deliver();
        self.admit_waiting();
    }

    /// Gives free slots to requests that have none.
    fn admit_waiting(&mut self) {
        while self.taken_slots() < self.case.disk.depth
            && let Some(request) = self.intake.pop_front()
        {
            self.admit(request);
            self.has_admitted = true;
        }
    }

    fn end(&mut self, end: End) {
        let arm = match end {
            End::Served { arm, .. } | End::Moved { arm, .. } => Some(arm),
            End::Helped(arm) | End::Loaded(arm) | End::Travelled(arm) => Some(arm),
            End::Passed(_) | End::FromCache(_) | End::Idle => None,
        };
        if let Some(arm) = arm {
            (self.arms[arm].is_busy, self.arms[arm].serves) = (false, None);
        }
        match end {
            End::Served { arm, parts } => {
                self.commit(arm);
                for part in parts {
                    self.shares[part] -= 1;
                    if self.shares[part] == 0 {
                        self.ended = self.now;
                        self.complete(part);
                        self.cleaning.is_stuck = false;
                    }
                }
            }
            End::Passed(request) => {
                let Asked {
                    op, lbn, blocks, ..
                } = self.asked(request);
                if op == Op::Trim {
                    self.trim(lbn, lbn + blocks);
                }
                self.ended = self.now;
                self.complete(request);
            }
            End::FromCache(request) => self.complete(request),
            End::Helped(_) | End::Travelled(_) => {}
            End::Loaded(_) => self.loaded(),
            End::Moved { arm, from } => self.moved(arm, from),
            End::Idle => self.cleaning.alarm = None,
        }
        if let Some(arm) = arm {
            self.let_go(arm);
        }
    }

    /// Arms at rest begin what waits, and then the cleaner.
    fn dispatch(&mut self) {
        loop {
            let waited = self.waits_for_arm;
            for group in 0..self.groups.len() {
                while self.may_begin(group) && self.begin(group) {}
            }
            // Groups that gave way to one that waited for an arm can begin once it has that.
            if waited.is_some() && self.waits_for_arm.is_none() {
                continue;
            }
            let gave_way = self.log.is_some() && self.cleans_first();
            self.clean();
            // Requests that gave way to the cleaner have what it leaves.
            if !gave_way {
                return;
            }
        }
    }

    /// A request gets a slot, and waits for all groups of arms that have a share in it.
    fn admit(&mut self, request: usize) {
        let Asked {
            op,
            fua,
            lbn,
            blocks,
            ..
        } = self.asked(request);
        let join = self.case.disk.clustering.map(|clustering| clustering.join);
        for group in 0..self.groups.len() {
            let Some(first) = self.first_of(group, op, lbn..lbn + blocks) else {
                continue;
            };
            let new = Waiting {
                parts: vec![request],
                since: self.now,
                op,
                fua,
                lbn,
                blocks,
                cylinder: self.arms[0].medium.place(first).cylinder,
            };
            for met in self.groups[group].queue.enter(new, join) {
                self.count(met, 1);
            }
            self.shares[request] += 1;
        }
        if self.shares[request] > 1 {
            self.count("a request of which several arms have a share", 1);
        }
    }

    /// The first of some blocks that the arms of a group serve, of one of several groups; else just the first.
    fn first_of(&self, group: usize, op: Op, mut blocks: std::ops::Range<u64>) -> Option<u64> {
        if self.groups.len() == 1 {
            return Some(blocks.start);
        }
        if self.log.is_some() {
            let can = |&arm: &usize| self.arms[arm].spec.can(op);
            return self.groups[group]
                .arms
                .iter()
                .any(can)
                .then_some(blocks.start);
        }
        let arm = &self.arms[self.groups[group].arms[0]];
        blocks.find(|&block| arm.spec.can(op) && arm.spec.reaches(arm.medium.place(block)))
    }

    /// The arms of a group that are at rest; none where arms move one at a time and one does.
    pub fn idle(&self, group: usize) -> Vec<usize> {
        let is_idle = |&arm: &usize| !self.arms[arm].is_busy;
        if !self.case.is_independent && !(0..self.arms.len()).all(|arm| is_idle(&arm)) {
            return Vec::new();
        }
        let arms = self.groups[group].arms.iter().copied();
        arms.filter(is_idle).collect()
    }

    fn may_begin(&self, group: usize) -> bool {
        !self.groups[group].queue.waiting.is_empty() && !self.idle(group).is_empty()
    }

    /// Where the first of a waiting request is on the medium that its arms reach; nowhere in a log that has none of it, where a write goes to
    /// the next place.
    fn first_on_medium(
        &self,
        group: usize,
        waiting: &Waiting,
        next_write: Option<u64>,
    ) -> Option<u64> {
        match (&self.log, waiting.is_write() && !self.is_in_place()) {
            (Some(_), true) => next_write,
            (Some(_), false) => self.place_now(waiting),
            (None, _) => self.first_of(group, waiting.op, waiting.lbn..waiting.end()),
        }
    }

    /// An arm of a group is free, and something waits for it: whether that begins.
    fn begin(&mut self, group: usize) -> bool {
        let gives_way = |(other, _): (usize, usize)| other != group;
        if self.log.is_some() && (self.cleans_first() || self.waits_for_arm.is_some_and(gives_way))
        {
            return false;
        }
        // While a queue chooses, it asks about arms.
        let of_none = Queue::new(self.case.disk.scheduler);
        let mut queue = std::mem::replace(&mut self.groups[group].queue, of_none);
        let waits = self.waits_for_arm.and_then(|(_, first)| {
            let mut waiting = queue.waiting.iter();
            waiting.position(|waiting| waiting.parts[0] == first)
        });
        let next_write = self.next_write(group);
        // What waits for an arm keeps the place that it had when it was chosen.
        if self.log.is_some() && waits.is_none() {
            for waiting in &mut queue.waiting {
                let first = self.first_on_medium(group, waiting, next_write);
                let medium = &self.arms[0].medium;
                waiting.cylinder = first.map_or(0, |first| medium.place(first).cylinder);
            }
        }
        let idle = self.idle(group);
        let before = [self.before(false), self.before(true)];
        let positioning = |waiting: &Waiting| {
            let start = self.now + before[usize::from(waiting.is_write())];
            let Some(block) = self.first_on_medium(group, waiting, next_write) else {
                return 0;
            };
            let serving = idle.iter().filter_map(|&arm| {
                let State {
                    spec, medium, at, ..
                } = &self.arms[arm];
                let may = spec.can(waiting.op) && spec.reaches(medium.place(block));
                may.then(|| medium.positioning(*at, start, block, waiting.is_write()))
            });
            serving.min().expect("an arm serves every place")
        };
        // The place from which elevators go is that of the first arm that could be next.
        let view = View {
            now: self.now,
            cylinder: self.arms[idle[0]].at.cylinder,
            edges: self.arms[idle[0]].spec.cylinders,
            cylinders: self.case.disk.drive.layout.cylinders,
            blocks: self.arms[0].medium.blocks(),
            positioning: &positioning,
        };
        let next = waits.map_or_else(|| queue.next(&view), Next::Serve);
        let place = match next {
            Next::Serve(place) => place,
            Next::Travel(to) => {
                self.groups[group].queue = queue;
                self.travel(idle[0], to);
                return true;
            }
        };
        let next = &queue.waiting[place];
        let waits_for = match self.log {
            Some(_) if self.lacks_reader(group, next) => Some("a write that waits for a reader"),
            Some(_) if self.is_being_placed(next) => Some("a write of what is written first"),
            Some(_) if self.lacks_room(next) => Some("a write for which no slot is free yet"),
            _ => None,
        };
        self.waits_for_arm = waits_for.map(|_| (group, next.parts[0]));
        if let Some(rule) = waits_for {
            self.groups[group].queue = queue;
            self.met(rule);
            return false;
        }
        let waiting = queue.take(place);
        self.groups[group].queue = queue;
        self.count("merged_requests", waiting.parts.len() as u64 - 1);
        let (arm, end) = self.serve(group, &waiting);
        self.last_was_write = waiting.is_write();
        let now = self.now;
        if let Some(modes) = &mut self.modes {
            modes.served(waiting.is_write(), end - now);
        }
        self.arms[arm].effects = std::mem::take(&mut self.effects);
        self.arms[arm].is_busy = true;
        self.arms[arm].serves = Some(waiting.parts[0]);
        let parts = waiting.parts;
        self.ends.push((end, End::Served { arm, parts }));
        for (helper, until) in std::mem::take(&mut self.helpers) {
            self.arms[helper].is_busy = true;
            self.ends.push((until, End::Helped(helper)));
        }
        self.cleaning.has_turn = true;
        true
    }

    /// An arm moves to a cylinder, without a request.
    fn travel(&mut self, arm: usize, to: u64) {
        let State { at, is_busy, .. } = &mut self.arms[arm];
        let distance = to.abs_diff(at.cylinder);
        (at.cylinder, *is_busy) = (to, true);
        let end = self.now + self.case.disk.drive.travel(distance);
        self.ends.push((end, End::Travelled(arm)));
        self.count("travels", 1);
        self.count("travel_cylinders", distance);
    }

    /// Writes the first logical blocks, one after the other from time zero on, which begins anew when they are written.
    fn write_initially(&mut self) {
        let Some(log) = &self.log else {
            return;
        };
        let per_slot = log.per_slot;
        let mut groups = self.groups.iter();
        let writes = |group: &Group| group.arms.iter().any(|&arm| self.arms[arm].spec.writes);
        let group = groups.position(writes).expect("an arm writes");
        for block in 0..log.spec.initial.min(log.blocks) {
            let waiting = Waiting {
                parts: Vec::new(),
                since: 0,
                op: Op::Write,
                fua: false,
                lbn: block * per_slot,
                blocks: per_slot,
                cylinder: 0,
            };
            (_, self.now) = self.serve(group, &waiting);
            let effects = std::mem::take(&mut self.effects);
            for taken in effects.taken {
                let log = self.log_mut();
                if let Some(before) = log.commit(taken) {
                    self.release(before);
                }
            }
        }
        self.now = 0;
        self.counts.clear();
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

    /// Requests that are one in some queue, and of which none is the first part of another, have one together.
    fn taken_slots(&self) -> u64 {
        let taken = match self.case.disk.shares_slots() {
            false => self.shares.iter().filter(|&&shares| shares > 0).count(),
            true => {
                let waiting = self.groups.iter().flat_map(|group| &group.queue.waiting);
                let waiting = waiting.map(|waiting| waiting.parts[0]);
                let served = self.arms.iter().filter_map(|arm| arm.serves);
                waiting.chain(served).collect::<BTreeSet<usize>>().len()
            }
        };
        taken as u64
    }

    /// A request comes to the drive's queue. A flush or a trim needs no slot.
    fn comes_to_disk(&mut self, request: usize) {
        match self.asked(request).op {
            Op::Read | Op::Write => {
                self.shares.resize(self.front.requests.len(), 0);
                self.intake.push_back(request);
                self.admit_waiting();
            }
            _ => {
                let end = self.now + self.before(true);
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

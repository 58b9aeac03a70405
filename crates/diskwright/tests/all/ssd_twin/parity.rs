//! Drives with parity over their dies: superblocks, their pages, and their cleaning.

use super::blocks::{Place, State, worth_most};
use super::model::Model;
use super::operations::{Running, Step, Work};
use super::specs::Drive;

/// A superblock that is written: the number of its blocks, and of its next page with data.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    pub block: usize,
    pub next: usize,
}

/// Units with their places.
type Units = Vec<(usize, Place)>;

/// A page of a plane's block.
pub type Target = (usize, usize, usize);

/// Something that waits for a worker, or is done by it.
#[derive(Clone, Debug)]
pub enum Task {
    /// A page of entries.
    Page {
        page: usize,
        to: Target,
    },
    Parity {
        to: Target,
    },
    /// A page of the superblock that is cleaned is read, for so many units; `number` counts these.
    MoveRead {
        number: usize,
        at: Target,
        units: usize,
    },
    MoveWrite {
        moved: Units,
        to: Target,
    },
    Erase {
        block: usize,
        plane: usize,
    },
}

impl Task {
    pub fn plane(&self) -> usize {
        match self {
            Task::Page { to, .. } | Task::Parity { to } | Task::MoveWrite { to, .. } => to.0,
            Task::MoveRead { at, .. } => at.0,
            Task::Erase { plane, .. } => *plane,
        }
    }
}

/// A superblock that is cleaned.
#[derive(Debug, Default)]
pub struct Job {
    pub block: usize,
    /// Its first page with data that has not been looked at.
    next: usize,
    /// Reads in the order of their pages: their numbers, and what they have found when they are over.
    reads: Vec<(usize, Option<Units>)>,
    read_so_far: usize,
    ready: Units,
    writes: usize,
    erases: usize,
}

/// Planes that are written and cleaned together.
#[derive(Debug, Default)]
pub struct Set {
    pub planes: Vec<usize>,
    /// Pages of entries that have no place.
    pub waiting: Vec<usize>,
    /// Units of pages that have not been programmed.
    pub expected: usize,
    host: Option<Open>,
    cleaning: Option<Open>,
    job: Option<Job>,
    /// Superblocks that are written, and pages of each that have not been programmed.
    left: Vec<(usize, usize)>,
}

impl Drive {
    /// Pages with data of a superblock.
    fn data_pages(&self, width: usize) -> usize {
        self.pages * (width - 1)
    }

    /// The sets of planes.
    pub fn sets(&self) -> Vec<Set> {
        let Some(width) = self.parity else {
            return Vec::new();
        };
        let planes: Vec<usize> = (0..self.planes()).map(|i| self.plane_at(i)).collect();
        let set = |planes: &[usize]| Set {
            planes: planes.to_vec(),
            ..Set::default()
        };
        planes.chunks(width).map(set).collect()
    }

    /// Units that a set with so many superblocks may hold.
    pub fn limit_of_set(&self, usable: usize, width: usize) -> usize {
        let data = usable.saturating_sub(self.kept());
        (data * ((self.data_pages(width) - 1) * self.units + 1)).saturating_sub(1)
    }
}

impl Model<'_> {
    fn width(&self) -> usize {
        self.drive().parity.expect("a drive with parity")
    }

    fn set_of(&self, plane: usize) -> usize {
        let mut sets = self.sets.iter();
        let found = sets.position(|set| set.planes.contains(&plane));
        found.expect("every plane is in a set")
    }

    /// The plane of the set with the parity of a stripe.
    fn parity_plane(&self, stripe: usize) -> usize {
        self.width() - 1 - stripe % self.width()
    }

    /// Where a page with data of a superblock is.
    fn data_page(&self, set: usize, block: usize, page: usize) -> Target {
        let (stripe, mut place) = (page / (self.width() - 1), page % (self.width() - 1));
        if place >= self.parity_plane(stripe) {
            place += 1;
        }
        (self.sets[set].planes[place], block, stripe)
    }

    fn free_of_set(&self, set: usize) -> usize {
        self.planes[self.sets[set].planes[0]].free()
    }

    fn set_has_room(&self, set: usize) -> bool {
        let its = &self.sets[set];
        let valid: usize = its
            .planes
            .iter()
            .map(|&plane| self.planes[plane].valid())
            .sum();
        let usable = self.planes[its.planes[0]].usable();
        valid + its.expected < self.drive().limit_of_set(usable, self.width())
    }

    fn set_with_room(&self) -> Option<usize> {
        let count = self.sets.len();
        let in_turn = (0..count).map(|step| (self.turn_of_sets + step) % count);
        { in_turn }.find(|&set| self.set_has_room(set))
    }

    /// The set of the next page.
    fn next_set(&mut self) -> usize {
        let set = self.set_with_room().unwrap_or(self.turn_of_sets);
        self.turn_of_sets = (set + 1) % self.sets.len();
        set
    }

    pub fn page_to_set(&mut self, page: usize) {
        let set = self.next_set();
        self.join_set(page, set);
        self.let_in(set);
    }

    fn join_set(&mut self, page: usize, set: usize) {
        self.sets[set].expected += self.pages[page].entries.len();
        self.sets[set].waiting.push(page);
    }

    /// All sets are looked at, the lowest first.
    pub fn let_all_in(&mut self) {
        (0..self.sets.len()).for_each(|set| self.let_in(set));
    }

    fn let_in(&mut self, set: usize) {
        while let Some(&page) = self.sets[set].waiting.first() {
            if self.set_may_be_written(set) {
                self.sets[set].waiting.remove(0);
                self.gets_place(page, set);
                continue;
            }
            let other = self
                .set_with_room()
                .filter(|&other| other != set && self.sets[set].job.is_none());
            let Some(other) = other else { return };
            self.sets[set].waiting.remove(0);
            self.sets[set].expected -= self.pages[page].entries.len();
            self.turn_of_sets = (other + 1) % self.sets.len();
            self.join_set(page, other);
            if self.sets[other].waiting == [page] && self.set_may_be_written(other) {
                self.sets[other].waiting.clear();
                self.gets_place(page, other);
            }
        }
    }

    /// Whether the host may write the next page of a set. Otherwise it is cleaned from now on, if it can be.
    fn set_may_be_written(&mut self, set: usize) -> bool {
        if self.sets[set].host.is_some() {
            return true;
        }
        let has_more = self.free_of_set(set) >= 2;
        if has_more && self.free_of_set(set) >= self.drive().stop {
            return true;
        }
        self.set_wants_cleaning(set);
        self.sets[set].job.is_none() && has_more
    }

    fn gets_place(&mut self, page: usize, set: usize) {
        let (to, parity) = self.next_of_set(set, false);
        let worker = self.drive().worker_of(to.0);
        self.workers[worker].tasks.push(Task::Page { page, to });
        if let Some(to) = parity {
            let worker = self.drive().worker_of(to.0);
            self.workers[worker].tasks.push(Task::Parity { to });
        }
        if self.free_of_set(set) < self.drive().begin {
            self.set_wants_cleaning(set);
        }
    }

    /// The next page of the host or of cleaning, and the parity that becomes due with it.
    fn next_of_set(&mut self, set: usize, cleans: bool) -> (Target, Option<Target>) {
        let (width, levelling) = (self.width(), self.drive().levelling);
        let its = &self.sets[set];
        let open = if cleans { its.cleaning } else { its.host };
        let open = open.unwrap_or_else(|| {
            let first = &self.planes[its.planes[0]];
            let block = first.next_free(levelling).expect("a free superblock");
            Open { block, next: 0 }
        });
        if open.next == 0 {
            for plane in self.sets[set].planes.clone() {
                self.planes[plane].blocks[open.block].state = State::Open;
            }
            let all = self.drive().pages * width;
            self.sets[set].left.push((open.block, all));
        }
        let to = self.data_page(set, open.block, open.next);
        let next = Open {
            next: open.next + 1,
            ..open
        };
        let still = (next.next < self.drive().data_pages(width)).then_some(next);
        match cleans {
            true => self.sets[set].cleaning = still,
            false => self.sets[set].host = still,
        }
        self.opens(to);
        let is_last_of_stripe = next.next.is_multiple_of(width - 1);
        let parity = is_last_of_stripe.then(|| {
            let plane = self.sets[set].planes[self.parity_plane(to.2)];
            (plane, to.1, to.2)
        });
        if let Some(parity) = parity {
            self.opens(parity);
        }
        (to, parity)
    }

    fn opens(&mut self, (plane, block, page): Target) {
        if page == 0 {
            self.planes[plane].blocks[block].opened = Some(self.now);
        }
    }

    /// A page of a superblock is on flash.
    fn is_programmed(&mut self, (plane, block, _): Target) {
        let set = self.set_of(plane);
        let mut left = self.sets[set].left.iter_mut();
        let (_, left) = { &mut left }
            .find(|(open, _)| *open == block)
            .expect("it is written");
        *left -= 1;
        if *left > 0 {
            return;
        }
        self.sets[set].left.retain(|&(open, _)| open != block);
        for plane in self.sets[set].planes.clone() {
            self.planes[plane].blocks[block].state = State::Sealed(self.sealed);
            self.sealed += 1;
        }
    }

    /// The superblock that is cleaned next.
    fn superblock_to_clean(&self, set: usize) -> Option<usize> {
        let drive = self.drive();
        let planes = &self.sets[set].planes;
        let superblocks = (0..drive.blocks).map(|block| {
            let members = planes
                .iter()
                .map(|&plane| &self.planes[plane].blocks[block]);
            let valid = members.map(|block| block.valid()).sum();
            (self.planes[planes[0]].blocks[block].state, valid)
        });
        worth_most(
            drive,
            self.sealed,
            drive.data_pages(self.width()),
            superblocks,
        )
    }

    fn set_wants_cleaning(&mut self, set: usize) {
        if self.sets[set].job.is_some() {
            return;
        }
        let Some(block) = self.superblock_to_clean(set) else {
            return;
        };
        let planes = self.sets[set].planes.iter();
        let valid = planes
            .map(|&plane| self.planes[plane].blocks[block].valid())
            .sum();
        let pages = self.drive().data_pages(self.width());
        self.delays_writes(valid, pages * self.drive().units);
        for plane in self.sets[set].planes.clone() {
            // It is no candidate any more.
            self.planes[plane].blocks[block].state = State::Open;
        }
        self.sets[set].job = Some(Job {
            block,
            ..Job::default()
        });
        self.goes_on_cleaning(set);
    }

    /// Valid units of a page, with their places.
    pub fn valid_of_page(&self, (plane, block, page): Target) -> Units {
        let slots = self.planes[plane].blocks[block].slots[page]
            .iter()
            .enumerate();
        let found = slots.filter_map(|(slot, unit)| {
            let place = Place {
                plane,
                block,
                page,
                slot,
            };
            Some(((*unit)?, place))
        });
        found.collect()
    }

    fn goes_on_cleaning(&mut self, set: usize) {
        loop {
            let (width, units) = (self.width(), self.drive().units);
            let pages = self.drive().data_pages(width);
            let job = self.sets[set].job.as_ref().expect("it is being cleaned");
            if job.erases > 0 {
                return;
            }
            let block = job.block;
            let next = (job.next..pages)
                .map(|page| (page, self.data_page(set, block, page)))
                .find(|(_, at)| !self.valid_of_page(*at).is_empty());
            let is_all_read = next.is_none() && job.reads.is_empty();
            if job.ready.len() >= units || is_all_read && !job.ready.is_empty() {
                let most = job.ready.len().min(units);
                let job = self.sets[set].job.as_mut().expect("it is being cleaned");
                let moved = job.ready.drain(..most).collect();
                job.writes += 1;
                let (to, parity) = self.next_of_set(set, true);
                self.queue_striped(Task::MoveWrite { moved, to });
                if let Some(to) = parity {
                    self.queue_striped(Task::Parity { to });
                }
                continue;
            }
            if let Some((page, at)) = next {
                if job.reads.len() + job.writes >= width {
                    return;
                }
                let units = self.valid_of_page(at).len();
                let job = self.sets[set].job.as_mut().expect("it is being cleaned");
                let number = job.read_so_far;
                job.read_so_far += 1;
                job.next = page + 1;
                job.reads.push((number, None));
                self.queue_striped(Task::MoveRead { number, at, units });
                continue;
            }
            if !is_all_read || job.writes > 0 {
                return;
            }
            let job = self.sets[set].job.as_mut().expect("it is being cleaned");
            job.erases = width;
            for plane in self.sets[set].planes.clone() {
                self.queue_striped(Task::Erase { block, plane });
            }
            return;
        }
    }

    /// Something waits in the queue of cleaning of its worker.
    fn queue_striped(&mut self, task: Task) {
        let worker = self.drive().worker_of(task.plane());
        self.workers[worker].cleaning_tasks.push(task);
    }

    /// An idle worker begins an operation, if it has one.
    pub fn begin_striped(&mut self, worker: usize) -> bool {
        if self.workers[worker].suspended.is_some() {
            return self.begin_read(worker);
        }
        let its = &self.workers[worker];
        let is_waited_for = !its.reads.is_empty()
            || !its.tasks.is_empty()
            || self.sets.iter().any(|set| !set.waiting.is_empty());
        let may_clean = self.drive().background || is_waited_for;
        let cleaning = its.cleaning_tasks.first().filter(|_| may_clean);
        let urgent = cleaning.is_some_and(|task| {
            let free = self.free_of_set(self.set_of(task.plane()));
            let (begin, stop) = (self.drive().begin, self.drive().stop);
            free < begin.max(stop)
                && (!self.drive().throttled || free < stop || its.programs_since > free - stop)
        });
        let can_clean = cleaning.is_some();
        if urgent {
            return self.cleans_striped(worker);
        }
        self.begin_read(worker)
            || self.programs_striped(worker)
            || can_clean && self.cleans_striped(worker)
    }

    fn programs_striped(&mut self, worker: usize) -> bool {
        if self.workers[worker].tasks.is_empty() {
            return false;
        }
        let task = self.workers[worker].tasks.remove(0);
        if let Task::Page { page, .. } = task {
            self.workers[worker].programs_since += 1;
            self.host_pages += 1;
            for entry in self.pages[page].entries.clone() {
                self.entries[entry].has_begun = true;
            }
        }
        self.starts_task(worker, task);
        true
    }

    fn cleans_striped(&mut self, worker: usize) -> bool {
        let task = self.workers[worker].cleaning_tasks.remove(0);
        self.workers[worker].programs_since = 0;
        self.starts_task(worker, task);
        true
    }

    fn starts_task(&mut self, worker: usize, task: Task) {
        let steps: Vec<Step> = match &task {
            Task::Page { to, .. } | Task::Parity { to } | Task::MoveWrite { to, .. } => {
                self.steps_of_program(to.0, to.1, to.2)
            }
            Task::MoveRead { at, units, .. } => self.steps_of_move(*at, *units),
            Task::Erase { block, plane } => self.steps_of_erase(*plane, *block),
        };
        let erases = matches!(task, Task::Erase { .. });
        self.runs(
            worker,
            Running::new(Work::Striped { erases }, Vec::new(), steps),
        );
        let running = self.workers[worker].running.as_mut().expect("it begins");
        running.task = Some(task);
    }

    pub fn task_ends(&mut self, ended: Running) {
        match ended.task.expect("it does one") {
            Task::Page { page, to } => self.page_ends(page, to),
            Task::Parity { to } => {
                self.parity_pages += 1;
                self.is_programmed(to);
            }
            Task::MoveRead { number, at, .. } => {
                let found = self.valid_of_page(at);
                let set = self.set_of(at.0);
                let job = self.sets[set].job.as_mut().expect("it is being cleaned");
                let mut reads = job.reads.iter_mut();
                let read = { &mut reads }.find(|(other, _)| *other == number);
                read.expect("it was begun").1 = Some(found);
                while job.reads.first().is_some_and(|(_, found)| found.is_some()) {
                    let (_, found) = job.reads.remove(0);
                    job.ready.extend(found.unwrap_or_default());
                }
                self.goes_on_cleaning(set);
            }
            Task::MoveWrite { moved, to } => {
                self.moved_pages += 1;
                let (plane, block, page) = to;
                for (slot, (unit, from)) in moved.into_iter().enumerate() {
                    if self.map[unit] == Some(from) {
                        let place = Place {
                            plane,
                            block,
                            page,
                            slot,
                        };
                        self.put(unit, place);
                    }
                }
                self.is_programmed(to);
                let set = self.set_of(plane);
                let job = self.sets[set].job.as_mut().expect("it is being cleaned");
                job.writes -= 1;
                self.goes_on_cleaning(set);
            }
            Task::Erase { block, plane } => self.erase_ends(block, plane),
        }
    }

    fn page_ends(&mut self, page: usize, to: Target) {
        let set = self.set_of(to.0);
        let entries = self.pages[page].entries.clone();
        self.sets[set].expected -= entries.len();
        let units: Vec<usize> = entries
            .iter()
            .map(|&entry| self.entries[entry].unit)
            .collect();
        self.put_all(to, units);
        self.is_programmed(to);
        self.pages[page].is_over = true;
        for entry in entries {
            self.entry_is_over(entry);
        }
        self.enter();
    }

    fn erase_ends(&mut self, block: usize, plane: usize) {
        let set = self.set_of(plane);
        let job = self.sets[set].job.as_mut().expect("it is being cleaned");
        job.erases -= 1;
        if job.erases > 0 {
            return;
        }
        self.sets[set].job = None;
        for plane in self.sets[set].planes.clone() {
            self.freed += 1;
            let block = &mut self.planes[plane].blocks[block];
            block.state = State::Free;
            block.erases += 1;
            block.freed = self.freed;
        }
        if self.free_of_set(set) < self.drive().begin {
            self.set_wants_cleaning(set);
        }
    }

    /// Puts units on the next page in no time, before the run.
    pub fn put_in_set(&mut self, units: &[usize]) {
        let set = self.next_set();
        let (to, parity) = self.next_of_set(set, false);
        self.put_all(to, units.iter().copied());
        self.is_programmed(to);
        if let Some(parity) = parity {
            self.is_programmed(parity);
        }
    }
}

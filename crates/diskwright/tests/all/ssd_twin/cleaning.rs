//! Cleaning: when a plane is cleaned, and what an operation of it does.

use super::blocks::{Job, Place, State};
use super::model::Model;
use super::operations::{Running, Step, Work};
use super::workers::Writer;

impl Model<'_> {
    /// A plane is cleaned from now on, if it is not yet and something can be cleaned.
    pub fn wants_cleaning(&mut self, plane: usize) {
        if self.planes[plane].jobs.is_empty() {
            self.cleans_another(plane);
        }
    }

    /// One more block of a plane is cleaned, if any can be.
    fn cleans_another(&mut self, plane: usize) {
        let its = &mut self.planes[plane];
        let block = match its.may_retire() {
            true => Some(its.failed.remove(0)),
            false => its.choose_victim(&self.case.drive, self.sealed),
        };
        if let Some(block) = block {
            let its = &self.planes[plane].blocks[block];
            if matches!(its.state, State::Sealed(_)) && !its.is_slc {
                self.delays_writes(its.valid(), self.drive().pages * self.drive().units);
            }
            self.cleans(plane, block);
        }
    }

    /// Writes are delayed by what is moved for what is freed.
    pub fn delays_writes(&mut self, valid: usize, units: usize) {
        self.write_delay = self.drive().write_delay * valid as u64 / (units - valid) as u64;
    }

    /// A plane with too few free blocks is cleaned: a further block of it, if one has been opened or erased.
    pub fn cleans_if_needed(&mut self, plane: usize, has_changed: bool) {
        let (free, jobs) = (self.planes[plane].free(), self.planes[plane].jobs.len());
        let another = has_changed && jobs < self.drive().at_once && free > jobs;
        if free < self.drive().begin && (jobs == 0 || another) {
            self.cleans_another(plane);
        }
    }

    fn queue_cleaning(&mut self, plane: usize, block: usize) {
        let worker = self.drive().worker_of(plane);
        self.workers[worker].cleaning.push((plane, block));
    }

    /// Whether the host leaves the rest of a stream's block to cleaning that writes it, too.
    pub fn is_left_to_cleaning(&self, plane: usize, stream: usize) -> bool {
        let its = &self.planes[plane];
        let is_shared = !self.drive().separate && stream + 1 == self.drive().streams();
        is_shared && its.free() < its.jobs.len()
    }

    /// Whether the host may open a block of a plane, as far as cleaning is concerned.
    pub fn may_open(&self, plane: usize) -> bool {
        let its = &self.planes[plane];
        its.free() > its.jobs.len().max(1) + self.drive().reserve()
    }

    /// Whether the host may write a page of a stream on a plane.
    pub fn may_write(&self, plane: usize, stream: usize) -> bool {
        let its = &self.planes[plane];
        let can_clean = || {
            !its.jobs.is_empty()
                || its.may_retire()
                || its.choose_victim(self.drive(), self.sealed).is_some()
        };
        if self.writes_slc(plane) {
            return true;
        }
        let waits = self.drive().slc.is_some_and(|slc| slc.folds_when_full);
        if waits && its.in_slc() > 0 && can_clean() {
            return false;
        }
        if its.host[stream].is_some() {
            return !self.is_left_to_cleaning(plane, stream);
        }
        self.may_open(plane) && (its.free() >= self.drive().stop || !can_clean())
    }

    /// Whether the host's next page of a plane is in SLC mode.
    pub fn writes_slc(&self, plane: usize) -> bool {
        let (drive, its) = (self.drive(), &self.planes[plane]);
        if drive.slc.is_none() || its.slc.is_some() {
            return its.slc.is_some();
        }
        let has_free = self.may_open(plane) && its.free() >= drive.begin.max(drive.stop);
        has_free && its.in_slc() < its.slc_most(drive)
    }

    /// After an erase the block erased least may be moved.
    pub fn levels_wear(&mut self, plane: usize) {
        let Some((spread, every)) = self.drive().levelled_by else {
            return;
        };
        self.planes[plane].erases_since += 1;
        if self.planes[plane].erases_since < every || !self.may_clean_any(plane) {
            return;
        }
        let its = &self.planes[plane];
        if let Some(block) = its.erased_too_little(spread, |block| self.is_sealed(plane, block)) {
            self.planes[plane].erases_since = 0;
            self.levelled_blocks += 1;
            self.cleans_any(plane, block);
        }
    }

    /// Whether a block is native and sealed: with a map of blocks, whether it is a full data block.
    pub fn is_sealed(&self, plane: usize, block: usize) -> bool {
        if self.drive().log.is_some() {
            return self.is_full_data(plane, block);
        }
        let its = &self.planes[plane].blocks[block];
        matches!(its.state, State::Sealed(_)) && !its.is_slc
    }

    /// Whether any sealed block of a plane may be cleaned now, however much of it is valid.
    pub fn may_clean_any(&self, plane: usize) -> bool {
        match self.drive().log {
            Some(_) => self.may_relocate(plane),
            None => self.planes[plane].jobs.is_empty() && self.may_open(plane),
        }
    }

    /// Such a block is cleaned from now on.
    pub fn cleans_any(&mut self, plane: usize, block: usize) {
        match self.drive().log {
            Some(_) => self.relocates(plane, block),
            None => self.cleans(plane, block),
        }
    }

    /// A block is cleaned from now on.
    pub fn cleans(&mut self, plane: usize, block: usize) {
        self.planes[plane].jobs.push(Job {
            block,
            moved: Vec::new(),
        });
        self.queue_cleaning(plane, block);
    }

    /// Whether the drive has been idle for long enough to fold.
    fn is_idle_for_folds(&self) -> bool {
        let after = self.drive().slc.and_then(|slc| slc.fold_after);
        self.under_way == 0 && after.is_some_and(|after| self.now >= self.idle_since + after)
    }

    /// A plane of an idle drive goes on folding.
    pub fn folds_on(&mut self, plane: usize) {
        if self.is_idle_for_folds() && self.planes[plane].has_fold() {
            self.wants_cleaning(plane);
        }
    }

    /// Whether the drive has been idle for long enough to be cleaned, and up to how many free blocks.
    fn idle_cleaning(&self) -> Option<usize> {
        let (after, free) = self.drive().idle?;
        (self.under_way == 0 && self.now >= self.idle_since + after).then_some(free)
    }

    /// Planes of an idle drive are cleaned.
    pub fn cleans_when_idle(&mut self) {
        let Some(wanted) = self.idle_cleaning() else {
            return;
        };
        for plane in 0..self.planes.len() {
            if self.planes[plane].free() < wanted {
                self.wants_cleaning(plane);
            }
        }
    }

    fn has_valid(&self, plane: usize, block: usize) -> bool {
        !self.next_moved(plane, block, &[]).is_empty()
    }

    /// Which of a worker's operations of cleaning is next: none erases while another block of its plane that is cleaned has valid units.
    fn first_cleaned(&self, worker: usize) -> Option<usize> {
        let mut queue = self.workers[worker].cleaning.iter();
        queue.position(|&(plane, block)| {
            let mut jobs = self.planes[plane].jobs.iter();
            self.has_valid(plane, block) || !jobs.any(|job| self.has_valid(plane, job.block))
        })
    }

    /// Whether a worker cleans before anything else.
    pub fn is_urgent(&self, worker: usize) -> bool {
        let Some(first) = self.first_cleaned(worker) else {
            return false;
        };
        let (plane, _) = self.workers[worker].cleaning[first];
        let (drive, free) = (self.drive(), self.planes[plane].free());
        if free >= drive.begin.max(drive.stop) {
            return false;
        }
        !drive.throttled
            || free < drive.stop
            || self.workers[worker].programs_since > free - drive.stop
    }

    pub fn begin_cleaning(&mut self, worker: usize) -> bool {
        let Some(first) = self.first_cleaned(worker) else {
            return false;
        };
        let (plane, block) = self.workers[worker].cleaning[first];
        let work = Work::Clean { plane, block };
        if !self.has_valid(plane, block) {
            let steps = match self.planes[plane].blocks[block].state {
                State::Retiring => vec![Step::Channel(0)],
                _ => self.steps_of_erase(plane, block),
            };
            self.runs(worker, Running::new(work, Vec::new(), steps));
        } else if let Some((to, page)) = self.next_page(plane, Writer::Cleaning) {
            let mut moves = Running::new(work, Vec::new(), vec![Step::Gather]);
            moves.target = Some((plane, to, page));
            self.runs(worker, moves);
            self.cleans_if_needed(plane, page == 0);
        } else {
            self.can_only_be_read();
            return false;
        }
        self.workers[worker].cleaning.remove(first);
        self.workers[worker].programs_since = 0;
        true
    }

    /// The drive can only be read from now on.
    pub fn can_only_be_read(&mut self) {
        self.read_only_since.get_or_insert(self.now);
    }

    /// A block of a plane is lost: without another one in its place the drive can only be read.
    pub fn loses_block(&mut self, plane: usize) {
        let drive = self.drive();
        let mut groups = 0..drive.groups();
        let group = groups.find(|&group| drive.group_planes(group).contains(&plane));
        let planes = drive.group_planes(group.expect("every plane is in one"));
        let limits = planes.iter();
        let room: usize = limits
            .map(|&plane| drive.limit(self.planes[plane].usable()))
            .sum();
        let pages = (drive.host_units() + drive.map_units()).div_ceil(drive.units);
        let needed = pages.div_ceil(drive.groups()) * drive.units;
        let has_free = drive.failures.is_some() || self.planes[plane].free() > 0;
        if room < needed || !has_free {
            self.can_only_be_read();
        }
    }

    /// A block of a plane has been erased: with a cached map too often, without anything from outside, is for the map alone.
    fn erased_for_itself(&mut self, plane: usize) {
        let drive = self.drive();
        if drive.map_cache.is_none() {
            return;
        }
        let idle = drive.idle.map_or(0, |(_, free)| free);
        let wanted = [1 + drive.reserve(), drive.begin, drive.stop, idle];
        let wanted = wanted.into_iter().max().unwrap_or(0).min(drive.blocks);
        self.erases_for_itself[plane] += 1;
        if self.erases_for_itself[plane] > 2 * drive.pages * wanted + drive.blocks {
            self.can_only_be_read();
        }
    }

    /// A move has the channel: it takes the next page with something valid, or writes what it has.
    pub fn gather(&mut self, worker: usize) {
        let running = self.workers[worker].running.as_ref().expect("it moves");
        let (plane, block, to) = running.target.expect("it moves");
        let Work::Clean { block: victim, .. } = running.work else {
            unreachable!("it cleans");
        };
        let more = self.next_moved(plane, victim, &running.moved);
        let steps = match more.first() {
            None => self.steps_of_program(plane, block, to),
            Some((_, first)) if self.drive().copy_back && more.len() == self.drive().units => {
                self.steps_of_copy(*first, to)
            }
            Some((_, first)) => self.steps_of_reading_on(*first, more.len()),
        };
        let running = self.workers[worker].running.as_mut().expect("it moves");
        running.moved.extend(more);
        running.steps = steps;
    }

    /// What a move that has some units takes next: of the first page of its block with others that are valid, as many as fit its page.
    fn next_moved(
        &self,
        plane: usize,
        block: usize,
        has: &[(usize, Place)],
    ) -> Vec<(usize, Place)> {
        let missing = self.drive().units - has.len();
        for page in 0..self.drive().pages {
            let places = self.valid_of_page((plane, block, page)).into_iter();
            let new = places.filter(|(_, place)| has.iter().all(|(_, other)| other != place));
            let taken: Vec<(usize, Place)> = new.take(missing).collect();
            if !taken.is_empty() {
                return taken;
            }
        }
        Vec::new()
    }

    pub fn cleaning_ends(&mut self, (plane, victim): (usize, usize), ended: Running) {
        match ended.target {
            Some((_, to, page)) => self.move_ends((plane, victim), (to, page), &ended.moved),
            None => self.victim_erased(plane, victim),
        }
    }

    fn move_ends(
        &mut self,
        (plane, victim): (usize, usize),
        (to, page): (usize, usize),
        units: &[(usize, Place)],
    ) {
        if self.program_fails(plane, to, page) {
            self.block_fails(plane, to);
            self.queue_cleaning(plane, victim);
            return;
        }
        match self.planes[plane].blocks[victim].is_slc {
            true => self.folded_pages += 1,
            false => self.moved_pages += 1,
        }
        for (slot, &(unit, from)) in units.iter().enumerate() {
            // What has been written again has moved for nothing.
            if self.map[unit] == Some(from) {
                let place = Place {
                    plane,
                    block: to,
                    page,
                    slot,
                };
                self.put(unit, place);
                let mut jobs = self.planes[plane].jobs.iter_mut();
                let job = jobs.find(|job| job.block == victim);
                job.expect("it is being cleaned").moved.push(unit);
            }
        }
        self.seal_if_full(plane, to, page);
        self.program_ends((plane, to, page));
        self.page_programmed();
        self.queue_cleaning(plane, victim);
    }

    fn victim_erased(&mut self, plane: usize, victim: usize) {
        let jobs = &mut self.planes[plane].jobs;
        let place = jobs.iter().position(|job| job.block == victim);
        let job = jobs.remove(place.expect("it is being cleaned"));
        let fails = self.erase_fails(plane, victim);
        let is_retiring = self.planes[plane].blocks[victim].state == State::Retiring;
        let endurance = self.drive().endurance;
        let block = &mut self.planes[plane].blocks[victim];
        block.is_slc = false;
        block.erases += u64::from(!is_retiring);
        let is_worn = endurance.is_some_and(|most| block.erases >= most);
        if is_retiring || fails {
            block.state = State::Retired;
        } else if is_worn {
            block.state = State::Worn;
        } else {
            self.freed += 1;
            block.state = State::Free;
            block.begun = 0;
            block.ended.fill(None);
            block.freed = self.freed;
        }
        if !is_retiring && (fails || is_worn) {
            self.loses_block(plane);
        }
        self.changes_map(job.moved);
        if !is_retiring {
            self.erased_for_itself(plane);
            self.levels_wear(plane);
        }
        self.cleans_failed(plane);
        match self.idle_cleaning() {
            Some(wanted) if self.planes[plane].free() < wanted => self.wants_cleaning(plane),
            _ => self.cleans_if_needed(plane, true),
        }
        self.folds_on(plane);
    }
}

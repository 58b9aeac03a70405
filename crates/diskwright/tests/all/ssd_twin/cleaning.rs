//! Cleaning: when a plane is cleaned, and what an operation of it does.

use super::blocks::{Place, State};
use super::model::Model;
use super::operations::{Running, Step, Work};
use super::workers::Writer;

impl Model<'_> {
    /// A plane is cleaned from now on, if it is not yet and something can be cleaned.
    pub fn wants_cleaning(&mut self, plane: usize) {
        if self.planes[plane].victim.is_some() {
            return;
        }
        let its = &mut self.planes[plane];
        its.victim = match its.may_retire() {
            true => Some(its.failed.remove(0)),
            false => its.choose_victim(&self.case.drive, self.sealed),
        };
        if self.planes[plane].victim.is_some() {
            let worker = self.drive().worker_of(plane);
            self.queue_cleaning(worker, plane);
        }
    }

    fn queue_cleaning(&mut self, worker: usize, plane: usize) {
        self.workers[worker].cleaning.push(plane);
    }

    /// Whether the host leaves the rest of a block to cleaning that writes it, too.
    pub fn is_left_to_cleaning(&self, plane: usize) -> bool {
        let its = &self.planes[plane];
        !self.drive().separate && its.victim.is_some() && its.free() == 0
    }

    /// Whether the host may write a page of a plane.
    pub fn may_write(&self, plane: usize) -> bool {
        let its = &self.planes[plane];
        let can_clean = || {
            its.victim.is_some()
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
        if its.host.is_some() {
            return !self.is_left_to_cleaning(plane);
        }
        its.free() >= 2 + self.drive().reserve()
            && (its.free() >= self.drive().stop || !can_clean())
    }

    /// Whether the host's next page of a plane is in SLC mode.
    pub fn writes_slc(&self, plane: usize) -> bool {
        let (drive, its) = (self.drive(), &self.planes[plane]);
        if drive.slc.is_none() || its.slc.is_some() {
            return its.slc.is_some();
        }
        let least = drive.begin.max(drive.stop).max(2 + drive.reserve());
        its.free() >= least && its.in_slc() < its.slc_most(drive)
    }

    /// After an erase the block erased least may be moved.
    fn levels_wear(&mut self, plane: usize) {
        let Some((spread, every)) = self.drive().levelled_by else {
            return;
        };
        self.planes[plane].erases_since += 1;
        let its = &self.planes[plane];
        if its.erases_since < every || its.free() < 2 + self.drive().reserve() {
            return;
        }
        if let Some(block) = its.erased_too_little(spread) {
            self.planes[plane].erases_since = 0;
            self.levelled_blocks += 1;
            self.cleans(plane, block);
        }
    }

    /// A block is cleaned from now on.
    pub fn cleans(&mut self, plane: usize, block: usize) {
        self.planes[plane].victim = Some(block);
        let worker = self.drive().worker_of(plane);
        self.queue_cleaning(worker, plane);
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

    /// The plane of the first operation of cleaning in a worker's queue.
    fn first_cleaned(&self, worker: usize) -> Option<usize> {
        self.workers[worker].cleaning.first().copied()
    }

    /// Whether a worker cleans before anything else.
    pub fn is_urgent(&self, worker: usize) -> bool {
        let Some(plane) = self.first_cleaned(worker) else {
            return false;
        };
        let (drive, free) = (self.drive(), self.planes[plane].free());
        if free >= drive.begin.max(drive.stop) {
            return false;
        }
        !drive.throttled
            || free < drive.stop
            || self.workers[worker].programs_since > free - drive.stop
    }

    pub fn begin_cleaning(&mut self, worker: usize) -> bool {
        let Some(plane) = self.first_cleaned(worker) else {
            return false;
        };
        self.workers[worker].cleaning.remove(0);
        self.workers[worker].programs_since = 0;
        let victim = self.planes[plane].victim.expect("it is being cleaned");
        if self.next_moved(plane, victim, &[]).is_empty() {
            let steps = match self.planes[plane].blocks[victim].state {
                State::Retiring => vec![Step::Channel(0)],
                _ => self.steps_of_erase(plane, victim),
            };
            self.runs(worker, Work::Clean { plane }, Vec::new(), steps);
            return true;
        }
        let (block, page) = self.next_page(plane, Writer::Cleaning);
        self.runs(
            worker,
            Work::Clean { plane },
            Vec::new(),
            vec![Step::Gather],
        );
        let running = self.workers[worker].running.as_mut().expect("it begins");
        running.target = Some((plane, block, page));
        true
    }

    /// A move has the channel: it takes the next page with something valid, or writes what it has.
    pub fn gather(&mut self, worker: usize) {
        let running = self.workers[worker].running.as_ref().expect("it moves");
        let (plane, block, to) = running.target.expect("it moves");
        let victim = self.planes[plane].victim.expect("it is being cleaned");
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

    pub fn cleaning_ends(&mut self, worker: usize, plane: usize, ended: Running) {
        if let Some((_, to, page)) = ended.target {
            if self.program_fails(plane, to, page) {
                self.block_fails(plane, to);
                self.queue_cleaning(worker, plane);
                return;
            }
            let victim = self.planes[plane].victim.expect("it is being cleaned");
            match self.planes[plane].blocks[victim].is_slc {
                true => self.folded_pages += 1,
                false => self.moved_pages += 1,
            }
            for (slot, &(unit, from)) in ended.moved.iter().enumerate() {
                // What has been written again has moved for nothing.
                if self.map[unit] == Some(from) {
                    let place = Place {
                        plane,
                        block: to,
                        page,
                        slot,
                    };
                    self.put(unit, place);
                    self.planes[plane].moved.push(unit);
                }
            }
            self.seal_if_full(plane, to, page);
            self.queue_cleaning(worker, plane);
            return;
        }
        let victim = self.planes[plane]
            .victim
            .take()
            .expect("it is being cleaned");
        let fails = self.erase_fails(plane, victim);
        let is_retiring = self.planes[plane].blocks[victim].state == State::Retiring;
        let block = &mut self.planes[plane].blocks[victim];
        block.is_slc = false;
        block.erases += u64::from(!is_retiring);
        if is_retiring || fails {
            block.state = State::Retired;
        } else {
            self.freed += 1;
            block.state = State::Free;
            block.begun = 0;
            block.freed = self.freed;
        }
        self.changes_map(plane);
        if !is_retiring {
            self.levels_wear(plane);
        }
        self.cleans_failed(plane);
        if self.planes[plane].free() < self.drive().begin {
            self.wants_cleaning(plane);
        }
        self.folds_on(plane);
    }
}

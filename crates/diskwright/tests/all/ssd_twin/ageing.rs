//! Blocks that grow old, wear and are read: retries and refreshes.

use super::model::{Event, Model};

impl Model<'_> {
    fn age(&self, plane: usize, block: usize) -> u64 {
        let before = self.drive().retry.map_or(0, |retry| retry.initial_age);
        match self.planes[plane].blocks[block].opened {
            Some(at) => self.now - at,
            None => self.now + before,
        }
    }

    /// What retries add to a read of a block, which are counted.
    pub fn retried(&mut self, plane: usize, block: usize) -> u64 {
        let Some(retry) = self.drive().retry else {
            return 0;
        };
        let its = &self.planes[plane].blocks[block];
        if its.is_slc {
            return 0;
        }
        let by_wear = retry.erases.map_or(0, |step| its.erases / step);
        let by_age = retry.age.map_or(0, |step| self.age(plane, block) / step);
        let retries = retry.most.min(by_wear + by_age);
        self.retries += retries;
        retries * retry.time
    }

    /// A read of a block is over.
    pub fn was_read(&mut self, plane: usize, block: usize) {
        self.planes[plane].blocks[block].reads += 1;
        let its = &self.planes[plane].blocks[block];
        let most = self.drive().refresh.and_then(|refresh| refresh.reads);
        if most.is_some_and(|most| its.reads >= most) {
            self.refresh_if_it_can_be(plane, block);
        }
    }

    fn refresh_if_it_can_be(&mut self, plane: usize, block: usize) {
        let worker = &self.workers[self.drive().worker_of(plane)];
        let has_its_turn = (worker.programs.is_empty() || !worker.owes_program)
            && (worker.reads.is_empty() || !worker.owes_read);
        let can_be = self.is_sealed(plane, block) && self.may_clean_any(plane);
        let is_whole = self.drive().log.is_none() || !self.is_being_programmed(plane, block);
        if can_be && has_its_turn && is_whole {
            self.refreshed += 1;
            self.erases_for_itself.fill(0);
            let worker = self.drive().worker_of(plane);
            self.workers[worker].owes_program = true;
            self.workers[worker].owes_read = true;
            self.cleans_any(plane, block);
        }
    }

    pub fn foresees_patrol(&mut self) {
        if let Some(refresh) = self.drive().refresh
            && refresh.age.is_some()
        {
            self.later(refresh.period, Event::Patrol);
        }
    }

    /// Every plane looks for a block that is too old.
    pub fn patrols(&mut self) {
        let most = self.drive().refresh.and_then(|refresh| refresh.age);
        let most = most.expect("it patrols");
        for plane in 0..self.planes.len() {
            let blocks = 0..self.planes[plane].blocks.len();
            let sealed = blocks.filter(|&block| self.is_sealed(plane, block));
            // The first of the oldest ones.
            let oldest = sealed
                .map(|block| (self.age(plane, block), block))
                .rev()
                .max_by_key(|&(age, _)| age);
            if let Some((age, block)) = oldest
                && age > most
            {
                self.refresh_if_it_can_be(plane, block);
            }
        }
        self.foresees_patrol();
    }
}

//! Blocks, their runs, and their places.

use super::model::{Block, Model, Run, Use};

impl Model<'_> {
    /// Whether a block is in one run with the one before it.
    fn follows(&self, lbn: usize) -> bool {
        let (before, block) = (&self.blocks[lbn - 1], &self.blocks[lbn]);
        match (before.place, block.place) {
            (None, None) => true,
            (Some(before_at), Some(at)) => {
                at == before_at + 1 && before.given_by == block.given_by && !block.is_divided
            }
            _ => false,
        }
    }

    /// The runs of some blocks, in order.
    pub fn runs(&self, lbn: usize, end: usize) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for at in lbn..end {
            match runs.last_mut() {
                Some(run) if self.follows(at) => run.blocks += 1,
                _ => runs.push(Run {
                    lbn: at,
                    blocks: 1,
                    has_place: self.blocks[at].place.is_some(),
                }),
            }
        }
        runs
    }

    /// A request's first or last block divides the runs that they are in.
    pub fn divide_at(&mut self, lbn: usize, end: usize) {
        for at in [lbn, end] {
            if at < self.blocks.len() {
                self.blocks[at].is_divided = true;
            }
        }
    }

    /// The next places: those of the first free run that begins where the last ones ended or behind that, or else of the first one.
    fn take_places(&mut self, most: usize) -> (usize, usize) {
        let begins = |&at: &usize| self.free[at] && (at == 0 || !self.free[at - 1]);
        let starts: Vec<usize> = (0..self.free.len()).filter(begins).collect();
        let behind = starts.iter().find(|&&at| at >= self.next_place);
        let at = *behind.unwrap_or(&starts[0]);
        let mut taken = 0;
        while taken < most && at + taken < self.free.len() && self.free[at + taken] {
            self.free[at + taken] = false;
            taken += 1;
        }
        self.next_place = at + taken;
        (at, taken)
    }

    /// Gives places to blocks that have none, in one of the sets; `false`, and nothing changes, without room for all.
    pub fn hold(&mut self, lbn: usize, end: usize, is_pinned: bool) -> bool {
        let has_none = |block: &&Block| block.place.is_none();
        let missing = self.blocks[lbn..end].iter().filter(has_none).count();
        if missing > self.free.iter().filter(|&&free| free).count() {
            return false;
        }
        let given_by = self.next_tick();
        self.divide_at(lbn, end);
        let mut at = lbn;
        while at < end {
            if self.blocks[at].place.is_some() {
                self.blocks[at].is_pinned |= is_pinned;
                at += 1;
                continue;
            }
            let until = (at..end).find(|&at| self.blocks[at].place.is_some());
            let (place, blocks) = self.take_places(until.unwrap_or(end) - at);
            for number in 0..blocks {
                self.blocks[at + number] = Block {
                    place: Some(place + number),
                    given_by,
                    is_divided: number == 0,
                    is_pinned,
                    void_before: given_by,
                    ..Block::default()
                };
            }
            at += blocks;
        }
        true
    }

    /// A block leaves the sets; its place is free when no request to it is under way.
    pub fn give_up(&mut self, lbn: usize) {
        let Some(place) = self.blocks[lbn].place.take() else {
            return;
        };
        match self.place_users[place] {
            0 => self.free[place] = true,
            _ => {
                self.meets("a place in use is given up");
                self.is_given_up[place] = true;
            }
        }
    }

    pub fn begin_use(&mut self, lbn: usize, blocks: usize) -> Use {
        self.divide_at(lbn, lbn + blocks);
        let began = self.next_tick();
        let place = self.blocks[lbn].place.expect("a place");
        for at in 0..blocks {
            self.blocks[lbn + at].users += 1;
            self.place_users[place + at] += 1;
        }
        Use {
            lbn,
            blocks,
            place,
            given_by: self.blocks[lbn].given_by,
            began,
        }
    }

    pub fn end_use(&mut self, of: &Use, has_written: bool) {
        let now = self.next_tick();
        for number in 0..of.blocks {
            let place = of.place + number;
            self.place_users[place] -= 1;
            let block = &mut self.blocks[of.lbn + number];
            if block.place.is_some() && block.given_by == of.given_by {
                block.users -= 1;
                if has_written && of.began >= block.void_before {
                    (block.is_valid, block.written) = (true, now);
                } else if has_written {
                    self.meets("a write to the NV cache is void");
                }
            }
            if self.is_given_up[place] && self.place_users[place] == 0 {
                (self.is_given_up[place], self.free[place]) = (false, true);
            }
        }
    }

    /// The medium has newer data of these blocks.
    pub fn supersede(&mut self, lbn: usize, end: usize) {
        self.divide_at(lbn, end);
        let now = self.next_tick();
        for at in lbn..end {
            if self.blocks[at].place.is_none() {
                continue;
            }
            if self.blocks[at].is_pinned {
                (self.blocks[at].is_valid, self.blocks[at].void_before) = (false, now);
            } else {
                self.give_up(at);
            }
        }
    }
}

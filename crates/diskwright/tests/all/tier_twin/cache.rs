//! Lines and their places.

use super::model::{Held, Model, Part};

impl Held {
    pub fn is_dirty(&self) -> bool {
        self.dirty.iter().any(|&dirty| dirty)
    }

    pub fn is_empty(&self) -> bool {
        !self.there.iter().any(|&there| there)
    }
}

/// A place for a line.
pub enum Given {
    Place(usize, Option<Held>),
    None,
}

impl Model<'_> {
    pub fn find(&self, key: u64) -> Option<usize> {
        self.held.iter().position(|held| held.key == key)
    }

    pub fn at_place(&self, place: usize) -> Option<usize> {
        self.held.iter().position(|held| held.place == place)
    }

    pub fn is_there(&self, lbn: u64) -> bool {
        let held = self.find(self.line_of(lbn));
        held.is_some_and(|held| self.held[held].there[(lbn % self.case.line) as usize])
    }

    pub fn is_dirty(&self, lbn: u64) -> bool {
        let held = self.find(self.line_of(lbn));
        held.is_some_and(|held| self.held[held].dirty[(lbn % self.case.line) as usize])
    }

    pub fn dirty_blocks(&self) -> u64 {
        let dirty = self.held.iter().flat_map(|held| &held.dirty);
        dirty.filter(|&&dirty| dirty).count() as u64
    }

    pub fn has_all(&self, part: &Part) -> bool {
        (part.lbn..part.lbn + part.blocks).all(|lbn| self.is_there(lbn))
    }

    /// Where a block of a line at a place is on the cache device.
    pub fn at(&self, place: usize, lbn: u64) -> u64 {
        place as u64 * self.case.line + lbn % self.case.line
    }

    /// The runs of blocks of a part that are as wanted.
    pub fn runs(&self, lbn: u64, blocks: u64, wanted: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for block in (lbn..lbn + blocks).filter(|&block| wanted(block)) {
            match runs.last_mut() {
                Some((first, length)) if *first + *length == block => *length += 1,
                _ => runs.push((block, 1)),
            }
        }
        runs
    }

    /// The first dirty run from a block on, of at most `most` blocks.
    pub fn next_dirty(&self, from: u64, most: u64) -> Option<(u64, u64)> {
        let first = (from..self.case.backing.blocks).find(|&lbn| self.is_dirty(lbn))?;
        let mut blocks = 1;
        while blocks < most && self.is_dirty(first + blocks) {
            blocks += 1;
        }
        Some((first, blocks))
    }

    /// The blocks at the beginning of a run whose lines may be written back now.
    pub fn may_be_cleaned(&self, lbn: u64, blocks: u64) -> u64 {
        let mut run = lbn..lbn + blocks;
        let stops = |&lbn: &u64| {
            let mut uses = self.uses_of(self.line_of(lbn));
            uses.any(|one| one.alone || one.cleaning)
        };
        run.position(|lbn| stops(&lbn))
            .map_or(blocks, |at| at as u64)
    }

    /// The policy hears of an access to a line that is held.
    pub fn hit(&mut self, place: usize) {
        self.counts.line_accesses += 1;
        if self.case.policy == "lru" {
            self.order.retain(|&other| other != place);
            self.order.push(place);
        }
    }

    /// A line that is not held gets a place, if there is one, and the line there is evicted.
    pub fn give(&mut self, key: u64) -> Given {
        self.counts.line_accesses += 1;
        self.counts.line_misses += 1;
        let is_full = self.free.is_empty() && self.next_place == self.lines;
        let mut victim = None;
        if is_full {
            let is_used = |place: &usize| self.uses.iter().any(|one| one.place == Some(*place));
            let is_dirty = |place: &usize| {
                self.at_place(*place)
                    .is_some_and(|at| self.held[at].is_dirty())
            };
            let mut clean = self
                .order
                .iter()
                .filter(|place| !is_used(place) && !is_dirty(place));
            let mut any = self.order.iter().filter(|place| !is_used(place));
            let Some(&place) = clean.next().or_else(|| any.next()) else {
                self.met.insert("no line");
                return Given::None;
            };
            self.counts.evictions += 1;
            self.order.retain(|&other| other != place);
            let at = self.at_place(place).expect("it is held");
            victim = Some(self.held.remove(at));
            self.free.push(place);
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.next_place += 1;
            self.next_place - 1
        });
        self.counts.insertions += 1;
        self.order.push(place);
        let blocks = self.case.line as usize;
        self.held.push(Held {
            key,
            place,
            there: vec![false; blocks],
            dirty: vec![false; blocks],
            since: 0,
        });
        Given::Place(place, victim)
    }

    /// Blocks of a line are there, dirty or not.
    pub fn put(&mut self, lbn: u64, blocks: u64, dirty: bool) {
        let at = self.find(self.line_of(lbn)).expect("it is held");
        let was_dirty = self.held[at].is_dirty();
        for block in lbn..lbn + blocks {
            let block = (block % self.case.line) as usize;
            self.held[at].there[block] = true;
            self.held[at].dirty[block] = dirty;
        }
        if !was_dirty {
            self.dirtied += 1;
            self.held[at].since = self.dirtied;
        }
    }

    /// Blocks of a line are not there any more.
    pub fn forget(&mut self, lbn: u64, blocks: u64) {
        if let Some(at) = self.find(self.line_of(lbn)) {
            for block in lbn..lbn + blocks {
                let block = (block % self.case.line) as usize;
                self.held[at].there[block] = false;
                self.held[at].dirty[block] = false;
            }
        }
    }

    /// A line without blocks loses its place if nobody uses it. Whether it has none.
    pub fn remove_if_empty(&mut self, key: u64) -> Option<usize> {
        let at = self.find(key)?;
        let place = self.held[at].place;
        let is_used = self.uses.iter().any(|one| one.place == Some(place));
        if !self.held[at].is_empty() || is_used {
            return None;
        }
        self.held.remove(at);
        self.order.retain(|&other| other != place);
        self.free.push(place);
        Some(place)
    }

    /// What is held at the start.
    pub fn warm(&mut self) {
        let Some((fill, dirty)) = self.case.initial else {
            return;
        };
        let part = |percent: u64, of: u64| (percent as f64 / 100.0 * of as f64).round() as u64;
        let lines = part(fill, self.lines as u64);
        let clean = lines - part(dirty, lines);
        for key in 0..lines {
            let lbn = key * self.case.line;
            let blocks = (self.case.backing.blocks - lbn).min(self.case.line);
            if let Given::Place(place, _) = self.give(key) {
                self.put(lbn, blocks, key >= clean);
                self.entries[place].names = key >= clean;
            }
        }
        self.counts = super::model::Counts::default();
    }
}

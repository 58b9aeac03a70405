//! Checkpoints of the map.

use std::collections::BTreeSet;

use super::model::{Model, Programming};
use super::specs::Drive;

pub struct Checkpoints {
    /// Parts of the map that have changed since the last one began.
    pub changed: BTreeSet<usize>,
    /// Pages programmed since then.
    programmed: u64,
    /// Pages of the one under way that are not programmed.
    left: usize,
    /// The place of the next page's plane in the order of allocation, and pages that each plane has been given.
    turn: usize,
    given: Vec<usize>,
    /// Pages written.
    pub pages: u64,
}

impl Checkpoints {
    pub fn new(drive: &Drive) -> Checkpoints {
        Checkpoints {
            changed: BTreeSet::new(),
            programmed: 0,
            left: 0,
            turn: 0,
            given: vec![0; drive.planes()],
            pages: 0,
        }
    }
}

impl Model<'_> {
    /// The place of a unit changes, and with it a page of the map.
    pub fn changes_part_of(&mut self, unit: usize) {
        let entries = self.drive().map_entries() * self.drive().units;
        self.checkpoints.changed.insert(unit / entries);
    }

    /// A page of the host or of cleaning has been programmed.
    pub fn page_programmed(&mut self) {
        let Some(every) = self.drive().checkpoint else {
            return;
        };
        self.checkpoints.programmed += 1;
        if self.checkpoints.programmed < every || self.checkpoints.left > 0 {
            return;
        }
        self.checkpoints.programmed = 0;
        let parts = std::mem::take(&mut self.checkpoints.changed);
        self.checkpoints.left = parts.len();
        for _ in parts {
            self.writes_part();
        }
    }

    fn writes_part(&mut self) {
        let plane = self.drive().plane_at(self.checkpoints.turn);
        self.checkpoints.turn = (self.checkpoints.turn + 1) % self.drive().planes();
        let number = self.checkpoints.given[plane];
        self.checkpoints.given[plane] += 1;
        let page = number % self.drive().pages;
        let is_full = number >= self.drive().reserved * self.drive().pages;
        let worker = self.drive().worker_of(plane);
        self.workers[worker].programs.push(Programming::OfMap {
            page,
            erases: is_full && page == 0,
        });
    }

    pub fn part_written(&mut self) {
        self.checkpoints.pages += 1;
        self.checkpoints.left -= 1;
    }
}

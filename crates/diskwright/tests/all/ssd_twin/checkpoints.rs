//! Checkpoints of the map.

use std::collections::BTreeSet;

use super::blocks::{Block, State};
use super::model::{Model, Programming};
use super::parity::Target;
use super::specs::Drive;

pub struct Checkpoints {
    /// Parts of the map that have changed since the last one began.
    pub changed: BTreeSet<usize>,
    /// Pages programmed since then.
    programmed: u64,
    /// Pages of the one under way that are not programmed.
    left: usize,
    /// How many programs had ended when it began, and when the last one that is over did.
    began: u64,
    covered: u64,
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
            began: 0,
            covered: 0,
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
        self.checkpoints.began = self.programs_ended;
        self.ends_checkpoint_if_over();
        for _ in parts {
            self.writes_part();
        }
    }

    fn ends_checkpoint_if_over(&mut self) {
        if self.checkpoints.left == 0 {
            self.checkpoints.covered = self.checkpoints.began;
        }
    }

    /// What is on the drive at the start is in a checkpoint.
    pub fn is_in_a_checkpoint(&mut self) {
        self.checkpoints.changed.clear();
        if self.drive().checkpoint.is_some() {
            self.checkpoints.covered = self.programs_ended;
        }
    }

    /// A page has been programmed.
    pub fn program_ends(&mut self, (plane, block, page): Target) {
        self.programs_ended += 1;
        self.planes[plane].blocks[block].ended[page] = Some(self.programs_ended);
    }

    /// After a power cut: pages of the map and spare areas that are read, and the time of that, ns.
    pub fn recovery(&self) -> [u64; 3] {
        let drive = self.drive();
        let workers = self.workers.len() as u64;
        let page_blocks = drive.unit_blocks * drive.units as u64;
        let units = drive.host_units() + drive.map_units();
        let map_pages = match drive.checkpoint {
            Some(_) => (units as u64 * 4).div_ceil(page_blocks * 512),
            None => 0,
        };
        let share = map_pages.div_ceil(workers);
        let scanned: Vec<u64> = (0..self.workers.len())
            .map(|worker| {
                let planes = (0..self.planes.len()).filter(|&p| drive.worker_of(p) == worker);
                let blocks = planes.flat_map(|plane| &self.planes[plane].blocks);
                blocks.map(|block| self.scanned(block)).sum()
            })
            .collect();
        let of_map = drive.read_command + drive.block * page_blocks;
        let of_spare = drive.read_command + drive.block;
        let slowest = scanned
            .iter()
            .map(|pages| share * (of_map + drive.read[0]) + pages * (of_spare + drive.read[0]));
        let channels = (0..drive.counts[0]).map(|channel| {
            let its = (0..self.workers.len()).filter(|&w| drive.channel_of(w) == channel);
            its.map(|worker| share * of_map + scanned[worker] * of_spare)
                .sum()
        });
        let time = slowest.chain(channels).max().unwrap_or(0);
        [map_pages, scanned.iter().sum(), time]
    }

    /// Spare areas of a block that are read.
    fn scanned(&self, block: &Block) -> u64 {
        let is_new = |page: &usize| {
            let ended = block.ended[*page];
            ended.is_none_or(|number| number > self.checkpoints.covered)
        };
        let new = (0..block.begun).filter(is_new).count() as u64;
        match block.state {
            State::Open => new,
            State::Sealed(_) if self.drive().summary > 0 => new.min(1),
            State::Sealed(_) => new,
            _ => 0,
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
        self.ends_checkpoint_if_over();
    }
}

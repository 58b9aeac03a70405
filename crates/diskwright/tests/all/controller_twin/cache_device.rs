//! The device that caches the others.

use std::ops::Range;

use diskwright::engine::request::Op;

use super::model::Model;
use super::operations::Operation;
use super::specs::{Cache, CacheDevice, Writes};
use super::stages::{Kind, Stage, Work};

/// The runs into which blocks fall by whether something holds of them, and whether it does.
fn runs(blocks: Range<u64>, holds: &[bool]) -> Vec<(u64, u64, bool)> {
    let mut runs: Vec<(u64, u64, bool)> = Vec::new();
    for block in blocks {
        let is_so = holds[block as usize];
        match runs.last_mut() {
            Some((_, end, of_run)) if *of_run == is_so => *end = block + 1,
            _ => runs.push((block, block + 1, is_so)),
        }
    }
    runs
}

fn all(mut blocks: Range<u64>, holds: &[bool]) -> bool {
    blocks.all(|block| holds[block as usize])
}

impl Model<'_> {
    fn cache(&self) -> CacheDevice {
        match self.case.cache {
            Cache::Device(device) => device,
            _ => unreachable!("there is a cache device"),
        }
    }

    /// The number of the cache device.
    fn number(&self) -> usize {
        self.case.devices.len()
    }

    fn mark(&mut self, from: u64, end: u64, is_cached: bool, is_dirty: bool) {
        for block in from as usize..end as usize {
            (self.is_cached[block], self.is_dirty[block]) = (is_cached, is_dirty);
        }
    }

    pub fn trim_cache_device(&mut self, work: usize) {
        let Work { from, end, .. } = self.works[work];
        self.mark(from, end, false, false);
        let size = self.cache().size;
        if from < size {
            let run = (from, end.min(size));
            self.ask_device(work, self.number(), Op::Trim, false, run);
        }
    }

    pub fn read_by_cache_device(&mut self, work: usize) {
        let Work { from, end, .. } = self.works[work];
        let device = self.number();
        if all(from..end, &self.is_cached) {
            self.meet("a read of what is cached", true);
            self.ask_device(work, device, Op::Read, false, (from, end));
            return self.next_stage(work, Stage::Move);
        }
        self.works[work].has_missed = true;
        for (from, end, is_dirty) in runs(from..end, &self.is_dirty) {
            match is_dirty {
                true => {
                    self.meet("a read that is dirty in part", true);
                    self.ask_device(work, device, Op::Read, false, (from, end));
                }
                false => self.ask(work, Op::Read, false, (from, end)),
            }
        }
        self.next_stage(work, Stage::Move);
    }

    /// A read's data have been moved: what was missing is written to the cache device.
    pub fn has_read_by_cache_device(&mut self, work: usize) {
        let Work {
            from,
            end,
            has_missed,
            ..
        } = self.works[work];
        let is_within = end <= self.cache().size;
        self.meet("a read that ends beyond", has_missed && !is_within);
        if has_missed && is_within {
            self.meet("a read that is put on the cache device", true);
            let behind = self.hand_on(work);
            for (from, end, is_cached) in runs(from..end, &self.is_cached) {
                if !is_cached {
                    self.add("populated_blocks", end - from);
                    self.ask_device(behind, self.number(), Op::Write, false, (from, end));
                }
            }
            self.next_stage(behind, Stage::End);
        }
        self.next_stage(work, Stage::Answer);
    }

    /// Work of the controller's own has the blocks of a piece from now on.
    fn hand_on(&mut self, work: usize) -> usize {
        let Work { op, from, end, .. } = self.works[work];
        self.works.push(Work::new(Kind::Own, op, (from, end)));
        let behind = self.works.len() - 1;
        let granted = self.locks.hand_over(work, behind);
        self.wake(granted);
        behind
    }

    pub fn write_by_cache_device(&mut self, work: usize) {
        let Work { fua, from, end, .. } = self.works[work];
        if end <= self.cache().size {
            self.ask_device(work, self.number(), Op::Write, fua, (from, end));
            return self.next_stage(work, Stage::Written);
        }
        let is_over_dirty = (from..end).any(|block| self.is_dirty[block as usize]);
        self.meet("a write over dirty blocks that ends beyond", is_over_dirty);
        self.works[work].has_missed = true;
        self.ask(work, Op::Write, fua || is_over_dirty, (from, end));
        self.next_stage(work, Stage::WrittenBehind);
    }

    /// A write is on the cache device.
    pub fn has_written(&mut self, work: usize) {
        let Work { from, end, .. } = self.works[work];
        self.mark(from, end, true, true);
        match self.cache().writes {
            Writes::Back => self.next_stage(work, Stage::Answer),
            Writes::Synchronous => {
                self.works[work].has_missed = true;
                self.ask(work, Op::Write, true, (from, end));
                self.next_stage(work, Stage::WrittenBehind);
            }
            Writes::Through => {
                let behind = self.hand_on(work);
                self.ask(behind, Op::Write, true, (from, end));
                self.next_stage(behind, Stage::End);
                self.next_stage(work, Stage::Answer);
            }
        }
    }

    /// A write is on the devices behind the cache device, which has it too or has it no longer.
    pub fn has_written_behind(&mut self, work: usize) {
        let Work { from, end, .. } = self.works[work];
        let is_on_cache = end <= self.cache().size;
        self.meet("a write that ends beyond", !is_on_cache);
        self.mark(from, end, is_on_cache, false);
        self.next_stage(work, Stage::Answer);
    }

    /// The first dirty run is read, if it is dirty still.
    pub fn reads_to_settle(&mut self, work: usize) {
        let Work { from, end, .. } = self.works[work];
        if !all(from..end, &self.is_dirty) {
            self.meet("a run that is not dirty any more", true);
            return self.next_stage(work, Stage::End);
        }
        self.ask_device(work, self.number(), Op::Read, false, (from, end));
        self.next_stage(work, Stage::Written);
    }

    pub fn settles(&mut self, work: usize) {
        let Work { from, end, .. } = self.works[work];
        self.add("write_backs", 1);
        self.add("written_back_blocks", end - from);
        self.ask(work, Op::Write, true, (from, end));
        self.next_stage(work, Stage::End);
    }

    /// What the controller writes by itself has a place once it is there.
    pub fn cache_device_operation_ended(&mut self, operation: Operation) {
        let Operation {
            work,
            device,
            op,
            lbn,
            blocks,
            ..
        } = operation;
        if self.works[work].kind != Kind::Own || op != Op::Write {
            return;
        }
        let is_on_cache = device == self.number();
        for block in lbn as usize..(lbn + blocks) as usize {
            match is_on_cache {
                true => self.is_cached[block] = true,
                false => self.is_dirty[block] = false,
            }
        }
    }

    pub fn begin_to_settle(&mut self) -> Option<usize> {
        let dirty = runs(0..self.cache().size, &self.is_dirty);
        let first = dirty.into_iter().find(|(.., is_dirty)| *is_dirty);
        let (from, end, _) = first?;
        Some(self.begin(Work::new(Kind::Own, Op::Read, (from, end))))
    }

    pub fn count_what_cache_device_holds(&mut self) {
        let count = |holds: &[bool]| holds.iter().filter(|is_so| **is_so).count() as u64;
        let (cached, dirty) = (count(&self.is_cached), count(&self.is_dirty));
        self.add("cached_blocks_at_end", cached);
        self.add("dirty_blocks_at_end", dirty);
    }
}

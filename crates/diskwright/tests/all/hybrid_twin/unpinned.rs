//! Flushes of the unpinned set.

use diskwright::engine::request::Op;

use super::model::{Flush, Model, Run, Use, What};

impl Model<'_> {
    /// The first valid run of the unpinned set at a block or behind it.
    fn first_unpinned(&self, lbn: usize) -> Option<Run> {
        // A run that begins in front of the block is not behind it.
        let runs = self.runs(0, self.blocks.len());
        runs.into_iter().find(|run| {
            let block = &self.blocks[run.lbn];
            run.lbn >= lbn && run.has_place && !block.is_pinned && block.is_valid
        })
    }

    /// Begins a flush; `false` where there is nothing to flush.
    pub fn begin_flush(&mut self, request: Option<usize>) -> bool {
        let Some(run) = self.first_unpinned(0) else {
            return false;
        };
        if request.is_none() {
            self.add("unpinned_set.own_flushes", 1);
        } else {
            self.meets("a flush by command");
        }
        let job = self.begin_job(request);
        self.flush = Some(Flush {
            job,
            lbn: 0,
            blocks: 0,
            waits_for_writes: false,
            has_new_pins: false,
        });
        self.flush_goes_to(run);
        true
    }

    /// A flush that no command asks for.
    pub fn own_flush(&mut self) {
        if self.flush.is_none() && self.begin_flush(None) {
            self.meets("a flush of the drive's own");
        }
    }

    pub fn waits_for_room(&mut self, request: usize) -> bool {
        let is_under_way = self.flush.is_some();
        if !is_under_way && !self.begin_flush(None) {
            return false;
        }
        self.meets("a pin waits for room");
        if let Some(flush) = &mut self.flush {
            flush.has_new_pins |= is_under_way;
        }
        self.waiting_pins.push(request);
        true
    }

    fn flush_goes_to(&mut self, run: Run) {
        let waits = self.is_being_written(run.lbn, run.lbn + run.blocks);
        let flush = self.flush.as_mut().expect("under way");
        (flush.lbn, flush.blocks, flush.waits_for_writes) = (run.lbn, run.blocks, waits);
        let job = flush.job;
        if waits {
            return self.meets("a flush waits for a write");
        }
        let of = self.begin_use(run.lbn, run.blocks);
        self.send(1, job, Op::Read, run.blocks as u64, What::Gather(of));
    }

    /// A write to the medium has ended.
    pub fn flush_need_not_wait(&mut self) {
        if let Some(flush) = self.flush.filter(|flush| flush.waits_for_writes) {
            self.flush_goes_on(flush.lbn);
        }
    }

    /// The run is on the medium: what has not changed since leaves the set.
    pub fn settle(&mut self, of: &Use) {
        for at in of.lbn..of.lbn + of.blocks {
            let block = self.blocks[at];
            let is_same = block.place.is_some() && block.given_by == of.given_by;
            if is_same && block.written > of.began {
                self.meets("what is written during a flush stays");
            }
            if is_same && block.written < of.began && block.users == 0 && !block.is_pinned {
                self.give_up(at);
            }
        }
    }

    pub fn flush_goes_on(&mut self, lbn: usize) {
        match self.first_unpinned(lbn) {
            Some(run) => self.flush_goes_to(run),
            None => self.flush_ends(),
        }
        for request in std::mem::take(&mut self.parked) {
            self.begin(request);
        }
    }

    fn flush_ends(&mut self) {
        let flush = self.flush.take().expect("under way");
        if let Some(request) = self.jobs[flush.job].request {
            self.complete(request);
        }
        let mut may_wait = flush.has_new_pins;
        for request in std::mem::take(&mut self.waiting_pins) {
            if self.pins(request) {
                self.meets("a pin that has waited finds room");
                continue;
            }
            may_wait = may_wait && (self.flush.is_some() || self.begin_flush(None));
            if may_wait {
                self.meets("a pin waits for another flush");
                self.waiting_pins.push(request);
            } else {
                self.refuses(request);
            }
        }
    }

    /// A write that would go to the medium waits for the flush that is at its blocks.
    pub fn parks(&mut self, request: usize, lbn: usize, end: usize) -> bool {
        let is_at = |flush: Flush| lbn < flush.lbn + flush.blocks && flush.lbn < end;
        let waits = self.flush.is_some_and(is_at);
        if waits {
            self.meets("a write waits for a flush");
            self.parked.push(request);
        }
        waits
    }
}

//! What becomes of the requests that a tier has sent to its devices, when they are complete.

use super::work::{Piece, Stage, What, WorkId};
use super::{Condition, GATHERED, Tier};
use crate::base::units::Lbn;
use crate::engine::children::{EndedPiece, PhaseEnd};
use crate::engine::context::Context;
use crate::engine::request::{Command, Outcome, RequestId};
use crate::models::cache::block_cache::BlockState;

impl Tier {
    /// A request to a child is complete.
    pub(super) fn piece_ended(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let ended = self.children.take(request);
        let outcome = cx.request(request).outcome.expect("it is complete");
        let Piece { work: id, what } = ended.payload;
        let is_good = outcome == Outcome::Ok;
        let (ended, outcome) = match what {
            What::Hit { lbn, blocks } if is_good => {
                let at = cx.request(request).command.lbn.0;
                self.carry_back((request, at), (id, lbn), blocks, cx);
                (ended, outcome)
            }
            What::Hit { lbn, blocks } => match self.hit_failed(ended, (lbn, blocks), cx) {
                Some(ended) => (ended, outcome),
                None => return,
            },
            What::Fetch if is_good => {
                self.fetched(id, request, cx);
                (ended, outcome)
            }
            What::Instead if is_good => {
                let Command { lbn, blocks, .. } = cx.request(request).command;
                self.carry_back((request, lbn.0), (id, lbn.0), blocks, cx);
                (ended, outcome)
            }
            What::Store(index) if !is_good => match self.store_failed(ended, index, cx) {
                // What the cache device could not take is not missed.
                Some(ended) => (ended, Outcome::Ok),
                None => return,
            },
            What::Through if is_good => {
                self.passed_through(id, request, cx);
                (ended, outcome)
            }
            What::Promote(index) => {
                self.promoted(id, index, outcome);
                (ended, Outcome::Ok)
            }
            What::Gather(index) => {
                self.gathered(id, index, (request, outcome), cx);
                (ended, Outcome::Ok)
            }
            What::Barrier { is_cache } => {
                // What the cache device, or the part of it that has failed, cannot make durable goes to the backing device.
                let is_there = self.condition != Condition::Failed;
                if is_cache && is_there && !is_good && self.keeps_dirty() {
                    self.cache_write_failed();
                }
                let is_needed = !is_cache || self.keeps_dirty() && is_there;
                let outcome = if is_needed { outcome } else { Outcome::Ok };
                if let Some(end) = self.children.finish(ended, outcome, cx) {
                    self.flush_ended(end, cx);
                }
                return;
            }
            What::Retire => {
                if let Some(end) = self.children.finish(ended, outcome, cx) {
                    self.retirement_settled(&end, cx);
                }
                return;
            }
            What::Commit => {
                if let Some(end) = self.children.finish(ended, outcome, cx) {
                    self.commit_ended(&end, cx);
                }
                return;
            }
            _ => (ended, outcome),
        };
        if let Some(end) = self.children.finish(ended, outcome, cx) {
            self.phase_ended(id, end, cx);
        }
    }

    /// All requests of a work's stage are complete.
    fn phase_ended(&mut self, id: WorkId, end: PhaseEnd, cx: &mut Context<'_>) {
        match self.works.get(id).stage {
            Stage::Reading => self.read_ended(id, end, cx),
            Stage::Promoting => self.promotion_ended(id, end, cx),
            Stage::Writing => self.write_ended(id, end, cx),
            Stage::Trimming => {
                self.children.end(end.job);
                self.works.end(id);
                let request = end.request.expect("a trim is the host's");
                self.complete(request, end.outcome, cx);
            }
            Stage::Gathering => self.spread(id, cx),
            Stage::Spreading => self.spread_ended(id, end, cx),
            Stage::Settling => self.written_back(id, end, cx),
            Stage::Waiting | Stage::Abandoned | Stage::Committing => {
                unreachable!("it has sent nothing")
            }
        }
    }

    /// Blocks that a read wants from the cache device could not be read. If they are clean, they come from the backing device instead, and the
    /// line loses them. `None` where they do.
    fn hit_failed(
        &mut self,
        ended: EndedPiece<Piece>,
        (lbn, blocks): (u64, u32),
        cx: &mut Context<'_>,
    ) -> Option<EndedPiece<Piece>> {
        let id = ended.payload.work;
        if self.lost.meets(lbn, blocks).is_some() {
            return Some(ended);
        }
        for piece in self.map.pieces(lbn, blocks) {
            if let Some(frame) = self.map.find(piece.key) {
                let line = self.map.line(frame);
                if self.map.next_run(line, BlockState::Dirty, piece).is_some() {
                    return Some(ended);
                }
                self.map.forget(frame, &piece);
            }
        }
        self.counters.repeated_reads += 1;
        let of_host = self.works.get(id).command;
        let instead = Command {
            lbn: Lbn(lbn),
            blocks,
            ..of_host
        };
        let piece = Piece {
            work: id,
            what: What::Instead,
        };
        (self.children).send_instead(ended, self.backing.device, instead, piece, cx);
        None
    }

    /// Tells the checker that blocks of a request to a child are those of the host's read.
    fn carry_back(
        &self,
        from: (RequestId, u64),
        (id, lbn): (WorkId, u64),
        blocks: u32,
        cx: &mut Context<'_>,
    ) {
        if let Some((checker, _)) = cx.checker() {
            let request = self.works.get(id).request.expect("a read is the host's");
            checker.moved(from, (request, lbn), blocks);
        }
    }

    /// Passes a trim on to the backing device.
    pub(super) fn pass_on(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let work = self.works.get_mut(id);
        let request = work.request.expect("a trim is the host's");
        let job = self.children.begin(request);
        let piece = Piece {
            work: id,
            what: What::Trim,
        };
        self.children
            .send(job, self.backing.device, work.command, piece, cx);
    }

    /// A write to the cache device has failed: nothing more is written there.
    pub(super) fn cache_write_failed(&mut self) {
        self.counters.failed_cache_writes += 1;
        self.takes_writes = false;
        self.begin_retirement();
        self.freeze_table();
        if self.condition == Condition::Working {
            self.condition = Condition::ReadOnly;
        }
    }

    /// The table stays as it is.
    fn freeze_table(&mut self) {
        if let Some(table) = &mut self.table {
            table.freeze();
        }
    }

    /// The cache device has failed: what was dirty is lost, and all else is on the backing device.
    pub(super) fn lose_cache(&mut self, cx: &mut Context<'_>) {
        self.condition = Condition::Failed;
        self.freeze_table();
        let mut from = 0;
        while let Some((lbn, blocks)) = self.map.next_dirty(from, u32::MAX) {
            self.counters.lost_blocks += self.lost.add(lbn, blocks, Outcome::FailedDevice);
            from = lbn + u64::from(blocks);
        }
        // What is in memory already is saved when it has been written.
        let victims = self.works.iter().filter(|work| work.is_leaving());
        for run in victims.flat_map(|work| &work.runs) {
            let lost = self.lost.add(run.lbn, run.blocks, Outcome::FailedDevice);
            self.counters.lost_blocks += lost;
        }
        self.forget_lines();
        let now = cx.now();
        self.counters.dirty.clock(now, 0);
    }

    /// No line is held any more.
    pub(super) fn forget_lines(&mut self) {
        let mut lbn = 0;
        while lbn < self.backing.blocks {
            let blocks = (self.backing.blocks - lbn).min(u32::MAX.into()) as u32;
            self.map.trim(lbn, blocks, |_, _| {});
            lbn += u64::from(blocks);
        }
    }

    /// Where a dirty block is on the cache device whose line has lost its place and is being written back.
    pub(super) fn leaving(&self, lbn: u64) -> Option<u64> {
        let piece = self.map.pieces(lbn, 1).next()?;
        let work = self.works.get(self.claims.get(piece.key).exclusive?);
        if !work.is_leaving() {
            return None;
        }
        let mut runs = work.runs.iter();
        let run = runs.find(|run| (run.lbn..run.lbn + u64::from(run.blocks)).contains(&lbn))?;
        Some(run.at + (lbn - run.lbn))
    }

    /// A dirty run has been read from the cache device, or it is lost.
    fn gathered(
        &mut self,
        id: WorkId,
        index: usize,
        (request, outcome): (RequestId, Outcome),
        cx: &mut Context<'_>,
    ) {
        let run = &mut self.works.get_mut(id).runs[index];
        if outcome == Outcome::Ok {
            let (at, blocks) = (run.at, run.blocks);
            if let Some((checker, device)) = cx.checker() {
                checker.buffered(device, GATHERED, request, at, blocks);
            }
            return;
        }
        run.is_lost = true;
        let (lbn, blocks) = (run.lbn, run.blocks);
        // Where the device as a whole has failed, what was held is lost already.
        self.lose(lbn, blocks, outcome);
    }
}

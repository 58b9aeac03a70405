//! Promotions: what a read has fetched goes to the cache device.

use super::work::{Action, CacheRun, Piece, What, Work, WorkId, command};
use super::{FETCHED, Tier};
use crate::engine::children::PhaseEnd;
use crate::engine::context::Context;
use crate::engine::request::{Op, Outcome};
use crate::models::cache::block_cache::BlockState;

impl Tier {
    /// Lists the runs of a read that are to be promoted.
    pub(super) fn plan_promotion(&self, work: &mut Work) {
        for line in &work.lines {
            if let (Action::Fill, Some(frame)) = (line.action, line.frame) {
                let runs = self
                    .map
                    .runs(self.map.line(frame), BlockState::Missing, line.piece);
                work.runs
                    .extend(runs.map(|(lbn, blocks)| self.run(frame, &line.piece, lbn, blocks)));
            }
        }
    }

    /// Ends a read that promotes nothing, once its places are free.
    pub(super) fn abandon(&mut self, id: WorkId) {
        if self.works.get(id).awaited > 0 {
            return;
        }
        let mut work = self.works.take(id);
        self.give_back(&mut work, |_| false);
        self.works.put_back(id, work);
        self.works.end(id);
    }

    /// Writes what a read has fetched to the cache device, once there is place.
    pub(super) fn promote(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let work = self.works.get(id);
        if work.awaited > 0 {
            return;
        }
        let job = work.job.expect("it has begun");
        for index in 0..work.runs.len() {
            let CacheRun {
                lbn, blocks, at, ..
            } = self.works.get(id).runs[index];
            let piece = Piece {
                work: id,
                what: What::Promote(index),
            };
            let child = self.children.send(
                job,
                self.cache.device,
                command(Op::Write, at, blocks),
                piece,
                cx,
            );
            self.counters.promoted_blocks += u64::from(blocks);
            if let Some((checker, device)) = cx.checker() {
                checker.read_buffered_at((device, FETCHED, lbn), (child, at), blocks);
            }
        }
        self.counters.promotions += self.works.get(id).lines.len() as u64;
    }

    /// A promoted run is on the cache device, or could not be written there.
    pub(super) fn promoted(&mut self, id: WorkId, index: usize, outcome: Outcome) {
        if outcome == Outcome::Ok {
            return;
        }
        let CacheRun {
            frame, lbn, blocks, ..
        } = self.works.get(id).runs[index];
        for piece in self.map.pieces(lbn, blocks) {
            self.map.forget(frame, &piece);
        }
        self.cache_write_failed();
    }

    /// All that a read promotes is on the cache device.
    pub(super) fn promotion_ended(&mut self, id: WorkId, end: PhaseEnd, cx: &mut Context<'_>) {
        let mut work = self.works.take(id);
        self.forget_fetched(&work, cx);
        self.children.end(end.job);
        self.give_back(&mut work, |_| false);
        let request = work.request;
        self.works.put_back(id, work);
        self.works.end(id);
        if let Some(request) = request {
            self.complete(request, Outcome::Ok, cx);
        }
    }

    /// What was fetched to be promoted is in memory no longer.
    pub(super) fn forget_fetched(&self, work: &Work, cx: &mut Context<'_>) {
        if let Some((checker, device)) = cx.checker() {
            for run in &work.runs {
                checker.dropped(device, FETCHED, run.lbn, run.blocks);
            }
        }
    }
}

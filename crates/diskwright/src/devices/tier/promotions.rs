//! Promotions: what a read has fetched goes to the cache device.

use super::work::{Action, CacheRun, Piece, What, Work, WorkId, command};
use super::{Condition, FETCHED, Tier};
use crate::engine::children::PhaseEnd;
use crate::engine::context::Context;
use crate::engine::request::{Op, Outcome, Part};
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
        if self.works.get(id).awaited > 0 {
            return;
        }
        if self.condition == Condition::ReadOnly {
            return self.promote_nothing(id, cx);
        }
        let job = self.works.get(id).job.expect("it has begun");
        for index in 0..self.works.get(id).runs.len() {
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

    /// The cache device has stopped to take writes while what a read has fetched waited for a place.
    fn promote_nothing(&mut self, id: WorkId, cx: &mut Context<'_>) {
        for index in 0..self.works.get(id).runs.len() {
            let CacheRun {
                frame, lbn, blocks, ..
            } = self.works.get(id).runs[index];
            for piece in self.map.pieces(lbn, blocks) {
                self.map.forget(frame, &piece);
            }
        }
        if let Some(request) = self.works.get(id).request {
            let now = cx.now();
            let entry = cx.request_mut(request);
            let since = entry.start + entry.parts.total();
            entry.parts.add(Part::Wait, now - since);
        }
        self.end_promotion(id, cx);
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
        debug_assert_eq!(self.works.get(id).job, Some(end.job));
        self.end_promotion(id, cx);
    }

    fn end_promotion(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let mut work = self.works.take(id);
        self.forget_fetched(&work, cx);
        self.children.end(work.job.take().expect("it has begun"));
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

//! Reads: what is there comes from the cache device, what is missing from the backing device, and is promoted afterwards.

use super::work::{Action, Piece, Stage, What, Work, WorkId, WorkLine, command};
use super::{Condition, FETCHED, Tier};
use crate::base::units::Lbn;
use crate::engine::children::{Ground, PhaseEnd};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, RequestId};
use crate::models::cache::Frame;
use crate::models::cache::block_cache::BlockState;
use crate::models::cache::replacement::Cost;

impl Tier {
    /// Begins a read.
    pub(super) fn begin_read(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let mut work = self.works.take(id);
        let request = work.request.expect("a read is the host's");
        let Command { lbn, blocks, .. } = work.command;
        if let Some(outcome) = self.lost.meets(lbn.0, blocks) {
            self.counters.reads(&work.command, blocks.into());
            self.works.put_back(id, work);
            self.works.end(id);
            return self.end_at_once(request, outcome, cx);
        }
        self.find_lines(id, &mut work, cx);
        let missing = self.missing(&work);
        self.plan_promotion(&mut work);
        self.counters.reads(
            &work.command,
            missing.map_or(0, |_| self.missing_blocks(&work)),
        );
        work.stage = Stage::Reading;
        let job = self.children.begin(request);
        work.job = Some(job);
        let mut sent = 0;
        if let Some((lbn, blocks)) = missing {
            let fetch = Command {
                lbn: Lbn(lbn),
                blocks,
                ..work.command
            };
            let piece = Piece {
                work: id,
                what: What::Fetch,
            };
            self.children
                .send(job, self.backing.device, fetch, piece, cx);
            sent += 1;
        }
        sent += self.send_hits(id, &mut work, missing, cx);
        if sent > 0 {
            return self.works.put_back(id, work);
        }
        // All of it is in memory: another read has just fetched it.
        self.children.end(job);
        self.give_back(&mut work, |_| false);
        self.works.put_back(id, work);
        self.works.end(id);
        self.end_at_once(request, Outcome::Ok, cx);
    }

    /// Completes a request that takes no time.
    pub(super) fn end_at_once(
        &mut self,
        request: RequestId,
        outcome: Outcome,
        cx: &mut Context<'_>,
    ) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        self.complete(request, outcome, cx);
    }

    /// The run from the first block of a read that no line has to the last.
    fn missing(&self, work: &Work) -> Option<(u64, u32)> {
        let mut run: Option<(u64, u64)> = None;
        for line in &work.lines {
            if let Some((lbn, blocks)) = self.map.missing(&line.piece, line.frame) {
                let first = run.map_or(lbn, |(first, _)| first);
                run = Some((first, lbn + u64::from(blocks)));
            }
        }
        run.map(|(first, end)| (first, (end - first) as u32))
    }

    /// How many blocks of a read no line has.
    fn missing_blocks(&self, work: &Work) -> u64 {
        let blocks = work.lines.iter().map(|line| match line.frame {
            None => u64::from(line.piece.blocks()),
            Some(frame) => {
                let runs = self
                    .map
                    .runs(self.map.line(frame), BlockState::Missing, line.piece);
                runs.map(|(_, blocks)| u64::from(blocks)).sum()
            }
        });
        blocks.sum()
    }

    /// Reads from the cache device the blocks that lines have, outside the run that is fetched, and inside it those that are dirty; those
    /// that another read has in memory come from there. How many requests that takes.
    fn send_hits(
        &mut self,
        id: WorkId,
        work: &mut Work,
        fetched: Option<(u64, u32)>,
        cx: &mut Context<'_>,
    ) -> u32 {
        let (from, end) = fetched.map_or((u64::MAX, u64::MAX), |(lbn, blocks)| {
            (lbn, lbn + u64::from(blocks))
        });
        let mut sent = 0;
        let lines = std::mem::take(&mut work.lines);
        let mut runs = std::mem::take(&mut self.runs);
        for line in &lines {
            let Some(frame) = line.frame.filter(|_| !line.is_new) else {
                continue;
            };
            let state = self.map.line(frame);
            let piece = &line.piece;
            let last = piece.lbn + u64::from(piece.blocks());
            let part = |first: u64, end: u64| {
                let (first, end) = (first.max(piece.lbn), end.min(last));
                let blocks = end.checked_sub(first).filter(|&blocks| blocks > 0)?;
                piece.within(first, blocks as u32)
            };
            runs.clear();
            for outside in [part(0, from), part(end, u64::MAX)].into_iter().flatten() {
                runs.extend(self.map.runs(state, BlockState::Valid, outside));
            }
            let before = runs.len();
            if let Some(inside) = part(from, end) {
                runs.extend(self.map.runs(state, BlockState::Dirty, inside));
            }
            work.overlays.extend(&runs[before..]);
            for &run in &runs {
                sent += self.send_hit(id, work, (line, frame), run, cx);
            }
        }
        (work.lines, self.runs) = (lines, runs);
        sent
    }

    /// Reads a run of blocks that a line has.
    fn send_hit(
        &mut self,
        id: WorkId,
        work: &Work,
        (line, frame): (&WorkLine, Frame),
        (lbn, blocks): (u64, u32),
        cx: &mut Context<'_>,
    ) -> u32 {
        let Some(other) = line.in_memory_of else {
            return self.send_from_cache(id, work, (line, frame), (lbn, blocks), cx);
        };
        let in_memory = self.works.get(other).runs.iter();
        let in_memory: Vec<(u64, u32)> = in_memory.map(|run| (run.lbn, run.blocks)).collect();
        let request = work.request.expect("a read is the host's");
        let mut sent = 0;
        for (lbn, blocks, is_in_memory) in split((lbn, blocks), &in_memory) {
            if !is_in_memory {
                sent += self.send_from_cache(id, work, (line, frame), (lbn, blocks), cx);
                continue;
            }
            self.counters.memory_blocks += u64::from(blocks);
            if let Some((checker, device)) = cx.checker() {
                checker.read_buffered(device, FETCHED, request, lbn, blocks);
            }
        }
        sent
    }

    fn send_from_cache(
        &mut self,
        id: WorkId,
        work: &Work,
        (line, frame): (&WorkLine, Frame),
        (lbn, blocks): (u64, u32),
        cx: &mut Context<'_>,
    ) -> u32 {
        let job = work.job.expect("it has begun");
        let at = self.run(frame, &line.piece, lbn, blocks).at;
        let read = command(Op::Read, at, blocks);
        let piece = Piece {
            work: id,
            what: What::Hit { lbn, blocks },
        };
        (self.children).send(job, self.cache.device, read, piece, cx);
        1
    }

    /// What a read has fetched is there: the checker hears whose it is, and the policy what it cost.
    pub(super) fn fetched(&mut self, id: WorkId, child: RequestId, cx: &mut Context<'_>) {
        let work = self.works.take(id);
        let request = work.request.expect("a read is the host's");
        let fetched = cx.request(child);
        let (command, media) = (fetched.command, fetched.media);
        let cost = Cost {
            media,
            blocks: self.map.pieces(command.lbn.0, command.blocks).count() as u32,
        };
        for line in work.lines.iter().filter(|line| line.action == Action::Fill) {
            if let Some(frame) = line.frame {
                self.map.paid(frame, cost);
            }
        }
        if let Some((checker, device)) = cx.checker() {
            for (lbn, blocks, is_overlay) in split((command.lbn.0, command.blocks), &work.overlays)
            {
                if !is_overlay {
                    checker.carried(child, request, lbn, blocks);
                }
            }
            for run in &work.runs {
                checker.buffered(device, FETCHED, child, run.lbn, run.blocks);
            }
        }
        self.works.put_back(id, work);
    }

    /// All of a read's data are there, or could not be had.
    pub(super) fn read_ended(&mut self, id: WorkId, end: PhaseEnd, cx: &mut Context<'_>) {
        let mut work = self.works.take(id);
        let request = work.request.expect("a read is the host's");
        let promotes = end.outcome == Outcome::Ok
            && !work.runs.is_empty()
            && self.condition == Condition::Working;
        if !promotes {
            self.forget_fetched(&work, cx);
            self.children.end(end.job);
            // Places whose victims are on them still stay in use.
            let is_awaiting = work.awaited > 0;
            self.give_back(&mut work, |line| is_awaiting && line.is_new);
            work.stage = Stage::Abandoned;
            self.works.put_back(id, work);
            self.abandon(id);
            return self.complete(request, end.outcome, cx);
        }
        for line in &work.lines {
            if let (Action::Fill, Some(frame)) = (line.action, line.frame) {
                self.map.fill(frame, &line.piece);
                self.claims.promotes(line.piece.key);
            }
        }
        self.give_back(&mut work, |line| line.action == Action::Fill);
        work.stage = Stage::Promoting;
        if !self.parts.waits_for_promotion {
            self.children.end(end.job);
            let ground = Ground::of(cx.request(request));
            work.job = Some(self.children.begin_own(ground));
            work.request = None;
            self.complete(request, Outcome::Ok, cx);
        }
        self.works.put_back(id, work);
        self.promote(id, cx);
    }
}

/// Divides a run of blocks by runs that are in ascending order, and says of each part whether it is in one of them.
fn split((lbn, blocks): (u64, u32), by: &[(u64, u32)]) -> Vec<(u64, u32, bool)> {
    let end = lbn + u64::from(blocks);
    let mut parts = Vec::new();
    let mut at = lbn;
    for &(first, length) in by {
        let (first, until) = (first.max(at), (first + u64::from(length)).min(end));
        if first < until {
            if at < first {
                parts.push((at, (first - at) as u32, false));
            }
            parts.push((first, (until - first) as u32, true));
            at = until;
        }
    }
    if at < end {
        parts.push((at, (end - at) as u32, false));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_divided_by_others() {
        let all = [(2, 3), (9, 1), (12, 8)];
        let expected = [
            (4, 1, true),
            (5, 4, false),
            (9, 1, true),
            (10, 2, false),
            (12, 2, true),
        ];
        assert_eq!(split((4, 10), &all), expected);
        assert_eq!(split((5, 4), &all), [(5, 4, false)]);
        assert_eq!(split((0, 2), &[]), [(0, 2, false)]);
    }
}

//! Write-backs: dirty blocks are read from the cache device, written to the backing device, and made durable there. Then they are clean.

use super::table::Waiter;
use super::work::{CacheRun, Cause, Piece, Stage, What, WorkId, command};
use super::{GATHERED, Tier};
use crate::engine::children::PhaseEnd;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Promise};
use crate::models::cache::Frame;
use crate::models::cache::block_cache::{BlockState, LinePiece, Victim};

impl Tier {
    /// A line has left its place for another one: what is dirty of it is written back first. Whether any is.
    pub(super) fn evict(
        &mut self,
        victim: Victim,
        frame: Frame,
        waiter: WorkId,
        cx: &mut Context<'_>,
    ) -> bool {
        let whole = self.map.whole(victim.key);
        let mut dirty = self.map.runs(victim.line, BlockState::Dirty, whole);
        let Some(first) = dirty.next() else {
            drop(dirty);
            return self.evict_clean(victim, frame, waiter);
        };
        let runs: Vec<(u64, u32)> = std::iter::once(first).chain(dirty).collect();
        let id = self
            .works
            .add(None, command(Op::Write, whole.lbn, whole.blocks()));
        self.claims.take(victim.key, id);
        for (lbn, blocks) in runs {
            let run = self.run(frame, &whole, lbn, blocks);
            self.works.get_mut(id).runs.push(run);
        }
        let number = self.flushes.victim_leaves();
        self.works.get_mut(id).cause = Cause::Victim {
            victim,
            number,
            waiter,
        };
        self.gather(id, cx);
        true
    }

    /// A line without dirty blocks has left its place for another one. Whether the place may not be used yet, because the table on the
    /// medium may name blocks of it.
    fn evict_clean(&mut self, victim: Victim, frame: Frame, waiter: WorkId) -> bool {
        let pending = self.table.as_ref().and_then(|table| table.pending(frame));
        if pending.is_none() {
            self.map.release(victim);
            return false;
        }
        let id = self.works.add(None, Command::default());
        self.claims.take(victim.key, id);
        let number = self.flushes.victim_leaves();
        let work = self.works.get_mut(id);
        work.stage = Stage::Committing;
        work.cause = Cause::Victim {
            victim,
            number,
            waiter,
        };
        self.wait_for_place(frame, Waiter::Line(id))
    }

    /// How many blocks from the beginning of a dirty run may be written back now: those of lines that nobody changes or writes back.
    pub(super) fn may_be_cleaned(&self, lbn: u64, blocks: u32) -> u32 {
        let mut ready = 0;
        for piece in self.map.pieces(lbn, blocks) {
            let claim = self.claims.get(piece.key);
            if claim.exclusive.is_some() || claim.is_cleaned {
                break;
            }
            ready += piece.blocks();
        }
        ready
    }

    /// Writes back a dirty run of lines that may be.
    pub(super) fn write_back(&mut self, lbn: u64, blocks: u32, cause: Cause, cx: &mut Context<'_>) {
        let id = self.works.add(None, command(Op::Write, lbn, blocks));
        self.works.get_mut(id).cause = cause;
        for piece in self.map.pieces(lbn, blocks) {
            let frame = self.map.find(piece.key).expect("dirty blocks are held");
            self.map.pin(frame);
            self.claims.share_to_clean(piece.key);
            let run = self.run(frame, &piece, piece.lbn, piece.blocks());
            let runs = &mut self.works.get_mut(id).runs;
            match runs.last_mut() {
                Some(last) if last.is_followed_by(&run) => last.blocks += run.blocks,
                _ => runs.push(run),
            }
        }
        self.gather(id, cx);
    }

    fn gather(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let work = self.works.get_mut(id);
        let job = self.children.begin_own(work.cause.ground());
        (work.job, work.stage) = (Some(job), Stage::Gathering);
        self.counters.write_back(&work.cause);
        for index in 0..work.runs.len() {
            let CacheRun { at, blocks, .. } = self.works.get(id).runs[index];
            let piece = Piece {
                work: id,
                what: What::Gather(index),
            };
            self.children.send(
                job,
                self.cache.device,
                command(Op::Read, at, blocks),
                piece,
                cx,
            );
        }
    }

    /// What could be read is written to the backing device, runs that follow one another together.
    pub(super) fn spread(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let work = self.works.take(id);
        let job = work.job.expect("it has begun");
        let readable = work.runs.iter().filter(|run| !run.is_lost);
        let mut writes: Vec<(u64, u32)> = Vec::new();
        for run in readable.clone() {
            match writes.last_mut() {
                Some((lbn, blocks)) if *lbn + u64::from(*blocks) == run.lbn => {
                    *blocks += run.blocks
                }
                _ => writes.push((run.lbn, run.blocks)),
            }
        }
        for &(lbn, blocks) in &writes {
            let piece = Piece {
                work: id,
                what: What::Spread,
            };
            let child = self.children.send(
                job,
                self.backing.device,
                command(Op::Write, lbn, blocks),
                piece,
                cx,
            );
            self.counters.written_back_blocks += u64::from(blocks);
            if let Some((checker, device)) = cx.checker() {
                let within = |run: &&CacheRun| (lbn..lbn + u64::from(blocks)).contains(&run.lbn);
                for run in readable.clone().filter(within) {
                    checker.read_buffered_at(
                        (device, GATHERED, run.at),
                        (child, run.lbn),
                        run.blocks,
                    );
                }
            }
        }
        let is_over = writes.is_empty();
        self.works.put_back(id, work);
        self.works.get_mut(id).stage = Stage::Spreading;
        if is_over {
            self.end_write_back(id, Outcome::MediaError, cx);
        }
    }

    /// Everything is on the backing device: unless that keeps what it has acknowledged, it is flushed.
    pub(super) fn spread_ended(&mut self, id: WorkId, end: PhaseEnd, cx: &mut Context<'_>) {
        if end.outcome != Outcome::Ok || self.backing.promise == Promise::Durable {
            return self.end_write_back(id, end.outcome, cx);
        }
        self.works.get_mut(id).stage = Stage::Settling;
        let piece = Piece {
            work: id,
            what: What::Settle,
        };
        self.children.send(
            end.job,
            self.backing.device,
            command(Op::Flush, 0, 0),
            piece,
            cx,
        );
    }

    /// It is durable there.
    pub(super) fn written_back(&mut self, id: WorkId, end: PhaseEnd, cx: &mut Context<'_>) {
        self.end_write_back(id, end.outcome, cx);
    }

    /// A write-back is over: what it has written is clean; the place of a victim is free.
    fn end_write_back(&mut self, id: WorkId, outcome: Outcome, cx: &mut Context<'_>) {
        let mut work = self.works.take(id);
        self.children.end(work.job.take().expect("it has begun"));
        for run in &work.runs {
            if let Some((checker, device)) = cx.checker() {
                checker.dropped(device, GATHERED, run.at, run.blocks);
            }
            if outcome == Outcome::Ok && !run.is_lost {
                // It was in memory when the cache device failed.
                let saved = self.lost.remove(run.lbn, run.blocks);
                self.counters.lost_blocks = self.counters.lost_blocks.saturating_sub(saved);
            }
        }
        match std::mem::take(&mut work.cause) {
            Cause::Victim {
                victim,
                number,
                waiter,
            } => {
                if outcome != Outcome::Ok {
                    self.lose_victim(&work.runs, outcome);
                }
                // Until the table does not name it any more, its place stays as it is.
                let frame = work.runs[0].frame;
                work.cause = Cause::Victim {
                    victim,
                    number,
                    waiter,
                };
                work.stage = Stage::Committing;
                self.works.put_back(id, work);
                self.note_left(frame);
                if !self.wait_for_place(frame, Waiter::Line(id)) {
                    self.line_is_forgotten(id, cx);
                }
            }
            cause => {
                let is_refused = outcome != Outcome::Ok && work.runs.iter().any(|run| !run.is_lost);
                for run in work.runs.iter().filter(|run| !run.is_lost) {
                    if outcome == Outcome::Ok {
                        self.map.clean(run.lbn, run.blocks);
                    } else if matches!(cause, Cause::Retirement) && self.has_backing {
                        self.lose(run.lbn, run.blocks, outcome);
                    }
                }
                let pieces = self.map.pieces(work.command.lbn.0, work.command.blocks);
                for LinePiece { key, .. } in pieces {
                    self.claims.cleaned(key);
                    if let Some(frame) = self.map.find(key) {
                        self.map.unpin(frame);
                        if outcome != Outcome::Ok {
                            // Others are cleaned before it is tried again.
                            self.map.renew_dirty(frame);
                        }
                        self.note_dirty(key, frame);
                        self.map.remove_if_empty(frame);
                        self.emptied(key, frame);
                    }
                }
                self.works.put_back(id, work);
                self.works.end(id);
                match cause {
                    Cause::Flush => self.flushes.write_back_ended(outcome),
                    Cause::Change => {
                        self.changes.is_writing = false;
                        self.changes.has_failed |= is_refused;
                    }
                    Cause::Retirement => self.retirement.is_writing = false,
                    _ => self.cleaned(cx),
                }
            }
        }
    }

    /// The backing device could not take what a victim had: it is lost.
    fn lose_victim(&mut self, runs: &[CacheRun], outcome: Outcome) {
        for run in runs.iter().filter(|run| !run.is_lost) {
            self.counters.lost_blocks += self.lost.add(run.lbn, run.blocks, outcome);
        }
    }

    /// Dirty blocks of lines that are held could not be read, or not be written to the backing device.
    pub(super) fn lose(&mut self, lbn: u64, blocks: u32, outcome: Outcome) {
        self.counters.lost_blocks += self.lost.add(lbn, blocks, outcome);
        for piece in self.map.pieces(lbn, blocks) {
            if let Some(frame) = self.map.find(piece.key) {
                self.map.forget(frame, &piece);
            }
        }
    }

    /// The place of a victim is free for the work that waits for it.
    pub(super) fn place_is_free(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let work = self.works.get_mut(id);
        work.awaited -= 1;
        match work.stage {
            Stage::Writing => self.send_write(id, cx),
            Stage::Promoting => self.promote(id, cx),
            Stage::Abandoned => self.abandon(id),
            // Its data are on their way still.
            _ => {}
        }
    }
}

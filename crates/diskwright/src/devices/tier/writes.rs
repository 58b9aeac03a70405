//! Writes: to the cache device, to the backing device or to both.

use super::table::Waiter;
use super::work::{Action, CacheRun, Piece, Stage, What, Work, WorkId, WorkLine, command};
use super::{Condition, Tier};
use crate::base::units::Lbn;
use crate::engine::children::{EndedPiece, PhaseEnd};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, RequestId};
use crate::models::cache::Frame;
use crate::models::cache::block_cache::{BlockState, LinePiece};
use crate::models::cache::replacement::Cost;

impl Tier {
    /// Begins a write. It is sent once its lines have their places.
    pub(super) fn begin_write(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let mut work = self.works.take(id);
        self.find_lines(id, &mut work, cx);
        let held = work
            .lines
            .iter()
            .filter(|line| line.frame.is_some() && !line.is_new);
        let held = held.map(|line| u64::from(line.piece.blocks())).sum();
        self.counters.writes(&work.command, held);
        self.counters.waited_for_place += u64::from(work.awaited > 0);
        // Dirty blocks are the newest until the write has ended.
        let forgets = !self.absorbs();
        for line in work.lines.iter().filter(|_| forgets) {
            if let (Action::Drop, Some(frame)) = (line.action, line.frame) {
                self.map.forget(frame, &line.piece);
            }
        }
        let request = work.request.expect("a write is the host's");
        work.job = Some(self.children.begin(request));
        work.stage = Stage::Writing;
        self.works.put_back(id, work);
        self.send_write(id, cx);
    }

    /// Sends a write, once there is place.
    pub(super) fn send_write(&mut self, id: WorkId, cx: &mut Context<'_>) {
        if self.works.get(id).awaited > 0 {
            return;
        }
        let mut work = self.works.take(id);
        let job = work.job.expect("it has begun");
        let request = work.request.expect("a write is the host's");
        if self.condition == Condition::ReadOnly {
            withdraw(&mut work);
        }
        let mut through: Option<(u64, u32)> = None;
        let mut throughs = std::mem::take(&mut self.runs);
        throughs.clear();
        for (index, line) in work.lines.iter().enumerate() {
            let LinePiece { lbn, .. } = line.piece;
            let blocks = line.piece.blocks();
            if let (Action::Absorb | Action::Update, Some(frame)) = (line.action, line.frame) {
                let at = self.run(frame, &line.piece, lbn, blocks).at;
                let piece = Piece {
                    work: id,
                    what: What::Store(index),
                };
                let store = Command {
                    fua: work.command.fua && self.keeps_dirty(),
                    ..command(Op::Write, at, blocks)
                };
                let child = self.children.send(job, self.cache.device, store, piece, cx);
                if let Some((checker, _)) = cx.checker() {
                    checker.moved((request, lbn), (child, at), blocks);
                }
            }
            if line.action == Action::Absorb {
                throughs.extend(through.take());
            } else {
                let first = through.map_or((lbn, 0), |run| run);
                through = Some((first.0, first.1 + blocks));
            }
        }
        throughs.extend(through);
        for &(lbn, blocks) in &throughs {
            let part = Command {
                lbn: Lbn(lbn),
                blocks,
                ..work.command
            };
            let piece = Piece {
                work: id,
                what: What::Through,
            };
            let child = self
                .children
                .send(job, self.backing.device, part, piece, cx);
            if let Some((checker, _)) = cx.checker() {
                checker.carried(request, child, lbn, blocks);
            }
        }
        self.runs = throughs;
        self.works.put_back(id, work);
    }

    /// Part of a write could not be written to the cache device: what is nowhere else goes to the backing device, and in the end the line loses
    /// its blocks. `None` where it does.
    pub(super) fn store_failed(
        &mut self,
        ended: EndedPiece<Piece>,
        index: usize,
        cx: &mut Context<'_>,
    ) -> Option<EndedPiece<Piece>> {
        self.cache_write_failed();
        let id = ended.payload.work;
        let work = self.works.get_mut(id);
        let request = work.request.expect("a write is the host's");
        let of_host = work.command;
        let line = &mut work.lines[index];
        let was_absorbed = line.action == Action::Absorb;
        line.action = Action::Drop;
        if !was_absorbed {
            return Some(ended);
        }
        let (lbn, blocks) = (line.piece.lbn, line.piece.blocks());
        let instead = Command {
            lbn: Lbn(lbn),
            blocks,
            ..of_host
        };
        let what = Piece {
            work: id,
            what: What::Through,
        };
        let child = self
            .children
            .send_instead(ended, self.backing.device, instead, what, cx);
        if let Some((checker, _)) = cx.checker() {
            checker.carried(request, child, lbn, blocks);
        }
        None
    }

    /// Part of a write is on the backing device: the policy hears what it cost.
    pub(super) fn passed_through(&mut self, id: WorkId, child: RequestId, cx: &Context<'_>) {
        let ended = cx.request(child);
        let Command { lbn, blocks, .. } = ended.command;
        let cost = Cost {
            media: ended.media,
            blocks: self.map.pieces(lbn.0, blocks).count() as u32,
        };
        for line in &self.works.get(id).lines {
            let is_part = line.piece.within(lbn.0, blocks).is_some();
            if let (Action::Update, Some(frame), true) = (line.action, line.frame, is_part) {
                self.map.paid(frame, cost);
            }
        }
    }

    /// A write is where it belongs, or could not be written.
    pub(super) fn write_ended(&mut self, id: WorkId, end: PhaseEnd, cx: &mut Context<'_>) {
        let is_absorbed = |line: &WorkLine| line.action == Action::Absorb;
        // What a table that cannot be changed does not name is not kept by the cache device.
        if self.condition == Condition::ReadOnly
            && self.retirement.has_begun()
            && end.outcome == Outcome::Ok
            && self.works.get(id).lines.iter().any(is_absorbed)
        {
            return self.send_absorbed_through(id, cx);
        }
        let mut work = self.works.take(id);
        // What was absorbed before the cache device failed is lost again.
        let has_lost = self.condition == Condition::Failed && work.lines.iter().any(is_absorbed);
        let outcome = match end.outcome {
            Outcome::Ok if has_lost => Outcome::FailedDevice,
            outcome => outcome,
        };
        for line in &work.lines {
            let Some(frame) = line.frame else { continue };
            match line.action {
                Action::Absorb if self.condition != Condition::Failed => {
                    let (state, piece) = (self.map.line(frame), line.piece);
                    let run = self.map.next_run(state, BlockState::Dirty, piece);
                    self.map.put(frame, &piece, true);
                    self.changes.note_dirty(piece.key, frame);
                    if run != Some((piece.lbn, piece.blocks())) {
                        self.note_dirty(piece.key, frame);
                    }
                }
                Action::Update if outcome == Outcome::Ok && self.condition != Condition::Failed => {
                    self.map.put(frame, &line.piece, false);
                    self.note_dirty(line.piece.key, frame);
                }
                // A write that has failed has not replaced what is dirty.
                Action::Drop if outcome != Outcome::Ok && self.absorbs() => {}
                _ => self.map.forget(frame, &line.piece),
            }
        }
        if outcome == Outcome::Ok {
            let Command { lbn, blocks, .. } = work.command;
            self.lost.remove(lbn.0, blocks);
            if work.lines.iter().all(is_absorbed) {
                self.counters.absorbed_writes += 1;
            }
        }
        let now = cx.now();
        self.counters.dirty.clock(now, self.map.dirty_blocks());
        let awaited = (outcome == Outcome::Ok).then(|| self.commit_of(&work));
        if awaited.flatten().is_some() {
            work.stage = Stage::Committing;
        }
        self.works.put_back(id, work);
        match awaited.flatten() {
            Some(commit) => self.wait_with_write(commit, id),
            None if outcome == Outcome::Ok && self.waits_for_record(id) => {}
            None => self.end_write(id, outcome, cx),
        }
    }

    /// The commit that a write waits for: the last one that makes what the table says of its lines durable.
    fn commit_of(&self, work: &Work) -> Option<u64> {
        let table = self.table.as_ref()?;
        if !table.rules.writes_wait && !work.command.fua {
            return None;
        }
        let absorbed = work
            .lines
            .iter()
            .filter(|line| line.action == Action::Absorb);
        absorbed.filter_map(|line| table.pending(line.frame?)).max()
    }

    fn wait_with_write(&mut self, commit: u64, id: WorkId) {
        self.counters.waited_for_commit += 1;
        if let Some(table) = &mut self.table {
            table.wait(commit, Waiter::Write(id));
        }
    }

    /// The cache device cannot keep what a write has put there alone: that goes to the backing device, and its lines lose the blocks.
    pub(super) fn send_absorbed_through(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let mut work = self.works.take(id);
        let job = work.job.expect("it has begun");
        let request = work.request.expect("a write is the host's");
        work.stage = Stage::Writing;
        let of_host = work.command;
        for line in &mut work.lines {
            if line.action != Action::Absorb {
                continue;
            }
            line.action = Action::Drop;
            let (lbn, blocks) = (line.piece.lbn, line.piece.blocks());
            let part = Command {
                lbn: Lbn(lbn),
                blocks,
                ..of_host
            };
            let piece = Piece {
                work: id,
                what: What::Through,
            };
            let child = (self.children).send(job, self.backing.device, part, piece, cx);
            if let Some((checker, _)) = cx.checker() {
                checker.carried(request, child, lbn, blocks);
            }
        }
        self.works.put_back(id, work);
    }

    /// A write is complete, and has waited since its last request to a device was if it has waited for a commit.
    pub(super) fn end_write(&mut self, id: WorkId, outcome: Outcome, cx: &mut Context<'_>) {
        let mut work = self.works.take(id);
        let request = work.request.expect("a write is the host's");
        let has_waited = work.stage == Stage::Committing;
        self.children.end(work.job.expect("it has begun"));
        self.give_back(&mut work, |_| false);
        self.works.put_back(id, work);
        self.works.end(id);
        if has_waited {
            let now = cx.now();
            let entry = cx.request_mut(request);
            let since = entry.start + entry.parts.total();
            entry.parts.add(Part::Wait, now - since);
        }
        self.complete(request, outcome, cx);
    }

    /// A run of blocks of a line.
    pub(super) fn run(&self, frame: Frame, piece: &LinePiece, lbn: u64, blocks: u32) -> CacheRun {
        let block = piece.after(lbn).first;
        CacheRun {
            frame,
            lbn,
            blocks,
            at: self.place(frame, block),
            is_lost: false,
        }
    }
}

/// The cache device has stopped to take writes while a write waited for a place: all of it goes to the backing device.
fn withdraw(work: &mut Work) {
    for line in &mut work.lines {
        if matches!(line.action, Action::Absorb | Action::Update) {
            line.action = Action::Drop;
        }
    }
}

//! The order of requests: which begins when, and which lines it gets.

use std::ops::Range;

use super::counters::Bypass;
use super::table::Waiter;
use super::work::{Action, Stage, Work, WorkId, WorkLine};
use super::write_policies::HeldLine;
use super::{Condition, Tier};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId};
use crate::models::cache::block_cache::{LinePiece, Place};

impl Tier {
    /// A read, a write or a trim of the host arrives: it begins, or waits.
    pub(super) fn arrive(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let is_bypassed = match (&mut self.parts.streams, command.op) {
            (Some(streams), Op::Read | Op::Write) => streams.arrives(command),
            _ => false,
        };
        let id = self.works.add(Some(request), *command);
        self.works.get_mut(id).is_bypassed = is_bypassed;
        let keys = self.keys(command);
        self.see_what_leaves();
        if self.may_begin_behind(self.waiting.len(), id, &keys) {
            self.begin(id, cx);
        } else {
            self.waiting.push_back((id, keys));
            self.counters.conflicts += 1;
        }
    }

    /// Begins the first request, in the order of arrival, that waits for nothing any more. Whether there was one.
    pub(super) fn begin_first(&mut self, cx: &mut Context<'_>) -> bool {
        self.see_what_leaves();
        let ready = (0..self.waiting.len()).find(|&place| self.may_begin(place));
        let Some((id, _)) = ready.and_then(|place| self.waiting.remove(place)) else {
            return false;
        };
        self.begin(id, cx);
        true
    }

    /// The lines of a command.
    fn keys(&self, command: &Command) -> Range<u64> {
        match command.blocks {
            0 => 0..0,
            _ => self.map.key_of(command.lbn.0)..self.map.key_of(command.end().0 - 1) + 1,
        }
    }

    /// Whether the request at a place of those that wait may begin.
    pub(super) fn may_begin(&self, place: usize) -> bool {
        let (id, keys) = &self.waiting[place];
        self.may_begin_behind(place, *id, keys)
    }

    /// Whether a request may begin that came behind `place` waiting requests: none of them has a line in common with it, and each of its
    /// lines is free, as far as it needs that.
    fn may_begin_behind(&self, place: usize, id: WorkId, keys: &Range<u64>) -> bool {
        if self.is_closing() {
            return false;
        }
        let work = self.works.get(id);
        if work.command.op != Op::Read && self.retirement.names_any(keys.clone()) {
            return false;
        }
        let mut before = self.waiting.iter().take(place);
        let is_behind = before.any(|(_, other)| other.start < keys.end && keys.start < other.end);
        if is_behind {
            return false;
        }
        if !self.claims.has_any(keys.clone()) {
            return true;
        }
        let Command {
            lbn, blocks, op, ..
        } = work.command;
        op != Op::Trim
            && self.map.pieces(lbn.0, blocks).all(|piece| {
                let claim = self.claims.get(piece.key);
                let changes = self.changes(work, &piece);
                match claim.exclusive {
                    Some(_) => op == Op::Read && claim.is_promoting && self.has_all(&piece),
                    None => claim.shared == 0 || !changes,
                }
            })
    }

    /// Whether a line has all blocks of a piece.
    fn has_all(&self, piece: &LinePiece) -> bool {
        self.map.missing(piece, self.map.find(piece.key)).is_none()
    }

    /// Whether a request that begins now may change a line.
    fn changes(&self, work: &Work, piece: &LinePiece) -> bool {
        let is_held = self.map.find(piece.key).is_some();
        match work.command.op {
            Op::Read if self.has_all(piece) => false,
            _ if is_held => work.command.op != Op::Read || self.fills(work),
            op => self.reason(work, op).is_none() && self.parts.admission.would_admit(piece.key),
        }
    }

    /// Whether a read promotes what it fetches of lines that are held.
    fn fills(&self, work: &Work) -> bool {
        self.parts.rules.caches_reads
            && !work.is_bypassed
            && self.condition == Condition::Working
            && !self.changes.is_under_way()
    }

    /// Why a request gets no lines, whichever it asks for; `None` where nothing is against it.
    pub(super) fn reason(&self, work: &Work, op: Op) -> Option<Bypass> {
        let rules = &self.parts.rules;
        if !(if op == Op::Read {
            rules.caches_reads
        } else {
            rules.allocates
        }) {
            Some(Bypass::WritePolicy)
        } else if self.condition == Condition::Removed || self.changes.is_under_way() {
            Some(Bypass::Changing)
        } else if self.condition != Condition::Working {
            Some(Bypass::CacheFailed)
        } else if work.is_bypassed {
            Some(Bypass::Sequential)
        } else {
            None
        }
    }

    /// Begins a request.
    fn begin(&mut self, id: WorkId, cx: &mut Context<'_>) {
        match self.works.get(id).command.op {
            Op::Read => self.begin_read(id, cx),
            Op::Write => self.begin_write(id, cx),
            _ => self.begin_trim(id, cx),
        }
    }

    /// Finds the lines of a request: those that are held are accessed first, in ascending order, then the others, which get places as
    /// far as they are to. The request has all of them that it needs until it gives them back.
    pub(super) fn find_lines(&mut self, id: WorkId, work: &mut Work, cx: &mut Context<'_>) {
        let Command {
            lbn, blocks, op, ..
        } = work.command;
        for piece in self.map.pieces(lbn.0, blocks) {
            let frame = self.map.find(piece.key);
            if let Some(frame) = frame {
                self.map.pin(frame);
            }
            work.lines.push(WorkLine {
                piece,
                frame,
                is_new: false,
                is_exclusive: false,
                action: Action::Pass,
                in_memory_of: None,
            });
        }
        let write = op == Op::Write;
        for line in work.lines.iter().filter(|line| line.frame.is_some()) {
            let victims = &mut self.victims;
            let place = (self.map).access_found(line.frame, line.piece.key, write, victims);
            debug_assert!(matches!(place, Place::Held(_)));
        }
        let mut lines = std::mem::take(&mut work.lines);
        for line in lines.iter_mut().filter(|line| line.frame.is_none()) {
            self.find_place(id, work, line, cx);
        }
        // A line that a hit evicts is clean.
        while let Some(shed) = self.victims.pop() {
            let place = self
                .table
                .as_ref()
                .and_then(|table| table.cleaned_at(shed.key));
            if let Some(frame) = place {
                self.emptied(shed.key, frame);
            }
            self.map.release(shed);
        }
        for line in &mut lines {
            line.action = self.action(work, line);
            line.is_exclusive = line.action != Action::Pass;
            match line.is_exclusive {
                true => self.claims.take(line.piece.key, id),
                false => line.in_memory_of = self.claims.share(line.piece.key),
            }
        }
        work.lines = lines;
    }

    /// Gives a line that is not held a place, if it is to have one and there is one.
    fn find_place(
        &mut self,
        id: WorkId,
        work: &mut Work,
        line: &mut WorkLine,
        cx: &mut Context<'_>,
    ) {
        let op = work.command.op;
        let (key, write) = (line.piece.key, op == Op::Write);
        let mut reason = self.reason(work, op);
        if reason.is_none() && !self.parts.admission.accessed(key) {
            reason = Some(Bypass::Admission);
        }
        if reason.is_none() {
            let before = self.victims.len();
            let found = self.map.access_found(None, key, write, &mut self.victims);
            let Place::New(frame) = found else {
                return self.counters.bypassed(Bypass::NoLine);
            };
            self.map.pin(frame);
            (line.frame, line.is_new) = (Some(frame), true);
            if self.victims.len() > before
                && let Some(victim) = self.victims.pop()
            {
                work.awaited += u32::from(self.evict(victim, frame, id, cx));
            } else {
                work.awaited += u32::from(self.wait_for_place(frame, Waiter::Place(id)));
            }
            return;
        }
        self.map.pass(key, write);
        self.counters.bypassed(reason.unwrap_or(Bypass::Admission));
    }

    /// What a request does with its part of a line.
    pub(super) fn action(&self, work: &Work, line: &WorkLine) -> Action {
        let Some(frame) = line.frame else {
            return Action::Pass;
        };
        if work.command.op == Op::Read {
            let is_missing = self.map.missing(&line.piece, Some(frame)).is_some();
            return match is_missing && (line.is_new || self.fills(work)) {
                true => Action::Fill,
                false => Action::Pass,
            };
        }
        match self.parts.rules.held {
            _ if self.condition != Condition::Working => Action::Drop,
            HeldLine::Invalidated => Action::Drop,
            // What must be durable at once goes to the device that makes it so.
            HeldLine::Absorbing if self.changes.takes(frame) => Action::Update,
            HeldLine::Absorbing if !work.command.fua || self.keeps_dirty() => Action::Absorb,
            HeldLine::Absorbing | HeldLine::Updated => Action::Update,
        }
    }

    /// A work is done with its lines, but for those that `keeps` says.
    pub(super) fn give_back(&mut self, work: &mut Work, keeps: impl Fn(&WorkLine) -> bool) {
        let mut kept = 0;
        for at in 0..work.lines.len() {
            let line = work.lines[at];
            if keeps(&line) {
                work.lines[kept] = line;
                kept += 1;
                continue;
            }
            let key = line.piece.key;
            match line.is_exclusive {
                true => self.claims.release(key),
                false => self.claims.give_back(key),
            }
            if let Some(frame) = line.frame {
                self.map.unpin(frame);
                self.map.remove_if_empty(frame);
                self.emptied(key, frame);
            }
        }
        work.lines.truncate(kept);
    }

    /// Begins a trim: its blocks are in the cache no longer, dirty or not, and it goes on to the backing device.
    fn begin_trim(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let Command { lbn, blocks, .. } = self.works.get(id).command;
        let named = self.named_within(lbn.0, blocks);
        let trimmed = self.map.trim(lbn.0, blocks, |_, _| {});
        self.lost.remove(lbn.0, blocks);
        self.counters.trimmed_blocks += trimmed.blocks;
        self.counters.trimmed_dirty_blocks += trimmed.dirty;
        for (key, frame, was_dirty) in named {
            if self.map.find(key) != Some(frame) {
                self.emptied(key, frame);
            } else if was_dirty {
                self.note_dirty(key, frame);
            }
        }
        self.pass_on(id, cx);
        self.works.get_mut(id).stage = Stage::Trimming;
    }
}

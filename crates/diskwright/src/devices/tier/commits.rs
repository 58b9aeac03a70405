//! Commits: what has changed in the table of dirty blocks is written to the cache device, and what waited for that goes on.

use super::durable::{Durable, Named};
use super::table::Waiter;
use super::work::{Cause, Piece, Stage, What, WorkId, command};
use super::{Condition, Tier};
use crate::engine::Token;
use crate::engine::children::{Ground, PhaseEnd};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome};
use crate::models::cache::Frame;
use crate::models::cache::block_cache::BlockState;

/// The oldest change has waited for the longest time.
pub(super) const COMMIT: u32 = 2;

/// The work that commits are part of: none.
const NO_WORK: WorkId = WorkId(u32::MAX);

impl Tier {
    /// Before the run: with the checker on, what is on the medium is kept.
    pub(super) fn prepare_table(&mut self, cx: &mut Context<'_>) {
        let Some(table) = &mut self.table else { return };
        if cx.checker().is_some() {
            table.durable = Some(Durable::new(table.rules.area));
        }
        // What is dirty at the start has been named before.
        let (mut from, per_line) = (0, u64::from(self.map.blocks_per_line()));
        while let Some((lbn, _)) = self.map.next_dirty(from, 1) {
            let key = lbn / per_line;
            if let Some(frame) = self.map.find(key) {
                table.name(frame);
                if let Some(durable) = &mut table.durable {
                    let (line, whole) = (self.map.line(frame), self.map.whole(key));
                    let runs = self.map.runs(line, BlockState::Dirty, whole).collect();
                    durable.set(frame, Some(Named { key, runs }));
                }
            }
            from = (key + 1) * per_line;
        }
        if let Some(durable) = &mut table.durable {
            durable.begin();
            durable.end();
        }
    }

    /// Whether dirty blocks on the cache device survive a power cut.
    pub(super) fn keeps_dirty(&self) -> bool {
        self.table.as_ref().is_some_and(|table| !table.is_frozen) && self.absorbs()
    }

    /// The dirty blocks of a line that is held have changed.
    pub(super) fn note_dirty(&mut self, key: u64, frame: Frame) {
        let Some(table) = &mut self.table else { return };
        let (line, whole) = (self.map.line(frame), self.map.whole(key));
        let is_dirty = self.map.next_run(line, BlockState::Dirty, whole).is_some();
        if !is_dirty && !table.names(frame) {
            return;
        }
        table.change(frame, is_dirty);
        if !is_dirty {
            table.cleaned(key, frame);
        }
        if let (Some(durable), false) = (&mut table.durable, table.is_frozen) {
            let runs = self.map.runs(line, BlockState::Dirty, whole).collect();
            durable.set(frame, Some(Named { key, runs }));
        }
    }

    /// A place has no dirty blocks any more, and its line no place.
    pub(super) fn note_left(&mut self, frame: Frame) {
        if let Some(table) = &mut self.table
            && table.names(frame)
        {
            table.change(frame, false);
            if let (Some(durable), false) = (&mut table.durable, table.is_frozen) {
                durable.set(frame, None);
            }
        }
    }

    /// A line that nobody uses has lost all its blocks and its place. If the table names it on the medium, nobody may use it until it does
    /// no longer.
    pub(super) fn emptied(&mut self, key: u64, frame: Frame) {
        let is_named = self
            .table
            .as_ref()
            .is_some_and(|table| table.may_name(frame));
        if !is_named || self.map.find(key) == Some(frame) {
            return;
        }
        self.note_left(frame);
        let id = self.works.add(None, Command::default());
        self.claims.take(key, id);
        let work = self.works.get_mut(id);
        (work.cause, work.stage) = (Cause::Emptied { key }, Stage::Committing);
        self.wait_for_place(frame, Waiter::Line(id));
    }

    /// The lines with dirty blocks in a run, and others of it of which the table on the medium may not say that they are clean: with their
    /// places, and whether they have such blocks.
    pub(super) fn named_within(&self, lbn: u64, blocks: u32) -> Vec<(u64, Frame, bool)> {
        let Some(table) = &self.table else {
            return Vec::new();
        };
        let per_line = u64::from(self.map.blocks_per_line());
        let end = lbn + u64::from(blocks);
        let (mut named, mut from) = (Vec::new(), lbn);
        while let Some((first, _)) = self.map.next_dirty(from, 1)
            && first < end
        {
            let key = first / per_line;
            named.extend(self.map.find(key).map(|frame| (key, frame, true)));
            from = (key + 1) * per_line;
        }
        let dirty = named.len();
        for (key, frame) in table.cleaned_within(lbn / per_line..end.div_ceil(per_line)) {
            if named[..dirty].iter().all(|&(other, ..)| other != key) {
                named.push((key, frame, false));
            }
        }
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Something waits until what has changed of a place is durable. Whether it must.
    pub(super) fn wait_for_place(&mut self, frame: Frame, waiter: Waiter) -> bool {
        let Some(table) = &mut self.table else {
            return false;
        };
        let pending = table.pending(frame);
        if let Some(commit) = pending {
            table.wait(commit, waiter);
        }
        pending.is_some()
    }

    /// What waits for a commit that cannot come goes on.
    pub(super) fn stop_waiting(&mut self, cx: &mut Context<'_>) {
        if self.table.as_ref().is_some_and(|table| table.is_frozen) {
            self.serve(cx);
        }
    }

    /// Begins the next commit if it is waited for, and otherwise sees to it that it begins in time.
    pub(super) fn advance_commits(&mut self, cx: &mut Context<'_>) {
        let Some(table) = &mut self.table else { return };
        if table.is_frozen || table.is_committing() {
            return;
        }
        if table.is_wanted {
            self.commit(cx);
        } else if table.has_changes() && table.alarm.is_none() {
            let at = cx.now() + table.rules.interval;
            table.alarm = Some(cx.background_alarm(at, Token::new(COMMIT, 0)));
        }
    }

    /// The oldest change has waited for long enough.
    pub(super) fn commit_is_due(&mut self, cx: &mut Context<'_>) {
        if let Some(table) = &mut self.table {
            table.alarm = None;
            table.is_wanted = table.has_changes();
        }
        self.advance_commits(cx);
    }

    /// Whether a commit should have begun.
    pub(super) fn may_commit(&self) -> bool {
        let table = self.table.as_ref();
        table.is_some_and(|table| table.is_wanted && !table.is_committing() && table.has_changes())
    }

    /// Begins a commit. A cache device that promises only what it has flushed first makes durable what the table will name.
    fn commit(&mut self, cx: &mut Context<'_>) {
        let Some(table) = &mut self.table else { return };
        if let Some(alarm) = table.alarm.take() {
            cx.cancel(alarm);
        }
        table.begin();
        self.counters.commits += 1;
        let job = self.children.begin_own(Ground::Behind);
        self.committing = Some(job);
        if table.rules.is_volatile {
            self.send_commit(command(Op::Flush, 0, 0), cx);
        } else {
            self.write_table(cx);
        }
    }

    fn send_commit(&mut self, part: Command, cx: &mut Context<'_>) {
        let job = self.committing.expect("a commit is under way");
        let piece = Piece {
            work: NO_WORK,
            what: What::Commit,
        };
        (self.children).send(job, self.cache.device, part, piece, cx);
    }

    /// Writes what has changed of the table.
    fn write_table(&mut self, cx: &mut Context<'_>) {
        let Some(table) = &mut self.table else { return };
        let (area, fua) = (table.rules.area, table.rules.is_volatile);
        let runs = std::mem::take(&mut table.runs);
        for &(block, blocks) in &runs {
            self.counters.table_blocks += u64::from(blocks);
            let write = command(Op::Write, area.at(block), blocks * super::area::TABLE_BLOCK);
            self.send_commit(Command { fua, ..write }, cx);
        }
        if let Some(table) = &mut self.table {
            table.runs = runs;
        }
    }

    /// A phase of the commit has ended.
    pub(super) fn commit_ended(&mut self, end: &PhaseEnd, cx: &mut Context<'_>) {
        let Some(table) = &self.table else { return };
        let is_flushed = table.rules.is_volatile && end.phase == 0;
        if end.outcome == Outcome::Ok && is_flushed {
            return self.write_table(cx);
        }
        self.children.end(end.job);
        self.committing = None;
        if end.outcome != Outcome::Ok {
            self.cache_write_failed();
        }
        if let Some(table) = &mut self.table {
            let has_written = end.phase > 0 || !table.rules.is_volatile;
            table.end(end.outcome == Outcome::Ok, has_written);
        }
        self.serve(cx);
    }

    /// What waited for commits that have ended goes on.
    fn serve(&mut self, cx: &mut Context<'_>) {
        while let Some(waiter) = self.table.as_mut().and_then(|table| table.next_served()) {
            match waiter {
                Waiter::Write(id) => self.write_is_durable(id, cx),
                Waiter::Line(id) => self.line_is_forgotten(id, cx),
                Waiter::Place(id) => self.place_is_free(id, cx),
            }
        }
    }

    /// The table does not name a line any more that has left its place.
    pub(super) fn line_is_forgotten(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let cause = std::mem::take(&mut self.works.get_mut(id).cause);
        match cause {
            Cause::Victim {
                victim,
                number,
                waiter,
            } => {
                self.claims.release(victim.key);
                self.map.release(victim);
                self.flushes.victim_has_left(number);
                self.works.end(id);
                self.place_is_free(waiter, cx);
            }
            Cause::Emptied { key } => {
                self.claims.release(key);
                self.works.end(id);
            }
            Cause::None | Cause::Cleaning | Cause::Flush | Cause::Change | Cause::Retirement => {
                unreachable!("it has left no place")
            }
        }
    }

    /// The table names what a write has made dirty, or cannot: then its blocks go to the backing device.
    fn write_is_durable(&mut self, id: WorkId, cx: &mut Context<'_>) {
        match self.condition {
            Condition::Working | Condition::Removed => self.end_write(id, Outcome::Ok, cx),
            Condition::Failed => self.end_write(id, Outcome::FailedDevice, cx),
            Condition::ReadOnly => self.send_absorbed_through(id, cx),
        }
    }
}

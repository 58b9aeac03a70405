//! The life of a piece of work: it gets its rows, is planned, is planned anew where a read fails, and ends.

use super::geometry::{Geometry, Scheme};
use super::locks::Rows;
use super::members::State;
use super::plan::{Bad, Plan};
use super::reading::{is_direct, pieces, plan_read};
use super::spec::Waits;
use super::work::{Kind, Work};
use super::writing::plan_write;
use super::{Redundant, has_blocks};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, RequestId};

impl Redundant {
    /// Takes a request of the parent.
    pub(super) fn take(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let command = cx.request(request).command;
        self.open += 1;
        self.counters.came(&command);
        if is_split(&self.geometry, &command) {
            self.counters.split();
        }
        let kind = match command.op {
            Op::Flush => Kind::Flush,
            _ => Kind::Request,
        };
        let work = self.begin(kind, Some(request), command);
        let rows = match command.op {
            Op::Flush => None,
            Op::Trim if self.geometry.parities() > 0 => None,
            // It needs none, or gets them when it is planned.
            Op::Read => None,
            _ => Some(rows_of(&self.geometry, &command, false)),
        };
        let entry = &mut self.work[work as usize];
        entry.rows = rows;
        if command.op == Op::Flush {
            entry.flush = self.risk.flush_begins();
        }
        if command.op == Op::Read && !self.risk.holes.is_empty() {
            let blocks = command.lbn.0..command.end().0;
            entry.is_in_doubt = self.risk.holes.meets(&blocks);
        }
        self.ask(work);
    }

    /// Makes a piece of work.
    pub(super) fn begin(
        &mut self,
        kind: Kind,
        request: Option<RequestId>,
        command: Command,
    ) -> u32 {
        let condition = self.condition();
        let number = self.free.pop().unwrap_or_else(|| {
            self.work.push(Work::default());
            self.work.len() as u32 - 1
        });
        let job = match request {
            Some(request) => self.children.begin(request),
            None => self.children.begin_own(kind.ground()),
        };
        let work = &mut self.work[number as usize];
        work.renew(kind, request, command);
        work.condition = condition;
        work.job = Some(job);
        number
    }

    /// Has a piece of work wait for its rows, or go on.
    pub(super) fn ask(&mut self, number: u32) {
        let work = &mut self.work[number as usize];
        // What was read without the rows may have changed since.
        work.have.clear();
        work.contents.clear();
        work.blocked = match &work.rows {
            Some(rows) => self.locks.add(number, rows),
            None => 0,
        };
        match work.blocked {
            0 => self.ready.push_back(number),
            _ => self.counters.waited += 1,
        }
    }

    /// Goes on with work that has its rows.
    pub(super) fn go_on(&mut self, cx: &mut Context<'_>) {
        while let Some(number) = self.ready.pop_front() {
            if self.holds_back(number) || !self.is_marked(number, cx) {
                continue;
            }
            if self.is_to_have_rows(number) {
                let work = &mut self.work[number as usize];
                work.rows = Some(rows_of(&self.geometry, &work.command, true));
                self.ask(number);
                continue;
            }
            match self.plan(number, cx) {
                Ok(()) => self.send_all(number, cx),
                Err(outcome) => self.end(number, outcome, cx),
            }
        }
    }

    /// Whether a read has to get its rows first: what is where it should be is read as it is, but members may have failed since it came.
    fn is_to_have_rows(&self, number: u32) -> bool {
        let work = &self.work[number as usize];
        if work.kind != Kind::Request || work.command.op != Op::Read || work.rows.is_some() {
            return false;
        }
        let (first, end) = (work.command.lbn.0, work.command.end().0);
        let is_whole = || (self.slots.iter()).all(|slot| slot.has(self.geometry.used()));
        let is_direct = || self.geometry.parities() > 0 && is_direct(&self.view(work), first, end);
        !is_whole() && !is_direct()
    }

    /// Plans a piece of work as the members are now.
    fn plan(&mut self, number: u32, cx: &mut Context<'_>) -> Result<(), Outcome> {
        let mut work = std::mem::take(&mut self.work[number as usize]);
        let mut plan = std::mem::take(&mut work.plan);
        plan.clear();
        if work.command.op == Op::Read && !self.lost.is_empty() {
            let blocks = work.command.lbn.0..work.command.end().0;
            work.is_lost |= self.lost.meets(&blocks);
        }
        let result = self.plan_into(&work, &mut plan);
        let is_known = cx.checker().is_some();
        if let Some(journal) = self.journal.as_mut().filter(|_| !plan.lost.is_empty()) {
            let unit = self.geometry.unit;
            for &(row, ..) in &plan.lost {
                journal.revoke_row(self.slots.len(), row * unit, (row + 1) * unit);
            }
        }
        for &(row, unit, from, to) in &plan.lost {
            let lbn = self.geometry.lbn(row, unit);
            let slot = self.geometry.place(row, unit);
            self.lost.add(lbn + from..lbn + to);
            self.counters.lost += to - from;
            for within in (from..to).filter(|_| is_known) {
                (work.contents).put(slot, row * self.geometry.unit + within, 0);
            }
        }
        let has = |io: &super::plan::Io| {
            work.has_read(&Bad {
                slot: io.slot,
                from: io.lbn,
                to: io.end(),
            })
        };
        plan.reads.retain(|io| !has(io));
        if !plan.holes.is_empty() {
            self.note_holes(&plan.holes);
        }
        let waits_for_all = self.rules.waits == Waits::All || work.command.op != Op::Write;
        plan.join(work.is_single, waits_for_all);
        if let Kind::Replay { .. } = work.kind {
            // For the entry to be read.
            plan.writes.iter_mut().for_each(|write| write.waits = 1);
        }
        if work.kind == Kind::Marks {
            self.counters.bitmap_writes += plan.writes.len() as u64;
        }
        work.plan = plan;
        self.work[number as usize] = work;
        result
    }

    fn plan_into(&mut self, work: &Work, plan: &mut Plan) -> Result<(), Outcome> {
        let command = work.command;
        let (first, end) = (command.lbn.0, command.end().0);
        match work.kind {
            Kind::None => unreachable!("work that has ended is not planned"),
            Kind::Request if self.geometry.parities() == 0 => {
                self.has_trimmed |= command.op == Op::Trim;
                self.plan_copies(work, plan)
            }
            Kind::Request => match command.op {
                Op::Read => plan_read(&self.view(work), first, end, plan),
                Op::Write => {
                    let rule = self.rules.writes;
                    plan_write(&self.view(work), rule, (first, end), work.is_torn, plan)
                }
                // What a member says of trimmed blocks is not known, and parity of them would not be either.
                _ => {
                    self.counters.trims_kept += 1;
                    Ok(())
                }
            },
            Kind::Marks => {
                self.plan_marks(work, plan);
                Ok(())
            }
            Kind::Replay { entry } => {
                self.plan_replay(work, entry, plan);
                Ok(())
            }
            Kind::Flush | Kind::Seal { .. } | Kind::Settle | Kind::Unmark | Kind::Reclaim => Ok(()),
            Kind::Entries | Kind::Tail => Ok(()),
            Kind::Rebuild { spare, from, to } => self.plan_rebuild(work, spare, (from, to), plan),
            Kind::Scrub { from, to } | Kind::Resync { from, to } => {
                self.plan_step(work, (from, to), plan);
                Ok(())
            }
        }
    }

    /// A request of an array of copies.
    fn plan_copies(&mut self, work: &Work, plan: &mut Plan) -> Result<(), Outcome> {
        let command = work.command;
        let geometry = self.geometry;
        let (first, end) = (command.lbn.0, command.end().0);
        let mut columns: Vec<Option<(u64, u64)>> = vec![None; geometry.data()];
        for (unit, (row, from, to)) in pieces(&geometry, first, end) {
            let at = row * geometry.unit;
            let column = columns[unit].get_or_insert((at + from, at + to));
            column.1 = at + to;
        }
        for (unit, column) in columns.into_iter().enumerate() {
            let Some((from, to)) = column else { continue };
            if command.op == Op::Read && work.is_single {
                // Something of it cannot be read: each row by itself may have another copy that can.
                for row in from / geometry.unit..=(to - 1) / geometry.unit {
                    let begin = from.max(row * geometry.unit);
                    let end = to.min((row + 1) * geometry.unit);
                    self.read_copy(work, unit, (begin, end), plan)?;
                }
                continue;
            }
            if command.op == Op::Read {
                self.read_copy(work, unit, (from, to), plan)?;
                continue;
            }
            let mut is_kept = false;
            for slot in geometry.copies_of(unit) {
                is_kept |= self.slots[slot].has(to);
                if self.slots[slot].takes(from) {
                    plan.writes
                        .push(Plan::span(&self.view(work), slot, from, to - from));
                }
            }
            if !is_kept {
                return Err(Outcome::FailedDevice);
            }
        }
        Ok(())
    }

    /// Reads blocks of a column of copies from one of them: the one that the policy chooses, of those that have them. Copies that could not be
    /// read are written again.
    fn read_copy(
        &mut self,
        work: &Work,
        unit: usize,
        (from, to): (u64, u64),
        plan: &mut Plan,
    ) -> Result<(), Outcome> {
        let geometry = self.geometry;
        let view = self.view(work);
        let is_bad = |slot: usize| {
            let meets = |bad: &&Bad| bad.slot == slot && bad.from < to && from < bad.to;
            work.bad.iter().any(|bad| meets(&bad))
        };
        let slots = geometry.copies_of(unit);
        let has: Vec<usize> = slots.filter(|&slot| self.slots[slot].has(to)).collect();
        let good: Vec<usize> = has.iter().copied().filter(|&slot| !is_bad(slot)).collect();
        if good.is_empty() {
            return Err(match has.is_empty() {
                true => Outcome::FailedDevice,
                false => Outcome::MediaError,
            });
        }
        for &slot in has.iter().filter(|&&slot| is_bad(slot)) {
            plan.writes.push(Plan::span(&view, slot, from, to - from));
            plan.repaired += to - from;
        }
        let members: Vec<_> = good.iter().map(|&slot| self.slots[slot].member).collect();
        let command = Command {
            lbn: crate::base::units::Lbn(from),
            blocks: (to - from) as u32,
            ..work.command
        };
        let is_read = |&&slot: &&usize| work.has_read(&Bad { slot, from, to });
        let chosen = match good.iter().find(is_read) {
            Some(&slot) => slot,
            None => good[self.rules.read.choose(&command, &members)],
        };
        let read = Plan::span(&self.view(work), chosen, from, to - from);
        plan.reads.push(read);
        Ok(())
    }

    /// Plans a piece of work anew that could not read something.
    pub(super) fn retry(&mut self, number: u32) {
        let work = &mut self.work[number as usize];
        work.is_to_retry = false;
        work.is_torn |= work.has_written;
        // What was read of a member that is lost by now, or replaced, is computed, as the other blocks of that member are.
        let slots = &self.slots;
        work.have.retain(|have| slots[have.slot].has(have.to));
        for (number, slot) in slots.iter().enumerate() {
            match slot.state {
                State::Good => {}
                State::Lost => work.contents.forget_from(number, 0),
                State::Rebuilding(done) => work.contents.forget_from(number, done),
            }
        }
        if work.rows.is_some() {
            self.ready.push_back(number);
            return;
        }
        work.rows = Some(rows_of(&self.geometry, &work.command, false));
        self.ask(number);
    }

    /// Ends a piece of work, and goes on with what has waited for its rows.
    pub(super) fn end(&mut self, number: u32, outcome: Outcome, cx: &mut Context<'_>) {
        let mut work = std::mem::take(&mut self.work[number as usize]);
        if outcome == Outcome::Ok {
            self.counters.done(&work.plan);
        }
        if let Some(request) = work.request {
            let outcome = self.outcome(&work, outcome);
            if work.command.op == Op::Read && outcome == Outcome::Ok {
                self.hand_over(&work, request, cx);
            }
            if outcome == Outcome::Ok {
                self.note_ended(&work);
            }
            match &work.passed {
                Some(passed) => passed.stamp(request, cx),
                None => {
                    let now = cx.now();
                    let entry = cx.request_mut(request);
                    (entry.acceptance, entry.start) = (now, now);
                }
            }
            cx.complete(request, outcome);
            self.open -= 1;
            if outcome == Outcome::Ok {
                let response = cx.request(request).response();
                self.counters.responded(work.condition, response);
            }
        }
        if work.request.is_none() && outcome == Outcome::Ok {
            self.note_ended(&work);
        }
        if let Kind::Scrub { from, to } | Kind::Resync { from, to } = work.kind {
            self.compare(&work, (from, to), cx);
            if outcome == Outcome::Ok {
                self.set_right(&work, from, to);
            }
        }
        if let Some(rows) = &work.rows {
            let (all, ready) = (&mut self.work, &mut self.ready);
            self.locks.remove(number, rows, |waiting| {
                let waiting_work = &mut all[waiting as usize];
                waiting_work.blocked -= 1;
                if waiting_work.blocked == 0 {
                    ready.push_back(waiting);
                }
            });
        }
        self.children.end(work.job.take().expect("it was begun"));
        if work.kind == Kind::Request {
            self.leaves_regions(&work, cx);
            self.leaves_journal(&work, cx);
        }
        let kind = (std::mem::take(&mut work.kind), work.entry);
        self.work[number as usize] = work;
        self.free.push(number);
        self.has_ended(kind, outcome, cx);
    }

    /// What becomes of a request whose work ends with `outcome`.
    fn outcome(&mut self, work: &Work, outcome: Outcome) -> Outcome {
        let blocks = work.command.lbn.0..work.command.end().0;
        match work.command.op {
            _ if outcome != Outcome::Ok => outcome,
            Op::Read if work.is_lost || self.lost.meets(&blocks) => Outcome::MediaError,
            Op::Write if work.may_have_failed() && self.is_beyond_for(&work.command) => {
                Outcome::FailedDevice
            }
            Op::Flush | Op::Trim if work.has_failed_write && self.is_beyond() => {
                Outcome::FailedDevice
            }
            _ => Outcome::Ok,
        }
    }

    /// Whether too many members are missing for blocks of the array.
    fn is_beyond_for(&self, command: &Command) -> bool {
        let view = super::plan::View {
            geometry: &self.geometry,
            slots: &self.slots,
            bad: &[],
            risk: &self.risk,
        };
        let geometry = &self.geometry;
        let mut pieces = pieces(geometry, command.lbn.0, command.end().0);
        pieces.any(|(unit, segment)| match geometry.scheme {
            // Other groups of copies have other blocks.
            Scheme::Copies(_) => {
                let mut slots = geometry.copies_of(unit);
                slots.all(|slot| !view.has(slot, segment))
            }
            _ => view.is_beyond(segment),
        })
    }
}

/// Whether blocks of a command are on more than one member, copies apart.
fn is_split(geometry: &Geometry, command: &Command) -> bool {
    let pieces = pieces(geometry, command.lbn.0, command.end().0);
    let mut slots = pieces.map(|(unit, segment)| geometry.place(segment.0, unit));
    let first = slots.next();
    slots.any(|slot| Some(slot) != first)
}

/// The rows of a command, as they are locked: of copies, each unit is a row by itself.
fn rows_of(geometry: &Geometry, command: &Command, is_shared: bool) -> Rows {
    debug_assert!(has_blocks(command.op), "a flush has no rows");
    let (first, end) = (command.lbn.0, command.end().0);
    let is_of_one_unit = first / geometry.unit == (end - 1) / geometry.unit;
    let (from, to) = match is_of_one_unit {
        true => (first % geometry.unit, (end - 1) % geometry.unit + 1),
        false => (0, geometry.unit),
    };
    let [one, other] = match geometry.scheme {
        Scheme::Copies(_) => [first / geometry.unit..end.div_ceil(geometry.unit), 0..0],
        _ => geometry.rows_of(first, end),
    };
    let (head, rows) = if other.is_empty() {
        (0, one)
    } else {
        (one.end, other)
    };
    Rows {
        head,
        first: rows.start,
        count: rows.end - rows.start,
        step: 1,
        from,
        to,
        is_shared,
    }
}

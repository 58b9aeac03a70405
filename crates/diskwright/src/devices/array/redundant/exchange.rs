//! What goes to members, and what comes back from them.

use super::geometry::Role;
use super::journal::Logged;
use super::members::State;
use super::plan::{Bad, depends};
use super::work::{Kind, Sent};
use super::{JOURNAL, Redundant};
use crate::base::units::Lbn;
use crate::engine::context::Context;
use crate::engine::request::{Command, DeviceId, Op, Outcome, RequestId};

impl Redundant {
    /// Sends what a plan begins with; ends the work where that is nothing.
    pub(super) fn send_all(&mut self, number: u32, cx: &mut Context<'_>) {
        match self.work[number as usize].kind {
            Kind::Flush | Kind::Settle | Kind::Unmark | Kind::Reclaim => {
                (0..self.slots.len()).for_each(|slot| self.send_flush(number, slot, cx));
            }
            Kind::Tail => self.send_tail(number, cx),
            Kind::Replay { entry } => self.read_entry(number, entry, cx),
            Kind::Seal { spare } => {
                if let Some(slot) = self.slot_rebuilt_on(spare) {
                    self.send_flush(number, slot, cx);
                }
            }
            _ => {}
        }
        for index in 0..self.work[number as usize].plan.reads.len() {
            self.send(number, false, index, cx);
        }
        self.send_writes(number, cx);
        let work = &self.work[number as usize];
        if work.left == 0 && work.logged != Logged::Waiting {
            let outcome = match work.kind {
                // Nobody is left to keep anything.
                Kind::Flush => Outcome::FailedDevice,
                _ => Outcome::Ok,
            };
            self.end(number, outcome, cx);
        }
    }

    /// Sends the writes that wait for nothing any more.
    fn send_writes(&mut self, number: u32, cx: &mut Context<'_>) {
        if self.logs(number, cx) {
            return;
        }
        for index in 0..self.work[number as usize].plan.writes.len() {
            let write = &mut self.work[number as usize].plan.writes[index];
            if write.waits > 0 || write.is_done {
                continue;
            }
            // It is sent, or left out.
            write.is_done = true;
            let (slot, from) = (write.slot, write.lbn);
            let is_target = match self.work[number as usize].kind {
                Kind::Rebuild { spare, .. } => self.slot_rebuilt_on(spare) == Some(slot),
                Kind::Marks => true,
                _ => false,
            };
            if self.slots[slot].takes(from) || is_target && self.slots[slot].state != State::Lost {
                self.work[number as usize].has_written = true;
                self.send(number, true, index, cx);
            } else {
                self.work[number as usize].has_failed_write = true;
            }
        }
    }

    /// Sends the writes of work that has waited for the journal.
    pub(super) fn write_on(&mut self, number: u32, cx: &mut Context<'_>) {
        self.send_writes(number, cx);
        if self.work[number as usize].left == 0 {
            self.end(number, Outcome::Ok, cx);
        }
    }

    /// Sends a flush to a place, unless that is lost.
    fn send_flush(&mut self, number: u32, slot: usize, cx: &mut Context<'_>) {
        if self.slots[slot].state == State::Lost {
            return;
        }
        let command = Command {
            op: Op::Flush,
            ..Command::default()
        };
        let sent = Sent {
            work: number,
            slot,
            is_write: true,
            index: usize::MAX,
        };
        self.submit(sent, command, cx);
    }

    /// Sends a request of a plan.
    fn send(&mut self, number: u32, is_write: bool, index: usize, cx: &mut Context<'_>) {
        let work = &self.work[number as usize];
        let kind = work.kind;
        let io = match is_write {
            true => work.plan.writes[index],
            false => work.plan.reads[index],
        };
        let is_pre_read = !is_write && work.command.op == Op::Write;
        self.counters.pre_reads += u64::from(is_pre_read);
        self.counters.parity_writes += u64::from(io.parity.is_some());
        let command = Command {
            op: match (is_write, work.command.op) {
                (false, _) => Op::Read,
                (true, Op::Trim) => Op::Trim,
                (true, _) => Op::Write,
            },
            fua: is_write && work.command.fua,
            lbn: Lbn(io.lbn),
            blocks: io.blocks as u32,
        };
        let sent = Sent {
            work: number,
            slot: io.slot,
            is_write,
            index,
        };
        let child = self.submit(sent, command, cx);
        if command.op == Op::Write && kind != Kind::Marks {
            self.fill(number, io.slot, child, cx);
        }
    }

    pub(super) fn submit(
        &mut self,
        sent: Sent,
        command: Command,
        cx: &mut Context<'_>,
    ) -> RequestId {
        let device = match (&self.journal, sent.slot) {
            (Some(journal), JOURNAL) => journal.device,
            _ => self.sends_to_member(sent.slot, &command),
        };
        let work = &mut self.work[sent.work as usize];
        work.left += 1;
        let job = work.job.expect("it was begun");
        match &work.passed {
            None => self.children.send(job, device, command, sent, cx),
            Some(passed) => self
                .children
                .send_after((job, passed), device, command, sent, cx),
        }
    }

    /// A member is about to be sent something; its device.
    fn sends_to_member(&mut self, slot: usize, command: &Command) -> DeviceId {
        let member = &mut self.slots[slot].member;
        member.outstanding += 1;
        if command.op != Op::Flush {
            member.head = command.end();
        }
        let device = member.device;
        let known = self.devices.iter().position(|&found| found == device);
        let known = known.expect("it is a child");
        self.counters.sent(known, command.blocks.into());
        device
    }

    /// A request to a member is complete.
    pub(super) fn came_back(&mut self, child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let piece = self.children.take(request);
        let (sent, passed) = self.children.leave(piece, cx);
        let outcome = cx.request(request).outcome.expect("it is complete");
        let number = sent.work;
        if sent.slot == JOURNAL {
            let work = &mut self.work[number as usize];
            work.passed = Some(passed);
            work.left -= 1;
            self.journal_came_back(number, request, outcome, cx);
            self.send_writes(number, cx);
            if self.work[number as usize].left == 0 {
                self.end(number, Outcome::Ok, cx);
            }
            return;
        }
        if self.slots[sent.slot].member.device == child {
            self.slots[sent.slot].member.outstanding -= 1;
        }
        let work = &mut self.work[number as usize];
        work.passed = Some(passed);
        work.left -= 1;
        match (outcome, sent.is_write) {
            (Outcome::Ok, true) => {}
            (Outcome::Ok, false) => self.has_read(&sent, request, cx),
            (Outcome::MediaError, false) => {
                let io = work.plan.reads[sent.index];
                if io.rows.0 == io.rows.1 || work.is_single {
                    work.bad.push(Bad {
                        slot: io.slot,
                        from: io.lbn,
                        to: io.end(),
                    });
                }
                (work.is_single, work.is_to_retry) = (true, true);
            }
            (_, is_write) => {
                work.has_failed_write |= is_write;
                work.is_to_retry |= !is_write;
                if self.slots[sent.slot].member.device == child {
                    self.lose_slot(sent.slot, cx);
                }
            }
        }
        let work = &self.work[number as usize];
        if !work.is_to_retry {
            self.send_writes(number, cx);
        }
        let work = &self.work[number as usize];
        match (work.left, work.is_to_retry) {
            (0, true) => self.retry(number),
            (0, false) if work.logged == Logged::Waiting => {}
            (0, false) => self.end(number, Outcome::Ok, cx),
            _ => {}
        }
    }

    /// A read has come back well.
    fn has_read(&mut self, sent: &Sent, request: RequestId, cx: &mut Context<'_>) {
        let work = &mut self.work[sent.work as usize];
        let io = work.plan.reads[sent.index];
        for write in &mut work.plan.writes {
            let waits_for_all =
                work.command.op != Op::Write || self.rules.waits == super::spec::Waits::All;
            if waits_for_all || depends(write, &io) {
                write.waits -= 1;
            }
        }
        if work.rows.is_some() {
            work.have.push(Bad {
                slot: io.slot,
                from: io.lbn,
                to: io.end(),
            });
        }
        if let Some((checker, _)) = cx.checker() {
            for at in io.lbn..io.end() {
                let content = checker.content(request, at).unwrap_or(0);
                work.contents.put(io.slot, at, content);
            }
        }
    }

    /// Tells the checker what a write to a place brings there.
    fn fill(&mut self, number: u32, slot: usize, child: RequestId, cx: &mut Context<'_>) {
        let Command { lbn, blocks, .. } = cx.request(child).command;
        if cx.checker().is_none() {
            return;
        }
        for at in lbn.0..lbn.0 + u64::from(blocks) {
            let content = self.content(number, slot, at, cx);
            let Some((checker, _)) = cx.checker() else {
                return;
            };
            match content {
                Some(content) => checker.set_content(child, at, content),
                None => checker.found(format!(
                    "an array writes block {at} of its member {slot} without having read what that is made of"
                )),
            }
        }
    }

    /// What work is to write to a block of a place, as the checker has it.
    pub(super) fn content(
        &self,
        number: u32,
        slot: usize,
        at: u64,
        cx: &mut Context<'_>,
    ) -> Option<u64> {
        let work = &self.work[number as usize];
        let geometry = &self.geometry;
        let whole = work.command;
        let (checker, _) = cx.checker()?;
        let host = work.request.filter(|_| whole.op == Op::Write);
        let (row, within) = (at / geometry.unit, at % geometry.unit);
        let new = |unit: usize| {
            let lbn = geometry.lbn(row, unit) + within;
            let is_new = (whole.lbn.0..whole.end().0).contains(&lbn);
            checker.content(host.filter(|_| is_new)?, lbn)
        };
        match geometry.role(row, slot) {
            _ if matches!(work.kind, Kind::Replay { .. }) => work.contents.get(slot, at),
            // Its old data may have been read along, over a gap.
            _ if work.makes_anew() => work.contents.anew(geometry, slot, at),
            Role::Data(unit) => new(unit).or_else(|| work.contents.solve(geometry, slot, at)),
            _ => work.contents.parity(geometry, slot, at, new),
        }
    }

    /// Tells the checker what a read of the array was served.
    pub(super) fn hand_over(
        &mut self,
        work: &super::work::Work,
        request: RequestId,
        cx: &mut Context<'_>,
    ) {
        let geometry = &self.geometry;
        let blocks = work.command.lbn.0..work.command.end().0;
        let is_in_doubt =
            work.is_in_doubt || !self.risk.holes.is_empty() && self.risk.holes.meets(&blocks);
        self.counters.hole_reads += u64::from(is_in_doubt);
        let Some((checker, _)) = cx.checker() else {
            return;
        };
        if is_in_doubt {
            blocks.for_each(|lbn| checker.excuse(request, lbn));
            return;
        }
        for lbn in work.command.lbn.0..work.command.end().0 {
            let (row, unit, within) = geometry.locate(lbn);
            let at = row * geometry.unit + within;
            let slot = geometry.place(row, unit);
            match work.contents.solve(geometry, slot, at) {
                Some(content) => checker.set_content(request, lbn, content),
                None => checker.found(format!(
                    "an array serves block {lbn} without having read it"
                )),
            }
        }
    }
}

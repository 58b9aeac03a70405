//! A journal: data and parity of a write go to a device of their own before they go to the members, and after a power cut to the members
//! from there. That closes the write hole.
//!
//! Entries stand behind each other, and go round. What has come together while the journal is being written goes there with the next write.
//! An entry has a block of 4 KiB that describes it. Room is made when half of the journal is used: the members are flushed, if they have to
//! be, and the place of the oldest entry that still counts is written to the first block. Source: the write-through journal of md in Linux,
//! Documentation/driver-api/md/raid5-cache.rst and drivers/md/raid5-cache.c.

use std::collections::VecDeque;
use std::ops::Range;

use serde_json::{Value, json};

use super::members::{Slot, State};
use super::plan::Plan;
use super::work::{Kind, Sent, Work};
use super::{Child, JOURNAL, Redundant};
use crate::base::error::InputError;
use crate::base::units::{Lbn, Time};
use crate::engine::context::Context;
use crate::engine::request::{Command, DeviceId, Op, Outcome, Promise};

/// Blocks that describe an entry, and those of the place of the oldest one: 4 KiB.
const DESCRIPTION: u64 = 8;
/// The most blocks that are written at a time, unless one entry has more: 1 MiB.
const MOST: u64 = 2048;
/// The smallest journal, in blocks: 64 KiB.
const LEAST: u64 = 128;

/// How far a write of the parent is with the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Logged {
    /// It has not come to that, or the journal takes no part.
    #[default]
    No,
    /// It is being written there, or waits for that.
    Waiting,
    /// It is there.
    Yes,
}

/// A write in the journal.
#[derive(Clone, Debug)]
struct Entry {
    number: u64,
    /// Its first block.
    at: u64,
    /// Blocks, with those that describe it.
    blocks: u64,
    /// Blocks of the end of the journal that it did not fit into.
    skipped: u64,
    /// The writes to members that it has the data of.
    writes: Vec<Kept>,
    /// Blocks of members that it stands for without their data, because they are too many or not rebuilt yet: what earlier entries have of them does
    /// not count any more.
    revokes: Vec<Kept>,
    is_written: bool,
    /// When its writes were over: how many flushes had begun.
    ended: Option<u64>,
    is_safe: bool,
}

/// Blocks of a member in the journal.
#[derive(Clone, Copy, Debug)]
struct Kept {
    slot: usize,
    /// The member that was there: what another one holds by now has been made from later data.
    member: DeviceId,
    lbn: u64,
    blocks: u64,
    /// Where they are in the journal.
    at: u64,
}

impl Kept {
    fn end(&self) -> u64 {
        self.lbn + self.blocks
    }

    /// What is left of it without the blocks `from..to` of its member.
    fn without(self, from: u64, to: u64) -> impl Iterator<Item = Kept> {
        let before = Kept {
            blocks: from.clamp(self.lbn, self.end()) - self.lbn,
            ..self
        };
        let skipped = to.clamp(self.lbn, self.end()) - self.lbn;
        let behind = Kept {
            lbn: self.lbn + skipped,
            blocks: self.blocks - skipped,
            at: self.at + skipped,
            ..self
        };
        let apart = [Some(before), Some(behind)];
        let whole = [Some(self), None];
        let parts = if from < self.end() && self.lbn < to {
            apart
        } else {
            whole
        };
        parts.into_iter().flatten().filter(|kept| kept.blocks > 0)
    }
}

/// A replay that has ended, or not.
#[derive(Clone, Debug)]
pub struct ReplayRecord {
    pub begun: Time,
    pub ended: Option<Time>,
    pub entries: u64,
    pub blocks: u64,
}

/// The journal of an array.
pub struct Journal {
    pub device: DeviceId,
    blocks: u64,
    entries: VecDeque<Entry>,
    /// Where the next entry goes, if it fits.
    head: u64,
    next_number: u64,
    /// Writes that wait for it.
    pending: VecDeque<u32>,
    /// The entries that are being written, and their writes.
    writing: Vec<(u32, u64)>,
    is_reclaiming: bool,
    pub has_failed: bool,
    /// Entries that are still to be written to the members again.
    replay: Option<VecDeque<u64>>,
    /// Requests that wait for that.
    held: Vec<u32>,
    pub replays: Vec<ReplayRecord>,
}

impl Journal {
    /// An empty journal on a device.
    ///
    /// # Errors
    /// A device that is too small.
    pub fn on(child: &Child) -> Result<Journal, InputError> {
        if child.blocks < LEAST {
            let error = InputError::new(format!("a journal of {} blocks", child.blocks));
            return Err(error.help(format!("accepted: devices of {LEAST} blocks or more")));
        }
        Ok(Journal {
            device: child.device,
            blocks: child.blocks,
            entries: VecDeque::new(),
            head: DESCRIPTION,
            next_number: 0,
            pending: VecDeque::new(),
            writing: Vec::new(),
            is_reclaiming: false,
            has_failed: false,
            replay: None,
            held: Vec::new(),
            replays: Vec::new(),
        })
    }

    /// What it has replayed, for the results.
    pub fn report(&self) -> Option<(String, Value)> {
        if self.replays.is_empty() {
            return None;
        }
        let replays = self.replays.iter().map(|replay| {
            json!({
                "begun_s": replay.begun.s(),
                "ended_s": replay.ended.map(Time::s),
                "entries": replay.entries,
                "blocks": replay.blocks,
            })
        });
        Some(("replays".to_owned(), replays.collect::<Vec<_>>().into()))
    }

    fn used(&self) -> u64 {
        let entries = self.entries.iter();
        entries.map(|entry| entry.blocks + entry.skipped).sum()
    }

    /// The most blocks of an entry.
    fn most(&self) -> u64 {
        (self.blocks - DESCRIPTION) / 2
    }

    /// Takes up a write, if there is room for it; where.
    fn place(&mut self, mut writes: Vec<Kept>, revokes: Vec<Kept>) -> Option<u64> {
        let blocks = DESCRIPTION + writes.iter().map(|write| write.blocks).sum::<u64>();
        if self.entries.is_empty() {
            self.head = DESCRIPTION;
        }
        let behind = self.blocks - self.head;
        let goes_round = blocks > behind;
        let skipped = if goes_round { behind } else { 0 };
        if self.used() + skipped + blocks > self.blocks - DESCRIPTION {
            return None;
        }
        let at = if goes_round { DESCRIPTION } else { self.head };
        self.head = at + blocks;
        let mut next = at + DESCRIPTION;
        for write in &mut writes {
            write.at = next;
            next += write.blocks;
        }
        let number = self.next_number;
        self.next_number += 1;
        self.entries.push_back(Entry {
            number,
            at,
            blocks,
            skipped,
            writes,
            revokes,
            is_written: false,
            ended: None,
            is_safe: false,
        });
        Some(number)
    }

    fn entry(&mut self, number: u64) -> &mut Entry {
        let first = self.entries.front().expect("it is there").number;
        &mut self.entries[(number - first) as usize]
    }

    /// What entries before one have of blocks of a member does not count any more.
    fn revoke(&mut self, before: u64, slot: usize, from: u64, to: u64) {
        let earlier = self.entries.iter_mut();
        for entry in earlier.take_while(|entry| entry.number < before) {
            let writes = std::mem::take(&mut entry.writes).into_iter();
            entry.writes = writes
                .flat_map(|kept| match kept.slot == slot {
                    true => kept.without(from, to).collect(),
                    false => vec![kept],
                })
                .collect();
        }
    }

    /// The same of all blocks of all members in a row of units.
    pub fn revoke_row(&mut self, members: usize, from: u64, to: u64) {
        for slot in 0..members {
            self.revoke(u64::MAX, slot, from, to);
        }
    }

    /// Blocks of members that a replay may still change.
    pub fn unsafe_blocks(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        let entries = self
            .entries
            .iter()
            .filter(|entry| entry.is_written && !entry.is_safe);
        entries.flat_map(|entry| {
            entry
                .writes
                .iter()
                .map(|kept| (kept.slot, kept.lbn, kept.end()))
        })
    }

    /// Blocks of members that entries have whose writes are over and may still be forgotten, with the flushes that had begun then.
    fn ended_and_unsafe(&self) -> impl Iterator<Item = (Range<u64>, u64)> {
        let entries = self.entries.iter().filter(|entry| !entry.is_safe);
        let entries = entries.filter_map(|entry| Some((entry, entry.ended?)));
        entries.flat_map(|(entry, ended)| {
            let writes = entry.writes.iter();
            writes.map(move |kept| (kept.lbn..kept.end(), ended))
        })
    }

    /// The writes of an entry are over.
    fn over(&mut self, number: u64, flushes: u64, is_safe: bool) {
        let entry = self.entry(number);
        (entry.ended, entry.is_safe) = (Some(flushes), is_safe);
    }

    /// A flush of all members is over: entries that had ended when it began are safe.
    fn flushed(&mut self, number: u64) {
        for entry in &mut self.entries {
            entry.is_safe |= entry.ended.is_some_and(|ended| ended < number);
        }
    }

    fn may_be_freed(&self) -> bool {
        self.entries.front().is_some_and(|entry| entry.is_safe)
    }

    fn is_short(&self) -> bool {
        2 * self.used() > self.blocks - DESCRIPTION
    }
}

impl Redundant {
    /// The journal, unless it has failed.
    fn live_journal(&mut self) -> Option<&mut Journal> {
        self.journal.as_mut().filter(|journal| !journal.has_failed)
    }

    /// Whether what a write has written to members is in the journal.
    pub(super) fn is_logged(&self, work: &Work) -> bool {
        let is_alive = self
            .journal
            .as_ref()
            .is_some_and(|journal| !journal.has_failed);
        work.logged == Logged::Yes && !work.is_too_large && is_alive
    }

    /// Whether requests wait for a replay.
    pub(super) fn is_replaying(&self) -> bool {
        self.journal
            .as_ref()
            .is_some_and(|journal| journal.replay.is_some())
    }

    /// Has a request wait for a replay, if there is one.
    pub(super) fn holds_back(&mut self, number: u32) -> bool {
        let kind = self.work[number as usize].kind;
        if !self.is_replaying()
            || matches!(
                kind,
                Kind::Replay { .. } | Kind::Settle | Kind::Marks | Kind::Tail
            )
        {
            return false;
        }
        if let Some(journal) = &mut self.journal {
            journal.held.push(number);
        }
        true
    }

    /// Whether a write, all of whose reads are done, has to go to the journal first; it is sent there.
    pub(super) fn logs(&mut self, number: u32, cx: &mut Context<'_>) -> bool {
        let work = &self.work[number as usize];
        let is_write = work.kind == Kind::Request && work.command.op == Op::Write;
        if !is_write || work.logged == Logged::Yes {
            return false;
        }
        if work.logged == Logged::Waiting {
            return true;
        }
        let Some(journal) = self.live_journal() else {
            return false;
        };
        let most = journal.most();
        let work = &self.work[number as usize];
        if work.plan.writes.iter().any(|write| write.waits > 0) {
            return true;
        }
        let blocks: u64 = work.plan.writes.iter().map(|write| write.blocks).sum();
        if blocks == 0 {
            return false;
        }
        let work = &mut self.work[number as usize];
        work.logged = Logged::Waiting;
        work.is_too_large = blocks + DESCRIPTION > most;
        self.counters.not_logged += u64::from(work.is_too_large);
        if let Some(journal) = &mut self.journal {
            journal.pending.push_back(number);
        }
        self.write_journal(cx);
        true
    }

    /// Writes to the journal what waits for it.
    fn write_journal(&mut self, cx: &mut Context<'_>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        if journal.writing.is_empty() && !journal.has_failed {
            let mut blocks = 0;
            while let Some(&number) = journal.pending.front() {
                let work = &self.work[number as usize];
                let slots = &self.slots;
                // What is left out by now is made from the others later.
                let writes = work.plan.writes.iter();
                let writes = writes.filter(|io| slots[io.slot].takes(io.lbn));
                let writes = writes.map(|io| Kept {
                    slot: io.slot,
                    member: slots[io.slot].member.device,
                    lbn: io.lbn,
                    blocks: io.blocks,
                    at: 0,
                });
                let (writes, mut revokes) = match work.is_too_large {
                    true => (Vec::new(), writes.collect()),
                    false => (writes.collect(), Vec::new()),
                };
                revokes.extend(unbuilt(slots, self.geometry.used()));
                let more =
                    DESCRIPTION + writes.iter().map(|write: &Kept| write.blocks).sum::<u64>();
                let is_round = journal.blocks - journal.head < more;
                if blocks > 0 && (blocks + more > MOST || is_round) {
                    break;
                }
                let Some(entry) = journal.place(writes, revokes) else {
                    break;
                };
                blocks += more;
                journal.pending.pop_front();
                journal.writing.push((number, entry));
            }
            if let Some(&(_, first)) = journal.writing.first() {
                let at = journal.entry(first).at;
                self.send_entries(at, blocks, cx);
            }
        }
        self.reclaim(cx);
    }

    /// Sends the entries that are to be written, which follow each other.
    fn send_entries(&mut self, at: u64, blocks: u64, cx: &mut Context<'_>) {
        let work = self.begin(Kind::Entries, None, Command::default());
        let command = Command {
            op: Op::Write,
            fua: true,
            lbn: Lbn(at),
            blocks: blocks as u32,
        };
        let child = self.submit(journal_piece(work, true), command, cx);
        self.counters.logged_blocks += blocks;
        self.counters.log_writes += 1;
        if cx.checker().is_none() {
            return;
        }
        let mut contents = Vec::new();
        let journal = self.journal.as_mut().expect("entries go to it");
        for (number, entry) in journal.writing.clone() {
            for kept in &journal.entry(entry).writes {
                let places = (kept.lbn..kept.end()).zip(kept.at..);
                contents.extend(places.map(|(at, to)| (number, kept.slot, at, to)));
            }
        }
        for (number, slot, at, to) in contents {
            let content = self.content(number, slot, at, cx);
            if let (Some(content), Some((checker, _))) = (content, cx.checker()) {
                checker.set_content(child, to, content);
            }
        }
    }

    /// Entries have been written: what waited for them goes on.
    pub(super) fn has_logged(&mut self, cx: &mut Context<'_>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let written = std::mem::take(&mut journal.writing);
        for &(_, entry) in &written {
            let entry = journal.entry(entry);
            entry.is_written = true;
            let (number, revokes) = (entry.number, std::mem::take(&mut entry.revokes));
            for kept in revokes {
                journal.revoke(number, kept.slot, kept.lbn, kept.end());
            }
        }
        for (number, entry) in written {
            let work = &mut self.work[number as usize];
            (work.logged, work.entry) = (Logged::Yes, Some(entry));
            self.write_on(number, cx);
        }
        self.write_journal(cx);
    }

    /// A write of the parent has ended, well or not.
    pub(super) fn leaves_journal(&mut self, work: &Work, cx: &mut Context<'_>) {
        let is_safe = self.promise == Promise::Durable || work.command.fua;
        let flushes = self.risk.flushes();
        let (Some(journal), Some(entry)) = (self.live_journal(), work.entry) else {
            return;
        };
        journal.over(entry, flushes, is_safe);
        self.reclaim(cx);
    }

    /// A flush of all members is over.
    pub(super) fn journal_flushed(&mut self, number: u64) {
        if let Some(journal) = &mut self.journal {
            journal.flushed(number);
        }
    }

    /// Makes room, if there is little.
    fn reclaim(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
        let is_durable = self.promise == Promise::Durable;
        let Some(journal) = self.live_journal() else {
            return;
        };
        if journal.is_reclaiming || !journal.is_short() && journal.pending.is_empty() {
            return;
        }
        let has_ended = journal
            .entries
            .front()
            .is_some_and(|entry| entry.ended.is_some());
        if journal.may_be_freed() {
            journal.is_reclaiming = true;
            let tail = self.begin(Kind::Tail, None, Command::default());
            self.ask(tail);
        } else if has_ended && !is_durable {
            journal.is_reclaiming = true;
            let flush = self.begin(Kind::Reclaim, None, Command::default());
            self.work[flush as usize].flush = self.risk.flush_begins();
            self.ask(flush);
        }
    }

    /// The members have been flushed to make room.
    pub(super) fn may_reclaim(&mut self, cx: &mut Context<'_>) {
        if let Some(journal) = &mut self.journal {
            journal.is_reclaiming = false;
        }
        self.reclaim(cx);
    }

    /// Writes the place of the oldest entry that is needed.
    pub(super) fn send_tail(&mut self, number: u32, cx: &mut Context<'_>) {
        if self.live_journal().is_none() {
            return;
        }
        let command = Command {
            op: Op::Write,
            fua: true,
            lbn: Lbn(0),
            blocks: DESCRIPTION as u32,
        };
        self.counters.log_writes += 1;
        self.counters.logged_blocks += DESCRIPTION;
        if let Some(journal) = &mut self.journal {
            // What is safe now is free when that is written.
            let safe = journal.entries.iter().take_while(|entry| entry.is_safe);
            let last = safe.last().map(|entry| entry.number);
            self.work[number as usize].entry = last;
        }
        self.submit(journal_piece(number, true), command, cx);
    }

    /// The place of the oldest entry has been written.
    pub(super) fn has_freed(&mut self, last: Option<u64>, cx: &mut Context<'_>) {
        if let Some(journal) = &mut self.journal {
            journal.is_reclaiming = false;
            if let Some(last) = last {
                journal.entries.retain(|entry| entry.number > last);
            }
        }
        self.write_journal(cx);
        self.go_on_after_replay(cx);
    }

    /// The device of the journal has failed: writes go on without.
    pub(super) fn lose_journal(&mut self, cx: &mut Context<'_>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        if std::mem::replace(&mut journal.has_failed, true) {
            return;
        }
        // What is being written there comes back by itself. What was to be replayed may be older on the members now, or partly.
        let pending = std::mem::take(&mut journal.pending);
        for (blocks, flushes) in journal.ended_and_unsafe() {
            self.risk.written_at(blocks, flushes);
        }
        if journal.replay.is_some() {
            let entries = journal.entries.iter().flat_map(|entry| &entry.writes);
            let blocks: Vec<_> = entries
                .map(|kept| (kept.slot, kept.lbn, kept.end()))
                .collect();
            self.leave_in_doubt(&blocks);
        }
        for number in pending {
            self.work[number as usize].logged = Logged::Yes;
            self.write_on(number, cx);
        }
    }

    /// The power has returned: begins to write what is in the journal to the members; whether there is anything.
    pub(super) fn begin_replay(&mut self, cx: &mut Context<'_>) -> bool {
        let now = cx.now();
        let Some(journal) = &mut self.journal else {
            return false;
        };
        journal.pending.clear();
        journal.writing.clear();
        journal.held.clear();
        journal.is_reclaiming = false;
        if let Some(record) = journal.replays.last_mut()
            && journal.replay.take().is_some()
        {
            record.ended = Some(now);
        }
        journal.entries.retain(|entry| entry.is_written);
        // Older data come back before the newer ones: until all is over, the members may have any of them.
        for entry in &mut journal.entries {
            (entry.ended, entry.is_safe) = (None, false);
        }
        // Entries are written in order: those that were not are the last ones.
        journal.next_number = journal.entries.back().map_or(0, |entry| entry.number + 1);
        journal.head =
            (journal.entries.back()).map_or(DESCRIPTION, |entry| entry.at + entry.blocks);
        if journal.has_failed || journal.entries.is_empty() {
            return false;
        }
        journal.replay = Some(journal.entries.iter().map(|entry| entry.number).collect());
        journal.replays.push(ReplayRecord {
            begun: now,
            ended: None,
            entries: 0,
            blocks: 0,
        });
        self.replay_next();
        true
    }

    /// Begins with the next entry, or flushes all members behind the last one.
    pub(super) fn replay_next(&mut self) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let Some(left) = &mut journal.replay else {
            return;
        };
        match left.pop_front() {
            Some(entry) => {
                let blocks = journal.entry(entry).blocks;
                if let Some(record) = journal.replays.last_mut() {
                    record.entries += 1;
                    record.blocks += blocks;
                }
                let work = self.begin(Kind::Replay { entry }, None, Command::default());
                self.ask(work);
            }
            None => {
                let flush = self.begin(Kind::Settle, None, Command::default());
                self.work[flush as usize].flush = self.risk.flush_begins();
                self.ask(flush);
            }
        }
    }

    /// What an entry is for the members, when it has been read.
    pub(super) fn plan_replay(&mut self, work: &Work, number: u64, plan: &mut Plan) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let writes = journal.entry(number).writes.clone();
        let slots = &self.slots;
        let is_there = |kept: &&Kept| slots[kept.slot].member.device == kept.member;
        for kept in writes.iter().filter(is_there) {
            let io = Plan::span(&self.view(work), kept.slot, kept.lbn, kept.blocks);
            plan.writes.push(io);
        }
    }

    /// Reads an entry.
    pub(super) fn read_entry(&mut self, work: u32, number: u64, cx: &mut Context<'_>) {
        let Some(journal) = self.live_journal() else {
            return;
        };
        let entry = journal.entry(number);
        let command = Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(entry.at),
            blocks: entry.blocks as u32,
        };
        self.submit(journal_piece(work, false), command, cx);
    }

    /// A request to the journal has come back.
    pub(super) fn journal_came_back(
        &mut self,
        number: u32,
        request: crate::engine::request::RequestId,
        outcome: Outcome,
        cx: &mut Context<'_>,
    ) {
        let kind = self.work[number as usize].kind;
        if let Kind::Replay { entry } = kind {
            let journal = self.journal.as_mut().expect("it was read");
            let entry = journal.entry(entry);
            let writes = entry.writes.clone();
            let work = &mut self.work[number as usize];
            work.plan
                .writes
                .iter_mut()
                .for_each(|write| write.waits = 0);
            if outcome != Outcome::Ok {
                work.plan.writes.clear();
            } else if let Some((checker, _)) = cx.checker() {
                for kept in writes {
                    for (at, from) in (kept.lbn..kept.end()).zip(kept.at..) {
                        let content = checker.content(request, from).unwrap_or(0);
                        work.contents.put(kept.slot, at, content);
                    }
                }
            }
        }
        if outcome == Outcome::FailedDevice {
            self.lose_journal(cx);
        }
    }

    /// All members have been flushed behind the last entry: the journal is empty.
    pub(super) fn has_settled_replay(&mut self) -> bool {
        let Some(journal) = self
            .journal
            .as_mut()
            .filter(|journal| journal.replay.is_some())
        else {
            return false;
        };
        journal
            .entries
            .iter_mut()
            .for_each(|entry| entry.is_safe = true);
        let tail = self.begin(Kind::Tail, None, Command::default());
        self.ask(tail);
        true
    }

    /// The journal is empty after a replay: requests go on.
    fn go_on_after_replay(&mut self, cx: &mut Context<'_>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        if journal.replay.take().is_none() {
            return;
        }
        if let Some(record) = journal.replays.last_mut() {
            record.ended = Some(cx.now());
        }
        self.ready.extend(std::mem::take(&mut journal.held));
        self.look_for_doubt(cx);
    }
}

/// Blocks of members that are being rebuilt, and are not there yet: they are made from the others, which may have later data than the entries.
fn unbuilt(slots: &[Slot], used: u64) -> impl Iterator<Item = Kept> {
    slots.iter().enumerate().filter_map(move |(slot, place)| {
        let State::Rebuilding(done) = place.state else {
            return None;
        };
        Some(Kept {
            slot,
            member: place.member.device,
            lbn: done,
            blocks: used.saturating_sub(done),
            at: 0,
        })
    })
}

fn journal_piece(work: u32, is_write: bool) -> Sent {
    Sent {
        work,
        slot: JOURNAL,
        is_write,
        index: usize::MAX,
    }
}

//! A cache device that takes no more writes keeps a table that cannot be changed. Its dirty blocks are written back, and then the record of
//! the tier, outside both devices, says that the table is not to be read. Until it does, nothing that the table names is newer elsewhere
//! and acknowledged.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value, json};

use super::work::{Cause, Piece, Stage, What, WorkId, command};
use super::{Condition, Tier};
use crate::base::units::Time;
use crate::engine::children::{Ground, PhaseEnd};
use crate::engine::context::Context;
use crate::engine::request::{Op, Outcome, Part, Promise, RequestId};

/// The most blocks that are written back together: 1 MiB.
const MERGE: u32 = 2048;

/// How far the retirement of a table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    /// The table can be changed, or there is none.
    #[default]
    None,
    /// Dirty blocks are written back.
    Draining,
    /// The backing device is flushed.
    Settling,
    /// The record is made.
    Recorded,
    /// A device failed before: the table stays the only one.
    Stopped,
}

/// What a retirement does next.
enum Step {
    Wait,
    /// It writes a run back.
    Write(u64, u32),
    /// Everything is on the backing device.
    Settle,
    /// It cannot go on.
    Stop,
}

/// The retirement of a table.
#[derive(Default)]
pub(super) struct Retirement {
    progress: Progress,
    /// The lines that the table may name on the medium.
    named: BTreeSet<u64>,
    /// Dirty blocks before this one have been seen to.
    next: u64,
    /// A write-back of it is under way.
    pub is_writing: bool,
    /// Writes and flushes that are complete once the record is made.
    writes: Vec<WorkId>,
    flushes: Vec<RequestId>,
    since: Option<Time>,
    took: Option<Time>,
}

impl Retirement {
    /// Whether it has begun and is not over.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        matches!(self.progress, Progress::Draining | Progress::Settling)
    }

    /// Whether the table cannot be changed any more.
    pub fn has_begun(&self) -> bool {
        self.progress != Progress::None
    }

    /// Whether recovery does not read the table.
    pub fn is_recorded(&self) -> bool {
        self.progress == Progress::Recorded
    }

    /// Whether the table, which cannot be changed, may name a line of a range.
    #[inline]
    pub fn names_any(&self, keys: Range<u64>) -> bool {
        self.is_under_way() && self.named.range(keys).next().is_some()
    }

    /// What is told of it, once the record is made.
    pub fn report(&self, report: &mut Map<String, Value>) {
        if let Some(took) = self.took {
            report.insert("retirement_s".to_owned(), json!(took.s()));
        }
    }
}

impl Tier {
    /// The table cannot be changed any more: notes which lines it may name. Before it is frozen.
    pub(super) fn begin_retirement(&mut self) {
        let Some(table) = &self.table else { return };
        if self.retirement.progress != Progress::None || !self.absorbs() {
            return;
        }
        let held = self.map.lines_held();
        let held = held.filter(|&(frame, _)| table.may_name(frame));
        let mut named: BTreeSet<u64> = held.map(|(_, key)| key).collect();
        named.extend(table.all_cleaned());
        // Lines that have left their places, until they are struck out.
        named.extend(self.works.iter().filter_map(|work| match &work.cause {
            Cause::Victim { victim, .. } => Some(victim.key),
            Cause::Emptied { key } => Some(*key),
            Cause::None | Cause::Cleaning | Cause::Flush | Cause::Change | Cause::Retirement => {
                None
            }
        }));
        self.retirement.progress = Progress::Draining;
        self.retirement.named = named;
    }

    /// Goes on with the retirement of the table, if there is one. Whether it is over now.
    pub(super) fn advance_retirement(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.retirement.is_under_way() {
            return false;
        }
        let now = cx.now();
        self.retirement.since.get_or_insert(now);
        match self.next_of_retirement() {
            Step::Wait => false,
            Step::Write(lbn, blocks) => {
                self.retirement.next = lbn + u64::from(blocks);
                self.retirement.is_writing = true;
                self.write_back(lbn, blocks, Cause::Retirement, cx);
                false
            }
            Step::Settle if self.backing.promise == Promise::Durable => {
                self.end_retirement(Progress::Recorded, Outcome::Ok, cx);
                true
            }
            Step::Settle => {
                self.retirement.progress = Progress::Settling;
                let job = self.children.begin_own(Ground::Foreground);
                let piece = Piece {
                    work: WorkId(u32::MAX),
                    what: What::Retire,
                };
                let flush = command(Op::Flush, 0, 0);
                (self.children).send(job, self.backing.device, flush, piece, cx);
                false
            }
            Step::Stop => {
                let outcome = match self.has_backing {
                    true => Outcome::Ok,
                    false => Outcome::FailedDevice,
                };
                self.end_retirement(Progress::Stopped, outcome, cx);
                true
            }
        }
    }

    /// Whether the retirement could go on, though nothing happens.
    pub(super) fn may_retire(&self) -> bool {
        self.retirement.is_under_way() && !matches!(self.next_of_retirement(), Step::Wait)
    }

    fn next_of_retirement(&self) -> Step {
        if self.condition == Condition::Failed || !self.has_backing {
            return Step::Stop;
        }
        if self.retirement.is_writing || self.retirement.progress == Progress::Settling {
            return Step::Wait;
        }
        if self.map.dirty_lines() > 0 {
            let runs = [self.retirement.next, 0].into_iter();
            let runs = runs.filter_map(|from| self.map.next_dirty(from, MERGE));
            let mut ready =
                runs.map(|(lbn, blocks)| (lbn, self.may_be_cleaned(lbn, blocks).min(blocks)));
            let ready = ready.find(|&(_, ready)| ready > 0);
            return ready.map_or(Step::Wait, |(lbn, blocks)| Step::Write(lbn, blocks));
        }
        let names = |work: &super::work::Work| {
            let mut lines = work.lines.iter();
            lines.any(|line| self.retirement.named.contains(&line.piece.key))
        };
        let mut works = self.works.iter();
        let is_written = works.any(|work| work.stage == Stage::Writing && names(work));
        match is_written || self.flushes.has_victims() {
            true => Step::Wait,
            false => Step::Settle,
        }
    }

    /// The backing device has been flushed.
    pub(super) fn retirement_settled(&mut self, end: &PhaseEnd, cx: &mut Context<'_>) {
        self.children.end(end.job);
        if self.retirement.is_under_way() {
            let progress = match end.outcome {
                Outcome::Ok => Progress::Recorded,
                _ => Progress::Stopped,
            };
            self.end_retirement(progress, end.outcome, cx);
        }
    }

    /// The record is made, or will never be: what waited for it is complete.
    fn end_retirement(&mut self, progress: Progress, outcome: Outcome, cx: &mut Context<'_>) {
        let now = cx.now();
        self.retirement.progress = progress;
        self.retirement.named.clear();
        if progress == Progress::Recorded {
            self.retirement.took = self.retirement.since.map(|since| now - since);
        }
        for id in std::mem::take(&mut self.retirement.writes) {
            self.end_write(id, outcome, cx);
        }
        for request in std::mem::take(&mut self.retirement.flushes) {
            let entry = cx.request_mut(request);
            let since = entry.start + entry.parts.total();
            entry.parts.add(Part::Wait, now - since);
            let outcome = self.lost.first().unwrap_or(outcome);
            self.complete(request, outcome, cx);
        }
    }

    /// A write is where it belongs. Whether it must wait for the record, because the table names an older version of its blocks. Its lines
    /// are free meanwhile, for what else is dirty of them is written back.
    pub(super) fn waits_for_record(&mut self, id: WorkId) -> bool {
        let lines = self.works.get(id).lines.iter();
        let mut keys = lines.map(|line| line.piece.key);
        if !keys.any(|key| self.retirement.names_any(key..key + 1)) {
            return false;
        }
        let mut work = self.works.take(id);
        work.stage = Stage::Committing;
        self.give_back(&mut work, |_| false);
        self.works.put_back(id, work);
        self.retirement.writes.push(id);
        true
    }

    /// Both devices have been flushed, but what is durable may be what the cache device had only in memory. Whether the flush waits for the
    /// record.
    pub(super) fn flush_waits_for_record(&mut self, request: RequestId) -> bool {
        let waits = self.retirement.is_under_way();
        if waits {
            self.retirement.flushes.push(request);
        }
        waits
    }
}

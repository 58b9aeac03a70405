//! How dirty blocks of a memory cache come to their devices.

use super::memory::{OF_CACHE, Span, command_of};
use super::operations::Data;
use super::stages::new_work;
use super::work::{Kind, LineFrame, Stage, Work, WorkId};
use super::{Cache, Controller, PERIOD};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome};

impl Controller {
    /// What of a line that has left its frame has to be written is, with what touches it of neighbouring lines. The work waits for that.
    pub(super) fn write_victim(&mut self, owner: WorkId, span: Span, cx: &mut Context<'_>) {
        let leaving = (span.from, span.end);
        let kind = Kind::WriteBack {
            leaving: Some(leaving),
        };
        let command = command_of(Op::Write, (span.from, (span.end - span.from) as u32));
        let mut work = new_work(kind, command, cx.now());
        work.owner = Some(owner);
        let (from, end) = self.grown(span, &mut work);
        (work.from, work.end) = (from, end);
        self.works.get_mut(owner).left += 1;
        let id = self.works.begin(work);
        self.locks.take(id, (from, end));
        self.write_run(id, (from, (end - from) as u32), cx);
        self.next_stage(id, Stage::End);
    }

    /// A span of a victim with what touches it of neighbouring lines, whose frames are pinned for the work.
    fn grown(&mut self, span: Span, work: &mut Work) -> (u64, u64) {
        let Span { from, end, .. } = span;
        let (below, above) = (self.child_of(from), self.child_of(end - 1));
        let (base, behind) = (self.queues[below].base, self.queues[above].end());
        let mut lines = 1;
        let from = match span.grows_down {
            true => self.grown_to(from, (&mut lines, base), work, false),
            false => from,
        };
        let end = match span.grows_up {
            true => self.grown_to(end, (&mut lines, behind), work, true),
            false => end,
        };
        (from, end)
    }

    /// Where an edge of a span is after it has grown over neighbouring lines, but not over `bound`.
    fn grown_to(
        &mut self,
        mut edge: u64,
        (lines, bound): (&mut u64, u64),
        work: &mut Work,
        goes_up: bool,
    ) -> u64 {
        let Cache::Memory(memory) = &mut self.cache else {
            unreachable!("there is a memory cache");
        };
        let per_line = u64::from(memory.cache.blocks_per_line());
        while *lines < memory.rules.written_lines && edge.is_multiple_of(per_line) && edge != bound
        {
            let key = if goes_up { edge } else { edge - 1 } / per_line;
            let whole = memory.cache.whole(key);
            let line = (whole.lbn, whole.lbn + per_line);
            let Some(frame) = memory.cache.find(key) else {
                break;
            };
            if memory.cache.is_pinned(frame) || self.locks.are_wanted(line) {
                break;
            }
            let spans = memory.dirty_spans(memory.cache.line(frame), whole);
            let touching = if goes_up { spans.first() } else { spans.last() };
            // Blocks of another device are not of this run.
            let Some(touching) = touching.filter(|span| match goes_up {
                true => span.valid.0 == edge && span.from < bound,
                false => span.valid.1 == edge && span.end > bound,
            }) else {
                break;
            };
            edge = match goes_up {
                true => touching.end.min(bound),
                false => touching.from.max(bound),
            };
            memory.cache.pin(frame);
            work.frames.push(LineFrame::Taken(frame));
            *lines += 1;
        }
        edge
    }

    fn write_run(&mut self, id: WorkId, run: (u64, u32), cx: &mut Context<'_>) {
        self.counters.write_backs += 1;
        self.counters.written_back_blocks += u64::from(run.1);
        let command = command_of(Op::Write, run);
        self.ask(id, command, None, Data::Segment(OF_CACHE), cx);
    }

    /// The first dirty run from a block on, of as many lines as are written together, and the rest of its last line.
    fn dirty_lines(&self, from: u64) -> Option<(u64, u32)> {
        let Cache::Memory(memory) = &self.cache else {
            unreachable!("there is a memory cache");
        };
        let per_line = u64::from(memory.cache.blocks_per_line());
        let (lbn, _) = memory.cache.next_dirty(from, 1)?;
        let most = (lbn / per_line + memory.rules.written_lines).saturating_mul(per_line) - lbn;
        let most = most.min(u64::from(u32::MAX) - per_line) as u32;
        let (_, blocks) = memory.cache.next_dirty(lbn, most)?;
        let end = (lbn + u64::from(blocks)).next_multiple_of(per_line);
        Some((lbn, (end.min(self.blocks_in_all()) - lbn) as u32))
    }

    /// All that is dirty is written, for a flush of the host or because it is time to; a flush waits for it, and for what is being written.
    pub(super) fn write_all_back(&mut self, flush: Option<WorkId>, cx: &mut Context<'_>) {
        if let Some(flush) = flush {
            let under_way = self.works.iter();
            let under_way =
                under_way.filter(|(_, work)| matches!(work.kind, Kind::WriteBack { .. }));
            let waits_for: Vec<WorkId> = under_way.map(|(id, _)| id).collect();
            self.works.get_mut(flush).left += waits_for.len() as u32;
            for id in waits_for {
                self.flushed_by.entry(id).or_default().push(flush);
            }
        }
        let mut from = 0;
        while let Some((lbn, blocks)) = self.dirty_lines(from) {
            from = lbn + u64::from(blocks);
            if self.is_to_be_written((lbn, from)) {
                continue;
            }
            let id = self.begin_write_back((lbn, blocks), cx);
            if let Some(flush) = flush {
                self.works.get_mut(flush).left += 1;
                self.flushed_by.entry(id).or_default().push(flush);
            }
        }
    }

    /// Whether all that is dirty in a run will be written by work that waits for its turn.
    fn is_to_be_written(&self, run: (u64, u64)) -> bool {
        let owners = self.locks.owners(run);
        let mut works = owners.map(|owner| self.works.get(owner));
        works.any(|work| {
            let is_write_back = matches!(work.kind, Kind::WriteBack { leaving: None });
            is_write_back && work.stage == Stage::Begin && work.from <= run.0 && run.1 <= work.end
        })
    }

    /// The first dirty lines are written.
    pub(super) fn write_first_back(&mut self, cx: &mut Context<'_>) -> Option<WorkId> {
        let run = self.dirty_lines(0)?;
        Some(self.begin_write_back(run, cx))
    }

    fn begin_write_back(&mut self, run: (u64, u32), cx: &mut Context<'_>) -> WorkId {
        let kind = Kind::WriteBack { leaving: None };
        let work = new_work(kind, command_of(Op::Write, run), cx.now());
        let id = self.works.begin(work);
        self.ready.push_back(id);
        id
    }

    /// A run has been locked: what is still dirty of it is written, unless it is on its way already.
    pub(super) fn write_back(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let (mut from, end) = (self.works.get(id).from, self.works.get(id).end);
        let mut runs = Vec::new();
        // All that is dirty in a run that other work has locked for writing is on its way.
        let is_under_way =
            |work: &Work| matches!(work.kind, Kind::WriteBack { .. }) && !work.frames.is_empty();
        let others = self.locks.owners((from, end)).filter(|&other| other != id);
        let others = others.map(|other| self.works.get(other));
        let others = others.filter(|work| is_under_way(work));
        let others: Vec<(u64, u64)> = others.map(|work| (work.from, work.end)).collect();
        let Cache::Memory(memory) = &mut self.cache else {
            unreachable!("there is a memory cache");
        };
        while from < end
            && let Some((lbn, blocks)) = memory.cache.next_dirty(from, (end - from) as u32)
            && lbn < end
        {
            if let Some(&(_, end)) = others
                .iter()
                .find(|other| (other.0..other.1).contains(&lbn))
            {
                from = end;
                continue;
            }
            let ahead = others
                .iter()
                .map(|other| other.0)
                .filter(|&from| from > lbn);
            let to = (lbn + u64::from(blocks)).min(end);
            let to = ahead.fold(to, u64::min);
            let blocks = (to - lbn) as u32;
            runs.push((lbn, blocks));
            from = to;
            for piece in memory.cache.pieces(lbn, blocks) {
                let frame = memory.cache.find(piece.key).expect("it is dirty");
                memory.cache.pin(frame);
                let work = self.works.get_mut(id);
                work.frames.push(LineFrame::Taken(frame));
            }
        }
        for run in runs {
            self.write_run(id, run, cx);
        }
        self.next_stage(id, Stage::End);
    }

    /// All that was dirty at a flush is on the devices: they are to make it durable.
    pub(super) fn has_written_all_back(&mut self, id: WorkId, cx: &mut Context<'_>) {
        // What could not be written is not durable, whatever the devices say.
        if self.lost_blocks > 0 {
            self.works.get_mut(id).outcome = Outcome::FailedDevice;
        }
        self.flush_devices(id, cx);
    }

    /// As soon as something is dirty, the next multiple of the period is waited for, where there is one.
    pub(super) fn look_for_dirt(&mut self, cx: &mut Context<'_>) {
        let Cache::Memory(memory) = &mut self.cache else {
            return;
        };
        let Some(period) = memory.rules.period else {
            return;
        };
        if memory.waits_for_period || memory.cache.dirty_blocks() == 0 {
            return;
        }
        let periods = cx.now().ns() / period.ns() + 1;
        if let Some(at) = period.ns().checked_mul(periods) {
            memory.waits_for_period = true;
            cx.background_alarm(Time::from_ns(at), Token::new(PERIOD, 0));
        }
    }

    /// It is time to write what is dirty.
    pub(super) fn period_is_over(&mut self, cx: &mut Context<'_>) {
        self.memory().waits_for_period = false;
        self.write_all_back(None, cx);
    }

    /// Something that a device was asked for has ended.
    pub(super) fn operation_ended(&mut self, number: u32, outcome: Outcome, cx: &mut Context<'_>) {
        let operation = &self.operations.get(number);
        let kind = self.works.get(operation.work).kind;
        let Command { op, blocks, .. } = operation.command;
        match &self.cache {
            Cache::Memory(_) if matches!(operation.data, Data::Segment(_)) => {
                if op == Op::Read && outcome == Outcome::Ok {
                    let kept = self.kept_of(number);
                    return self.fill_memory(&kept);
                }
                self.memory_operation_ended((kind, op), (operation.lbn, blocks), outcome);
            }
            Cache::Device(_) => self.cache_device_operation_ended(operation, outcome, cx),
            _ => {}
        }
    }

    /// Work of the controller's own is over: what was kept for it is forgotten.
    pub(super) fn own_work_ended(&mut self, id: WorkId, work: &Work, cx: &mut Context<'_>) {
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        match work.kind {
            Kind::WriteBack {
                leaving: Some((from, end)),
            } => {
                // A read may have brought some of it back already.
                let Cache::Memory(memory) = &self.cache else {
                    unreachable!("it has left the memory cache");
                };
                for (lbn, blocks) in memory.lacks((from, end)) {
                    checker.dropped(device, OF_CACHE, lbn, blocks);
                }
            }
            Kind::Settle => {
                checker.dropped(device, segment_of(id), work.from, work.blocks());
            }
            _ => {}
        }
    }
}

/// The checker's name of what is kept for some work.
pub(super) fn segment_of(id: WorkId) -> u32 {
    OF_CACHE + 1 + id.0
}

//! How dirty blocks of a memory cache come to their devices.

use diskwright::engine::request::Op;

use super::instants::Alarm;
use super::lines::Line;
use super::model::Model;
use super::specs::Cache;
use super::stages::{Kind, Stage, Work};
use crate::support::twins::runs;

/// A run of a line that is written: what lies from the first to the last dirty block of a run that is there.
#[derive(Clone, Copy)]
struct Span {
    from: u64,
    end: u64,
    /// The run that is there.
    there: (u64, u64),
}

impl Model<'_> {
    fn spans(&self, line: &Line) -> Vec<Span> {
        let size = self.memory().line;
        let base = line.key * size;
        let mut spans = Vec::new();
        for (from, end) in line.runs(0, size, true) {
            let mut dirty = (from..end).filter(|&block| line.dirty[block as usize]);
            if let Some(first) = dirty.next() {
                let last = dirty.next_back().unwrap_or(first);
                spans.push(Span {
                    from: base + first,
                    end: base + last + 1,
                    there: (base + from, base + end),
                });
            }
        }
        spans
    }

    /// A line leaves for another: what is dirty of it is written before.
    pub fn evict(&mut self, work: usize, victim: &Line) {
        let size = self.memory().line;
        let base = victim.key * size;
        let spans = self.spans(victim);
        self.add("dirty_victims", u64::from(!spans.is_empty()));
        let is_first_dirty = victim.dirty[0];
        for span in spans {
            let grows_down = span.from == base;
            let grows_up = is_first_dirty && span.end == base + size;
            self.write_victim(work, span, (grows_down, grows_up));
        }
        if self.memory().prefers_clean {
            self.write_first_back();
        }
    }

    fn write_victim(&mut self, owner: usize, span: Span, (down, up): (bool, bool)) {
        let Span { from, end, .. } = span;
        let (lowest, _) = self.device_of(from);
        let (_, highest) = self.device_of(end - 1);
        let mut lines = 1;
        let mut keeps = Vec::new();
        let from = match down {
            true => self.grown_down(from, lowest, &mut lines, &mut keeps),
            false => from,
        };
        let end = match up {
            true => self.grown_up(end, highest, &mut lines, &mut keeps),
            false => end,
        };
        self.meet("a victim with its neighbours", lines > 1);
        let kind = Kind::WriteBack { is_leaving: true };
        self.works[owner].left += 1;
        self.works.push(Work {
            owner: Some(owner),
            keeps,
            ..Work::new(kind, Op::Write, (from, end))
        });
        let work = self.works.len() - 1;
        self.locks.take(work, (from, end));
        self.write_run(work, (from, end));
        self.next_stage(work, Stage::End);
    }

    /// The first block of the device of a block, and the one behind its last.
    fn device_of(&self, lbn: u64) -> (u64, u64) {
        let mut base = 0;
        for device in &self.case.devices {
            if lbn < base + device.blocks {
                return (base, base + device.blocks);
            }
            base += device.blocks;
        }
        unreachable!("a block of the controller")
    }

    /// The line of a key, if a victim's write may take blocks of it along.
    fn neighbour(&self, key: u64, keeps: &[u64]) -> Option<&Line> {
        let size = self.memory().line;
        let line = self.line(key)?;
        let is_free = !self.is_kept(key) && !keeps.contains(&key);
        let is_wanted = !(self.locks.owners((key * size, (key + 1) * size))).is_empty();
        (is_free && !is_wanted).then_some(line)
    }

    fn grown_down(&self, mut edge: u64, lowest: u64, lines: &mut u64, keeps: &mut Vec<u64>) -> u64 {
        let memory = self.memory();
        while *lines < memory.cluster && edge.is_multiple_of(memory.line) && edge > lowest {
            let key = edge / memory.line - 1;
            let spans = self.neighbour(key, keeps).map(|line| self.spans(line));
            let Some(&span) = spans.iter().flatten().last() else {
                break;
            };
            if span.there.1 != edge || span.end <= lowest {
                break;
            }
            edge = span.from.max(lowest);
            keeps.push(key);
            *lines += 1;
        }
        edge
    }

    fn grown_up(&self, mut edge: u64, highest: u64, lines: &mut u64, keeps: &mut Vec<u64>) -> u64 {
        let memory = self.memory();
        while *lines < memory.cluster && edge.is_multiple_of(memory.line) && edge < highest {
            let key = edge / memory.line;
            let spans = self.neighbour(key, keeps).map(|line| self.spans(line));
            let Some(&span) = spans.iter().flatten().next() else {
                break;
            };
            if span.there.0 != edge || span.from >= highest {
                break;
            }
            edge = span.end.min(highest);
            keeps.push(key);
            *lines += 1;
        }
        edge
    }

    fn write_run(&mut self, work: usize, (from, end): (u64, u64)) {
        self.add("write_backs", 1);
        self.add("written_back_blocks", end - from);
        self.ask_for_memory(work, Op::Write, (from, end));
    }

    /// The first dirty run from a block on, of at most `cluster` lines, and the rest of its last line.
    fn dirty_lines(&self, from: u64) -> Option<(u64, u64)> {
        let memory = self.memory();
        let (first, _) = self.next_dirty(from, 1)?;
        let most = (first / memory.line + memory.cluster) * memory.line - first;
        let (_, end) = self.next_dirty(first, most)?;
        let end = end.div_ceil(memory.line) * memory.line;
        Some((first, end.min(self.case.blocks())))
    }

    /// All that is dirty is written; a flush waits for that, and for what is being written.
    pub fn write_all_back(&mut self, flush: Option<usize>) {
        let mut waits_for = Vec::new();
        for (number, work) in self.works.iter().enumerate() {
            if matches!(work.kind, Kind::WriteBack { .. }) && work.stage != Stage::Over {
                waits_for.push(number);
            }
        }
        let mut from = 0;
        while let Some(run) = self.dirty_lines(from) {
            from = run.1;
            match self.is_to_be_written(run) {
                true => self.meet("a run that waits to be written", true),
                false => waits_for.push(self.begin_write_back(run)),
            }
        }
        if let Some(flush) = flush {
            self.works[flush].left += waits_for.len();
            for work in waits_for {
                self.flushed.push((flush, work));
            }
        }
    }

    /// Whether a run will be written by work that waits for its blocks.
    fn is_to_be_written(&self, (from, end): (u64, u64)) -> bool {
        let owners = self.locks.owners((from, end));
        let mut works = owners.into_iter().map(|owner| &self.works[owner]);
        works.any(|work| {
            let is_write_back = work.kind == Kind::WriteBack { is_leaving: false };
            let covers = work.from <= from && end <= work.end;
            is_write_back && work.stage == Stage::Begin && covers
        })
    }

    pub fn write_first_back(&mut self) -> Option<usize> {
        let run = self.dirty_lines(0)?;
        Some(self.begin_write_back(run))
    }

    fn begin_write_back(&mut self, run: (u64, u64)) -> usize {
        let kind = Kind::WriteBack { is_leaving: false };
        self.begin(Work::new(kind, Op::Write, run))
    }

    /// A run that is to be written has been locked: what is dirty of it still is written, unless it is on its way.
    pub fn writes_back(&mut self, work: usize) {
        let Work { from, end, .. } = self.works[work];
        let owners = self.locks.owners((from, end));
        let others: Vec<(u64, u64)> = owners
            .into_iter()
            .filter(|&other| other != work)
            .map(|other| &self.works[other])
            .filter(|other| matches!(other.kind, Kind::WriteBack { .. }) && !other.keeps.is_empty())
            .map(|other| (other.from, other.end))
            .collect();
        let is_on_its_way = |lbn: u64| others.iter().any(|other| (other.0..other.1).contains(&lbn));
        let dirty = (from..end).filter(|&lbn| self.is_dirty_in_memory(lbn));
        let (on_their_way, left): (Vec<u64>, Vec<u64>) = dirty.partition(|&lbn| is_on_its_way(lbn));
        let runs = runs(left);
        self.meet(
            "dirty blocks that are on their way",
            !on_their_way.is_empty(),
        );
        for &run in &runs {
            for (key, ..) in self.parts(run) {
                self.works[work].keeps.push(key);
            }
        }
        for run in runs {
            self.write_run(work, run);
        }
        self.next_stage(work, Stage::End);
    }

    /// From the first dirty block on, the next multiple of the period is waited for.
    pub fn look_for_dirt(&mut self) {
        let Cache::Memory(memory) = self.case.cache else {
            return;
        };
        let Some(period) = memory.flush_period else {
            return;
        };
        if self.waits_for_period || self.next_dirty(0, 1).is_none() {
            return;
        }
        self.waits_for_period = true;
        self.alarm((self.now / period + 1) * period, Alarm::Period);
    }

    pub fn period_is_over(&mut self) {
        self.waits_for_period = false;
        self.meet("a period that is over", true);
        self.write_all_back(None);
    }
}

//! What a memory cache fetches, and what of that it keeps.

use diskwright::engine::request::Op;

use super::model::Model;
use super::operations::Operation;
use super::specs::Prefetch;
use super::stages::{Kind, Place, Work};
use crate::support::twins::runs;

/// A run that is fetched, and whether it goes to the cache.
type Fetch = (u64, u64, bool);

impl Model<'_> {
    /// Operations whose data are the cache's.
    pub fn ask_for_memory(&mut self, work: usize, op: Op, run: (u64, u64)) {
        let first = self.operations.len();
        self.ask(work, op, false, run);
        for operation in &mut self.operations[first..] {
            operation.is_of_memory = true;
        }
    }

    pub fn fetch_line(&mut self, work: usize, line: usize) {
        for fetch in self.missing(work, line) {
            self.fetch(work, fetch);
        }
    }

    pub fn fetch_all(&mut self, work: usize) {
        let memory = self.memory();
        let most = memory.gather.unwrap_or(u64::MAX);
        let mut joined: Vec<Fetch> = Vec::new();
        let lines = self.works[work].places.len();
        for fetch in (0..lines).flat_map(|line| self.missing(work, line)) {
            let lines = |from: u64, end: u64| end.div_ceil(memory.line) - from / memory.line;
            match joined.last_mut() {
                Some((from, end, is_kept))
                    if *end == fetch.0 && *is_kept == fetch.2 && lines(*from, fetch.1) <= most =>
                {
                    *end = fetch.1;
                }
                _ => joined.push(fetch),
            }
        }
        for fetch in joined {
            self.fetch(work, fetch);
        }
    }

    fn fetch(&mut self, work: usize, (from, end, is_kept): Fetch) {
        self.works[work].has_missed = true;
        self.add("fetches", 1);
        self.add("fetched_blocks", end - from);
        match is_kept {
            true => self.ask_for_memory(work, Op::Read, (from, end)),
            false => self.ask(work, Op::Read, false, (from, end)),
        }
    }

    fn missing(&self, work: usize, line: usize) -> Vec<Fetch> {
        let Work { op, from, end, .. } = self.works[work];
        let (key, first, last) = self.parts((from, end))[line];
        let base = key * self.memory().line;
        if self.works[work].places[line] == Place::None {
            return match op {
                Op::Read => vec![(base + first, base + last, false)],
                _ => Vec::new(),
            };
        }
        let held = self.line(key).expect("it has a place");
        let (mut from, mut end) = self.grains((key, first, last));
        let prefetch = match op {
            Op::Read => self.memory().read_prefetch,
            _ => self.memory().write_prefetch,
        };
        if !held.runs(from, end, false).is_empty() {
            if matches!(prefetch, Prefetch::Front | Prefetch::Line) {
                from = 0;
            }
            if matches!(prefetch, Prefetch::Rest | Prefetch::Line) {
                end = self.memory().line.min(self.case.blocks() - base);
            }
        }
        let parts = match op {
            Op::Read => vec![(from, end)],
            _ => vec![(from, first), (last, end)],
        };
        let runs = parts
            .into_iter()
            .flat_map(|(from, end)| held.runs(from, end, false));
        runs.map(|(from, end)| (base + from, base + end, true))
            .collect()
    }

    /// What a fetch has brought is in its lines, as far as it was missing and cannot be old; what has been written is clean.
    pub fn memory_operation_ended(&mut self, number: usize) {
        let Operation {
            work,
            op,
            lbn,
            blocks,
            is_of_memory,
            ..
        } = self.operations[number];
        if !is_of_memory {
            return;
        }
        let run = lbn..lbn + blocks;
        if op == Op::Read {
            let kept =
                runs(run.filter(|&lbn| !self.is_there(lbn) && !self.may_be_old(number, lbn)));
            for run in kept {
                for (key, from, end) in self.parts(run) {
                    self.line_mut(key).there[from as usize..end as usize].fill(true);
                }
            }
        } else if matches!(self.works[work].kind, Kind::WriteBack { .. }) {
            for lbn in run {
                let (key, from, end) = self.parts((lbn, lbn + 1))[0];
                if self.line(key).is_some() {
                    self.line_mut(key).dirty[from as usize..end as usize].fill(false);
                }
            }
        }
    }

    /// Whether a block that a fetch has read was written or trimmed at the same time.
    fn may_be_old(&mut self, fetch: usize, lbn: u64) -> bool {
        let is_old = self.operations[fetch].meets.iter().any(|&other| {
            let Operation {
                op,
                lbn: first,
                blocks,
                ..
            } = self.operations[other];
            op != Op::Read && (first..first + blocks).contains(&lbn)
        });
        self.meet("what is read while it is written", is_old);
        is_old
    }
}

//! What a memory cache fetches from the devices.

use super::memory::{OF_CACHE, Prefetch, command_of};
use super::operations::Data;
use super::work::WorkId;
use super::{Cache, Controller};
use crate::engine::context::Context;
use crate::engine::request::Op;
use crate::models::cache::block_cache::{BlockState, LinePiece};

/// A run that is fetched: its first block, the one behind its last, and where its data go.
type Fetch = (u64, u64, Data);

impl Controller {
    /// What is missing of one line is fetched.
    pub(super) fn fetch_line(&mut self, id: WorkId, line: usize, cx: &mut Context<'_>) {
        let mut fetches = Vec::new();
        self.missing(id, line, &mut fetches);
        for fetch in fetches {
            self.fetch(id, fetch, cx);
        }
    }

    /// What is missing of all lines of a piece is fetched, neighbours together.
    pub(super) fn fetch_all(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let mut fetches: Vec<Fetch> = Vec::new();
        for line in 0..self.works.get(id).frames.len() {
            self.missing(id, line, &mut fetches);
        }
        let rules = self.memory().rules;
        let per_line = u64::from(self.memory().cache.blocks_per_line());
        let mut joined: Option<Fetch> = None;
        for fetch in fetches {
            let lines = |from: u64, end: u64| end.div_ceil(per_line) - from / per_line;
            match &mut joined {
                Some((from, end, data))
                    if *end == fetch.0
                        && *data == fetch.2
                        && lines(*from, fetch.1) <= rules.fetched_lines =>
                {
                    *end = fetch.1;
                }
                _ => {
                    if let Some(whole) = joined.replace(fetch) {
                        self.fetch(id, whole, cx);
                    }
                }
            }
        }
        if let Some(last) = joined {
            self.fetch(id, last, cx);
        }
    }

    fn fetch(&mut self, id: WorkId, (from, end, data): Fetch, cx: &mut Context<'_>) {
        self.works.get_mut(id).has_missed = true;
        self.counters.fetches += 1;
        self.counters.fetched_blocks += end - from;
        let command = command_of(Op::Read, (from, (end - from) as u32));
        self.ask(id, command, None, data, cx);
    }

    /// The runs of a line that are to be fetched for a piece: of a read what is missing of it, of a write what is missing beside it of blocks that
    /// are valid together with its own; and what is fetched ahead.
    fn missing(&mut self, id: WorkId, line: usize, fetches: &mut Vec<Fetch>) {
        let work = self.works.get(id);
        let (run, op, place) = ((work.from, work.end), work.command.op, work.frames[line]);
        let piece = self.memory().piece(run, line);
        let Some(frame) = place.frame() else {
            // Without a place it goes to the host; a write needs nothing then.
            if op == Op::Read {
                let end = piece.lbn + u64::from(piece.blocks());
                fetches.push((piece.lbn, end, Data::Host));
            }
            return;
        };
        let grains = self.grains_of(&piece);
        let end = self.memory().cache.blocks_per_line();
        let last = self.grains_of(&LinePiece { end, ..piece });
        let Cache::Memory(memory) = &self.cache else {
            unreachable!("there is a memory cache");
        };
        let state = memory.cache.line(frame);
        let lacks = |from: u32, end: u32| {
            let part = LinePiece {
                first: from,
                end,
                lbn: piece.lbn_of(0) + u64::from(from),
                ..piece
            };
            let part = (from < end).then_some(part);
            let lacks = part.is_some_and(|part| {
                (memory.cache.next_run(state, BlockState::Missing, part)).is_some()
            });
            (part, lacks)
        };
        let (is_read, prefetch) = match op {
            Op::Read => (true, memory.rules.read_prefetch),
            _ => (false, memory.rules.write_prefetch),
        };
        let is_missing = lacks(grains.first, grains.end).1;
        let (mut first, mut end) = (grains.first, grains.end);
        if is_missing && matches!(prefetch, Prefetch::Front | Prefetch::Line) {
            first = 0;
        }
        if is_missing && matches!(prefetch, Prefetch::Rest | Prefetch::Line) {
            end = last.end;
        }
        let parts = match is_read {
            true => [lacks(first, end).0, None],
            // What is written need not be read.
            false => [lacks(first, piece.first).0, lacks(piece.end, end).0],
        };
        for part in parts.into_iter().flatten() {
            let runs = memory.cache.runs(state, BlockState::Missing, part);
            fetches.extend(
                runs.map(|(lbn, blocks)| (lbn, lbn + u64::from(blocks), Data::Segment(OF_CACHE))),
            );
        }
    }
}

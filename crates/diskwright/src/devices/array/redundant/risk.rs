//! What a power cut may leave wrong: rows of which some members have new data and others do not, and blocks that were computed from such
//! rows, the write hole.

use std::collections::BTreeMap;
use std::ops::Range;

use super::geometry::{Geometry, Role};
use super::journal::Journal;
use super::members::State;
use super::plan::{Segment, View};
use super::reading::pieces;
use super::work::Kind;
use super::{Redundant, Work};
use crate::engine::Ranges;
use crate::engine::request::{Command, Op, Promise};

/// The most blocks of a chunk of copies.
const CHUNK: u64 = 2048;

/// What a power cut has left in doubt, or would: chunks of the members' blocks, which are rows where there is parity.
pub struct Risk {
    /// Blocks of a chunk.
    pub chunk: u64,
    /// Chunks that were written since their members were flushed, of members that lose what was not: each with the number of flushes that had
    /// begun when the last write of it ended.
    unflushed: BTreeMap<u64, u64>,
    /// Flushes of all members that have begun.
    flushes: u64,
    /// Chunks whose redundancy may not fit their data.
    suspect: Ranges,
    /// Blocks of the array that were computed from such chunks, and have not been written since.
    pub holes: Ranges,
    /// Writes of the parent over lost blocks, or over those computed from such chunks, that members may still forget.
    overwritten: Vec<Overwritten>,
}

/// Blocks of the array whose data were lost or in doubt until they were written, and are so again if the members forget that.
#[derive(Debug)]
struct Overwritten {
    blocks: Range<u64>,
    /// Whether their data were lost; in doubt otherwise.
    was_lost: bool,
    /// Flushes that had begun when the write ended.
    flushes: u64,
    /// The journal has the write, too.
    is_logged: bool,
}

impl Risk {
    pub fn new(geometry: &Geometry) -> Risk {
        Risk {
            chunk: match geometry.parities() {
                0 => geometry.unit.min(CHUNK),
                _ => geometry.unit,
            },
            unflushed: BTreeMap::new(),
            flushes: 0,
            suspect: Ranges::default(),
            holes: Ranges::default(),
            overwritten: Vec::new(),
        }
    }

    /// A flush of all members begins; its number.
    pub fn flush_begins(&mut self) -> u64 {
        self.flushes += 1;
        self.flushes
    }

    /// Flushes of all members that have begun.
    pub fn flushes(&self) -> u64 {
        self.flushes
    }

    /// The flush of this number is over: what was written before it began is safe.
    fn flush_ended(&mut self, number: u64) {
        self.unflushed.retain(|_, began| *began >= number);
        self.overwritten.retain(|write| write.flushes >= number);
    }

    /// The parent has written blocks, and members may forget that until a flush: those of them that were lost, or else in doubt, are so again then.
    fn overwritten(&mut self, (blocks, was_lost): (&Range<u64>, Option<&Ranges>), is_logged: bool) {
        let before = was_lost.unwrap_or(&self.holes);
        let flushes = self.flushes;
        let parts = before.overlaps(blocks).map(|blocks| Overwritten {
            blocks,
            was_lost: was_lost.is_some(),
            flushes,
            is_logged,
        });
        self.overwritten.extend(parts);
    }

    /// Blocks of members were written that may be forgotten.
    fn written(&mut self, blocks: Range<u64>) {
        self.written_at(blocks, self.flushes);
    }

    /// The same when a number of flushes had begun.
    pub fn written_at(&mut self, blocks: Range<u64>, flushes: u64) {
        for chunk in self.chunks(&blocks) {
            let before = self.unflushed.entry(chunk).or_default();
            *before = flushes.max(*before);
        }
    }

    /// The chunks of blocks of members.
    fn chunks(&self, blocks: &Range<u64>) -> Range<u64> {
        blocks.start / self.chunk..blocks.end.div_ceil(self.chunk)
    }

    /// Whether the redundancy of blocks of members may not fit.
    pub fn is_suspect(&self, blocks: &Range<u64>) -> bool {
        !self.suspect.is_empty() && self.suspect.meets(&self.chunks(blocks))
    }

    /// Whether anything is in doubt.
    pub fn has_suspects(&self) -> bool {
        !self.suspect.is_empty()
    }

    /// The power fails while these blocks of members are being written.
    fn power_lost(&mut self, open: Vec<Range<u64>>) {
        for blocks in open {
            self.suspect.add(self.chunks(&blocks));
        }
        for chunk in std::mem::take(&mut self.unflushed).into_keys() {
            self.suspect.add(chunk..chunk + 1);
        }
    }
}

/// The blocks of members, or of whole rows where there is parity, that blocks of an array are in.
pub fn spans(geometry: &Geometry, command: &Command) -> Vec<Range<u64>> {
    let unit = geometry.unit;
    if geometry.parities() > 0 {
        let rows = geometry.rows_of(command.lbn.0, command.end().0);
        let rows = rows.into_iter().filter(|rows| !rows.is_empty());
        return rows
            .map(|rows| rows.start * unit..rows.end * unit)
            .collect();
    }
    let pieces = pieces(geometry, command.lbn.0, command.end().0);
    pieces
        .map(|(_, (row, from, to))| row * unit + from..row * unit + to)
        .collect()
}

impl Redundant {
    /// The power fails: what is in doubt from now on.
    pub(super) fn power_lost(&mut self) {
        self.open_rows += self.rows_in_writing();
        for slot in &mut self.slots {
            if let State::Rebuilding(_) = slot.state
                && self.promise == Promise::AfterFlush
            {
                // What was not flushed may be gone.
                slot.state = State::Rebuilding(0);
            }
        }
        let is_open = |work: &&Work| work.is_open_write() && !self.is_logged(work);
        let open = self.work.iter().filter(is_open);
        let open = open.flat_map(|work| spans(&self.geometry, &work.command));
        let given_up = self.work.iter().filter_map(|work| match work.kind {
            Kind::Rebuild { from, to, .. } if !work.plan.lost.is_empty() => Some(from..to),
            _ => None,
        });
        let open = open.chain(given_up).collect();
        self.risk.power_lost(open);
        let has_journal = (self.journal.as_ref()).is_some_and(|journal| !journal.has_failed);
        for write in std::mem::take(&mut self.risk.overwritten) {
            match write.was_lost {
                _ if write.is_logged && has_journal => {}
                true => self.lost.add(write.blocks),
                false => self.risk.holes.add(write.blocks),
            }
        }
        self.replayable = Ranges::default();
        let journal = self.journal.iter().filter(|journal| !journal.has_failed);
        let blocks: Vec<_> = journal.flat_map(Journal::unsafe_blocks).collect();
        for (row, unit, from, to) in self.data_in(&blocks) {
            let lbn = self.geometry.lbn(row, unit);
            self.replayable.add(lbn + from..lbn + to);
        }
    }

    /// The units of data that blocks of members have parts of: row, unit, first block of the part and the one behind it.
    fn data_in(&self, blocks: &[(usize, u64, u64)]) -> Vec<(u64, usize, u64, u64)> {
        let geometry = &self.geometry;
        let mut data = Vec::new();
        for &(slot, from, to) in blocks {
            for row in from / geometry.unit..to.div_ceil(geometry.unit) {
                if let Role::Data(unit) = geometry.role(row, slot) {
                    let begin = row * geometry.unit;
                    let (from, to) = (from.max(begin), to.min(begin + geometry.unit));
                    data.push((row, unit, from - begin, to - begin));
                }
            }
        }
        data
    }

    /// What these blocks of members hold is not known any more.
    pub(super) fn leave_in_doubt(&mut self, blocks: &[(usize, u64, u64)]) {
        for &(_, from, to) in blocks {
            let chunks = self.risk.chunks(&(from..to));
            self.risk.suspect.add(chunks);
        }
        let data = self.data_in(blocks);
        self.note_holes(&data);
    }

    /// Work has ended well that changed blocks, or flushed all.
    pub(super) fn note_ended(&mut self, work: &Work) {
        match (work.kind, work.command.op) {
            (Kind::Flush | Kind::Settle | Kind::Reclaim | Kind::Unmark, _) => {
                self.risk.flush_ended(work.flush);
                self.journal_flushed(work.flush);
            }
            (Kind::Request, Op::Write) => {
                self.has_changed = true;
                let may_be_forgotten = self.promise == Promise::AfterFlush && !work.command.fua;
                let is_logged = self.is_logged(work);
                if self.tracks_rows && may_be_forgotten && !is_logged {
                    for blocks in spans(&self.geometry, &work.command) {
                        self.risk.written(blocks);
                    }
                }
                let blocks = work.command.lbn.0..work.command.end().0;
                if may_be_forgotten {
                    for was_lost in [None, Some(&self.lost)] {
                        self.risk.overwritten((&blocks, was_lost), is_logged);
                    }
                }
                self.risk.holes.remove(&blocks);
                self.lost.remove(&blocks);
            }
            // What is lost is made to fit together again, which is to be as safe as a write.
            (Kind::Rebuild { from, to, .. }, _)
                if self.tracks_rows && !work.plan.lost.is_empty() =>
            {
                self.risk.written(from..to);
            }
            _ => {}
        }
    }

    /// A scrub or a resynchronisation has come to these blocks of each member: chunks that end there are right, of members that may forget that
    /// until they are flushed.
    pub(super) fn set_right(&mut self, work: &Work, from: u64, to: u64) {
        let chunk = self.risk.chunk;
        let end = match to == self.geometry.used() {
            true => to.div_ceil(chunk),
            false => to / chunk,
        };
        let mut right = 0;
        for number in from / chunk..end {
            let blocks = number * chunk..(number + 1) * chunk;
            if !self.risk.is_suspect(&blocks) || work.plan.undone.contains(&number) {
                continue;
            }
            self.risk.suspect.remove(&(number..number + 1));
            right += 1;
            if self.promise == Promise::AfterFlush {
                self.risk.written(blocks);
            }
        }
        self.counters.set_right += right;
        if let (Kind::Resync { .. }, Some(record)) = (work.kind, self.resyncs.last_mut()) {
            record.rows += right;
        }
    }

    /// Blocks are computed from redundancy that may not fit: a read of them may be wrong from now on.
    pub(super) fn note_holes(&mut self, holes: &[(u64, usize, u64, u64)]) {
        let before = self.risk.holes.blocks();
        for &(row, unit, from, to) in holes {
            let lbn = self.geometry.lbn(row, unit);
            self.risk.holes.add(lbn + from..lbn + to);
        }
        self.counters.holes += self.risk.holes.blocks() - before;
    }
}

impl View<'_> {
    /// Whether the redundancy of a part of a row may not fit its data.
    pub fn is_suspect(&self, (row, from, to): Segment) -> bool {
        let base = row * self.geometry.unit;
        self.risk.is_suspect(&(base + from..base + to))
    }
}

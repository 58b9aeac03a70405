//! What the members have to do for a piece of work: reads, and writes that wait for some of them.

use std::cmp::Reverse;

use super::geometry::{Geometry, Scheme};
use super::members::Slot;
use super::risk::Risk;

/// The most blocks between two reads of a member that are read along, so that one request does for both. Source: DiskSim.
const GAP: u64 = 32;

/// One request to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// The place of the member.
    pub slot: usize,
    /// Its first block there.
    pub lbn: u64,
    pub blocks: u64,
    /// The first and the last row that it is for.
    pub rows: (u64, u64),
    /// The rows of which it writes parity.
    pub parity: Option<(u64, u64)>,
    /// Reads that it waits for.
    pub waits: u32,
    pub is_done: bool,
}

impl Io {
    /// The block behind the last one.
    pub fn end(&self) -> u64 {
        self.lbn + self.blocks
    }
}

/// Blocks of a member that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bad {
    pub slot: usize,
    pub from: u64,
    pub to: u64,
}

/// Requests to members.
#[derive(Debug, Default)]
pub struct Plan {
    pub reads: Vec<Io>,
    pub writes: Vec<Io>,
    /// Data that are lost with this work: a row, a unit of it, and the first block of that and the one behind the last. They become zeros.
    pub lost: Vec<(u64, usize, u64, u64)>,
    /// The same of data that are computed from redundancy that may not fit.
    pub holes: Vec<(u64, usize, u64, u64)>,
    /// Rows whose redundancy cannot be made anew.
    pub undone: Vec<u64>,
    /// Blocks that are written again because they could not be read.
    pub repaired: u64,
    /// Blocks that come from others in their row.
    pub recovered: u64,
    /// Segments of rows, by how their parity is made.
    pub modified: u64,
    pub reconstructed: u64,
    pub full: u64,
}

/// The members as a planner sees them.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub geometry: &'a Geometry,
    pub slots: &'a [Slot],
    pub bad: &'a [Bad],
    pub risk: &'a Risk,
}

/// A part of the units of a row: the row, the first block in each unit, and the one behind the last.
pub type Segment = (u64, u64, u64);

impl View<'_> {
    /// Whether a member has what it should have in a segment.
    pub fn has(&self, slot: usize, (row, _, to): Segment) -> bool {
        self.slots[slot].has(row * self.geometry.unit + to)
    }

    /// Whether that can be read.
    pub fn reads(&self, slot: usize, segment: Segment) -> bool {
        let (row, from, to) = segment;
        let base = row * self.geometry.unit;
        let meets = |bad: &Bad| bad.slot == slot && bad.from < base + to && base + from < bad.to;
        self.has(slot, segment) && !self.bad.iter().any(meets)
    }

    /// Whether a member has to be kept as it should be in a segment, or in a part of it.
    pub fn writes(&self, slot: usize, (row, from, _): Segment) -> bool {
        self.slots[slot].takes(row * self.geometry.unit + from)
    }

    /// The parities of a row.
    pub fn parities(&self, row: u64) -> impl Iterator<Item = usize> + use<> {
        let (p, q) = (self.geometry.p(row), self.geometry.q(row));
        p.into_iter().chain(q)
    }

    /// Whether more members are missing in a segment than its redundancy makes up for.
    pub fn is_beyond(&self, segment: Segment) -> bool {
        let missing = |slot: &usize| !self.has(*slot, segment);
        let geometry = self.geometry;
        match geometry.scheme {
            Scheme::Copies(_) => {
                (0..geometry.data()).any(|unit| geometry.copies_of(unit).all(|copy| missing(&copy)))
            }
            _ => (0..geometry.members).filter(missing).count() > geometry.parities(),
        }
    }
}

impl Plan {
    /// Forgets all, but for the memory.
    pub fn clear(&mut self) {
        let (mut reads, mut writes, mut lost, mut holes) = (
            std::mem::take(&mut self.reads),
            std::mem::take(&mut self.writes),
            std::mem::take(&mut self.lost),
            std::mem::take(&mut self.holes),
        );
        reads.clear();
        writes.clear();
        lost.clear();
        holes.clear();
        self.undone.clear();
        let undone = std::mem::take(&mut self.undone);
        *self = Plan {
            reads,
            writes,
            lost,
            holes,
            undone,
            ..Plan::default()
        };
    }

    /// A unit of data is computed, perhaps from redundancy that does not fit.
    pub fn computes(&mut self, view: &View<'_>, unit: usize, segment: Segment) {
        if view.is_suspect(segment) {
            let (row, from, to) = segment;
            self.holes.push((row, unit, from, to));
        }
    }

    /// A member reads a segment.
    pub fn read(&mut self, view: &View<'_>, slot: usize, segment: Segment) {
        self.reads.push(io(view, slot, segment, false));
    }

    /// A member writes a segment of data.
    pub fn write(&mut self, view: &View<'_>, slot: usize, segment: Segment) {
        self.writes.push(io(view, slot, segment, false));
    }

    /// A member writes a segment of parity.
    pub fn write_parity(&mut self, view: &View<'_>, slot: usize, segment: Segment) {
        self.writes.push(io(view, slot, segment, true));
    }

    /// A member reads or writes blocks of several rows.
    pub fn span(view: &View<'_>, slot: usize, lbn: u64, blocks: u64) -> Io {
        let unit = view.geometry.unit;
        Io {
            slot,
            lbn,
            blocks,
            rows: (lbn / unit, (lbn + blocks - 1) / unit),
            parity: None,
            waits: 0,
            is_done: false,
        }
    }

    /// Makes one request of those that follow each other on a member, reads also over small gaps; within one row only if `is_single`. The last
    /// member comes first, as in DiskSim. Then has writes wait: for all reads, or for those that they depend on.
    pub fn join(&mut self, is_single: bool, waits_for_all: bool) {
        join(&mut self.reads, GAP, is_single);
        join(&mut self.writes, 0, is_single);
        for write in &mut self.writes {
            let needs = |read: &&Io| waits_for_all || depends(write, read);
            write.waits = self.reads.iter().filter(needs).count() as u32;
        }
    }
}

/// Whether a write has to wait for a read: of the same member, or of a row whose parity it writes. Source: DiskSim.
pub fn depends(write: &Io, read: &Io) -> bool {
    let is_of_row = |(first, last): (u64, u64)| first <= read.rows.1 && read.rows.0 <= last;
    write.slot == read.slot || write.parity.is_some_and(is_of_row)
}

fn io(view: &View<'_>, slot: usize, (row, from, to): Segment, is_parity: bool) -> Io {
    Io {
        slot,
        lbn: row * view.geometry.unit + from,
        blocks: to - from,
        rows: (row, row),
        parity: is_parity.then_some((row, row)),
        waits: 0,
        is_done: false,
    }
}

fn join(all: &mut Vec<Io>, gap: u64, is_single: bool) {
    all.sort_unstable_by_key(|io| (Reverse(io.slot), io.lbn, io.blocks));
    all.dedup_by(|next, io| {
        let meets = io.slot == next.slot && next.lbn <= io.end() + gap;
        if !meets || is_single && io.rows != next.rows {
            return false;
        }
        io.blocks = io.end().max(next.end()) - io.lbn;
        io.rows = (io.rows.0.min(next.rows.0), io.rows.1.max(next.rows.1));
        io.parity = match (io.parity, next.parity) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
        true
    });
}

//! The segments of the buffer: what each holds, and which one a request gets.

use crate::base::units::Lbn;
use crate::engine::request::Command;

/// What a segment is in; the less is lost where it is replaced, the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Empty,
    /// Data that are on the medium too; nothing is under way.
    Clean,
    /// The medium fills it.
    Reading,
    /// It is written to the medium.
    Writing,
}

impl State {
    /// What a segment is worth to a request that finds nothing in it: the less is lost with its blocks, the more.
    #[inline]
    fn spared(self) -> u32 {
        State::Writing as u32 - self as u32
    }

    /// What one is worth, beyond a hit, to a read that finds blocks in it.
    #[inline]
    fn alive(self) -> u32 {
        self as u32
    }
}

/// What a segment is worth to a write that replaces blocks of it: more than what holds nothing.
const REPLACED: u32 = 4;
/// What one is worth at least to a read that finds its first block in it, and to one that finds all its blocks.
const PARTIAL_HIT: u32 = 4;
const WHOLE_HIT: u32 = 8;

/// A part of the buffer: consecutive blocks.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Its state.
    pub state: State,
    /// First block held.
    pub start: u64,
    /// The block behind the last one held.
    pub end: u64,
    /// The block before which reading ahead ends.
    pub limit: u64,
    /// Whether its blocks were last written, not read.
    pub written: bool,
}

impl Segment {
    /// Takes only the last `size` blocks, as a ring does.
    pub fn clamp(&mut self, size: u64) {
        self.start = self.start.max(self.end.saturating_sub(size));
    }
    fn holds(&self, lbn: u64) -> bool {
        (self.start..self.end).contains(&lbn)
    }
    fn overlaps(&self, command: &Command) -> bool {
        self.start < command.end().0 && command.lbn.0 < self.end
    }
}

/// What a read finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// All blocks.
    Whole,
    /// The first block, but not all.
    Partial,
    /// Not the first block.
    Miss,
}

/// All segments, in the order of their last use.
#[derive(Clone, Debug)]
pub struct Segments {
    segments: Box<[Segment]>,
    /// Numbers of the segments, the least recently used first.
    order: Box<[u32]>,
    size: u64,
    own_write_segment: bool,
    hits_written_data: bool,
}

impl Segments {
    /// Empty segments of `size` blocks.
    pub fn new(
        count: u32,
        size: u64,
        own_write_segment: bool,
        hits_written_data: bool,
    ) -> Segments {
        let empty = Segment {
            state: State::Empty,
            start: 0,
            end: 0,
            limit: 0,
            written: false,
        };
        Segments {
            segments: vec![empty; count as usize].into(),
            order: (0..count).collect(),
            size,
            own_write_segment,
            hits_written_data,
        }
    }

    /// A segment.
    #[inline]
    pub fn get(&self, number: u32) -> &Segment {
        &self.segments[number as usize]
    }

    /// A segment.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> &mut Segment {
        &mut self.segments[number as usize]
    }

    /// Blocks of a segment.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The segment used last.
    pub fn last_used(&self) -> u32 {
        self.order[self.order.len() - 1]
    }

    /// Notes that a segment is used.
    #[inline]
    pub fn touch(&mut self, number: u32) {
        let at = self.order.iter().position(|&entry| entry == number);
        let at = at.expect("the order lists every segment");
        self.order[at..].rotate_left(1);
    }

    /// The segment for a read, and what the read finds there: the first in the order of use that is worth most.
    #[inline]
    pub fn for_read(&self, command: &Command) -> (u32, Hit) {
        let (lbn, end) = (command.lbn.0, command.end().0);
        let worth = |segment: &Segment| {
            let readable = !segment.written || self.hits_written_data;
            let is_hit = segment.state != State::Empty && readable && segment.holds(lbn);
            match is_hit {
                false => segment.state.spared(),
                true if end > segment.end => PARTIAL_HIT + segment.state.alive(),
                true => WHOLE_HIT + segment.state.alive(),
            }
        };
        let skip = |number: u32| self.own_write_segment && number == 0;
        let (number, worth) = self.best(skip, worth);
        let hit = match worth {
            WHOLE_HIT.. => Hit::Whole,
            PARTIAL_HIT.. => Hit::Partial,
            _ => Hit::Miss,
        };
        (number, hit)
    }

    /// The segment for a write that joins no other.
    #[inline]
    pub fn for_write(&self, command: &Command) -> u32 {
        let worth = |segment: &Segment| match segment.state {
            State::Clean if segment.overlaps(command) => REPLACED,
            state => state.spared(),
        };
        let skip = |number: u32| self.own_write_segment && number != 0;
        self.best(skip, worth).0
    }

    /// The first segment in the order of use that is worth most, and what it is worth.
    #[inline]
    fn best(&self, skip: impl Fn(u32) -> bool, worth: impl Fn(&Segment) -> u32) -> (u32, u32) {
        // Which one is best is not foreseen by the machine: the largest of numbers is found without a branch.
        let keys = (0..).zip(&self.order).map(|(at, &number): (u32, _)| {
            let worth = match skip(number) {
                true => 0,
                false => 1 + worth(self.get(number)),
            };
            u64::from(worth) << 32 | u64::from(u32::MAX - at)
        });
        let best = keys.fold(0, u64::max);
        let (worth, at) = ((best >> 32) as u32, u32::MAX - best as u32);
        assert!(
            worth > 0,
            "a buffer has a segment for every kind of request"
        );
        (self.order[at as usize], worth - 1)
    }

    /// Empties the segments that hold blocks which a write replaces, but for the one it uses. Of the one that was being
    /// filled until now, `interrupted`, what lies behind the write stays, or else what lies before it.
    #[inline]
    pub fn forget(&mut self, command: &Command, but: u32, interrupted: Option<u32>) {
        for (number, segment) in (0..).zip(&mut self.segments) {
            if number == but || segment.state != State::Clean || !segment.overlaps(command) {
                continue;
            }
            if Some(number) != interrupted {
                segment.state = State::Empty;
            } else if segment.end > command.end().0 {
                segment.start = command.end().0;
            } else if segment.start < command.lbn.0 {
                segment.end = command.lbn.0;
            } else {
                segment.state = State::Empty;
            }
        }
    }

    /// Begins anew with a segment, at a block.
    #[inline]
    pub fn restart(&mut self, number: u32, lbn: Lbn) {
        let segment = self.get_mut(number);
        (segment.start, segment.end, segment.limit) = (lbn.0, lbn.0, lbn.0);
    }
}

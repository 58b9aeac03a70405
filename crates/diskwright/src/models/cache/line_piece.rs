//! Runs of blocks, divided where the lines of a cache meet.

use crate::base::divide::quotient;

/// A piece of a run of blocks that lies in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePiece {
    /// Which line-sized run of the device it is in.
    pub key: u64,
    /// Its first block, counted from the line's first.
    pub first: u32,
    /// The end of its last, counted so too.
    pub end: u32,
    /// Its first block on the device.
    pub lbn: u64,
}

/// The line of a block.
#[inline]
pub(super) fn key_of(lbn: u64, per_line: u32) -> u64 {
    quotient(lbn, per_line.into())
}

impl LinePiece {
    /// Blocks of the piece.
    #[inline]
    pub fn blocks(&self) -> u32 {
        self.end - self.first
    }

    /// Where a block of the line is on the device.
    #[inline]
    pub fn lbn_of(&self, block: u32) -> u64 {
        self.lbn - u64::from(self.first) + u64::from(block)
    }

    /// What of the piece is at a block of the device that it has, or at its end, and after that.
    #[inline]
    pub fn after(&self, lbn: u64) -> LinePiece {
        LinePiece {
            first: self.first + (lbn - self.lbn) as u32,
            lbn,
            ..*self
        }
    }

    /// The part of the piece that lies in a run of blocks.
    pub fn within(&self, lbn: u64, blocks: u32) -> Option<LinePiece> {
        let from = self.lbn.max(lbn);
        let end = (self.lbn + u64::from(self.blocks())).min(lbn + u64::from(blocks));
        (from < end).then(|| {
            let first = self.first + (from - self.lbn) as u32;
            LinePiece {
                first,
                end: first + (end - from) as u32,
                lbn: from,
                ..*self
            }
        })
    }
}

/// The pieces of a run of blocks, in ascending order.
#[derive(Clone, Debug)]
pub struct LinePieces {
    key: u64,
    /// The first block of the next piece, counted from its line's first and on the device, and the end of the run.
    first: u32,
    lbn: u64,
    end: u64,
    per_line: u32,
}

impl LinePieces {
    /// The pieces of a run of `blocks` blocks, in lines of `per_line` blocks.
    #[inline]
    pub(super) fn new(lbn: u64, blocks: u32, per_line: u32) -> LinePieces {
        let key = key_of(lbn, per_line);
        LinePieces {
            key,
            first: (lbn - key * u64::from(per_line)) as u32,
            lbn,
            end: lbn + u64::from(blocks),
            per_line,
        }
    }
}

impl Iterator for LinePieces {
    type Item = LinePiece;

    #[inline]
    fn next(&mut self) -> Option<LinePiece> {
        if self.lbn >= self.end {
            return None;
        }
        let left = u64::from(self.first) + self.end - self.lbn;
        let piece = LinePiece {
            key: self.key,
            first: self.first,
            end: left.min(self.per_line.into()) as u32,
            lbn: self.lbn,
        };
        self.key += 1;
        self.first = 0;
        self.lbn += u64::from(piece.blocks());
        Some(piece)
    }
}

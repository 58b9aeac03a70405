//! Runs of blocks, divided where the lines of a cache meet.

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

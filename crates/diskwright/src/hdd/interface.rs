//! The interface between drive and host: how long blocks take to cross it.

use crate::units::Time;

/// A serial or parallel bus with one transfer rate.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// Picoseconds a 512-byte block.
    pub block_ps: u64,
    /// Whether blocks cross while the medium is at work on others.
    pub overlapped: bool,
}

impl Interface {
    /// The time of `blocks` blocks, rounded up to the nanosecond.
    #[inline]
    pub fn time(&self, blocks: u32) -> Time {
        Time::from_ns((self.block_ps * u64::from(blocks)).div_ceil(1000))
    }
}

//! The interface between drive and host: how long blocks take to cross it.

use crate::base::units::Time;

/// A serial or parallel bus with a transfer rate each way.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// Picoseconds a 512-byte block on its way to the host.
    pub block_ps: u64,
    /// The same on its way to the drive.
    pub write_block_ps: u64,
    /// Whether blocks cross while the medium is at work on others.
    pub overlapped: bool,
}

impl Interface {
    /// One that takes no time.
    pub const INSTANT: Interface = Interface {
        block_ps: 0,
        write_block_ps: 0,
        overlapped: true,
    };

    /// The time of `blocks` blocks to the host, rounded up to the nanosecond.
    #[inline]
    pub fn time(&self, blocks: u32) -> Time {
        Time::from_ns((self.block_ps * u64::from(blocks)).div_ceil(1000))
    }

    /// The same to the drive.
    #[inline]
    pub fn write_time(&self, blocks: u32) -> Time {
        Time::from_ns((self.write_block_ps * u64::from(blocks)).div_ceil(1000))
    }
}

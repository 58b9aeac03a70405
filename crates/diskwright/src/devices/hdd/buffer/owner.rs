//! A read whose blocks cross the bus, as far as that holds up the medium.

use crate::base::units::Time;
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::interface::Interface;

/// A read on its way over the bus while the medium runs ahead of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// The first block that crosses without a pause up to the last one.
    pub(super) first: u64,
    /// The block behind its last one.
    pub(super) end: u64,
    /// When that had crossed.
    pub(super) crossed: Time,
    /// When it is complete.
    pub(super) completion: Time,
}

impl Owner {
    pub(super) const NONE: Owner = Owner {
        first: 0,
        end: 0,
        crossed: Time::ZERO,
        completion: Time::ZERO,
    };

    /// When the first block begins to cross.
    pub(super) fn begins(&self, interface: Interface) -> Time {
        let blocks = (self.end - self.first) as u32;
        self.crossed.saturating_sub(interface.time(blocks))
    }

    /// The next block to cross at `at`.
    pub(super) fn next(&self, interface: Interface, at: Time) -> u64 {
        let left = self.crossed.saturating_sub(at).ns() * 1000;
        let blocks = left.div_ceil(interface.block_ps.max(1));
        self.end.saturating_sub(blocks).max(self.first)
    }

    /// When the head that comes to `sector` at `at` may read it; a whole number of turns later where the segment of
    /// `size` blocks has no room at first.
    pub(super) fn admits(&self, hardware: &Hardware, size: u64, sector: u64, at: Time) -> Time {
        let lbn = sector * u64::from(hardware.blocks_per_sector);
        let period = hardware.mechanics.spindle.period();
        if lbn < self.end || hardware.interface.block_ps == 0 {
            return at;
        }
        let mut at = at;
        while at < self.completion && lbn >= self.next(hardware.interface, at) + size {
            at += period;
        }
        at
    }
}

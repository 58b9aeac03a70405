//! What a host may expect of an SSD: requests of one page, each on a drive that does nothing else.

use super::Ssd;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::access_times::{AccessTimes, block_ps};
use crate::models::link::Direction;

impl Ssd {
    /// Times that no distance changes: the controller, the flash and a page's data on the channel; the data on the link are the transfer.
    /// Types of pages count with their mean. A write is one that must not be lost: it is done on flash, or in a buffer with a capacitor.
    /// Larger requests are expected to use dies and channels side by side.
    pub(super) fn expected(&self) -> AccessTimes {
        let (interface, timing) = (&self.interface, &self.timing);
        let mean = |times: &[Time]| {
            let sum: Time = times.iter().copied().sum();
            Time::from_ns(sum.ns() / times.len() as u64)
        };
        let page = Time::from_ns(timing.block.ns() * u64::from(self.geometry.unit_blocks));
        let (around, ps) = match &self.link {
            Some(link) => (
                link.command + link.end + link.latency + link.latency,
                // The time of a thousand blocks in ns is that of one in ps.
                link.time(Direction::ToHost, 1000 * BLOCK_BYTES).ns(),
            ),
            None => (interface.frames, block_ps(interface.rate)),
        };
        let read = interface.read
            + interface.mapping
            + timing.read_command
            + mean(&timing.read)
            + page
            + around
            + interface.read_end;
        let is_saved = (self.writes.buffer).is_some_and(|buffer| buffer.has_capacitor);
        let on_flash = match is_saved {
            true => Time::ZERO,
            false => timing.program_command + page + mean(&timing.program),
        };
        let write = interface.write + around + interface.mapping + on_flash + interface.write_end;
        AccessTimes::level(read, write, ps)
    }
}

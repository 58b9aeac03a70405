//! What the host takes accesses for.

use crate::base::units::{Lbn, Time};
use crate::engine::access_times::AccessTimes;
use crate::engine::request::{Command, Op};

/// Expected times of the medium, by distance, and of the NV cache, which has none.
pub(super) struct Times {
    pub medium: AccessTimes,
    pub flash: AccessTimes,
}

impl Times {
    /// Of a request to the medium from a place.
    pub fn medium(&self, from: Lbn, command: &Command) -> Time {
        self.medium.whole(command, from.0.abs_diff(command.lbn.0))
    }

    /// Of a write to the NV cache.
    pub fn flash(&self, blocks: u32) -> Time {
        self.flash.access(Op::Write, 0) + self.flash.transfer(blocks)
    }
}

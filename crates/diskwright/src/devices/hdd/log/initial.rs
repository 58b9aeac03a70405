//! What a logging drive wrote before time zero.

use super::LogPlacement;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Time};
use crate::devices::hdd::medium::Medium;
use crate::engine::request::{Command, Op};

/// Writes before time zero: the first logical blocks one after the other, through the drive's own placement.
pub struct InitialWrites {
    /// How many logical blocks; all, where the log has room for fewer.
    pub blocks: u64,
    /// The mean of the exponential gaps from the end of one to the beginning of the next.
    pub gap: Time,
    /// What these are drawn from.
    pub chance: Stream,
}

impl LogPlacement {
    /// The next of the writes before time zero behind the first `written`: what it writes, and the pause before it. `None` where it was the
    /// last one.
    pub fn initial_write(&mut self, written: u64) -> Option<(Command, Time)> {
        let most = self.log.blocks();
        let initial = self.initial.as_mut()?;
        if written >= initial.blocks.min(most) {
            return None;
        }
        let gap = initial.chance.exponential(initial.gap);
        let lbn = Lbn(written * self.per_slot);
        let command = Command {
            op: Op::Write,
            fua: false,
            lbn,
            blocks: self.per_slot as u32,
        };
        Some((command, gap))
    }

    /// A write before time zero is done.
    pub fn commit_initially(&mut self, medium: &mut Medium) {
        let mut allocated = std::mem::take(&mut medium.effects.allocated);
        for allocated in allocated.drain(..) {
            if let Some(before) = self.log.commit(allocated) {
                self.release(medium, before);
            }
        }
        medium.effects.allocated = allocated;
        medium.effects.clear();
    }

    /// Forgets what was counted before time zero.
    pub fn forget_counts(&mut self) {
        self.rewrites = 0;
    }
}

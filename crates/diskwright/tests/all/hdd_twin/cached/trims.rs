//! Trims, and transfers that they make unnecessary.

use super::Model;
use crate::support::twins::Asked;

impl Model<'_> {
    /// Whether a transfer has blocks of a trim, or a request needs a frame of one.
    pub(super) fn is_in_use(&mut self, trim: &Asked) -> bool {
        let (from, to) = (trim.lbn, trim.lbn + trim.blocks);
        let cache = self.cached();
        let is_pinned = (from..to).any(|lbn| cache.frames.is_pinned(lbn));
        is_pinned || cache.transfers.any_meets(from, to)
    }

    /// What has not been sent of what has to leave the cache need not go where a trim goes; whether there was any.
    pub(super) fn call_off(&mut self, trim: &Asked) -> bool {
        let (from, to) = (trim.lbn, trim.lbn + trim.blocks);
        let cut = self.cached().transfers.cut(from, to);
        if cut == 0 {
            return false;
        }
        self.count("a trim of what is on its way", 1);
        self.pass_flushes();
        true
    }

    pub(super) fn trim(&mut self, request: usize) {
        let trim = self.asked(request);
        let frames = &mut self.cached().frames;
        let there: Vec<u64> = (trim.lbn..trim.lbn + trim.blocks)
            .filter(|lbn| frames.has(*lbn))
            .collect();
        let dirty = there.iter().filter(|lbn| frames.is_dirty(**lbn)).count();
        for lbn in trim.lbn..trim.lbn + trim.blocks {
            frames.set(lbn, false, false);
            frames.leave_if_empty(lbn);
        }
        self.count("trimmed_blocks", there.len() as u64);
        self.count("trimmed_dirty_blocks", dirty as u64);
        self.pass(request);
    }
}

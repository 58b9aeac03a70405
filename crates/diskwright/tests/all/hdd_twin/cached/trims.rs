//! Trims, and transfers that they make unnecessary.

use super::Cached;
use crate::support::twins::Asked;

pub trait Trims<'a>: Cached<'a> {
    /// Whether a transfer has blocks of a trim, or a request needs a frame of one.
    fn is_in_use(&mut self, trim: &Asked) -> bool {
        let (from, to) = (trim.lbn, trim.lbn + trim.blocks);
        let cache = self.cached_mut();
        let is_pinned = (from..to).any(|lbn| cache.frames.is_pinned(lbn));
        is_pinned || cache.transfers.any_meets(from, to)
    }

    /// What has not been sent of what has to leave the cache need not go where a trim goes; whether there was any.
    fn call_off(&mut self, trim: &Asked) -> bool {
        let (from, to) = (trim.lbn, trim.lbn + trim.blocks);
        let cut = self.cached_mut().transfers.cut(from, to);
        if cut == 0 {
            return false;
        }
        self.count("a trim of what is on its way", 1);
        self.pass_flushes();
        true
    }

    fn trim(&mut self, request: usize) {
        let trim = self.asked(request);
        let frames = &mut self.cached_mut().frames;
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

impl<'a, D: Cached<'a>> Trims<'a> for D {}

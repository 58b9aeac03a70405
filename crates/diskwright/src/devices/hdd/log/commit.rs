//! What is noted in the log, and told to the checker, when an arm has done its work.

use super::LogPlacement;
use crate::devices::hdd::medium::Medium;
use crate::engine::context::Context;
use crate::engine::request::{Command, RequestId};
use crate::models::placement::log::Content;

/// A request, and the blocks of a run that are its own: the first of them, and how many.
type Share = (RequestId, u64, u32);

/// The shares of `parts`, requests that were merged into one, in blocks from `from` to before `end`.
fn shares(
    parts: &[(RequestId, Command)],
    from: u64,
    end: u64,
) -> impl Iterator<Item = (Share, u32)> + '_ {
    parts.iter().filter_map(move |&(request, command)| {
        let first = from.max(command.lbn.0);
        let end = end.min(command.end().0);
        let offset = first.saturating_sub(command.lbn.0) as u32;
        (first < end).then(|| ((request, first, (end - first) as u32), offset))
    })
}

impl LogPlacement {
    /// Tells the checker what an arm has read for requests that were served as one.
    #[inline(never)]
    pub fn commit_read(
        &self,
        medium: &Medium,
        arm: usize,
        parts: &[(RequestId, Command)],
        cx: &mut Context<'_>,
    ) {
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        for piece in &medium.arms[arm].effects.reading {
            let Some(lbn) = piece.lbn else { continue };
            for ((request, first, blocks), offset) in
                shares(parts, lbn, lbn + u64::from(piece.blocks))
            {
                checker.read(device, request, offset, piece.medium + first - lbn, blocks);
            }
        }
    }

    /// Notes what an arm has written for requests that were served as one: `command` asks what all of them ask together.
    #[inline(never)]
    pub fn commit_write(
        &mut self,
        medium: &mut Medium,
        arm: usize,
        command: &Command,
        parts: &[(RequestId, Command)],
        cx: &mut Context<'_>,
    ) {
        let per_slot = self.per_slot;
        let span = |block: u64| {
            let from = (block * per_slot).max(command.lbn.0);
            (from, ((block + 1) * per_slot).min(command.end().0))
        };
        let mut allocated = std::mem::take(&mut medium.arms[arm].effects.allocated);
        for allocated in allocated.drain(..) {
            if let (Content::Data(block), Some((checker, device))) =
                (allocated.content, cx.checker())
            {
                let (from, end) = span(block);
                let to = self.medium_lbn(allocated.slot);
                // The rest of the slot is what the block was, or empty.
                match self.log.map().get(block) {
                    _ if end - from == per_slot => {}
                    Some(before) => {
                        let before = self.medium_lbn(before);
                        checker.moved_on_medium(device, before, to, per_slot as u32);
                    }
                    None => checker.cleared(device, to, per_slot as u32),
                }
                for ((request, first, blocks), offset) in shares(parts, from, end) {
                    checker.wrote(device, request, offset, to + first % per_slot, blocks);
                }
            }
            if let Some(before) = self.log.commit(allocated) {
                self.release(medium, before);
            }
        }
        medium.arms[arm].effects.allocated = allocated;
        let mut rewritten = std::mem::take(&mut medium.arms[arm].effects.rewritten);
        for (block, slot) in rewritten.drain(..) {
            // Another arm may have moved it meanwhile: then this write came before that one.
            let now_in = self.log.map().get(block).unwrap_or(slot);
            self.log.rewrite(block, now_in);
            let to = self.medium_lbn(now_in);
            if let Some((checker, device)) = cx.checker() {
                let (from, end) = span(block);
                for ((request, first, blocks), offset) in shares(parts, from, end) {
                    checker.wrote(device, request, offset, to + first % per_slot, blocks);
                }
            }
        }
        medium.arms[arm].effects.rewritten = rewritten;
    }
}

//! What the slots of a persistent memory's regions hold, for the checker: what a pass has written, until its extent has come to its own place.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::DrivePool;
use crate::base::block_runs::without;
use crate::engine::checker::Checker;
use crate::engine::context::Context;
use crate::engine::request::{Command, DeviceId};
use crate::models::cache::Frame;
use crate::models::cache::block_cache::BlockState;

/// Runs of blocks.
type Runs = Vec<(u64, u32)>;

/// What slots hold, by the frames of their extents. Nothing where no checker is.
#[derive(Default)]
pub(super) struct SlotContents {
    written: HashMap<usize, Runs, FixedState>,
    /// What the pass that is under way writes.
    under_way: Vec<(Frame, Runs)>,
}

impl SlotContents {
    fn is_empty(&self) -> bool {
        self.written.is_empty() && self.under_way.is_empty()
    }

    /// A slot is free: the extent is at its own place.
    pub fn release(&mut self, frame: Frame) {
        if self.is_empty() {
            return;
        }
        self.written.remove(&frame.index());
        // A pass that is under way writes what is of no use any more.
        self.under_way.retain(|&(other, _)| other != frame);
    }

    /// Blocks of an extent have newer contents on the medium, or none any more.
    fn supersede(&mut self, frame: Frame, run: (u64, u32)) {
        let under_way = self.under_way.iter_mut();
        let under_way = under_way.filter_map(|(other, runs)| (*other == frame).then_some(runs));
        let written = self.written.get_mut(&frame.index());
        for runs in written.into_iter().chain(under_way) {
            *runs = all_without(runs, run);
        }
    }

    /// Whether an extent's slot holds a block.
    pub fn holds(&self, frame: Frame, block: u64) -> bool {
        let covers = |&(lbn, blocks): &(u64, u32)| (lbn..lbn + u64::from(blocks)).contains(&block);
        let runs = self.written.get(&frame.index());
        runs.is_some_and(|runs| runs.iter().any(covers))
    }
}

/// What is left of runs without another one.
fn all_without(runs: &[(u64, u32)], run: (u64, u32)) -> Runs {
    runs.iter().flat_map(|&of| without(of, run)).collect()
}

impl DrivePool {
    /// A pass begins, and takes from memory what is dirty or on its way in these extents.
    pub(super) fn take_for_pass(&mut self, frames: &[Frame], cx: &mut Context<'_>) {
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        for &frame in frames {
            let taken = self.take_extent(frame, checker, device);
            if let Some(region) = &mut self.region {
                region.contents.under_way.push((frame, taken));
            }
        }
    }

    /// A pass takes what is dirty or on its way in an extent.
    fn take_extent(&self, frame: Frame, checker: &mut Checker, device: DeviceId) -> Runs {
        let cache = &self.memory.cache;
        let (name, of_passes) = (self.memory.name(), self.memory.name_of_passes());
        let whole = cache.whole(cache.key(frame));
        let end = whole.lbn + u64::from(whole.blocks());
        let dirty = cache.runs(cache.line(frame), BlockState::Dirty, whole);
        let mut taken: Runs = dirty.collect();
        for &(lbn, blocks) in &taken {
            checker.copied(device, name, of_passes, lbn, blocks);
        }
        for id in self.destages() {
            let command = self.transfers.get(id).command;
            let (from, to) = (command.lbn.0.max(whole.lbn), command.end().0.min(end));
            if from >= to {
                continue;
            }
            // What is dirty anew has been taken already, and is newer.
            let mut on_way = vec![(from, (to - from) as u32)];
            for &newer in &taken {
                on_way = all_without(&on_way, newer);
            }
            for &(lbn, blocks) in &on_way {
                checker.copied(device, self.memory.name_of(id), of_passes, lbn, blocks);
            }
            taken.extend(on_way);
        }
        taken
    }

    /// Blocks have newer contents on the medium, or none any more.
    #[inline(always)]
    pub(super) fn supersede(&mut self, command: &Command) {
        if self.region.is_some() {
            self.supersede_in_region(command);
        }
    }

    #[inline(never)]
    fn supersede_in_region(&mut self, command: &Command) {
        let Some(region) = &mut self.region else {
            return;
        };
        if region.contents.is_empty() {
            return;
        }
        for piece in self.memory.pieces(command) {
            if let Some(frame) = self.memory.cache.find(piece.key) {
                region
                    .contents
                    .supersede(frame, (piece.lbn, piece.blocks()));
            }
        }
    }

    /// A pass is over: the slots hold what it has taken.
    pub(super) fn pass_is_written(&mut self, behind: u64, cx: &mut Context<'_>) {
        let (Some(region), Some((checker, device))) = (&mut self.region, cx.checker()) else {
            return;
        };
        let of_passes = self.memory.name_of_passes();
        let contents = &mut region.contents;
        for (frame, runs) in contents.under_way.drain(..) {
            for &(lbn, blocks) in &runs {
                checker.drained_to(device, of_passes, (lbn, blocks), behind + lbn);
            }
            contents.written.insert(frame.index(), runs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_is_left_of_a_run() {
        let left =
            |from: u64, to: u64| without((10, 10), (from, (to - from) as u32)).collect::<Vec<_>>();
        assert_eq!(left(0, 10), [(10, 10)]);
        assert_eq!(left(20, 30), [(10, 10)]);
        assert_eq!(left(10, 20), []);
        assert_eq!(left(5, 12), [(12, 8)]);
        assert_eq!(left(12, 15), [(10, 2), (15, 5)]);
        assert_eq!(left(15, 25), [(10, 5)]);
    }
}

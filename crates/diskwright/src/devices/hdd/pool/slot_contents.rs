//! What the slots of a persistent memory's regions hold, for the checker: what a pass has written, until its extent has come to its own place.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::super::transfers::Purpose;
use super::DrivePool;
use crate::engine::context::Context;
use crate::engine::request::Command;
use crate::models::cache::Frame;
use crate::models::cache::block_cache::BlockState;

/// Runs of blocks.
type Runs = Vec<(u64, u32)>;

/// The checker's name of what passes have taken from memory.
const OF_PASSES: u32 = u32::MAX - 2;

/// What slots hold, by the frames of their extents. Nothing where no checker is.
#[derive(Default)]
pub(super) struct SlotContents {
    written: HashMap<usize, Runs, FixedState>,
    /// What the pass that is under way writes.
    under_way: Vec<(Frame, Runs)>,
}

impl SlotContents {
    /// A slot is free: the extent is at its own place.
    pub fn release(&mut self, frame: Frame) {
        if !self.written.is_empty() {
            self.written.remove(&frame.index());
        }
        // A pass that is under way writes what is of no use any more.
        self.under_way.retain(|&(other, _)| other != frame);
    }

    /// Blocks of an extent have newer contents on the medium, or none any more.
    fn supersede(&mut self, frame: Frame, (lbn, blocks): (u64, u32)) {
        let under_way = self.under_way.iter_mut();
        let under_way = under_way.filter_map(|(other, runs)| (*other == frame).then_some(runs));
        for runs in self
            .written
            .get_mut(&frame.index())
            .into_iter()
            .chain(under_way)
        {
            *runs = runs
                .iter()
                .flat_map(|&run| without(run, (lbn, lbn + u64::from(blocks))))
                .collect();
        }
    }

    /// Whether an extent's slot holds a block.
    pub fn holds(&self, frame: Frame, block: u64) -> bool {
        let covers = |&(lbn, blocks): &(u64, u32)| (lbn..lbn + u64::from(blocks)).contains(&block);
        let runs = self.written.get(&frame.index());
        runs.is_some_and(|runs| runs.iter().any(covers))
    }
}

/// What is left of a run without the blocks from one to before another.
fn without((lbn, blocks): (u64, u32), (from, to): (u64, u64)) -> impl Iterator<Item = (u64, u32)> {
    let end = lbn + u64::from(blocks);
    let parts = [(lbn, end.min(from)), (lbn.max(to), end)];
    parts
        .into_iter()
        .filter(|(from, to)| from < to)
        .map(|(from, to)| (from, (to - from) as u32))
}

impl DrivePool {
    /// A pass begins, and takes from memory what is dirty or on its way in these extents.
    pub(super) fn take_for_pass(&mut self, frames: &[Frame], cx: &mut Context<'_>) {
        let (Some(region), Some((checker, device))) = (&mut self.region, cx.checker()) else {
            return;
        };
        let memory = &self.memory;
        for &frame in frames {
            let line = memory.cache.line(frame);
            let whole = memory.cache.whole(memory.cache.key(frame));
            let (first, end) = (whole.lbn, whole.lbn + u64::from(whole.blocks()));
            let mut runs: Runs = memory.cache.runs(line, BlockState::Dirty, whole).collect();
            for &(lbn, blocks) in &runs {
                checker.copied(device, memory.name(), OF_PASSES, lbn, blocks);
            }
            for id in self.transfers.unfinished() {
                let transfer = self.transfers.get(id);
                if transfer.purpose != Purpose::Destage {
                    continue;
                }
                let from = transfer.command.lbn.0.max(first);
                let to = transfer.command.end().0.min(end);
                if from < to {
                    // What is dirty anew has been taken already, and is newer.
                    let mut on_way = vec![(from, (to - from) as u32)];
                    for &(lbn, blocks) in &runs {
                        let newer = (lbn, lbn + u64::from(blocks));
                        on_way = on_way
                            .into_iter()
                            .flat_map(|run| without(run, newer))
                            .collect();
                    }
                    for &(lbn, blocks) in &on_way {
                        checker.copied(device, memory.name_of(id), OF_PASSES, lbn, blocks);
                    }
                    runs.extend(on_way);
                }
            }
            region.contents.under_way.push((frame, runs));
        }
    }

    /// Blocks have newer contents on the medium, or none any more.
    pub(super) fn supersede(&mut self, command: &Command) {
        let Some(region) = &mut self.region else {
            return;
        };
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
        let contents = &mut region.contents;
        for (frame, runs) in contents.under_way.drain(..) {
            for &(lbn, blocks) in &runs {
                checker.drained_to(device, OF_PASSES, (lbn, blocks), behind + lbn);
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
        let left = |from, to| without((10, 10), (from, to)).collect::<Vec<_>>();
        assert_eq!(left(0, 10), [(10, 10)]);
        assert_eq!(left(20, 30), [(10, 10)]);
        assert_eq!(left(10, 20), []);
        assert_eq!(left(5, 12), [(12, 8)]);
        assert_eq!(left(12, 15), [(10, 2), (15, 5)]);
        assert_eq!(left(15, 25), [(10, 5)]);
    }
}

//! A drive whose data are in a log: where blocks are read and written, what keeps tracks empty, what a loss of power costs.

mod choose;
mod cleaning;
mod commit;
mod initial;
mod recovery;
mod report;
mod service;

use super::medium::Medium;
use crate::base::units::Lbn;
use crate::engine::request::Command;
use crate::models::placement::cleaner::Cleaner;
use crate::models::placement::log::{Content, Log};
use crate::models::placement::slots::SlotId;
use cleaning::Cleaning;
pub(super) use cleaning::{Next, make_access};
pub use initial::InitialWrites;
use recovery::Recovered;
pub(super) use service::Pass;

/// The data of a drive in a log.
pub(super) struct LogPlacement {
    log: Log,
    cleaner: Option<Cleaner>,
    pub cleaning: Cleaning,
    initial: Option<InitialWrites>,
    recovered: Option<Recovered>,
    /// Blocks that were written where they were although there is a log.
    rewrites: u64,
    /// How often the log had begun anew when counting began.
    wraps_before: u64,
    /// Blocks of a slot.
    per_slot: u64,
    blocks_per_sector: u64,
}

impl LogPlacement {
    /// A log on a drive whose sectors have a number of blocks.
    pub fn new(
        log: Log,
        cleaner: Option<Cleaner>,
        initial: Option<InitialWrites>,
        blocks_per_sector: u32,
    ) -> LogPlacement {
        let blocks_per_sector = u64::from(blocks_per_sector);
        LogPlacement {
            per_slot: u64::from(log.slots().sectors_per_slot()) * blocks_per_sector,
            blocks_per_sector,
            log,
            cleaner,
            cleaning: Cleaning::default(),
            initial,
            recovered: None,
            rewrites: 0,
            wraps_before: 0,
        }
    }

    /// Capacity in blocks of the host.
    pub fn blocks(&self) -> u64 {
        self.log.blocks() * self.per_slot
    }

    /// Where a block is on the medium; `None` where it was never written.
    pub fn place(&self, lbn: Lbn) -> Option<Lbn> {
        let slot = self.log.map().get(lbn.0 / self.per_slot)?;
        Some(Lbn(self.medium_lbn(slot) + lbn.0 % self.per_slot))
    }

    /// The first block on the medium of a slot.
    fn medium_lbn(&self, slot: SlotId) -> u64 {
        self.log.slots().sector(slot) * self.blocks_per_sector
    }

    /// The logical blocks of a command: each with the first of its blocks that the command covers, and the one behind the last.
    fn covered(&self, command: &Command) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let per_slot = self.per_slot;
        let (first, end) = (command.lbn.0, command.end().0);
        let blocks = first / per_slot..end.div_ceil(per_slot);
        blocks.map(move |block| {
            let from = (block * per_slot).max(first);
            (block, from, ((block + 1) * per_slot).min(end))
        })
    }

    /// What a write puts into the log beside its data: the parts of the map that change with blocks from `first` to `last`.
    fn map_parts(&self, first: u64, last: u64) -> impl Iterator<Item = Content> + use<> {
        let parts = self.log.part_of(first).zip(self.log.part_of(last));
        let parts = parts.map(|(first, last)| first..=last);
        parts.into_iter().flatten().map(Content::Map)
    }

    /// Frees a slot, or has an arm do it that still reads there.
    fn release(&mut self, medium: &mut Medium, slot: SlotId) {
        let first = self.medium_lbn(slot);
        let end = first + self.per_slot;
        let reader = medium
            .arms
            .iter_mut()
            .find(|arm| arm.work.is_some() && arm.effects.reads_any_of(first, end));
        match reader {
            Some(arm) => arm.effects.held.push(slot),
            None => self.log.release(&medium.hardware.mechanics, slot),
        }
    }

    /// Frees the slots that were held for an arm's reading.
    #[inline(never)]
    pub fn let_go(&mut self, medium: &mut Medium, arm: usize) {
        let mut held = std::mem::take(&mut medium.arms[arm].effects.held);
        medium.arms[arm].effects.clear();
        for slot in held.drain(..) {
            self.release(medium, slot);
        }
        medium.arms[arm].effects.held = held;
    }

    /// Forgets the blocks of a trim that it covers whole.
    pub fn trim(&mut self, medium: &mut Medium, command: &Command) {
        let blocks = command.lbn.0.div_ceil(self.per_slot)..command.end().0 / self.per_slot;
        for block in blocks {
            if let Some(slot) = self.log.discard(block) {
                self.release(medium, slot);
            }
        }
        self.cleaning.looks_again();
    }
}

//! The map of a logging drive: which slot holds a logical block.

use super::slots::SlotId;

/// Blocks a page.
const PAGE: usize = 4096;
const NONE: SlotId = SlotId::MAX;

/// From logical blocks to slots. Memory grows with what is written, not with the drive.
#[derive(Clone, Debug, Default)]
pub struct BlockMap {
    pages: Vec<Option<Box<[SlotId; PAGE]>>>,
    mapped: u64,
}

impl BlockMap {
    /// The slot that holds a block; `None` for one that was never written.
    #[inline]
    pub fn get(&self, block: u64) -> Option<SlotId> {
        let page = self.pages.get(block as usize / PAGE)?.as_ref()?;
        let slot = page[block as usize % PAGE];
        (slot != NONE).then_some(slot)
    }

    /// Puts a block into a slot, or forgets it; returns where it was.
    pub fn set(&mut self, block: u64, slot: Option<SlotId>) -> Option<SlotId> {
        let number = block as usize / PAGE;
        if self.pages.len() <= number {
            self.pages.resize(number + 1, None);
        }
        let page = self.pages[number].get_or_insert_with(|| Box::new([NONE; PAGE]));
        let entry = &mut page[block as usize % PAGE];
        let before = std::mem::replace(entry, slot.unwrap_or(NONE));
        self.mapped += u64::from(slot.is_some());
        self.mapped -= u64::from(before != NONE);
        (before != NONE).then_some(before)
    }

    /// How many blocks have a slot.
    pub fn mapped(&self) -> u64 {
        self.mapped
    }
}

//! A map that is kept on the medium: every write of data is followed by a write of the part of the map that it changed.
//!
//! Wang, Anderson and Patterson, "Virtual log based file systems for a programmable disk", OSDI 1999: the parts are written wherever
//! the head is, like data, and each points at those written before it. When the power fails the place of the last one is kept, so
//! that the map is read part by part, the newest first, instead of by a scan of the medium.

use super::slots::SlotId;

/// The bytes of an entry of the map.
const ENTRY: u64 = 4;

/// Where the parts of the map are.
#[derive(Clone, Debug)]
pub struct VirtualLog {
    per_part: u64,
    /// By part: its slot and the turn in which it was written.
    parts: Vec<Option<(SlotId, u64)>>,
    written: u64,
    /// Parts that have a slot.
    placed: u64,
}

impl VirtualLog {
    /// A map for slots of `bytes` bytes, with nothing written yet.
    pub fn new(bytes: u64) -> VirtualLog {
        VirtualLog {
            per_part: (bytes / ENTRY).max(1),
            parts: Vec::new(),
            written: 0,
            placed: 0,
        }
    }

    /// How many of `slots` slots can hold data when the parts of the map take the others.
    pub fn room(bytes: u64, slots: u64) -> u64 {
        let per_part = (bytes / ENTRY).max(1);
        slots - slots.div_ceil(per_part + 1)
    }

    /// The slot of a part.
    pub fn slot_of(&self, part: u64) -> Option<SlotId> {
        let entry = self.parts.get(part as usize)?;
        entry.map(|(slot, _)| slot)
    }

    /// How many parts have a slot.
    pub fn written_parts(&self) -> u64 {
        self.placed
    }

    /// The part that is in a slot.
    pub fn part_in(&self, slot: SlotId) -> Option<u64> {
        let is_there =
            |entry: &Option<(SlotId, u64)>| entry.is_some_and(|(other, _)| other == slot);
        let part = self.parts.iter().position(is_there)?;
        Some(part as u64)
    }

    /// The part that has the entry of a block.
    pub fn part_of(&self, block: u64) -> u64 {
        block / self.per_part
    }

    /// A part was written into a slot; returns the one that held it before.
    pub fn write(&mut self, part: u64, slot: SlotId) -> Option<SlotId> {
        let part = part as usize;
        if self.parts.len() <= part {
            self.parts.resize(part + 1, None);
        }
        self.written += 1;
        let before = self.parts[part].replace((slot, self.written));
        self.placed += u64::from(before.is_none());
        before.map(|(slot, _)| slot)
    }

    /// The slots of all parts, the newest first.
    pub fn newest_first(&self) -> Vec<SlotId> {
        let mut parts: Vec<(SlotId, u64)> = self.parts.iter().copied().flatten().collect();
        parts.sort_unstable_by_key(|&(_, written)| std::cmp::Reverse(written));
        parts.into_iter().map(|(slot, _)| slot).collect()
    }
}

//! The map of a drive: where each logical unit is, and what each slot holds. Eight bytes a unit.

/// No slot, or no unit.
pub const NOWHERE: u32 = u32::MAX;
/// Set in a unit's entry while a write of it is under way.
const LOCK: u32 = 1 << 31;
/// The entry of a unit that is nowhere, without the lock.
const UNMAPPED: u32 = LOCK - 1;

/// Where logical units are.
pub struct PageMap {
    slots: Vec<u32>,
    units: Vec<u32>,
}

impl PageMap {
    /// A map of so many units, all of them nowhere, over so many slots, less than 2³¹ − 1.
    pub fn new(units: u32, slots: u32) -> PageMap {
        assert!(slots < UNMAPPED, "a slot's number fits 31 bits");
        PageMap {
            slots: vec![UNMAPPED; units as usize],
            units: vec![NOWHERE; slots as usize],
        }
    }

    /// Units that there are.
    pub fn units(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The slot of a unit.
    #[inline]
    pub fn slot(&self, unit: u32) -> Option<u32> {
        let slot = self.slots[unit as usize] & !LOCK;
        (slot != UNMAPPED).then_some(slot)
    }

    /// The unit whose newest data are in a slot.
    #[inline]
    pub fn unit(&self, slot: u32) -> Option<u32> {
        let unit = self.units[slot as usize];
        (unit != NOWHERE).then_some(unit)
    }

    /// Whether a write of the unit is under way.
    #[inline]
    pub fn is_locked(&self, unit: u32) -> bool {
        self.slots[unit as usize] & LOCK != 0
    }

    /// A write of the unit begins, or ends.
    #[inline]
    pub fn lock(&mut self, unit: u32, is_locked: bool) {
        let entry = &mut self.slots[unit as usize];
        *entry = *entry & !LOCK | if is_locked { LOCK } else { 0 };
    }

    /// The unit is in a slot from now on; where it was before.
    #[inline]
    pub fn put(&mut self, unit: u32, slot: u32) -> Option<u32> {
        let before = self.remove(unit);
        let entry = &mut self.slots[unit as usize];
        *entry = *entry & LOCK | slot;
        self.units[slot as usize] = unit;
        before
    }

    /// The unit is nowhere from now on; where it was before.
    #[inline]
    pub fn remove(&mut self, unit: u32) -> Option<u32> {
        let before = self.slot(unit)?;
        self.units[before as usize] = NOWHERE;
        self.slots[unit as usize] |= UNMAPPED;
        Some(before)
    }
}

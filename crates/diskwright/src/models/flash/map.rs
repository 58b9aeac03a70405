//! The map of a drive: where each logical unit is, and what each slot holds. Eight bytes a unit.

use prefetch_index::prefetch_index;

/// No slot, or no unit.
pub const NOWHERE: u32 = u32::MAX;
/// Set in a unit's entry while its newest data are in the controller: the rest is the number of what has them there.
const HELD: u32 = 1 << 31;
/// The entry of a unit that is nowhere.
const UNMAPPED: u32 = HELD - 1;

/// Where the map says that a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// It was never written, or trimmed.
    Nowhere,
    /// In this slot.
    Slot(u32),
    /// In the controller: the number under which it is held, which tells where it is on flash.
    Held(u32),
}

/// Where logical units are.
pub struct PageMap {
    slots: Vec<u32>,
    units: Vec<u32>,
}

impl PageMap {
    /// A map of `units` units, all unmapped, over `slots` slots, fewer than 2³¹ − 1.
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

    /// It will be asked soon where a unit is. Entries are asked for anywhere in the map, and its memory may be slow.
    #[inline]
    pub fn prefetch(&self, unit: u32) {
        prefetch_index(&self.slots, unit as usize);
    }

    /// Where a unit is.
    #[inline]
    pub fn whereabouts(&self, unit: u32) -> Whereabouts {
        match self.slots[unit as usize] {
            UNMAPPED => Whereabouts::Nowhere,
            entry if entry & HELD != 0 => Whereabouts::Held(entry & !HELD),
            slot => Whereabouts::Slot(slot),
        }
    }

    /// The unit whose newest data on flash are in a slot.
    #[inline]
    pub fn unit(&self, slot: u32) -> Option<u32> {
        let unit = self.units[slot as usize];
        (unit != NOWHERE).then_some(unit)
    }

    /// The unit is held in the controller from now on, under a number less than 2³¹.
    #[inline]
    pub fn hold(&mut self, unit: u32, number: u32) {
        self.slots[unit as usize] = HELD | number;
    }

    /// The unit is in a slot, or nowhere, and no longer held.
    #[inline]
    pub fn point(&mut self, unit: u32, slot: Option<u32>) {
        self.slots[unit as usize] = slot.unwrap_or(UNMAPPED);
    }

    /// Units that are nowhere are in slots from now on, one after another from the first ones on.
    pub fn lay_down(&mut self, unit: u32, slot: u32, count: u32) {
        let slots = &mut self.slots[unit as usize..(unit + count) as usize];
        for (entry, slot) in slots.iter_mut().zip(slot..) {
            debug_assert_eq!(*entry, UNMAPPED, "it is somewhere");
            *entry = slot;
        }
        let units = &mut self.units[slot as usize..(slot + count) as usize];
        for (entry, unit) in units.iter_mut().zip(unit..) {
            *entry = unit;
        }
    }

    /// What a slot holds.
    #[inline]
    pub fn mark(&mut self, slot: u32, unit: Option<u32>) {
        self.units[slot as usize] = unit.unwrap_or(NOWHERE);
    }
}

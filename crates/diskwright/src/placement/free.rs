//! Which slots are free.

use std::cmp::Ordering;

use super::slots::{SlotId, Slots, Track};
use crate::geometry::mechanics::Mechanics;
use crate::geometry::spindle::{Phase, Spindle};

/// Parts of a turn by which a cylinder's free slots are summed up, one a bit: some to a slot of usual size, since the search looks
/// for slots that begin within a small part of it.
pub(super) const PARTS: usize = 256;
/// Words of their bits.
pub(super) const WORDS: usize = PARTS / 64;
/// Some of them.
pub(super) type Parts = [u64; WORDS];

/// The parts from the `first` to the `last`, round the turn where it is not before that.
pub(super) fn between(first: u32, last: u32) -> Parts {
    let from_on = |part: u32| bits_of_words(part, |bit| u64::MAX << bit, [0, u64::MAX]);
    let up_to = |part: u32| bits_of_words(part, |bit| u64::MAX >> (63 - bit), [u64::MAX, 0]);
    let (from, to) = (from_on(first), up_to(last));
    std::array::from_fn(|word| {
        if first <= last {
            from[word] & to[word]
        } else {
            from[word] | to[word]
        }
    })
}

/// `within` for the word of a part, and what the words before and behind it are.
fn bits_of_words(part: u32, within: impl Fn(u32) -> u64, [before, behind]: [u64; 2]) -> Parts {
    let own = (part / 64) as usize;
    std::array::from_fn(|word| match word.cmp(&own) {
        Ordering::Less => before,
        Ordering::Equal => within(part % 64),
        Ordering::Greater => behind,
    })
}

/// The free slots of a drive.
#[derive(Clone, Debug)]
pub struct FreeSlots {
    /// A bit a slot, [`Slots::words_per_track`] a track.
    bits: Box<[u64]>,
    /// Free slots of every track.
    of_track: Box<[u32]>,
    /// How many slots of a cylinder begin in each part of the turn.
    of_part: Box<[[u16; PARTS]]>,
    /// The parts in which any does, a bit each.
    parts: Box<[Parts]>,
    /// The cylinders with free slots, a bit each.
    cylinders: Box<[u64]>,
    count: u64,
    empty_tracks: u64,
}

impl FreeSlots {
    /// All slots of a drive.
    pub fn all(slots: &Slots, mechanics: &Mechanics) -> FreeSlots {
        let cylinders = slots.cylinders() as usize;
        let words = slots.words_per_track();
        let mut free = FreeSlots {
            bits: vec![0; slots.tracks().len() * words].into(),
            of_track: vec![0; slots.tracks().len()].into(),
            of_part: vec![[0; PARTS]; cylinders].into(),
            parts: vec![[0; WORDS]; cylinders].into(),
            cylinders: vec![0; cylinders.div_ceil(64)].into(),
            count: 0,
            empty_tracks: 0,
        };
        for (number, track) in slots.tracks().iter().enumerate() {
            for slot in 0..track.slots {
                free.release(slots, mechanics, slots.id(number, slot));
            }
        }
        free
    }

    /// How many are free.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many tracks hold nothing.
    pub fn empty_tracks(&self) -> u64 {
        self.empty_tracks
    }

    /// How many are free on a track.
    pub fn on_track(&self, track: usize) -> u32 {
        self.of_track[track]
    }

    /// Whether a slot is free.
    #[inline]
    pub fn is_free(&self, slot: SlotId) -> bool {
        self.bits[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// Whether a free slot of a cylinder begins in one of some parts of the turn.
    #[inline]
    pub(super) fn has_in(&self, cylinder: u32, parts: &Parts) -> bool {
        let own = &self.parts[cylinder as usize];
        own.iter().zip(parts).any(|(own, part)| own & part != 0)
    }

    /// Takes a free slot.
    pub fn take(&mut self, slots: &Slots, mechanics: &Mechanics, slot: SlotId) {
        assert!(self.is_free(slot), "slot {slot} is taken twice");
        self.bits[slot as usize / 64] &= !(1 << (slot % 64));
        let (number, cylinder, part) = within(slots, mechanics, slot);
        self.empty_tracks -= u64::from(self.of_track[number] == slots.tracks()[number].slots);
        self.of_track[number] -= 1;
        self.count -= 1;
        let left = &mut self.of_part[cylinder][part];
        *left -= 1;
        if *left == 0 {
            self.parts[cylinder][part / 64] &= !(1 << (part % 64));
            if self.parts[cylinder] == [0; WORDS] {
                self.cylinders[cylinder / 64] &= !(1 << (cylinder % 64));
            }
        }
    }

    /// Frees a slot that was taken.
    pub fn release(&mut self, slots: &Slots, mechanics: &Mechanics, slot: SlotId) {
        assert!(!self.is_free(slot), "slot {slot} is freed twice");
        self.bits[slot as usize / 64] |= 1 << (slot % 64);
        let (number, cylinder, part) = within(slots, mechanics, slot);
        self.of_track[number] += 1;
        self.empty_tracks += u64::from(self.of_track[number] == slots.tracks()[number].slots);
        self.count += 1;
        self.of_part[cylinder][part] += 1;
        self.parts[cylinder][part / 64] |= 1 << (part % 64);
        self.cylinders[cylinder / 64] |= 1 << (cylinder % 64);
    }

    /// The first free slot of a track from a slot on, round to it.
    #[inline]
    pub(super) fn next_on_track(
        &self,
        slots: &Slots,
        number: usize,
        track: &Track,
        from: u32,
    ) -> Option<u32> {
        let words = slots.words_per_track();
        let bits = &self.bits[number * words..][..words];
        let from = if from >= track.slots { 0 } else { from };
        let (word, bit) = ((from / 64) as usize, from % 64);
        let first = bits[word] & (u64::MAX << bit);
        if first != 0 {
            return Some(word as u32 * 64 + first.trailing_zeros());
        }
        // Back at the first word, all its slots before `from` are left.
        (word + 1..words).chain(0..=word).find_map(|word| {
            (bits[word] != 0).then(|| word as u32 * 64 + bits[word].trailing_zeros())
        })
    }

    /// The first cylinder from `cylinder` on that has free slots.
    #[inline]
    pub(super) fn first_from(&self, cylinder: u32) -> Option<u32> {
        let mut word = (cylinder / 64) as usize;
        let mut bits = self.cylinders.get(word)? & (u64::MAX << (cylinder % 64));
        while bits == 0 {
            word += 1;
            bits = *self.cylinders.get(word)?;
        }
        Some(word as u32 * 64 + bits.trailing_zeros())
    }

    /// The last cylinder below `cylinder`, and not below `lowest`, that has free slots.
    #[inline]
    pub(super) fn last_below(&self, cylinder: u32, lowest: u32) -> Option<u32> {
        let last = cylinder.checked_sub(1).filter(|&last| last >= lowest)?;
        let mut word = (last / 64) as usize;
        let mut bits = self.cylinders[word] & (u64::MAX >> (63 - last % 64));
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = self.cylinders[word];
        }
        let found = word as u32 * 64 + 63 - bits.leading_zeros();
        (found >= lowest).then_some(found)
    }
}

/// A slot's track, its cylinder, and the part of the turn in which it begins.
#[inline]
fn within(slots: &Slots, mechanics: &Mechanics, id: SlotId) -> (usize, usize, usize) {
    let (number, slot) = slots.place(id);
    let track = &slots.tracks()[number];
    let spindle = &mechanics.spindle;
    let angle = slots.angle(&mechanics.layout, track, slot);
    let part = part(spindle, spindle.edge(angle, track.per_track));
    (number, track.cylinder as usize, part as usize)
}

/// The part of the turn in which a phase lies.
#[inline]
pub(super) fn part(spindle: &Spindle, phase: Phase) -> u32 {
    spindle.fraction(phase) >> (32 - PARTS.trailing_zeros())
}

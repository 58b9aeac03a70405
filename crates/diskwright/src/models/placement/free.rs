//! Which slots are free.

use super::rows::Rows;
use super::slots::{DriveSlots, SlotId, Track, shift, tracks};
use crate::models::geometry::layout::{Layout, Zone};

/// The free slots of a drive.
#[derive(Clone, Debug)]
pub struct FreeSlots {
    /// A bit a slot, [`DriveSlots::words_per_track`] a track.
    bits: Box<[u64]>,
    /// Free slots of every track, and of every cylinder.
    of_track: Box<[u32]>,
    of_cylinder: Box<[u32]>,
    /// One row: the cylinders with free slots.
    cylinders: Rows,
    /// Where free slots begin, in cylinders whose tracks have as many sectors.
    zones: Box<[FreeZone]>,
    count: u64,
    empty_tracks: u64,
}

/// Where free slots begin in adjacent cylinders whose tracks have as many sectors.
#[derive(Clone, Debug)]
pub(super) struct FreeZone {
    /// The first cylinder, and the one behind the last.
    pub cylinders: (u32, u32),
    /// Sectors on each track.
    pub per_track: u32,
    /// A row for every sector: the cylinders, from the first on, with a free slot that begins there.
    pub starts: Rows,
    /// How many they are.
    counts: Box<[u32]>,
    /// One row: the sectors at which any does.
    sectors: Rows,
}

impl FreeZone {
    fn new(cylinders: (u32, u32), per_track: u32) -> FreeZone {
        FreeZone {
            cylinders,
            per_track,
            starts: Rows::new(per_track as usize, (cylinders.1 - cylinders.0) as usize),
            counts: vec![0; per_track as usize].into(),
            sectors: Rows::new(1, per_track as usize),
        }
    }

    fn begins(&mut self, cylinder: u32, sector: u32) {
        if self
            .starts
            .set(sector as usize, cylinder - self.cylinders.0)
        {
            self.counts[sector as usize] += 1;
            self.sectors.set(0, sector);
        }
    }

    fn begins_no_more(&mut self, cylinder: u32, sector: u32) {
        self.starts
            .clear(sector as usize, cylinder - self.cylinders.0);
        let left = &mut self.counts[sector as usize];
        *left -= 1;
        if *left == 0 {
            self.sectors.clear(0, sector);
        }
    }

    /// The sectors at which free slots begin, in the order in which they come by from one of them on.
    pub fn sectors_from(&self, first: u32) -> impl Iterator<Item = u32> {
        let set = |from: u32, end: u32| {
            let next = move |from: u32| {
                let found = self.sectors.first_from(0, from);
                found.filter(|&sector| sector < end)
            };
            std::iter::successors(next(from), move |&sector| next(sector + 1))
        };
        set(first, self.per_track).chain(set(0, first))
    }
}

impl FreeSlots {
    /// Bytes that the free slots of `sectors` sectors of a layout take.
    pub(super) fn memory(layout: &Layout, sectors: u32) -> u64 {
        let zones = layout.zones_by_lbn();
        let longest = zones.iter().map(Zone::sectors_per_track).max();
        let words = 1u64 << (shift(longest.unwrap_or(0) / sectors.max(1)) - 6);
        let of_zone = |zone: &Zone| {
            let cylinders = u64::from(zone.last_cylinder() - zone.first_cylinder()) + 1;
            let rows = u64::from(zone.sectors_per_track());
            let of_surfaces = tracks(zone) * (8 * words + 4);
            // Zones of several access ranges have their rows in common.
            of_surfaces + rows * (8 * (cylinders / 64 + cylinders / 4096 + 2) + 4)
        };
        zones.iter().map(of_zone).sum::<u64>() + u64::from(layout.cylinders()) * 5
    }

    /// All slots of a drive.
    pub fn all(slots: &DriveSlots, layout: &Layout) -> FreeSlots {
        let cylinders = slots.cylinders() as usize;
        let zones = slots
            .tracks()
            .chunk_by(|a, b| a.per_track == b.per_track)
            .map(|alike| {
                let end = alike[alike.len() - 1].cylinder + 1;
                FreeZone::new((alike[0].cylinder, end), alike[0].per_track)
            });
        let mut free = FreeSlots {
            bits: vec![0; slots.tracks().len() * slots.words_per_track()].into(),
            of_track: vec![0; slots.tracks().len()].into(),
            of_cylinder: vec![0; cylinders].into(),
            cylinders: Rows::new(1, cylinders),
            zones: zones.collect(),
            count: 0,
            empty_tracks: 0,
        };
        for (number, track) in slots.tracks().iter().enumerate() {
            for slot in 0..track.slots {
                free.release(slots, layout, slots.id(number, slot));
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

    /// How many are free in a cylinder.
    #[inline]
    pub(super) fn of_cylinder(&self, cylinder: u32) -> u32 {
        self.of_cylinder[cylinder as usize]
    }

    /// Whether a slot is free.
    #[inline]
    pub fn is_free(&self, slot: SlotId) -> bool {
        self.bits[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// Zones by cylinder.
    #[inline]
    pub(super) fn zones(&self) -> &[FreeZone] {
        &self.zones
    }

    /// How many zones begin at a cylinder or before it.
    #[inline]
    pub(super) fn zones_to(&self, cylinder: u32) -> usize {
        self.zones
            .partition_point(|zone| zone.cylinders.0 <= cylinder)
    }

    /// The free slot of a track that begins at a sector.
    #[inline]
    pub(super) fn at(
        &self,
        slots: &DriveSlots,
        layout: &Layout,
        number: usize,
        sector: u32,
    ) -> Option<SlotId> {
        let slot = slots.beginning_at(layout, &slots.tracks()[number], sector)?;
        Some(slots.id(number, slot)).filter(|&id| self.is_free(id))
    }

    /// Takes a free slot.
    pub fn take(&mut self, slots: &DriveSlots, layout: &Layout, slot: SlotId) {
        assert!(self.is_free(slot), "slot {slot} is taken twice");
        self.bits[slot as usize / 64] &= !(1 << (slot % 64));
        let (number, place) = slots.place(slot);
        let track = &slots.tracks()[number];
        let cylinder = track.cylinder;
        self.empty_tracks -= u64::from(self.of_track[number] == track.slots);
        self.of_track[number] -= 1;
        self.of_cylinder[cylinder as usize] -= 1;
        self.count -= 1;
        if self.of_cylinder[cylinder as usize] == 0 {
            self.cylinders.clear(0, cylinder);
        }
        let sector = slots.angle(layout, track, place);
        let is_another = |number| self.at(slots, layout, number, sector).is_some();
        if !slots.tracks_of(cylinder).any(is_another) {
            let zone = self.zones_to(cylinder) - 1;
            self.zones[zone].begins_no_more(cylinder, sector);
        }
    }

    /// Frees a slot that was taken.
    pub fn release(&mut self, slots: &DriveSlots, layout: &Layout, slot: SlotId) {
        assert!(!self.is_free(slot), "slot {slot} is freed twice");
        self.bits[slot as usize / 64] |= 1 << (slot % 64);
        let (number, place) = slots.place(slot);
        let track = &slots.tracks()[number];
        let cylinder = track.cylinder;
        self.of_track[number] += 1;
        self.empty_tracks += u64::from(self.of_track[number] == track.slots);
        self.of_cylinder[cylinder as usize] += 1;
        self.count += 1;
        self.cylinders.set(0, cylinder);
        let zone = self.zones_to(cylinder) - 1;
        self.zones[zone].begins(cylinder, slots.angle(layout, track, place));
    }

    /// The first free slot of a track from a slot on, round to it.
    #[inline]
    pub(super) fn next_on_track(
        &self,
        slots: &DriveSlots,
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
        self.cylinders.first_from(0, cylinder)
    }

    /// The last cylinder below `cylinder` that has free slots.
    #[inline]
    pub(super) fn last_below(&self, cylinder: u32) -> Option<u32> {
        self.cylinders.last_below(0, cylinder)
    }
}

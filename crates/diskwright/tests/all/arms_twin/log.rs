//! The memory of a log: which slots there are, what they hold, and which a write takes. By docs/arms.md, with lists of all slots.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::model::State;
use super::specs::{Allocator, LogSpec, Ties};
use crate::hdd_twin::medium::Medium;

/// Bytes of an entry of a map on the medium.
const ENTRY: u64 = 4;

/// A place for one logical block.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its first block on the medium.
    pub first: u64,
    pub cylinder: u64,
    pub head: u64,
    /// Slots that lie on one track, without a gap, have the number of it in common.
    pub track: usize,
}

/// What a slot is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    Data(u64),
    /// A part of the map.
    Map(u64),
}

/// A slot that is taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub slot: usize,
    pub content: Content,
    /// It had a slot already.
    moves: bool,
}

pub struct Log {
    pub spec: LogSpec,
    /// Blocks of a slot.
    pub per_slot: u64,
    pub slots: Vec<Slot>,
    pub is_free: Vec<bool>,
    /// Where data and parts of the map are.
    pub map: BTreeMap<Content, usize>,
    /// The highest cylinder written since the log began, or began anew.
    edge: u64,
    /// Logical blocks that the host sees.
    pub blocks: u64,
    /// Slots that are kept free.
    reserve: u64,
    /// Slots that are taken for what has none.
    fresh: u64,
}

/// How good a free slot is for a head: the least is best.
type Merit = (u64, bool, [u64; 3], bool, u64, usize);

impl Log {
    pub fn new(spec: LogSpec, medium: &Medium<'_>) -> Log {
        let sector = medium.drive.sector;
        let per_slot = spec.sectors * sector;
        let mut tracks: Vec<Vec<u64>> = Vec::new();
        for number in 0..medium.blocks() / sector {
            match tracks.last_mut() {
                Some(track) if medium.goes_on(number) => track.push(number * sector),
                _ => tracks.push(vec![number * sector]),
            }
        }
        tracks.retain(|track| track.len() as u64 >= spec.sectors);
        tracks.sort_by_key(|track| medium.place(track[0]).cylinder);
        let mut slots = Vec::new();
        for (number, track) in tracks.iter().enumerate() {
            for slot in track.chunks_exact(spec.sectors as usize) {
                let place = medium.place(slot[0]);
                slots.push(Slot {
                    first: slot[0],
                    cylinder: place.cylinder,
                    head: place.head,
                    track: number,
                });
            }
        }
        let count = slots.len() as u64;
        let reserve = (count * spec.reserve).div_ceil(64).max(1);
        let room = count.saturating_sub(reserve);
        let of_map = match spec.has_virtual_log {
            true => room.div_ceil(per_slot * 512 / ENTRY + 1),
            false => 0,
        };
        Log {
            spec,
            per_slot,
            is_free: vec![true; slots.len()],
            slots,
            map: BTreeMap::new(),
            edge: 0,
            blocks: room - of_map,
            reserve,
            fresh: 0,
        }
    }

    /// Where a logical block is on the medium.
    pub fn place(&self, block: u64) -> Option<u64> {
        let slot = self.map.get(&Content::Data(block))?;
        Some(self.slots[*slot].first)
    }

    /// The logical blocks of some blocks: each with the first of its blocks that are meant, and the one behind the last.
    pub fn covered(&self, from: u64, end: u64) -> Vec<(u64, u64, u64)> {
        let of = self.per_slot;
        let blocks = from / of..end.div_ceil(of);
        let part = |block: u64| (block, (block * of).max(from), ((block + 1) * of).min(end));
        blocks.map(part).collect()
    }

    /// The part of the map on the medium that has a logical block.
    pub fn part_of(&self, block: u64) -> u64 {
        block / (self.per_slot * 512 / ENTRY)
    }

    /// Whether what has a slot may have another: one more than is needed.
    pub fn can_move(&self) -> bool {
        let taken = self.is_free.iter().filter(|&&is_free| !is_free).count() as u64;
        taken - (self.map.len() as u64 + self.fresh) < self.reserve
    }

    /// The best of some free slots for an arm that may begin to move at an instant.
    fn best(&self, slots: impl Iterator<Item = usize>, arm: &State<'_>, now: u64) -> Option<Merit> {
        let mut free_of = BTreeMap::new();
        for slot in self.free() {
            *free_of.entry(self.slots[slot].cylinder).or_default() += 1;
        }
        slots.map(|slot| self.merit(slot, &free_of, arm, now)).min()
    }

    fn merit(&self, slot: usize, free_of: &BTreeMap<u64, u64>, arm: &State<'_>, now: u64) -> Merit {
        let place = self.slots[slot];
        let positioning = arm.medium.positioning(arm.at, now, place.first, true);
        let distance = place.cylinder.abs_diff(arm.at.cylinder);
        let order = place.cylinder.cmp(&arm.at.cylinder);
        let (is_below, is_above) = (
            u64::from(order == Ordering::Less),
            u64::from(order == Ordering::Greater),
        );
        let rank = match self.spec.ties {
            Ties::Outward => [is_below, distance, 0],
            Ties::Inward => [is_above, distance, 0],
            Ties::Emptier => [u64::MAX - free_of[&place.cylinder], distance, is_below],
        };
        let is_away = order != Ordering::Equal;
        let is_other_head = place.head != arm.at.head;
        (positioning, is_away, rank, is_other_head, place.head, slot)
    }

    fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.slots.len()).filter(|&slot| self.is_free[slot])
    }

    /// The slot that an arm takes which may begin to move at an instant.
    pub fn choose(&self, arm: &State<'_>, now: u64) -> Option<Merit> {
        let cylinder = |slot: usize| self.slots[slot].cylinder;
        match self.spec.allocator {
            Allocator::Soonest => self.best(self.free(), arm, now),
            Allocator::NearestCylinder => {
                let distance = |slot: usize| cylinder(slot).abs_diff(arm.at.cylinder);
                let nearest = self.free().map(distance).min()?;
                let near = self.free().filter(|&slot| distance(slot) == nearest);
                self.best(near, arm, now)
            }
            Allocator::Edge => {
                let behind = self.free().filter(|&slot| cylinder(slot) >= self.edge);
                let found = self.best(behind, arm, now);
                found.or_else(|| self.best(self.free(), arm, now))
            }
        }
    }

    /// The slot into which an arm moves what is on a track that is emptied: none of that track, and none of an empty one.
    pub fn choose_hole(&self, arm: &State<'_>, now: u64, track: usize) -> Option<Merit> {
        let used: Vec<bool> = (0..self.tracks())
            .map(|other| other != track && self.used(other).next().is_some())
            .collect();
        let holes = self.free().filter(|&slot| used[self.slots[slot].track]);
        self.best(holes, arm, now)
    }

    /// Takes a slot for a write.
    pub fn take(&mut self, slot: usize, content: Content) -> Taken {
        self.edge = self.slots[slot].cylinder;
        self.take_hole(slot, content)
    }

    /// Takes a slot for what a cleaner moves.
    pub fn take_hole(&mut self, slot: usize, content: Content) -> Taken {
        self.is_free[slot] = false;
        let moves = self.map.contains_key(&content);
        self.fresh += u64::from(!moves);
        Taken {
            slot,
            content,
            moves,
        }
    }

    /// What was to be written is in its slot; the slot where it was before.
    pub fn commit(&mut self, taken: Taken) -> Option<usize> {
        self.fresh -= u64::from(!taken.moves);
        self.map.insert(taken.content, taken.slot)
    }

    /// A slot is not wanted.
    pub fn abandon(&mut self, taken: Taken) {
        self.fresh -= u64::from(!taken.moves);
        self.is_free[taken.slot] = true;
    }

    /// The slots of a track that are not free.
    pub fn used(&self, track: usize) -> impl DoubleEndedIterator<Item = usize> {
        let of_track = (0..self.slots.len()).filter(move |&slot| self.slots[slot].track == track);
        of_track.filter(|&slot| !self.is_free[slot])
    }

    pub fn tracks(&self) -> usize {
        self.slots.last().map_or(0, |last| last.track + 1)
    }

    fn free_on(&self, track: usize) -> usize {
        let on_track = |slot: &usize| self.slots[*slot].track == track;
        self.free().filter(on_track).count()
    }

    /// Tracks that hold nothing.
    pub fn empty_tracks(&self) -> usize {
        let all = 0..self.tracks();
        all.filter(|&track| self.used(track).next().is_none())
            .count()
    }

    /// The track that is cheapest to empty, if what is on it fits into the holes of others.
    pub fn cheapest(&self) -> Option<usize> {
        let counts = |track: usize| (self.used(track).count(), self.free_on(track));
        let partly = (0..self.tracks()).filter(|&track| {
            let (used, free) = counts(track);
            used > 0 && free > 0
        });
        let partly: Vec<usize> = partly.collect();
        let best = partly
            .iter()
            .copied()
            .min_by_key(|&track| counts(track).0)?;
        let holes: usize = partly.iter().map(|&track| counts(track).1).sum();
        let (used, free) = counts(best);
        (holes - free >= used).then_some(best)
    }
}

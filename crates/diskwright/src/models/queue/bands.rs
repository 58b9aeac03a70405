//! Waiting requests by where they are, for a search by positioning time.

use super::pool::Slot;
use crate::models::geometry::estimate::{Aim, Aims, WIDTH};
use crate::models::geometry::mechanics::Target;

/// Up to sixteen waiting requests, and what decides how soon they are reached.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Where they are.
    pub aims: Aims,
    /// Which they are.
    pub slots: [Slot; WIDTH],
}

impl Block {
    /// None.
    pub const EMPTY: Block = Block {
        aims: Aims::NONE,
        slots: [Slot::FIRST; WIDTH],
    };
}

/// Waiting requests of neighbouring cylinders, in any order.
#[derive(Debug, Default)]
struct Band {
    /// All but the last are full, and that is not empty.
    blocks: Vec<Block>,
    len: usize,
}

impl Band {
    /// Puts a request at the end, and tells its number.
    #[inline]
    fn push(&mut self, slot: Slot, aim: Aim) -> u32 {
        let (block, within) = (self.len / WIDTH, self.len % WIDTH);
        if within == 0 {
            self.blocks.push(Block::EMPTY);
        }
        self.blocks[block].aims.set(within, aim);
        self.blocks[block].slots[within] = slot;
        self.len += 1;
        (self.len - 1) as u32
    }

    /// One of its requests.
    #[inline]
    fn get(&self, number: usize) -> (Slot, Aim) {
        let (block, within) = (&self.blocks[number / WIDTH], number % WIDTH);
        (block.slots[within], block.aims.get(within))
    }

    /// Takes one out, and puts the last one there, if it was another: that one.
    #[inline]
    fn swap_remove(&mut self, number: usize) -> Option<Slot> {
        self.len -= 1;
        let (slot, aim) = self.get(self.len);
        let block = &mut self.blocks[number / WIDTH];
        block.aims.set(number % WIDTH, aim);
        block.slots[number % WIDTH] = slot;
        let within = self.len % WIDTH;
        match within {
            0 => drop(self.blocks.pop()),
            _ => self.blocks[self.len / WIDTH].aims.clear(within),
        }
        (number < self.len).then_some(slot)
    }

    fn clear(&mut self) {
        self.blocks.clear();
        self.len = 0;
    }
}

/// Waiting requests in bands of as many cylinders each, within a band in any order.
///
/// A request enters and leaves in a time that does not depend on how many wait; a search from the arm outwards leaves out whole bands. The
/// bands are halved and joined as the number of requests changes.
#[derive(Debug, Default)]
pub struct Bands {
    /// From cylinder 0 on, up to the highest in which a request has been.
    bands: Vec<Band>,
    /// A band has two to the power of this cylinders.
    shift: u32,
    /// The highest cylinder so far.
    highest: u32,
    /// Requests that are nowhere: no arm has to move for them.
    nowhere: Vec<Slot>,
    /// By slot, where in its list a request is.
    places: Vec<u32>,
    len: usize,
}

/// The distance of a band that there is not.
const NONE: u32 = u32::MAX;

/// Requests for each band, on average, above which bands are halved.
const MOST_PER_BAND: usize = 3 * WIDTH;

/// The most bands for `requests` requests; beyond that, bands are joined. Far more than halving makes, so that neither undoes the other.
#[inline]
fn most_bands(requests: usize) -> usize {
    match requests < 2 * WIDTH {
        true => 1,
        false => 2 * requests / WIDTH,
    }
}

impl Bands {
    /// The number of the band in which a cylinder is; there may be no such band.
    #[inline]
    fn number(&self, cylinder: u32) -> usize {
        (cylinder >> self.shift) as usize
    }

    /// The first cylinder of a band.
    #[inline]
    fn first_cylinder(&self, number: usize) -> u32 {
        (number << self.shift) as u32
    }

    /// All requests that are anywhere.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = (Slot, Aim)> {
        let of_band = |band: &Band| {
            (0..band.len)
                .map(|number| band.get(number))
                .collect::<Vec<_>>()
        };
        self.bands.iter().flat_map(of_band)
    }

    /// One band after the other, from a cylinder outwards.
    #[inline]
    pub fn outwards(&self, from: u32) -> Outwards<'_> {
        let next = self.number(from).min(self.bands.len().saturating_sub(1));
        Outwards {
            bands: self,
            from,
            next,
            low: next,
            high: next,
        }
    }

    /// The block of a number in the order of [`Self::outwards`].
    #[inline]
    pub fn block(&self, from: u32, mut number: usize) -> Option<&Block> {
        for (band, _) in self.outwards(from) {
            match band.get(number) {
                Some(block) => return Some(block),
                None => number -= band.len(),
            }
        }
        None
    }

    /// The requests that are nowhere.
    #[inline]
    pub fn nowhere(&self) -> &[Slot] {
        &self.nowhere
    }

    /// A request waits, for what is at a target, if it is anywhere.
    #[inline]
    pub fn add(&mut self, slot: Slot, target: Option<&Target>) {
        if slot.index() >= self.places.len() {
            self.places.resize(slot.index() + 1, 0);
        }
        let Some(target) = target else {
            self.places[slot.index()] = self.nowhere.len() as u32;
            return self.nowhere.push(slot);
        };
        let cylinder = target.run.position.cylinder;
        if cylinder > self.highest || self.bands.is_empty() {
            self.reach_to(cylinder);
        }
        let number = self.number(cylinder);
        self.places[slot.index()] = self.bands[number].push(slot, Aim::at(target));
        self.len += 1;
        if self.len > MOST_PER_BAND * self.bands.len() && self.shift > 0 {
            self.divide(self.shift - 1);
        }
    }

    /// It does not wait there any more.
    #[inline]
    pub fn remove(&mut self, slot: Slot, target: Option<&Target>) {
        let place = self.places[slot.index()];
        let index = place as usize;
        let Some(target) = target else {
            self.nowhere.swap_remove(index);
            if let Some(moved) = self.nowhere.get(index) {
                self.places[moved.index()] = place;
            }
            return;
        };
        let number = self.number(target.run.position.cylinder);
        if let Some(moved) = self.bands[number].swap_remove(index) {
            self.places[moved.index()] = place;
        }
        self.len -= 1;
        if self.bands.len() > most_bands(self.len) {
            self.divide(self.shift + 1);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.bands.iter_mut().for_each(Band::clear);
        self.nowhere.clear();
        self.len = 0;
    }

    /// Makes bands up to a cylinder above all others.
    #[cold]
    fn reach_to(&mut self, cylinder: u32) {
        // One band at first.
        if self.bands.is_empty() {
            self.shift = (u32::BITS - cylinder.leading_zeros()).min(u32::BITS - 1);
        }
        self.highest = cylinder;
        let mut shift = self.shift;
        while (cylinder >> shift) as usize >= most_bands(self.len) {
            shift += 1;
        }
        match shift == self.shift {
            true => self
                .bands
                .resize_with(self.number(cylinder) + 1, Band::default),
            false => self.divide(shift),
        }
    }

    /// Makes bands of another width.
    #[cold]
    fn divide(&mut self, shift: u32) {
        let before = std::mem::take(&mut self.bands);
        self.shift = shift.min(u32::BITS - 1);
        let count = self.number(self.highest) + 1;
        self.bands.resize_with(count, Band::default);
        for band in before {
            for (slot, aim) in (0..band.len).map(|number| band.get(number)) {
                let number = self.number(aim.arm().cylinder);
                self.places[slot.index()] = self.bands[number].push(slot, aim);
            }
        }
    }
}

/// Bands from a cylinder outwards.
#[derive(Debug)]
pub struct Outwards<'a> {
    bands: &'a Bands,
    from: u32,
    next: usize,
    /// The bands that have been looked at are those from `low` to before `high`.
    low: usize,
    high: usize,
}

impl<'a> Iterator for Outwards<'a> {
    /// The requests of a band, and how many cylinders away those of all further bands are at least, where there are any.
    type Item = (&'a [Block], Option<u32>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (bands, count) = (self.bands, self.bands.bands.len());
        let band = bands.bands.get(self.next)?;
        self.low = self.low.min(self.next);
        self.high = self.high.max(self.next + 1);
        let below = match self.low {
            0 => NONE,
            low => self.from - (bands.first_cylinder(low) - 1),
        };
        let above = match self.high == count {
            true => NONE,
            false => bands.first_cylinder(self.high) - self.from,
        };
        self.next = match (below, above) {
            (NONE, NONE) => count,
            _ if below <= above => self.low - 1,
            _ => self.high,
        };
        let distance = below.min(above);
        Some((&band.blocks, (distance != NONE).then_some(distance)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(cylinder: Option<u32>) -> Option<Target> {
        cylinder.map(|cylinder| {
            let mut target = Target::default();
            target.run.position.cylinder = cylinder;
            target
        })
    }

    fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
        items.sort();
        items
    }

    proptest! {
        /// Random requests that come and go against a plain list: each is in the band of its cylinder, and there are bands for all.
        #[test]
        fn every_request_is_in_its_band(
            operations in prop::collection::vec((0u32..100, prop::option::weighted(0.9, 0u32..100_000), any::<usize>()), 1..600),
            growing in 0u32..100, from in 0u32..120_000,
        ) {
            let (mut bands, mut model) = (Bands::default(), Vec::<(Slot, Option<u32>)>::new());
            for (number, (kind, cylinder, pick)) in (0..).zip(operations) {
                if kind < growing || model.is_empty() {
                    bands.add(Slot::of(number), at(cylinder).as_ref());
                    model.push((Slot::of(number), cylinder));
                } else {
                    let (slot, cylinder) = model.swap_remove(pick % model.len());
                    bands.remove(slot, at(cylinder).as_ref());
                }
                let placed = model.iter().filter(|(_, cylinder)| cylinder.is_some()).count();
                prop_assert!(bands.bands.len() <= most_bands(placed));
                let nowhere = model.iter().filter(|(_, cylinder)| cylinder.is_none()).map(|&(slot, _)| slot);
                prop_assert_eq!(sorted(bands.nowhere().to_vec()), sorted(nowhere.collect()));
                let all = bands.all().map(|(slot, aim)| (slot, Some(aim.arm().cylinder)));
                let wanted = model.iter().copied().filter(|(_, cylinder)| cylinder.is_some());
                prop_assert_eq!(sorted(all.collect()), sorted(wanted.collect()));
            }
            // Outwards from a place every request is met, and none nearer than was said before.
            let (mut met, mut least, mut number) = (Vec::new(), Some(0), 0);
            for (blocks, distance) in bands.outwards(from) {
                for block in blocks {
                    prop_assert!(std::ptr::eq(block, bands.block(from, number).expect("it was met")));
                    number += 1;
                    for place in (0..WIDTH).filter(|&place| block.aims.is_there(place)) {
                        let cylinder = block.aims.get(place).arm().cylinder;
                        prop_assert!(least.is_some_and(|least| from.abs_diff(cylinder) >= least));
                        met.push((block.slots[place], Some(cylinder)));
                    }
                }
                least = distance;
            }
            prop_assert!(bands.block(from, number).is_none());
            model.retain(|(_, cylinder)| cylinder.is_some());
            prop_assert_eq!(sorted(met), sorted(model));
        }
    }
}

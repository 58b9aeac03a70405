//! Waiting requests by where they are, for a search by positioning time.

use super::pool::Slot;
use crate::models::geometry::mechanics::{Aim, Target};

/// A waiting request, and what decides how soon it is reached.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Where it is.
    pub aim: Aim,
    /// Which it is.
    pub slot: Slot,
}

/// Waiting requests in bands of as many cylinders each, within a band in any order.
///
/// A request enters and leaves in a time that does not depend on how many wait; a search from the arm outwards leaves out whole bands. The
/// bands are halved and joined as the number of requests changes.
#[derive(Debug, Default)]
pub struct Bands {
    /// From cylinder 0 on, up to the highest in which a request has been.
    bands: Vec<Vec<Placed>>,
    /// A band has two to the power of this cylinders.
    shift: u32,
    /// The highest cylinder so far.
    highest: u32,
    /// Requests that are nowhere: no arm has to move for them.
    nowhere: Vec<Slot>,
    len: usize,
}

/// Requests for each band, on average, above which bands are halved.
const MOST_PER_BAND: usize = 8;

/// The most bands for `requests` requests; beyond that, bands are joined.
#[inline]
fn most_bands(requests: usize) -> usize {
    4 * requests.max(4)
}

impl Bands {
    /// The number of the band in which a cylinder is; there may be no such band.
    #[inline]
    pub fn number(&self, cylinder: u32) -> usize {
        (cylinder >> self.shift) as usize
    }

    /// The first cylinder of a band.
    #[inline]
    pub fn first_cylinder(&self, number: usize) -> u32 {
        (number << self.shift) as u32
    }

    /// How many bands there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.bands.len()
    }

    /// The requests of a band.
    #[inline]
    pub fn band(&self, number: usize) -> &[Placed] {
        &self.bands[number]
    }

    /// The requests that are nowhere.
    #[inline]
    pub fn nowhere(&self) -> &[Slot] {
        &self.nowhere
    }

    /// A request waits, for what is at a target, if it is anywhere.
    #[inline]
    pub fn add(&mut self, slot: Slot, target: Option<&Target>) {
        let Some(target) = target else {
            return self.nowhere.push(slot);
        };
        let cylinder = target.run.position.cylinder;
        if cylinder > self.highest || self.bands.is_empty() {
            self.reach_to(cylinder);
        }
        let number = self.number(cylinder);
        let aim = Aim::at(target);
        self.bands[number].push(Placed { aim, slot });
        self.len += 1;
        if self.len > MOST_PER_BAND * self.bands.len() && self.shift > 0 {
            self.divide(self.shift - 1);
        }
    }

    /// It does not wait there any more.
    #[inline]
    pub fn remove(&mut self, slot: Slot, target: Option<&Target>) {
        let list = match target {
            None => return remove(&mut self.nowhere, |&other| other == slot),
            Some(target) => {
                let number = self.number(target.run.position.cylinder);
                &mut self.bands[number]
            }
        };
        remove(list, |placed| placed.slot == slot);
        self.len -= 1;
        if self.bands.len() > most_bands(self.len) {
            self.divide(self.shift + 1);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.bands.iter_mut().for_each(Vec::clear);
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
            true => self.bands.resize_with(self.number(cylinder) + 1, Vec::new),
            false => self.divide(shift),
        }
    }

    /// Makes bands of another width.
    #[cold]
    fn divide(&mut self, shift: u32) {
        let before = std::mem::take(&mut self.bands);
        self.shift = shift.min(u32::BITS - 1);
        let count = self.number(self.highest) + 1;
        self.bands.resize_with(count, Vec::new);
        for placed in before.into_iter().flatten() {
            let number = self.number(placed.aim.cylinder());
            self.bands[number].push(placed);
        }
    }
}

/// Takes the one item that is meant from a list in no order.
#[inline]
fn remove<T>(list: &mut Vec<T>, is_meant: impl Fn(&T) -> bool) {
    let index = list.iter().position(is_meant);
    list.swap_remove(index.expect("every waiting request has its place"));
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

    proptest! {
        /// Random requests that come and go against a plain list: each is in the band of its cylinder, and there are bands for all.
        #[test]
        fn every_request_is_in_its_band(
            operations in prop::collection::vec((0u32..100, prop::option::weighted(0.9, 0u32..100_000), any::<usize>()), 1..600),
            growing in 0u32..100,
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
                let all: usize = (0..bands.count()).map(|number| bands.band(number).len()).sum();
                prop_assert_eq!((all, bands.nowhere().len()), (placed, model.len() - placed));
                for &(slot, cylinder) in &model {
                    let list: Vec<Slot> = match cylinder {
                        None => bands.nowhere().to_vec(),
                        Some(cylinder) => {
                            let number = bands.number(cylinder);
                            let first = bands.first_cylinder(number);
                            prop_assert!((first..=first + ((1 << bands.shift) - 1)).contains(&cylinder));
                            bands.band(number).iter().map(|placed| placed.slot).collect()
                        }
                    };
                    prop_assert!(list.contains(&slot));
                }
                prop_assert!(bands.count() <= most_bands(placed));
            }
        }
    }
}

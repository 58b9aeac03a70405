//! Frames that may not be freed, because their blocks are on the way from or to a medium or a parent holds them, and frames that are spared,
//! because their blocks would have to be written back.

use super::Frame;
use super::per_frame::PerFrame;

/// Where a frame stands that is not held.
const NOWHERE: u32 = u32::MAX;

/// The frames of a cache that may not be freed, or only where nothing else can be. A frame may be pinned several times.
///
/// Frames that are [spared](Pins::spare) without being pinned are held, too, until [`heed_pins_alone`](Pins::heed_pins_alone).
#[derive(Clone, Debug)]
pub struct Pins {
    held: Vec<Held>,
    /// Where each frame stands among them.
    places: PerFrame<u32>,
    /// How many of them are pinned.
    pinned: usize,
    are_lasting: bool,
    pins_alone: bool,
}

/// A frame that is held.
#[derive(Clone, Copy, Debug)]
struct Held {
    frame: Frame,
    /// How often it is pinned.
    pins: u32,
    is_spared: bool,
}

impl Default for Pins {
    fn default() -> Pins {
        Pins {
            held: Vec::new(),
            places: PerFrame::new(NOWHERE),
            pinned: 0,
            are_lasting: false,
            pins_alone: false,
        }
    }
}

impl Pins {
    /// No frame is pinned.
    pub fn new() -> Pins {
        Pins::default()
    }

    /// No frame is pinned, but many may be, for long. A policy hears when one of them [is no longer](super::replacement::Replacement::release).
    pub fn lasting() -> Pins {
        Pins {
            are_lasting: true,
            ..Pins::default()
        }
    }

    /// Whether many frames may be held, for long. Those that are pinned are few.
    #[inline]
    pub fn are_lasting(&self) -> bool {
        self.are_lasting && !self.pins_alone
    }

    /// Pins a frame once more.
    #[inline]
    pub fn pin(&mut self, frame: Frame) {
        let held = self.hold(frame);
        held.pins += 1;
        let is_first = held.pins == 1;
        self.pinned += usize::from(is_first);
    }

    /// Takes one pin back; whether the frame is not held any more.
    ///
    /// # Panics
    /// Where the frame is not pinned.
    #[inline]
    pub fn unpin(&mut self, frame: Frame) -> bool {
        let place = self.places[frame.index()];
        let held = self.held.get_mut(place as usize);
        let held = held.filter(|held| held.pins > 0);
        let held = held.expect("a frame is unpinned as often as it was pinned");
        held.pins -= 1;
        if held.pins > 0 {
            return false;
        }
        self.pinned -= 1;
        self.let_go(place)
    }

    /// Holds a frame that may be freed where no other can be.
    #[inline]
    pub fn spare(&mut self, frame: Frame) {
        self.hold(frame).is_spared = true;
    }

    /// Takes back that a frame is spared; whether it is not held any more.
    ///
    /// # Panics
    /// Where the frame is not spared.
    #[inline]
    pub fn unspare(&mut self, frame: Frame) -> bool {
        let place = self.places[frame.index()];
        let held = self.held.get_mut(place as usize);
        let held = held.filter(|held| held.is_spared);
        held.expect("the frame is spared").is_spared = false;
        self.let_go(place)
    }

    /// The frame among those that are held.
    #[inline]
    fn hold(&mut self, frame: Frame) -> &mut Held {
        let place = &mut self.places[frame.index()];
        if *place == NOWHERE {
            *place = self.held.len() as u32;
            self.held.push(Held {
                frame,
                pins: 0,
                is_spared: false,
            });
        }
        &mut self.held[*place as usize]
    }

    /// Forgets a frame that is neither pinned nor spared; whether it is such a one.
    #[inline]
    fn let_go(&mut self, place: u32) -> bool {
        let Held {
            frame,
            pins,
            is_spared,
        } = self.held[place as usize];
        if pins > 0 || is_spared {
            return false;
        }
        self.places[frame.index()] = NOWHERE;
        self.held.swap_remove(place as usize);
        if let Some(moved) = self.held.get(place as usize) {
            self.places[moved.frame.index()] = place;
        }
        true
    }

    /// Whether frames that are spared, and not pinned, count as not held.
    #[inline]
    pub fn heed_pins_alone(&mut self, pins_alone: bool) {
        self.pins_alone = pins_alone;
    }

    /// Whether a frame is held.
    #[inline]
    pub fn holds(&self, frame: Frame) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let place = self.places[frame.index()];
        place != NOWHERE && (!self.pins_alone || self.held[place as usize].pins > 0)
    }

    /// Whether a frame is pinned.
    #[inline]
    pub fn is_pinned(&self, frame: Frame) -> bool {
        if self.pinned == 0 {
            return false;
        }
        let held = self.held.get(self.places[frame.index()] as usize);
        held.is_some_and(|held| held.pins > 0)
    }

    /// The frames that are [held](Pins::holds), each once, in no order that means anything.
    pub fn frames(&self) -> impl Iterator<Item = Frame> {
        let is_held = |held: &&Held| !self.pins_alone || held.pins > 0;
        self.held.iter().filter(is_held).map(|held| held.frame)
    }

    /// The pinned frames, each once; their order depends on what was pinned and unpinned, and means nothing.
    pub fn pinned(&self) -> impl Iterator<Item = Frame> {
        let pinned = self.held.iter().filter(|held| held.pins > 0);
        pinned.map(|held| held.frame)
    }

    /// How many frames are held.
    #[inline]
    pub fn len(&self) -> usize {
        match self.pins_alone {
            true => self.pinned,
            false => self.held.len(),
        }
    }

    /// Whether no frame is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn agree_with_a_plain_count(operations in prop::collection::vec((0u32..10, 0u8..4), 1..200)) {
            let mut pins = Pins::lasting();
            let mut pinned = BTreeMap::new();
            let mut spared = BTreeSet::new();
            for (frame, what) in operations {
                let at = Frame(frame);
                let is_held = |pinned: &BTreeMap<u32, u32>, spared: &BTreeSet<u32>| {
                    pinned.contains_key(&frame) || spared.contains(&frame)
                };
                match what {
                    0 => {
                        pins.pin(at);
                        *pinned.entry(frame).or_insert(0) += 1;
                    }
                    1 if pinned.contains_key(&frame) => {
                        let is_free = pins.unpin(at);
                        pinned.entry(frame).and_modify(|count| *count -= 1);
                        pinned.retain(|_, count| *count > 0);
                        prop_assert_eq!(is_free, !is_held(&pinned, &spared));
                    }
                    2 => {
                        pins.spare(at);
                        spared.insert(frame);
                    }
                    3 if spared.remove(&frame) => {
                        let is_free = pins.unspare(at);
                        prop_assert_eq!(is_free, !is_held(&pinned, &spared));
                    }
                    _ => {}
                }
                for pins_alone in [false, true] {
                    pins.heed_pins_alone(pins_alone);
                    let mut held: BTreeSet<u32> = pinned.keys().copied().collect();
                    if !pins_alone {
                        held.extend(&spared);
                    }
                    prop_assert_eq!((pins.len(), pins.is_empty()), (held.len(), held.is_empty()));
                    prop_assert_eq!(pins.are_lasting(), !pins_alone);
                    for frame in 0..10 {
                        prop_assert_eq!(pins.holds(Frame(frame)), held.contains(&frame));
                        prop_assert_eq!(pins.is_pinned(Frame(frame)), pinned.contains_key(&frame));
                    }
                }
                pins.heed_pins_alone(false);
                let mut frames: Vec<u32> = pins.pinned().map(|frame| frame.0).collect();
                frames.sort_unstable();
                prop_assert_eq!(frames, pinned.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}

//! Frames that may not be freed: their blocks are on the way from or to a medium, or a parent holds them.

use super::Frame;
use super::per_frame::PerFrame;

/// Where a frame stands that is not pinned.
const NOWHERE: u32 = u32::MAX;

/// The pinned frames of a cache; a frame may be pinned several times.
#[derive(Clone, Debug)]
pub struct Pins {
    /// Each with how often it is.
    pinned: Vec<(Frame, u32)>,
    /// Where each frame stands among them.
    places: PerFrame<u32>,
    are_lasting: bool,
}

impl Default for Pins {
    fn default() -> Pins {
        Pins {
            pinned: Vec::new(),
            places: PerFrame::new(NOWHERE),
            are_lasting: false,
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

    /// Whether many frames may be pinned, for long.
    #[inline]
    pub fn are_lasting(&self) -> bool {
        self.are_lasting
    }

    /// Pins a frame once more.
    #[inline]
    pub fn pin(&mut self, frame: Frame) {
        let place = &mut self.places[frame.index()];
        if *place == NOWHERE {
            *place = self.pinned.len() as u32;
            self.pinned.push((frame, 1));
        } else {
            self.pinned[*place as usize].1 += 1;
        }
    }

    /// Takes one pin back; whether it was the last one of the frame.
    ///
    /// # Panics
    /// Where the frame is not pinned.
    #[inline]
    pub fn unpin(&mut self, frame: Frame) -> bool {
        let place = self.places[frame.index()];
        assert_ne!(
            place, NOWHERE,
            "a frame is unpinned as often as it was pinned"
        );
        let (_, count) = &mut self.pinned[place as usize];
        *count -= 1;
        if *count > 0 {
            return false;
        }
        self.places[frame.index()] = NOWHERE;
        self.pinned.swap_remove(place as usize);
        if let Some((moved, _)) = self.pinned.get(place as usize) {
            self.places[moved.index()] = place;
        }
        true
    }

    /// Whether a frame is pinned.
    #[inline]
    pub fn holds(&self, frame: Frame) -> bool {
        !self.pinned.is_empty() && self.places[frame.index()] != NOWHERE
    }

    /// The pinned frames, each once; their order depends on what was pinned and unpinned, and means nothing.
    pub fn frames(&self) -> impl Iterator<Item = Frame> {
        self.pinned.iter().map(|&(frame, _)| frame)
    }

    /// How many frames are pinned.
    #[inline]
    pub fn len(&self) -> usize {
        self.pinned.len()
    }

    /// Whether no frame is pinned.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agree_with_a_plain_count(operations in prop::collection::vec((0u32..10, any::<bool>()), 1..200)) {
            let mut pins = Pins::new();
            let mut model = BTreeMap::new();
            for (frame, pin) in operations {
                let frame = Frame(frame);
                if pin {
                    pins.pin(frame);
                    *model.entry(frame).or_insert(0) += 1;
                } else if let Some(count) = model.get_mut(&frame) {
                    pins.unpin(frame);
                    *count -= 1;
                    model.retain(|_, count| *count > 0);
                }
                prop_assert_eq!((pins.len(), pins.is_empty()), (model.len(), model.is_empty()));
                for frame in (0..10).map(Frame) {
                    prop_assert_eq!(pins.holds(frame), model.contains_key(&frame));
                }
                let mut frames: Vec<Frame> = pins.frames().collect();
                frames.sort();
                prop_assert_eq!(frames, model.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}

//! What the time of an access goes into: sums for the log of requests, and step by step for an arm trace.

use crate::base::units::Time;
use crate::engine::request::{Part, Parts};
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::{HeadPosition, Mechanics, Motion};

/// Angular slots of a track that pass one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotSpan {
    /// The first one.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// How many the track has.
    pub per_track: u32,
}

impl SlotSpan {
    /// `count` slots from `first` on.
    #[inline]
    pub fn new(first: u32, count: u32, per_track: u32) -> SlotSpan {
        SlotSpan {
            first,
            count,
            per_track,
        }
    }
}

/// The reading of a track, or of a part of it, that is over.
#[derive(Clone, Copy, Debug)]
pub struct Track {
    /// From its first sector to the end of the track.
    pub run: Run,
    /// When the arm began to move there.
    pub start: Time,
    /// How it moved.
    pub motion: Motion,
    /// When the first sector's leading edge passed.
    pub edge: Time,
    /// How many slots passed.
    pub slots: u32,
    /// When the arm was free.
    pub until: Time,
}

/// Takes the parts of a time as they pass. What only an arm trace wants to hear is nothing to the sums.
pub trait Tally: Default {
    /// `time` goes into one part.
    fn add(&mut self, part: Part, time: Time);
    /// Everything that was added, in the order in which it passes as far as that is known.
    fn each(&self, visit: impl FnMut(Part, Time));
    /// The following parts belong to the arm of this number.
    #[inline]
    fn by_arm(&mut self, _number: usize) {}
    /// The arm moves to a place, where it then is.
    #[inline]
    fn heads_for(&mut self, _to: HeadPosition) {}
    /// It moves there from another place. The time is divided into parts, for implementations that only have the sum.
    #[inline]
    fn moves(
        &mut self,
        _mechanics: &Mechanics,
        _from: HeadPosition,
        _to: HeadPosition,
        _write: bool,
    ) {
    }
    /// These slots are waited for, and then pass.
    #[inline]
    fn awaits(&mut self, _slots: SlotSpan) {}
    /// What the medium does from `begins` on, beside what is added here.
    #[inline]
    fn beside(&mut self, _begins: Time, _medium: Self) {}
    /// Reading leaves a track for another one, or for the same one later.
    #[inline]
    fn leaves(&mut self, _track: impl FnOnce() -> Track) {}
}

impl Tally for Parts {
    #[inline]
    fn add(&mut self, part: Part, time: Time) {
        Parts::add(self, part, time);
    }
    #[inline]
    fn each(&self, mut visit: impl FnMut(Part, Time)) {
        for &part in Part::ALL {
            visit(part, self.get(part));
        }
    }
}

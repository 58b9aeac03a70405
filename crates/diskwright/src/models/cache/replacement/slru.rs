//! Segmented LRU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{Segments, Variant, part, share};
use super::{Access, Frame, Links, List, PerFrame, Pins, Replacement, Setting};
use crate::base::units::Share;

/// Rule: a block comes into the lowest segment and rises one with every hit; what is too much in a segment falls into the one below, and
/// the least recently used of the lowest that has one leaves. Tie: none can be. Source: Karedla, Love and Wherry, "Caching strategies to
/// improve disk system performance", Computer 27(3), 1994, with two segments. Weakness: the sizes of the segments do not adapt.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Slru {
    /// How many segments; the lowest is the probationary one.
    pub segments: Segments,
    /// The share of the cache that the others have together, in equal parts.
    pub protected: Share,
    /// `"libcachesim"`: a new block comes into the lowest segment that is not full, the lowest too has a size, and what falls
    /// into it beyond that drives its oldest out, even at a hit. libCacheSim has `segments = 4` and `protected = 0.75`.
    pub variant: Variant,
}

impl Default for Slru {
    fn default() -> Slru {
        Slru {
            segments: Segments::TWO,
            protected: share(0.8),
            variant: Variant::Paper,
        }
    }
}

impl Slru {
    pub(super) const SUMMARY: &str = "Segmented LRU: a block rises a segment with every hit, and only the lowest segment loses blocks.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        let Setting { capacity, .. } = *setting;
        let segments = usize::from(self.segments.value());
        let upper = part(self.protected, capacity) / (segments as u32 - 1);
        let lowest = part(share(1.0 - self.protected.value()), capacity);
        let mut room = vec![upper as usize; segments];
        room[0] = lowest as usize;
        Box::new(SlruState {
            links: Links::new(),
            segments: vec![List::default(); segments].into(),
            room: room.into(),
            segment_of: PerFrame::new(0),
            fills_upwards: self.variant == Variant::LibCacheSim,
            has_fallen: false,
        })
    }
}

/// The segments, the lowest first; the least recently used block of each is at its back.
struct SlruState {
    links: Links,
    segments: Box<[List]>,
    room: Box<[usize]>,
    segment_of: PerFrame<u8>,
    fills_upwards: bool,
    /// A block has fallen into the lowest segment since the last insertion.
    has_fallen: bool,
}

impl SlruState {
    fn put(&mut self, frame: Frame, segment: usize) {
        self.segment_of[frame.index()] = segment as u8;
        self.links.push_front(&mut self.segments[segment], frame);
    }
}

impl Replacement for SlruState {
    #[inline]
    fn hit(&mut self, frame: Frame, _access: &Access) {
        let segment = usize::from(self.segment_of[frame.index()]);
        if segment + 1 == self.segments.len() {
            let highest = &mut self.segments[segment];
            return self.links.move_to_front(highest, frame);
        }
        self.remove(frame);
        self.put(frame, segment + 1);
        // The one that rose has left a place, so that nothing falls further.
        if self.segments[segment + 1].len() > self.room[segment + 1] {
            let falls = self.segments[segment + 1].back();
            let falls = falls.expect("the one that rose is there at least");
            self.remove(falls);
            self.put(falls, segment);
            self.has_fallen |= segment == 0;
        }
    }
    fn shed(&mut self, hit: Frame, pins: &Pins) -> Option<Frame> {
        let is_over = self.has_fallen && self.fills_upwards;
        if !is_over || self.segments[0].len() <= self.room[0] {
            self.has_fallen = false;
            return None;
        }
        let may_leave = |&frame: &Frame| frame != hit && !pins.holds(frame);
        let first = self.links.last_free(&mut self.segments[0], pins)?;
        // What is behind the first that is not pinned was looked at.
        let frame = self.links.starting_at(first).find(may_leave)?;
        self.remove(frame);
        Some(frame)
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let mut segments = self.segments.iter_mut();
        let frame = segments.find_map(|segment| self.links.last_free(segment, pins))?;
        self.remove(frame);
        Some(frame)
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        let mut sizes = self.segments.iter().zip(&self.room);
        let segment = match self.fills_upwards {
            true => sizes.position(|(segment, &room)| segment.len() < room),
            false => None,
        };
        self.put(frame, segment.unwrap_or(0));
        self.has_fallen = false;
    }
    fn release(&mut self, frame: Frame) {
        let segment = usize::from(self.segment_of[frame.index()]);
        self.links.release(&self.segments[segment], frame);
    }
    fn remove(&mut self, frame: Frame) {
        let segment = usize::from(self.segment_of[frame.index()]);
        self.links.remove(&mut self.segments[segment], frame);
    }
}

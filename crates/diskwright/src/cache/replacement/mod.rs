//! Replacement policies: which block leaves a cache when another needs its place.

mod fifo;
mod lru;

use super::lists::{Links, List};
use super::{Frame, Pins};
use crate::random::Stream;
use crate::registry::policies;
use crate::units::Time;

policies! {
    /// A replacement policy and its parameters, as a spec names it.
    pub enum ReplacementSpec of "replacement policy" builds Box<dyn Replacement>, for (setting: &Setting) as |parameters| { parameters.build(setting) } {
        Lru = "lru" [] in lru::Lru,
        Fifo = "fifo" [] in fifo::Fifo,
    }
}

impl Default for ReplacementSpec {
    fn default() -> ReplacementSpec {
        ReplacementSpec::Lru(lru::Lru {})
    }
}

/// What a policy is built for.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Frames of the cache, at least 1.
    pub capacity: u32,
    /// Draws what is left to chance.
    pub chance: Stream,
}

/// An access to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which block: its number on the device below, in blocks of the cache; or an object's name.
    pub key: u64,
    /// Whether it is written.
    pub write: bool,
    /// How many accesses come before the next one to the block, counted from the beginning; `u64::MAX` where none comes, and in a
    /// simulation, which does not know.
    pub next: u64,
}

/// What an access to the medium took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Its access time: seek, switch, settle and rotation, for all its blocks together.
    pub access: Time,
    /// How many blocks of the cache it brought or wrote.
    pub blocks: u32,
}

/// A rule that chooses which block leaves.
///
/// The cache calls [`hit`](Self::hit) for an access to a block that it holds. For one that it does not hold it calls
/// [`miss`](Self::miss), then, if no frame is free, [`evict`](Self::evict), and then [`insert`](Self::insert); a cache that
/// does not keep the block leaves out the last two, or the last. A policy knows of a frame from its insertion to its
/// eviction or removal, and its choices depend on nothing but these calls and its [`Setting`]. All calls take at most logarithmic time
/// in the capacity, on average over many.
pub trait Replacement: Send {
    /// The block in `frame` is accessed.
    fn hit(&mut self, frame: Frame, access: &Access);

    /// A block that the cache does not hold is accessed: for policies that remember what has left.
    fn miss(&mut self, access: &Access) {
        let _ = access;
    }

    /// Chooses the frame whose block leaves, and forgets it; none that is pinned. `None` where all are.
    fn evict(&mut self, pins: &Pins) -> Option<Frame>;

    /// The block of the last miss is put into `frame`.
    fn insert(&mut self, frame: Frame, access: &Access);

    /// The access to the medium that brought the block in `frame`, or wrote it, is over.
    fn paid(&mut self, frame: Frame, cost: Cost) {
        let _ = (frame, cost);
    }

    /// The block in `frame` leaves for another reason: it was trimmed, or its data are no longer good.
    fn remove(&mut self, frame: Frame);
}

/// The first frame of a list, from its back, that is not pinned.
#[inline]
fn last_free(links: &Links, list: &List, pins: &Pins) -> Option<Frame> {
    links.back_to_front(list).find(|&frame| !pins.holds(frame))
}

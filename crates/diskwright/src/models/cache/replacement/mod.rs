//! Replacement policies: which block leaves a cache when another needs its place.

mod access_time;
mod arc;
mod atca;
mod atca_simple;
mod belady;
mod choice;
mod clock;
mod fac;
mod fifo;
mod greedy_dual;
mod lfu;
mod lifo;
mod lirs;
mod lru;
mod parameters;
mod random;
mod s3_fifo;
mod sieve;
mod sketch;
mod slru;
mod two_q;
mod w_tinylfu;
mod worth;

pub use atca::Scale;
pub use choice::{CustomReplacements, ReplacementChoice};
pub use parameters::{Factor, Segments, Variant};

use super::ghosts::Ghosts;
use super::lists::{Links, List};
use super::per_frame::PerFrame;
use super::ranking::Ranking;
use super::{Directory, Frame, Pins};
use crate::base::random::Stream;
use crate::base::registry::policies;
use crate::base::units::Time;

policies! {
    /// A replacement policy and its parameters, as a spec names it.
    pub enum ReplacementSpec of "replacement policy" builds Box<dyn Replacement>, for (setting: &Setting) as |parameters| { parameters.build(setting) } {
        Lru = "lru" [] in lru::Lru,
        Fifo = "fifo" [] in fifo::Fifo,
        Lifo = "lifo" [] in lifo::Lifo,
        Clock = "clock" [] in clock::Clock,
        Lfu = "lfu" [] in lfu::Lfu,
        Slru = "slru" [] in slru::Slru,
        TwoQ = "2q" ["two-q"] in two_q::TwoQ,
        Arc = "arc" [] in arc::Arc,
        Lirs = "lirs" [] in lirs::Lirs,
        S3Fifo = "s3-fifo" ["s3fifo"] in s3_fifo::S3Fifo,
        Sieve = "sieve" [] in sieve::Sieve,
        WTinyLfu = "w-tinylfu" ["wtinylfu"] in w_tinylfu::WTinyLfu,
        Atca = "atca" [] in atca::Atca,
        AtcaSimple = "atca-simple" [] in atca_simple::AtcaSimple,
        Fac = "fac" [] in fac::Fac,
        GreedyDual = "greedy-dual" ["greedydual"] in greedy_dual::GreedyDual,
        Random = "random" [] in random::Random,
        Belady = "belady" ["min", "opt"] in belady::Belady,
    }
}

impl Default for ReplacementSpec {
    fn default() -> ReplacementSpec {
        ReplacementSpec::Lru(lru::Lru {})
    }
}

/// Bytes that a line takes at most, but for the masks of one that is there in part: its key, its places in the index, in the orders of dirty
/// lines and among the pinned ones, what it has, and a list of the policy's.
const PER_LINE: u64 = 64;
/// The same of a key that a policy remembers.
const PER_GHOST: u64 = 100;

impl ReplacementSpec {
    /// How many keys of blocks that have left are remembered by the policy of a cache of `capacity` frames.
    fn remembered(&self, capacity: u32) -> u32 {
        match self {
            ReplacementSpec::TwoQ(policy) => parameters::part(policy.ghosts, capacity),
            ReplacementSpec::Arc(_) => capacity,
            ReplacementSpec::Lirs(policy) => policy.remembered(capacity),
            ReplacementSpec::S3Fifo(policy) => parameters::part(policy.ghosts, capacity),
            _ => 0,
        }
    }

    /// Bytes that the policy of a cache of `capacity` frames takes from the beginning, whatever it holds.
    fn memory_at_once(&self, capacity: u32) -> u64 {
        match self {
            ReplacementSpec::WTinyLfu(_) => sketch::bytes(capacity),
            _ => 0,
        }
    }

    /// Bytes that it keeps for a block at most, beside one list.
    fn per_block(&self) -> u64 {
        match self {
            ReplacementSpec::Lru(_) | ReplacementSpec::Fifo(_) | ReplacementSpec::Lifo(_) => 0,
            ReplacementSpec::Clock(_) | ReplacementSpec::Slru(_) => 2,
            // A number, and in a tier a tree of those that may be free.
            ReplacementSpec::Sieve(_) => 60,
            ReplacementSpec::TwoQ(_)
            | ReplacementSpec::Arc(_)
            | ReplacementSpec::S3Fifo(_)
            | ReplacementSpec::WTinyLfu(_) => 12,
            ReplacementSpec::Random(_) => 8,
            ReplacementSpec::Lirs(_) => 32,
            // A count for each block, in a list that has room for twice as many.
            ReplacementSpec::Lfu(_) => 80,
            // A heap that has room for twice what it holds, and what worth is made of.
            ReplacementSpec::Belady(_) => 60,
            ReplacementSpec::GreedyDual(_) => 70,
            ReplacementSpec::Atca(_) | ReplacementSpec::AtcaSimple(_) => 80,
            ReplacementSpec::Fac(_) => 90,
        }
    }

    /// The most bytes that the policy of a cache of `capacity` lines keeps besides one list, on a device with `keys` lines. It remembers no
    /// more lines and keys than the device has.
    pub fn memory(&self, capacity: u32, keys: u64) -> u64 {
        let ghosts = u64::from(self.remembered(capacity)).min(keys);
        let blocks = u64::from(capacity).min(keys);
        blocks * self.per_block() + ghosts * PER_GHOST + self.memory_at_once(capacity)
    }
}

/// The most bytes that a cache of `capacity` lines of `blocks` blocks takes, on a device with `keys` lines, when every line is partly
/// valid.
pub fn lines_memory(capacity: u32, blocks: u32, keys: u64) -> u64 {
    // Two masks and the number of their place, in lists that have room for an eighth more.
    let masks = 2 * 8 * u64::from(blocks.div_ceil(u64::BITS)) * 9 / 8 + 6;
    u64::from(capacity).min(keys) * (PER_LINE + masks)
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
    /// How many accesses come before the next one to the block, counted from the beginning; `u64::MAX` where none comes, in a
    /// simulation, which does not know, and for a program's own policies, which are not told.
    pub next: u64,
}

/// What an access to the medium took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// What it kept the medium for, for all its blocks together, as the device charges it
    /// ([`Request::media`](crate::engine::request::Request::media)): of a hard disk its access time, which is seek, switch, settle and rotation.
    pub media: Time,
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

    /// A block that leaves at the hit of the one in `hit`, though nothing needs its place: neither that one nor any that is pinned. It
    /// is forgotten. A cache asks after each [`hit`](Self::hit), again until there is none. None of [`ReplacementSpec`]
    /// has any but `slru` in libCacheSim's reading.
    fn shed(&mut self, hit: Frame, pins: &Pins) -> Option<Frame> {
        let _ = (hit, pins);
        None
    }

    /// The block of the last miss is put into `frame`.
    fn insert(&mut self, frame: Frame, access: &Access);

    /// The access to the medium that brought the block in `frame`, or wrote it, is over.
    fn paid(&mut self, frame: Frame, cost: Cost) {
        let _ = (frame, cost);
    }

    /// The frame is no longer pinned, of pins that [last](Pins::lasting): what was passed over because of them may be chosen again. Not called
    /// for other pins; may be called for a frame that was never passed over.
    fn release(&mut self, frame: Frame) {
        let _ = frame;
    }

    /// The block in `frame` leaves for another reason: it was trimmed. It is not pinned.
    fn remove(&mut self, frame: Frame);
}

/// Goes from a list's back to its front and round again. What `passes` goes to the front; the first that does not is what is sought. Pinned
/// frames stay where they are.
#[inline]
fn second_chance(
    links: &mut Links,
    list: &mut List,
    pins: &Pins,
    mut passes: impl FnMut(Frame) -> bool,
) -> Option<Frame> {
    loop {
        let frame = links.last_free(list, pins)?;
        if !passes(frame) {
            return Some(frame);
        }
        links.move_to_front(list, frame);
    }
}

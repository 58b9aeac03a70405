//! A stretch of accesses, on its way from the reader of the trace to the caches.

use super::sample::Sample;
use crate::base::error::Error;
use crate::base::progress::Progress;

/// Bits of an object's key.
pub(super) const OBJECT_BITS: u32 = 63;
/// Accesses of a chunk: half a megabyte, and milliseconds of work for a cache.
const LENGTH: usize = 1 << 16;

/// An access to an object in one word: its key, and in the lowest bit whether it is a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access(pub(super) u64);

impl Access {
    /// An access to an object whose key has [`OBJECT_BITS`] bits.
    #[inline]
    pub(super) fn new(object: u64, write: bool) -> Access {
        debug_assert!(object >> OBJECT_BITS == 0, "the key {object} is too long");
        Access(object << 1 | u64::from(write))
    }
    #[inline]
    pub(super) fn object(self) -> u64 {
        self.0 >> 1
    }
    #[inline]
    pub(super) fn write(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Accesses in their order, and, where that is known, when the object of each is accessed next.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    accesses: Vec<Access>,
    next: Vec<u64>,
}

impl Chunk {
    pub(super) fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.accesses.len() >= LENGTH
    }
    pub(super) fn clear(&mut self) {
        self.accesses.clear();
        self.next.clear();
    }
    #[inline]
    pub(super) fn push(&mut self, access: Access) {
        self.accesses.push(access);
    }
    pub(super) fn accesses(&self) -> &[Access] {
        &self.accesses
    }
    /// The accesses, to be filled or changed.
    pub(super) fn accesses_mut(&mut self) -> &mut Vec<Access> {
        &mut self.accesses
    }
    /// The number, among all accesses that were read, of each one's next to the same object; either none or as many as there
    /// are accesses.
    pub(super) fn next(&self) -> &[u64] {
        &self.next
    }
    pub(super) fn next_mut(&mut self) -> &mut Vec<u64> {
        &mut self.next
    }

    /// Takes the place of this chunk's content: what of another one is in a sample.
    pub(super) fn copy_sampled(&mut self, other: &Chunk, sample: &Sample) {
        self.clear();
        for (at, access) in other.accesses.iter().enumerate() {
            if sample.takes(access.object()) {
                self.accesses.push(*access);
                self.next.extend(other.next.get(at));
            }
        }
    }
}

/// Where accesses come from.
pub(super) trait Source {
    /// Adds the next accesses to an empty chunk, until it is full or there are none.
    ///
    /// # Errors
    /// They cannot be read; an interruption by `progress`.
    fn fill(&mut self, chunk: &mut Chunk, progress: &mut dyn Progress) -> Result<(), Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_one_word() {
        for (object, write) in [(0, false), (0, true), ((1 << OBJECT_BITS) - 1, true)] {
            let access = Access::new(object, write);
            assert_eq!((access.object(), access.write()), (object, write));
        }
    }

    #[test]
    fn a_sample_keeps_what_belongs_together() {
        let mut chunk = Chunk::default();
        for object in 0..1_000 {
            chunk.push(Access::new(object, false));
            chunk.next_mut().push(object + 7);
        }
        let sample = Sample::several(0.3, 1, 1)[0];
        let mut sampled = Chunk::default();
        // What was there before goes.
        sampled.push(Access::new(1, true));
        sampled.copy_sampled(&chunk, &sample);
        assert!((200..400).contains(&sampled.accesses().len()));
        assert_eq!(sampled.accesses().len(), sampled.next().len());
        for (access, next) in sampled.accesses().iter().zip(sampled.next()) {
            assert!(sample.takes(access.object()) && *next == access.object() + 7);
        }
        chunk.next_mut().clear();
        sampled.copy_sampled(&chunk, &sample);
        assert!(sampled.next().is_empty() && !sampled.is_empty());
    }
}

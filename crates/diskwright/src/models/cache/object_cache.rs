//! A cache that only counts: objects of one size, named by their keys, and no medium.

use super::Frame;
use super::occupancy::{AccessOutcome, Occupancy};
use super::replacement::{Access, Replacement};

/// A directory and its replacement policy.
pub struct ObjectCache(Occupancy);

/// What an access to an [`ObjectCache`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The object was there.
    Hit,
    /// It was not; now it is, and the object that had to leave for it, if any.
    Miss(Option<u64>),
}

impl ObjectCache {
    /// An empty cache of `capacity` objects; `policy` was built for as many.
    pub fn new(capacity: u32, policy: Box<dyn Replacement>) -> ObjectCache {
        ObjectCache(Occupancy::new(capacity, policy))
    }

    /// Accesses an object.
    ///
    /// # Panics
    /// Where the policy breaks its promise: it gives up no frame, or one that holds nothing.
    #[inline]
    pub fn access(&mut self, access: &Access) -> Found {
        let mut left = None;
        match self.0.access(access, |_, key| left = Some(key)) {
            AccessOutcome::Hit(_) => Found::Hit,
            AccessOutcome::Miss(_) => Found::Miss(left),
            AccessOutcome::NoRoom => panic!("a policy gives up a frame where one is not pinned"),
        }
    }

    /// The frame of an object.
    pub fn find(&self, key: u64) -> Option<Frame> {
        self.0.directory.find(key)
    }

    /// Takes an object out, as a trim does; whether it was there.
    pub fn remove(&mut self, key: u64) -> bool {
        let frame = self.find(key);
        if let Some(frame) = frame {
            self.0.remove(frame);
        }
        frame.is_some()
    }

    /// How many objects it holds.
    pub fn len(&self) -> usize {
        self.0.directory.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.0.directory.is_empty()
    }
}

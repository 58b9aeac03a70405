//! A cache that only counts: objects of one size, named by their keys, and no medium.

use super::replacement::{Access, Replacement};
use super::{Directory, Frame, Pins};

/// A directory and its replacement policy.
pub struct ObjectCache {
    directory: Directory,
    policy: Box<dyn Replacement>,
    pins: Pins,
}

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
        ObjectCache {
            directory: Directory::new(capacity),
            policy,
            pins: Pins::new(),
        }
    }

    /// Accesses an object.
    ///
    /// # Panics
    /// Where the policy breaks its promise: it gives up no frame, or one that holds nothing.
    #[inline]
    pub fn access(&mut self, access: &Access) -> Found {
        if let Some(frame) = self.directory.find(access.key) {
            self.policy.hit(frame, access);
            while let Some(frame) = self.policy.shed(&self.pins) {
                self.directory.remove(frame);
            }
            return Found::Hit;
        }
        self.policy.miss(access);
        let mut left = None;
        if self.directory.is_full() {
            let victim = self
                .policy
                .evict(&self.pins)
                .expect("a policy gives up a frame where one is not pinned");
            left = Some(self.directory.remove(victim));
        }
        let frame = self.directory.insert(access.key);
        self.policy.insert(frame, access);
        Found::Miss(left)
    }

    /// The frame of an object.
    pub fn find(&self, key: u64) -> Option<Frame> {
        self.directory.find(key)
    }
}

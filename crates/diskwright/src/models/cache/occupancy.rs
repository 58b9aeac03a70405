//! Which block is in which frame, and who leaves for another: what every cache does with its policy, whatever else it knows of its
//! blocks.

use super::replacement::{Access, Replacement};
use super::{Directory, Frame, Pins};

/// A directory, the policy that it is filled by, and the frames that may not be freed.
pub(super) struct Occupancy {
    pub(super) directory: Directory,
    pub(super) policy: Box<dyn Replacement>,
    pub(super) pins: Pins,
    /// Of a cache that spares some frames: those, and the pinned ones. One of them that is not pinned is freed only where no other can be.
    pub(super) spared: Option<Pins>,
}

/// What an access finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessOutcome {
    /// The block was there.
    Hit(Frame),
    /// It was not, and is now.
    Miss(Frame),
    /// It is not, and no frame can be freed: all are pinned.
    NoRoom,
}

impl Occupancy {
    /// An empty one of `frames` frames, for which the policy was built.
    pub(super) fn new(frames: u32, policy: Box<dyn Replacement>) -> Occupancy {
        Occupancy {
            directory: Directory::new(frames),
            policy,
            pins: Pins::new(),
            spared: None,
        }
    }

    /// Pins a frame once more.
    #[inline]
    pub(super) fn pin(&mut self, frame: Frame) {
        self.pins.pin(frame);
        self.spare(frame);
    }

    /// Takes one pin back.
    #[inline]
    pub(super) fn unpin(&mut self, frame: Frame) {
        if self.pins.unpin(frame) && self.pins.are_lasting() {
            self.policy.release(frame);
        }
        self.unspare(frame);
    }

    /// Spares a frame once more, in a cache that spares any.
    #[inline]
    pub(super) fn spare(&mut self, frame: Frame) {
        if let Some(spared) = &mut self.spared {
            spared.pin(frame);
        }
    }

    /// Takes back that a frame is spared.
    #[inline]
    pub(super) fn unspare(&mut self, frame: Frame) {
        if let Some(spared) = &mut self.spared
            && spared.unpin(frame)
        {
            self.policy.release(frame);
        }
    }

    /// The frame that is freed for another block: the policy's choice among those that are neither pinned nor spared, and where there is
    /// none, among those that are not pinned.
    #[inline]
    fn evict(&mut self) -> Option<Frame> {
        if let Some(spared) = &self.spared
            && spared.len() < self.directory.len()
            && let Some(frame) = self.policy.evict(spared)
        {
            return Some(frame);
        }
        self.policy.evict(&self.pins)
    }

    /// Accesses a block, which gets a frame if it has none and one can be freed. `leaves` hears of each block that leaves and the frame
    /// that it was in: at a miss none or one, at a hit those that the policy [sheds](Replacement::shed).
    ///
    /// # Panics
    /// Where the policy breaks its promise: it gives up a frame that holds nothing.
    #[inline]
    pub(super) fn access(
        &mut self,
        access: &Access,
        leaves: impl FnMut(Frame, u64),
    ) -> AccessOutcome {
        self.access_found(self.directory.find(access.key), access, leaves)
    }

    /// The same of a block whose frame has been looked up.
    #[inline]
    pub(super) fn access_found(
        &mut self,
        found: Option<Frame>,
        access: &Access,
        mut leaves: impl FnMut(Frame, u64),
    ) -> AccessOutcome {
        debug_assert_eq!(found, self.directory.find(access.key));
        if let Some(frame) = found {
            self.policy.hit(frame, access);
            let held = self.spared.as_ref().unwrap_or(&self.pins);
            while let Some(shed) = self.policy.shed(frame, held) {
                leaves(shed, self.directory.remove(shed));
            }
            return AccessOutcome::Hit(frame);
        }
        self.policy.miss(access);
        if self.directory.is_full() {
            let Some(victim) = self.evict() else {
                return AccessOutcome::NoRoom;
            };
            leaves(victim, self.directory.remove(victim));
        }
        let frame = self.directory.insert(access.key);
        self.policy.insert(frame, access);
        AccessOutcome::Miss(frame)
    }

    /// Takes a block out whose frame is not pinned.
    pub(super) fn remove(&mut self, frame: Frame) {
        debug_assert!(!self.pins.holds(frame), "{frame:?} is pinned");
        self.policy.remove(frame);
        self.directory.remove(frame);
    }
}

//! Which block is in which frame, and who leaves for another: what every cache does with its policy, whatever else it knows of its
//! blocks.

use super::replacement::{Access, Replacement};
use super::{Directory, Frame, Pins};

/// A directory, the policy that it is filled by, and the frames that may not be freed.
pub(super) struct Occupancy {
    pub(super) directory: Directory,
    pub(super) policy: Box<dyn Replacement>,
    pub(super) pins: Pins,
    /// Frames with dirty blocks are spared: those of them that are not pinned are freed only where no other can be.
    pub(super) spares: bool,
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
            spares: false,
        }
    }

    /// Pins a frame once more.
    #[inline]
    pub(super) fn pin(&mut self, frame: Frame) {
        self.pins.pin(frame);
    }

    /// Takes one pin back.
    #[inline]
    pub(super) fn unpin(&mut self, frame: Frame) {
        if self.pins.unpin(frame) && self.pins.are_lasting() {
            self.policy.release(frame);
        }
    }

    /// Spares a frame, in a cache that spares any.
    #[inline]
    pub(super) fn spare(&mut self, frame: Frame) {
        if self.spares {
            self.pins.spare(frame);
        }
    }

    /// Takes back that a frame is spared.
    #[inline]
    pub(super) fn unspare(&mut self, frame: Frame) {
        if self.spares && self.pins.unspare(frame) {
            self.policy.release(frame);
        }
    }

    /// The frame that is freed for another block: the policy's choice among those that are neither pinned nor spared, and where there is
    /// none, among those that are not pinned.
    #[inline]
    fn evict(&mut self) -> Option<Frame> {
        if !self.spares {
            return self.policy.evict(&self.pins);
        }
        if self.pins.len() < self.directory.len()
            && let Some(frame) = self.policy.evict(&self.pins)
        {
            return Some(frame);
        }
        self.pins.heed_pins_alone(true);
        let frame = self.policy.evict(&self.pins);
        self.pins.heed_pins_alone(false);
        frame
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
            while let Some(shed) = self.policy.shed(frame, &self.pins) {
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
        debug_assert!(!self.pins.is_pinned(frame), "{frame:?} is pinned");
        self.policy.remove(frame);
        self.directory.remove(frame);
    }
}

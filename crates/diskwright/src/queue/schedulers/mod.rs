//! Schedulers: which of the waiting requests is next.

mod clook;
mod fcfs;
mod ncq;
mod satf;
mod sstf;

use super::pool::{Order, Pool, Slot};
use crate::geometry::mechanics::{Arm, Mechanics, Target};
use crate::geometry::spindle::Phase;
use crate::registry::policies;
use crate::units::{Lbn, Time};

policies! {
    /// A scheduler and its parameters, as a spec names it.
    pub enum SchedulerSpec builds Box<dyn Scheduler> {
        Fcfs = "fcfs" [] in fcfs::Fcfs,
        Sstf = "sstf" [] in sstf::Sstf,
        CLook = "c-look" ["clook"] in clook::CLook,
        Satf = "satf" ["sptf"] in satf::Satf,
        Ncq = "ncq" [] in ncq::Ncq,
    }
}

impl Default for SchedulerSpec {
    fn default() -> SchedulerSpec {
        SchedulerSpec::Fcfs(fcfs::Fcfs {})
    }
}

/// A rule that chooses the next request.
///
/// The caller keeps the pool in the [order](Scheduler::order) that the scheduler asks for, calls
/// [`pick`](Scheduler::pick) only when something waits, and removes what was picked. A scheduler changes nothing but
/// its own memory, and its choice depends on nothing but the view and that memory.
pub trait Scheduler: Send {
    /// The order of place that the pool must keep.
    fn order(&self) -> Order;

    /// Whether it must know where sectors are, which a host's queue does not.
    fn needs_geometry(&self) -> bool {
        false
    }

    /// Chooses one of the waiting requests.
    fn pick(&mut self, view: &View<'_>) -> Slot;

    /// How many requests were picked because they had waited too long.
    fn promotions(&self) -> u64 {
        0
    }
}

/// What a scheduler sees.
pub struct View<'a> {
    /// The present instant.
    pub now: Time,
    /// The waiting requests; at least one.
    pub pool: &'a Pool,
    /// What the queue knows of places.
    pub space: Space<'a>,
}

/// What a queue knows of places.
pub enum Space<'a> {
    /// LBNs only: the block after the previous request.
    Blocks(Lbn),
    /// The drive's own mechanics.
    Disk(DiskSpace<'a>),
}

/// A drive's mechanics as they are at the instant of a decision.
pub struct DiskSpace<'a> {
    /// Geometry, seek curve, rotation.
    pub mechanics: &'a Mechanics,
    /// Where the arm is.
    pub arm: Arm,
    /// The block after the previous request.
    pub last: Lbn,
    /// Where the platter will be when a read could begin to move the arm.
    pub read_phase: Phase,
    /// The same for a write.
    pub write_phase: Phase,
}

impl DiskSpace<'_> {
    /// The positioning time of a request that is picked now: seek, head switch, settle and rotation.
    #[inline]
    pub fn positioning(&self, target: &Target) -> Time {
        let phase = if target.write {
            self.write_phase
        } else {
            self.read_phase
        };
        self.mechanics.positioning(self.arm, phase, target)
    }

    /// The time of the motion alone: seek, head switch and settle.
    #[inline]
    pub fn motion(&self, target: &Target) -> Time {
        self.mechanics
            .motion_time(self.arm, target.arm(), target.write)
    }

    /// The wait for the first sector after a motion, where it is at most `limit`.
    #[inline]
    pub fn wait_within(&self, target: &Target, motion: Time, limit: Time) -> Option<Time> {
        let phase = if target.write {
            self.write_phase
        } else {
            self.read_phase
        };
        let spindle = &self.mechanics.spindle;
        spindle.wait_within(spindle.later(phase, motion), target.phase, limit)
    }
}

impl Space<'_> {
    /// The present place as a key of [`Order::Position`].
    fn position(&self) -> u64 {
        match self {
            Space::Blocks(last) => last.0,
            Space::Disk(disk) => disk.arm.cylinder.into(),
        }
    }
    /// The present place as a key of [`Order::Lbn`].
    fn last(&self) -> u64 {
        match self {
            Space::Blocks(last) => last.0,
            Space::Disk(disk) => disk.last.0,
        }
    }
}

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

    /// [`Self::positioning`] in the spindle's units, for comparing: a nanosecond is [`Self::nanosecond`] of them, and
    /// what is begun counts as a whole one.
    #[inline]
    pub fn reach(&self, target: &Target) -> u64 {
        let phase = if target.write {
            self.write_phase
        } else {
            self.read_phase
        };
        let motion = self
            .mechanics
            .motion_time(self.arm, target.arm(), target.write);
        self.mechanics.spindle.reach(phase, motion, target.phase)
    }

    /// What no target at least `distance` cylinders away can be reached sooner than, in the spindle's units.
    #[inline]
    pub fn least_reach(&self, distance: u32) -> u64 {
        let soonest = self.mechanics.soonest(distance);
        self.mechanics.spindle.units(soonest)
    }

    /// A nanosecond in the spindle's units.
    #[inline]
    pub fn nanosecond(&self) -> u64 {
        self.mechanics.spindle.units(Time::from_ns(1))
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

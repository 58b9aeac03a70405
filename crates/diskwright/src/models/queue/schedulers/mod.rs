//! Schedulers: which of the waiting requests is next.

mod aged;
mod batch;
mod best_first;
mod choice;
mod clook;
mod cscan;
mod deadline;
mod elevator;
mod fcfs;
mod look;
mod ncq;
mod satf;
mod scan;
mod soonest;
mod sstf;
mod vscan;
mod weight;
mod weighted;

pub use crate::base::registry::CUSTOM;
pub use choice::{CustomSchedulers, SchedulerChoice};
pub use elevator::By;
pub use soonest::soonest;
pub use weight::Weight;

use super::pool::{Order, Pending, Pool, Slot};
use crate::base::registry::policies;
use crate::base::units::{Lbn, Time};
use crate::models::geometry::mechanics::{HeadPosition, Mechanics, Reach, Target};
use crate::models::geometry::spindle::Phase;

policies! {
    /// A scheduler and its parameters, as a spec names it.
    pub enum SchedulerSpec of "scheduler" builds Box<dyn Scheduler> {
        Fcfs = "fcfs" [] in fcfs::Fcfs,
        Sstf = "sstf" [] in sstf::Sstf,
        Look = "look" ["elevator"] in look::Look,
        Scan = "scan" [] in scan::Scan,
        CLook = "c-look" ["clook"] in clook::CLook,
        CScan = "c-scan" ["cscan"] in cscan::CScan,
        VScan = "v-scan" ["vscan"] in vscan::VScan,
        Satf = "satf" ["sptf"] in satf::Satf,
        AgedSatf = "aged-satf" ["asptf"] in aged::AgedSatf,
        WeightedSatf = "weighted-satf" ["wptf"] in weighted::WeightedSatf,
        BatchSatf = "batch-satf" ["bsatf"] in batch::BatchSatf,
        Ncq = "ncq" [] in ncq::Ncq,
        Deadline = "deadline" ["mq-deadline"] in deadline::Deadline,
    }
}

impl Default for SchedulerSpec {
    fn default() -> SchedulerSpec {
        SchedulerSpec::Fcfs(fcfs::Fcfs::default())
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

    /// Whether it may ask for positioning times. For one that does not, a drive leaves out where its platters are: the phases of
    /// [`DiskSpace`] then mean nothing.
    fn needs_phases(&self) -> bool {
        true
    }

    /// Whether it picks the oldest request, as long as the order of arrival is that in which all requests entered: a drive then takes
    /// that one without asking.
    fn takes_oldest(&self) -> bool {
        false
    }

    /// The cylinder to which a drive's arm must travel before a request is picked, if there is one.
    ///
    /// A drive asks before every [`pick`](Scheduler::pick), and again when the arm has come there, until there is none;
    /// what arrives in the meantime is in the later views. A host's queue moves no arm and does not ask.
    fn travel(&mut self, _view: &View<'_>) -> Option<u32> {
        None
    }

    /// Chooses one of the waiting requests.
    fn pick(&mut self, view: &View<'_>) -> Slot;

    /// What it promises to a request that others overtake, in a drive whose longest positioning time is `slowest`.
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Unbounded
    }

    /// How many requests were picked because they had waited too long.
    fn promotions(&self) -> u64 {
        0
    }
}

/// How long a scheduler can leave a request waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starvation {
    /// For ever: some stream of requests is served before it as long as that lasts.
    Unbounded,
    /// Once it has waited for `after`, and n of those that came before it still wait, it is among the next `under_way` +
    /// (n + 1) · `each` picks.
    Age {
        /// The wait from which the promise holds.
        after: Time,
        /// Picks that may have been decided on before.
        under_way: u64,
        /// Picks for itself and for each that came before it.
        each: u64,
    },
    /// No request that comes later by this time or more is served before it.
    Later(Time),
    /// It is served within a number of picks: at most this factor times the number of waiting requests.
    Queues(u64),
    /// The places served change their direction at most this number of times before it is served, and as often again for every older
    /// request at the same place, where requests do not overlap: once in an elevator, three times in a circular one, whose way back is two
    /// changes and may have been under way. Requests that keep coming at the arm's own place hold up the arm.
    Turns(u64),
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
    pub arm: HeadPosition,
    /// The block after the previous request.
    pub last: Lbn,
    /// The drive's capacity, in 512-byte blocks.
    pub blocks: u64,
    /// Where the platter will be when a read could begin to move the arm.
    pub read_phase: Phase,
    /// The same for a write.
    pub write_phase: Phase,
    /// All arms that could serve a request, where there are several or one that does not reach all; else none, and the
    /// three values above are the arm's.
    pub arms: &'a [ArmView],
}

/// One of several arms.
#[derive(Clone, Copy, Debug)]
pub struct ArmView {
    /// Where it is.
    pub at: HeadPosition,
    /// Where the platter will be, as its heads see it, when a read could begin to move it.
    pub read_phase: Phase,
    /// The same for a write.
    pub write_phase: Phase,
    /// Whether it can read.
    pub reads: bool,
    /// Whether it can write.
    pub writes: bool,
    /// Which tracks it reaches.
    pub reach: Reach,
}

impl ArmView {
    /// Whether it can serve a request.
    #[inline]
    pub fn serves(&self, at: HeadPosition, write: bool) -> bool {
        let can = if write { self.writes } else { self.reads };
        can && self.reach.holds(at.cylinder, at.head)
    }

    /// Where the platter will be when it could begin to move for a request.
    #[inline]
    pub fn phase(&self, target: &Target) -> Phase {
        if target.write {
            self.write_phase
        } else {
            self.read_phase
        }
    }
}

impl DiskSpace<'_> {
    /// The first and the last cylinder of the arm that would travel: of several, the first.
    pub fn edges(&self) -> (u32, u32) {
        let last = self.mechanics.layout.cylinders() - 1;
        let reach = self.arms.first().map_or(Reach::ALL, |arm| arm.reach);
        (reach.cylinders.0, reach.cylinders.1.min(last))
    }

    /// The least that a measure is over the arms that can serve a request; none where no arm can.
    #[inline]
    fn least<T: Ord>(
        &self,
        target: &Target,
        measure: impl Fn(HeadPosition, Phase) -> T,
    ) -> Option<T> {
        if self.arms.is_empty() {
            let phase = if target.write {
                self.write_phase
            } else {
                self.read_phase
            };
            return Some(measure(self.arm, phase));
        }
        let arms = self
            .arms
            .iter()
            .filter(|arm| arm.serves(target.arm(), target.write));
        arms.map(|arm| measure(arm.at, arm.phase(target))).min()
    }

    /// The positioning time of a request that is picked now: seek, head switch, settle and rotation; that of the arm which is
    /// soonest.
    #[inline]
    pub fn positioning(&self, target: &Target) -> Time {
        let time = |arm, phase| self.mechanics.positioning(arm, phase, target);
        self.least(target, time).unwrap_or(Time::ZERO)
    }

    /// The time of the motion alone: seek, head switch and settle; the shortest of all arms'.
    #[inline]
    pub fn motion(&self, target: &Target) -> Time {
        let time = |arm, _| self.mechanics.motion_time(arm, target.arm(), target.write);
        self.least(target, time).unwrap_or(Time::ZERO)
    }

    /// What no target at least `distance` cylinders away from [`Self::arm`] can be reached sooner than; nothing at all where other
    /// arms may be nearer.
    #[inline]
    pub fn soonest(&self, distance: u32) -> Time {
        if self.arms.is_empty() {
            self.mechanics.soonest(distance)
        } else {
            Time::ZERO
        }
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

//! Arms that serve the same requests, and their queue.

use super::arms_spec::{ArmMotion, ArmParts};
use crate::base::units::Lbn;
use crate::engine::request::Op;
use crate::models::geometry::layout::Layout;
use crate::models::geometry::mechanics::Reach;
use crate::models::queue::{Pool, Scheduler, Slot};

/// Arms that serve the same requests.
pub(super) struct ArmGroup {
    /// Their numbers.
    pub arms: Vec<usize>,
    reads: bool,
    writes: bool,
    reach: Reach,
}

/// The requests that wait for the arms of a group.
pub(super) struct GroupQueue {
    pub pool: Pool,
    pub scheduler: Box<dyn Scheduler>,
    /// The scheduler may ask for positioning times.
    pub needs_phases: bool,
    /// The scheduler takes the oldest request, where none has been put behind others.
    takes_oldest: bool,
    /// The block behind the last request.
    pub last: Lbn,
}

/// The groups of a drive's arms, each a list of their numbers: one of all arms where they move one at a time, else one of all that
/// serve the same requests.
pub fn arm_groups(arms: &[ArmParts], motion: ArmMotion) -> Vec<Vec<usize>> {
    if motion == ArmMotion::OneAtATime {
        return vec![(0..arms.len()).collect()];
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (number, arm) in arms.iter().enumerate() {
        let alike = |other: &ArmParts| {
            (other.reads, other.writes, other.reach) == (arm.reads, arm.writes, arm.reach)
        };
        match groups.iter_mut().find(|group| alike(&arms[group[0]])) {
            Some(group) => group.push(number),
            None => groups.push(vec![number]),
        }
    }
    groups
}

impl GroupQueue {
    /// An empty queue, which may often be asked for neighbours.
    pub fn new(scheduler: Box<dyn Scheduler>, asks_for_neighbours: bool) -> GroupQueue {
        let pool = Pool::new(scheduler.order());
        GroupQueue {
            pool: match asks_for_neighbours {
                true => pool.with_neighbours(),
                false => pool,
            },
            needs_phases: scheduler.needs_phases(),
            takes_oldest: scheduler.takes_oldest(),
            scheduler,
            last: Lbn(0),
        }
    }

    /// The request that is next, where that is known without asking the scheduler.
    #[inline]
    pub fn foregone(&self) -> Option<Slot> {
        let is_foregone = self.takes_oldest && !self.pool.is_reordered();
        is_foregone.then(|| self.pool.oldest()).flatten()
    }
}

impl ArmGroup {
    /// The arms of these numbers, of `all` of a drive.
    pub fn new(arms: Vec<usize>, all: &[ArmParts]) -> ArmGroup {
        let own = || arms.iter().map(|&arm| &all[arm]);
        ArmGroup {
            reads: own().any(|arm| arm.reads),
            writes: own().any(|arm| arm.writes),
            reach: all[arms[0]].reach,
            arms,
        }
    }

    /// Whether its arms serve requests of a kind.
    #[inline]
    pub fn can(&self, op: Op) -> bool {
        if op == Op::Write {
            self.writes
        } else {
            self.reads
        }
    }

    /// Whether its arms reach all of a drive.
    pub fn reaches_all(&self, layout: &Layout) -> bool {
        self.reach.holds_all(layout)
    }

    /// Whether its arms reach a track, where it is one of several groups.
    #[inline]
    pub fn reaches(&self, cylinder: u32, head: u32) -> bool {
        self.reach.holds(cylinder, head)
    }
}

//! A queue and the arms that serve it.

use crate::base::units::Lbn;
use crate::config::arms::{ArmMotion, ArmParts};
use crate::engine::request::Op;
use crate::models::geometry::layout::Layout;
use crate::models::geometry::mechanics::Reach;
use crate::models::queue::{Pool, Scheduler};

/// A queue and the arms that serve it.
pub(super) struct Station {
    /// The numbers of its arms.
    pub arms: Vec<usize>,
    pub pool: Pool,
    pub scheduler: Box<dyn Scheduler>,
    /// The block behind the last request.
    pub last: Lbn,
    reads: bool,
    writes: bool,
    reach: Reach,
}

/// The stations of a drive's arms, each a list of their numbers: one of all arms where they move one at a time, else one of all that
/// serve the same requests.
pub fn stations(arms: &[ArmParts], motion: ArmMotion) -> Vec<Vec<usize>> {
    if motion == ArmMotion::OneAtATime {
        return vec![(0..arms.len()).collect()];
    }
    let mut stations: Vec<Vec<usize>> = Vec::new();
    for (number, arm) in arms.iter().enumerate() {
        let alike = |other: &ArmParts| {
            (other.reads, other.writes, other.reach) == (arm.reads, arm.writes, arm.reach)
        };
        match stations.iter_mut().find(|station| alike(&arms[station[0]])) {
            Some(station) => station.push(number),
            None => stations.push(vec![number]),
        }
    }
    stations
}

impl Station {
    pub fn new(arms: Vec<usize>, all: &[ArmParts], scheduler: Box<dyn Scheduler>) -> Station {
        let own = || arms.iter().map(|&arm| &all[arm]);
        Station {
            pool: Pool::new(scheduler.order()),
            scheduler,
            last: Lbn(0),
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

    /// Whether its arms reach a track, where it is one of several stations.
    #[inline]
    pub fn reaches(&self, cylinder: u32, head: u32) -> bool {
        self.reach.holds(cylinder, head)
    }
}

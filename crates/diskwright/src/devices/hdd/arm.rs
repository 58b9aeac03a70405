//! One of a drive's arms, and what it does.

use serde_json::{Value, json};

use super::arms_spec::ArmParts;
use crate::base::units::Time;
use crate::engine::request::{Op, RequestId};
use crate::models::geometry::mechanics::HeadPosition;
use crate::models::geometry::spindle::{Phase, Spindle};
use crate::models::placement::log::SlotAllocation;
use crate::models::placement::slots::SlotId;
use crate::models::queue::pool::{Others, Pending};

/// An arm.
pub(super) struct Arm {
    pub parts: ArmParts,
    /// The platters as its heads see them.
    pub spindle: Spindle,
    /// Where it is, or will be when it has done what it does.
    pub at: HeadPosition,
    /// The group that it belongs to.
    pub group: usize,
    pub work: Option<Work>,
    /// What is to be noted when its work is done.
    pub effects: PendingEffects,
    accesses: u64,
    seek_cylinders: u64,
    busy: u128,
    /// The accesses of the work that it is at, from when until when, as far as they do not follow one another at once.
    under_way: Vec<(Time, Time)>,
}

/// A request whose course has been worked out, or several that were merged into one.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartedRequest {
    pub request: RequestId,
    /// The other parts of a merged one.
    pub others: Others,
    /// The segment of the buffer that it uses, where there is one.
    pub segment: u32,
}

impl StartedRequest {
    /// One that waited, with the segment that it uses.
    #[inline(always)]
    pub fn of(pending: &Pending, segment: u32) -> StartedRequest {
        StartedRequest {
            request: pending.request,
            others: pending.others,
            segment,
        }
    }
}

/// What an arm is at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// A request, or several that were merged into one.
    Request(StartedRequest),
    /// A motion without a request.
    Travel,
    /// Reading a track that is to be emptied.
    Load,
    /// Moving what is in a slot to another one.
    Move { from: SlotId },
    /// Reading ahead, for the pool.
    ReadAhead,
    /// Keeping writes in the pool's region of the medium.
    Region,
    /// None: the disk is in a low power state, or on its way back from one.
    Parked,
}

/// Blocks of the medium that an arm reads, or writes where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MediumRead {
    /// The first as the host knows it; `None` where it does not ask for them.
    pub lbn: Option<u64>,
    /// The first on the medium.
    pub medium: u64,
    pub blocks: u32,
}

impl MediumRead {
    /// Whether `next` follows both for the host and on the medium.
    pub fn goes_on_with(&self, next: &MediumRead) -> bool {
        let blocks = u64::from(self.blocks);
        self.lbn.map(|lbn| lbn + blocks) == next.lbn && self.medium + blocks == next.medium
    }
}

/// What is to be noted when an arm has done its work.
#[derive(Default)]
pub(super) struct PendingEffects {
    /// Slots that are written.
    pub allocated: Vec<SlotAllocation>,
    /// Blocks that are written again where they are.
    pub rewritten: Vec<(u64, SlotId)>,
    /// What is read: nobody may take the slots before that is done.
    pub reading: Vec<MediumRead>,
    /// Slots that are given up when nothing here reads them any more.
    pub held: Vec<SlotId>,
}

impl PendingEffects {
    /// Whether blocks of the medium from `first` to before `end` are being read.
    pub fn reads_any_of(&self, first: u64, end: u64) -> bool {
        let mut reading = self.reading.iter();
        reading.any(|piece| piece.medium < end && first < piece.medium + u64::from(piece.blocks))
    }

    pub fn clear(&mut self) {
        self.allocated.clear();
        self.rewritten.clear();
        self.reading.clear();
        self.held.clear();
    }
}

impl Arm {
    pub fn new(parts: ArmParts, spindle: Spindle, group: usize) -> Arm {
        Arm {
            parts,
            spindle: spindle.seen_from(parts.angle),
            at: HeadPosition {
                cylinder: parts.start,
                head: parts.reach.heads.0,
            },
            group,
            work: None,
            effects: PendingEffects::default(),
            accesses: 0,
            seek_cylinders: 0,
            busy: 0,
            under_way: Vec::new(),
        }
    }

    /// Whether its heads can do what a request asks.
    #[inline]
    pub fn can(&self, op: Op) -> bool {
        if op == Op::Write {
            self.parts.writes
        } else {
            self.parts.reads
        }
    }

    /// The platter as its heads see it.
    #[inline]
    pub fn phase(&self, at: Time) -> Phase {
        self.spindle.phase(at)
    }

    /// Counts an access from `from` to `until`, at whose end it is at `to`.
    #[inline]
    pub fn moved(&mut self, to: HeadPosition, from: Time, until: Time) {
        self.accesses += 1;
        self.moved_on(to, from, until);
    }

    /// Adds to the last access what it does from `from` to `until`.
    #[inline]
    pub fn moved_on(&mut self, to: HeadPosition, from: Time, until: Time) {
        self.seek_cylinders += u64::from(self.at.cylinder.abs_diff(to.cylinder));
        self.busy += u128::from((until - from).ns());
        self.at = to;
        match self.under_way.last_mut() {
            Some((_, end)) if *end == from => *end = until,
            _ => self.under_way.push((from, until)),
        }
    }

    /// Its work is done.
    #[inline]
    pub fn done(&mut self) -> Option<Work> {
        self.under_way.clear();
        self.work.take()
    }

    /// Forgets what was counted, but for what it still does after `now`.
    pub fn measure_from(&mut self, now: Time) {
        let left = |&(from, until): &(Time, Time)| {
            let left = until.saturating_sub(from.max(now));
            u128::from(left.ns())
        };
        (self.accesses, self.seek_cylinders) = (0, 0);
        self.busy = self.under_way.iter().map(left).sum();
    }

    /// Forgets what was counted before time zero.
    pub fn forget_counts(&mut self) {
        self.under_way.clear();
        self.measure_from(Time::ZERO);
    }

    pub fn report(&self) -> Value {
        json!({
            "angle": self.parts.angle.turns(),
            "reads": self.parts.reads,
            "writes": self.parts.writes,
            "accesses": self.accesses,
            "seek_distance_mean_cylinders": if self.accesses == 0 { 0.0 } else { self.seek_cylinders as f64 / self.accesses as f64 },
            "busy_ms": self.busy as f64 / 1e6,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::hdd::arms_spec::ArmsSpec;
    use crate::runs::simulation::hardware;

    #[test]
    fn what_is_under_way_is_busy_from_the_instant_on() {
        let hardware = hardware("ibm-18es").expect("a drive of the library");
        let mechanics = &hardware.mechanics;
        let parts = ArmsSpec::one().build(&mechanics.layout).expect("one arm");
        let ms = Time::from_ms;
        for (at, left) in [
            (5, 26),
            (15, 25),
            (20, 20),
            (30, 20),
            (45, 15),
            (55, 10),
            (60, 10),
            (70, 0),
        ] {
            let mut arm = Arm::new(parts[0], mechanics.spindle, 0);
            arm.moved(arm.at, ms(0), ms(4));
            arm.done();
            for (from, until) in [(14, 17), (17, 20), (40, 50), (60, 70)] {
                arm.moved(arm.at, ms(from), ms(until));
            }
            arm.measure_from(ms(at));
            assert_eq!(arm.busy, u128::from(ms(left).ns()), "{at}");
            assert_eq!(arm.accesses, 0);
        }
    }
}

//! One of a drive's arms, and what it does.

use serde_json::{Value, json};

use super::arms_spec::ArmParts;
use crate::base::units::Time;
use crate::engine::request::{Op, RequestId};
use crate::models::geometry::mechanics::Arm;
use crate::models::geometry::spindle::{Phase, Spindle};
use crate::models::placement::log::Taken;
use crate::models::placement::slots::SlotId;
use crate::models::queue::pool::Others;

/// An arm.
pub(super) struct ArmUnit {
    pub parts: ArmParts,
    /// The platters as its heads see them.
    pub spindle: Spindle,
    /// Where it is, or will be when it has done what it does.
    pub at: Arm,
    /// The group that it belongs to.
    pub group: usize,
    pub work: Option<Work>,
    /// What is to be noted when its work is done.
    pub effects: PendingEffects,
    accesses: u64,
    seek_cylinders: u64,
    busy: u128,
}

/// A request whose course has been worked out, or several that were merged into one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub request: RequestId,
    /// The other parts of a merged one.
    pub others: Others,
    /// The segment of the buffer that it uses, where there is one.
    pub segment: u32,
}

/// What an arm is at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// A request, or several that were merged into one.
    Request(Begun),
    /// A motion without a request.
    Travel,
    /// Reading a track that is to be emptied.
    Load,
    /// Moving what is in a slot to another one.
    Move { from: SlotId },
}

/// Blocks of the medium that an arm reads, or writes where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The first as the host knows it; `None` where it does not ask for them.
    pub lbn: Option<u64>,
    /// The first on the medium.
    pub medium: u64,
    pub blocks: u32,
}

impl Reading {
    /// Whether `next` follows both for the host and on the medium.
    pub fn goes_on_with(&self, next: &Reading) -> bool {
        let blocks = u64::from(self.blocks);
        self.lbn.map(|lbn| lbn + blocks) == next.lbn && self.medium + blocks == next.medium
    }
}

/// What is to be noted when an arm has done its work.
#[derive(Default)]
pub(super) struct PendingEffects {
    /// Slots that are written.
    pub taken: Vec<Taken>,
    /// Blocks that are written again where they are.
    pub rewritten: Vec<(u64, SlotId)>,
    /// What is read: nobody may take the slots before that is done.
    pub reading: Vec<Reading>,
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
        self.taken.clear();
        self.rewritten.clear();
        self.reading.clear();
        self.held.clear();
    }
}

impl ArmUnit {
    pub fn new(parts: ArmParts, spindle: Spindle, group: usize) -> ArmUnit {
        ArmUnit {
            parts,
            spindle: spindle.seen_from(parts.angle),
            at: Arm {
                cylinder: parts.start,
                head: parts.reach.heads.0,
            },
            group,
            work: None,
            effects: PendingEffects::default(),
            accesses: 0,
            seek_cylinders: 0,
            busy: 0,
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

    /// Counts an access, at whose end it is at `to`.
    #[inline]
    pub fn moved(&mut self, to: Arm, busy: Time) {
        self.accesses += 1;
        self.seek_cylinders += u64::from(self.at.cylinder.abs_diff(to.cylinder));
        self.busy += u128::from(busy.ns());
        self.at = to;
    }

    /// Forgets what was counted.
    pub fn forget_counts(&mut self) {
        (self.accesses, self.seek_cylinders, self.busy) = (0, 0, 0);
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

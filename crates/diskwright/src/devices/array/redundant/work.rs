//! Pieces of work of an array: requests of its parent, and what it does by itself.

use super::super::Member;
use super::contents::Contents;
use super::counters::Condition;
use super::journal::Logged;
use super::locks::Rows;
use super::plan::{Bad, Plan};
use crate::engine::children::{Ground, JobId, Passed};
use crate::engine::request::{Command, DeviceId, Op, RequestId};

/// What a piece of work is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: it has ended.
    #[default]
    None,
    /// A read, a write or a trim of the array.
    Request,
    /// A flush of the array.
    Flush,
    /// Blocks that are written to this spare, from this one up to that one.
    Rebuild { spare: DeviceId, from: u64, to: u64 },
    /// A flush of a spare that has all blocks.
    Seal { spare: DeviceId },
    /// Blocks of all members that are read and compared, from this one up to that one.
    Scrub { from: u64, to: u64 },
    /// The same of rows that may not fit together.
    Resync { from: u64, to: u64 },
    /// A flush of all members behind a resynchronisation or a replay.
    Settle,
    /// Pages of the bitmap.
    Marks,
    /// A flush of all members before marks are taken away.
    Unmark,
    /// Writes to the journal.
    Entries,
    /// A flush of all members, so that the journal has room again.
    Reclaim,
    /// The place of the oldest entry of the journal.
    Tail,
    /// An entry of the journal that is written to the members.
    Replay { entry: u64 },
}

impl Kind {
    /// Whether a run goes on for it where it is for no request.
    pub fn ground(&self) -> Ground {
        match self {
            // Of two arrays that scrub, one on the other, there may be one at work always.
            Kind::Scrub { .. } => Ground::Background,
            Kind::Marks | Kind::Unmark | Kind::Entries | Kind::Reclaim | Kind::Tail => {
                Ground::Behind
            }
            Kind::None
            | Kind::Request
            | Kind::Flush
            | Kind::Rebuild { .. }
            | Kind::Seal { .. }
            | Kind::Resync { .. }
            | Kind::Settle
            | Kind::Replay { .. } => Ground::Foreground,
        }
    }
}

/// A piece of work under way, or one that waits for its rows.
#[derive(Debug, Default)]
pub struct Work {
    pub kind: Kind,
    /// The request that it is for, and what that asks.
    pub request: Option<RequestId>,
    pub command: Command,
    /// In which condition the array was when it came.
    pub condition: Condition,
    pub job: Option<JobId>,
    /// The rows that it has, or waits for.
    pub rows: Option<Rows>,
    /// Earlier work that it waits for.
    pub blocked: u32,
    pub plan: Plan,
    /// Requests to members under way.
    pub left: u32,
    /// Some of its writes have been sent.
    pub has_written: bool,
    /// A read has failed: it is planned anew once nothing of it is under way.
    pub is_to_retry: bool,
    /// A member has failed in the middle of its writes.
    pub is_torn: bool,
    /// Requests are of one row each, to see which blocks cannot be read.
    pub is_single: bool,
    pub bad: Vec<Bad>,
    /// What it has read while it had its rows.
    pub have: Vec<Bad>,
    /// A write has failed, or was left out because its member has.
    pub has_failed_write: bool,
    pub passed: Option<Passed>,
    /// The number of a flush of all members.
    pub flush: u64,
    /// Pages of the bitmap that it writes.
    pub pages: Vec<u64>,
    /// It has its regions marked, or waits for that.
    pub has_mark: bool,
    pub logged: Logged,
    /// Its entry in the journal; of a write of the oldest one's place, the last one that does not count any more.
    pub entry: Option<u64>,
    /// The journal has no room for its data.
    pub is_too_large: bool,
    /// Some of what it reads was computed from redundancy that may not fit.
    pub is_in_doubt: bool,
    /// Some of what it reads was lost when it began to: a write may have replaced that meanwhile.
    pub is_lost: bool,
    /// What it knows of blocks, for the checker.
    pub contents: Contents,
}

impl Work {
    /// Makes it new, but for the memory.
    pub fn renew(&mut self, kind: Kind, request: Option<RequestId>, command: Command) {
        let (mut plan, mut bad, mut have, mut contents) = (
            std::mem::take(&mut self.plan),
            std::mem::take(&mut self.bad),
            std::mem::take(&mut self.have),
            std::mem::take(&mut self.contents),
        );
        plan.clear();
        bad.clear();
        have.clear();
        contents.clear();
        *self = Work {
            kind,
            request,
            command,
            plan,
            bad,
            have,
            contents,
            ..Work::default()
        };
    }

    /// Whether it is a write of the parent's of which some has gone to members.
    pub fn is_open_write(&self) -> bool {
        self.kind == Kind::Request && self.command.op == Op::Write && self.has_written
    }

    /// Whether something of a write is not where it should be.
    pub fn may_have_failed(&self) -> bool {
        self.has_failed_write || !self.plan.undone.is_empty()
    }

    /// Whether it makes redundancy anew, from what it has read of the others.
    pub fn makes_anew(&self) -> bool {
        matches!(self.kind, Kind::Scrub { .. } | Kind::Resync { .. })
    }

    /// Whether it has read these blocks already.
    pub fn has_read(&self, io: &Bad) -> bool {
        let has = |have: &Bad| have.slot == io.slot && have.from <= io.from && io.to <= have.to;
        self.have.iter().any(has)
    }
}

/// What a request to a member is part of.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub work: u32,
    pub slot: usize,
    pub is_write: bool,
    /// Its number among the reads or the writes of the plan.
    pub index: usize,
}

/// A place with nothing under way at this device.
pub fn fresh(device: crate::engine::request::DeviceId) -> Member {
    Member {
        device,
        outstanding: 0,
        head: crate::base::units::Lbn(0),
        has_failed: false,
    }
}

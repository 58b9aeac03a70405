//! Operations on pages and blocks, the workers that do them one at a time, and the channels between.

use crate::base::units::Time;
use crate::engine::request::RequestId;

/// The number of an operation; reused when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpId(pub u32);

const NONE: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Reads a page for the host.
    Read,
    /// Reads a page that a write changes in part.
    Merge,
    /// Writes a page of the host's.
    Program,
    /// Moves a page away from a block that is cleaned.
    Move,
    /// Erases a block.
    Erase,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It waits for its worker.
    Queued,
    /// The channel carries its command, then the array is read.
    Sense,
    /// Its data are in the page register, and wait for the channel.
    Register,
    /// The channel carries its data out.
    Out,
    /// The data of a page that is moved are in the controller, and wait for the channel.
    Back,
    /// The channel carries its command, and what it writes; then the array is written or erased, and with that it ends.
    Last,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub action: Action,
    pub phase: Phase,
    /// The request that it is for; none for cleaning.
    pub request: RequestId,
    /// The plane that it works on.
    pub plane: u32,
    /// The unit that it is about; of an erase the block.
    pub unit: u32,
    /// Where it reads.
    pub from: u32,
    /// Where it writes.
    pub to: u32,
    /// When it began to wait for its worker.
    pub queued: Time,
    /// It has waited for a free block.
    pub was_blocked: bool,
    /// What it has had of the channel and of the array.
    pub channel_time: Time,
    pub read_time: Time,
    pub program_time: Time,
    pub erase_time: Time,
    next: u32,
}

impl Operation {
    /// One that begins to wait.
    pub fn new(action: Action, request: RequestId, plane: u32, unit: u32) -> Operation {
        Operation {
            action,
            phase: Phase::Queued,
            request,
            plane,
            unit,
            from: NONE,
            to: NONE,
            queued: Time::ZERO,
            was_blocked: false,
            channel_time: Time::ZERO,
            read_time: Time::ZERO,
            program_time: Time::ZERO,
            erase_time: Time::ZERO,
            next: NONE,
        }
    }
}

/// The operations under way.
#[derive(Default)]
pub(super) struct Operations {
    entries: Vec<Operation>,
    free: Vec<u32>,
}

impl Operations {
    /// Adds one.
    #[inline]
    pub fn add(&mut self, operation: Operation) -> OpId {
        match self.free.pop() {
            Some(index) => {
                self.entries[index as usize] = operation;
                OpId(index)
            }
            None => {
                self.entries.push(operation);
                OpId(self.entries.len() as u32 - 1)
            }
        }
    }

    #[inline]
    pub fn get(&self, id: OpId) -> &Operation {
        &self.entries[id.0 as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: OpId) -> &mut Operation {
        &mut self.entries[id.0 as usize]
    }

    /// One is over.
    #[inline]
    pub fn remove(&mut self, id: OpId) {
        self.free.push(id.0);
    }

    /// Puts one at the end of a list.
    #[inline]
    pub fn push(&mut self, list: &mut List, id: OpId) {
        self.entries[id.0 as usize].next = NONE;
        match list.last {
            NONE => list.first = id.0,
            last => self.entries[last as usize].next = id.0,
        }
        list.last = id.0;
    }

    /// Takes out one that stands in a list behind `before`, or at its front.
    #[inline]
    pub fn take(&mut self, list: &mut List, before: Option<OpId>, id: OpId) {
        let next = self.entries[id.0 as usize].next;
        match before {
            None => list.first = next,
            Some(before) => self.entries[before.0 as usize].next = next,
        }
        if next == NONE {
            list.last = before.map_or(NONE, |before| before.0);
        }
    }

    /// The one that stands behind another.
    #[inline]
    pub fn after(&self, id: OpId) -> Option<OpId> {
        let next = self.entries[id.0 as usize].next;
        (next != NONE).then_some(OpId(next))
    }
}

/// Operations in the order in which they came.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    first: u32,
    last: u32,
}

impl Default for List {
    fn default() -> List {
        List {
            first: NONE,
            last: NONE,
        }
    }
}

impl List {
    #[inline]
    pub fn front(&self) -> Option<OpId> {
        (self.first != NONE).then_some(OpId(self.first))
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// What does one operation at a time: a die, or a package.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worker {
    /// What it does.
    pub current: Option<OpId>,
    pub reads: List,
    pub writes: List,
    pub cleaning: List,
    /// Programs of the host since the last operation of cleaning began.
    pub passed: u32,
    /// How long it has been busy in all, and since when it is.
    pub busy: Time,
    pub busy_since: Time,
}

impl Worker {
    /// Whether it could begin something.
    #[inline]
    pub fn has_work(&self) -> bool {
        let is_empty = self.reads.is_empty() && self.writes.is_empty() && self.cleaning.is_empty();
        self.current.is_none() && !is_empty
    }
}

/// A channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Channel {
    /// Until when it carries something.
    pub busy_until: Time,
    /// How long it has carried anything.
    pub busy: Time,
    /// The workers of the channel whose data wait to go out, or to go back in.
    pub transfers: List,
    /// The worker that is looked at first.
    pub turn: u32,
    /// Whether an alarm is set for the instant at which it is free.
    pub has_alarm: bool,
}

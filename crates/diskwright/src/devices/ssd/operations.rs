//! Operations on pages and blocks, the workers that do them one at a time, and the channels between.

use super::entries::EntryList;
use crate::base::units::Time;
use crate::engine::request::RequestId;

/// The number of an operation; reused when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpId(pub u32);

const NONE: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Reads units of a page for the host.
    Read,
    /// Reads a unit that an entry holds in part.
    Merge,
    /// Reads a unit of the map.
    MapRead,
    /// Writes a page of the host's.
    Program,
    /// Writes a page of the map.
    MapWrite,
    /// Writes the parity of a stripe that the host has filled.
    Parity,
    /// The next step of cleaning a plane: moves what is valid, or without any erases the block.
    Move,
    /// Reads a page of a superblock that is cleaned, and writes what was read, and the parity of a stripe of it.
    MoveRead,
    MoveWrite,
    MoveParity,
    /// Erases a block.
    Erase,
}

impl Action {
    /// Whether it programs or erases.
    #[inline]
    pub fn writes(self) -> bool {
        !matches!(
            self,
            Action::Read | Action::Merge | Action::MapRead | Action::MoveRead
        )
    }

    /// Whether it may be for no request of the host that is under way.
    #[inline]
    pub fn is_housekeeping(self) -> bool {
        !matches!(self, Action::Read | Action::Merge | Action::Program)
    }
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
    /// A move waits for the channel to carry the command of the next page that it reads.
    Again,
    /// The data of units that are moved are in the controller, and wait for the channel.
    Back,
    /// The channel carries its command, and what it writes; then the array is written or erased, and with that it ends.
    Last,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub action: Action,
    pub phase: Phase,
    /// The request that a read is for.
    pub request: RequestId,
    /// The plane that it works on.
    pub plane: u32,
    /// The first unit that it reads; of cleaning the block; of a merge the page that waits for it, an operation.
    pub unit: u32,
    /// Units that it reads; merges that a program waits for.
    pub count: u32,
    /// 512-byte blocks of them that the host wants.
    pub wanted: u32,
    /// What a program writes, or a merge is for.
    pub entries: EntryList,
    /// The stream of what a program writes.
    pub stream: u32,
    /// A slot of the page that it reads.
    pub from: u32,
    /// The first slot of the page that it writes.
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
    /// Another operation of the die that is done together with it.
    partner: u32,
}

/// The request of operations that are for none.
pub(super) const NO_REQUEST: RequestId = RequestId(u32::MAX);

impl Operation {
    /// One that begins to wait.
    fn new(action: Action, plane: u32) -> Operation {
        Operation {
            action,
            phase: Phase::Queued,
            request: NO_REQUEST,
            plane,
            unit: NONE,
            count: 0,
            wanted: 0,
            entries: EntryList::default(),
            stream: 0,
            from: NONE,
            to: NONE,
            queued: Time::ZERO,
            was_blocked: false,
            channel_time: Time::ZERO,
            read_time: Time::ZERO,
            program_time: Time::ZERO,
            erase_time: Time::ZERO,
            next: NONE,
            partner: NONE,
        }
    }

    /// Makes it one that begins to wait, written where it stays.
    #[inline]
    fn renew(&mut self, action: Action, plane: u32) {
        self.action = action;
        self.phase = Phase::Queued;
        self.request = NO_REQUEST;
        self.plane = plane;
        self.unit = NONE;
        self.count = 0;
        self.wanted = 0;
        self.entries = EntryList::default();
        self.stream = 0;
        self.from = NONE;
        self.to = NONE;
        self.queued = Time::ZERO;
        self.was_blocked = false;
        self.channel_time = Time::ZERO;
        self.read_time = Time::ZERO;
        self.program_time = Time::ZERO;
        self.erase_time = Time::ZERO;
        self.next = NONE;
        self.partner = NONE;
    }
}

/// The operations under way.
#[derive(Default)]
pub(super) struct Operations {
    entries: Vec<Operation>,
    free: Vec<u32>,
    /// How many there are that write.
    writing: u32,
}

impl Operations {
    /// Adds one that begins to wait.
    #[inline]
    pub fn add(&mut self, action: Action, plane: u32) -> OpId {
        self.writing += u32::from(action.writes());
        match self.free.pop() {
            Some(index) => {
                self.entries[index as usize].renew(action, plane);
                OpId(index)
            }
            None => self.add_behind(action, plane),
        }
    }

    /// Adds one where there is no entry for it yet.
    #[cold]
    fn add_behind(&mut self, action: Action, plane: u32) -> OpId {
        self.entries.push(Operation::new(action, plane));
        OpId(self.entries.len() as u32 - 1)
    }

    /// Adds a read of units for a request: the first unit is in a slot, and the request wants a number of 512-byte blocks of them.
    #[inline]
    pub fn add_read(
        &mut self,
        request: RequestId,
        plane: u32,
        (unit, count): (u32, u32),
        from: u32,
        wanted: u32,
    ) -> OpId {
        let id = self.add(Action::Read, plane);
        let read = self.get_mut(id);
        (read.request, read.from, read.wanted) = (request, from, wanted);
        (read.unit, read.count) = (unit, count);
        id
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
        self.writing -= u32::from(self.get(id).action.writes());
        self.free.push(id.0);
    }

    /// How many there are, and how many of them write.
    #[inline]
    pub fn live(&self) -> (u32, u32) {
        let live = self.entries.len() - self.free.len();
        (live as u32, self.writing)
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

    /// The operation before another in a list.
    #[inline]
    pub fn before(&self, list: &List, id: OpId) -> Option<OpId> {
        let (mut before, mut at) = (None, list.front());
        while let Some(here) = at
            && here != id
        {
            (before, at) = (Some(here), self.after(here));
        }
        before
    }

    /// The next operation that is done together with this one.
    #[inline]
    pub fn partner(&self, id: OpId) -> Option<OpId> {
        let partner = self.entries[id.0 as usize].partner;
        (partner != NONE).then_some(OpId(partner))
    }

    /// Changes an operation and those that are done together with it.
    #[inline]
    pub fn change(&mut self, id: OpId, change: impl Fn(&mut Operation)) {
        let operation = self.get_mut(id);
        change(operation);
        let partner = operation.partner;
        if partner != NONE {
            self.change_partners(OpId(partner), change);
        }
    }

    /// Few have any.
    #[inline(never)]
    fn change_partners(&mut self, first: OpId, change: impl Fn(&mut Operation)) {
        let mut at = Some(first);
        while let Some(id) = at {
            change(self.get_mut(id));
            at = self.partner(id);
        }
    }

    /// Has another done together with this one, behind those that are already.
    pub fn join(&mut self, id: OpId, other: OpId) {
        let mut last = id;
        while let Some(next) = self.partner(last) {
            last = next;
        }
        self.entries[last.0 as usize].partner = other.0;
    }

    /// An operation and those that are done together with it.
    pub fn together(&self, id: OpId) -> impl Iterator<Item = OpId> {
        std::iter::successors(Some(id), |&id| self.partner(id))
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

/// What does one operation at a time: a die, a package or a plane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worker {
    /// What it does.
    pub current: Option<OpId>,
    pub reads: List,
    pub writes: List,
    pub cleaning: List,
    /// Programs of the host since the last operation of cleaning began.
    pub passed: u32,
    /// Whether a block of its planes was to be refreshed since it last began a program of the host, or a read of any kind.
    pub owes_program: bool,
    pub owes_read: bool,
    /// How long it has been busy in all, and since when it is.
    pub busy: Time,
    pub busy_since: Time,
}

impl Worker {
    /// Whether it could begin something.
    #[inline]
    pub fn has_work(&self) -> bool {
        // One branch at most: which of the lists are empty cannot be foreseen.
        let is_empty = self.reads.is_empty() & self.writes.is_empty() & self.cleaning.is_empty();
        self.current.is_none() & !is_empty
    }

    /// Whether a read or a program waits for it.
    #[inline]
    pub fn is_waited_for(&self) -> bool {
        !(self.reads.is_empty() && self.writes.is_empty())
    }

    /// The queue of an action.
    #[inline]
    pub fn queue(&mut self, action: Action) -> &mut List {
        match action {
            Action::Read | Action::Merge | Action::MapRead => &mut self.reads,
            Action::Program | Action::MapWrite | Action::Parity => &mut self.writes,
            Action::Move
            | Action::MoveRead
            | Action::MoveWrite
            | Action::MoveParity
            | Action::Erase => &mut self.cleaning,
        }
    }
}

/// A channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Channel {
    /// Until when it carries something.
    pub busy_until: Time,
    /// How long it has carried anything.
    pub busy: Time,
    /// The operations whose data wait to go out, or to go back in.
    pub transfers: List,
    /// The worker that is looked at first.
    pub turn: u32,
    /// Its workers that may have something to begin, a bit each.
    pub ready: u64,
    /// The latest instant for which an alarm is set that has it looked at.
    pub alarm_at: Time,
}

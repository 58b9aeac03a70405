//! A request, the instants of its life and the parts its time divides into.

use serde::{Deserialize, Serialize};

use crate::base::units::{Lbn, Time};

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Read a run of blocks.
    #[default]
    Read,
    /// Write a run of blocks.
    Write,
    /// Make every acknowledged write durable; its run of blocks is empty.
    Flush,
    /// Forget the contents of a run of blocks.
    Trim,
    /// A command to a device with an NV cache. Devices without one refuse it.
    #[serde(skip)]
    NvCache(NvCacheCommand),
}

impl Op {
    /// The operation's name in specs and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Trim => "trim",
            Op::NvCache(command) => command.name(),
        }
    }

    /// How many numbers operations have.
    pub const NUMBERS: usize = 5;

    /// Its number among those that a workload has; behind these for a command to an NV cache, which no workload has.
    #[inline]
    pub const fn number(self) -> usize {
        match self {
            Op::Read => 0,
            Op::Write => 1,
            Op::Flush => 2,
            Op::Trim => 3,
            Op::NvCache(_) => 4,
        }
    }
}

/// A command to a device with an NV cache: those of ATA8-ACS (T13/1699-D, the NV Cache feature set), and access to the medium beneath it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NvCacheCommand {
    /// Add a run of blocks to the pinned set, without data: the next write of them brings these. Reads and writes of pinned blocks
    /// go to the NV cache.
    Pin,
    /// The same with Populate Immediate: their data are read from the medium at once.
    PinAndPopulate,
    /// Remove a run of blocks from the pinned set, with their data: from now on they are those of the medium.
    Unpin,
    /// Ask for a run of blocks whether they are pinned. The answer is [`Request::served_by`]: all of them (`Buffer`), some (`Both`), none
    /// (`Medium`).
    QueryPinned,
    /// Write the unpinned set to the medium, and empty it.
    FlushUnpinned,
    /// Begin NV cache power mode: the NV cache takes writes as long as it has room.
    PowerModeOn,
    /// End NV cache power mode.
    PowerModeOff,
    /// Read a run of blocks as if none of it was pinned.
    ReadMedium,
    /// Write a run of blocks to the medium although it may be pinned. The request is complete when they are there durably; older copies of
    /// them in the NV cache are void then.
    WriteMedium,
    /// [`Pin`](Self::Pin), and then a write of these blocks: two commands in one request. It is refused where the pin is, and where blocks are
    /// not pinned any more when the write's turn comes.
    PinAndWrite,
    /// [`WriteMedium`](Self::WriteMedium), and then [`Unpin`](Self::Unpin), which the request does not wait for: two commands in one request.
    /// Where the write fails, nothing is unpinned.
    WriteMediumAndUnpin,
}

impl NvCacheCommand {
    /// For code that treats the requests of workloads, which have no such command.
    ///
    /// # Panics
    /// Always.
    #[cold]
    pub fn is_in_no_workload(self) -> ! {
        unreachable!("{}: no workload has commands to an NV cache", self.name())
    }

    /// The command's name in results.
    pub const fn name(self) -> &'static str {
        match self {
            NvCacheCommand::Pin => "pin",
            NvCacheCommand::PinAndPopulate => "pin and populate",
            NvCacheCommand::Unpin => "unpin",
            NvCacheCommand::QueryPinned => "query pinned",
            NvCacheCommand::FlushUnpinned => "flush unpinned",
            NvCacheCommand::PowerModeOn => "power mode on",
            NvCacheCommand::PowerModeOff => "power mode off",
            NvCacheCommand::ReadMedium => "read medium",
            NvCacheCommand::WriteMedium => "write medium",
            NvCacheCommand::PinAndWrite => "pin and write",
            NvCacheCommand::WriteMediumAndUnpin => "write medium and unpin",
        }
    }
}

/// What a request asks of a device, without any history yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Read, write, flush or trim.
    pub op: Op,
    /// Force unit access: a write that may not be acknowledged from a volatile cache.
    pub fua: bool,
    /// First block.
    pub lbn: Lbn,
    /// Number of 512-byte blocks; 0 only for a flush.
    pub blocks: u32,
}

impl Command {
    /// The block after the last one.
    pub const fn end(&self) -> Lbn {
        self.lbn.after(self.blocks as u64)
    }

    /// Copies another one, field by field: a copy of the whole waits for what has only just been written in pieces.
    #[inline]
    pub fn copy_fields(&mut self, other: &Command) {
        self.op = other.op;
        self.fua = other.fua;
        self.lbn = other.lbn;
        self.blocks = other.blocks;
    }
}

/// How urgent a request is to the process that makes it. Queues with a scheme of priorities look at it; to all others requests are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Class {
    /// Nobody waits for it.
    #[default]
    Plain,
    /// Time-limited: a process waits for it if it is still under way after some time.
    Limited,
    /// Time-critical: a process waits for it.
    Critical,
}

impl Class {
    /// Whether a scheme of priorities prefers it to plain requests.
    pub const fn is_urgent(self) -> bool {
        !matches!(self, Class::Plain)
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Done.
    Ok,
    /// A block could not be read or written.
    MediaError,
    /// The device had failed or lost power.
    FailedDevice,
    /// The device does not know the command, or has no room for what it asks.
    Refused,
}

/// Where a drive had a request's data from, or put them before it was complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServedBy {
    /// From or to the medium.
    #[default]
    Medium,
    /// A read's first blocks from the buffer, the others from the medium.
    Both,
    /// From or to the buffer.
    Buffer,
}

/// When an acknowledged write survives a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promise {
    /// From its acknowledgement: the medium has it, or memory that keeps its content.
    #[default]
    Durable,
    /// From the next completed flush, or its acknowledgement if it was FUA.
    AfterFlush,
}

/// Declares the parts once: the enum, its names, and how many there are.
macro_rules! parts {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A part of the time from a request's start to its completion, along the critical path.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Part { $($(#[$doc])* $variant,)* }

        impl Part {
            /// Every part, in the order of [`Parts`].
            pub const ALL: &'static [Part] = &[$(Part::$variant,)*];
            /// How many parts there are.
            pub const COUNT: usize = Part::ALL.len();
            /// The part's name in results.
            pub const fn name(self) -> &'static str {
                match self { $(Part::$variant => $name,)* }
            }
        }
    };
}
parts! {
    /// The controller's handling of the command.
    Overhead = "overhead",
    /// Interface transfer for which nothing else is waited.
    Bus = "bus",
    /// Arm motion.
    Seek = "seek",
    /// Change of the active head within a cylinder.
    HeadSwitch = "head_switch",
    /// Extra settling before a write.
    Settle = "settle",
    /// Waiting for the platter to turn to the first sector, or once more round.
    Rotation = "rotation",
    /// Sectors passing under the head.
    Transfer = "transfer",
    /// Waiting for another request of the same device after the start.
    Wait = "wait",
    /// Positioning of a device of whose seeks and turns nothing is known.
    Positioning = "positioning",
    /// Looking up where data are on flash.
    Mapping = "mapping",
    /// Commands and data on a channel of flash.
    Channel = "channel",
    /// Flash arrays that are read.
    FlashRead = "flash_read",
    /// Flash arrays that are written.
    Program = "program",
    /// The erasing of a block, for which a write has waited.
    Erase = "erase",
    /// Waiting for the medium to come back from a low power state: for its spin-up, or its heads.
    Wake = "wake",
}

/// How the time from start to completion divides; the entries add up to it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts([Time; Part::COUNT]);

impl Default for Parts {
    #[inline]
    fn default() -> Parts {
        Parts([Time::ZERO; Part::COUNT])
    }
}

impl Parts {
    /// Adds `time` to one part.
    pub fn add(&mut self, part: Part, time: Time) {
        self.0[part as usize] += time;
    }
    /// Adds every part of others.
    #[inline]
    pub fn add_all(&mut self, others: &Parts) {
        for (time, &other) in self.0.iter_mut().zip(&others.0) {
            *time += other;
        }
    }
    /// One part.
    pub fn get(&self, part: Part) -> Time {
        self.0[part as usize]
    }
    /// Every part, in the order of [`Part::ALL`].
    pub fn all(&self) -> &[Time; Part::COUNT] {
        &self.0
    }
    /// All parts together.
    pub fn total(&self) -> Time {
        self.0.iter().copied().sum()
    }
    /// Seek, head switch, settle and rotation, or what stands for all of them: the access (positioning) time.
    pub fn access(&self) -> Time {
        self.get(Part::Seek)
            + self.get(Part::HeadSwitch)
            + self.get(Part::Settle)
            + self.get(Part::Rotation)
            + self.get(Part::Positioning)
    }
}

/// A device's number in the arena. Children are built before their parents and have smaller numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u32);

/// A request's number in the engine's slab; reused after the request's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u32);

/// The sequence of a child request of which its device does not say that it is for a request of the host.
pub const OF_NO_REQUEST: u64 = u64::MAX;

/// A request in flight: what it asks, the instants of its life, its parts.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What it asks.
    pub command: Command,
    /// The recorded or generated arrival at the host; for a child request, its submission.
    pub arrival: Time,
    /// Handed to the device.
    pub issue: Time,
    /// Admitted to the device's queue or cache.
    pub acceptance: Time,
    /// Picked.
    pub start: Time,
    /// Done.
    pub completion: Time,
    /// How start to completion divides.
    pub parts: Parts,
    /// What it kept its medium for, as the device that has the medium charges it: of a hard disk the positioning, of others the time for
    /// which they were occupied. This is the cost of a miss that replacement policies hear.
    pub media: Time,
    /// Where its data were.
    pub served_by: ServedBy,
    /// It was served in the access to the medium of another request, of which its parts are: that counts once.
    pub shares_access: bool,
    /// How it ended; `None` while it is under way.
    pub outcome: Option<Outcome>,
    /// The order in which the host's requests arrived, from 0; of a child request, that of the host's request that it is for,
    /// or [`OF_NO_REQUEST`].
    pub sequence: u64,
    /// Of which of the load's streams the host's request is that it is, or is for; 0 where there is none.
    pub stream: u32,
    /// How urgent the host's request is that it is, or is for.
    pub class: Class,
    /// The run does not go on for it alone.
    pub(crate) is_background: bool,
    /// The device that submitted it; `None` for the host.
    pub(crate) owner: Option<DeviceId>,
    /// The device that it was submitted to.
    pub(crate) device: DeviceId,
}

impl Request {
    pub(crate) fn new(
        command: Command,
        now: Time,
        owner: Option<DeviceId>,
        device: DeviceId,
    ) -> Request {
        let mut request = Request::default();
        request.renew(&command, now, owner, device);
        request
    }
    /// Makes it a new request, written where it stays.
    #[inline]
    fn renew(&mut self, command: &Command, now: Time, owner: Option<DeviceId>, device: DeviceId) {
        self.command.copy_fields(command);
        self.arrival = now;
        self.issue = now;
        self.acceptance = now;
        self.start = now;
        self.completion = now;
        self.parts = Parts::default();
        self.media = Time::ZERO;
        self.served_by = ServedBy::default();
        self.shares_access = false;
        self.outcome = None;
        self.sequence = if owner.is_some() { OF_NO_REQUEST } else { 0 };
        self.stream = 0;
        self.class = Class::default();
        self.is_background = false;
        self.owner = owner;
        self.device = device;
    }
    /// The sequence of the host's request that it is, or is for.
    pub fn of_host(&self) -> Option<u64> {
        (self.sequence != OF_NO_REQUEST).then_some(self.sequence)
    }
    /// Completion − arrival.
    pub fn response(&self) -> Time {
        self.completion - self.arrival
    }
    /// Completion − acceptance.
    pub fn service(&self) -> Time {
        self.completion - self.acceptance
    }
}

/// How many requests a device has, and how many it has asked of its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnderWay {
    pub(crate) requests: usize,
    pub(crate) of_children: usize,
}

/// The requests in flight. A request's number is reused once it has ended.
#[derive(Default)]
pub struct Slab {
    entries: Vec<Request>,
    free: Vec<u32>,
    /// Those of which the run does not go on for it alone, of all devices and of each.
    in_background: usize,
    of_device: Vec<u32>,
    /// What each device has under way, counted only where somebody asks for it.
    under_way: Option<Vec<UnderWay>>,
}

impl Slab {
    /// Adds a request, made where it stays.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        command: &Command,
        now: Time,
        owner: Option<DeviceId>,
        device: DeviceId,
    ) -> RequestId {
        self.count(owner, device, 1);
        match self.free.pop() {
            Some(index) => {
                self.entries[index as usize].renew(command, now, owner, device);
                RequestId(index)
            }
            None => self.insert_behind(Request::new(*command, now, owner, device)),
        }
    }
    /// Adds a request for which there is no entry yet.
    #[cold]
    fn insert_behind(&mut self, request: Request) -> RequestId {
        self.entries.push(request);
        RequestId((self.entries.len() - 1) as u32)
    }
    #[inline]
    pub(crate) fn get(&self, id: RequestId) -> &Request {
        &self.entries[id.0 as usize]
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.entries[id.0 as usize]
    }
    /// Has a request take over what another one has spent, from one place to the other.
    #[inline]
    pub(crate) fn take_over(&mut self, from: RequestId, request: RequestId) {
        let places = [from.0 as usize, request.0 as usize];
        let [from, request] = (self.entries.get_disjoint_mut(places)).expect("two requests");
        (request.acceptance, request.start) = (from.acceptance, from.start);
        (request.parts, request.media) = (from.parts, from.media);
        request.served_by = from.served_by;
        request.shares_access = from.shares_access;
    }
    /// Says that the run does not go on for this request alone.
    pub(crate) fn put_in_background(&mut self, id: RequestId) {
        let request = self.get_mut(id);
        request.is_background = true;
        let device = request.device.0 as usize;
        self.in_background += 1;
        if self.of_device.len() <= device {
            self.of_device.resize(device + 1, 0);
        }
        self.of_device[device] += 1;
    }
    #[inline]
    pub(crate) fn remove(&mut self, id: RequestId) {
        let Request {
            is_background,
            owner,
            device,
            ..
        } = *self.get(id);
        if is_background {
            self.leaves_background(device);
        }
        self.count(owner, device, -1);
        self.free.push(id.0);
    }
    #[inline(never)]
    fn leaves_background(&mut self, device: DeviceId) {
        self.of_device[device.0 as usize] -= 1;
        self.in_background -= 1;
    }
    /// Counts from now on, when nothing is under way, what each of so many devices has.
    pub(crate) fn count_by_device(&mut self, devices: usize) {
        debug_assert_eq!(self.entries.len(), self.free.len(), "nothing is under way");
        self.under_way = Some(vec![UnderWay::default(); devices]);
    }
    #[inline]
    fn count(&mut self, owner: Option<DeviceId>, device: DeviceId, change: isize) {
        if self.under_way.is_some() {
            self.count_under_way(owner, device, change);
        }
    }
    #[cold]
    fn count_under_way(&mut self, owner: Option<DeviceId>, device: DeviceId, change: isize) {
        let Some(under_way) = &mut self.under_way else {
            return;
        };
        let add = |count: &mut usize| {
            *count = (count.checked_add_signed(change)).expect("as many end as have begun");
        };
        add(&mut under_way[device.0 as usize].requests);
        // What a device asks of itself must be ended by itself.
        if let Some(owner) = owner.filter(|&owner| owner != device) {
            add(&mut under_way[owner.0 as usize].of_children);
        }
    }
    /// What each device has under way, where that [is counted](Self::count_by_device).
    pub(crate) fn by_device(&self) -> &[UnderWay] {
        self.under_way.as_deref().unwrap_or_default()
    }
    /// The numbers of the requests under way.
    pub(crate) fn live(&self) -> Vec<RequestId> {
        let mut is_live = vec![true; self.entries.len()];
        for &index in &self.free {
            is_live[index as usize] = false;
        }
        (0..self.entries.len() as u32)
            .filter(|&index| is_live[index as usize])
            .map(RequestId)
            .collect()
    }
    /// Requests under way, but for those in the background.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len() - self.in_background
    }
    /// Whether any is under way in the background.
    pub fn has_background(&self) -> bool {
        self.in_background > 0
    }
    /// Whether a device has any under way in the background.
    pub(crate) fn has_background_of(&self, device: u32) -> bool {
        self.of_device
            .get(device as usize)
            .is_some_and(|&count| count > 0)
    }
    /// Whether none is under way, but for those in the background.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

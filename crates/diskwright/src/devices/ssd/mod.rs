//! An SSD: requests cut into pages, channels that carry commands and data, dies or packages that do one thing at a time, cleaning. What it does
//! and when is defined in `docs/model/flash.md`.

mod ageing;
mod build;
mod cleaning;
mod counters;
mod die_trace;
pub mod drive;
mod entries;
mod expected;
mod failures;
mod initial;
mod legs;
mod levelling;
mod link;
mod log_build;
mod logged;
mod mapping;
mod operations;
mod overwrite;
mod pages;
mod phases;
mod picture;
mod pictured;
mod power;
mod queues;
mod recovery;
mod refusal;
mod requests;
mod scheduling;
mod shape;
mod slc;
pub mod spec;
mod steady;
mod striped;
mod striped_build;
mod suspend;
mod watch;
mod writes;

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::base::divide::ShortDivisor;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::access_times::AccessTimes;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location};
use crate::engine::request::{Part, Promise, RequestId};
use crate::engine::window::ArmTraceWindow;
use crate::models::flash::allocation::Allocation;
use crate::models::flash::blocks::Blocks;
use crate::models::flash::geometry::Geometry;
use crate::models::flash::map::PageMap;
use crate::models::flash::timing::TimingDescription;
use crate::models::flash::victims::Victims;
use crate::models::link::Link;
use crate::models::queue::SubmissionQueues;
use ageing::Ageing;
use cleaning::{Cleaning, Job};
use counters::SsdCounters;
use drive::ControllerDescription;
use failures::Failing;
use levelling::Levelling;
use logged::Logged;
use mapping::Mapping;
use operations::{Channel, Operations, Worker};
use phases::MultiPlane;
use picture::SsdPicture;
use power::DrivePower;
use recovery::Recovery;
use requests::OpenRequest;
use slc::SlcCache;
use steady::Steady;
use striped::Striped;
use suspend::Suspensions;
use writes::Writes;

/// What the time of its requests divides into.
const PARTS: [Part; 8] = [
    Part::Overhead,
    Part::Bus,
    Part::Wait,
    Part::Mapping,
    Part::Channel,
    Part::FlashRead,
    Part::Program,
    Part::Erase,
];

/// The same of a drive with figures of its power.
const PARTS_WITH_WAKE: [Part; 9] = {
    let mut parts = [Part::Wake; 9];
    parts.split_at_mut(8).0.copy_from_slice(&PARTS);
    parts
};

/// Kinds of alarms.
mod kinds {
    /// A request's command, and a write's data, are in the controller.
    pub const ARRIVED: u32 = 0;
    /// A request is complete.
    pub const COMPLETE: u32 = 1;
    /// A phase of a worker's operation is over.
    pub const WORKER: u32 = 2;
    /// A channel is free for which something waits.
    pub const CHANNEL: u32 = 3;
    /// The drive may have been idle for long enough to clean.
    pub const IDLE: u32 = 4;
    /// The entries of a list may have waited for a page full for long enough.
    pub const HOLD: u32 = 5;
    /// A low power state is due, or the drive is back from one.
    pub const POWER: u32 = 6;
    /// The drive may have been idle for long enough to fold its SLC cache.
    pub const FOLD: u32 = 7;
    /// A worker's operation is suspended.
    pub const SUSPENDED: u32 = 8;
    /// The drive looks for blocks that are too old.
    pub const PATROL: u32 = 9;
    /// The controller is ready for a write's data.
    pub const DATA: u32 = 10;
}

/// What an SSD is made of.
struct SsdParts {
    geometry: Geometry,
    timing: TimingDescription,
    allocation: Allocation,
    interface: ControllerDescription,
    link: Option<Box<Link>>,
    /// Planes of what does one thing at a time: a die, or a package.
    planes_of_worker: u32,
    copy_back: bool,
    multi_plane: Option<MultiPlane>,
    /// A read of a unit that was never written gives it its place.
    reads_allocate: bool,
    /// Blocks of each plane that hold the map.
    reserved: u32,
    depth: u32,
    queues: Option<Box<SubmissionQueues<RequestId>>>,
    units: u32,
    /// Units on flash that hold the map.
    map_units: u32,
    writes: Writes,
    recovery: Recovery,
    cleaning: Cleaning,
    victims: Box<dyn Victims>,
    chance: Stream,
    blocks: Blocks,
    endurance: Option<u32>,
    slc: Option<SlcCache>,
    suspensions: Option<Box<Suspensions>>,
    mapping: Option<Box<Mapping>>,
    log: Option<Box<Logged>>,
    stripes: Option<Box<Striped>>,
    levelling: Option<Box<Levelling>>,
    ageing: Option<Box<Ageing>>,
    failing: Option<Box<Failing>>,
    steady: Steady,
    power: Option<Box<DrivePower>>,
}

/// An SSD.
struct Ssd {
    geometry: Geometry,
    timing: TimingDescription,
    allocation: Allocation,
    interface: ControllerDescription,
    /// The link to the host by its standard; else the interface has its rate.
    link: Option<Box<Link>>,
    by_worker: ShortDivisor,
    workers_of_channel: u32,
    copy_back: bool,
    multi_plane: Option<MultiPlane>,
    reads_allocate: bool,
    reserved: u32,
    depth: u32,
    endurance: Option<u32>,
    slc: Option<SlcCache>,
    suspensions: Option<Box<Suspensions>>,
    mapping: Option<Box<Mapping>>,
    /// The map of blocks, of a drive whose map is not one of pages.
    log: Option<Box<Logged>>,
    /// The superblocks of a drive with parity over its dies.
    stripes: Option<Box<Striped>>,
    levelling: Option<Box<Levelling>>,
    ageing: Option<Box<Ageing>>,
    failing: Option<Box<Failing>>,

    /// Units that the host sees; those behind them hold the map.
    host_units: u32,
    map: PageMap,
    blocks: Blocks,
    /// The next place of each group of planes at which a page is written.
    next_member: Vec<u32>,
    /// Units of each plane whose programs have not begun.
    queued: Vec<u32>,
    writes: Writes,
    recovery: Recovery,

    operations: Operations,
    workers: Vec<Worker>,
    channels: Vec<Channel>,
    /// The channels that are looked at when the instant is quiet.
    to_schedule: u64,
    /// There are programs for which their plane has neither room nor anything to clean.
    has_stuck: bool,

    cleaning: Cleaning,
    victims: Box<dyn Victims>,
    chance: Stream,
    /// The blocks of each plane that are being cleaned.
    jobs: Vec<Vec<Job>>,

    open: Vec<OpenRequest>,
    serving: u32,
    /// Requests that have no slot of the queue, where it has one queue; else they wait in `queues`.
    waiting: VecDeque<RequestId>,
    queues: Option<Box<SubmissionQueues<RequestId>>>,
    /// Requests of which everything is done, and that have not been told so.
    done: Vec<RequestId>,
    /// When the link to the host has carried all that it was given, and the one from it.
    link_out: Time,
    link_in: Time,
    /// Since when it has served no request.
    idle_since: Time,
    read_only_since: Option<Time>,

    counters: SsdCounters,
    steady: Steady,
    /// What it draws, where that is known.
    power: Option<Box<DrivePower>>,
    picture: Option<Box<SsdPicture>>,
}

impl Ssd {
    fn new(parts: SsdParts) -> Ssd {
        let geometry = parts.geometry;
        let planes = geometry.all_planes();
        let workers = planes / parts.planes_of_worker;
        Ssd {
            map: PageMap::new(parts.units + parts.map_units, geometry.slots()),
            next_member: vec![0; parts.allocation.groups() as usize],
            queued: vec![0; planes as usize],
            operations: Operations::default(),
            workers: vec![Worker::default(); workers as usize],
            channels: vec![Channel::default(); geometry.channels as usize],
            to_schedule: 0,
            has_stuck: false,
            jobs: vec![Vec::new(); planes as usize],
            open: Vec::new(),
            serving: 0,
            waiting: VecDeque::new(),
            queues: parts.queues,
            done: Vec::new(),
            writes: parts.writes,
            recovery: parts.recovery,
            link_out: Time::ZERO,
            link_in: Time::ZERO,
            idle_since: Time::ZERO,
            read_only_since: None,
            counters: SsdCounters::default(),
            geometry,
            timing: parts.timing,
            allocation: parts.allocation,
            interface: parts.interface,
            link: parts.link,
            by_worker: ShortDivisor::new(parts.planes_of_worker),
            workers_of_channel: geometry.planes_of_channel() / parts.planes_of_worker,
            copy_back: parts.copy_back,
            multi_plane: parts.multi_plane,
            reserved: parts.reserved,
            reads_allocate: parts.reads_allocate,
            depth: parts.depth,
            endurance: parts.endurance,
            slc: parts.slc,
            suspensions: parts.suspensions,
            mapping: parts.mapping,
            log: parts.log,
            stripes: parts.stripes,
            levelling: parts.levelling,
            ageing: parts.ageing,
            failing: parts.failing,
            host_units: parts.units,
            blocks: parts.blocks,
            cleaning: parts.cleaning,
            victims: parts.victims,
            chance: parts.chance,
            steady: parts.steady,
            power: parts.power,
            picture: None,
        }
    }

    /// An alarm that most drives do not set, or few times.
    #[inline(never)]
    fn other_alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            kinds::HOLD => self.held_long_enough(token.value(), cx),
            kinds::POWER => self.power_rings(cx),
            kinds::FOLD => self.fold_when_idle(cx),
            kinds::SUSPENDED => self.suspended(token.value(), cx),
            kinds::PATROL => self.patrol(cx),
            kinds::DATA => self.takes_data(token.request(), cx),
            _ => self.clean_when_idle(cx),
        }
    }

    /// The first 512-byte block of a slot on the medium, as the checker knows it.
    fn lbn_of_slot(&self, slot: u32) -> u64 {
        u64::from(slot) * u64::from(self.geometry.unit_blocks)
    }
}

impl Device for Ssd {
    fn prepare(&mut self, cx: &mut Context<'_>) {
        self.prepare_recovery(cx);
        self.set_patrol(cx);
        self.idle(cx);
        self.follow_power(cx);
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        if let Some(next) = cx.foreseen() {
            self.map.prefetch(self.unit_of(next));
        }
        self.accept_request(request, cx);
        self.end_event(cx);
        self.follow_power(cx);
        self.note_picture(cx.now());
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            kinds::ARRIVED => self.arrived(token.request(), cx),
            kinds::COMPLETE => self.complete(token.request(), cx),
            kinds::WORKER => self.phase_over(token.value(), cx),
            kinds::CHANNEL => self.schedule(token.value(), cx),
            _ => self.other_alarm(token, cx),
        }
        self.end_event(cx);
        self.follow_power(cx);
        self.note_picture(cx.now());
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        if !self.is_asleep() {
            self.start_operations(cx);
        }
        // A drive that turns read-only gives up requests.
        self.end_event(cx);
        self.follow_power(cx);
        self.note_picture(cx.now());
    }

    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        if fault == Fault::PowerLost {
            self.power_lost(cx);
        }
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        if self.is_asleep() {
            return 0;
        }
        let waiting = match &self.queues {
            Some(queues) => queues.fetchable(),
            None => self.waiting.len(),
        };
        waiting.min((self.depth - self.serving) as usize)
    }

    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: self.serving + self.waiting() as u32,
            free_slots: self.depth - self.serving,
            is_down: false,
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        if copy > 0 {
            return None;
        }
        let blocks = u64::from(self.geometry.unit_blocks);
        let (unit, block) = ((lbn.0 / blocks) as u32, (lbn.0 % blocks) as u32);
        let place = self.place_of(unit, block);
        Some(place.map_or(Location::Nowhere, |at| Location::Here(Lbn(at))))
    }

    fn promise(&self) -> Promise {
        match self.writes.buffer {
            Some(buffer) if !buffer.has_capacitor => Promise::AfterFlush,
            _ => Promise::Durable,
        }
    }

    fn blocks(&self) -> u64 {
        u64::from(self.host_units) * u64::from(self.geometry.unit_blocks)
    }

    fn access_times(&self) -> Option<AccessTimes> {
        Some(self.expected())
    }

    fn parts(&self) -> &'static [Part] {
        match self.power {
            Some(_) => &PARTS_WITH_WAKE,
            None => &PARTS,
        }
    }

    fn measure_from(&mut self, now: Time) {
        self.measure_picture_from(now);
        self.count_anew(now);
        if let Some(power) = &mut self.power {
            power.measure_from(now);
        }
    }

    fn measure_until(&mut self, now: Time) {
        self.count_until(now);
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        self.report_all(elapsed)
    }

    fn power_report(&self, from: Time, to: Time) -> Option<Map<String, Value>> {
        let power = self.power.as_ref()?;
        Some(power.report(from, to))
    }

    fn collect_picture(&mut self, window: Option<&ArmTraceWindow>) {
        self.begin_picture(window);
        if let Some(power) = &mut self.power {
            power.collect_picture();
        }
    }

    fn picture(&self) -> Option<Map<String, Value>> {
        self.picture_json()
    }

    fn warnings(&self) -> Vec<String> {
        self.doubts()
    }
}

#[cfg(test)]
mod initial_tests;
#[cfg(test)]
mod tests;

//! A controller: a device between a host's driver and one or more devices, whose blocks it has one after the other. `docs/controller.md`
//! defines it; it follows the controllers of DiskSim 4.0.
//!
//! A request is cut into pieces of a largest size, which are worked on one after the other. Without a cache a piece is passed on. With a
//! memory cache, or with a device that caches the others, it goes through stages: it locks its blocks, its lines get places,
//! what is missing is fetched, data are moved to the host or from it, and what has to be written is. What a device is asked waits in
//! a queue of that device's.

mod cache_device;
mod counters;
mod idle;
mod locks;
mod memory;
mod memory_fetches;
mod memory_spec;
mod operations;
mod queues;
mod runs;
pub mod spec;
mod stages;
mod work;
mod write_backs;

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location};
use crate::engine::request::{DeviceId, Op, Part, Promise, RequestId};
use crate::models::queue::Scheduler;
use cache_device::CacheDevice;
use counters::ControllerCounters;
use idle::Idle;
use locks::Locks;
use memory::Memory;
use operations::Operations;
use queues::{ChildQueue, JoinSpec};
use work::{WorkId, Works};

/// A device that a controller is built of.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its number in the arena.
    pub device: DeviceId,
    /// Its capacity in blocks.
    pub blocks: u64,
    /// What it promises.
    pub promise: Promise,
}

/// What a spec says of a controller itself.
#[derive(Clone, Copy, Debug)]
struct Settings {
    /// Requests that it works on at a time.
    pub queue: u32,
    /// What a message takes, to a device, from one, or to the host.
    pub message: Time,
    /// Whether it handles one message at a time.
    pub is_exclusive: bool,
    /// What a block takes between the host and its cache.
    pub block: Time,
    /// The most blocks of a piece.
    pub most: u32,
}

/// What is between the host and the devices.
enum Cache {
    None,
    Memory(Box<Memory>),
    Device(Box<CacheDevice>),
}

/// Kinds of alarms: a message has come to a device, from one, or to the host; data have been moved; the devices have been idle for long
/// enough; dirty data are to be written.
const SENT: u32 = 0;
const ANSWERED: u32 = 1;
const TOLD: u32 = 2;
const MOVED: u32 = 3;
const IDLE: u32 = 4;
const PERIOD: u32 = 5;

/// A controller.
pub struct Controller {
    settings: Settings,
    /// The devices that have its blocks, and then the one that caches them, where there is one.
    queues: Vec<ChildQueue>,
    /// How many of them have its blocks.
    addressed: usize,
    cache: Cache,
    locks: Locks,
    works: Works,
    operations: Operations,
    /// Work that waits for nothing.
    ready: VecDeque<WorkId>,
    /// Requests that wait until it works on fewer, and how many it works on.
    outside: VecDeque<RequestId>,
    active: u32,
    /// Flushes of the host by the work for whose end they wait.
    flushed_by: HashMap<WorkId, Vec<WorkId>, FixedState>,
    /// When it has handled the last message, where it handles one at a time, and when it has moved the last data.
    messages_until: Time,
    moves_until: Time,
    idle: Idle,
    /// Blocks that could not be written after they had left the memory cache.
    lost_blocks: u64,
    counters: ControllerCounters,
    /// Kept for their memory.
    granted: Vec<WorkId>,
    parts: Vec<u32>,
}

/// What a controller is made of.
struct ControllerParts {
    pub settings: Settings,
    /// The devices that have its blocks, each with the scheduler of its queue.
    pub devices: Vec<(Child, Box<dyn Scheduler>)>,
    /// Operations under way in a device at most, and which are joined.
    pub outstanding: u32,
    pub join: Option<JoinSpec>,
    pub cache: CacheParts,
}

/// What its cache is made of.
enum CacheParts {
    None,
    Memory(Box<Memory>, Locks),
    Device(Box<CacheDevice>, (Child, Box<dyn Scheduler>)),
}

impl Controller {
    /// A controller at rest, with an empty cache.
    fn new(parts: ControllerParts) -> Controller {
        let ControllerParts {
            settings,
            devices,
            outstanding,
            join,
            cache,
        } = parts;
        let mut base = 0;
        let mut queues = Vec::with_capacity(devices.len() + 1);
        for (child, scheduler) in devices {
            queues.push(ChildQueue::new(child, base, scheduler, outstanding, join));
            base += child.blocks;
        }
        let addressed = queues.len();
        let (cache, locks) = match cache {
            CacheParts::None => (Cache::None, Locks::new(1, true)),
            CacheParts::Memory(memory, locks) => (Cache::Memory(memory), locks),
            CacheParts::Device(device, (child, scheduler)) => {
                queues.push(ChildQueue::new(child, 0, scheduler, outstanding, join));
                (Cache::Device(device), Locks::new(1, true))
            }
        };
        let idle = Idle::new(match &cache {
            Cache::None => None,
            Cache::Memory(memory) => memory.rules.idle,
            Cache::Device(device) => device.idle,
        });
        Controller {
            settings,
            counters: ControllerCounters::new(queues.len()),
            queues,
            addressed,
            cache,
            locks,
            works: Works::default(),
            operations: Operations::default(),
            ready: VecDeque::new(),
            outside: VecDeque::new(),
            active: 0,
            flushed_by: HashMap::default(),
            messages_until: Time::ZERO,
            moves_until: Time::ZERO,
            idle,
            lost_blocks: 0,
            granted: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn memory(&mut self) -> &mut Memory {
        match &mut self.cache {
            Cache::Memory(memory) => memory,
            _ => unreachable!("asked for with a memory cache only"),
        }
    }

    fn cache_device(&mut self) -> &mut CacheDevice {
        match &mut self.cache {
            Cache::Device(device) => device,
            _ => unreachable!("asked for with a cache device only"),
        }
    }

    /// When a message that is sent now has come, unless that is at once.
    fn message(&mut self, cx: &Context<'_>) -> Option<Time> {
        let Settings {
            message,
            is_exclusive,
            ..
        } = self.settings;
        if message == Time::ZERO {
            return None;
        }
        if !is_exclusive {
            return Some(cx.now() + message);
        }
        self.messages_until = self.messages_until.max(cx.now()) + message;
        Some(self.messages_until)
    }

    /// Takes up requests, as many as it works on at a time.
    fn admit(&mut self, cx: &mut Context<'_>) {
        while self.active < self.settings.queue
            && let Some(request) = self.outside.pop_front()
        {
            self.begin(request, cx);
        }
    }

    /// Goes on with all that waits for nothing.
    fn run(&mut self, cx: &mut Context<'_>) {
        while let Some(id) = self.ready.pop_front() {
            self.go_on(id, cx);
        }
        self.dispatch(cx);
        self.look_for_idleness(cx);
        self.look_for_dirt(cx);
    }

    /// Something that work waits for is over.
    fn one_less(&mut self, id: WorkId) {
        let work = self.works.get_mut(id);
        work.left -= 1;
        if work.left == 0 {
            self.ready.push_back(id);
        }
    }

    /// Those who wait for blocks that have become free go on.
    fn wake_granted(&mut self) {
        let mut granted = std::mem::take(&mut self.granted);
        for id in granted.drain(..) {
            self.hold_lines(id);
            self.ready.push_back(id);
        }
        self.granted = granted;
    }

    /// Requests that it would take up now.
    fn free_slots(&self) -> u32 {
        let outside = self.outside.len() as u32;
        (self.settings.queue - self.active).saturating_sub(outside)
    }

    /// Divides the time of a request up to now.
    fn account_for(&mut self, id: WorkId, part: Part, cx: &mut Context<'_>) {
        let now = cx.now();
        let work = self.works.get_mut(id);
        let Some(request) = work.request else {
            return;
        };
        let time = now - work.accounted;
        work.accounted = now;
        cx.request_mut(request).parts.add(part, time);
    }
}

impl Device for Controller {
    fn children(&self) -> Vec<DeviceId> {
        self.queues.iter().map(|queue| queue.child.device).collect()
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.outside.push_back(request);
        self.admit(cx);
        self.run(cx);
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            SENT => self.send(token.value(), cx),
            ANSWERED => self.answered(token.value(), cx),
            TOLD => self.told(WorkId(token.value()), cx),
            MOVED => self.ready.push_back(WorkId(token.value())),
            IDLE => self.idle_for_long(cx),
            PERIOD => self.period_is_over(cx),
            _ => unreachable!("{token:?} is of no kind"),
        }
        self.run(cx);
    }

    fn child_completed(&mut self, _child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        self.came_back(request, cx);
        self.run(cx);
    }

    fn fault(&mut self, fault: Fault, _cx: &mut Context<'_>) {
        let Fault::ChildFailed(child) = fault else {
            return;
        };
        for queue in &mut self.queues {
            queue.has_failed |= queue.child.device == child;
        }
        if let Cache::Device(device) = &mut self.cache
            && self.queues[self.addressed].has_failed
        {
            device.fails();
        }
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        let outside = match self.active < self.settings.queue {
            true => self.outside.len(),
            false => 0,
        };
        let inside = self.queues.iter().map(ChildQueue::neglected);
        outside + self.ready.len() + self.locks.forgotten() + inside.sum::<usize>()
    }

    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus {
        let is_down = |queue: &ChildQueue| {
            let index = queue.child.device.0 as usize;
            !queue.has_failed && below[index].status(now, &below[..index]).is_down
        };
        DeviceStatus {
            outstanding: self.active + self.outside.len() as u32,
            free_slots: self.free_slots(),
            is_down: self.queues[..self.addressed].iter().any(is_down),
        }
    }

    fn stand_by(&mut self, cx: &mut Context<'_>) {
        for queue in self.queues.iter().filter(|queue| !queue.has_failed) {
            cx.stand_by(queue.child.device);
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        let on = |queue: &ChildQueue| Location::On(queue.child.device, Lbn(lbn.0 - queue.base));
        if copy > 0 {
            return None;
        }
        Some(match &self.cache {
            Cache::Device(device) if device.is_lost(lbn.0) => return None,
            Cache::Device(device) if device.is_newest(lbn.0) => on(&self.queues[self.addressed]),
            _ => on(&self.queues[self.child_of(lbn.0)]),
        })
    }

    fn blocks(&self) -> u64 {
        self.queues[self.addressed - 1].end()
    }

    fn promise(&self) -> Promise {
        let is_volatile = match &self.cache {
            Cache::Memory(memory) => memory.is_volatile(),
            Cache::None | Cache::Device(_) => false,
        };
        let mut devices = self.queues[..self.addressed].iter();
        match is_volatile || devices.any(|queue| queue.child.promise != Promise::Durable) {
            true => Promise::AfterFlush,
            false => Promise::Durable,
        }
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Overhead, Part::Bus, Part::Wait]
    }

    fn measure_from(&mut self, _now: Time) {
        self.counters.forget();
    }

    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        self.counters.report(self)
    }

    fn warnings(&self) -> Vec<String> {
        let (lost, what_failed) = match &self.cache {
            Cache::Device(device) => (device.lost_blocks(), "the cache device"),
            _ => (self.lost_blocks, "the device that they belong to"),
        };
        match lost {
            0 => Vec::new(),
            lost => vec![format!(
                "{lost} dirty blocks were lost: {what_failed} had failed"
            )],
        }
    }
}

/// Whether an operation of the host has blocks of its own.
fn has_blocks(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write | Op::Trim)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin_tests;

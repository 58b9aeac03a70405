//! The loop: the timeline, the arena of devices, the slab of requests, the checker.
//!
//! Within one instant: first the alarms that are due, in the order in which they were set, then the
//! messages of this instant, first in first out, until none is left; then the first device that asked to be
//! woken, then messages again, until neither is left. Only the future goes through the timeline.
//! Nothing else decides the order, so a run is the same on every machine.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::engine::checker::Checker;
use crate::engine::device::{Context, Device, Kernel, Message};
use crate::engine::request::{Command, DeviceId, Outcome, Part, Parts, Request, RequestId, Slab};
use crate::engine::timeline::Timeline;
use crate::engine::token::Token;

/// The owner that alarms of the initiator carry in the timeline.
const INITIATOR: u32 = u32::MAX;

/// The owner of the alarm at which the power fails.
const POWER: u32 = u32::MAX - 1;

/// The last instant that a simulation may reach, 292 years: no span that is added to an earlier one overflows.
const HORIZON: Time = Time::from_ns(u64::MAX / 2);

/// How many instants pass between two looks at the wall clock.
const INSTANTS_PER_TICK: u32 = 4096;

/// What makes requests and hears of their completion: the host.
pub trait Initiator {
    /// Called once, at time zero.
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error>;
    /// An alarm that the initiator set is due.
    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error>;
    /// A request is complete; it is forgotten afterwards.
    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error>;
    /// The power has failed: nothing more can be issued. The completions that follow are those of lost requests.
    fn power_lost(&mut self, now: Time);
    /// Called now and then with some wall time in between; `Break` stops the run.
    fn tick(&mut self) -> ControlFlow<()>;
}

/// What an initiator may do: its side of the root device.
pub struct Port<'a> {
    root: DeviceId,
    kernel: &'a mut Kernel,
}

impl Port<'_> {
    /// The present instant.
    pub fn now(&self) -> Time {
        self.kernel.now
    }
    /// Sets an alarm for the initiator.
    pub fn alarm(&mut self, at: Time, token: Token) {
        self.kernel.timeline.set(at, INITIATOR, token);
    }
    /// Hands a request that arrived at `arrival` to the root device.
    pub fn submit(&mut self, command: Command, arrival: Time, sequence: u64) -> RequestId {
        let mut request = Request::new(command, self.kernel.now, None, self.root);
        request.arrival = arrival;
        request.sequence = sequence;
        let id = self.kernel.requests.insert(request);
        if let Some(checker) = &mut self.kernel.checker {
            checker.issued(id, &command);
        }
        self.kernel.messages.push_back(Message::Accept {
            device: self.root,
            request: id,
        });
        id
    }
    /// A request.
    pub fn request(&self, id: RequestId) -> &Request {
        self.kernel.requests.get(id)
    }
}

/// Adds the media that hold a block of a device, and its place on each.
fn hold(
    devices: &[Box<dyn Device>],
    (id, lbn): (DeviceId, Lbn),
    media: &mut Vec<Option<(DeviceId, u64)>>,
) {
    let device = &devices[id.0 as usize];
    if device.holder(lbn).is_none() {
        return media.push(device.place(lbn).map(|place| (id, place.0)));
    }
    for below in (0..).map_while(|copy| device.copy(lbn, copy)) {
        hold(devices, below, media);
    }
}

/// A tree of devices and the time that passes in it.
pub struct Engine {
    devices: Vec<Box<dyn Device>>,
    kernel: Kernel,
}

impl Engine {
    /// An engine over `devices`, children before their parents; the last one is the root.
    pub fn new(devices: Vec<Box<dyn Device>>, checker: Option<Box<Checker>>) -> Engine {
        assert!(!devices.is_empty(), "a simulation has at least one device");
        let kernel = Kernel {
            now: Time::ZERO,
            timeline: Timeline::default(),
            messages: VecDeque::new(),
            wakes: VecDeque::new(),
            requests: Slab::default(),
            checker,
        };
        Engine { devices, kernel }
    }

    /// Cuts the power at an instant, before anything else that happens in it, and ends the run there.
    pub fn cut_power(&mut self, at: Time) {
        self.kernel.timeline.set(at, POWER, Token::new(0, 0));
    }

    /// Runs until nothing is left to happen, or until the power is cut.
    ///
    /// # Errors
    /// Those of the initiator, an interruption by it, and a run past 292 years of simulated time.
    pub fn run(&mut self, initiator: &mut impl Initiator) -> Result<(), Error> {
        for device in &mut self.devices {
            device.prepare();
        }
        initiator.start(&mut self.port())?;
        self.deliver(initiator)?;
        let mut instants = 0u32;
        while let Some(now) = self.kernel.timeline.next_time() {
            debug_assert!(now >= self.kernel.now, "time went back");
            if now > HORIZON {
                return Err(Error::input(format!(
                    "the run goes past {HORIZON} of simulated time"
                )));
            }
            self.kernel.now = now;
            while let Some(due) = self.kernel.timeline.pop_due(now) {
                match due.owner {
                    INITIATOR => initiator.alarm(due.token, &mut self.port())?,
                    POWER => return self.lose_power(initiator),
                    owner => {
                        let (device, mut cx) = self.device(DeviceId(owner));
                        device.alarm(due.token, &mut cx);
                    }
                }
            }
            self.deliver(initiator)?;
            instants += 1;
            if instants == INSTANTS_PER_TICK {
                instants = 0;
                if initiator.tick().is_break() {
                    return Err(Error::Interrupted);
                }
            }
        }
        match self.kernel.requests.len() {
            0 => Ok(()),
            left => Err(Error::Simulation(format!(
                "nothing is left to happen, but {left} requests were never completed"
            ))),
        }
    }

    /// Checks what can be recovered, and ends what the host has under way with an error.
    fn lose_power(&mut self, initiator: &mut impl Initiator) -> Result<(), Error> {
        let now = self.kernel.now;
        let root = self.port().root;
        initiator.power_lost(now);
        for device in &mut self.devices {
            device.power_lost(now);
        }
        if let Some(checker) = &mut self.kernel.checker {
            let devices = &self.devices;
            checker.power_cut(|lbn, media| hold(devices, (root, Lbn(lbn)), media));
        }
        let requests = &mut self.kernel.requests;
        let mut lost = requests.live();
        lost.retain(|&id| requests.get(id).owner.is_none());
        lost.sort_unstable_by_key(|&id| requests.get(id).sequence);
        for id in lost {
            let request = self.kernel.requests.get_mut(id);
            // What waited has no parts, or was to start later; what had begun was cut short.
            if request.parts.total() == Time::ZERO || request.start > now {
                request.start = now;
            }
            request.parts = Parts::default();
            request.parts.add(Part::Wait, now - request.start);
            request.completion = now;
            request.outcome = Some(Outcome::FailedDevice);
            if let Some(checker) = &mut self.kernel.checker {
                checker.completed(id, self.kernel.requests.get(id));
            }
            initiator.completed(id, &mut self.port())?;
        }
        Ok(())
    }

    /// The present instant: after a run, the last one at which anything happened.
    pub fn now(&self) -> Time {
        self.kernel.now
    }

    /// The devices, children before their parents.
    pub fn devices(&self) -> &[Box<dyn Device>] {
        &self.devices
    }

    /// The checker, when it is on.
    pub fn checker(&self) -> Option<&Checker> {
        self.kernel.checker.as_deref()
    }

    fn port(&mut self) -> Port<'_> {
        Port {
            root: DeviceId((self.devices.len() - 1) as u32),
            kernel: &mut self.kernel,
        }
    }

    fn device(&mut self, id: DeviceId) -> (&mut Box<dyn Device>, Context<'_>) {
        let (below, rest) = self.devices.split_at_mut(id.0 as usize);
        (
            &mut rest[0],
            Context {
                device: id,
                below,
                kernel: &mut self.kernel,
            },
        )
    }

    /// Handles all that is left of the present instant.
    fn deliver(&mut self, initiator: &mut impl Initiator) -> Result<(), Error> {
        loop {
            self.deliver_messages(initiator)?;
            let Some(id) = self.kernel.wakes.pop_front() else {
                return Ok(());
            };
            let (device, mut cx) = self.device(id);
            device.wake(&mut cx);
        }
    }

    fn deliver_messages(&mut self, initiator: &mut impl Initiator) -> Result<(), Error> {
        while let Some(message) = self.kernel.messages.pop_front() {
            match message {
                Message::Accept { device, request } => {
                    let (device, mut cx) = self.device(device);
                    device.accept(request, &mut cx);
                }
                Message::Completed { request } => {
                    let entry = self.kernel.requests.get(request);
                    let child = entry.device;
                    match entry.owner {
                        Some(owner) => {
                            let (device, mut cx) = self.device(owner);
                            device.child_completed(child, request, &mut cx);
                            let Kernel {
                                checker, requests, ..
                            } = &mut self.kernel;
                            if let Some(checker) = checker {
                                checker.ended(request, requests.get(request));
                            }
                        }
                        None => {
                            if let Some(checker) = &mut self.kernel.checker {
                                checker.completed(request, self.kernel.requests.get(request));
                            }
                            initiator.completed(request, &mut self.port())?;
                        }
                    }
                    self.kernel.requests.remove(request);
                }
            }
        }
        Ok(())
    }
}

//! The loop: the timeline, the arena of devices, the slab of requests, the checker.
//!
//! Within one instant: first the alarms that are due, in the order in which they were set, then the
//! messages of this instant, first in first out, until none is left; then the first device that asked to be
//! woken, then messages again, until neither is left. Only the future goes through the timeline.
//! Nothing else decides the order, so a run is the same on every machine.
//!
//! Devices that have failed are not called any more. Faults are alarms of the engine's own, set before the run, and so come first in their
//! instants.

use std::ops::ControlFlow;

use crate::base::error::Error;
use crate::base::fifo::Fifo;
use crate::base::units::Time;
use crate::engine::checker::Checker;
use crate::engine::context::{Context, FAULT, Kernel, RETURN};
use crate::engine::device::{Device, Fault};
use crate::engine::faults::{Faults, Injection, cut_short, refuse};
use crate::engine::initiator::{INITIATOR, Initiator, Port};
use crate::engine::messages::{MOST_DEVICES, Message, Messages};
use crate::engine::outages::Outages;
use crate::engine::request::{DeviceId, Op, RequestId, Slab};
use crate::engine::stalls::Stalls;
use crate::engine::timeline::Timeline;
use crate::engine::token::Token;

/// The last instant that a simulation may reach, 292 years: no span that is added to an earlier one overflows.
const HORIZON: Time = Time::from_ns(u64::MAX / 2);

/// How many instants pass between two looks at the wall clock.
const INSTANTS_PER_TICK: u32 = 4096;

/// A tree of devices and the time that passes in it.
pub struct Engine {
    pub(super) devices: Vec<Box<dyn Device>>,
    pub(super) kernel: Kernel,
    is_prepared: bool,
    stalls: Stalls,
    pub(super) outages: Outages,
}

impl Engine {
    /// An engine over `devices`, children before their parents; the last one is the root.
    pub fn new(devices: Vec<Box<dyn Device>>, checker: Option<Box<Checker>>) -> Engine {
        assert!(!devices.is_empty(), "a simulation has at least one device");
        assert!(devices.len() <= MOST_DEVICES, "too many devices");
        let mut parents = vec![None; devices.len()];
        for (id, device) in (0..).map(DeviceId).zip(&devices) {
            for child in device.children() {
                assert!(child < id, "{child:?} is built before its parent {id:?}");
                let parent = parents[child.0 as usize].replace(id);
                assert_eq!(parent, None, "{child:?} has one parent");
            }
        }
        let mut requests = Slab::default();
        if checker.is_some() {
            requests.count_by_device(devices.len());
        }
        let kernel = Kernel {
            now: Time::ZERO,
            timeline: Timeline::default(),
            messages: Messages::default(),
            wakes: Fifo::default(),
            requests,
            checker,
            are_behind_background: vec![false; parents.len()],
            parents,
            faults: Faults::default(),
            has_stopped: false,
            foreseen: None,
            injections: Vec::new(),
            has_outages: false,
        };
        Engine {
            devices,
            kernel,
            is_prepared: false,
            stalls: Stalls::default(),
            outages: Outages::default(),
        }
    }

    /// Lets something go wrong at an instant, before anything else that happens in it. The run goes on until then at least.
    pub fn inject(&mut self, at: Time, injection: Injection) {
        self.kernel.inject(at, injection);
    }

    /// Runs until nothing but the background is left, until the power is cut, or until the initiator
    /// [stops](Port::stop). Another run goes on from there, but for one that was stopped.
    ///
    /// # Errors
    /// Those of the initiator, an interruption by it, and a run past 292 years of simulated time.
    pub fn run(&mut self, initiator: &mut impl Initiator) -> Result<(), Error> {
        if !std::mem::replace(&mut self.is_prepared, true) {
            for id in self.ids() {
                let (device, mut cx) = self.device(id);
                device.prepare(&mut cx);
            }
        }
        initiator.start(&mut self.port())?;
        self.deliver(initiator)?;
        self.look_for_stalls();
        let mut instants = 0u32;
        loop {
            let next = self.kernel.timeline.next_time();
            let is_over = self.is_over();
            let Some(now) = initiator.advance(next, is_over) else {
                break;
            };
            debug_assert!(now >= self.kernel.now, "time went back");
            debug_assert!(next.is_none_or(|next| now <= next), "an alarm was missed");
            if now > HORIZON {
                return Err(Error::input(format!(
                    "the run goes past {HORIZON} of simulated time"
                )));
            }
            self.kernel.now = now;
            while let Some(due) = self.kernel.timeline.pop_due(now) {
                match due.owner {
                    INITIATOR => initiator.alarm(due.token, &mut self.port())?,
                    FAULT => {
                        if self.goes_wrong(due.token, initiator)?.is_break() {
                            return Ok(());
                        }
                    }
                    owner => {
                        let (device, mut cx) = self.device(DeviceId(owner));
                        device.alarm(due.token, &mut cx);
                    }
                }
            }
            if next != Some(now) {
                initiator.arrive(&mut self.port())?;
            }
            self.deliver(initiator)?;
            self.look_for_stalls();
            instants += 1;
            if instants == INSTANTS_PER_TICK {
                instants = 0;
                if initiator.tick().is_break() {
                    return Err(Error::Interrupted);
                }
            }
        }
        if self.kernel.has_stopped {
            self.give_up();
            return Ok(());
        }
        match self.kernel.requests.len() {
            0 => Ok(()),
            left => Err(Error::Simulation(format!(
                "nothing is left to happen, but {left} requests were never completed"
            ))),
        }
    }

    /// Something goes wrong now, or the power returns. `Break` ends the run.
    #[inline(never)]
    fn goes_wrong(
        &mut self,
        token: Token,
        initiator: &mut impl Initiator,
    ) -> Result<ControlFlow<()>, Error> {
        let now = self.kernel.now;
        if token.kind() == RETURN {
            self.return_power();
            // Before anything else goes wrong in this instant.
            self.deliver(initiator)?;
            return Ok(ControlFlow::Continue(()));
        }
        // What goes wrong without power shows when it is back.
        if let Some(until) = self.outages.off_until {
            self.kernel.timeline.set(until, FAULT, token);
            return Ok(ControlFlow::Continue(()));
        }
        match self.kernel.injections[token.value() as usize].clone() {
            Injection::PowerCut => {
                self.lose_power(initiator)?;
                return Ok(ControlFlow::Break(()));
            }
            Injection::Outage { lasts } => {
                self.deliver(initiator)?;
                self.begin_outage(now + lasts, initiator)?;
                let token = Token::new(RETURN, 0);
                self.kernel.timeline.set(now + lasts, FAULT, token);
            }
            Injection::Fail(device) => self.fail(device),
            Injection::MediaError { device, blocks } => {
                self.kernel.faults.spoil(device, blocks);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether no request is under way but for those in the background, and no alarm is set for anything else: those of devices that have only such
    /// requests are for these.
    #[inline]
    fn is_over(&self) -> bool {
        let Kernel {
            requests, timeline, ..
        } = &self.kernel;
        if !requests.is_empty() || !requests.has_background() {
            return requests.is_empty() && !timeline.has_foreground();
        }
        let mut owners = timeline.foreground_owners();
        owners.all(|owner| requests.has_background_of(owner))
    }

    /// What is under way when the initiator stops is forgotten.
    fn give_up(&mut self) {
        self.measure_until_now();
        for request in self.kernel.requests.live() {
            self.kernel.requests.remove(request);
        }
    }

    /// Has the checker, if it is on, look for requests that wait for nothing.
    #[inline]
    fn look_for_stalls(&mut self) {
        let Kernel {
            now,
            timeline,
            requests,
            faults,
            checker,
            has_stopped,
            ..
        } = &mut self.kernel;
        // What is due in this instant still is not over.
        if let Some(checker) = checker
            && !*has_stopped
            && self.outages.off_until.is_none()
            && timeline.next_time().is_none_or(|next| next > *now)
        {
            let under_way = (*now, &*timeline, &*requests, &*faults);
            self.stalls.check(&self.devices, under_way, checker);
        }
    }

    /// The present instant: after a run, the last one at which anything happened.
    pub fn now(&self) -> Time {
        self.kernel.now
    }

    /// Whether devices have requests under way for which a run does not go on, such as destages.
    pub fn is_busy_in_background(&self) -> bool {
        self.kernel.requests.has_background()
    }

    /// The devices, children before their parents.
    pub fn devices(&self) -> &[Box<dyn Device>] {
        &self.devices
    }

    /// The checker, when it is on.
    pub fn checker(&self) -> Option<&Checker> {
        self.kernel.checker.as_deref()
    }

    /// The numbers of all devices, children before their parents.
    pub(super) fn ids(&self) -> impl Iterator<Item = DeviceId> + use<> {
        (0..self.devices.len() as u32).map(DeviceId)
    }

    /// Since when the power has been there without a break.
    pub fn powered_since(&self) -> Time {
        self.outages.powered_since
    }

    pub(super) fn root(&self) -> DeviceId {
        DeviceId((self.devices.len() - 1) as u32)
    }

    pub(super) fn port(&mut self) -> Port<'_> {
        Port {
            root: self.root(),
            kernel: &mut self.kernel,
        }
    }

    pub(super) fn device(&mut self, id: DeviceId) -> (&mut Box<dyn Device>, Context<'_>) {
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
    pub(super) fn deliver(&mut self, initiator: &mut impl Initiator) -> Result<(), Error> {
        loop {
            self.deliver_messages(initiator)?;
            let Some(id) = self.kernel.wakes.pop() else {
                return Ok(());
            };
            if self.kernel.faults.has_failed(id) {
                continue;
            }
            let (device, mut cx) = self.device(id);
            device.wake(&mut cx);
        }
    }

    fn deliver_messages(&mut self, initiator: &mut impl Initiator) -> Result<(), Error> {
        while let Some(message) = self.kernel.messages.pop() {
            match message {
                Message::Accept { device, request } => {
                    if self.holds_back(device, request) {
                        continue;
                    }
                    self.kernel.are_behind_background[device.0 as usize] =
                        self.kernel.requests.get(request).is_background;
                    let (device, mut cx) = self.device(device);
                    device.accept(request, &mut cx);
                }
                Message::Completed { request } => self.completed(request, initiator)?,
                other => self.deliver_other(other),
            }
        }
        Ok(())
    }

    /// Whether a request does not get to its device: the power is off, the device has failed, or it has no such command.
    #[inline]
    fn holds_back(&mut self, device: DeviceId, request: RequestId) -> bool {
        let op = self.kernel.requests.get(request).command.op;
        let may_be = self.outages.off_until.is_some()
            || self.kernel.faults.has_failed(device)
            || matches!(op, Op::NvCache(_));
        may_be && self.hold_back(device, request)
    }

    /// Keeps a request for the return of the power, or ends it; `false` for one that its device takes after all.
    #[cold]
    fn hold_back(&mut self, device: DeviceId, request: RequestId) -> bool {
        if self.outages.off_until.is_some() {
            self.outages.held.push(request);
            return true;
        }
        let has_failed = self.kernel.faults.has_failed(device);
        let entry = self.kernel.requests.get_mut(request);
        if has_failed {
            cut_short(entry, self.kernel.now);
        } else if self.devices[device.0 as usize].nv_cache().is_none() {
            refuse(entry, self.kernel.now);
        } else {
            return false;
        }
        self.kernel.messages.push(Message::Completed { request });
        true
    }

    /// A message that most requests do without.
    #[inline(never)]
    fn deliver_other(&mut self, message: Message) {
        match message {
            Message::Accept { .. } | Message::Completed { .. } => {
                unreachable!("it is delivered where all are")
            }
            Message::Urgent { .. } if self.outages.off_until.is_some() => {}
            Message::Room { device } => {
                if let Some((parent, mut cx)) = self.parent_of(device) {
                    parent.child_has_room(device, &mut cx);
                }
            }
            Message::Failed { device } => {
                if let Some((parent, mut cx)) = self.parent_of(device) {
                    parent.fault(Fault::ChildFailed(device), &mut cx);
                }
            }
            Message::StandBy { device } => {
                if !self.kernel.faults.has_failed(device) {
                    let (device, mut cx) = self.device(device);
                    device.stand_by(&mut cx);
                }
            }
            Message::Again { device, step } => {
                if !self.kernel.faults.has_failed(device) {
                    let (device, mut cx) = self.device(device);
                    device.again(step, &mut cx);
                }
            }
            Message::Urgent { request } => {
                let device = self.kernel.requests.get(request).device;
                if !self.kernel.faults.has_failed(device) {
                    let (device, mut cx) = self.device(device);
                    device.made_urgent(request, &mut cx);
                }
            }
            Message::Measure => self.measure_from_now(),
            Message::MeasureUntil => self.measure_until_now(),
        }
    }

    /// What every device counts begins anew. Those that have failed do nothing any more, so that it ends at once.
    pub(super) fn measure_from_now(&mut self) {
        let now = self.kernel.now;
        for (id, device) in (0..).map(DeviceId).zip(&mut self.devices) {
            device.measure_from(now);
            if self.kernel.faults.has_failed(id) {
                device.measure_until(now);
            }
        }
    }

    /// What devices do from now on is not measured. Those that have failed do nothing any more.
    pub(super) fn measure_until_now(&mut self) {
        let now = self.kernel.now;
        for (id, device) in (0..).map(DeviceId).zip(&mut self.devices) {
            if !self.kernel.faults.has_failed(id) {
                device.measure_until(now);
            }
        }
    }

    /// The parent of a device, unless it has failed.
    fn parent_of(&mut self, device: DeviceId) -> Option<(&mut Box<dyn Device>, Context<'_>)> {
        let parent = self.kernel.parents[device.0 as usize]?;
        (!self.kernel.faults.has_failed(parent)).then(|| self.device(parent))
    }

    /// A request is complete: its submitter is told, and the request is forgotten.
    fn completed(
        &mut self,
        request: RequestId,
        initiator: &mut impl Initiator,
    ) -> Result<(), Error> {
        let entry = self.kernel.requests.get(request);
        let child = entry.device;
        match entry.owner {
            Some(owner) => {
                if !self.kernel.faults.has_failed(owner) {
                    let (device, mut cx) = self.device(owner);
                    device.child_completed(child, request, &mut cx);
                }
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
        Ok(())
    }
}

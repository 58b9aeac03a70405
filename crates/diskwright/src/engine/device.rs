//! What every device is, and what it may do while it handles something.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::checker::Checker;
use crate::engine::request::{Command, DeviceId, Outcome, Promise, Request, RequestId, Slab};
use crate::engine::timeline::{AlarmId, Timeline};
use crate::engine::token::Token;
use crate::metrics::picture::window::Window;

/// A running model that takes requests.
///
/// The engine calls [`accept`](Device::accept) once for each request submitted to the device, in the order
/// of submission; the device must [complete](Context::complete) each exactly once, at that instant or a
/// later one, after it has stamped acceptance and start and accounted for every nanosecond from
/// start to completion in the request's parts. A device never waits in real time and keeps no clock:
/// `cx.now()` is the only one. It knows its children's numbers and never its parent.
pub trait Device: Send {
    /// Does what came before time zero; nothing waits for it, and it is in no count. Called once, before the run.
    fn prepare(&mut self) {}

    /// A request arrives.
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>);

    /// An alarm that this device set is due.
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>);

    /// The instant is quiet: every alarm and message of it has been handled. Called after [`Context::wake`], so that
    /// a decision sees all that arrived in its instant.
    fn wake(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// A request that this device submitted to a child is complete. The engine forgets it afterwards.
    fn child_completed(&mut self, child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let _ = (request, cx);
        unreachable!("device {child:?} completed a request for a device that submits none");
    }

    /// What others may see at `now`; `below` are the devices that were built before this one, its children among them.
    fn look(&self, now: Time, below: &[Box<dyn Device>]) -> Look;

    /// Which child holds a block on its medium, and where; `None` where this device has a medium of its own.
    fn holder(&self, lbn: Lbn) -> Option<(DeviceId, Lbn)> {
        let _ = lbn;
        None
    }

    /// Where on its own medium a device holds a block; `None` where it holds it nowhere.
    fn place(&self, lbn: Lbn) -> Option<Lbn> {
        Some(lbn)
    }

    /// The power has failed at `now`: what is not on a medium is lost, and what can be found again from there is. Called once, and
    /// nothing afterwards but [`holder`](Device::holder), [`place`](Device::place) and what is told of the run.
    fn power_lost(&mut self, now: Time) {
        let _ = now;
    }

    /// The same of one of several copies, counted from 0; `None` behind the last one.
    fn copy(&self, lbn: Lbn, copy: u32) -> Option<(DeviceId, Lbn)> {
        if copy == 0 { self.holder(lbn) } else { None }
    }

    /// Capacity in 512-byte blocks.
    fn blocks(&self) -> u64;

    /// What acknowledging a write promises.
    fn promise(&self) -> Promise {
        Promise::Durable
    }

    /// Counters and shares for the results, at the end of a run that took `elapsed`.
    fn report(&self, elapsed: Time) -> Map<String, Value>;

    /// From now on, collects what [`picture`](Device::picture) tells; over `window` also how its arms move. Called before the
    /// run, where a picture is wanted.
    fn collect_picture(&mut self, window: Option<&Window>) {
        let _ = window;
    }

    /// What a picture of the run shows of this device; `None` where it collects nothing.
    fn picture(&self) -> Option<Map<String, Value>> {
        None
    }

    /// What the results should warn of.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A device's published state, for parents that decide by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Nothing is queued or under way.
    pub idle: bool,
    /// Requests accepted or waiting to be.
    pub outstanding: u32,
    /// Queue slots that are free.
    pub free_slots: u32,
    /// The cylinder of the (first) arm, where there is one.
    pub cylinder: Option<u32>,
}

/// A message of the present instant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Message {
    Accept {
        device: DeviceId,
        request: RequestId,
    },
    Completed {
        request: RequestId,
    },
}

/// What the engine keeps beside the devices.
pub(crate) struct Kernel {
    pub now: Time,
    pub timeline: Timeline,
    pub messages: VecDeque<Message>,
    pub wakes: VecDeque<DeviceId>,
    pub requests: Slab,
    pub checker: Option<Box<Checker>>,
}

/// What a device may do while it handles something.
pub struct Context<'a> {
    pub(crate) device: DeviceId,
    pub(crate) below: &'a [Box<dyn Device>],
    pub(crate) kernel: &'a mut Kernel,
}

impl Context<'_> {
    /// The present instant.
    #[inline]
    pub fn now(&self) -> Time {
        self.kernel.now
    }

    /// A request.
    #[inline]
    pub fn request(&self, request: RequestId) -> &Request {
        self.kernel.requests.get(request)
    }

    /// A request, to stamp its instants and parts.
    #[inline]
    pub fn request_mut(&mut self, request: RequestId) -> &mut Request {
        self.kernel.requests.get_mut(request)
    }

    /// Hands a request to a child; it arrives there within this instant.
    pub fn submit(&mut self, child: DeviceId, command: Command) -> RequestId {
        assert!(
            child < self.device,
            "{child:?} is no child of {:?}",
            self.device
        );
        let now = self.kernel.now;
        let request =
            self.kernel
                .requests
                .insert(Request::new(command, now, Some(self.device), child));
        if let Some(checker) = &mut self.kernel.checker {
            checker.submitted(request, &command);
        }
        self.kernel.messages.push_back(Message::Accept {
            device: child,
            request,
        });
        request
    }

    /// Sets an alarm for this device. One that is due now rings after what is under way.
    #[inline]
    pub fn alarm(&mut self, at: Time, token: Token) -> AlarmId {
        debug_assert!(
            at >= self.kernel.now,
            "an alarm in the past: {at} is before {}",
            self.kernel.now
        );
        self.kernel.timeline.set(at, self.device.0, token)
    }

    /// Asks for [`Device::wake`] once the messages of this instant have been handled.
    #[inline]
    pub fn wake(&mut self) {
        self.kernel.wakes.push_back(self.device);
    }

    /// Cancels an alarm of this device, if it has not rung.
    pub fn cancel(&mut self, alarm: AlarmId) {
        self.kernel.timeline.cancel(alarm);
    }

    /// Completes a request now. Whoever submitted it hears of it within this instant.
    #[inline]
    pub fn complete(&mut self, request: RequestId, outcome: Outcome) {
        let now = self.kernel.now;
        let entry = self.kernel.requests.get_mut(request);
        debug_assert_eq!(
            entry.device, self.device,
            "a device completes its own requests only"
        );
        entry.completion = now;
        entry.outcome = Some(outcome);
        self.kernel
            .messages
            .push_back(Message::Completed { request });
    }

    /// A look at a child.
    pub fn look(&self, child: DeviceId) -> Look {
        self.below[child.0 as usize].look(self.kernel.now, &self.below[..child.0 as usize])
    }

    /// The checker, when it is on.
    #[inline]
    pub fn checker(&mut self) -> Option<(&mut Checker, DeviceId)> {
        self.kernel
            .checker
            .as_deref_mut()
            .map(|checker| (checker, self.device))
    }
}

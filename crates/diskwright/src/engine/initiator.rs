//! What makes the requests of a run, and what it may do.

use std::ops::ControlFlow;

use crate::base::error::Error;
use crate::base::fifo::Fifo;
use crate::base::units::{Lbn, Time};
use crate::engine::checker::Checker;
use crate::engine::context::Kernel;
use crate::engine::faults::Injection;
use crate::engine::messages::{Message, Messages};
use crate::engine::request::{Class, Command, DeviceId, Request, RequestId};
use crate::engine::timeline::Timeline;
use crate::engine::token::Token;

/// The owner that alarms of the initiator carry in the timeline.
pub(super) const INITIATOR: u32 = u32::MAX;

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
    /// Up to when time moves on: to `next`, the instant of the next alarm if one is set, or to one before it, at which
    /// [`arrive`](Self::arrive) is called. `is_over` says that no request is under way and nothing but background alarms is set. `None` ends the
    /// run. A host with requests from outside waits here.
    fn advance(&mut self, next: Option<Time>, is_over: bool) -> Option<Time> {
        if is_over { None } else { next }
    }
    /// Time has moved on to an instant that [`advance`](Self::advance) has chosen.
    fn arrive(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        let _ = port;
        Ok(())
    }
}

/// What an initiator may do: its side of the root device.
pub struct Port<'a> {
    pub(super) root: DeviceId,
    pub(super) kernel: &'a mut Kernel,
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
    #[inline]
    pub fn submit(&mut self, command: &Command, arrival: Time, sequence: u64) -> RequestId {
        let Kernel {
            now,
            requests,
            checker,
            ..
        } = &mut *self.kernel;
        let id = requests.insert(command, *now, None, self.root);
        let request = requests.get_mut(id);
        (request.arrival, request.sequence) = (arrival, sequence);
        if let Some(checker) = checker {
            checker.issued(id, command);
        }
        self.kernel.messages.push(Message::Accept {
            device: self.root,
            request: id,
        });
        id
    }
    /// Tells the root device where the next request that is asked of it begins, as far as that is known.
    pub fn foresee(&mut self, next: Option<Lbn>) {
        self.kernel.foreseen = next;
    }
    /// The checker, when it is on.
    pub fn checker(&self) -> Option<&Checker> {
        self.kernel.checker.as_deref()
    }
    /// Lets something go wrong in this instant, behind what is under way in it.
    pub fn inject(&mut self, injection: Injection) {
        let now = self.kernel.now;
        self.kernel.inject(now, injection);
    }
    /// A request that has just been submitted is of a stream of the load.
    pub fn set_stream(&mut self, request: RequestId, stream: u32) {
        self.kernel.requests.get_mut(request).stream = stream;
    }
    /// A request that has just been submitted is of a class.
    pub fn set_class(&mut self, request: RequestId, class: Class) {
        self.kernel.requests.get_mut(request).class = class;
    }
    /// Makes a request critical that is under way.
    pub fn make_urgent(&mut self, request: RequestId) {
        self.kernel.make_urgent(request);
    }
    /// Ends the run here: nothing that is still to happen in this instant happens, and what is under way is given up. The initiator
    /// hears of no completion any more.
    pub fn stop(&mut self) {
        let kernel = &mut *self.kernel;
        kernel.messages = Messages::default();
        kernel.wakes = Fifo::default();
        kernel.timeline = Timeline::default();
        kernel.has_stopped = true;
    }
    /// What the results tell of the devices begins here, before anything that is submitted from now on:
    /// [`Device::measure_from`](crate::engine::device::Device::measure_from).
    pub fn measure_from_here(&mut self) {
        self.kernel.messages.push(Message::Measure);
    }
    /// The last request of the load is complete, for all that is known: [`Device::measure_until`](crate::engine::device::Device::measure_until).
    pub fn measure_until_here(&mut self) {
        self.kernel.messages.push(Message::MeasureUntil);
    }
    /// A request.
    pub fn request(&self, id: RequestId) -> &Request {
        self.kernel.requests.get(id)
    }
}

//! What a device may do while it handles something, and what the engine keeps beside the devices.

use crate::base::fifo::Fifo;
use crate::base::units::{Lbn, Time};
use crate::engine::checker::Checker;
use crate::engine::device::{Device, DeviceStatus};
use crate::engine::faults::{Faults, Injection};
use crate::engine::messages::{Message, Messages};
use crate::engine::request::{Class, Command, DeviceId, Outcome, Request, RequestId, Slab};
use crate::engine::timeline::{AlarmId, Timeline};
use crate::engine::token::Token;

/// What the engine keeps beside the devices.
pub(crate) struct Kernel {
    pub now: Time,
    pub timeline: Timeline,
    pub messages: Messages,
    pub wakes: Fifo<DeviceId>,
    pub requests: Slab,
    pub checker: Option<Box<Checker>>,
    /// The parent of each device, if it has one.
    pub parents: Vec<Option<DeviceId>>,
    /// Of each device, whether the request that it has been handed last is in the background.
    pub are_behind_background: Vec<bool>,
    pub faults: Faults,
    /// The initiator has ended the run.
    pub has_stopped: bool,
    /// Where what the initiator will ask of the root device next begins, where it says so.
    pub foreseen: Option<Lbn>,
    /// What goes wrong, by the values of its alarms' tokens.
    pub injections: Vec<Injection>,
    /// The power will fail and return.
    pub has_outages: bool,
}

/// The owner of the alarms at which something goes wrong: the token's value says what.
pub(crate) const FAULT: u32 = u32::MAX - 1;
/// The kind of an alarm of the engine's own at which something goes wrong.
pub(crate) const INJECTION: u32 = 0;
/// The kind of the one at which the power returns.
pub(crate) const RETURN: u32 = 1;

impl Kernel {
    /// Lets something go wrong at an instant.
    pub fn inject(&mut self, at: Time, injection: Injection) {
        let token = Token::new(INJECTION, self.injections.len() as u32);
        self.has_outages |= matches!(injection, Injection::Outage { .. });
        self.injections.push(injection);
        self.timeline.set(at, FAULT, token);
    }

    /// Makes a request critical, unless it is complete. A message of its completion can only follow the one that is sent here.
    pub fn make_urgent(&mut self, request: RequestId) {
        let entry = self.requests.get_mut(request);
        if entry.outcome.is_none() && entry.class != Class::Critical {
            entry.class = Class::Critical;
            self.messages.push(Message::Urgent { request });
        }
    }
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

    /// Where the next request that the host makes of the root device begins, where it is known already: to fetch from memory what that will
    /// need, for nothing that results depend on. It is told where the root [looks ahead](Device::looks_ahead).
    #[inline]
    pub fn foreseen(&self) -> Option<Lbn> {
        self.kernel.foreseen
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

    /// Has a request take over what another one has spent, which was all that it waited for.
    #[inline]
    pub(super) fn take_over(&mut self, from: RequestId, request: RequestId) {
        self.kernel.requests.take_over(from, request);
    }

    /// Hands a request to a child; it arrives there within this instant.
    pub fn submit(&mut self, child: DeviceId, command: Command) -> RequestId {
        assert_eq!(
            self.kernel.parents[child.0 as usize],
            Some(self.device),
            "{child:?} is no child of {:?}",
            self.device
        );
        let now = self.kernel.now;
        let request = self
            .kernel
            .requests
            .insert(&command, now, Some(self.device), child);
        if let Some(checker) = &mut self.kernel.checker {
            checker.submitted(request, &command);
        }
        self.kernel.messages.push(Message::Accept {
            device: child,
            request,
        });
        request
    }

    /// Makes a request of this device's own, for a part of it to serve and [complete](Self::complete): the device hears of that by
    /// [`Device::child_completed`] under its own number.
    #[inline]
    pub fn open(&mut self, command: Command) -> RequestId {
        let (now, device) = (self.kernel.now, self.device);
        let request = (self.kernel.requests).insert(&command, now, Some(device), device);
        if let Some(checker) = &mut self.kernel.checker {
            checker.submitted(request, &command);
        }
        request
    }

    /// The same for one of the device's requests: in the background where that is.
    pub fn open_for(&mut self, of: RequestId, command: Command) -> RequestId {
        let is_background = self.request(of).is_background;
        self.open_on_ground(is_background, command)
    }

    /// The same for what the device does of its own accord behind its requests: [in the background](Self::is_behind_background) where they are.
    pub fn open_behind(&mut self, command: Command) -> RequestId {
        self.open_on_ground(self.is_behind_background(), command)
    }

    #[inline]
    fn open_on_ground(&mut self, is_background: bool, command: Command) -> RequestId {
        let request = self.open(command);
        if is_background {
            self.put_in_background(request);
        }
        request
    }

    /// The same, for work that the run does not go on for alone: destaging, reading ahead.
    pub fn open_in_background(&mut self, command: Command) -> RequestId {
        self.open_on_ground(true, command)
    }

    /// Whether the request that this device was handed last is in the background: then so is what the device does of its own accord behind its
    /// requests.
    pub fn is_behind_background(&self) -> bool {
        self.kernel.are_behind_background[self.device.0 as usize]
    }

    /// Has the run not go on for a request alone.
    pub(crate) fn put_in_background(&mut self, request: RequestId) {
        self.kernel.requests.put_in_background(request);
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

    /// Sets an alarm for which alone the run does not go on: for periodic cleaning, scrubbing, an idle timer.
    pub fn background_alarm(&mut self, at: Time, token: Token) -> AlarmId {
        debug_assert!(at >= self.kernel.now, "an alarm in the past: {at}");
        self.kernel
            .timeline
            .set_background(at, self.device.0, token)
    }

    /// Cancels an alarm of this device, if it has not rung.
    pub fn cancel(&mut self, alarm: AlarmId) {
        self.kernel.timeline.cancel(alarm);
    }

    /// Asks for [`Device::again`] with this number behind the messages of this instant that have been sent so far.
    pub fn again(&mut self, step: u32) {
        let device = self.device;
        self.kernel.messages.push(Message::Again { device, step });
    }

    /// Asks for [`Device::wake`] once the messages of this instant have been handled.
    #[inline]
    pub fn wake(&mut self) {
        // Twice in a row is once: nothing happens in between.
        if self.kernel.wakes.last() != Some(&self.device) {
            self.kernel.wakes.push(self.device);
        }
    }

    /// Completes a request now. Its submitter is told within this instant. A read that has met blocks of this device that
    /// cannot be read ends with [`Outcome::MediaError`], whatever `outcome` says.
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
        if self.kernel.faults.has_media_errors() {
            self.kernel.faults.meet(entry);
        }
        self.kernel.messages.push(Message::Completed { request });
    }

    /// The status of a child.
    pub fn status(&self, child: DeviceId) -> DeviceStatus {
        let index = child.0 as usize;
        self.below[index].status(self.kernel.now, &self.below[..index])
    }

    /// Whether the medium of a child is down, as its [status](Self::status) says.
    pub fn is_down(&self, child: DeviceId) -> bool {
        let index = child.0 as usize;
        self.below[index].is_down(self.kernel.now, &self.below[..index])
    }

    /// Asks a child, within this instant, to [stop its medium](Device::stand_by). Whether it has is told by [`DeviceStatus::is_down`].
    pub fn stand_by(&mut self, child: DeviceId) {
        debug_assert_eq!(
            self.kernel.parents[child.0 as usize],
            Some(self.device),
            "{child:?} is no child of {:?}",
            self.device
        );
        (self.kernel.messages).push(Message::StandBy { device: child });
    }

    /// Makes a request to a child critical, if it is under way: the child [hears of it](Device::made_urgent) within this instant.
    pub fn make_urgent(&mut self, request: RequestId) {
        self.kernel.make_urgent(request);
    }

    /// Tells the parent, if there is one, that this device has room again: once for each time that its queue was full.
    #[inline]
    pub fn announce_room(&mut self) {
        if self.has_parent() {
            let device = self.device;
            self.kernel.messages.push(Message::Room { device });
        }
    }

    /// Whether a device, and not the host, submits the requests of this one.
    #[inline]
    pub fn has_parent(&self) -> bool {
        self.kernel.parents[self.device.0 as usize].is_some()
    }

    /// Whether the power fails and returns in this run, so that it matters what a device finds again.
    #[inline]
    pub fn has_outages(&self) -> bool {
        self.kernel.has_outages
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

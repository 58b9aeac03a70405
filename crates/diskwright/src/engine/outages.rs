//! Power that fails and returns: what is under way ends, devices begin anew, and what the host has submitted meanwhile comes to them.

use std::collections::VecDeque;

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::engine::Engine;
use crate::engine::device::{Device, Fault, Restart};
use crate::engine::faults::cut_short;
use crate::engine::initiator::Initiator;
use crate::engine::messages::Message;
use crate::engine::request::{DeviceId, RequestId};

/// The outages of a run.
#[derive(Default)]
pub(super) struct Outages {
    /// When the power returns, while it is off.
    pub off_until: Option<Time>,
    /// Requests that the host has submitted since it is off.
    pub held: Vec<RequestId>,
    pub powered_since: Time,
    /// The same tree for each outage to come.
    trees: VecDeque<Vec<Box<dyn Device>>>,
}

impl Engine {
    /// Adds the devices, built like those of the run, that take the place of those that begin [afresh](Restart::Afresh) after an outage; once
    /// for each outage that is injected.
    pub fn restart_with(&mut self, devices: Vec<Box<dyn Device>>) {
        self.outages.trees.push_back(devices);
    }

    /// The power fails, until an instant.
    pub(super) fn begin_outage(
        &mut self,
        until: Time,
        initiator: &mut impl Initiator,
    ) -> Result<(), Error> {
        self.outages.off_until = Some(until);
        for id in self.ids() {
            if !self.kernel.faults.has_failed(id) {
                let (device, mut cx) = self.device(id);
                device.fault(Fault::PowerLost, &mut cx);
            }
            self.kernel.timeline.cancel_all_of(id.0);
        }
        if let Some(mut checker) = self.kernel.checker.take() {
            let root = self.root();
            checker.power_cut(|lbn, media| self.locate((root, Lbn(lbn)), media));
            checker.settle(|lbn, media| self.locate((root, Lbn(lbn)), media));
            self.kernel.checker = Some(checker);
        }
        let (mut of_host, between): (Vec<_>, Vec<_>) = (self.kernel.requests.live().into_iter())
            .partition(|&id| self.kernel.requests.get(id).owner.is_none());
        for id in between {
            if let Some(checker) = &mut self.kernel.checker {
                checker.forget(id);
            }
            self.kernel.requests.remove(id);
        }
        of_host.sort_unstable_by_key(|&id| self.kernel.requests.get(id).sequence);
        for request in of_host {
            cut_short(self.kernel.requests.get_mut(request), self.kernel.now);
            self.kernel.messages.push(Message::Completed { request });
        }
        self.deliver(initiator)
    }

    /// The power returns.
    pub(super) fn return_power(&mut self) {
        self.outages.off_until = None;
        self.outages.powered_since = self.kernel.now;
        let fresh = self.outages.trees.pop_front().unwrap_or_default();
        for (old, fresh) in self.devices.iter_mut().zip(fresh) {
            if old.restart() == Restart::Afresh {
                *old = fresh;
            }
        }
        for id in self.ids() {
            if self.kernel.faults.has_failed(id) {
                continue;
            }
            let (device, mut cx) = self.device(id);
            match device.restart() {
                Restart::InPlace => device.power_returned(&mut cx),
                _ => {
                    device.prepare(&mut cx);
                    let now = cx.now();
                    device.measure_from(now);
                }
            }
        }
        let device: DeviceId = self.root();
        for request in std::mem::take(&mut self.outages.held) {
            self.kernel
                .messages
                .push(Message::Accept { device, request });
        }
    }
}

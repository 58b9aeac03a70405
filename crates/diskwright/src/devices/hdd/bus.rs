//! A disk with a segmented buffer on a bus that other drives share.
//!
//! The bus is needed to bring a command, until the drive has left it or is done, and to bring data or to report what is on the medium. Its
//! owner keeps it; others wait. A wait for it moves what follows, not what the medium does. What is known of an owner when it asks is how long
//! it keeps the bus, so that a wait is known as well.
//!
//! Source: DiskSim 4.0, whose drives ask for the bus of their controller in the same phases. Left out: reads that leave the bus between two
//! parts of their data keep it; data of a write that had to wait in the drive's queue cross without asking.

use super::alarm::Alarm;
use super::disk::Disk;
use crate::base::units::Time;
use crate::devices::shared_bus::SharedBus;
use crate::engine::context::Context;
use crate::engine::request::{Part, RequestId};

/// What a disk has to do with the bus.
pub(super) struct OnBus {
    bus: SharedBus,
    /// Commands that are to be brought.
    pub commands: usize,
    /// Requests that will ask for the bus again.
    wanting: Vec<Wanting>,
}

/// A request that has been served up to where it needs the bus again.
#[derive(Clone, Copy)]
struct Wanting {
    request: RequestId,
    /// When it is complete, and when the arm may set off for another one, if the bus is free then.
    end: Time,
    released: Time,
}

impl OnBus {
    pub fn new(bus: SharedBus) -> OnBus {
        OnBus {
            bus,
            commands: 0,
            wanting: Vec::new(),
        }
    }
}

impl Disk {
    /// Whether a request that has arrived has to wait until the bus can bring its command; an alarm is set for that then.
    pub fn waits_for_bus(&mut self, request: RequestId, cx: &mut Context<'_>) -> bool {
        let (Some(on_bus), Some(buffered)) = (&mut self.on_bus, &mut self.buffered) else {
            return false;
        };
        let (now, hardware) = (cx.now(), &self.medium.hardware);
        buffered.advance_and_report(hardware, cx);
        let is_idle = buffered.active.is_none() && self.intake.queued == 0 && on_bus.commands == 0;
        let command = cx.request(request).command;
        let after_write = self.medium.after_write;
        let length = buffered
            .buffer
            .connection(hardware, &command, after_write, is_idle);
        let from = on_bus.bus.take(now, length);
        if from == now {
            return false;
        }
        on_bus.commands += 1;
        cx.alarm(from, Alarm::Command(request).token());
        true
    }

    /// The bus brings a command: the slot that was kept for it is free again where it merges with a request that has one.
    pub fn command_comes(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let was_full = cx.has_parent() && !self.has_slot();
        if let Some(on_bus) = &mut self.on_bus {
            on_bus.commands -= 1;
        }
        self.admit(request, cx);
        if self.intake.shares_slots() {
            self.admit_waiting(was_full, cx);
        }
    }

    /// A request has been served so that it wants the bus at `wants`, is complete at `end` and lets the arm go at `released`, if it gets it
    /// at once. Whether it has to ask for it.
    pub fn asks_for_bus(
        &mut self,
        request: RequestId,
        (wants, end, released): (Option<Time>, Time, Time),
        cx: &mut Context<'_>,
    ) -> bool {
        let Some(on_bus) = &mut self.on_bus else {
            return false;
        };
        let Some(wants) = wants else {
            on_bus.bus.keep(end);
            return false;
        };
        on_bus.wanting.push(Wanting {
            request,
            end,
            released,
        });
        cx.alarm(wants.max(cx.now()), Alarm::WantsBus(request).token());
        if released < wants {
            cx.alarm(released, Alarm::ArmReleased.token());
        }
        true
    }

    /// A request needs the bus again: it is complete, and all that depends on it happens, as much later as it has to wait.
    pub fn wants_bus(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        let (Some(on_bus), Some(buffered)) = (&mut self.on_bus, &mut self.buffered) else {
            return;
        };
        let mut wanting = on_bus.wanting.iter();
        let at = wanting.position(|one| one.request == request);
        let one = on_bus.wanting.remove(at.expect("it has been served"));
        let from = on_bus.bus.take(now, one.end - now);
        let wait = from - now;
        cx.alarm(one.end + wait, Alarm::BufferedDone.token());
        if one.released >= now {
            if one.released < one.end {
                cx.alarm(one.released + wait, Alarm::ArmReleased.token());
            }
            // Of two requests that have begun the arm follows the later one.
            if buffered.released == one.released {
                buffered.released += wait;
            }
        }
        buffered.bus_free = buffered.bus_free.max(one.end + wait);
        if wait > Time::ZERO {
            self.ends_later(request, wait, cx);
        }
    }

    /// A request that has begun with the buffer is complete later: it waits before its end.
    pub fn ends_later(&mut self, request: RequestId, wait: Time, cx: &mut Context<'_>) {
        let Some(buffered) = &mut self.buffered else {
            return;
        };
        buffered.ends_later(request, wait);
        let begun = buffered.begun().find(|begun| begun.request == request);
        let others = begun.expect("it has begun").others;
        let parts = self.queues[0].pool.others(others);
        for part in std::iter::once(request).chain(parts) {
            cx.request_mut(part).parts.add(Part::Wait, wait);
            let sequence = cx.request(part).of_host();
            if let Some(trace) = &mut self.arm_trace {
                trace.ends_later(sequence, wait);
            }
        }
    }
}

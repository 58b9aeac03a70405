//! Does every device go on with what it has? Requests that wait for nothing are a fault, though they may end in the end: the next
//! arrival sets them going, and all that shows is a long response time.
//!
//! After every instant the checker looks for two things. Where a device has requests, but neither an alarm nor a request to a child,
//! nothing will end them: that needs no help of the device. Where it has an alarm, but a part of it stands idle beside requests that wait,
//! only the device can tell: see [`Device::neglected`].

use crate::base::units::Time;
use crate::engine::checker::Checker;
use crate::engine::device::Device;
use crate::engine::faults::Faults;
use crate::engine::request::{DeviceId, Slab, UnderWay};
use crate::engine::timeline::Timeline;

/// The devices that let requests wait for nothing, so that each stall is reported once.
#[derive(Default)]
pub(crate) struct Stalls {
    is_reported: Vec<bool>,
    /// The alarms of each device.
    alarms: Vec<usize>,
}

impl Stalls {
    /// Looks at all devices after an instant. Those that have failed are not called any more: what they had was ended for them.
    pub fn check(
        &mut self,
        devices: &[Box<dyn Device>],
        (now, timeline, requests, faults): (Time, &Timeline, &Slab, &Faults),
        checker: &mut Checker,
    ) {
        self.is_reported.resize(devices.len(), false);
        self.alarms.clear();
        self.alarms.resize(devices.len(), 0);
        for owner in timeline.owners() {
            // Others are the host's.
            if let Some(alarms) = self.alarms.get_mut(owner as usize) {
                *alarms += 1;
            }
        }
        for (number, device) in devices.iter().enumerate() {
            if faults.has_failed(DeviceId(number as u32)) {
                continue;
            }
            let UnderWay {
                requests,
                of_children,
            } = requests.by_device()[number];
            let alarms = self.alarms[number];
            let neglected = device.neglected(now, &devices[..number]);
            let fault = if neglected > 0 {
                format!("lets {neglected} requests wait at {now} although it could go on with them")
            } else if requests > 0 && of_children == 0 && alarms == 0 {
                format!(
                    "has {requests} requests at {now}, but neither an alarm nor a request to a child that would end them"
                )
            } else {
                self.is_reported[number] = false;
                continue;
            };
            if !std::mem::replace(&mut self.is_reported[number], true) {
                checker.stalled(number, &fault);
            }
        }
    }
}

#[cfg(test)]
#[path = "stalls_tests.rs"]
mod tests;

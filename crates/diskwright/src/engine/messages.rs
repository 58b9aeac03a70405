//! What is to be handled within the present instant, first in first out.

use crate::base::fifo::Fifo;
use crate::engine::request::{DeviceId, RequestId};

/// A message of the present instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Accept {
        device: DeviceId,
        request: RequestId,
    },
    Completed {
        request: RequestId,
    },
    /// A device has room again.
    Room {
        device: DeviceId,
    },
    /// A device has failed.
    Failed {
        device: DeviceId,
    },
    /// A device is asked to stop its medium.
    StandBy {
        device: DeviceId,
    },
    /// A device wants to go on behind what was sent before.
    Again {
        device: DeviceId,
        step: u32,
    },
    /// A request has become urgent.
    Urgent {
        request: RequestId,
    },
    /// What every device counts begins anew.
    Measure,
    /// What every device is busy with from now on is not measured.
    MeasureUntil,
}

/// The messages of an instant, the first one first.
///
/// Each is kept in 64 bits: a message is read as soon as it is written, which has to wait where what was written field by field is read as a
/// whole.
#[derive(Default)]
pub(crate) struct Messages(Fifo<u64>);

/// Kinds of messages, in the three highest bits. The device follows, and the request is below.
const ACCEPT: u64 = 0;
const COMPLETED: u64 = 1;
const ROOM: u64 = 2;
const FAILED: u64 = 3;
const MEASURE: u64 = 4;
const STAND_BY: u64 = 5;
const AGAIN: u64 = 6;
const URGENT: u64 = 7;
const KIND: u32 = 61;
/// Of [`MEASURE`], that nothing is measured from now on.
const UNTIL: u64 = 1;

/// The most devices that a message can tell apart.
pub(crate) const MOST_DEVICES: usize = 1 << (KIND - u32::BITS);

impl Messages {
    /// Adds a message at the end.
    #[inline]
    pub fn push(&mut self, message: Message) {
        let of = |kind: u64, device: DeviceId| kind << KIND | u64::from(device.0) << u32::BITS;
        self.0.push(match message {
            Message::Accept { device, request } => of(ACCEPT, device) | u64::from(request.0),
            Message::Completed { request } => COMPLETED << KIND | u64::from(request.0),
            Message::Room { device } => of(ROOM, device),
            Message::Failed { device } => of(FAILED, device),
            Message::StandBy { device } => of(STAND_BY, device),
            Message::Urgent { request } => URGENT << KIND | u64::from(request.0),
            Message::Again { device, step } => of(AGAIN, device) | u64::from(step),
            Message::Measure => MEASURE << KIND,
            Message::MeasureUntil => MEASURE << KIND | UNTIL,
        });
    }

    /// Takes the first message.
    #[inline]
    pub fn pop(&mut self) -> Option<Message> {
        self.0.pop().map(read)
    }

    /// The messages, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = Message> {
        self.0.iter().map(read)
    }
}

#[inline]
fn read(bits: u64) -> Message {
    let device = DeviceId((bits >> u32::BITS) as u32 & (MOST_DEVICES - 1) as u32);
    let request = RequestId(bits as u32);
    match bits >> KIND {
        ACCEPT => Message::Accept { device, request },
        COMPLETED => Message::Completed { request },
        ROOM => Message::Room { device },
        FAILED => Message::Failed { device },
        STAND_BY => Message::StandBy { device },
        URGENT => Message::Urgent { request },
        AGAIN => Message::Again {
            device,
            step: bits as u32,
        },
        _ if bits & UNTIL == 0 => Message::Measure,
        _ => Message::MeasureUntil,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_as_they_went() {
        let (first, last) = (DeviceId(0), DeviceId(MOST_DEVICES as u32 - 1));
        let requests = [RequestId(0), RequestId(7), RequestId(u32::MAX)];
        let mut all = vec![Message::Measure, Message::MeasureUntil];
        for device in [first, DeviceId(5), last] {
            all.extend([Message::Room { device }, Message::Failed { device }]);
            all.push(Message::StandBy { device });
            all.extend([0, 1, u32::MAX].map(|step| Message::Again { device, step }));
            all.extend(requests.map(|request| Message::Accept { device, request }));
        }
        all.extend(requests.map(|request| Message::Completed { request }));
        all.extend(requests.map(|request| Message::Urgent { request }));
        let mut messages = Messages::default();
        all.iter().for_each(|&message| messages.push(message));
        assert_eq!(messages.iter().collect::<Vec<_>>(), all);
        let popped: Vec<Message> = std::iter::from_fn(|| messages.pop()).collect();
        assert_eq!(popped, all);
    }
}

//! What is injected into a run, and what has gone wrong so far.

use std::ops::Range;

use crate::base::units::Time;
use crate::engine::request::{DeviceId, Op, Outcome, Part, Parts, Request, ServedBy};

/// Something that goes wrong in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Injection {
    /// The power of everything fails, and the run ends.
    PowerCut,
    /// The power of all devices fails, and returns later. The host goes on: what is under way fails, and what it submits without power waits.
    Outage {
        /// How long the devices take no request: until the power is there again and they are ready.
        lasts: Time,
    },
    /// A device fails for good, and all below it.
    Fail(DeviceId),
    /// Blocks of a device with a medium of its own cannot be read any more, until they are written.
    MediaError {
        /// The device.
        device: DeviceId,
        /// The blocks, by its own LBNs.
        blocks: Range<u64>,
    },
}

/// What has gone wrong so far. Empty lists where nothing has, so that a run without faults has nothing to look at.
#[derive(Default)]
pub(crate) struct Faults {
    /// Whether each device has failed.
    failed: Vec<bool>,
    /// The blocks of each device that cannot be read.
    unreadable: Vec<Ranges>,
}

impl Faults {
    /// Whether a device has failed.
    #[inline]
    pub fn has_failed(&self, device: DeviceId) -> bool {
        self.failed.get(device.0 as usize) == Some(&true)
    }

    /// Notes that a device has failed.
    pub fn fail(&mut self, device: DeviceId) {
        *entry(&mut self.failed, device) = true;
    }

    /// Whether blocks of some device cannot be read.
    #[inline]
    pub fn has_media_errors(&self) -> bool {
        !self.unreadable.is_empty()
    }

    /// Notes that blocks of a device cannot be read.
    pub fn spoil(&mut self, device: DeviceId, blocks: Range<u64>) {
        entry(&mut self.unreadable, device).add(blocks);
    }

    /// What becomes of a request that its device completes: a read from the medium fails on unreadable blocks, and a write makes its
    /// blocks good again.
    pub fn meet(&mut self, request: &mut Request) {
        let Some(unreadable) = self.unreadable.get_mut(request.device.0 as usize) else {
            return;
        };
        let command = &request.command;
        let blocks = command.lbn.0..command.end().0;
        match (command.op, request.outcome) {
            (Op::Read, Some(Outcome::Ok))
                if request.served_by != ServedBy::Buffer && unreadable.meets(&blocks) =>
            {
                request.outcome = Some(Outcome::MediaError);
            }
            (Op::Write, Some(Outcome::Ok)) => unreadable.remove(&blocks),
            _ => {}
        }
    }
}

/// The entry of a device in a list by their numbers, which grows to have it.
fn entry<T: Default>(list: &mut Vec<T>, device: DeviceId) -> &mut T {
    let index = device.0 as usize;
    if list.len() <= index {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}

/// Ends a request that its device could not end: what had begun was cut short, and what waited has no parts.
pub(crate) fn cut_short(request: &mut Request, now: Time) {
    // What waited has no parts, or was to start later.
    if request.parts.total() == Time::ZERO || request.start > now {
        request.start = now;
    }
    request.acceptance = request.acceptance.min(request.start);
    request.parts = Parts::default();
    request.parts.add(Part::Wait, now - request.start);
    request.media = Time::ZERO;
    request.completion = now;
    request.outcome = Some(Outcome::FailedDevice);
}

/// Ends a request at once that its device does not take.
pub(crate) fn refuse(request: &mut Request, now: Time) {
    (request.acceptance, request.start, request.completion) = (now, now, now);
    request.outcome = Some(Outcome::Refused);
}

/// Blocks, as ranges in order that do not meet.
#[derive(Debug, Default)]
pub(crate) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// Whether some of these blocks are among them.
    pub fn meets(&self, blocks: &Range<u64>) -> bool {
        let after = self.0.partition_point(|range| range.end <= blocks.start);
        (self.0.get(after)).is_some_and(|range| range.start < blocks.end)
    }

    /// The blocks among these, as ranges in order.
    pub fn overlaps(&self, blocks: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let from = self.0.partition_point(|range| range.end <= blocks.start);
        let meeting = self.0[from..].iter();
        let meeting = meeting.take_while(|range| range.start < blocks.end);
        meeting.map(|range| range.start.max(blocks.start)..range.end.min(blocks.end))
    }

    /// Adds blocks, of which some may be among them.
    pub fn add(&mut self, blocks: Range<u64>) {
        self.remove(&blocks);
        let at = self.0.partition_point(|range| range.start < blocks.start);
        self.0.insert(at, blocks);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Removes blocks, of which some may not be among them.
    pub fn remove(&mut self, blocks: &Range<u64>) {
        let from = self.0.partition_point(|range| range.end <= blocks.start);
        let to = self.0.partition_point(|range| range.start < blocks.end);
        if from >= to {
            return;
        }
        let before = self.0[from].start..blocks.start;
        let behind = blocks.end..self.0[to - 1].end;
        let left = [before, behind]
            .into_iter()
            .filter(|range| !range.is_empty());
        self.0.splice(from..to, left);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Ranges against a list of blocks.
        #[test]
        fn agrees_with_a_list_of_blocks(changes in prop::collection::vec((any::<bool>(), 0u64..60, 1u64..20), 0..40), from in 0u64..60, length in 1u64..20) {
            let mut ranges = Ranges::default();
            let mut blocks = [false; 80];
            for (adds, from, length) in changes {
                let range = from..from + length;
                blocks[from as usize..(from + length) as usize].fill(adds);
                match adds {
                    true => ranges.add(range),
                    false => ranges.remove(&range),
                }
                prop_assert!(ranges.0.windows(2).all(|pair| pair[0].end <= pair[1].start));
                prop_assert!(ranges.0.iter().all(|range| !range.is_empty()));
            }
            let expected = blocks[from as usize..(from + length) as usize].contains(&true);
            let asked = from..from + length;
            prop_assert_eq!(ranges.meets(&asked), expected);
            let overlaps = ranges.overlaps(&asked).flatten();
            let among = asked.clone().filter(|&block| blocks[block as usize]);
            prop_assert!(overlaps.eq(among));
        }
    }
}

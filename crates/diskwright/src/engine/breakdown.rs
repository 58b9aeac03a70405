//! What the engine does when the power fails, and when a device does.

use crate::base::error::Error;
use crate::base::units::Lbn;
use crate::engine::context::Kernel;
use crate::engine::device::{Fault, Location};
use crate::engine::event_loop::Engine;
use crate::engine::faults::cut_short;
use crate::engine::initiator::Initiator;
use crate::engine::messages::Message;
use crate::engine::request::DeviceId;

impl Engine {
    /// Checks what can be recovered, and ends what the host has under way with an error.
    pub(super) fn lose_power(&mut self, initiator: &mut impl Initiator) -> Result<(), Error> {
        let now = self.kernel.now;
        initiator.power_lost(now);
        self.measure_until_now();
        for id in self.ids() {
            if !self.kernel.faults.has_failed(id) {
                let (device, mut cx) = self.device(id);
                device.fault(Fault::PowerLost, &mut cx);
            }
        }
        if let Some(mut checker) = self.kernel.checker.take() {
            let root = self.root();
            checker.power_cut(|lbn, media| self.locate((root, Lbn(lbn)), media));
            self.kernel.checker = Some(checker);
        }
        let requests = &mut self.kernel.requests;
        let mut lost = requests.live();
        lost.retain(|&id| requests.get(id).owner.is_none());
        lost.sort_unstable_by_key(|&id| requests.get(id).sequence);
        for id in lost {
            cut_short(self.kernel.requests.get_mut(id), now);
            if let Some(checker) = &mut self.kernel.checker {
                checker.completed(id, self.kernel.requests.get(id));
            }
            initiator.completed(id, &mut self.port())?;
        }
        // No message is delivered any more, but what ended with these requests may have been the warm-up.
        let mut messages = self.kernel.messages.iter();
        let is_measured = messages.any(|message| message == Message::Measure);
        drop(messages);
        if is_measured {
            self.measure_from_now();
        }
        Ok(())
    }

    /// After a power cut: the change that a block of the root device has, by its number among the host's writes and trims from 1 on, with 0 for
    /// what was there before the run. `None` where no medium has the block, or the checker is off.
    pub fn change_left(&self, lbn: Lbn) -> Option<u64> {
        let checker = self.kernel.checker.as_ref()?;
        let mut media = Vec::new();
        self.locate((self.root(), lbn), &mut media);
        // Every copy may be read in place of every other.
        let place = media.first().copied().flatten()?;
        Some(checker.held(place))
    }

    /// Adds the media that have a block of a device, and its place on each; `None` for one that has it nowhere.
    pub(super) fn locate(
        &self,
        (id, lbn): (DeviceId, Lbn),
        media: &mut Vec<Option<(DeviceId, u64)>>,
    ) {
        if self.kernel.faults.has_failed(id) {
            return;
        }
        let device = &self.devices[id.0 as usize];
        for location in (0..).map_while(|copy| device.location(lbn, copy)) {
            match location {
                Location::Here(place) => media.push(Some((id, place.0))),
                Location::On(child, place) => self.locate((child, place), media),
                Location::Nowhere => media.push(None),
            }
        }
    }

    /// A device fails, and all below it: what they have under way ends, for those who are still there.
    pub(super) fn fail(&mut self, device: DeviceId) {
        let Kernel {
            now,
            faults,
            parents,
            timeline,
            requests,
            messages,
            ..
        } = &mut self.kernel;
        if faults.has_failed(device) {
            return;
        }
        // Children come before their parents in the arena.
        for id in (0..=device.0).rev().map(DeviceId) {
            let parent = parents[id.0 as usize];
            if id == device || parent.is_some_and(|parent| faults.has_failed(parent)) {
                faults.fail(id);
                timeline.cancel_all_of(id.0);
                self.devices[id.0 as usize].measure_until(*now);
            }
        }
        messages.push(Message::Failed { device });
        let mut cut = requests.live();
        cut.retain(|&id| {
            let request = requests.get(id);
            request.outcome.is_none() && faults.has_failed(request.device)
        });
        cut.sort_unstable_by_key(|&id| (requests.get(id).sequence, id));
        for request in cut {
            let entry = requests.get_mut(request);
            cut_short(entry, *now);
            messages.push(Message::Completed { request });
        }
    }
}

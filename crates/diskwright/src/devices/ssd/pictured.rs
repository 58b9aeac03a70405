//! What an SSD tells its picture, where one is collected.

use serde_json::{Map, Value};

use super::Ssd;
use super::die_trace::Place;
use super::legs::{Leg, Legs, legs};
use super::operations::{Action, OpId, Operation, Phase};
use super::picture::SsdPicture;
use super::shape::Shape;
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::RequestId;
use crate::engine::window::ArmTraceWindow;

impl Ssd {
    /// Collects a picture from now on.
    pub(super) fn begin_picture(&mut self, window: Option<&ArmTraceWindow>) {
        let shape = Shape {
            geometry: self.geometry,
            planes_of_worker: self.geometry.planes_of_channel() / self.workers_of_channel,
            cleaned_below: self.cleaning.begin,
            has_parity: self.stripes.is_some(),
        };
        self.picture = Some(Box::new(SsdPicture::new(shape, &self.blocks, window)));
    }

    /// What a picture of the run shows.
    pub(super) fn picture_json(&self) -> Option<Map<String, Value>> {
        let collected = self.picture.as_ref()?;
        let mut picture = collected.json(&self.blocks);
        let power = self.power.as_ref();
        let power = power.and_then(|power| power.picture(collected.ended()));
        picture.extend(power.map(|power| ("power".to_owned(), power)));
        Some(picture)
    }

    /// All that happens now has happened.
    #[inline]
    pub(super) fn note_picture(&mut self, now: Time) {
        if let Some(picture) = &mut self.picture {
            picture.note(now, self.serving, &self.counters, &self.blocks);
        }
    }

    /// The warm-up is over, and the counters begin anew.
    pub(super) fn measure_picture_from(&mut self, now: Time) {
        if let Some(picture) = &mut self.picture {
            picture.note(now, self.serving, &self.counters, &self.blocks);
            picture.measure_from(now);
        }
    }

    /// A request gets a slot of the queue, which may be what a trace waits for.
    #[inline]
    pub(super) fn picture_serves(&self, request: RequestId, cx: &Context<'_>) {
        if let Some(picture) = &self.picture
            && let Some(trace) = &picture.trace
        {
            trace.serves(cx.request(request).of_host(), cx.now());
        }
    }

    /// A phase of a worker's operation has begun, and is over at `ends`.
    #[inline(never)]
    pub(super) fn picture_phase(&mut self, worker: u32, id: OpId, ends: Time, cx: &Context<'_>) {
        let now = cx.now();
        let operation = *self.operations.get(id);
        let channel = self.geometry.channel_of(operation.plane);
        let carried = self.channels[channel as usize].busy_until - now;
        let legs = self.legs_of(id, carried, ends - now - carried);
        let is_last = is_last(&operation);
        let Some(mut picture) = self.picture.take() else {
            return;
        };
        picture.phase(worker, operation.action, now, legs);
        for id in self.operations.together(id) {
            picture.touch(self.operations.get(id).plane);
        }
        if let Some(trace) = &mut picture.trace
            && trace.shows(worker, now)
        {
            let place = || self.place_of_operation(id, cx);
            trace.phase((worker, operation.action), now, (&legs, is_last), place);
        }
        self.picture = Some(picture);
    }

    /// The operation of a worker that was suspended goes on until `ends`, with its array only.
    pub(super) fn picture_resumes(&mut self, worker: u32, id: OpId, ends: Time, cx: &Context<'_>) {
        let now = cx.now();
        let action = self.operations.get(id).action;
        let leg = match action {
            Action::Erase => Leg::Erase,
            _ => Leg::Program,
        };
        let legs = legs([(leg, ends - now)]);
        let Some(mut picture) = self.picture.take() else {
            return;
        };
        picture.phase(worker, action, now, legs);
        if let Some(trace) = &mut picture.trace
            && trace.shows(worker, now)
        {
            let place = || self.place_of_operation(id, cx);
            trace.phase((worker, action), now, (&legs, true), place);
        }
        self.picture = Some(picture);
    }

    /// A phase of a worker's operation is over.
    #[inline(never)]
    pub(super) fn picture_phase_over(&mut self, worker: u32, id: OpId, now: Time) {
        let Some(picture) = &mut self.picture else {
            return;
        };
        let operation = self.operations.get(id);
        picture.phase_over((worker, operation.action), now, !is_last(operation));
        for id in self.operations.together(id) {
            picture.touch(self.operations.get(id).plane);
        }
    }

    /// What a phase divides into that keeps the channel for `carried`, and then the array for `array`.
    fn legs_of(&self, id: OpId, carried: Time, array: Time) -> Legs {
        let operation = self.operations.get(id);
        match (operation.phase, operation.action) {
            (Phase::Out, _) => legs([(Leg::DataOut, carried)]),
            (Phase::Sense, _) => legs([(Leg::Command, carried), (Leg::Read, array)]),
            (_, Action::Erase) => legs([(Leg::Command, carried), (Leg::Erase, array)]),
            (_, Action::Move) if self.is_copied_back(operation) => {
                let number = self.geometry.page_in_block(operation.to);
                let program = self.timing.program_time(number, self.geometry.pages);
                legs([
                    (Leg::Command, carried),
                    (Leg::Read, array - program),
                    (Leg::Program, program),
                ])
            }
            (_, action) => {
                let pages = self.operations.together(id).count() as u64;
                let page = self.timing.transfer(self.blocks_of_page());
                let data = Time::from_ns(page.ns() * pages);
                let erase = match action {
                    Action::MapWrite => {
                        Time::from_ns(self.timing.erase.ns() * u64::from(operation.count))
                    }
                    _ => Time::ZERO,
                };
                legs([
                    (Leg::Command, carried - data),
                    (Leg::DataIn, data),
                    (Leg::Erase, erase),
                    (Leg::Program, array - erase),
                ])
            }
        }
    }

    /// 512-byte blocks of a page.
    fn blocks_of_page(&self) -> u32 {
        self.geometry.unit_blocks * self.geometry.units
    }

    /// Whether a move that writes does so with what the flash has read itself: a whole page.
    fn is_copied_back(&self, operation: &Operation) -> bool {
        self.copy_back && (self.log.is_some() || self.job_of(operation).last == self.geometry.units)
    }

    fn place_of_operation(&self, id: OpId, cx: &Context<'_>) -> Place {
        let operation = self.operations.get(id);
        let of_slot = |slot: u32| {
            let block = self.geometry.block_of(slot) % self.geometry.blocks;
            (
                Some(block),
                Some(self.geometry.page_of(slot) % self.geometry.pages),
            )
        };
        let (block, page) = match operation.action {
            Action::Read | Action::Merge | Action::MapRead | Action::Move | Action::MoveRead => {
                of_slot(operation.from)
            }
            Action::Program | Action::Parity | Action::MoveWrite | Action::MoveParity => {
                of_slot(operation.to)
            }
            Action::Erase => (Some(operation.unit % self.geometry.blocks), None),
            Action::MapWrite => (None, None),
        };
        let request = match operation.action {
            Action::Read => Some(operation.request),
            Action::Program => self.waits_for_page(operation),
            _ => None,
        };
        Place {
            plane: operation.plane,
            block,
            page,
            planes: self.operations.together(id).count() as u32,
            request: request.and_then(|request| cx.request(request).of_host()),
        }
    }

    /// The first request that waits for the end of a program, if one does.
    fn waits_for_page(&self, operation: &Operation) -> Option<RequestId> {
        let entries = &self.writes.entries;
        let mut of_page = std::iter::successors(operation.entries.first(), |&id| entries.after(id));
        of_page.find_map(|id| entries.get(id).request)
    }
}

/// Whether an operation is over with the phase that it is in.
fn is_last(operation: &Operation) -> bool {
    match operation.phase {
        Phase::Last => true,
        Phase::Out => operation.action != Action::Move,
        _ => false,
    }
}

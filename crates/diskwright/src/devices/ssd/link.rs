//! Requests on a link that is known by its standard: each thing that crosses it is given to it when it is there, and is carried behind what was
//! given before.

use super::{Ssd, kinds};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Op, Part, RequestId};
use crate::models::link::Direction;

impl Ssd {
    /// The command of a request crosses the link; then the controller works on it for `overhead`.
    #[inline(never)]
    pub(super) fn crosses_link(
        &mut self,
        request: RequestId,
        overhead: Time,
        cx: &mut Context<'_>,
    ) {
        let link = self.link.as_mut().expect("it has one");
        let time = link.command;
        let here = link.carry(Direction::ToDevice, time, cx.now()) + link.latency;
        let entry = cx.request_mut(request);
        entry.parts.add(Part::Bus, time + link.latency);
        let is_write = entry.command.op == Op::Write;
        let at = here + overhead;
        match is_write {
            true if at == cx.now() => self.takes_data(request, cx),
            true => _ = cx.alarm(at, Token::of_request(kinds::DATA, request)),
            false => self.arrives_at(at + self.interface.mapping, request, cx),
        }
    }

    /// The controller is ready for the data of a write, which cross the link.
    pub(super) fn takes_data(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let time = self.link_time(
            Direction::ToDevice,
            self.open[request.0 as usize].command.blocks,
        );
        let link = self.link.as_mut().expect("it has one");
        let here = link.carry(Direction::ToDevice, time, cx.now()) + link.latency;
        let parts = &mut cx.request_mut(request).parts;
        parts.add(Part::Bus, time + link.latency);
        self.arrives_at(here + self.interface.mapping, request, cx);
    }

    /// A request is in the controller, with what it needs of the map looked up, at an instant.
    fn arrives_at(&mut self, at: Time, request: RequestId, cx: &mut Context<'_>) {
        if at == cx.now() {
            self.arrived(request, cx);
        } else {
            cx.alarm(at, Token::of_request(kinds::ARRIVED, request));
        }
    }
}

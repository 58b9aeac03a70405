//! Requests that wait for a slot: in one queue, or in several submission queues among which the controller arbitrates.

use super::Ssd;
use crate::engine::context::Context;
use crate::engine::request::RequestId;

impl Ssd {
    /// How many requests wait for a slot.
    pub(super) fn waiting(&self) -> usize {
        match &self.queues {
            Some(queues) => queues.waiting(),
            None => self.waiting.len(),
        }
    }

    /// The request that gets the next slot, if one may.
    pub(super) fn next_waiting(&mut self) -> Option<RequestId> {
        match &mut self.queues {
            Some(queues) => queues.fetch(),
            None => self.waiting.pop_front(),
        }
    }

    /// A request comes into its submission queue.
    #[inline(never)]
    pub(super) fn joins_queue(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let stream = cx.request(request).stream;
        if let Some(queues) = &mut self.queues {
            queues.push(stream, request);
        }
        if !self.is_asleep() {
            self.fetch(cx);
        }
    }

    /// A request of a stream has left its slot; whether all slots were taken until then.
    #[inline(never)]
    pub(super) fn leaves_queue(&mut self, stream: u32, was_full: bool, cx: &mut Context<'_>) {
        if let Some(queues) = &mut self.queues {
            queues.ended(stream);
        }
        self.fetch(cx);
        if was_full && self.serving < self.depth {
            cx.announce_room();
        }
    }

    /// Requests are fetched while there are slots for them.
    fn fetch(&mut self, cx: &mut Context<'_>) {
        while self.serving < self.depth
            && let Some(next) = self.next_waiting()
        {
            self.take(next, cx);
        }
    }
}

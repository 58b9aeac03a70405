//! Which request of the Request Queue is next, and what becomes of it: the decision of Fig. 6.

use std::ops::Range;

use super::counters::Written;
use super::fqueue::Found;
use super::rules::{Decision, Next};
use super::{Access, FlashBacked, MEMORY, NextSpec, Overlap, Piece, command_on, run_of};
use crate::base::units::Lbn;
use crate::engine::context::Context;
use crate::engine::request::{Command, NvCacheCommand, Op, Outcome, RequestId, ServedBy};
use crate::models::queue::{Space, View};

impl FlashBacked {
    /// Goes on as far as the medium is free.
    pub(super) fn dispatch(&mut self, cx: &mut Context<'_>) {
        while self.access.is_none() {
            let is_flushs_turn = self.is_flushing && self.is_flushs_turn && !self.pool.is_empty();
            if is_flushs_turn && self.flush_oldest(false, cx) {
                break;
            }
            let Some((request, command)) = self.take_next(self.head, cx) else {
                self.is_idle(cx);
                break;
            };
            let has_looked_ahead = std::mem::take(&mut self.has_looked_ahead);
            match command.op {
                Op::Read => self.read(request, &command, cx),
                Op::Write => self.write(request, &command, cx),
                _ => self.access_for(request, &command, cx),
            }
            if has_looked_ahead {
                let is_write = command.op == Op::Write && self.access.is_some();
                self.parts.rule.next_was(is_write);
            }
            self.is_flushs_turn = true;
        }
        self.counters.clock(cx.now(), self.fqueue.blocks());
    }

    /// The slot of the request that is next when the head is at a place.
    fn pick(&mut self, head: Lbn, cx: &Context<'_>) -> Option<crate::models::queue::Slot> {
        if self.pool.is_empty() {
            return None;
        }
        let view = View {
            now: cx.now(),
            pool: &self.pool,
            space: Space::Blocks(head),
        };
        Some(self.parts.scheduler.pick(&view))
    }

    fn take_next(&mut self, head: Lbn, cx: &Context<'_>) -> Option<(RequestId, Command)> {
        let slot = self.pick(head, cx)?;
        let pending = self.pool.remove(slot);
        Some((pending.request, pending.command))
    }

    /// Serves a read from the FQueue's memory, if all of it is there.
    pub(super) fn read_from_memory(
        &mut self,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) -> bool {
        let is_whole = self.fqueue.find(&run_of(command)) == Found::Whole;
        if is_whole {
            self.serve_from_memory(request, command, cx);
        }
        is_whole
    }

    fn serve_from_memory(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        self.counters.whole_reads += 1;
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        entry.served_by = ServedBy::Buffer;
        self.overlay(request, command, cx);
        self.complete(request, Outcome::Ok, cx);
    }

    /// A read has from memory what is there.
    pub(super) fn overlay(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        let run = run_of(command);
        for entry in self.fqueue.overlapping(&run) {
            let from = entry.lbn.max(run.start);
            let blocks = entry.end().min(run.end) - from;
            checker.read_buffered(device, MEMORY, request, from, blocks as u32);
        }
    }

    fn read(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let run = run_of(command);
        match self.fqueue.find(&run) {
            Found::Whole => return self.serve_from_memory(request, command, cx),
            Found::Nothing => return self.access_for(request, command, cx),
            Found::Part => {}
        }
        self.counters.partial_reads += 1;
        let access = Access {
            request: Some(request),
            op: Op::NvCache(NvCacheCommand::ReadMedium),
            fua: command.fua,
            run: self.missing_span(&run),
            takes_entries: false,
            is_idle: false,
        };
        self.begin(access, cx);
    }

    /// From the first block of a run that is not in the FQueue to the last one.
    fn missing_span(&self, run: &Range<u64>) -> Range<u64> {
        let mut span = run.clone();
        for entry in self.fqueue.overlapping(run) {
            if entry.lbn <= span.start {
                span.start = span.start.max(entry.end());
            }
        }
        let from = span.start;
        // From the back: entries are in order, so the last ones that follow one another to the end count.
        span.end = from;
        let mut at = from;
        for entry in self.fqueue.overlapping(&(from..run.end)) {
            if entry.lbn > at {
                span.end = entry.lbn;
            }
            at = entry.end();
        }
        if at < run.end {
            span.end = run.end;
        }
        span
    }

    /// Steps 1 and 2 of the decision.
    fn write(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let run = run_of(command);
        let (mut touched, mut are_covered) = (false, true);
        for entry in self.fqueue.touching(&run) {
            touched = true;
            let is_covered = run.start <= entry.lbn && entry.end() <= run.end;
            are_covered &= is_covered && entry.under_way == 0;
        }
        let may_overwrite = self.parts.overlap == Overlap::Overwrite && are_covered;
        if touched && !may_overwrite {
            return self.coalesce(request, command, &run, cx);
        }
        let may_redirect = !self.is_flushing && !self.is_degraded;
        if may_redirect && self.redirects(command, cx) {
            let old: u64 = match touched {
                true => (self.fqueue.overlapping(&run))
                    .map(|entry| entry.blocks)
                    .sum(),
                false => 0,
            };
            let size = self.fqueue.blocks() - old + (run.end - run.start);
            if size <= self.parts.capacity {
                return self.redirect(request, command, (&run, touched), cx);
            }
            self.counters.without_room += 1;
            if !self.fqueue.is_empty() {
                self.begin_flushing();
            }
        }
        if touched {
            return self.coalesce(request, command, &run, cx);
        }
        self.access_for(request, command, cx);
    }

    /// Step 2: whether the rule redirects a write.
    fn redirects(&mut self, command: &Command, cx: &Context<'_>) -> bool {
        let end = command.end();
        let next = match self.pick(end, cx) {
            Some(slot) => Some(self.pool.get(slot).command),
            None => self
                .parts
                .foresight
                .as_ref()
                .and_then(|foresight| foresight.next()),
        };
        let times = &self.parts.times;
        let next = match (next, self.parts.next) {
            (Some(next), _) => Next::Is {
                from_request: times.medium(end, &next),
                from_head: times.medium(self.head, &next),
            },
            (None, NextSpec::NeverRedirect) => Next::Required,
            (None, _) => Next::None,
        };
        self.has_looked_ahead = matches!(next, Next::Is { .. });
        self.parts.rule.redirects(&Decision {
            blocks: command.blocks,
            head_to_request: times.medium(self.head, command),
            flash: times.flash(command.blocks),
            next,
        })
    }

    /// Step 3: a write goes to the NV cache, and into the FQueue; it replaces what it covers there, if it touches anything.
    fn redirect(
        &mut self,
        request: RequestId,
        command: &Command,
        (run, touches): (&Range<u64>, bool),
        cx: &mut Context<'_>,
    ) {
        let (mut entries, mut blocks, mut order) = (0, 0, None);
        let mut old = run.clone();
        while touches && let Some(old) = self.fqueue.take_within(&mut old) {
            entries += 1;
            blocks += old.blocks;
            order = Some(order.map_or(old.order, |order: u64| order.min(old.order)));
        }
        if entries > 0 {
            self.counters.overwritten.add(entries, blocks);
        }
        self.counters.redirected.add(1, command.blocks.into());
        let order = self.fqueue.insert(run, order);
        if let Some((checker, device)) = cx.checker() {
            checker.buffered(device, MEMORY, request, run.start, command.blocks);
        }
        let job = self.children.begin(request);
        let write = command_on(Op::NvCache(NvCacheCommand::PinAndWrite), command.fua, run);
        let child = self.send(job, write, Piece::Flash { order }, cx);
        if let Some((checker, _)) = cx.checker() {
            checker.carried(request, child, run.start, command.blocks);
        }
        if self.fqueue.blocks() >= self.parts.high {
            self.begin_flushing();
        }
    }

    /// Step 1: a write goes to the medium with all that is contiguous with it in the FQueue.
    fn coalesce(
        &mut self,
        request: RequestId,
        command: &Command,
        run: &Range<u64>,
        cx: &mut Context<'_>,
    ) {
        let merged = self.fqueue.merged(run);
        (self.counters.coalesced).add(merged.entries, merged.blocks);
        let access = Access {
            request: Some(request),
            op: Op::Write,
            fua: command.fua,
            run: merged.run,
            takes_entries: true,
            is_idle: false,
        };
        self.begin(access, cx);
    }

    /// A request goes to the medium as it is.
    fn access_for(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let access = Access {
            request: Some(request),
            op: command.op,
            fua: command.fua,
            run: run_of(command),
            takes_entries: false,
            is_idle: false,
        };
        self.begin(access, cx);
    }

    /// What an access writes, for the counters; `None` for one that does not.
    pub(super) fn written(access: &Access) -> Option<Written> {
        match (access.op, access.request) {
            (Op::Write, Some(_)) => Some(Written::Medium),
            (Op::Write, None) if access.is_idle => Some(Written::IdleFlush),
            (Op::Write, None) => Some(Written::ForegroundFlush),
            _ => None,
        }
    }
}

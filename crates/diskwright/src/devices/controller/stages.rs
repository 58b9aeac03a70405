//! What a request of the host goes through, whatever the cache.

use super::operations::Data;
use super::work::{Kind, Stage, Work, WorkId};
use super::{Cache, Controller, MOVED, TOLD, has_blocks};
use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, RequestId, ServedBy};

impl Controller {
    /// A request is taken up.
    pub(super) fn begin(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        let command = entry.command;
        self.active += 1;
        let mut work = new_work(Kind::Host, command, now);
        work.request = Some(request);
        let has_locks = !matches!(self.cache, Cache::None) && has_blocks(command.op);
        work.stage = if has_locks { Stage::Lock } else { Stage::Begin };
        if matches!(command.op, Op::Read | Op::Write) {
            work.end = work.end.min(work.from + u64::from(self.settings.most));
        }
        let id = self.works.begin(work);
        self.ready.push_back(id);
    }

    /// Work goes on that waits for nothing.
    pub(super) fn go_on(&mut self, id: WorkId, cx: &mut Context<'_>) {
        debug_assert_eq!(self.works.get(id).left, 0, "it waits for something");
        let Work { kind, stage, .. } = *self.works.get(id);
        match (kind, stage) {
            (_, Stage::Lock) => self.lock(id),
            (Kind::Host, Stage::Begin) => self.has_locked(id, cx),
            (Kind::WriteBack { .. }, Stage::Begin) => self.write_back(id, cx),
            (Kind::Settle, Stage::Begin) => self.read_to_settle(id, cx),
            (_, Stage::Lines { line }) => self.lines(id, line, cx),
            (_, Stage::Move) => self.move_data(id, cx),
            (_, Stage::Moved) => self.has_moved(id, cx),
            (Kind::Host, Stage::Written) => self.has_written(id, cx),
            (_, Stage::Written) => self.settle(id, cx),
            (_, Stage::WrittenThrough) => self.has_written_through(id, cx),
            (_, Stage::Answer) => self.answer(id, cx),
            (_, Stage::End) => self.end(id, cx),
        }
    }

    /// Changes the stage of work, which goes on at once unless it waits for something.
    pub(super) fn next_stage(&mut self, id: WorkId, stage: Stage) {
        let work = self.works.get_mut(id);
        work.stage = stage;
        if work.left == 0 {
            self.ready.push_back(id);
        }
    }

    fn lock(&mut self, id: WorkId) {
        let work = self.works.get_mut(id);
        work.stage = Stage::Begin;
        let reads = work.command.op == Op::Read || work.kind != Kind::Host;
        if self.locks.ask(id, (work.from, work.end), reads) {
            self.hold_lines(id);
            self.ready.push_back(id);
        }
    }

    /// A request has its blocks for itself.
    fn has_locked(&mut self, id: WorkId, cx: &mut Context<'_>) {
        self.account_for(id, Part::Wait, cx);
        let command = self.piece(id);
        match (command.op, &self.cache) {
            (Op::Flush, Cache::Memory(_)) => {
                self.write_all_back(Some(id), cx);
                self.next_stage(id, Stage::Written);
            }
            (Op::Flush, _) => self.flush_devices(id, cx),
            (Op::Trim, _) => self.trim(id, &command, cx),
            (_, Cache::None) => {
                self.works.get_mut(id).has_missed = true;
                self.ask(id, command, None, Data::Host, cx);
                self.next_stage(id, Stage::Answer);
            }
            (_, Cache::Memory(_)) => self.next_stage(id, Stage::Lines { line: 0 }),
            (Op::Read, Cache::Device(_)) => self.read_by_cache_device(id, &command, cx),
            (_, Cache::Device(_)) => self.next_stage(id, Stage::Move),
        }
    }

    /// What the piece of a request that is under way asks.
    pub(super) fn piece(&self, id: WorkId) -> Command {
        let work = self.works.get(id);
        Command {
            lbn: Lbn(work.from),
            blocks: work.blocks(),
            ..work.command
        }
    }

    /// All devices make durable what they have acknowledged.
    pub(super) fn flush_devices(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let command = Command {
            op: Op::Flush,
            ..Command::default()
        };
        for child in 0..self.queues.len() {
            // What only a cache device had that has failed is lost already.
            if child < self.addressed || !self.queues[child].has_failed {
                self.ask_child(id, child, command, Data::None, cx);
            }
        }
        self.next_stage(id, Stage::Answer);
    }

    fn trim(&mut self, id: WorkId, command: &Command, cx: &mut Context<'_>) {
        match &mut self.cache {
            Cache::None => {}
            Cache::Memory(_) => self.trim_memory(command, cx),
            Cache::Device(device) => {
                device.trim(command.lbn.0, command.end().0);
                let below = command.end().0.min(device.size);
                if command.lbn.0 < below && !device.has_failed {
                    let blocks = (below - command.lbn.0) as u32;
                    let on_cache = Command { blocks, ..*command };
                    self.ask_child(id, self.addressed, on_cache, Data::None, cx);
                }
            }
        }
        self.ask(id, *command, None, Data::None, cx);
        self.next_stage(id, Stage::Answer);
    }

    /// Data go between the host and the controller, those of one request at a time.
    fn move_data(&mut self, id: WorkId, cx: &mut Context<'_>) {
        if self.works.get(id).outcome != Outcome::Ok {
            return self.next_stage(id, Stage::Answer);
        }
        let blocks = u64::from(self.works.get(id).blocks());
        let time = Time::from_ns(self.settings.block.ns() * blocks);
        self.works.get_mut(id).stage = Stage::Moved;
        if time == Time::ZERO {
            return self.ready.push_back(id);
        }
        let now = cx.now();
        let begin = self.moves_until.max(now);
        self.moves_until = begin + time;
        let work = self.works.get_mut(id);
        if let Some(request) = work.request {
            let parts = &mut cx.request_mut(request).parts;
            parts.add(Part::Wait, begin - work.accounted);
            parts.add(Part::Bus, time);
            work.accounted = self.moves_until;
        }
        cx.alarm(self.moves_until, Token::new(MOVED, id.0));
    }

    fn has_moved(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let op = self.works.get(id).command.op;
        match (&self.cache, op) {
            (Cache::Memory(_), Op::Read) => self.read_from_memory(id, cx),
            (Cache::Memory(_), _) => self.write_to_memory(id, cx),
            (_, Op::Read) => self.has_read_by_cache_device(id, cx),
            _ => self.write_by_cache_device(id, cx),
        }
    }

    fn has_written(&mut self, id: WorkId, cx: &mut Context<'_>) {
        match self.cache {
            Cache::Memory(_) => self.has_written_all_back(id, cx),
            _ => self.has_written_by_cache_device(id, cx),
        }
    }

    /// A piece is done with.
    fn answer(&mut self, id: WorkId, cx: &mut Context<'_>) {
        self.let_go(id);
        match self.message(cx) {
            Some(at) => _ = cx.alarm(at, Token::new(TOLD, id.0)),
            None => self.told(id, cx),
        }
    }

    /// Gives back what work has of the cache.
    pub(super) fn let_go(&mut self, id: WorkId) {
        let mut frames = std::mem::take(&mut self.works.get_mut(id).frames);
        if let Cache::Memory(memory) = &mut self.cache {
            for frame in frames.iter().filter_map(|line| line.pinned()) {
                memory.cache.unpin(frame);
                memory.cache.remove_if_empty(frame);
            }
        }
        frames.clear();
        self.works.get_mut(id).frames = frames;
        self.locks.free(id, &mut self.granted);
        self.wake_granted();
    }

    /// The host has been told of a piece: the next one begins, or the request is complete.
    pub(super) fn told(&mut self, id: WorkId, cx: &mut Context<'_>) {
        self.account_for(id, Part::Overhead, cx);
        let most = u64::from(self.settings.most);
        let has_locks = !matches!(self.cache, Cache::None);
        let work = self.works.get_mut(id);
        let is_cut = matches!(work.command.op, Op::Read | Op::Write);
        let end = work.command.end().0;
        if is_cut && work.end < end && work.outcome == Outcome::Ok {
            self.counters.cut();
            work.from = work.end;
            work.end = end.min(work.from + most);
            let stage = if has_locks { Stage::Lock } else { Stage::Begin };
            return self.next_stage(id, stage);
        }
        let work = self.works.end(id);
        let request = work.request.expect("it was the host's");
        let entry = cx.request_mut(request);
        entry.served_by = match work.has_missed {
            true => ServedBy::Medium,
            false => ServedBy::Buffer,
        };
        self.counters.completed(&work);
        cx.complete(request, work.outcome);
        let was_full = self.free_slots() == 0;
        self.active -= 1;
        self.admit(cx);
        if was_full && self.free_slots() > 0 {
            cx.announce_room();
        }
    }

    /// Work that nobody else waits for is over, or work of the controller's own.
    fn end(&mut self, id: WorkId, cx: &mut Context<'_>) {
        self.let_go(id);
        let work = self.works.end(id);
        self.own_work_ended(id, &work, cx);
        if let Some(owner) = work.owner {
            self.one_less(owner);
        }
        for flush in self.flushed_by.remove(&id).unwrap_or_default() {
            let of_flush = self.works.get_mut(flush);
            if of_flush.outcome == Outcome::Ok {
                of_flush.outcome = work.outcome;
            }
            self.one_less(flush);
        }
        self.idle_work_ended(id, work.outcome, cx);
    }
}

/// Work that begins now, with all its blocks as one piece.
pub(super) fn new_work(kind: Kind, command: Command, now: Time) -> Work {
    Work {
        kind,
        request: None,
        command,
        from: command.lbn.0,
        end: command.end().0,
        stage: Stage::Lock,
        left: 0,
        outcome: Outcome::Ok,
        accounted: now,
        frames: Vec::new(),
        owner: None,
        has_missed: false,
        has_bypassed: false,
    }
}

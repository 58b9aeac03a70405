//! What arrives, and what has ended.

use diskwright::engine::request::{NvCacheCommand as Nv, Op};

use super::instants::{Alarm, Message, Sent};
use super::model::{Block, Model, What};

impl Model<'_> {
    pub fn arrives(&mut self, request: usize) {
        self.add("requests", 1);
        let kind = match self.case.requests[request].op {
            Op::NvCache(Nv::Pin | Nv::PinAndPopulate | Nv::PinAndWrite) => Some("commands.pin"),
            Op::NvCache(Nv::Unpin) => Some("commands.unpin"),
            Op::NvCache(Nv::QueryPinned) => Some("commands.query_pinned"),
            Op::NvCache(Nv::FlushUnpinned) => Some("commands.flush_unpinned"),
            _ => None,
        };
        if let Some(kind) = kind {
            self.add(kind, 1);
        }
        self.begin(request);
    }

    /// A request arrives, or need not wait any longer.
    pub fn begin(&mut self, request: usize) {
        let asked = self.case.requests[request];
        let (lbn, end) = (asked.lbn as usize, (asked.lbn + asked.blocks) as usize);
        match asked.op {
            Op::Read | Op::Write | Op::NvCache(Nv::ReadMedium) => {
                self.divide(request, asked.op, lbn, end);
            }
            Op::Flush => {
                let job = self.begin_job(Some(request));
                self.send(0, job, asked.op, 0, What::Passed);
                self.send(1, job, asked.op, 0, What::Passed);
            }
            Op::Trim => {
                let job = self.begin_job(Some(request));
                self.send(0, job, asked.op, asked.blocks, What::Passed);
            }
            Op::NvCache(Nv::Pin | Nv::PinAndPopulate | Nv::PinAndWrite) => {
                if !self.pins(request) && !self.waits_for_room(request) {
                    self.meets("a pin is refused");
                    self.refuses(request);
                }
            }
            Op::NvCache(Nv::Unpin) => {
                self.unpins(lbn, end);
                self.answers(request);
            }
            Op::NvCache(Nv::QueryPinned) => {
                let is_pinned =
                    |at: &usize| self.blocks[*at].place.is_some() && self.blocks[*at].is_pinned;
                let answer = match (lbn..end).filter(is_pinned).count() {
                    0 => 0,
                    all if all == end - lbn => 2,
                    _ => 1,
                };
                self.answers.push((request, answer));
                self.answers(request);
            }
            Op::NvCache(Nv::FlushUnpinned) => {
                if self.flush.is_some() {
                    self.meets("a flush waits for another");
                    self.parked.push(request);
                } else if !self.begin_flush(Some(request)) {
                    self.answers(request);
                }
            }
            Op::NvCache(of @ (Nv::PowerModeOn | Nv::PowerModeOff)) => {
                self.is_saving = of == Nv::PowerModeOn;
                self.has_told = false;
                self.cancel(Alarm::Rest);
                self.tells_medium();
                self.answers(request);
            }
            Op::NvCache(Nv::WriteMedium | Nv::WriteMediumAndUnpin) => {
                if !self.parks(request, lbn, end) {
                    let job = self.begin_job(Some(request));
                    self.asks_of_medium(job, Op::Write, lbn, end);
                }
            }
        }
    }

    pub fn answers(&mut self, request: usize) {
        self.alarm(self.now + self.case.command, Alarm::Answer(request));
    }

    /// A command has been answered: one that pins and writes goes on with its write, if its blocks are still where it pinned them.
    pub fn answered(&mut self, request: usize) {
        let Some(&pinned_at) = self.pinned_at.get(&request) else {
            return self.complete(request);
        };
        let asked = self.case.requests[request];
        let (lbn, end) = (asked.lbn as usize, (asked.lbn + asked.blocks) as usize);
        if self.waits_for_populating(request, lbn, end) {
            return;
        }
        self.pinned_at.remove(&request);
        let is_own =
            |block: &Block| block.place.is_some() && block.is_pinned && block.given_by < pinned_at;
        if !self.blocks[lbn..end].iter().all(is_own) {
            self.meets("a write finds its blocks unpinned");
            self.add("commands.refused", 1);
            return self.complete(request);
        }
        self.add("requests", 1);
        let job = self.begin_job(Some(request));
        for run in self.runs(lbn, end) {
            self.asks_of_flash(job, Op::Write, run.lbn, run.blocks);
        }
    }

    fn unpins(&mut self, lbn: usize, end: usize) {
        self.divide_at(lbn, end);
        for at in lbn..end {
            if self.blocks[at].is_pinned {
                self.give_up(at);
            }
        }
    }

    pub fn refuses(&mut self, request: usize) {
        self.add("commands.refused", 1);
        self.answers(request);
    }

    /// Takes a pin, if there is room.
    pub fn pins(&mut self, request: usize) -> bool {
        let asked = self.case.requests[request];
        let (lbn, end) = (asked.lbn as usize, (asked.lbn + asked.blocks) as usize);
        if !self.hold(lbn, end, true) {
            return false;
        }
        let empty = self.empty_runs(lbn, end);
        if asked.op == Op::NvCache(Nv::PinAndWrite) {
            let now = self.next_tick();
            self.pinned_at.insert(request, now);
        }
        if asked.op != Op::NvCache(Nv::PinAndPopulate) || empty.is_empty() {
            self.answers(request);
            return true;
        }
        let job = self.begin_job(Some(request));
        self.jobs[job].fetched_at = self.next_tick();
        for (lbn, end) in empty {
            self.jobs[job].fetched.push((lbn, end));
            self.asks_of_medium(job, Op::Read, lbn, end);
        }
        true
    }

    /// Runs with a place that have no data, and no request to it.
    fn empty_runs(&self, lbn: usize, end: usize) -> Vec<(usize, usize)> {
        let runs = self.runs(lbn, end).into_iter().filter(|run| {
            let block = &self.blocks[run.lbn];
            run.has_place && !block.is_valid && block.users == 0
        });
        runs.map(|run| (run.lbn, run.lbn + run.blocks)).collect()
    }

    fn divide(&mut self, request: usize, op: Op, lbn: usize, end: usize) {
        let is_write = op == Op::Write;
        if is_write && self.waits_for_populating(request, lbn, end) {
            return;
        }
        let is_wanted = is_write && self.unpinned_set_takes(lbn, end);
        let is_taken = is_wanted && self.hold(lbn, end, false);
        if is_write && !is_taken && self.parks(request, lbn, end) {
            return;
        }
        let is_at_rest = self.is_at_rest();
        let job = self.begin_job(Some(request));
        // Neighbouring runs that go to the medium are one request to it.
        let mut medium: Option<(usize, usize)> = None;
        let (mut unpinned, mut asks_medium) = (0, false);
        for run in self.runs(lbn, end) {
            let block = self.blocks[run.lbn];
            let is_flash = run.has_place
                && match op {
                    Op::Read => block.is_valid,
                    Op::Write => block.is_pinned || is_taken,
                    _ => block.is_valid && !block.is_pinned,
                };
            if !is_flash {
                asks_medium = true;
                let from = medium.map_or(run.lbn, |(from, _)| from);
                medium = Some((from, run.lbn + run.blocks));
                continue;
            }
            if let Some((from, end)) = medium.take() {
                self.asks_of_medium(job, op, from, end);
            }
            if !block.is_pinned {
                unpinned += run.blocks as u64;
            }
            self.asks_of_flash(
                job,
                if is_write { Op::Write } else { Op::Read },
                run.lbn,
                run.blocks,
            );
        }
        if let Some((from, end)) = medium {
            self.asks_of_medium(job, op, from, end);
        }
        if is_taken && unpinned > 0 {
            self.meets("the unpinned set takes a write");
            self.add("unpinned_set.writes", 1);
            self.add("unpinned_set.written_blocks", unpinned);
        }
        if is_wanted && !is_taken {
            self.meets("a write finds no room");
            self.own_flush();
        }
        if op == Op::Read && !asks_medium && is_at_rest {
            self.meets("a read does not wake the medium");
            self.add("reads_at_rest", 1);
        }
    }

    pub fn asks_of_medium(&mut self, job: usize, op: Op, lbn: usize, end: usize) {
        let op = if op == Op::Write { Op::Write } else { Op::Read };
        if op == Op::Write {
            self.writing.push((lbn, end));
        }
        let blocks = end - lbn;
        self.send(0, job, op, blocks as u64, What::Medium { lbn, blocks });
    }

    pub fn asks_of_flash(&mut self, job: usize, op: Op, lbn: usize, blocks: usize) {
        let of = self.begin_use(lbn, blocks);
        self.send(1, job, op, blocks as u64, What::Flash(of));
    }

    /// Sends a request to the medium, 0, or to the NV cache, 1.
    pub fn send(&mut self, device: usize, job: usize, op: Op, blocks: u64, what: What) {
        let (count, of_blocks) = match (device, op) {
            (0, Op::Read) => ("medium.reads", "medium.read_blocks"),
            (0, Op::Write) => ("medium.writes", "medium.written_blocks"),
            (_, Op::Read) => ("nv_cache.reads", "nv_cache.read_blocks"),
            (_, Op::Write) => ("nv_cache.writes", "nv_cache.written_blocks"),
            _ => ("passed", "passed blocks"),
        };
        self.add(count, 1);
        self.add(of_blocks, blocks);
        let sent = self.sent.len();
        if device == 0 {
            self.asks_medium(sent, job, op);
        }
        self.sent.push(Sent {
            device,
            op,
            blocks,
            job,
            what,
        });
        self.jobs[job].left += 1;
        self.under_way += 1;
        self.messages.push(Message::ToDevice(sent));
    }

    /// A request to a device has ended.
    pub fn ended(&mut self, sent: usize) {
        let Sent {
            device,
            op,
            job,
            what,
            ..
        } = self.sent[sent];
        self.under_way -= 1;
        match what {
            What::Flash(of) => self.end_use(&of, op == Op::Write),
            What::Medium { lbn, blocks } if op == Op::Write => {
                let written = (lbn, lbn + blocks);
                let at = self.writing.iter().position(|ends| *ends == written);
                self.writing.remove(at.expect("under way"));
                self.supersede(lbn, lbn + blocks);
            }
            What::Gather(of) => self.end_use(&of, false),
            What::Spread(of) => self.settle(&of),
            What::Medium { .. } | What::Passed => {}
        }
        self.jobs[job].left -= 1;
        if self.jobs[job].left == 0 {
            self.job_ended(job, what);
        }
        if device == 0 {
            self.medium_has_ended(sent, what);
        }
        self.tells_medium();
    }

    fn job_ended(&mut self, job: usize, last: What) {
        match last {
            What::Gather(of) => {
                return self.send(0, job, Op::Write, of.blocks as u64, What::Spread(of));
            }
            What::Spread(of) => {
                self.add("unpinned_set.flushed_blocks", of.blocks as u64);
                return self.flush_goes_on(of.lbn + of.blocks);
            }
            _ => {}
        }
        let request = self.jobs[job].request.expect("for a request");
        let mut populates = false;
        for (from, until) in std::mem::take(&mut self.jobs[job].fetched) {
            for (lbn, end) in self.empty_runs(from, until) {
                if self.blocks[lbn].void_before > self.jobs[job].fetched_at {
                    self.meets("what a pin has read is no longer the newest");
                    continue;
                }
                self.meets("a pin populates");
                self.add("populated_blocks", (end - lbn) as u64);
                self.populating.push((job, lbn, end));
                self.asks_of_flash(job, Op::Write, lbn, end - lbn);
                populates = true;
            }
        }
        if populates {
            return;
        }
        let asked = self.case.requests[request];
        if asked.op == Op::NvCache(Nv::WriteMediumAndUnpin) {
            self.add("requests", 1);
            self.add("commands.unpin", 1);
            self.unpins(asked.lbn as usize, (asked.lbn + asked.blocks) as usize);
        }
        self.complete(request);
        if asked.op == Op::NvCache(Nv::PinAndPopulate) {
            self.populating.retain(|populating| populating.0 != job);
            for waiting in std::mem::take(&mut self.behind_populating) {
                match self.case.requests[waiting].op {
                    Op::Write => self.begin(waiting),
                    _ => self.answered(waiting),
                }
            }
        }
    }

    /// A write waits for a pin that writes what it has read to places of the same blocks.
    fn waits_for_populating(&mut self, request: usize, lbn: usize, end: usize) -> bool {
        let mut populating = self.populating.iter();
        let waits = populating.any(|&(_, from, until)| lbn < until && from < end);
        if waits {
            self.meets("a write waits for a pin that populates");
            self.behind_populating.push(request);
        }
        waits
    }
}

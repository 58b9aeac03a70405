//! What work goes through.

use diskwright::engine::request::Op;

use super::instants::Alarm;
use super::model::Model;
use super::specs::Cache;

/// What work is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A request of the host.
    Host(usize),
    /// Data go on behind the host's back, or dirty blocks go to the devices behind the cache device.
    Own,
    /// Dirty blocks of the memory cache go to their device. Those of a line that has left are written at once.
    WriteBack { is_leaving: bool },
}

/// Where a line of a piece is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Unknown,
    /// It was there when the piece was locked, and its turn has not come.
    Found,
    Taken,
    /// Nowhere: all lines are in use.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    Lock,
    Begin,
    /// The next line of a memory cache.
    Lines(usize),
    Move,
    Moved,
    /// It is on the cache device, or has been read from there.
    Written,
    /// It is on the devices behind the cache device.
    WrittenBehind,
    Answer,
    End,
    Over,
}

#[derive(Clone, Debug)]
pub struct Work {
    pub kind: Kind,
    pub op: Op,
    pub fua: bool,
    /// Its piece.
    pub from: u64,
    pub end: u64,
    pub stage: Stage,
    /// Operations that it waits for.
    pub left: usize,
    pub has_missed: bool,
    /// Of the lines of a piece, in a memory cache.
    pub places: Vec<Place>,
    pub has_bypassed: bool,
    /// Lines that stay because of it.
    pub keeps: Vec<u64>,
    /// What waits for its end.
    pub owner: Option<usize>,
}

impl Work {
    pub fn new(kind: Kind, op: Op, (from, end): (u64, u64)) -> Work {
        Work {
            kind,
            op,
            fua: false,
            from,
            end,
            stage: Stage::Lock,
            left: 0,
            has_missed: false,
            places: Vec::new(),
            has_bypassed: false,
            keeps: Vec::new(),
            owner: None,
        }
    }
}

impl Model<'_> {
    /// Requests are taken up, as many as it works on at a time.
    pub fn take_up(&mut self) {
        let most = self.case.queue.unwrap_or(usize::MAX);
        while self.active < most && !self.outside.is_empty() {
            let request = self.outside.remove(0);
            let asked = self.case.requests[request];
            self.active += 1;
            let end = asked.lbn + asked.blocks;
            let is_cut = matches!(asked.op, Op::Read | Op::Write);
            let piece = self.case.most.filter(|_| is_cut).unwrap_or(u64::MAX);
            let is_locked = !matches!(self.case.cache, Cache::None) && asked.op != Op::Flush;
            let run = (asked.lbn, end.min(asked.lbn.saturating_add(piece)));
            self.begin(Work {
                fua: asked.fua,
                stage: if is_locked { Stage::Lock } else { Stage::Begin },
                ..Work::new(Kind::Host(request), asked.op, run)
            });
        }
        self.meet("a request that waits outside", !self.outside.is_empty());
    }

    /// Work begins; it waits for nothing yet.
    pub fn begin(&mut self, work: Work) -> usize {
        self.works.push(work);
        self.ready.push(self.works.len() - 1);
        self.works.len() - 1
    }

    /// All goes on that waits for nothing; then the devices get what waits for them, and idleness is looked for.
    pub fn go_on(&mut self) {
        while !self.ready.is_empty() {
            let work = self.ready.remove(0);
            self.works_on(work);
        }
        self.give_to_devices();
        self.look_for_idleness();
        self.look_for_dirt();
    }

    /// Something that work waits for is over.
    pub fn one_less(&mut self, work: usize) {
        self.works[work].left -= 1;
        if self.works[work].left == 0 {
            self.ready.push(work);
        }
    }

    /// Work that has its blocks for itself now goes on.
    pub fn wake(&mut self, granted: Vec<usize>) {
        for work in granted {
            self.hold_lines(work);
            self.ready.push(work);
        }
    }

    /// The next stage of work, which it comes to once it waits for nothing.
    pub fn next_stage(&mut self, work: usize, stage: Stage) {
        self.works[work].stage = stage;
        if self.works[work].left == 0 {
            self.ready.push(work);
        }
    }

    fn works_on(&mut self, work: usize) {
        let Work {
            kind,
            op,
            from,
            end,
            stage,
            ..
        } = self.works[work];
        let is_host = matches!(kind, Kind::Host(_));
        match stage {
            Stage::Lock => {
                self.works[work].stage = Stage::Begin;
                let is_read = op == Op::Read || !is_host;
                match self.locks.ask(work, (from, end), is_read) {
                    true => self.wake(vec![work]),
                    false => self.meet("blocks that are locked", true),
                }
            }
            Stage::Begin => match kind {
                Kind::Host(_) => self.begins(work),
                Kind::Own => self.reads_to_settle(work),
                Kind::WriteBack { .. } => self.writes_back(work),
            },
            Stage::Lines(line) => self.take_lines(work, line),
            Stage::Move => self.moves(work),
            Stage::Moved => match (self.case.cache, op) {
                (Cache::Memory(_), Op::Read) => self.next_stage(work, Stage::Answer),
                (Cache::Memory(_), _) => self.write_to_memory(work),
                (_, Op::Read) => self.has_read_by_cache_device(work),
                _ => self.write_by_cache_device(work),
            },
            Stage::Written => match (self.case.cache, is_host) {
                (Cache::Memory(_), _) => self.flush_devices(work),
                (_, true) => self.has_written(work),
                (_, false) => self.settles(work),
            },
            Stage::WrittenBehind => self.has_written_behind(work),
            Stage::Answer => {
                self.gives_back(work);
                match self.message() {
                    Some(at) => self.alarm(at, Alarm::Told(work)),
                    None => self.told(work),
                }
            }
            Stage::End => {
                self.gives_back(work);
                if let Some(owner) = self.works[work].owner {
                    self.one_less(owner);
                }
                for (flush, write_back) in self.flushed.clone() {
                    if write_back == work {
                        self.one_less(flush);
                    }
                }
                self.works[work].stage = Stage::Over;
                self.idle_work_ended(work);
            }
            Stage::Over => unreachable!("it is over"),
        }
    }

    fn gives_back(&mut self, work: usize) {
        for key in std::mem::take(&mut self.works[work].keeps) {
            self.let_go_of(key);
        }
        self.works[work].places.clear();
        let granted = self.locks.free(work);
        self.wake(granted);
    }

    fn flush_devices(&mut self, work: usize) {
        for device in 0..self.queues.len() {
            self.ask_device(work, device, Op::Flush, false, (0, 0));
        }
        self.next_stage(work, Stage::Answer);
    }

    fn begins(&mut self, work: usize) {
        let Work {
            op, fua, from, end, ..
        } = self.works[work];
        match op {
            Op::Flush => match self.case.cache {
                Cache::Memory(_) => {
                    self.write_all_back(Some(work));
                    self.next_stage(work, Stage::Written);
                }
                _ => self.flush_devices(work),
            },
            Op::Trim => {
                match self.case.cache {
                    Cache::None => {}
                    Cache::Memory(_) => self.trim_memory((from, end)),
                    Cache::Device(_) => self.trim_cache_device(work),
                }
                self.ask(work, op, false, (from, end));
                self.next_stage(work, Stage::Answer);
            }
            _ => match self.case.cache {
                Cache::None => {
                    self.ask(work, op, fua, (from, end));
                    self.next_stage(work, Stage::Answer);
                }
                Cache::Memory(_) => self.next_stage(work, Stage::Lines(0)),
                Cache::Device(_) if op == Op::Read => self.read_by_cache_device(work),
                Cache::Device(_) => self.next_stage(work, Stage::Move),
            },
        }
    }

    /// The data of a piece are moved between host and controller, after those of the pieces before it.
    fn moves(&mut self, work: usize) {
        let Work { from, end, .. } = self.works[work];
        self.works[work].stage = Stage::Moved;
        let time = self.case.block * (end - from);
        if time == 0 {
            return self.ready.push(work);
        }
        self.meet("data that wait for others", self.moves_until > self.now);
        self.moves_until = self.moves_until.max(self.now) + time;
        self.alarm(self.moves_until, Alarm::Moved(work));
    }

    /// The host has been told of a piece.
    pub fn told(&mut self, work: usize) {
        let Work {
            kind,
            op,
            end,
            has_missed,
            ..
        } = self.works[work];
        let Kind::Host(request) = kind else {
            unreachable!("nobody is told of the controller's own work");
        };
        let asked = self.case.requests[request];
        let last = asked.lbn + asked.blocks;
        if matches!(op, Op::Read | Op::Write) && end < last {
            self.add("further_pieces", 1);
            self.meet("a request in pieces", true);
            let most = self.case.most.expect("a piece has a size");
            let piece = &mut self.works[work];
            (piece.from, piece.end) = (end, last.min(end + most));
            let stage = match self.case.cache {
                Cache::None => Stage::Begin,
                _ => Stage::Lock,
            };
            return self.next_stage(work, stage);
        }
        self.completions[request] = Some(self.now);
        self.add("requests", 1);
        let (all, hits) = match op {
            Op::Read => ("reads", "read_hits"),
            Op::Write => ("writes", "write_hits"),
            _ => ("others", "hits of others"),
        };
        self.add(all, 1);
        self.add(hits, u64::from(!has_missed));
        self.active -= 1;
        self.take_up();
    }
}

//! Requests of the host, and the requests to members that they become.

use diskwright::engine::request::Op;

use super::clock::{End, Message, Sent};
use super::model::Model;
use super::order::Claim;
use super::runs::{self, Run};
use super::specs::{Asked, Layout};

/// A block of a member.
pub type Block = (usize, u64);

/// A request to a member, as part of a job.
#[derive(Clone, Debug)]
pub struct Piece {
    pub op: Op,
    pub run: Run,
    pub is_pre_read: bool,
    pub has_parity: bool,
    /// The pieces that must end before.
    pub after: Vec<usize>,
    pub is_sent: bool,
    pub end: Option<End>,
    /// The members that have been tried before.
    pub tried: Vec<usize>,
}

impl Piece {
    pub fn new(op: Op, run: Run) -> Piece {
        Piece {
            op,
            run,
            is_pre_read: false,
            has_parity: false,
            after: Vec::new(),
            is_sent: false,
            end: None,
            tried: Vec::new(),
        }
    }
}

/// What a job is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// The host's request of a number.
    Request(usize),
    /// A step of a rebuild on this spare, and the flush at its end.
    Step(usize),
    Seal,
}

/// Work of the array.
#[derive(Clone, Debug)]
pub struct Job {
    pub asked: Asked,
    pub purpose: Purpose,
    pub claim: Option<Claim>,
    pub is_waiting: bool,
    pub pieces: Vec<Piece>,
    /// What it has read, and what could not be read.
    pub there: Vec<Run>,
    pub bad: Vec<Run>,
    /// It asks for one row at a time, to see what cannot be read.
    pub is_by_rows: bool,
    pub is_to_plan_anew: bool,
    /// Some of it may have been written before it is planned anew.
    pub has_written: bool,
    pub has_lost_a_write: bool,
    /// Blocks of it were lost when it began to read.
    pub meets_lost: bool,
    /// What it does once all is read and written.
    pub tally: Vec<(&'static str, u64)>,
}

impl Job {
    pub fn new(asked: Asked, purpose: Purpose, claim: Option<Claim>) -> Job {
        Job {
            asked,
            purpose,
            claim,
            is_waiting: true,
            pieces: Vec::new(),
            there: Vec::new(),
            bad: Vec::new(),
            is_by_rows: false,
            is_to_plan_anew: false,
            has_written: false,
            has_lost_a_write: false,
            meets_lost: false,
            tally: Vec::new(),
        }
    }
}

impl Model<'_> {
    /// A request of the host arrives.
    pub fn arrives(&mut self, request: usize) {
        let asked = self.case.requests[request];
        self.add("requests", 1);
        match asked.op {
            Op::Read => self.add("reads", 1),
            Op::Write => self.add("writes", 1),
            _ => {}
        }
        self.met.insert(asked.op.name());
        if self.is_split(&asked) {
            self.add("split_requests", 1);
        }
        let claim = self.needs_rows(&asked).then(|| self.claim(&asked));
        self.jobs
            .push(Job::new(asked, Purpose::Request(request), claim));
        self.asks(self.jobs.len() - 1);
        self.go_on();
    }

    /// Whether the blocks of a request are on more than one member, copies apart.
    fn is_split(&self, asked: &Asked) -> bool {
        let blocks = self.blocks_of(asked);
        let first = blocks.first().map(|(member, _)| *member);
        blocks.iter().any(|(member, _)| Some(*member) != first)
    }

    fn needs_rows(&self, asked: &Asked) -> bool {
        let has_parity = self.case.parity().is_some();
        if !self.case.is_redundant() {
            return false;
        }
        match asked.op {
            Op::Write => true,
            Op::Trim => !has_parity,
            Op::Read if has_parity => {
                let parts = runs::parts(self.blocks_of(asked), self.case.unit());
                !parts.iter().all(|part| self.has(part.member, part.end()))
            }
            Op::Read => {
                let used = self.case.used();
                !(0..self.slots.len()).all(|member| self.has(member, used))
            }
            _ => false,
        }
    }

    /// The places of a request's blocks, each on the first member that has it.
    pub fn blocks_of(&self, asked: &Asked) -> Vec<Block> {
        let places = (asked.lbn..asked.lbn + asked.blocks).map(|lbn| self.case.place(lbn));
        places.map(|place| (place.member, place.at)).collect()
    }

    /// Begins what may begin.
    pub fn go_on(&mut self) {
        while !self.ready.is_empty() {
            let job = self.ready.remove(0);
            if self.jobs[job].asked.op == Op::Flush {
                self.flushes(job);
            } else if self.case.is_redundant() {
                self.plans(job);
            } else {
                self.asks_members(job);
            }
        }
    }

    fn flushes(&mut self, job: usize) {
        let leaves_out = self.case.is_redundant() || self.case.is_mirror();
        for member in 0..self.case.members.len() {
            if !(leaves_out && self.is_lost(member)) {
                let run = Run {
                    member,
                    at: 0,
                    blocks: 0,
                };
                self.jobs[job].pieces.push(Piece::new(Op::Flush, run));
            }
        }
        if self.jobs[job].pieces.is_empty() {
            self.is_over(job, false);
        } else {
            self.send_ready(job);
        }
    }

    /// Sends the pieces of a job that wait for nothing any more.
    pub fn send_ready(&mut self, job: usize) {
        for piece in 0..self.jobs[job].pieces.len() {
            let Job {
                pieces,
                is_to_plan_anew,
                ..
            } = &self.jobs[job];
            let Piece {
                is_sent, run, op, ..
            } = pieces[piece];
            let mut after = pieces[piece].after.iter();
            let is_ready = after.all(|&other| pieces[other].end.is_some());
            if is_sent || !is_ready || *is_to_plan_anew {
                continue;
            }
            let is_write = matches!(op, Op::Write | Op::Trim);
            let is_of_spare = match self.jobs[job].purpose {
                Purpose::Step(spare) => {
                    self.slots[run.member].device == spare && !self.is_lost(run.member)
                }
                _ => false,
            };
            let is_taken = is_of_spare || self.takes(run.member, run.at);
            if self.case.is_redundant() && is_write && !is_taken {
                let job = &mut self.jobs[job];
                job.pieces[piece].is_sent = true;
                job.pieces[piece].end = Some(End::Failed);
                job.has_lost_a_write = true;
                continue;
            }
            self.jobs[job].has_written |= is_write;
            self.send(job, piece);
        }
        let Job {
            pieces,
            is_to_plan_anew,
            ..
        } = &self.jobs[job];
        if pieces
            .iter()
            .any(|piece| piece.is_sent && piece.end.is_none())
        {
            return;
        }
        if *is_to_plan_anew {
            self.plans_anew(job);
        } else {
            self.has_all(job);
        }
    }

    pub fn send(&mut self, job: usize, piece: usize) {
        self.jobs[job].pieces[piece].is_sent = true;
        let Piece {
            op,
            run,
            is_pre_read,
            has_parity,
            ..
        } = self.jobs[job].pieces[piece];
        let slot = &mut self.slots[run.member];
        slot.outstanding += 1;
        if op != Op::Flush {
            slot.last_end = run.end();
        }
        let device = slot.device;
        self.shares[device].pieces += 1;
        self.shares[device].blocks += run.blocks;
        self.add("pieces", 1);
        self.add("pre_reads", is_pre_read.into());
        self.add("parity_writes", has_parity.into());
        self.sent.push(Sent {
            member: run.member,
            device,
            op,
            at: run.at,
            blocks: run.blocks,
            job,
            piece,
            end: None,
        });
        self.messages.push(Message::ToMember(self.sent.len() - 1));
    }

    /// A request to a member has come back.
    pub fn ended(&mut self, sent: usize) {
        let Sent {
            member,
            device,
            job,
            piece,
            end,
            ..
        } = self.sent[sent];
        let end = end.expect("it has ended");
        if self.slots[member].device == device {
            self.slots[member].outstanding -= 1;
        }
        if end != End::Good && self.is_retried(job, piece) {
            return self.send(job, piece);
        }
        self.jobs[job].pieces[piece].end = Some(end);
        if self.case.is_redundant() {
            self.hears(job, piece, device, end);
        }
        self.send_ready(job);
        self.go_on();
    }

    /// All pieces of a job have ended.
    fn has_all(&mut self, job: usize) {
        let Job { asked, pieces, .. } = &self.jobs[job];
        let is_good = |piece: &Piece| piece.end == Some(End::Good);
        let has_succeeded = match self.case.layout {
            _ if self.case.is_redundant() => self.suffices(job),
            Layout::Mirror { .. } => pieces.iter().any(is_good),
            _ => pieces.iter().all(is_good),
        };
        let blocks = asked.lbn..asked.lbn + asked.blocks;
        for &(counter, count) in &self.jobs[job].tally {
            *self.counts.entry(counter).or_default() += count;
        }
        if asked.op == Op::Write && has_succeeded {
            self.lost.retain(|lbn| !blocks.contains(lbn));
        }
        self.is_over(job, has_succeeded);
    }

    /// A job is over.
    pub fn is_over(&mut self, job: usize, has_succeeded: bool) {
        let Purpose::Request(request) = self.jobs[job].purpose else {
            self.leaves(job);
            return match self.jobs[job].purpose {
                Purpose::Step(spare) => self.has_stepped(job, spare, has_succeeded),
                _ => self.is_sealed(),
            };
        };
        if !has_succeeded {
            self.add("failed", 1);
            self.met.insert("a request that fails");
        }
        self.completions[request] = Some(self.now);
        self.leaves(job);
    }
}

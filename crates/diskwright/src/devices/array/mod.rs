//! An array: a device made of devices, over which a layout spreads its blocks.
//!
//! A request becomes one request for each member that has blocks of it, which the member gets within the same instant: an array has no
//! queue and takes no time of its own. The request ends with the last of these pieces, whose acceptance, start and parts are its own.
//!
//! Where blocks have copies, the array makes up for members that fail: a read that one of them could not serve goes to another, and
//! what is written is good when one of them has it.

mod counters;
pub mod layouts;
pub mod reads;
mod redundant;
pub mod spec;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::children::{Children, JobId};
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location, Restart};
use crate::engine::request::{Command, DeviceId, Op, Outcome, Promise, RequestId};
use counters::ArrayCounters;
use layouts::Layout;
pub(crate) use redundant::geometry::{Direction, Geometry, Scheme};

/// A member of an array, as its layout sees it.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The device.
    pub device: DeviceId,
    /// Requests that the array has submitted to it and that are not complete.
    pub outstanding: u32,
    /// The block after the last request that it was sent.
    pub head: Lbn,
    /// It has failed.
    pub has_failed: bool,
}

/// What one member has to do for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberPiece {
    /// The member, from 0.
    pub member: usize,
    /// Its first block.
    pub lbn: Lbn,
    /// Number of blocks.
    pub blocks: u32,
}

/// A device that an array is built of.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its number in the arena.
    pub device: DeviceId,
    /// Its capacity in blocks.
    pub blocks: u64,
    /// What it promises.
    pub promise: Promise,
}

/// The part of the members' blocks without a use from which on that is told.
const MUCH_UNUSED: f64 = 0.01;

/// An array.
pub struct Array {
    layout: Box<dyn Layout>,
    members: Vec<Member>,
    promise: Promise,
    /// The share of the members' blocks that the layout has no use for.
    unused: f64,
    children: Children<SentPiece>,
    counters: ArrayCounters,
    /// A member whose queue was full has room again.
    has_room: bool,
    /// The pieces of the request that is being submitted, kept for their memory.
    pieces: Vec<MemberPiece>,
}

/// What the array knows of a piece under way.
#[derive(Clone, Copy, Debug)]
struct SentPiece {
    piece: MemberPiece,
    /// The member that was sent it first.
    first: usize,
}

impl Array {
    /// An idle array of these members, on which `layout`, which was built for them, puts its blocks.
    pub fn new(layout: Box<dyn Layout>, children: &[Child]) -> Array {
        let is_durable = children
            .iter()
            .all(|child| child.promise == Promise::Durable);
        let all: u64 = children.iter().map(|child| child.blocks).sum();
        let used = layout.blocks() * u64::from(layout.copies());
        let member = |child: &Child| Member {
            device: child.device,
            outstanding: 0,
            head: Lbn(0),
            has_failed: false,
        };
        Array {
            layout,
            members: children.iter().map(member).collect(),
            promise: if is_durable {
                Promise::Durable
            } else {
                Promise::AfterFlush
            },
            unused: (all - used) as f64 / all as f64,
            children: Children::default(),
            counters: ArrayCounters::new(children.len()),
            has_room: false,
            pieces: Vec::new(),
        }
    }

    /// What a member is to do for a piece of a request.
    fn command(&mut self, of: &Command, piece: &MemberPiece) -> Command {
        let member = &mut self.members[piece.member];
        let command = Command {
            lbn: piece.lbn,
            blocks: piece.blocks,
            ..*of
        };
        member.outstanding += 1;
        if command.op != Op::Flush {
            member.head = command.end();
        }
        command
    }

    /// Sends a piece of a request to its member.
    fn send(&mut self, job: JobId, whole: RequestId, piece: MemberPiece, cx: &mut Context<'_>) {
        let command = self.command(&cx.request(whole).command, &piece);
        let device = self.members[piece.member].device;
        let sent = SentPiece {
            piece,
            first: piece.member,
        };
        let child = self.children.send(job, device, command, sent, cx);
        if command.op == Op::Write {
            self.report_to_checker(child, whole, &piece, cx);
        }
    }

    /// Reports to the checker whose data a piece has, or brings.
    fn report_to_checker(
        &self,
        child: RequestId,
        whole: RequestId,
        piece: &MemberPiece,
        cx: &mut Context<'_>,
    ) {
        let op = cx.request(child).command.op;
        let Some((checker, _)) = cx.checker() else {
            return;
        };
        let mut done = 0;
        while done < piece.blocks {
            let at = piece.lbn.after(done.into());
            let (of_array, run) = self.layout.origin(piece.member, at);
            let run = run.min(u64::from(piece.blocks - done)) as u32;
            let (whole, piece) = ((whole, of_array.0), (child, at.0));
            match op {
                Op::Write => checker.moved(whole, piece, run),
                _ => checker.moved(piece, whole, run),
            }
            done += run;
        }
    }

    /// The outcome of a request with `good` pieces that ended well. `outcome` is that of the first bad piece, if there is one.
    fn outcome(&self, op: Op, good: u32, outcome: Outcome) -> Outcome {
        // What one member has of copies is not lost.
        match op {
            Op::Write | Op::Trim | Op::Flush if self.layout.copies() > 1 && good > 0 => Outcome::Ok,
            _ => outcome,
        }
    }

    /// Free slots of the member that has the fewest, those that have failed left out.
    fn free_slots(&self, of: impl Fn(DeviceId) -> DeviceStatus) -> u32 {
        let slots = self.good_members().map(|member| of(member).free_slots);
        slots.min().unwrap_or(u32::MAX)
    }

    /// A member has not done what changes it: where others have what it lacks, it counts as failed.
    fn member_refused(&mut self, member: usize, cx: &mut Context<'_>) {
        let mut others = self.members.iter().enumerate();
        let is_left = |(other, of): (usize, &Member)| other != member && !of.has_failed;
        if self.layout.copies() > 1 && others.any(is_left) {
            self.member_failed(member, cx);
        }
    }

    fn member_failed(&mut self, member: usize, cx: &mut Context<'_>) {
        let was_full = self.free_slots(|member| cx.status(member)) == 0;
        self.members[member].has_failed = true;
        if was_full {
            self.child_has_room(self.members[member].device, cx);
        }
    }

    /// The members that have not failed.
    fn good_members(&self) -> impl Iterator<Item = DeviceId> {
        let members = self.members.iter().filter(|member| !member.has_failed);
        members.map(|member| member.device)
    }
}

impl Device for Array {
    fn children(&self) -> Vec<DeviceId> {
        self.members.iter().map(|member| member.device).collect()
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let command = cx.request(request).command;
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        match command.op {
            Op::Flush => {
                // Without copies the blocks of a member that has failed cannot be made durable: it says so.
                let has_copies = self.layout.copies() > 1;
                let members = self.members.iter().enumerate();
                let asked = members.filter(|(_, member)| !(has_copies && member.has_failed));
                pieces.extend(asked.map(|(member, _)| MemberPiece {
                    member,
                    lbn: command.lbn,
                    blocks: command.blocks,
                }));
            }
            _ => self.layout.split(&command, &self.members, &mut pieces),
        }
        self.counters.count(&command, &pieces);
        if pieces.is_empty() {
            let now = cx.now();
            let entry = cx.request_mut(request);
            (entry.acceptance, entry.start) = (now, now);
            cx.complete(request, Outcome::FailedDevice);
        } else {
            let job = self.children.begin(request);
            for &piece in &pieces {
                self.send(job, request, piece, cx);
            }
        }
        self.pieces = pieces;
    }

    fn child_completed(&mut self, _child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let piece = self.children.take(request);
        let SentPiece { piece: of, first } = piece.payload;
        let whole = self.children.request(piece.job);
        let whole = whole.expect("an array works for requests only");
        self.members[of.member].outstanding -= 1;
        let ended = cx.request(request);
        let op = ended.command.op;
        let outcome = ended.outcome.expect("the piece is complete");
        if op == Op::Read {
            if outcome == Outcome::Ok {
                self.report_to_checker(request, whole, &of, cx);
            } else if let Some(other) = self.layout.instead(&of, first, &self.members) {
                self.counters.retried(&other);
                let command = self.command(&cx.request(whole).command, &other);
                let device = self.members[other.member].device;
                let sent = SentPiece {
                    piece: other,
                    first,
                };
                (self.children).send_instead(piece, device, command, sent, cx);
                return;
            }
        }
        if op != Op::Read && outcome != Outcome::Ok {
            self.member_refused(of.member, cx);
        }
        if let Some(end) = self.children.finish(piece, outcome, cx) {
            self.children.end(end.job);
            cx.complete(whole, self.outcome(op, end.good, end.outcome));
        }
    }

    fn made_urgent(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.children.make_urgent(request, cx);
    }

    fn child_has_room(&mut self, _child: DeviceId, cx: &mut Context<'_>) {
        // Several members may have room again within an instant: that is told once, after it.
        if cx.has_parent() && !self.has_room {
            self.has_room = true;
            cx.wake();
        }
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        self.has_room = false;
        if self.free_slots(|member| cx.status(member)) > 0 {
            cx.announce_room();
        }
    }

    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        let Fault::ChildFailed(child) = fault else {
            return;
        };
        let mut members = self.members.iter();
        let failed = members.position(|member| member.device == child);
        self.member_failed(failed.expect("a child is a member"), cx);
    }

    fn restart(&self) -> Restart {
        Restart::InPlace
    }

    fn power_returned(&mut self, _cx: &mut Context<'_>) {
        self.children = Children::default();
        self.has_room = false;
        for member in &mut self.members {
            member.outstanding = 0;
        }
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        // Members get their pieces at once.
        0
    }

    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus {
        let of = |member: DeviceId| {
            let index = member.0 as usize;
            below[index].status(now, &below[..index])
        };
        DeviceStatus {
            outstanding: self.children.len() as u32,
            free_slots: self.free_slots(of),
            is_down: self.good_members().any(|member| of(member).is_down),
        }
    }

    fn stand_by(&mut self, cx: &mut Context<'_>) {
        for member in self.good_members() {
            cx.stand_by(member);
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        let copies = (0..self.layout.copies()).map(|copy| self.layout.place(lbn, copy));
        let is_left = |(member, _): &(usize, Lbn)| !self.members[*member].has_failed;
        // Those of failed members are not read, unless there are no others.
        let is_any_left = copies.clone().any(|copy| is_left(&copy));
        let mut read = copies.filter(|copy| !is_any_left || is_left(copy));
        let (member, at) = read.nth(copy as usize)?;
        Some(Location::On(self.members[member].device, at))
    }

    fn blocks(&self) -> u64 {
        self.layout.blocks()
    }

    fn promise(&self) -> Promise {
        self.promise
    }

    fn measure_from(&mut self, _now: Time) {
        self.counters.forget();
    }

    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        self.counters.report()
    }

    fn notes(&self) -> Vec<String> {
        if self.unused <= MUCH_UNUSED {
            return Vec::new();
        }
        vec![format!(
            "{:.1} % of the members' blocks have no use: the array is as large as its smallest member lets it be",
            100.0 * self.unused
        )]
    }
}

#[cfg(test)]
mod tests;

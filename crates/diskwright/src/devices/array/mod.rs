//! An array: a device made of devices, over which a layout spreads its blocks.
//!
//! A request becomes one request for each member that has blocks of it, which the member gets within the same instant: an array has no
//! queue and takes no time of its own. The request ends with the last of these pieces, whose acceptance, start and parts are its own.

mod counters;
pub mod layouts;
pub mod reads;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::device::{Context, Device, Look};
use crate::engine::request::{Command, DeviceId, Op, Outcome, Promise, RequestId};
use counters::Counters;
use layouts::Layout;

/// A member of an array, as its layout sees it.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The device.
    pub device: DeviceId,
    /// Requests that the array has submitted to it and that are not complete.
    pub outstanding: u32,
    /// The block after the last request that it was sent.
    pub head: Lbn,
}

/// What one member has to do for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
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
    /// The requests under way, by their numbers.
    open: Vec<Open>,
    /// What the requests submitted to members are for, by their numbers.
    sent: Vec<Option<Sent>>,
    outstanding: u32,
    counters: Counters,
    /// The pieces of the request that is being submitted, kept for their memory.
    pieces: Vec<Piece>,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Pieces that are not complete.
    left: u32,
    /// The first outcome of a piece that was not good.
    outcome: Outcome,
}

/// A piece under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    request: RequestId,
    member: usize,
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
            open: Vec::new(),
            sent: Vec::new(),
            outstanding: 0,
            counters: Counters::new(children.len()),
            pieces: Vec::new(),
        }
    }

    /// Sends a piece of a request to its member.
    fn send(&mut self, request: RequestId, piece: &Piece, cx: &mut Context<'_>) {
        let member = &mut self.members[piece.member];
        let command = Command {
            lbn: piece.lbn,
            blocks: piece.blocks,
            ..cx.request(request).command
        };
        member.outstanding += 1;
        if command.op != Op::Flush {
            member.head = command.end();
        }
        let child = cx.submit(member.device, command);
        cx.request_mut(child).sequence = cx.request(request).sequence;
        let sent = Sent {
            request,
            member: piece.member,
        };
        *entry(&mut self.sent, child, None) = Some(sent);
        if command.op == Op::Write {
            self.tell(child, sent, cx);
        }
    }

    /// Tells the checker whose data a piece has, or brings.
    fn tell(&self, child: RequestId, sent: Sent, cx: &mut Context<'_>) {
        let Command {
            op, lbn, blocks, ..
        } = cx.request(child).command;
        let Some((checker, _)) = cx.checker() else {
            return;
        };
        let mut done = 0;
        while done < blocks {
            let at = lbn.after(done.into());
            let (of_array, run) = self.layout.origin(sent.member, at);
            let run = run.min(u64::from(blocks - done)) as u32;
            let (whole, piece) = ((sent.request, of_array.0), (child, at.0));
            match op {
                Op::Write => checker.moved(whole, piece, run),
                _ => checker.moved(piece, whole, run),
            }
            done += run;
        }
    }
}

/// The entry of a request in a list by their numbers, which grows to have it.
fn entry<T: Clone>(list: &mut Vec<T>, request: RequestId, none: T) -> &mut T {
    let index = request.0 as usize;
    if list.len() <= index {
        list.resize(index + 1, none);
    }
    &mut list[index]
}

impl Device for Array {
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.outstanding += 1;
        let command = cx.request(request).command;
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        match command.op {
            Op::Flush => pieces.extend((0..self.members.len()).map(|member| Piece {
                member,
                lbn: command.lbn,
                blocks: command.blocks,
            })),
            _ => self.layout.split(&command, &self.members, &mut pieces),
        }
        self.counters.count(&command, &pieces);
        let open = Open {
            left: pieces.len() as u32,
            outcome: Outcome::Ok,
        };
        *entry(&mut self.open, request, open) = open;
        for piece in &pieces {
            self.send(request, piece, cx);
        }
        self.pieces = pieces;
    }

    fn alarm(&mut self, _token: Token, _cx: &mut Context<'_>) {
        unreachable!("an array sets no alarm");
    }

    fn child_completed(&mut self, _child: DeviceId, piece: RequestId, cx: &mut Context<'_>) {
        let sent = self.sent[piece.0 as usize].take();
        let sent = sent.expect("a member completes what was submitted to it");
        self.members[sent.member].outstanding -= 1;
        let ended = cx.request(piece).clone();
        let outcome = ended.outcome.expect("the piece is complete");
        if ended.command.op == Op::Read && outcome == Outcome::Ok {
            self.tell(piece, sent, cx);
        }
        let open = &mut self.open[sent.request.0 as usize];
        open.left -= 1;
        if open.outcome == Outcome::Ok {
            open.outcome = outcome;
        }
        let Open { left, outcome } = *open;
        if left > 0 {
            return;
        }
        let entry = cx.request_mut(sent.request);
        (entry.acceptance, entry.start) = (ended.acceptance, ended.start);
        (entry.parts, entry.served_by) = (ended.parts, ended.served_by);
        entry.shares_access = ended.shares_access;
        self.outstanding -= 1;
        cx.complete(sent.request, outcome);
    }

    fn look(&self, now: Time, below: &[Box<dyn Device>]) -> Look {
        let looks = self.members.iter().map(|member| {
            let index = member.device.0 as usize;
            below[index].look(now, &below[..index])
        });
        let (mut idle, mut free_slots) = (self.outstanding == 0, u32::MAX);
        for look in looks {
            idle &= look.idle;
            free_slots = free_slots.min(look.free_slots);
        }
        Look {
            idle,
            outstanding: self.outstanding,
            free_slots,
            cylinder: None,
        }
    }

    fn holder(&self, lbn: Lbn) -> Option<(DeviceId, Lbn)> {
        self.copy(lbn, 0)
    }

    fn copy(&self, lbn: Lbn, copy: u32) -> Option<(DeviceId, Lbn)> {
        (copy < self.layout.copies()).then(|| {
            let (member, at) = self.layout.place(lbn, copy);
            (self.members[member].device, at)
        })
    }

    fn blocks(&self) -> u64 {
        self.layout.blocks()
    }

    fn promise(&self) -> Promise {
        self.promise
    }

    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        self.counters.report()
    }

    fn warnings(&self) -> Vec<String> {
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
mod fakes;
#[cfg(test)]
mod tests;

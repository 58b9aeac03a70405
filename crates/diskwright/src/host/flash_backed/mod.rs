//! Flash-backed requests: a host's scheduler that writes to the NV cache of a hybrid drive what its medium would take longer for, keeps
//! these writes in memory, and brings them to the medium later. `docs/model/flash-backed.md` defines it.
//!
//! It stands between the host and the root of the devices, and is a device itself: it has requests under way, a queue and counters as
//! devices have. Of the hybrid drive it knows the contract and the commands to an NV cache.

mod counters;
mod dispatch;
mod ends;
pub mod foresight;
mod fqueue;
mod purge;
pub mod rules;
pub mod spec;
mod times;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::children::{Children, JobId};
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location};
use crate::engine::request::{Command, DeviceId, Op, Promise, RequestId};
use crate::engine::timeline::AlarmId;
use crate::models::queue::pool::Order;
use crate::models::queue::{Pending, Pool, Scheduler};
use counters::FlashBackedCounters;
use foresight::Foresight;
use fqueue::FQueue;
use rules::Rule;
use spec::{DropOrder, IdleSpec, NextSpec, Overlap};
use std::ops::Range;
use times::Times;

/// What flash-backed requests are made of.
pub(crate) struct Parts {
    /// The device with the NV cache.
    hybrid: DeviceId,
    /// Its capacity, in blocks.
    blocks: u64,
    promise: Promise,
    /// Blocks that the FQueue holds, and where flushing begins and ends.
    capacity: u64,
    high: u64,
    low: u64,
    scheduler: Box<dyn Scheduler>,
    rule: Box<dyn Rule>,
    overlap: Overlap,
    order: DropOrder,
    idle: IdleSpec,
    next: NextSpec,
    times: Times,
    /// What a command takes that only changes which blocks are pinned.
    command: Time,
    /// What arrives next, where that is told.
    foresight: Option<Foresight>,
}

/// The checker's name of the FQueue's memory.
const MEMORY: u32 = 0;

/// What a request to the hybrid drive is.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// Pins the blocks of a redirected write, which is the entry of this order, and writes them to the NV cache.
    Flash { order: u64 },
    /// Unpins what is to be written to the medium.
    UnpinFirst,
    /// The access to the medium.
    Medium,
    /// A flush, passed on.
    Flush,
}

/// The access to the medium that is under way.
#[derive(Clone, Debug)]
struct Access {
    /// The request of the Request Queue; `None` for a flush of the FQueue.
    request: Option<RequestId>,
    op: Op,
    fua: bool,
    /// What is read or written: more than the request where entries of the FQueue go with it.
    run: Range<u64>,
    /// Entries of the FQueue are written.
    takes_entries: bool,
    /// Of a flush, that no request waited when it began.
    is_idle: bool,
}

/// The scheduler.
pub struct FlashBacked {
    parts: Parts,
    /// The Request Queue.
    pool: Pool,
    fqueue: FQueue,
    children: Children<Piece>,
    /// The block behind the last access to the medium.
    head: Lbn,
    access: Option<Access>,
    /// Entries that have left the FQueue, but are not written yet, of the access under way.
    taken: Vec<Range<u64>>,
    /// The rule has decided with a next request, which has not come to its turn yet.
    has_looked_ahead: bool,
    /// Flushing has begun at the high watermark, and its turn is next.
    is_flushing: bool,
    is_flushs_turn: bool,
    /// The FQueue is purged since the Request Queue is empty.
    is_purging: bool,
    idle_alarm: Option<AlarmId>,
    /// The NV cache has failed: nothing is redirected any more.
    is_degraded: bool,
    /// The medium has not taken an entry: nothing is flushed any more.
    is_stuck: bool,
    /// Requests whose data the NV cache did not take, by the order of their entries: complete once the medium has them.
    unbacked: Vec<(u64, RequestId)>,
    /// Requests whose data the access under way takes to the medium, before they went to the NV cache.
    overtaken: Vec<RequestId>,
    outstanding: u32,
    counters: FlashBackedCounters,
}

impl FlashBacked {
    pub(crate) fn new(parts: Parts) -> FlashBacked {
        FlashBacked {
            pool: Pool::new(parts.scheduler.order()),
            parts,
            fqueue: FQueue::default(),
            children: Children::default(),
            head: Lbn(0),
            access: None,
            taken: Vec::new(),
            has_looked_ahead: false,
            is_flushing: false,
            is_flushs_turn: false,
            is_purging: false,
            idle_alarm: None,
            is_degraded: false,
            is_stuck: false,
            unbacked: Vec::new(),
            overtaken: Vec::new(),
            outstanding: 0,
            counters: FlashBackedCounters::default(),
        }
    }

    /// Sends a request to the hybrid drive.
    fn send(
        &mut self,
        job: JobId,
        command: Command,
        piece: Piece,
        cx: &mut Context<'_>,
    ) -> RequestId {
        (self.children).send(job, self.parts.hybrid, command, piece, cx)
    }

    /// A request enters the Request Queue.
    fn enqueue(&mut self, request: RequestId, command: Command, cx: &mut Context<'_>) {
        self.is_purging = false;
        if let Some(alarm) = self.idle_alarm.take() {
            cx.cancel(alarm);
        }
        let key = match self.pool.order() {
            Order::Arrival => 0,
            _ => command.lbn.0,
        };
        let pending = Pending::new(request, command, cx.now(), None, key);
        self.pool.push(pending);
        cx.wake();
    }
}

/// The blocks of a command.
fn run_of(command: &Command) -> Range<u64> {
    command.lbn.0..command.end().0
}

/// A command about a run of blocks.
fn command_on(op: Op, fua: bool, run: &Range<u64>) -> Command {
    Command {
        op,
        fua,
        lbn: Lbn(run.start),
        blocks: (run.end - run.start) as u32,
    }
}

impl Device for FlashBacked {
    fn children(&self) -> Vec<DeviceId> {
        vec![self.parts.hybrid]
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.outstanding += 1;
        let command = cx.request(request).command;
        self.counters.arrives(command.op);
        match command.op {
            Op::Flush => {
                let job = self.children.begin(request);
                self.send(job, command, Piece::Flush, cx);
            }
            Op::Read if self.read_from_memory(request, &command, cx) => {}
            _ => self.enqueue(request, command, cx),
        }
    }

    fn alarm(&mut self, _token: Token, cx: &mut Context<'_>) {
        self.idle_alarm = None;
        self.purge(cx);
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        self.dispatch(cx);
    }

    fn child_completed(&mut self, _child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        self.piece_ended(request, cx);
        cx.wake();
    }

    fn fault(&mut self, _fault: Fault, _cx: &mut Context<'_>) {}

    fn neglected(&self, _now: Time, below: &[Box<dyn Device>]) -> usize {
        #[cfg(test)]
        if !self.is_degraded {
            tests::assert_same_content(&self.fqueue, &*below[self.parts.hybrid.0 as usize]);
        }
        let _ = below;
        match self.access {
            Some(_) => 0,
            None => self.pool.len(),
        }
    }

    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus {
        let hybrid = self.parts.hybrid.0 as usize;
        DeviceStatus {
            outstanding: self.outstanding,
            free_slots: u32::MAX,
            is_down: below[hybrid].is_down(now, &below[..hybrid]),
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        // Memory is lost with the power: the hybrid drive alone has what was acknowledged.
        (copy == 0).then_some(Location::On(self.parts.hybrid, lbn))
    }

    fn blocks(&self) -> u64 {
        self.parts.blocks
    }

    fn promise(&self) -> Promise {
        self.parts.promise
    }

    fn measure_from(&mut self, now: Time) {
        self.counters.forget(now, self.fqueue.blocks());
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        (self.counters).report(&self.fqueue, self.parts.capacity, elapsed)
    }
}

#[cfg(test)]
mod tests;

//! A device without a queue of its own and without memory, of which only the time for each request is known: what `simple` and `curve`
//! have in common.
//!
//! It serves a fixed number of requests at a time; others wait outside in the order of their arrival, and are accepted when they
//! begin. A write is durable when it is complete. A flush and a trim take no time, but their turn.

mod counters;

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::base::error::{Error, InputError};
use crate::base::units::quantities::Rate;
use crate::base::units::{BLOCK_BYTES, Size, Time};
use crate::devices::assembly::Site;
use crate::engine::Token;
use crate::engine::access_times::AccessTimes;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Restart};
use crate::engine::request::{Command, Op, Outcome, Part, Parts, RequestId};
use counters::TimedCounters;

/// How long a device takes.
pub trait Timing: Send {
    /// The parts that its requests may have.
    const PARTS: &'static [Part];

    /// The time of a read or a write that begins now, by parts. Asked once for each, in the order in which they begin.
    fn time(&mut self, command: &Command) -> Parts;

    /// What is expected of that by distance alone.
    fn expected(&self) -> AccessTimes;
}

/// Refuses a device without blocks.
///
/// # Errors
/// With the place of the key `capacity`.
pub fn check_capacity(capacity: Size, site: &Site<'_>) -> Result<(), Error> {
    if capacity.blocks() > 0 {
        return Ok(());
    }
    let error = InputError::new("a device without blocks");
    Err(site.locate("capacity", error.help("write a size such as \"160 GB\"")))
}

/// The time of a request's bytes at a rate, which is none where there is no rate.
pub fn transfer(rate: Option<Rate>, command: &Command) -> Time {
    let bytes = u64::from(command.blocks) * BLOCK_BYTES;
    rate.map_or(Time::ZERO, |rate| rate.time(bytes))
}

/// A device with a timing.
pub struct Timed<T> {
    timing: T,
    blocks: u64,
    parallel: usize,
    serving: usize,
    waiting: VecDeque<RequestId>,
    counters: TimedCounters,
}

impl<T: Timing> Timed<T> {
    /// A device of `blocks` blocks, at rest, that serves `parallel` requests at a time.
    pub fn new(timing: T, blocks: u64, parallel: u32) -> Timed<T> {
        Timed {
            timing,
            blocks,
            parallel: parallel as usize,
            serving: 0,
            waiting: VecDeque::new(),
            counters: TimedCounters::default(),
        }
    }

    fn begin(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.serving += 1;
        let now = cx.now();
        let command = cx.request(request).command;
        let parts = match command.op {
            Op::Read | Op::Write => self.timing.time(&command),
            Op::Flush | Op::Trim | Op::NvCache(_) => Parts::default(),
        };
        let total = parts.total();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        entry.parts = parts;
        entry.media = total;
        self.counters.begins(now - entry.issue, &parts);
        cx.alarm(now + total, Token::of_request(0, request));
    }

    /// Serves what waits, as far as there is room.
    fn begin_next(&mut self, cx: &mut Context<'_>) {
        while self.serving < self.parallel
            && let Some(next) = self.waiting.pop_front()
        {
            self.begin(next, cx);
        }
    }

    fn clock(&mut self, now: Time) {
        self.counters.clock(now, self.serving, self.waiting.len());
    }
}

impl<T: Timing> Device for Timed<T> {
    fn restart(&self) -> Restart {
        Restart::Afresh
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.clock(cx.now());
        self.counters.arrives(cx.request(request).command.op);
        self.waiting.push_back(request);
        self.begin_next(cx);
        self.counters.waits(self.waiting.len());
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        self.clock(cx.now());
        let request = token.request();
        let Command {
            op, lbn, blocks, ..
        } = cx.request(request).command;
        if let Some((checker, medium)) = cx.checker() {
            match op {
                Op::Write => checker.wrote(medium, request, 0, lbn.0, blocks),
                Op::Read => checker.read(medium, request, 0, lbn.0, blocks),
                Op::Flush | Op::Trim | Op::NvCache(_) => {}
            }
        }
        cx.complete(request, Outcome::Ok);
        let was_full = self.serving == self.parallel;
        self.serving -= 1;
        self.begin_next(cx);
        if was_full && self.serving < self.parallel {
            cx.announce_room();
        }
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        self.waiting.len().min(self.parallel - self.serving)
    }

    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: (self.serving + self.waiting.len()) as u32,
            free_slots: (self.parallel - self.serving) as u32,
            is_down: false,
        }
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn measure_from(&mut self, now: Time) {
        self.counters = TimedCounters::since(now, self.waiting.len());
    }

    fn measure_until(&mut self, now: Time) {
        self.clock(now);
        self.counters.until(now);
    }

    fn access_times(&self) -> Option<AccessTimes> {
        Some(self.timing.expected())
    }

    fn parts(&self) -> &'static [Part] {
        T::PARTS
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        self.counters.report(elapsed, self.parallel, T::PARTS)
    }
}

#[cfg(test)]
mod tests;

//! Devices that do what a test wants, and a host that submits what it wants, under the engine and with the checker on.

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::engine::checker::Checker;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Restart};
use crate::engine::request::{Command, Op, Outcome, Part, Promise, Request, RequestId, ServedBy};
use crate::engine::{Engine, Initiator, Injection, Port, Token};

/// A device that takes a request `delay` after `wait`, some beside each other, in memory that survives the power, unless it forgets. One that
/// promises writes with a flush only has them in other memory until then.
pub(crate) struct Fake {
    pub blocks: u64,
    pub wait: Time,
    pub delay: Time,
    /// What a write takes beyond that.
    pub more_for_writes: Time,
    pub promise: Promise,
    pub outcome: Outcome,
    pub forgets: bool,
    /// From this instant on, each write of which the number is a multiple fails, and so do flushes of what is not in memory that survives.
    pub refuses: Option<(Time, usize)>,
    /// Requests that it takes at a time; others wait.
    pub slots: usize,
    taken: usize,
    outside: VecDeque<RequestId>,
    /// Blocks that a power cut takes.
    volatile: BTreeSet<u64>,
    writes: usize,
    /// What it was asked, and what of that became urgent, for the report.
    asked: Vec<Command>,
    urgent: Vec<Command>,
    /// Where the next request would begin, as far as that was known when each arrived.
    foreseen: Vec<Option<Lbn>>,
}

impl Fake {
    pub fn new(blocks: u64, delay_ms: u64) -> Fake {
        Fake {
            blocks,
            wait: Time::ZERO,
            delay: Time::from_ms(delay_ms),
            more_for_writes: Time::ZERO,
            promise: Promise::Durable,
            outcome: Outcome::Ok,
            forgets: false,
            refuses: None,
            slots: 1000,
            taken: 0,
            outside: VecDeque::new(),
            volatile: BTreeSet::new(),
            writes: 0,
            asked: Vec::new(),
            urgent: Vec::new(),
            foreseen: Vec::new(),
        }
    }

    fn begin(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.taken += 1;
        let start = cx.now() + self.wait;
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (start, start);
        entry.served_by = ServedBy::Both;
        let delay = match entry.command.op {
            Op::Write => self.delay + self.more_for_writes,
            _ => self.delay,
        };
        entry.parts.add(Part::Seek, delay);
        entry.media = delay;
        cx.alarm(start + delay, Token::of_request(0, request));
    }
}

impl Fake {
    /// Whether a request fails because of what it would write.
    fn refuses(&mut self, request: RequestId, cx: &Context<'_>) -> bool {
        let op = cx.request(request).command.op;
        self.writes += usize::from(op == Op::Write);
        let Some((from, every)) = self.refuses else {
            return false;
        };
        let is_late = cx.now() >= from;
        match op {
            Op::Write => is_late && self.writes.is_multiple_of(every),
            Op::Flush => is_late && !self.volatile.is_empty(),
            _ => false,
        }
    }

    /// Tells the checker what a request has done.
    fn take_effect(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let Command {
            op,
            fua,
            lbn,
            blocks,
        } = cx.request(request).command;
        let (forgets, is_durable) = (self.forgets, self.promise == Promise::Durable);
        let Some((checker, medium)) = cx.checker() else {
            return;
        };
        let range = lbn.0..lbn.0 + u64::from(blocks);
        match op {
            Op::Write if forgets => {}
            Op::Write if fua || is_durable => {
                checker.wrote(medium, request, 0, lbn.0, blocks);
                for block in range {
                    if self.volatile.remove(&block) {
                        checker.dropped(medium, 0, block, 1);
                    }
                }
            }
            Op::Write => {
                checker.buffered(medium, 0, request, lbn.0, blocks);
                self.volatile.extend(range);
            }
            Op::Read => {
                checker.read(medium, request, 0, lbn.0, blocks);
                for &block in self.volatile.range(range) {
                    checker.read_buffered(medium, 0, request, block, 1);
                }
            }
            Op::Flush => {
                for block in std::mem::take(&mut self.volatile) {
                    checker.drained(medium, 0, block, 1);
                    checker.dropped(medium, 0, block, 1);
                }
            }
            _ => {}
        }
    }
}

impl Device for Fake {
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.asked.push(cx.request(request).command);
        self.foreseen.push(cx.foreseen());
        if self.taken < self.slots {
            self.begin(request, cx);
        } else {
            self.outside.push_back(request);
        }
    }
    fn made_urgent(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.urgent.push(cx.request(request).command);
    }
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        let request = token.request();
        let outcome = match self.refuses(request, cx) {
            true => Outcome::MediaError,
            false => self.outcome,
        };
        if outcome == self.outcome {
            self.take_effect(request, cx);
        }
        cx.complete(request, outcome);
        let was_full = self.taken == self.slots;
        self.taken -= 1;
        if let Some(next) = self.outside.pop_front() {
            self.begin(next, cx);
        }
        if was_full && self.taken < self.slots {
            cx.announce_room();
        }
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: (self.taken + self.outside.len()) as u32,
            free_slots: (self.slots - self.taken) as u32,
            is_down: false,
        }
    }
    fn blocks(&self) -> u64 {
        self.blocks
    }
    fn promise(&self) -> Promise {
        self.promise
    }
    fn restart(&self) -> Restart {
        Restart::InPlace
    }
    fn power_returned(&mut self, _cx: &mut Context<'_>) {
        self.taken = 0;
        self.outside.clear();
        self.volatile.clear();
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        let text = |command: &Command| {
            let Command {
                op,
                fua,
                lbn,
                blocks,
            } = command;
            format!(
                "{} {}+{blocks}{}",
                op.name(),
                lbn.0,
                if *fua { " fua" } else { "" }
            )
        };
        let foreseen = self.foreseen.iter().map(|next| match next {
            Some(lbn) => lbn.0.to_string(),
            None => "none".to_owned(),
        });
        let texts = |commands: &[Command]| commands.iter().map(text).collect::<Vec<_>>().into();
        Map::from_iter([
            ("asked".to_owned(), texts(&self.asked)),
            ("urgent".to_owned(), texts(&self.urgent)),
            ("foreseen".to_owned(), foreseen.collect::<Vec<_>>().into()),
        ])
    }
}

/// A command without FUA.
pub(crate) fn command(op: Op, lbn: u64, blocks: u32) -> Command {
    Command {
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks,
    }
}

/// Submits commands at their times, waits for some of them from an instant on, and keeps how they ended.
struct Commands {
    commands: Vec<(Time, Command)>,
    /// When a command becomes urgent, by their places.
    raised: Vec<(Time, u32)>,
    requests: Vec<RequestId>,
    ended: Vec<Request>,
    lost: bool,
}

const SUBMIT: u32 = 0;
const RAISE: u32 = 1;

impl Initiator for Commands {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for (index, (at, _)) in (0..).zip(&self.commands) {
            port.alarm(*at, Token::new(SUBMIT, index));
        }
        for &(at, index) in &self.raised {
            port.alarm(at, Token::new(RAISE, index));
        }
        Ok(())
    }
    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let index = token.value();
        if token.kind() == RAISE {
            port.make_urgent(self.requests[index as usize]);
            return Ok(());
        }
        let (at, command) = self.commands[index as usize];
        let request = port.submit(&command, at, index.into());
        self.requests.push(request);
        Ok(())
    }
    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        self.ended.push(port.request(request).clone());
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {
        self.lost = true;
    }
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Runs commands at their times, while things go wrong at theirs; the requests are in the order in which they ended.
pub(crate) fn run_at(
    devices: Vec<Box<dyn Device>>,
    commands: Vec<(Time, Command)>,
    injections: &[(Time, Injection)],
) -> (Engine, Vec<Request>) {
    run_raised(devices, commands, &[], injections)
}

/// The same where commands, which are in the order of their times, become urgent at some instants, each by its place.
pub(crate) fn run_raised(
    devices: Vec<Box<dyn Device>>,
    commands: Vec<(Time, Command)>,
    raised: &[(Time, u32)],
    injections: &[(Time, Injection)],
) -> (Engine, Vec<Request>) {
    let promise = devices.last().expect("a root").promise();
    let mut engine = Engine::new(devices, Some(Box::new(Checker::new(promise))));
    let mut host = Commands {
        commands,
        raised: raised.to_vec(),
        requests: Vec::new(),
        ended: Vec::new(),
        lost: false,
    };
    for (at, injection) in injections {
        engine.inject(*at, injection.clone());
    }
    engine.run(&mut host).expect("it ends");
    let is_cut = |(_, injection): &(Time, Injection)| *injection == Injection::PowerCut;
    assert_eq!(host.lost, injections.iter().any(is_cut));
    (engine, host.ended)
}

/// The same with commands each a second after the one before.
pub(crate) fn run(
    devices: Vec<Box<dyn Device>>,
    commands: &[Command],
    injections: &[(Time, Injection)],
) -> (Engine, Vec<Request>) {
    let seconds = (0..).map(Time::from_s);
    run_at(
        devices,
        seconds.zip(commands.iter().copied()).collect(),
        injections,
    )
}

/// What a device was asked.
pub(crate) fn asked(engine: &Engine, device: usize) -> Vec<String> {
    reported(engine, device, "asked")
}

/// What of that became urgent.
pub(crate) fn urgent(engine: &Engine, device: usize) -> Vec<String> {
    reported(engine, device, "urgent")
}

/// What a device reports under a key.
pub(crate) fn reported(engine: &Engine, device: usize, key: &str) -> Vec<String> {
    let report = engine.devices()[device].report(Time::ZERO);
    let asked = report[key].as_array().expect("a list");
    let text = |asked: &Value| asked.as_str().expect("a text").to_owned();
    asked.iter().map(text).collect()
}

/// What the checker has found.
pub(crate) fn faults(engine: &Engine) -> &[String] {
    engine.checker().expect("it is on").faults()
}

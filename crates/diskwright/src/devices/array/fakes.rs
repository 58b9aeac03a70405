//! Devices that do what a test wants, and a host that submits what it wants, under the engine and with the checker on.

use std::ops::ControlFlow;

use super::layouts::LayoutSpec;
use super::*;
use crate::base::error::Error;
use crate::engine::checker::Checker;
use crate::engine::request::{Part, Request, ServedBy};
use crate::engine::{Engine, Initiator, Port};

/// A device that takes a request `delay` after `wait`, one beside the other, in memory that survives the power, unless it forgets.
pub(super) struct Fake {
    pub(super) blocks: u64,
    pub(super) wait: Time,
    pub(super) delay: Time,
    pub(super) promise: Promise,
    pub(super) outcome: Outcome,
    pub(super) forgets: bool,
    /// What it was asked, for the report.
    asked: Vec<Command>,
}

impl Fake {
    pub(super) fn new(blocks: u64, delay_ms: u64) -> Fake {
        Fake {
            blocks,
            wait: Time::ZERO,
            delay: Time::from_ms(delay_ms),
            promise: Promise::Durable,
            outcome: Outcome::Ok,
            forgets: false,
            asked: Vec::new(),
        }
    }
}

impl Device for Fake {
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        entry.acceptance = now + self.wait;
        entry.start = now + self.wait;
        entry.served_by = ServedBy::Both;
        entry.parts.add(Part::Seek, self.delay);
        self.asked.push(entry.command);
        cx.alarm(now + self.wait + self.delay, Token::of_request(0, request));
    }
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        let request = token.request();
        let Command {
            op, lbn, blocks, ..
        } = cx.request(request).command;
        let forgets = self.forgets;
        if let Some((checker, medium)) = cx.checker() {
            match op {
                Op::Write if !forgets => checker.wrote(medium, request, 0, lbn.0, blocks),
                Op::Read => checker.read(medium, request, 0, lbn.0, blocks),
                _ => {}
            }
        }
        cx.complete(request, self.outcome);
    }
    fn look(&self, _now: Time, _below: &[Box<dyn Device>]) -> Look {
        Look {
            idle: true,
            outstanding: 0,
            free_slots: self.blocks as u32,
            cylinder: Some(7),
        }
    }
    fn blocks(&self) -> u64 {
        self.blocks
    }
    fn promise(&self) -> Promise {
        self.promise
    }
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        let asked = self.asked.iter().map(|command| {
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
        });
        Map::from_iter([("asked".to_owned(), asked.collect::<Vec<_>>().into())])
    }
}

/// Submits commands at their times, and keeps how they ended.
struct Commands {
    commands: Vec<(Time, Command)>,
    ended: Vec<Request>,
    lost: bool,
}

impl Initiator for Commands {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for (index, (at, _)) in (0..).zip(&self.commands) {
            port.alarm(*at, Token::new(0, index));
        }
        Ok(())
    }
    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let (at, command) = self.commands[token.value() as usize];
        port.submit(command, at, token.value().into());
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

/// The devices of an array over these, the array last.
pub(super) fn array(layout: &str, fakes: Vec<Fake>) -> Vec<Box<dyn Device>> {
    let child = |(device, fake): (u32, &Fake)| Child {
        device: DeviceId(device),
        blocks: fake.blocks,
        promise: fake.promise,
    };
    let children: Vec<Child> = (0..).zip(&fakes).map(child).collect();
    let layout: LayoutSpec = serde_json::from_str(layout).expect("a layout");
    let capacities: Vec<u64> = fakes.iter().map(|fake| fake.blocks).collect();
    let layout = layout.build(&capacities).expect("it fits");
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    for fake in fakes {
        devices.push(Box::new(fake));
    }
    devices.push(Box::new(Array::new(layout, &children)));
    devices
}

/// Runs commands, each a second after the one before; with the power cut at that time, where one is given.
pub(super) fn run(
    devices: Vec<Box<dyn Device>>,
    commands: &[Command],
    cut: Option<Time>,
) -> (Engine, Vec<Request>) {
    let promise = devices.last().expect("an array").promise();
    let mut engine = Engine::new(devices, Some(Box::new(Checker::new(promise))));
    let seconds = (0..).map(Time::from_s);
    let mut host = Commands {
        commands: seconds.zip(commands.iter().copied()).collect(),
        ended: Vec::new(),
        lost: false,
    };
    if let Some(at) = cut {
        engine.cut_power(at);
    }
    engine.run(&mut host).expect("it ends");
    assert_eq!(host.lost, cut.is_some());
    (engine, host.ended)
}

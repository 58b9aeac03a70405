//! A case in the library: the drive over devices of the test, and a host with all commands.

use std::ops::ControlFlow;

use diskwright::base::error::Error;
use diskwright::base::random::Stream;
use diskwright::base::units::{Lbn, Time};
use diskwright::devices::hybrid::{Child, Hybrid, Settings};
use diskwright::engine::checker::Checker;
use diskwright::engine::device::Device;
use diskwright::engine::request::{
    Command, DeviceId, NvCacheCommand, Op, Outcome, Promise, RequestId, ServedBy,
};
use diskwright::engine::{Engine, Initiator, Injection, Port, Token};

use super::compare::COUNTERS;
use super::motor::Below;
use super::specs::{Asked, Case};
use crate::support::twins::Done;

/// The host.
struct Host<'a> {
    requests: &'a [Asked],
    completions: Vec<Option<u64>>,
    /// What queries were answered, and how many commands were refused.
    answers: Vec<(usize, u64)>,
    refused: u64,
}

impl Initiator for Host<'_> {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for (number, asked) in (0..).zip(self.requests) {
            port.alarm(Time::from_ns(asked.at), Token::new(0, number));
        }
        Ok(())
    }
    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let asked = self.requests[token.value() as usize];
        let command = Command {
            op: asked.op,
            fua: false,
            lbn: Lbn(asked.lbn),
            blocks: asked.blocks as u32,
        };
        port.submit(&command, Time::from_ns(asked.at), token.value().into());
        Ok(())
    }
    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let request = port.request(request);
        let number = request.sequence as usize;
        self.completions[number] = Some(request.completion.ns());
        self.refused += u64::from(request.outcome == Some(Outcome::Refused));
        if request.command.op == Op::NvCache(NvCacheCommand::QueryPinned) {
            let answer = match request.served_by {
                ServedBy::Medium => 0,
                ServedBy::Both => 1,
                _ => 2,
            };
            self.answers.push((number, answer));
        }
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {}
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn drive(case: &Case) -> Vec<Box<dyn Device>> {
    let child = |device, blocks| Child {
        device: DeviceId(device),
        blocks,
        promise: Promise::Durable,
    };
    let settings = Settings {
        command: Time::from_ns(case.command),
        power_mode: case.power_mode,
        high_power: Time::from_ns(case.high_power),
    };
    let hybrid = Hybrid::new(
        child(0, case.medium.blocks),
        child(1, case.flash.blocks),
        settings,
    );
    let medium = Below::new(case.medium, case.motor);
    let flash = Below::new(case.flash, None);
    vec![Box::new(medium), Box::new(flash), Box::new(hybrid)]
}

/// Whether a command of the case throws data away that were acknowledged: the checker would say so.
fn loses(case: &Case) -> bool {
    let unpins = |asked: &Asked| {
        matches!(
            asked.op,
            Op::NvCache(NvCacheCommand::Unpin | NvCacheCommand::WriteMediumAndUnpin)
        )
    };
    case.requests.iter().any(unpins)
}

fn run(case: &Case, cut: Option<u64>) -> Result<(Engine, Host<'_>), String> {
    let checker = (!loses(case)).then(|| Box::new(Checker::new(Promise::Durable)));
    let mut engine = Engine::new(drive(case), checker);
    let mut host = Host {
        requests: &case.requests,
        completions: vec![None; case.requests.len()],
        answers: Vec::new(),
        refused: 0,
    };
    if let Some(at) = cut {
        engine.inject(Time::from_ns(at), Injection::PowerCut);
    }
    let ended = engine.run(&mut host);
    ended.map_err(|error| error.to_string())?;
    Ok((engine, host))
}

/// What the library does with a case.
pub fn done(case: &Case) -> Result<Done, String> {
    let (engine, host) = run(case, None)?;
    if let Some(fault) = engine
        .checker()
        .and_then(|checker| checker.faults().first())
    {
        return Err(fault.clone());
    }
    let report = engine.devices()[2].report(Time::ZERO);
    let medium = engine.devices()[0].report(Time::ZERO);
    let count = |&name: &&'static str| {
        let value = match name.split_once('.') {
            Some(("motor", name)) => &medium[name],
            Some((group, name)) => &report[group][name],
            None => &report[name],
        };
        (name, value.as_u64().expect("a number"))
    };
    let mut counters: Vec<(&'static str, u64)> = COUNTERS.iter().map(count).collect();
    counters.push(("refused to the host", host.refused));
    let mut answers = host.answers;
    answers.sort_unstable();
    counters.extend(answers.iter().map(|&(_, answer)| ("answer", answer)));
    Ok(Done {
        completions: host.completions,
        counters,
    })
}

/// An instant of a case at which the power may be cut, unless the case loses data by its commands.
pub fn where_to_cut(case: &Case, number: u64) -> Option<u64> {
    if loses(case) {
        return None;
    }
    let end = case.requests.last()?.at.saturating_sub(9_900_000_000);
    Some(Stream::new(number, "hybrid twin cuts").below(end + 1))
}

/// What the checker says of a power cut.
pub fn cut(case: &Case, at: u64) -> Vec<String> {
    let (engine, _) = run(case, Some(at)).expect("it runs");
    engine.checker().expect("it is on").faults().to_vec()
}

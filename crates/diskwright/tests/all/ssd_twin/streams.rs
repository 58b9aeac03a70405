//! A case whose requests are of several streams, in the library: no trace has them, so a host of the test does.

use std::ops::ControlFlow;

use diskwright::base::error::Error;
use diskwright::base::units::{Lbn, Time};
use diskwright::engine::checker::Checker;
use diskwright::engine::request::{Command, RequestId};
use diskwright::engine::{Engine, Initiator, Port, Token};
use serde_json::Value;

use super::specs::{Asked, Case};
use crate::support::{RunOptions, from_text, simulation};

/// The host.
struct Host<'a> {
    requests: &'a [Asked],
    completions: Vec<Option<u64>>,
}

impl Initiator for Host<'_> {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for (number, asked) in (0..).zip(self.requests) {
            port.alarm(Time::from_ns(asked.at), Token::new(0, number));
        }
        Ok(())
    }

    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let asked = &self.requests[token.value() as usize];
        let command = Command {
            op: asked.op,
            fua: asked.fua,
            lbn: Lbn(asked.lbn),
            blocks: asked.blocks as u32,
        };
        let request = port.submit(&command, port.now(), token.value().into());
        port.set_stream(request, asked.stream as u32);
        Ok(())
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let request = port.request(request);
        self.completions[request.sequence as usize] = Some(request.completion.ns());
        Ok(())
    }

    fn power_lost(&mut self, _now: Time) {}

    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// When each request of a case is complete on a drive in this spec, ns, and the drive's results.
pub fn run(case: &Case, spec: String) -> Result<(Vec<Option<u64>>, Value), String> {
    let checked = simulation::read_spec(&from_text(spec), &RunOptions::default());
    let tree = checked.and_then(|checked| checked.devices());
    let devices = tree.map_err(|error| error.to_string())?.devices;
    let promise = devices.last().expect("a device").promise();
    let mut engine = Engine::new(devices, Some(Box::new(Checker::new(promise))));
    let mut host = Host {
        requests: &case.requests,
        completions: vec![None; case.requests.len()],
    };
    engine.run(&mut host).map_err(|error| error.to_string())?;
    let checker = engine.checker().expect("it has one");
    if let Some(fault) = checker.faults().first() {
        return Err(fault.clone());
    }
    let ssd = &engine.devices()[0];
    let mut report = ssd.report(Time::ZERO);
    let first = case.requests.iter().map(|asked| asked.at).min();
    let last = host.completions.iter().flatten().max();
    let window = [first, last.copied()].map(|at| Time::from_ns(at.unwrap_or(0)));
    report.extend(ssd.power_report(window[0], window[1]).unwrap_or_default());
    Ok((host.completions, report.into()))
}

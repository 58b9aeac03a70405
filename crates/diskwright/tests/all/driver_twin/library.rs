//! A case in the library: the devices of its spec, and a host whose processes wait.

use std::ops::ControlFlow;

use diskwright::base::error::Error;
use diskwright::base::units::{Lbn, Time};
use diskwright::engine::checker::Checker;
use diskwright::engine::request::{Command, RequestId};
use diskwright::engine::{Engine, Initiator, Port, Token};
use diskwright::runs::simulation::read_spec;

use super::compare::COUNTERS;
use super::specs::{Asked, Case};
use crate::support::twins::Done;
use crate::support::{RunOptions, from_text};

/// What an alarm of the host is for.
const ARRIVES: u32 = 0;
const IS_AWAITED: u32 = 1;

struct Host<'a> {
    requests: &'a [Asked],
    /// Those under way.
    known: Vec<Option<RequestId>>,
    completions: Vec<Option<u64>>,
}

impl Initiator for Host<'_> {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for (number, asked) in (0..).zip(self.requests) {
            port.alarm(Time::from_ns(asked.at), Token::new(ARRIVES, number));
            if let Some(at) = asked.awaited {
                port.alarm(Time::from_ns(at), Token::new(IS_AWAITED, number));
            }
        }
        Ok(())
    }
    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let number = token.value() as usize;
        if token.kind() == IS_AWAITED {
            if let Some(request) = self.known[number] {
                port.make_urgent(request);
            }
            return Ok(());
        }
        let asked = self.requests[number];
        let command = Command {
            op: asked.op,
            fua: asked.fua,
            lbn: Lbn(asked.lbn),
            blocks: asked.blocks as u32,
        };
        let request = port.submit(&command, Time::from_ns(asked.at), token.value().into());
        port.set_class(request, asked.class);
        self.known[number] = Some(request);
        Ok(())
    }
    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let request = port.request(request);
        let number = request.sequence as usize;
        self.known[number] = None;
        self.completions[number] = Some(request.completion.ns());
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {}
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What the library does with a case.
pub fn done(case: &Case) -> Result<Done, String> {
    let told = |error: Error| error.to_string();
    let spec = read_spec(&from_text(case.spec()), &RunOptions::default()).map_err(told)?;
    let devices = spec.devices().map_err(told)?.devices;
    let promise = devices.last().expect("a driver").promise();
    let mut engine = Engine::new(devices, Some(Box::new(Checker::new(promise))));
    let mut host = Host {
        requests: &case.requests,
        known: vec![None; case.requests.len()],
        completions: vec![None; case.requests.len()],
    };
    engine.run(&mut host).map_err(told)?;
    let faults = engine.checker().map(Checker::faults).unwrap_or_default();
    if let Some(fault) = faults.first() {
        return Err(fault.clone());
    }
    let driver = engine.devices().last().expect("a driver");
    let report = driver.report(Time::ZERO);
    let count = |&name: &&'static str| (name, report[name].as_u64().expect("a number"));
    let mut counters: Vec<(&'static str, u64)> = COUNTERS.iter().map(count).collect();
    let completed = report["completed"].as_u64().expect("a number");
    let total = |name: &str| {
        let mean = report[name]["mean"].as_f64().unwrap_or(0.0);
        (mean * completed as f64 * 1e6).round() as u64
    };
    counters.push(("response, ns", total("response_ms")));
    counters.push(("physical access, ns", total("physical_access_ms")));
    Ok(Done {
        completions: host.completions,
        counters,
    })
}

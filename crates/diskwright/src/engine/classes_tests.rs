//! The class of a request on its way down, and a host that stops in the middle.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::checker::Checker;
use super::children::Children;
use super::context::Context;
use super::device::{Device, DeviceStatus};
use super::fakes::{Fake, command, faults};
use super::request::{Class, DeviceId, Op, Promise, RequestId};
use super::{Engine, Initiator, Port, Token};
use crate::base::error::Error;
use crate::base::units::Time;

/// Passes each request on as two pieces, or serves them itself after 10 ms, and tells what it hears of classes.
#[derive(Default)]
struct Listener {
    child: Option<DeviceId>,
    children: Children<()>,
    arrived: Vec<Class>,
    urgent: u64,
}

impl Device for Listener {
    fn children(&self) -> Vec<DeviceId> {
        self.child.into_iter().collect()
    }
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.arrived.push(cx.request(request).class);
        let Some(child) = self.child else {
            let now = cx.now();
            let entry = cx.request_mut(request);
            (entry.acceptance, entry.start) = (now, now);
            let delay = Time::from_ms(10);
            entry.parts.add(super::request::Part::Overhead, delay);
            cx.alarm(now + delay, Token::of_request(0, request));
            return;
        };
        let job = self.children.begin(request);
        for _ in 0..2 {
            let flush = cx.request(request).command;
            self.children.send(job, child, flush, (), cx);
        }
    }
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        cx.complete(token.request(), super::request::Outcome::Ok);
    }
    fn child_completed(&mut self, _child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let outcome = cx.request(request).outcome.expect("it is complete");
        let piece = self.children.take(request);
        if let Some(end) = self.children.finish(piece, outcome, cx) {
            self.children.end(end.job);
            cx.complete(end.request.expect("it is for a request"), outcome);
        }
    }
    fn made_urgent(&mut self, request: RequestId, cx: &mut Context<'_>) {
        assert_eq!(cx.request(request).class, Class::Critical);
        self.urgent += 1;
        self.children.make_urgent(request, cx);
    }
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: 0,
            free_slots: 1,
            is_down: false,
        }
    }
    fn blocks(&self) -> u64 {
        1000
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        let classes = self.arrived.iter().map(|class| format!("{class:?}"));
        let report = serde_json::json!({
            "arrived": classes.collect::<Vec<_>>().join(" "),
            "urgent": self.urgent,
        });
        report.as_object().expect("an object").clone()
    }
}

/// Makes requests of some classes at time zero, makes one of them urgent at 5 ms and again when it is complete, and stops at an instant.
struct Urging {
    classes: Vec<Class>,
    made: Vec<RequestId>,
    stop: Time,
    completed: usize,
}

const URGE: u32 = 0;
const STOP: u32 = 1;
const LATE: u32 = 2;

impl Initiator for Urging {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for (sequence, &class) in (0..).zip(&self.classes) {
            let request = port.submit(&command(Op::Flush, 0, 0), Time::ZERO, sequence);
            port.set_class(request, class);
            self.made.push(request);
        }
        port.alarm(Time::from_ms(5), Token::new(URGE, 0));
        port.alarm(self.stop, Token::new(STOP, 0));
        port.alarm(self.stop, Token::new(LATE, 0));
        Ok(())
    }
    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        match token.kind() {
            URGE => self.made.iter().for_each(|&made| port.make_urgent(made)),
            STOP => port.stop(),
            _ => unreachable!("nothing happens after the stop"),
        }
        Ok(())
    }
    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        // It is complete: nobody hears of that.
        port.make_urgent(request);
        self.completed += 1;
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {}
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn urged(devices: Vec<Box<dyn Device>>, classes: &[Class], stop: Time) -> (Engine, usize) {
    let mut engine = Engine::new(devices, Some(Box::new(Checker::new(Promise::Durable))));
    let mut host = Urging {
        classes: classes.to_vec(),
        made: Vec::new(),
        stop,
        completed: 0,
    };
    engine.run(&mut host).expect("it ends");
    assert_eq!(faults(&engine), [""; 0]);
    (engine, host.completed)
}

#[test]
fn a_class_goes_down_with_the_pieces_and_so_does_urgency() {
    let parent = Listener {
        child: Some(DeviceId(0)),
        ..Listener::default()
    };
    let devices: Vec<Box<dyn Device>> = vec![Box::<Listener>::default(), Box::new(parent)];
    let classes = [Class::Plain, Class::Limited, Class::Critical];
    let (engine, completed) = urged(devices, &classes, Time::from_ms(20));
    let report = |device: usize| engine.devices()[device].report(Time::ZERO);
    assert_eq!(report(1)["arrived"], "Plain Limited Critical");
    let below = "Plain Plain Limited Limited Critical Critical";
    assert_eq!(report(0)["arrived"], below);
    // What is critical already does not become so.
    assert_eq!(
        (&report(1)["urgent"], &report(0)["urgent"]),
        (&2.into(), &4.into())
    );
    assert_eq!(completed, 3);
    assert!(Class::Limited.is_urgent() && Class::Critical.is_urgent() && !Class::Plain.is_urgent());
}

#[test]
fn a_stop_gives_up_what_is_under_way_and_what_was_to_happen_in_its_instant() {
    let at = |stop| {
        let devices: Vec<Box<dyn Device>> = vec![Box::new(Fake::new(1000, 10))];
        let (engine, completed) = urged(devices, &[Class::Plain; 2], Time::from_ms(stop));
        assert_eq!(engine.now(), Time::from_ms(stop));
        completed
    };
    // The device's alarms at 10 ms were set after the host's, which stops first.
    assert_eq!([9, 10, 11].map(at), [0, 0, 2]);
}

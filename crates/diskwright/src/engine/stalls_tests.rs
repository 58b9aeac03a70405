//! Devices that forget to go on, under the engine and with the checker on.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::devices::array::layouts::LayoutSpec;
use crate::devices::array::{Array, Child};
use crate::engine::Token;
use crate::engine::checker::Checker;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus};
use crate::engine::request::{Command, DeviceId, Op, Outcome, Part, Promise, RequestId};
use crate::engine::{Engine, Initiator, Port};

/// How a device serves requests of a millisecond each.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// One after the other.
    Diligent,
    /// It begins work only when a request arrives while it is idle, or with the next arrival.
    Lazy,
    /// The same, with an alarm all the time that does nothing for its requests.
    LazyButAwake,
}

/// An alarm that does nothing; others are requests.
const NOTHING: Token = Token::new(1, 0);

struct Worker {
    manner: Manner,
    active: Option<RequestId>,
    waiting: VecDeque<RequestId>,
}

impl Worker {
    fn new(manner: Manner) -> Worker {
        Worker {
            manner,
            active: None,
            waiting: VecDeque::new(),
        }
    }

    fn begin(&mut self, cx: &mut Context<'_>) {
        if self.active.is_none()
            && let Some(request) = self.waiting.pop_front()
        {
            let now = cx.now();
            cx.request_mut(request).start = now;
            cx.request_mut(request)
                .parts
                .add(Part::Seek, Time::from_ms(1));
            self.active = Some(request);
            cx.alarm(now + Time::from_ms(1), Token::of_request(0, request));
        }
    }
}

impl Device for Worker {
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.waiting.push_back(request);
        self.begin(cx);
        if self.manner == Manner::LazyButAwake {
            cx.alarm(cx.now() + Time::from_ms(50), NOTHING);
        }
    }
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        if token == NOTHING {
            return;
        }
        self.active = None;
        cx.complete(token.request(), Outcome::Ok);
        if self.manner == Manner::Diligent {
            self.begin(cx);
        }
    }
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        match self.active {
            None => self.waiting.len(),
            Some(_) => 0,
        }
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: self.waiting.len() as u32,
            free_slots: 1,
            is_down: false,
        }
    }
    fn blocks(&self) -> u64 {
        100
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        Map::new()
    }
}

/// A device that keeps what it is given, and does not know that.
struct Sink;

impl Device for Sink {
    fn accept(&mut self, _request: RequestId, _cx: &mut Context<'_>) {}
    fn alarm(&mut self, _token: Token, _cx: &mut Context<'_>) {}
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
        100
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        Map::new()
    }
}

/// Issues flushes at these times.
struct Host(Vec<Time>);

impl Initiator for Host {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for (&at, token) in self.0.iter().zip(0..) {
            port.alarm(at, Token::new(0, token));
        }
        Ok(())
    }
    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let command = Command {
            op: Op::Flush,
            fua: false,
            lbn: Lbn(0),
            blocks: 0,
        };
        port.submit(&command, port.now(), token.value().into());
        Ok(())
    }
    fn completed(&mut self, _request: RequestId, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {}
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What the checker finds where requests come at 0, 0 and 100 ms, and whether the run ends well.
fn faults(devices: Vec<Box<dyn Device>>, names: &[&str]) -> (Vec<String>, bool) {
    let mut checker = Checker::new(Promise::Durable);
    checker.name_devices(names.iter().map(|&name| name.to_owned()).collect());
    let mut engine = Engine::new(devices, Some(Box::new(checker)));
    let times = [0, 0, 100].map(Time::from_ms).to_vec();
    let ended = engine.run(&mut Host(times));
    let checker = engine.checker().expect("the checker is on");
    (checker.faults().to_vec(), ended.is_ok())
}

fn one(manner: Manner) -> Vec<Box<dyn Device>> {
    vec![Box::new(Worker::new(manner))]
}

#[test]
fn a_device_that_goes_on_is_left_alone() {
    assert_eq!(faults(one(Manner::Diligent), &["disk"]), (vec![], true));
}

#[test]
fn a_lazy_device_is_named_with_the_instant_though_the_next_arrival_sets_it_going() {
    for manner in [Manner::Lazy, Manner::LazyButAwake] {
        let (faults, ended) = faults(one(manner), &["disk"]);
        assert!(
            !ended,
            "the last request waits for an arrival that never comes"
        );
        // Once for each time: after the first request, and after the second, which began at 100 ms.
        let [first, second] = &faults[..] else {
            panic!("{faults:?}");
        };
        assert!(
            first.starts_with("disk lets 1 requests wait at 1 ms"),
            "{first}"
        );
        assert!(
            second.starts_with("disk lets 1 requests wait at 101 ms"),
            "{second}"
        );
    }
}

#[test]
fn a_device_that_does_not_know_what_it_has_is_found_all_the_same() {
    let (faults, ended) = faults(vec![Box::new(Sink)], &["disk"]);
    assert!(!ended);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].starts_with("disk has 2 requests at 0"),
        "{faults:?}"
    );
}

#[test]
fn a_lazy_member_is_named_and_its_array_is_not() {
    let layout: LayoutSpec = serde_json::from_str(r#"{ "mirror": {} }"#).expect("a layout");
    let layout = layout.build(&[100, 100]).expect("it fits").plain();
    let child = |device| Child {
        device: DeviceId(device),
        blocks: 100,
        promise: Promise::Durable,
    };
    let array = Array::new(layout, &[child(0), child(1)]);
    let devices: Vec<Box<dyn Device>> = vec![
        Box::new(Worker::new(Manner::Diligent)),
        Box::new(Worker::new(Manner::Lazy)),
        Box::new(array),
    ];
    let (faults, _) = faults(devices, &["array.member[0]", "array.member[1]", "array"]);
    assert!(!faults.is_empty());
    let is_member = |fault: &String| fault.starts_with("array.member[1] lets 1 requests wait");
    assert!(faults.iter().all(is_member), "{faults:?}");
}

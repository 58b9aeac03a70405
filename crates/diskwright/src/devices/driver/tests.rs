//! A driver before devices that do what a test wants: closed forms, and a twin that keeps lists.

mod twin;

use std::ops::ControlFlow;

use serde_json::json;

use super::*;
use crate::base::error::Error;
use crate::engine::checker::Checker;
use crate::engine::fakes::{Fake, asked, command, faults};
use crate::engine::request::{Class, Command, Request};
use crate::engine::{Engine, Initiator, Port};
use crate::models::queue::SchedulerSpec;
use crate::models::queue::clustering::{Clustering, MergedPlace, Slots};
use lanes::{Joins, Late};

/// A request of a class at a time, and when it becomes urgent, if it does.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Time,
    command: Command,
    class: Class,
    raised: Option<Time>,
}

/// A plain request at a number of ms.
fn at(ms: u64, op: Op, lbn: u64, blocks: u32) -> Asked {
    Asked {
        at: Time::from_ms(ms),
        command: command(op, lbn, blocks),
        class: Class::Plain,
        raised: None,
    }
}

/// Makes requests, and keeps how they ended.
struct Hosts {
    asked: Vec<Asked>,
    numbers: Vec<Option<RequestId>>,
    ended: Vec<Request>,
}

const ARRIVES: u32 = 0;
const RAISED: u32 = 1;

impl Initiator for Hosts {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for (index, asked) in (0..).zip(&self.asked) {
            port.alarm(asked.at, Token::new(ARRIVES, index));
            if let Some(raised) = asked.raised {
                port.alarm(raised, Token::new(RAISED, index));
            }
        }
        Ok(())
    }
    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let index = token.value() as usize;
        if token.kind() == RAISED {
            port.make_urgent(self.numbers[index].expect("it has arrived"));
            return Ok(());
        }
        let Asked {
            at, command, class, ..
        } = self.asked[index];
        let request = port.submit(&command, at, index as u64);
        port.set_class(request, class);
        self.numbers[index] = Some(request);
        Ok(())
    }
    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        self.ended.push(port.request(request).clone());
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {}
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn scheduler(text: &str) -> Box<dyn crate::models::queue::Scheduler> {
    let spec: SchedulerSpec = serde_json::from_str(text).expect(text);
    spec.build()
}

const FCFS: &str = r#"{ "fcfs": {} }"#;
const C_LOOK: &str = r#"{ "c-look": { "from": "start" } }"#;
const SSTF: &str = r#"{ "sstf": { "by": "lbn", "ties": "alternate" } }"#;

fn joins(most: u64, reads: bool, writes: bool) -> Option<Joins> {
    Some(Joins {
        reads,
        writes,
        rule: Clustering {
            threshold: most,
            slots: Slots::Merged,
            place: MergedPlace::Oldest,
        },
    })
}

/// Runs requests through a driver before `fake`; the requests are in the order in which they ended.
fn run(fake: Fake, most: Option<u32>, lanes: Lanes, asked: &[Asked]) -> (Engine, Vec<Request>) {
    let child = Child {
        device: DeviceId(0),
        blocks: fake.blocks,
        promise: fake.promise,
    };
    let driver = Driver::new(child, most, lanes);
    let devices: Vec<Box<dyn Device>> = vec![Box::new(fake), Box::new(driver)];
    let mut engine = Engine::new(devices, Some(Box::new(Checker::new(child.promise))));
    let mut host = Hosts {
        asked: asked.to_vec(),
        numbers: vec![None; asked.len()],
        ended: Vec::new(),
    };
    engine.run(&mut host).expect("it ends");
    assert_eq!(faults(&engine), &[] as &[String]);
    (engine, host.ended)
}

/// The order in which requests ended, and when, in ms.
fn ends(ended: &[Request]) -> Vec<(u64, u64)> {
    let end = |request: &Request| (request.sequence, request.completion.ns() / 1_000_000);
    ended.iter().map(end).collect()
}

use Op::{Read, Write};

#[test]
fn one_at_a_time_is_a_single_server_and_its_wait_is_the_drivers() {
    let requests = [
        at(0, Read, 0, 8),
        at(1, Write, 8, 8),
        at(2, Read, 0, 8),
        at(40, Read, 16, 8),
    ];
    let (engine, ended) = run(
        Fake::new(100, 10),
        Some(1),
        Lanes::new(scheduler(FCFS), None),
        &requests,
    );
    assert_eq!(ends(&ended), [(0, 10), (1, 20), (2, 30), (3, 50)]);
    // The device below accepts a request when it is sent.
    let starts: Vec<u64> = ended.iter().map(|one| one.start.ns() / 1_000_000).collect();
    assert_eq!(starts, [0, 10, 20, 40]);
    let report = engine.devices()[1].report(Time::from_ms(50));
    for (key, expected) in [
        ("requests", json!(4)),
        ("reads", json!(3)),
        ("writes", json!(1)),
        ("completed", json!(4)),
        ("sent", json!(4)),
        ("joined", json!(0)),
        ("outstanding_mean", json!(40.0 / 50.0)),
        // 1 waits from 1 to 10 ms, 2 from 2 to 20 ms.
        ("queue_length_mean", json!(27.0 / 50.0)),
        ("queue_length_max", json!(2)),
    ] {
        assert_eq!(report[key], expected, "{key}");
    }
    assert_eq!(
        report["response_ms"]["mean"],
        (10.0 + 19.0 + 28.0 + 10.0) / 4.0
    );
    assert_eq!(report["physical_access_ms"]["mean"], 10.0);
}

#[test]
fn a_limit_lets_as_many_through_and_none_lets_all() {
    let requests: Vec<Asked> = (0..5).map(|lbn| at(0, Read, lbn, 1)).collect();
    for (most, expected) in [
        (Some(1), [10, 20, 30, 40, 50]),
        (Some(2), [10, 10, 20, 20, 30]),
        (Some(5), [10; 5]),
        (None, [10; 5]),
    ] {
        let lanes = Lanes::new(scheduler(FCFS), None);
        let (_, ended) = run(Fake::new(100, 10), most, lanes, &requests);
        let times: Vec<u64> = ends(&ended).into_iter().map(|(_, ms)| ms).collect();
        assert_eq!(times, expected, "{most:?}");
    }
}

/// DiskSim's C-LOOK goes on from where the last request began, so that one at the same place is next, not last.
#[test]
fn policies_are_those_of_disksim() {
    let order = |policy: &str, lbns: &[u64]| {
        let requests: Vec<Asked> = (0..)
            .zip(lbns)
            .map(|(ms, &lbn)| at(ms, Read, lbn, 8))
            .collect();
        let lanes = Lanes::new(scheduler(policy), None);
        let (_, ended) = run(Fake::new(1_000, 100), Some(1), lanes, &requests);
        let order = ends(&ended).into_iter();
        order
            .map(|(number, _)| lbns[number as usize])
            .collect::<Vec<_>>()
    };
    assert_eq!(order(C_LOOK, &[100, 50, 104, 100]), [100, 100, 104, 50]);
    let from_end = r#"{ "c-look": {} }"#;
    assert_eq!(order(from_end, &[100, 50, 104, 100]), [100, 50, 100, 104]);
    // From 108 on both sides 58 away: upwards first, then downwards, although the lower ones came first.
    assert_eq!(order(SSTF, &[100, 50, 166]), [100, 166, 50]);
    let oldest = r#"{ "sstf": { "by": "lbn" } }"#;
    assert_eq!(order(oldest, &[100, 50, 166]), [100, 50, 166]);
    // From 174 both sides are 124 away: the second tie goes downwards.
    assert_eq!(order(SSTF, &[100, 50, 166, 298]), [100, 166, 50, 298]);
    // Without ties the nearest.
    let lbns = [100, 58, 158, 266, 66];
    assert_eq!(order(SSTF, &lbns), [100, 66, 58, 158, 266]);
    assert_eq!(order(FCFS, &[9, 5, 7]), [9, 5, 7]);
}

#[test]
fn joined_requests_are_one_below_and_end_together() {
    let requests = [
        at(0, Read, 500, 8),
        at(1, Read, 0, 8),
        at(2, Write, 16, 8),
        at(3, Read, 8, 8),
        at(4, Read, 16, 1),
    ];
    let below = |most: u64, reads: bool| {
        let lanes = Lanes::new(scheduler(FCFS), joins(most, reads, true));
        let (engine, ended) = run(Fake::new(1_000, 10), Some(1), lanes, &requests);
        let shared = ended.iter().filter(|one| one.shares_access).count();
        let report = engine.devices()[1].report(Time::from_ms(50));
        assert_eq!(report["joined"], shared);
        assert_eq!(report["completed"], 5);
        (asked(&engine, 0), ends(&ended))
    };
    let (told, ended) = below(16, true);
    assert_eq!(told, ["read 500+8", "read 0+16", "write 16+8", "read 16+1"]);
    assert_eq!(ended, [(0, 10), (1, 20), (3, 20), (2, 30), (4, 40)]);
    // At the most, and one block more than that.
    assert_eq!(below(15, true).0.len(), 5);
    assert_eq!(below(16, false).0.len(), 5);
    // The last read would be carried past a write of its block.
    assert_eq!(below(100, true).0.len(), 4);
}

#[test]
fn urgent_requests_go_first_and_a_raised_one_moves_with_what_it_was_joined_with() {
    let mut requests = [
        at(0, Read, 500, 8),
        at(1, Read, 0, 8),
        at(2, Read, 100, 8),
        at(3, Read, 108, 8),
        at(4, Read, 300, 8),
    ];
    let order = |requests: &[Asked]| {
        let lanes = Lanes::new(scheduler(FCFS), joins(64, true, true));
        let lanes = lanes.with_urgent(scheduler(C_LOOK));
        let (engine, ended) = run(Fake::new(1_000, 10), Some(1), lanes, requests);
        let raised = engine.devices()[1].report(Time::ZERO)["raised"].clone();
        let order: Vec<u64> = ended.iter().map(|one| one.sequence).collect();
        (order, raised)
    };
    assert_eq!(order(&requests).0, [0, 1, 2, 3, 4]);
    requests[4].class = Class::Limited;
    assert_eq!(order(&requests).0, [0, 4, 1, 2, 3]);
    requests[3].raised = Some(Time::from_ms(5));
    // The urgent ones go by C-LOOK from their own last place, which is 0.
    assert_eq!(order(&requests), (vec![0, 2, 3, 4, 1], json!(1)));
    // What is below already is not moved.
    requests[0].raised = Some(Time::from_ms(6));
    assert_eq!(order(&requests), (vec![0, 2, 3, 4, 1], json!(1)));
}

/// A request is late at the first whole period at which it has waited as long as it may.
#[test]
fn late_requests_go_to_the_urgent_ones_or_before_the_others() {
    let order = |after_ms: u64, has_urgent: bool, requests: &[Asked]| {
        let late = Late {
            after: Time::from_ms(after_ms),
            every: Time::from_ms(10),
        };
        let mut lanes = Lanes::new(scheduler(SSTF), None);
        if has_urgent {
            lanes = lanes.with_urgent(scheduler(FCFS));
        }
        let lanes = lanes.with_late(late, scheduler(FCFS));
        let (engine, ended) = run(Fake::new(1_000, 25), Some(1), lanes, requests);
        let late = engine.devices()[1].report(Time::ZERO)["late"].clone();
        let order: Vec<u64> = ended.iter().map(|one| one.sequence).collect();
        (order, late)
    };
    let requests = [
        at(0, Read, 0, 8),
        at(2, Read, 900, 8),
        at(4, Read, 10, 8),
        at(6, Read, 30, 8),
    ];
    for has_urgent in [false, true] {
        // At 20 ms request 1 has waited 18 ms.
        assert_eq!(
            order(18, has_urgent, &requests),
            (vec![0, 1, 2, 3], json!(3))
        );
        assert_eq!(
            order(19, has_urgent, &requests),
            (vec![0, 2, 1, 3], json!(2))
        );
        assert_eq!(
            order(1_000, has_urgent, &requests),
            (vec![0, 2, 3, 1], json!(0))
        );
    }
}

#[test]
fn a_failure_below_is_the_requests() {
    let mut fake = Fake::new(100, 5);
    fake.outcome = Outcome::MediaError;
    let requests = [at(0, Read, 50, 8), at(1, Read, 0, 8), at(1, Read, 8, 8)];
    let lanes = Lanes::new(scheduler(FCFS), joins(64, true, true));
    let (_, ended) = run(fake, Some(1), lanes, &requests);
    let failed = |one: &Request| one.outcome == Some(Outcome::MediaError);
    assert!(ended.iter().all(failed) && ended.len() == 3);
}

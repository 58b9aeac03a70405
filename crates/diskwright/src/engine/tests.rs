//! The contract, device by device: alarms in the background, room, faults, phases, and a host that lives in real time.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::children::{Children, PhaseEnd};
use super::context::Context;
use super::device::{Device, DeviceStatus, Fault, Location};
use super::fakes::{Fake, asked, command, faults, run, run_at};
use super::request::{Command, DeviceId, Op, Outcome, Part, Promise, Request, RequestId};
use super::timeline::AlarmId;
use super::{Engine, Initiator, Injection, Port, Token};
use crate::base::error::Error;
use crate::base::units::{Lbn, Time};

const NO_STATUS: DeviceStatus = DeviceStatus {
    outstanding: 0,
    free_slots: u32::MAX,
    is_down: false,
};

fn number(engine: &Engine, device: usize, key: &str) -> u64 {
    let report = engine.devices()[device].report(Time::ZERO);
    report[key].as_u64().expect("a count")
}

/// A device that holds requests back until its child has room, of which it hears only by announcements.
pub(crate) struct Gate {
    child: DeviceId,
    room: u32,
    outside: VecDeque<RequestId>,
    children: Children<()>,
    announced: u32,
    most: usize,
}

impl Gate {
    pub fn new(child: DeviceId) -> Gate {
        Gate {
            child,
            room: 0,
            outside: VecDeque::new(),
            children: Children::default(),
            announced: 0,
            most: 0,
        }
    }
    fn proceed(&mut self, cx: &mut Context<'_>) {
        while self.room > 0
            && let Some(request) = self.outside.pop_front()
        {
            self.room -= 1;
            let job = self.children.begin(request);
            let command = cx.request(request).command;
            self.children.send(job, self.child, command, (), cx);
            self.most = self.most.max(self.children.len());
        }
    }
}

impl Device for Gate {
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }

    fn children(&self) -> Vec<DeviceId> {
        vec![self.child]
    }
    fn prepare(&mut self, cx: &mut Context<'_>) {
        self.room = cx.status(self.child).free_slots;
    }
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.outside.push_back(request);
        self.proceed(cx);
    }
    fn child_completed(&mut self, _child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let outcome = cx.request(request).outcome.expect("it is complete");
        let piece = self.children.take(request);
        let end = self.children.finish(piece, outcome, cx);
        let end = end.expect("a job has one piece");
        self.children.end(end.job);
        cx.complete(end.request.expect("it is for a request"), outcome);
    }
    fn child_has_room(&mut self, child: DeviceId, cx: &mut Context<'_>) {
        self.announced += 1;
        self.room = cx.status(child).free_slots;
        self.proceed(cx);
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        NO_STATUS
    }
    fn blocks(&self) -> u64 {
        1000
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        let report = json!({ "announced": self.announced, "most": self.most });
        report.as_object().expect("an object").clone()
    }
}

#[test]
fn room_is_announced_when_a_full_queue_has_a_slot_again() {
    let mut fake = Fake::new(1000, 3);
    fake.slots = 2;
    let devices: Vec<Box<dyn Device>> = vec![Box::new(fake), Box::new(Gate::new(DeviceId(0)))];
    let mut commands = vec![(Time::ZERO, command(Op::Flush, 0, 0)); 5];
    commands.push((Time::from_ms(100), command(Op::Flush, 0, 0)));
    let (engine, ended) = run_at(devices, commands, &[]);
    let at: Vec<_> = ended
        .iter()
        .map(|request| request.completion.ns() / 1_000_000)
        .collect();
    assert_eq!(at, [3, 3, 6, 6, 9, 103]);
    // Full and free again: at 3 ms, and at 6 ms. One request alone never fills it.
    assert_eq!(number(&engine, 1, "announced"), 2);
}

/// A device that serves at once, scrubs in the background for ever, and counts for how long it was idle.
#[derive(Default)]
struct Background {
    scrubs: u32,
    idle: Option<AlarmId>,
    rests: u32,
}

const SCRUB: u32 = 1;
const IDLE: u32 = 2;

impl Device for Background {
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }

    fn prepare(&mut self, cx: &mut Context<'_>) {
        cx.background_alarm(Time::from_ms(10), Token::new(SCRUB, 0));
    }
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        if let Some(idle) = self.idle.take() {
            cx.cancel(idle);
        }
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        cx.complete(request, Outcome::Ok);
        self.idle = Some(cx.background_alarm(now + Time::from_ms(500), Token::new(IDLE, 7)));
    }
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            SCRUB => {
                self.scrubs += 1;
                cx.background_alarm(cx.now() + Time::from_ms(10), token);
            }
            _ => {
                assert_eq!(token, Token::new(IDLE, 7));
                self.rests += 1;
                self.idle = None;
            }
        }
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        NO_STATUS
    }
    fn blocks(&self) -> u64 {
        1000
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        let report = json!({ "scrubs": self.scrubs, "rests": self.rests });
        report.as_object().expect("an object").clone()
    }
}

#[test]
fn a_run_does_not_go_on_for_the_background_alone() {
    let flushes = [0, 400, 800, 2000, 2100].map(|ms| (Time::from_ms(ms), command(Op::Flush, 0, 0)));
    let (engine, ended) = run_at(vec![Box::new(Background::default())], flushes.to_vec(), &[]);
    assert_eq!(ended.len(), 5);
    assert_eq!(engine.now(), Time::from_ms(2100));
    // One alarm of each ten milliseconds, that of the end among them: it was set before the request came.
    assert_eq!(number(&engine, 0, "scrubs"), 210);
    // Idle for half a second once: every other timer was cancelled, or had the end before it.
    assert_eq!(number(&engine, 0, "rests"), 1);
}

#[test]
fn alarms_of_a_device_that_has_failed_do_not_ring() {
    let fail = [(Time::from_ms(105), Injection::Fail(DeviceId(0)))];
    let flushes = [0, 1000].map(|ms| (Time::from_ms(ms), command(Op::Flush, 0, 0)));
    let (engine, ended) = run_at(
        vec![Box::new(Background::default())],
        flushes.to_vec(),
        &fail,
    );
    let outcomes: Vec<_> = ended.iter().map(|request| request.outcome).collect();
    assert_eq!(outcomes, [Some(Outcome::Ok), Some(Outcome::FailedDevice)]);
    assert_eq!(number(&engine, 0, "scrubs"), 10);
    assert_eq!(number(&engine, 0, "rests"), 0);
}

#[test]
fn what_a_failed_device_had_open_ends_with_it_and_the_rest_goes_on() {
    let devices = || -> Vec<Box<dyn Device>> { vec![Box::new(Fake::new(100, 400))] };
    let writes = [
        command(Op::Write, 0, 8),
        command(Op::Read, 0, 8),
        command(Op::Write, 0, 8),
    ];
    let fail = [(Time::from_ms(1100), Injection::Fail(DeviceId(0)))];
    let (engine, ended) = run(devices(), &writes, &fail);
    let ends: Vec<_> = ended
        .iter()
        .map(|request| (request.outcome, request.completion.ns() / 1_000_000))
        .collect();
    let failed = Some(Outcome::FailedDevice);
    assert_eq!(
        ends,
        [(Some(Outcome::Ok), 400), (failed, 1100), (failed, 2000)]
    );
    assert_eq!(ended[1].parts.get(Part::Wait), Time::from_ms(100));
    assert_eq!(faults(&engine), &[] as &[String]);
    assert_eq!(asked(&engine, 0), ["write 0+8", "read 0+8"]);
}

/// A device that consists of a buffer. Its capacitor has energy for `capacitor` blocks, which go to the medium after a power cut.
struct Buffered {
    capacitor: usize,
    buffered: Vec<u64>,
}

impl Device for Buffered {
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        let Command { lbn, blocks, .. } = entry.command;
        self.buffered.extend(lbn.0..lbn.0 + u64::from(blocks));
        if let Some((checker, device)) = cx.checker() {
            checker.buffered(device, 0, request, lbn.0, blocks);
        }
        cx.complete(request, Outcome::Ok);
    }
    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        assert_eq!(fault, Fault::PowerLost);
        for &block in self.buffered.iter().take(self.capacitor) {
            if let Some((checker, device)) = cx.checker() {
                checker.drained(device, 0, block, 1);
            }
        }
        // Nothing rings any more.
        cx.alarm(cx.now() + Time::from_ms(1), Token::new(0, 0));
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        NO_STATUS
    }
    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        let place = match lbn.0 {
            99 => Location::Nowhere,
            lbn => Location::Here(Lbn(lbn)),
        };
        (copy == 0).then_some(place)
    }
    fn blocks(&self) -> u64 {
        1000
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        Map::new()
    }
}

#[test]
fn what_a_capacitor_saves_is_kept_through_a_power_cut() {
    let lost = |capacitor: usize, lbn: u64| {
        let device = Buffered {
            capacitor,
            buffered: Vec::new(),
        };
        let cut = [(Time::from_ms(5), Injection::PowerCut)];
        let (engine, _) = run(vec![Box::new(device)], &[command(Op::Write, lbn, 8)], &cut);
        faults(&engine).len()
    };
    assert_eq!([8, 6, 0].map(|capacitor| lost(capacitor, 10)), [0, 2, 8]);
    assert_eq!(lost(8, 92), 1, "block 99 is nowhere");
}

/// A try of a piece: for how long, and how it ends.
type Try = (u64, Outcome);

/// What becomes of a request: phases of pieces, each a list of tries, of which a bad one is followed by the next, and whether the device makes up
/// for the last.
type Plan = Vec<Vec<(Vec<Try>, bool)>>;

/// A device that carries out a plan for each request, by its block number, and holds its table to what it was told.
struct Planner {
    plans: Vec<Plan>,
    child: DeviceId,
    /// The request's plan, the piece, and the try.
    children: Children<(usize, usize, usize)>,
    /// The most jobs at once.
    most: usize,
}

impl Planner {
    fn command(&self, (plan, phase): (usize, usize), piece: usize, attempt: usize) -> Command {
        let (time, outcome) = self.plans[plan][phase][piece].0[attempt];
        let code = [Outcome::Ok, Outcome::MediaError, Outcome::FailedDevice];
        let code = code.iter().position(|&one| one == outcome);
        command(Op::Trim, time, 1 + code.expect("one of them") as u32)
    }
}

impl Device for Planner {
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }

    fn children(&self) -> Vec<DeviceId> {
        vec![self.child]
    }
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let plan = cx.request(request).command.lbn.0 as usize;
        let job = self.children.begin(request);
        self.most = self.most.max(self.children.len());
        for piece in 0..self.plans[plan][0].len() {
            let command = self.command((plan, 0), piece, 0);
            let payload = (plan << 8, piece, 0);
            let child = self.children.send(job, self.child, command, payload, cx);
            assert_eq!(cx.request(child).sequence, cx.request(request).sequence);
        }
    }
    fn child_completed(&mut self, _child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let outcome = cx.request(request).outcome.expect("it is complete");
        let piece = self.children.take(request);
        let (at, number, attempt) = piece.payload;
        let (plan, phase) = (at >> 8, at & 255);
        assert_eq!((piece.place as usize, piece.child), (number, self.child));
        let (tries, makes_up) = &self.plans[plan][phase][number];
        if outcome != Outcome::Ok && attempt + 1 < tries.len() {
            let command = self.command((plan, phase), number, attempt + 1);
            let payload = (at, number, attempt + 1);
            (self.children).send_instead(piece, self.child, command, payload, cx);
            return;
        }
        let outcome = if *makes_up { Outcome::Ok } else { outcome };
        let Some(end) = self.children.finish(piece, outcome, cx) else {
            return;
        };
        let PhaseEnd { job, request, .. } = end;
        assert_eq!(end.phase as usize, phase);
        let Some(next) = self.plans[plan].get(phase + 1) else {
            self.children.end(job);
            return cx.complete(request.expect("it is for one"), end.outcome);
        };
        for piece in 0..next.len() {
            let command = self.command((plan, phase + 1), piece, 0);
            self.children
                .send(job, self.child, command, (at + 1, piece, 0), cx);
        }
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        NO_STATUS
    }
    fn blocks(&self) -> u64 {
        1000
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        let report = json!({ "most": self.most, "left": self.children.len() });
        report.as_object().expect("an object").clone()
    }
}

/// A device that takes as many microseconds as the first block of a request says, and ends it as its length says.
struct Script;

impl Device for Script {
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        let time = Time::from_us(entry.command.lbn.0);
        entry.parts.add(Part::Transfer, time);
        entry.media = time;
        cx.alarm(now + time, Token::of_request(3, request));
    }
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        let request = token.request();
        let outcome = match cx.request(request).command.blocks {
            1 => Outcome::Ok,
            2 => Outcome::MediaError,
            _ => Outcome::FailedDevice,
        };
        cx.complete(request, outcome);
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        NO_STATUS
    }
    fn blocks(&self) -> u64 {
        u64::MAX
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        Map::new()
    }
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let outcome = prop_oneof![
        3 => Just(Outcome::Ok),
        1 => Just(Outcome::MediaError),
        1 => Just(Outcome::FailedDevice),
    ];
    let tries = prop::collection::vec((0u64..400, outcome), 1..4);
    let piece = (tries, any::<bool>());
    let phase = prop::collection::vec(piece, 1..5);
    prop::collection::vec(prop::collection::vec(phase, 1..4), 1..12)
}

/// How long a plan takes, when each bad outcome comes, and whether its pieces have any.
fn expected(plan: &Plan) -> (u64, Vec<(u64, Outcome)>) {
    let (mut begin, mut bad) = (0, Vec::new());
    for phase in plan {
        let mut end = begin;
        for (tries, makes_up) in phase {
            let mut at = begin;
            for (number, &(time, outcome)) in tries.iter().enumerate() {
                at += time;
                if outcome == Outcome::Ok {
                    break;
                }
                if number + 1 == tries.len() && !makes_up {
                    bad.push((at, outcome));
                }
            }
            end = end.max(at);
        }
        begin = end;
    }
    (begin, bad)
}

proptest! {
    /// Requests fan out in phases whose pieces fail, are tried again and are made up for: each takes as long as the slowest piece of each phase,
    /// its parts add up, and the first bad outcome is its own. Jobs end, and their places are used again.
    #[test]
    fn jobs_end_with_their_last_phase(plans in plans(), gap in 0u64..2000) {
        let commands: Vec<_> = (0..plans.len() as u64)
            .map(|plan| (Time::from_us(gap * plan), command(Op::Flush, plan, 0)))
            .collect();
        let planner = Planner { plans: plans.clone(), child: DeviceId(0), children: Children::default(), most: 0 };
        let devices: Vec<Box<dyn Device>> = vec![Box::new(Script), Box::new(planner)];
        let (engine, ended) = run_at(devices, commands, &[]);
        prop_assert_eq!(faults(&engine), &[] as &[String]);
        prop_assert_eq!(ended.len(), plans.len());
        let mut busy = Vec::new();
        for request in &ended {
            let plan = &plans[request.command.lbn.0 as usize];
            let (time, bad) = expected(plan);
            prop_assert_eq!(request.response(), Time::from_us(time));
            prop_assert_eq!((request.start, request.parts.total()), (request.issue, request.response()));
            prop_assert!(request.media <= request.response());
            let first = bad.iter().map(|&(at, _)| at).min();
            let outcomes: Vec<_> = bad.iter().filter(|&&(at, _)| Some(at) == first).map(|&(_, outcome)| outcome).collect();
            let outcome = request.outcome.expect("it is complete");
            let is_first = outcomes.contains(&outcome) || outcomes.is_empty() && outcome == Outcome::Ok;
            prop_assert!(is_first, "{:?} of {:?}", outcome, bad);
            busy.push((request.issue, request.completion));
        }
        prop_assert_eq!(number(&engine, 1, "left"), 0);
        let at_once = |&(issue, _): &(Time, Time)| busy.iter().filter(|&&(from, to)| from <= issue && issue <= to).count() as u64;
        prop_assert!(number(&engine, 1, "most") <= busy.iter().map(at_once).max().unwrap_or(0));
    }
}

#[test]
fn tables_do_not_grow_with_the_requests() {
    let plan: Plan = vec![vec![(vec![(5, Outcome::Ok)], false); 3]; 2];
    let planner = |plans: usize| {
        let plans = vec![plan.clone(); plans];
        let commands: Vec<_> = (0..plans.len() as u64)
            .map(|plan| (Time::from_us(100 * plan), command(Op::Flush, plan, 0)))
            .collect();
        let planner = Planner {
            plans,
            child: DeviceId(0),
            children: Children::default(),
            most: 0,
        };
        let (engine, _) = run_at(vec![Box::new(Script), Box::new(planner)], commands, &[]);
        number(&engine, 1, "most")
    };
    assert_eq!([planner(1), planner(200)], [1, 1]);
}

/// A host with requests from outside: it knows of none before its instant.
struct Live {
    coming: VecDeque<Time>,
    ended: Vec<Request>,
    asked: Vec<Option<Time>>,
}

impl Initiator for Live {
    fn start(&mut self, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn alarm(&mut self, _token: Token, _port: &mut Port<'_>) -> Result<(), Error> {
        unreachable!("it sets no alarm")
    }
    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        self.ended.push(port.request(request).clone());
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {}
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn advance(&mut self, next: Option<Time>, is_over: bool) -> Option<Time> {
        match (self.coming.front(), next) {
            (Some(&coming), Some(next)) if next <= coming => Some(next),
            (Some(&coming), _) => {
                self.asked.push(next);
                Some(coming)
            }
            (None, next) => next.filter(|_| !is_over),
        }
    }
    fn arrive(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        let at = self.coming.pop_front().expect("it is the instant of one");
        assert_eq!(port.now(), at);
        port.submit(&command(Op::Flush, 0, 0), at, self.ended.len() as u64);
        Ok(())
    }
}

#[test]
fn a_live_host_comes_when_it_wants_and_the_background_goes_on_meanwhile() {
    let coming = [5, 5, 1003, 1003, 2500].map(Time::from_ms);
    let mut live = Live {
        coming: coming.into(),
        ended: Vec::new(),
        asked: Vec::new(),
    };
    let mut engine = Engine::new(vec![Box::new(Background::default())], None);
    engine.run(&mut live).expect("it ends");
    let at: Vec<_> = live
        .ended
        .iter()
        .map(|request| request.completion)
        .collect();
    assert_eq!(at, coming);
    assert_eq!(
        live.asked[0],
        Some(Time::from_ms(10)),
        "an alarm is set for later"
    );
    assert_eq!(engine.now(), Time::from_ms(2500));
    assert_eq!(number(&engine, 0, "scrubs"), 250);
    assert_eq!(number(&engine, 0, "rests"), 2);
    assert_eq!(engine.devices()[0].promise(), Promise::Durable);
}

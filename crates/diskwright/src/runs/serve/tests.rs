//! A device under clients that are scripted, by a clock that is set.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::live::{Inbox, Incoming, Live, Outside};
use super::pace::{Pace, Speed};
use super::watcher::Status;
use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::checker::Checker;
use crate::engine::fakes::{Fake, command};
use crate::engine::request::{Command, Op, Outcome, Promise};
use crate::engine::{Engine, Injection};
use crate::metrics::Recorder;

/// An answer: whose, when by the wall in ns, and how it ended.
pub(super) type Answer = (u32, u64, Outcome);

/// Clients that send what a script says, or the next request of a list with every answer, and a clock that goes on where they are waited for.
#[derive(Default)]
pub(super) struct Script {
    clock: u64,
    /// What every look at the clock takes, ns.
    pace: u64,
    /// How much too late it wakes, ns.
    oversleeps: u64,
    /// What an answer takes, ns.
    answering: u64,
    pub(super) sends: VecDeque<(u64, Command)>,
    /// Sent with the answers.
    follows: VecDeque<Command>,
    pub(super) fault: Option<(u64, Injection)>,
    sent: u32,
    pub(super) answers: Vec<Answer>,
    cut: bool,
    /// It ends when all is answered, or at an instant.
    ends_at: Option<u64>,
}

impl Script {
    pub(super) fn new(sends: &[(u64, Command)]) -> Script {
        Script {
            sends: sends.iter().copied().collect(),
            ..Script::default()
        }
    }

    /// A client that has `depth` of some requests outstanding until they are sent.
    pub(super) fn closed(depth: usize, requests: &[Command]) -> Script {
        let first = requests.iter().take(depth).map(|command| (0, *command));
        Script {
            sends: first.collect(),
            follows: requests.iter().skip(depth).copied().collect(),
            ..Script::default()
        }
    }

    fn is_done(&self) -> bool {
        match self.ends_at {
            Some(at) => self.clock >= at,
            None => self.sends.is_empty() && self.answers.len() == self.sent as usize,
        }
    }
}

impl Outside for Script {
    fn now(&mut self) -> u64 {
        self.clock += self.pace;
        self.clock
    }

    fn wait(&mut self, until: u64, inbox: &mut Inbox) -> Result<(), Error> {
        let first = self.sends.front().map_or(u64::MAX, |(at, _)| *at);
        let soon = until.max(self.clock).min(first);
        if let Some((at, fault)) = self.fault.take_if(|(at, _)| *at <= soon) {
            self.clock = self.clock.max(at);
            inbox.faults.push_back((self.clock, fault));
            return Ok(());
        }
        let next = self.sends.front().map(|(at, _)| *at);
        let Some(next) = next.filter(|next| *next <= until.max(self.clock)) else {
            if self.is_done() {
                inbox.ends = true;
                return Ok(());
            }
            assert!(until < u64::MAX, "it would wait for ever");
            let slept = until > self.clock;
            self.clock = self.clock.max(until) + if slept { self.oversleeps } else { 0 };
            return Ok(());
        };
        self.clock = self.clock.max(next);
        while let Some((_, command)) = self.sends.pop_front_if(|(at, _)| *at <= self.clock) {
            let (ticket, at) = (self.sent, self.clock);
            inbox.requests.push_back(Incoming {
                command,
                ticket,
                at,
            });
            self.sent += 1;
        }
        Ok(())
    }

    fn answer(&mut self, ticket: u32, outcome: Outcome, _: Option<&Checker>) -> Result<(), Error> {
        self.answers.push((ticket, self.clock, outcome));
        self.clock += self.answering;
        if let Some(command) = self.follows.pop_front() {
            self.sends.push_back((self.clock, command));
        }
        Ok(())
    }

    fn power_lost(&mut self) {
        self.cut = true;
    }

    fn tick(&mut self, _: &Status) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

pub(super) fn real(speed: f64) -> Pace {
    Pace::Real(Speed::new(speed).expect("a speed"))
}

/// What is told in the end.
struct Told {
    answers: Vec<Answer>,
    digest: String,
    completed: u64,
    lateness: serde_json::Value,
    short: u64,
    lost: Option<(Time, u32)>,
}

fn run(mut script: Script, pace: Pace, device: Fake) -> Told {
    let checker = Some(Box::new(Checker::new(device.promise)));
    let mut engine = Engine::new(vec![Box::new(device)], checker);
    let mut live = Live::new(&mut script, pace, Recorder::default());
    engine.run(&mut live).expect("served");
    let (measurements, _) = live.finish_recording();
    let (lateness, short, lost) = (live.take_lateness().json(), live.short(), live.power_cut());
    let faults = engine.checker().expect("a checker").faults();
    assert!(faults.is_empty(), "{faults:?}");
    Told {
        answers: script.answers,
        digest: measurements.digest(),
        completed: measurements.completed(),
        lateness,
        short,
        lost,
    }
}

const MS: u64 = 1_000_000;

fn read(lbn: u64) -> Command {
    command(Op::Read, lbn, 8)
}

#[test]
fn answers_leave_when_the_simulated_completion_is_due() {
    for (speed, wall) in [(1.0, 10 * MS), (50.0, MS / 5), (0.5, 20 * MS)] {
        let script = Script::new(&[(3 * MS, read(0)), (4 * MS, read(8)), (700 * MS, read(16))]);
        let told = run(script, real(speed), Fake::new(1000, 10));
        let at: Vec<u64> = told.answers.iter().map(|(_, at, _)| *at).collect();
        assert_eq!(
            at,
            [3 * MS + wall, 4 * MS + wall, 700 * MS + wall],
            "{speed}"
        );
        assert_eq!(told.lateness["max"], 0.0);
    }
}

#[test]
fn lateness_goes_to_its_cause() {
    let causes = |change: fn(&mut Script)| {
        let mut script = Script::new(&[(0, read(0)), (0, read(8))]);
        change(&mut script);
        let told = run(script, real(1.0), Fake::new(1000, 10));
        let cause = |name: &str| {
            told.lateness["mean_by_cause"][name]
                .as_f64()
                .expect("a number")
        };
        (cause("timer"), cause("host"), cause("engine"))
    };
    assert_eq!(causes(|_| {}), (0.0, 0.0, 0.0));
    // Both are answered in the instant for which it has overslept.
    assert_eq!(causes(|script| script.oversleeps = MS), (1.0, 0.0, 0.0));
    // The second waits until the first is answered.
    assert_eq!(causes(|script| script.answering = MS), (0.0, 0.5, 0.0));
    let (timer, host, engine) = causes(|script| script.pace = 1_000);
    assert!(
        timer < 0.01 && engine > 0.0 && host >= 0.0,
        "{timer} {host} {engine}"
    );
}

#[test]
fn what_comes_late_enters_when_it_comes() {
    // It oversleeps by 5 ms: the second request has come meanwhile, and is taken at the instant at which it is seen.
    let mut script = Script::new(&[(0, read(0)), (12 * MS, read(8))]);
    script.oversleeps = 5 * MS;
    let told = run(script, real(1.0), Fake::new(1000, 10));
    let at: Vec<u64> = told.answers.iter().map(|(_, at, _)| *at).collect();
    assert_eq!(at[0], 15 * MS);
    assert!(at[1] >= 25 * MS && at[1] <= 30 * MS, "{at:?}");
}

#[test]
fn at_once_is_the_same_as_by_the_clock_but_sooner() {
    let requests: Vec<Command> = (0..50).map(|number| read(number * 8)).collect();
    let by_clock = run(Script::closed(1, &requests), real(1.0), Fake::new(1000, 10));
    let at_once = run(
        Script::closed(1, &requests),
        Pace::Fast { depth: 1 },
        Fake::new(1000, 10),
    );
    assert_eq!((by_clock.completed, at_once.completed), (50, 50));
    assert_eq!(by_clock.digest, at_once.digest);
    assert_eq!(by_clock.answers[49].1, 500 * MS);
    assert_eq!(at_once.answers[49].1, 0);
}

#[test]
fn time_stands_still_below_the_depth() {
    let requests: Vec<Command> = (0..40).map(|number| read(number * 8)).collect();
    for depth in [1, 2, 5, 32] {
        let device = || {
            let mut device = Fake::new(1000, 10);
            device.slots = 1;
            device
        };
        let script = || Script::closed(depth as usize, &requests);
        let told = run(script(), Pace::Fast { depth }, device());
        assert_eq!(told.completed, 40);
        // At the end the client has no more: a few are answered after a wait.
        assert!(told.short <= u64::from(depth), "{depth}: {}", told.short);
        let mut slow = script();
        slow.answering = 7 * MS;
        slow.pace = 100;
        let slow = run(slow, Pace::Fast { depth }, device());
        assert_eq!(told.digest, slow.digest, "{depth}");
    }
    // One request less than the depth: none is answered before the patience is over.
    let told = run(
        Script::new(&[(0, read(0))]),
        Pace::Fast { depth: 2 },
        Fake::new(1000, 10),
    );
    assert_eq!((told.short, told.answers[0].1), (1, 200 * MS));
}

#[test]
fn the_end_answers_what_is_under_way() {
    let mut script = Script::new(&[(0, read(0)), (5 * MS, read(8))]);
    script.ends_at = Some(6 * MS);
    let told = run(script, real(1.0), Fake::new(1000, 10_000));
    let tickets: Vec<u32> = told.answers.iter().map(|(ticket, ..)| *ticket).collect();
    assert_eq!(tickets, [0, 1]);
    // Nobody waits ten seconds for it.
    assert!(told.answers.iter().all(|(_, at, _)| *at < 100 * MS));
}

#[test]
fn a_power_cut_answers_nothing() {
    let mut script = Script::new(&[(0, read(0)), (0, command(Op::Write, 8, 8))]);
    script.fault = Some((4 * MS, Injection::PowerCut));
    let told = run(script, real(1.0), Fake::new(1000, 10));
    assert_eq!((told.answers.len(), told.completed), (0, 2));
    assert_eq!(told.lost, Some((Time::from_ms(4), 2)));
}

#[test]
fn faults_are_heard_while_it_runs() {
    let fault = Injection::MediaError {
        device: crate::engine::request::DeviceId(0),
        blocks: 8..16,
    };
    let mut script = Script::new(&[(0, read(8)), (30 * MS, read(8)), (31 * MS, read(16))]);
    script.fault = Some((20 * MS, fault));
    let told = run(script, real(1.0), Fake::new(1000, 10));
    let outcomes: Vec<Outcome> = told.answers.iter().map(|(.., outcome)| *outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::MediaError, Outcome::Ok]);
}

proptest! {
    /// Whatever comes whenever: every request is answered once, at its due time, which is the same as in a run of the same arrivals.
    #[test]
    fn every_request_is_answered_when_it_is_due(
        arrivals in prop::collection::vec((0u64..50, 0u64..100, any::<bool>()), 1..40), slots in 1usize..4, speed in prop::sample::select(vec![0.25, 1.0, 8.0]),
    ) {
        let mut at = 0;
        let sends: Vec<(u64, Command)> = arrivals.iter().map(|&(gap, lbn, writes)| {
            at += gap * MS / 4;
            (at, command(if writes { Op::Write } else { Op::Read }, lbn * 8, 8))
        }).collect();
        let mut device = Fake::new(1000, 10);
        device.slots = slots;
        device.promise = Promise::AfterFlush;
        let told = run(Script::new(&sends), real(speed), device);
        // By hand: the first free slot takes the next request, for ten simulated milliseconds.
        let mut free = vec![0u64; slots];
        let mut expected: Vec<(u64, u32)> = sends.iter().zip(0u32..).map(|((at, _), ticket)| {
            let arrival = (*at as f64 * speed) as u64;
            let slot = free.iter_mut().min().expect("a slot");
            *slot = arrival.max(*slot) + 10 * MS;
            ((*slot as f64 / speed).ceil() as u64, ticket)
        }).collect();
        expected.sort_unstable();
        let mut found: Vec<(u64, u32)> = told.answers.iter().map(|(ticket, at, _)| (*at, *ticket)).collect();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(told.lost, None);
    }
}

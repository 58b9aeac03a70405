//! The devices below the drive in the library's runs: constant times, and a motor.

use std::collections::VecDeque;

use diskwright::base::units::Time;
use diskwright::engine::Token;
use diskwright::engine::context::Context;
use diskwright::engine::device::{Device, DeviceStatus};
use diskwright::engine::request::{Op, Outcome, Part, RequestId};
use diskwright::engine::timeline::AlarmId;
use serde_json::{Map, Value, json};

use super::specs::{Motor, Times};

/// Kinds of alarms.
const SERVED: u32 = 0;
const PASSED: u32 = 1;
const STOP: u32 = 2;
const UP: u32 = 3;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Turning,
    /// On its way down, or down since.
    Down(Time),
    Waking,
}

/// A device with a motor, or without.
pub struct Below {
    times: Times,
    motor: Option<Motor>,
    state: State,
    is_told: bool,
    serving: usize,
    waiting: VecDeque<RequestId>,
    stop: Option<AlarmId>,
    stops: u64,
    tellings: u64,
}

impl Below {
    pub fn new(times: Times, motor: Option<Motor>) -> Below {
        Below {
            times,
            motor,
            state: State::Turning,
            is_told: false,
            serving: 0,
            waiting: VecDeque::new(),
            stop: None,
            stops: 0,
            tellings: 0,
        }
    }

    fn serve(&mut self, cx: &mut Context<'_>) {
        while self.state == State::Turning && self.serving < self.times.parallel {
            let Some(request) = self.waiting.pop_front() else {
                return;
            };
            self.serving += 1;
            let command = cx.request(request).command;
            let access = match command.op {
                Op::Write => self.times.write,
                _ => self.times.read,
            };
            let time = access + u64::from(command.blocks) * self.times.per_block;
            self.end(request, SERVED, Time::from_ns(time), cx);
        }
    }

    fn end(&self, request: RequestId, kind: u32, time: Time, cx: &mut Context<'_>) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        entry.parts.add(Part::Transfer, time);
        cx.alarm(now + time, Token::of_request(kind, request));
    }

    fn is_idle(&self) -> bool {
        self.serving == 0 && self.waiting.is_empty() && self.state == State::Turning
    }

    fn rests(&mut self, cx: &mut Context<'_>) {
        let Some(motor) = self.motor.filter(|_| self.is_idle()) else {
            return;
        };
        if self.is_told {
            return self.goes_down(cx);
        }
        if let Some(timeout) = motor.timeout {
            let at = cx.now() + Time::from_ns(timeout);
            self.stop = Some(cx.background_alarm(at, Token::new(STOP, 0)));
        }
    }

    fn goes_down(&mut self, cx: &mut Context<'_>) {
        self.forget(cx);
        let down = self.motor.map_or(0, |motor| motor.down);
        self.state = State::Down(cx.now() + Time::from_ns(down));
        self.stops += 1;
    }

    fn forget(&mut self, cx: &mut Context<'_>) {
        if let Some(alarm) = self.stop.take() {
            cx.cancel(alarm);
        }
    }
}

impl Device for Below {
    fn prepare(&mut self, cx: &mut Context<'_>) {
        self.rests(cx);
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.is_told = false;
        if !matches!(cx.request(request).command.op, Op::Read | Op::Write) {
            return self.end(request, PASSED, Time::ZERO, cx);
        }
        self.forget(cx);
        self.waiting.push_back(request);
        if let State::Down(since) = self.state {
            let up = self.motor.map_or(0, |motor| motor.up);
            self.state = State::Waking;
            cx.alarm(since.max(cx.now()) + Time::from_ns(up), Token::new(UP, 0));
        }
        self.serve(cx);
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            STOP => {
                self.stop = None;
                self.goes_down(cx);
            }
            UP => {
                self.state = State::Turning;
                self.serve(cx);
            }
            PASSED => cx.complete(token.request(), Outcome::Ok),
            _ => {
                let request = token.request();
                let command = cx.request(request).command;
                if let Some((checker, medium)) = cx.checker() {
                    let (lbn, blocks) = (command.lbn.0, command.blocks);
                    match command.op {
                        Op::Write => checker.wrote(medium, request, 0, lbn, blocks),
                        _ => checker.read(medium, request, 0, lbn, blocks),
                    }
                }
                cx.complete(request, Outcome::Ok);
                self.serving -= 1;
                self.serve(cx);
                self.rests(cx);
            }
        }
    }

    fn stand_by(&mut self, cx: &mut Context<'_>) {
        self.tellings += 1;
        self.is_told = true;
        if self.motor.is_some() && self.is_idle() {
            self.goes_down(cx);
        }
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }

    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: (self.serving + self.waiting.len()) as u32,
            free_slots: u32::MAX,
            is_down: matches!(self.state, State::Down(_)),
        }
    }

    fn blocks(&self) -> u64 {
        self.times.blocks
    }

    fn measure_from(&mut self, _now: Time) {}

    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        let counts = [("stops", self.stops), ("tellings", self.tellings)];
        counts
            .into_iter()
            .map(|(key, count)| (key.to_owned(), json!(count)))
            .collect()
    }
}

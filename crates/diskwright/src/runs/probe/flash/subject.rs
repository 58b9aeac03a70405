//! A drive that users ask in a closed loop, and what their requests took.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::base::error::Error;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size, Time};
use crate::engine::request::{Command, Op, RequestId};
use crate::engine::{Engine, Initiator, Port, Token};
use crate::host::Progress;

use super::super::meter::Meter;
use super::stand_in::StandIn;

/// How much of a drive is filled, at most, where data are read: in order, over all planes.
const FILLED: f64 = 0.5;

/// What is on a drive before it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    New,
    /// Half of it is written, in order.
    Half,
    /// All of it in order, and then a tenth at random: it is being cleaned.
    Overwritten,
}

/// A request that is over.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub user: u32,
    pub op: Op,
    pub at: Time,
    pub response: Time,
}

/// Response times, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// Their mean.
    pub mean_ms: f64,
    /// Half of them are no longer.
    pub p50_ms: f64,
    /// 90 % of them are no longer.
    pub p90_ms: f64,
    /// 99 % of them are no longer.
    pub p99_ms: f64,
    /// 99.9 % of them are no longer.
    pub p999_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

impl Times {
    /// Of these samples; `None` without any.
    pub fn of<'s>(samples: impl IntoIterator<Item = &'s Sample>) -> Option<Times> {
        let mut times: Vec<u64> = samples.into_iter().map(|one| one.response.ns()).collect();
        times.sort_unstable();
        let &longest = times.last()?;
        let ms = |ns: u64| ns as f64 / 1e6;
        let at = |share: f64| {
            let rank = libm::ceil(share * times.len() as f64) as usize;
            ms(times[rank.max(1) - 1])
        };
        let sum: u128 = times.iter().map(|&ns| u128::from(ns)).sum();
        Some(Times {
            mean_ms: sum as f64 / times.len() as f64 / 1e6,
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: ms(longest),
        })
    }
}

/// A drive under measurement.
pub struct Subject {
    engine: Engine,
    /// What users may address, in 512-byte blocks.
    blocks: u64,
}

impl Subject {
    /// A drive in a state.
    ///
    /// # Errors
    /// A drive that makes no sense.
    pub fn new(stand_in: &StandIn, state: State) -> Result<Subject, Error> {
        let blocks = stand_in.blocks();
        let initial = match state {
            State::New => json!({ "fill": "0 %", "overwrite": 0.0 }),
            State::Half => json!({ "fill": format!("{} %", 100.0 * FILLED), "overwrite": 0.0 }),
            State::Overwritten => json!({ "fill": "100 %", "overwrite": 0.1 }),
        };
        Ok(Subject {
            engine: stand_in.engine(&initial)?,
            blocks: match state {
                State::Half => (blocks as f64 * FILLED) as u64,
                _ => blocks,
            },
        })
    }

    /// Random places of requests of a size, aligned to it.
    pub fn places(&self, size: Size, seed: u64, name: &str) -> impl FnMut() -> Lbn + use<> {
        let mut chance = Stream::new(seed, &format!("probe.flash.{name}"));
        let (blocks, places) = (size.blocks(), (self.blocks / size.blocks()).max(1));
        move || Lbn(chance.below(places) * blocks)
    }

    /// The places of requests one after another, from the first block on, again and again.
    pub fn in_order(&self, size: Size) -> impl FnMut() -> Lbn + use<> {
        let (blocks, places) = (size.blocks(), (self.blocks / size.blocks()).max(1));
        let mut next = 0;
        move || {
            let place = next % places;
            next += 1;
            Lbn(place * blocks)
        }
    }

    /// `users` users each issue what `next` gives them, as soon as what they issued before is complete.
    ///
    /// # Errors
    /// Those of [`Engine::run`], and an interruption.
    pub fn run(
        &mut self,
        users: u32,
        next: impl FnMut(u32) -> Option<Command>,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Sample>, Error> {
        let mut loop_of_users = Users {
            users,
            next,
            meter,
            samples: Vec::new(),
            user_of: Vec::new(),
        };
        self.engine.run(&mut loop_of_users)?;
        Ok(loop_of_users.samples)
    }

    /// What the drive has counted.
    pub fn counters(&self) -> Map<String, Value> {
        let ssd = self.engine.devices().last().expect("the drive");
        ssd.report(self.engine.now())
    }
}

/// A request of one kind.
pub fn command(op: Op, lbn: Lbn, size: Size) -> Command {
    Command {
        op,
        fua: false,
        lbn,
        blocks: size.blocks() as u32,
    }
}

/// What is measured of a run: all but the first tenth.
pub fn measured(samples: &[Sample]) -> &[Sample] {
    &samples[samples.len() / 10..]
}

/// Requests a second of what is measured, from the completion before its first one to its last one.
pub fn rate(samples: &[Sample]) -> f64 {
    let counted = measured(samples);
    let before = samples.len() - counted.len();
    let from = match before {
        0 => Time::ZERO,
        before => samples[before - 1].at,
    };
    let until = counted.last().map_or(from, |last| last.at);
    counted.len() as f64 / (until - from).s()
}

struct Users<'m, 'p, F> {
    users: u32,
    next: F,
    meter: &'m mut Meter<'p>,
    samples: Vec<Sample>,
    /// By the number of the request.
    user_of: Vec<u32>,
}

impl<F: FnMut(u32) -> Option<Command>> Users<'_, '_, F> {
    fn issue(&mut self, user: u32, port: &mut Port<'_>) {
        let Some(command) = (self.next)(user) else {
            return;
        };
        let request = port.submit(&command, port.now(), 0);
        let index = request.0 as usize;
        if self.user_of.len() <= index {
            self.user_of.resize(index + 1, 0);
        }
        self.user_of[index] = user;
    }
}

impl<F: FnMut(u32) -> Option<Command>> Initiator for Users<'_, '_, F> {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for user in 0..self.users {
            self.issue(user, port);
        }
        Ok(())
    }

    fn alarm(&mut self, _token: Token, _port: &mut Port<'_>) -> Result<(), Error> {
        unreachable!("users set no alarms")
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let user = self.user_of[request.0 as usize];
        let done = port.request(request);
        self.samples.push(Sample {
            user,
            op: done.command.op,
            at: port.now(),
            response: done.response(),
        });
        self.issue(user, port);
        Ok(())
    }

    fn power_lost(&mut self, _now: Time) {}

    fn tick(&mut self) -> ControlFlow<()> {
        self.meter.update(self.samples.len() as u64, None)
    }
}

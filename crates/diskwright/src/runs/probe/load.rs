//! A closed load on a drive: users who each issue a request as soon as the one before is complete.

use std::ops::ControlFlow;

use crate::base::error::Error;
use crate::base::units::Time;
use crate::devices::hdd::drive::Drive;
use crate::engine::request::{Command, Part, Request, RequestId};
use crate::engine::{Engine, Initiator, Port, Token};
use crate::host::Progress;
use crate::runs::alone::as_shipped;

use super::meter::Meter;

/// A request that was served.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// The user whose it was.
    pub user: u32,
    /// When it was complete.
    pub at: Time,
    /// From issue to completion.
    pub response: Time,
    /// It waited for more than the interface: for the medium, or for room in memory.
    pub has_waited: bool,
}

/// The requests a second of a closed loop with `depth` outstanding requests, and their interval, from the mean response time in ms and its
/// interval: Little's law.
pub fn rate(depth: u32, mean_ms: f64, ci95_ms: Option<[f64; 2]>) -> (f64, Option<[f64; 2]>) {
    let of = |mean_ms: f64| f64::from(depth) / mean_ms * 1e3;
    (of(mean_ms), ci95_ms.map(|[low, high]| [of(high), of(low)]))
}

/// What the users do.
pub trait Load {
    /// The next request of a user; `None` for one that has done.
    fn next(&mut self, user: u32) -> Option<Command>;
    /// A request is complete; the user's next one is asked for afterwards.
    fn served(&mut self, served: &Served);
}

/// A drive as it ships, alone on the engine.
pub struct Subject {
    engine: Engine,
    /// No access to the medium takes longer.
    longest_access: Time,
}

impl Subject {
    /// At rest, with the write cache switched where that is said.
    ///
    /// # Errors
    /// A drive that needs more memory than there is.
    pub fn new(drive: Drive, write_cache: Option<bool>) -> Result<Subject, Error> {
        let mechanics = &drive.hardware.mechanics;
        let turn = mechanics.spindle.period();
        Ok(Subject {
            // The second turn is more than settling and the passing of sectors take.
            longest_access: mechanics.seek().full_stroke() + turn + turn,
            engine: as_shipped(drive, write_cache)?,
        })
    }

    /// Runs a load of `users` users to its end.
    ///
    /// # Errors
    /// Those of [`Engine::run`], and an interruption by the meter's listener.
    pub fn run(
        &mut self,
        users: u32,
        load: &mut impl Load,
        meter: &mut Meter<'_>,
    ) -> Result<(), Error> {
        self.engine.run(&mut Users {
            users,
            load,
            meter,
            longest_access: self.longest_access,
            issued: 0,
            user_of: Vec::new(),
        })
    }

    /// Lets the drive do what it does without requests, until nothing is left to happen: when the last thing that it began of its own was
    /// done, or now where there was none.
    ///
    /// # Errors
    /// As [`Subject::run`].
    pub fn settle(&mut self, meter: &mut Meter<'_>) -> Result<Time, Error> {
        let engine = &mut self.engine;
        let mut done = engine.now();
        loop {
            let was_busy = engine.is_busy_in_background();
            let mut rest = OneInstant::default();
            engine.run(&mut rest)?;
            if was_busy && !engine.is_busy_in_background() {
                done = engine.now();
            }
            if rest.is_over {
                return Ok(done);
            }
            if meter.update(0, None).is_break() {
                return Err(Error::Interrupted);
            }
        }
    }
}

struct Users<'u, 'm, L> {
    users: u32,
    load: &'u mut L,
    meter: &'u mut Meter<'m>,
    longest_access: Time,
    issued: u64,
    /// By the number of the request.
    user_of: Vec<u32>,
}

impl<L: Load> Users<'_, '_, L> {
    fn issue(&mut self, user: u32, port: &mut Port<'_>) {
        let Some(command) = self.load.next(user) else {
            return;
        };
        let request = port.submit(&command, port.now(), self.issued);
        self.issued += 1;
        let index = request.0 as usize;
        if self.user_of.len() <= index {
            self.user_of.resize(index + 1, 0);
        }
        self.user_of[index] = user;
    }

    /// Whether more passed between a request's acceptance and its start than the requests of all other users occupy controller and
    /// interface for, or it then waited for more than one access to the medium.
    fn has_waited(&self, request: &Request) -> bool {
        let work = request.parts.get(Part::Overhead) + request.parts.get(Part::Bus);
        let before = request.start.saturating_sub(request.acceptance);
        before.ns() > work.ns() * u64::from(self.users - 1)
            || request.parts.get(Part::Wait) > self.longest_access
    }
}

impl<L: Load> Initiator for Users<'_, '_, L> {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for user in 0..self.users {
            self.issue(user, port);
        }
        Ok(())
    }

    fn alarm(&mut self, _token: Token, _port: &mut Port<'_>) -> Result<(), Error> {
        unreachable!("the users set no alarms")
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let user = self.user_of[request.0 as usize];
        let request = port.request(request);
        let served = Served {
            user,
            at: port.now(),
            response: request.response(),
            has_waited: self.has_waited(request),
        };
        self.load.served(&served);
        self.issue(user, port);
        Ok(())
    }

    fn power_lost(&mut self, _now: Time) {}

    fn tick(&mut self) -> ControlFlow<()> {
        self.meter.update(0, None)
    }
}

/// A host that asks for nothing and looks at the drive after each instant at which something happens.
#[derive(Default)]
struct OneInstant {
    has_passed: bool,
    /// Nothing is left to happen.
    is_over: bool,
}

impl Initiator for OneInstant {
    fn start(&mut self, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn alarm(&mut self, _token: Token, _port: &mut Port<'_>) -> Result<(), Error> {
        unreachable!("it sets no alarms")
    }

    fn completed(&mut self, _request: RequestId, _port: &mut Port<'_>) -> Result<(), Error> {
        unreachable!("it issues no requests")
    }

    fn power_lost(&mut self, _now: Time) {}

    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn advance(&mut self, next: Option<Time>, _is_over: bool) -> Option<Time> {
        self.is_over = next.is_none();
        match std::mem::replace(&mut self.has_passed, true) {
            false => next,
            true => None,
        }
    }
}

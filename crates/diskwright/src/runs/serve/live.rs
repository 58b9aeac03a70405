//! The live host: hands the requests of clients to the device as they come, and answers them when the simulated completion is due.
//!
//! It is an [`Initiator`] and knows neither sockets nor clocks: these are [`Outside`]. Simulated time is moved on as [`Pace`] says; what
//! is due at a simulated instant is handled once the wall has reached that instant, so that no request that comes in before is too late.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::lateness::{Causes, Lateness};
use super::pace::Pace;
use super::state::{Entry, Log};
use super::watcher::Status;
use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::checker::Checker;
use crate::engine::request::{Command, Outcome, RequestId};
use crate::engine::{Initiator, Injection, Port, Token};
use crate::metrics::{Measurements, Picture, Recorder, RequestLog};

/// Wall time between two looks at what the listener wants, ns.
const TICK: u64 = 50_000_000;
/// How long time stands still for a request that is missing to a depth, ns of the wall.
const PATIENCE: u64 = 200_000_000;
/// The same after another answer, where none has come for so long.
const LESS_PATIENCE: u64 = 5_000_000;
/// Wall time between two looks at the sockets while there is much to do, ns.
const LOOK: u64 = 20_000;

/// A request that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// What is asked of the device.
    pub command: Command,
    /// By which its answer finds its client.
    pub ticket: u32,
    /// When it was there as a whole, ns of the wall since the start.
    pub at: u64,
}

/// What is around the simulation: the clients, the clock.
pub trait Outside {
    /// The wall's clock, ns since the start.
    fn now(&mut self) -> u64;
    /// Adds what comes in. Waits for something until `until`, an instant of the wall, at the longest; a past one is no wait at all.
    fn wait(&mut self, until: u64, incoming: &mut Inbox) -> Result<(), Error>;
    /// A request of a client has entered the device; with the checker on comes the number of the last change.
    fn entered(&mut self, ticket: u32, change: Option<u64>) {
        let _ = (ticket, change);
    }
    /// A request of a client is complete.
    fn answer(
        &mut self,
        ticket: u32,
        outcome: Outcome,
        checker: Option<&Checker>,
    ) -> Result<(), Error>;
    /// The power is gone: what is under way is lost.
    fn power_lost(&mut self);
    /// Called some twenty times a second; `Break` ends the serving once all that is under way is answered.
    fn tick(&mut self, status: &Status) -> ControlFlow<()>;
}

/// What came in and is still to be handled.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Requests, in the order in which they came.
    pub requests: VecDeque<Incoming>,
    /// What is to go wrong, and when it was asked for, ns of the wall since the start.
    pub faults: VecDeque<(u64, Injection)>,
    /// Nothing more is to be served.
    pub ends: bool,
}

/// The host of a device that is served.
pub struct Live<'a, O> {
    outside: &'a mut O,
    pace: Pace,
    inbox: Inbox,
    /// By the request's number: the ticket of its client.
    tickets: Vec<u32>,
    sequence: u64,
    status: Status,
    ends: bool,
    has_lost_power: bool,
    lost: u32,
    /// When the listener was asked last, and when the sockets were looked at, ns of the wall.
    told: u64,
    looked: u64,
    /// When it last woke from a wait, ns of the wall.
    woke: u64,
    /// Since when time has stood still for want of requests.
    stands_since: Option<u64>,
    /// The patience is over: time moves on to the next completion.
    goes_on: bool,
    /// It was over, and no request has come since.
    drains: bool,
    /// How often it was over.
    short: u64,
    lateness: Lateness,
    /// What is late in the present instant.
    causes: Causes,
    /// When the present instant began to be handled, ns of the wall.
    begun: u64,
    /// What the engine has taken since the process last slept, ns.
    busy: u64,
    failed: Option<Error>,
    recorder: Recorder,
    log: Option<RequestLog>,
    /// The simulated instant at which it begins: that of the device.
    origin: Time,
    /// The instants of what the spec lets go wrong.
    faults: Vec<Time>,
    state: Option<Log>,
}

impl<'a, O: Outside> Live<'a, O> {
    /// A host that has heard of nothing yet.
    pub fn new(outside: &'a mut O, pace: Pace, recorder: Recorder) -> Live<'a, O> {
        Live {
            outside,
            pace,
            inbox: Inbox::default(),
            tickets: Vec::new(),
            sequence: 0,
            status: Status::default(),
            ends: false,
            has_lost_power: false,
            lost: 0,
            told: 0,
            looked: 0,
            woke: 0,
            stands_since: None,
            goes_on: false,
            drains: false,
            short: 0,
            lateness: Lateness::default(),
            causes: Causes::default(),
            begun: 0,
            busy: 0,
            failed: None,
            recorder,
            log: None,
            origin: Time::ZERO,
            faults: Vec::new(),
            state: None,
        }
    }

    /// Begins at a simulated instant: the device has a past.
    #[must_use]
    pub fn from(mut self, origin: Time) -> Live<'a, O> {
        (self.origin, self.status.now) = (origin, origin);
        self
    }

    /// Things of the spec go wrong at these instants. Where it ends before, they do not happen.
    #[must_use]
    pub fn with_faults(mut self, faults: Vec<Time>) -> Live<'a, O> {
        self.faults = faults;
        self
    }

    /// Records what enters the device.
    #[must_use]
    pub fn with_state(mut self, state: Option<Log>) -> Live<'a, O> {
        self.state = state;
        self
    }

    /// The record of what has entered the device.
    pub fn take_state(&mut self) -> Option<Log> {
        self.state.take()
    }

    /// Writes every completed request to a log.
    #[must_use]
    pub fn with_log(mut self, log: Option<RequestLog>) -> Live<'a, O> {
        self.log = log;
        self
    }

    /// Ends the log, if there is one.
    ///
    /// # Errors
    /// It could not be written to its end.
    pub fn finish_log(&mut self) -> Result<(), Error> {
        self.log.take().map_or(Ok(()), RequestLog::finish)
    }

    /// Ends the recording.
    pub fn finish_recording(&mut self) -> (Measurements, Option<Box<Picture>>) {
        self.recorder.finish()
    }

    /// Requests that were handed to the device.
    pub fn issued(&self) -> u64 {
        self.sequence
    }

    /// How late answers were.
    pub fn take_lateness(&mut self) -> Lateness {
        std::mem::take(&mut self.lateness)
    }

    /// How often time moved on with fewer requests in flight than the depth, because no more came.
    pub fn short(&self) -> u64 {
        self.short
    }

    /// Where the power was cut: when, and how many requests were lost.
    pub fn power_cut(&self) -> Option<(Time, u32)> {
        self.has_lost_power.then_some((self.status.now, self.lost))
    }

    /// What went wrong outside, and ended the serving.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.failed.take()
    }

    /// Goes on to an instant.
    fn go(&mut self, at: Time) -> Option<Time> {
        self.begun = self.outside.now();
        if let (Pace::Real(speed), false) = (self.pace, self.ends) {
            let due = speed.wall(at.saturating_sub(self.origin));
            // What was due before it woke waited for that; afterwards whatever else it did was in the way.
            let timer = self.woke.saturating_sub(due);
            let rest = self.begun.saturating_sub(due.max(self.woke));
            let engine = rest.min(self.busy);
            let host = rest - engine;
            self.causes = Causes {
                timer,
                engine,
                host,
            };
        }
        self.status.now = at;
        Some(at)
    }

    /// Looks at what has come in, until an instant of the wall at the longest.
    fn look(&mut self, until: u64) {
        let sleeps = until > self.outside.now();
        let looked = self.outside.wait(until, &mut self.inbox);
        self.looked = self.outside.now();
        if sleeps {
            (self.woke, self.busy) = (self.looked, 0);
        }
        self.ends |= self.inbox.ends;
        if let Err(error) = looked {
            self.fails(error);
        }
    }

    /// Something outside went wrong, and the serving ends.
    fn fails(&mut self, error: Error) {
        self.failed.get_or_insert(error);
        self.ends = true;
    }

    /// What enters the device is recorded.
    fn note_entry(&mut self, at: Time, entry: Entry) {
        if let Some(Err(error)) = (self.state.as_mut()).map(|state| state.enters(at, entry)) {
            self.fails(error);
        }
    }

    fn tick_if_due(&mut self, wall: u64) {
        if wall.saturating_sub(self.told) >= TICK {
            self.told = wall;
            if let Some(Err(error)) = self.state.as_mut().map(Log::write_out) {
                self.fails(error);
            }
            if self.outside.tick(&self.status).is_break() {
                self.ends = true;
            }
        }
    }

    /// The simulated instant at which something enters that came in at an instant of the wall.
    fn instant(&self, at: u64) -> Time {
        match self.pace {
            Pace::Real(speed) if !self.ends => {
                (self.origin + speed.simulated(at)).max(self.status.now)
            }
            Pace::Real(_) | Pace::Fast { .. } => self.status.now,
        }
    }

    /// Whether another request may enter now.
    fn has_room(&self) -> bool {
        match self.pace {
            Pace::Fast { depth } => self.ends || self.status.in_flight < depth,
            Pace::Real(_) => true,
        }
    }

    /// The instant at which what has come in enters, where it does before the next alarm.
    fn entry(&self, next: Option<Time>) -> Option<Time> {
        let first = self.inbox.requests.front().map(|first| first.at);
        let request = first.filter(|_| self.has_room()).map(|at| self.instant(at));
        let fault = self.inbox.faults.front().map(|(at, _)| self.instant(*at));
        let at = match (request, fault) {
            (Some(request), Some(fault)) => request.min(fault),
            (request, fault) => request.or(fault)?,
        };
        next.is_none_or(|next| at < next).then_some(at)
    }

    /// Under the pace of the wall, or where all is to end: when to go on to the next alarm.
    fn follow(&mut self, next: Option<Time>, is_over: bool) -> Option<Time> {
        loop {
            let wall = self.outside.now();
            self.tick_if_due(wall);
            if self.has_lost_power {
                return None;
            }
            if let Some(at) = self.entry(next) {
                return self.go(at);
            }
            if self.ends {
                let is_left =
                    |next: &Time| self.status.in_flight > 0 || !self.faults.contains(next);
                let at = next.filter(|next| !is_over && is_left(next))?;
                return self.go(at);
            }
            if next.is_some_and(|next| next <= self.status.now) {
                // What is still to happen in this instant, such as a fault that has come in.
                return next.and_then(|next| self.go(next));
            }
            match (self.pace, next) {
                (Pace::Real(speed), _) => {
                    let due = next.map_or(u64::MAX, |next| {
                        speed.wall(next.saturating_sub(self.origin))
                    });
                    if due <= wall && wall.saturating_sub(self.looked) < LOOK {
                        return next.and_then(|next| self.go(next));
                    }
                    let until = due.min(self.told + TICK);
                    self.look(until);
                    if due <= until && self.entry(next).is_none() && self.outside.now() >= due {
                        return next.and_then(|next| self.go(next));
                    }
                }
                (Pace::Fast { depth }, _) => {
                    let in_flight = self.status.in_flight;
                    let since = *self.stands_since.get_or_insert(wall);
                    let patience = if self.drains { LESS_PATIENCE } else { PATIENCE };
                    let is_short = 0 < in_flight && in_flight < depth;
                    if is_short && wall >= since + patience && !self.goes_on {
                        self.goes_on = true;
                        self.drains = true;
                        self.short += 1;
                    }
                    if next.is_some() && (in_flight >= depth || self.goes_on) {
                        if wall.saturating_sub(self.looked) >= TICK {
                            self.look(0);
                        }
                        return next.and_then(|next| self.go(next));
                    }
                    let enough = if in_flight > 0 {
                        since + patience
                    } else {
                        u64::MAX
                    };
                    self.look(enough.min(self.told + TICK));
                }
            }
        }
    }

    fn admit(&mut self, port: &mut Port<'_>) {
        let now = port.now();
        if let Some(state) = &mut self.state {
            state.begin();
        }
        while let Some((at, _)) = self.inbox.faults.front()
            && self.instant(*at) <= now
        {
            if let Some((_, fault)) = self.inbox.faults.pop_front() {
                self.note_entry(now, Entry::Fault(fault.clone()));
                port.inject(fault);
            }
        }
        while let Some(first) = self.inbox.requests.front()
            && self.has_room()
            && self.instant(first.at) <= now
        {
            let incoming = *first;
            self.inbox.requests.pop_front();
            self.moves_on();
            self.drains = false;
            // What the device did in its past is not measured.
            let is_first = self.sequence == 0 && self.origin > Time::ZERO;
            if self.recorder.arrived(now, 0) || is_first {
                port.measure_from_here();
            }
            self.note_entry(now, Entry::Command(incoming.command));
            let request = port.submit(&incoming.command, now, self.sequence);
            self.sequence += 1;
            self.status.in_flight += 1;
            let index = request.0 as usize;
            if self.tickets.len() <= index {
                self.tickets.resize(index + 1, 0);
            }
            self.tickets[index] = incoming.ticket;
            let change = port.checker().map(Checker::last_change);
            self.outside.entered(incoming.ticket, change);
        }
    }

    /// A request came or went: whether time stands still for another one is seen anew.
    fn moves_on(&mut self) {
        self.stands_since = None;
        self.goes_on = false;
    }

    /// An answer leaves now: how late it is.
    fn note_lateness(&mut self) {
        if let (Pace::Real(_), false) = (self.pace, self.ends) {
            let mut causes = self.causes;
            causes.engine += self.outside.now().saturating_sub(self.begun);
            self.lateness.add(causes);
        }
    }
}

impl<O: Outside> Initiator for Live<'_, O> {
    fn start(&mut self, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn alarm(&mut self, token: Token, _port: &mut Port<'_>) -> Result<(), Error> {
        unreachable!("a live host sets no alarm, and {token:?} rang")
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let completed = port.request(request);
        self.status.in_flight -= 1;
        self.moves_on();
        if let Some(state) = &mut self.state {
            state.completed(completed);
        }
        let begins = self.recorder.completed(completed, 0);
        if let Some(log) = &mut self.log {
            log.add(completed)?;
        }
        self.status.answered += 1;
        self.status.bytes += u64::from(completed.command.blocks) * BLOCK_BYTES;
        self.status.response += u128::from(completed.response().ns());
        let outcome = completed
            .outcome
            .expect("a completed request has an outcome");
        if begins {
            port.measure_from_here();
        }
        if self.has_lost_power {
            return Ok(());
        }
        self.note_lateness();
        let before = self.outside.now();
        let ticket = self.tickets[request.0 as usize];
        self.outside.answer(ticket, outcome, port.checker())?;
        // The time of sockets and contents is the host's.
        let taken = self.outside.now().saturating_sub(before);
        self.begun += taken;
        self.causes.host += taken;
        if self.status.in_flight == 0 {
            port.measure_until_here();
        }
        Ok(())
    }

    fn power_lost(&mut self, _now: Time) {
        self.has_lost_power = true;
        self.lost = self.status.in_flight;
        self.outside.power_lost();
    }

    fn tick(&mut self) -> ControlFlow<()> {
        // The listener is asked by the wall's clock, wherever time moves on.
        ControlFlow::Continue(())
    }

    fn advance(&mut self, next: Option<Time>, is_over: bool) -> Option<Time> {
        self.busy += self.outside.now().saturating_sub(self.begun);
        self.causes = Causes::default();
        self.follow(next, is_over)
    }

    fn arrive(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        self.admit(port);
        Ok(())
    }
}

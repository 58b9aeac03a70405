//! The host: takes requests from the workload at their pace, holds them back at its outstanding limit,
//! and hands them to the root device in the order of its own scheduler.

pub mod flash_backed;
pub mod growth;
mod planned;
mod processes;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::engine::request::{Command, Request, RequestId};
use crate::engine::{Initiator, Port, Token};
use crate::metrics::recorder::MOST_STREAMS;
use crate::metrics::{Jobs, Measurements, Picture, Recorder, RequestLog, RequestTable};
use crate::models::queue::pool::Order;
use crate::models::queue::{Pending, Pool, Scheduler, Space, View};
use crate::workload::{Arrival, Pacing, Workload};
use flash_backed::foresight::Foresight;
use growth::Growth;
use planned::Streams;
use processes::Processors;

pub use crate::base::progress::Progress;

/// When to stop taking requests from the workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// The most requests.
    pub requests: Option<u64>,
    /// Only requests that arrive within this time of the first one.
    pub duration: Option<Time>,
    /// The run ends when the last request of an open load has arrived; what is outstanding then is given up.
    pub ends_with_last_arrival: bool,
}

/// How a host behaves.
pub struct HostPolicy {
    /// The most requests handed to the device at a time; `None` for no limit.
    pub outstanding: Option<u32>,
    /// The order in which held-back requests are handed over.
    pub scheduler: Box<dyn Scheduler>,
    /// When to stop.
    pub extent: Extent,
}

/// Kinds of the host's alarms: an arrival, and the end of a user's think time. The value is the user's number.
const ARRIVAL: u32 = 0;
const THOUGHT: u32 = 1;

/// The host of a run.
pub struct Host<'a> {
    workload: Workload,
    pacing: Pacing,
    policy: HostPolicy,
    pool: Pool,
    last: Lbn,
    outstanding: u32,
    issued: u64,
    arrived: u64,
    /// When the power failed, and how many requests had been handed over and were lost.
    power_lost: Option<(Time, u32)>,
    first_arrival: Option<Time>,
    /// Whether an open load has no next request.
    has_no_next: bool,
    /// The next request of an open load, whose alarm is set, or of a closed one that looks ahead, where it has one.
    ahead: Arrival,
    has_ahead: bool,
    /// The device is told what a closed load asks next.
    looks_ahead: bool,
    held: Vec<Origin>,
    held_free: Vec<u32>,
    /// Under a closed pacing, whose request it is, by its number.
    users: Vec<u32>,
    /// Where the load has streams, of which one a request is, by its number.
    streams: Vec<u32>,
    has_streams: bool,
    /// Under a planned pacing.
    planned: Streams,
    /// Under the pacing of processes.
    processes: Processors,
    growth: Growth,
    recorder: Recorder,
    log: Option<RequestLog>,
    table: Option<RequestTable>,
    total: Option<u64>,
    progress: &'a mut dyn Progress,
    /// Is told of the next request of an open load.
    foresight: Option<Foresight>,
}

/// Where a request comes from that has no number of the engine's yet.
#[derive(Clone, Copy)]
struct Origin {
    arrival: Time,
    sequence: u64,
    user: u32,
    stream: u32,
}

impl<'a> Host<'a> {
    /// A host at the start of `workload`.
    pub fn new(
        mut workload: Workload,
        policy: HostPolicy,
        recorder: Recorder,
        progress: &'a mut dyn Progress,
    ) -> Host<'a> {
        let total = match (workload.total_hint(), policy.extent.requests) {
            (Some(hint), Some(most)) => Some(hint.min(most)),
            (hint, most) => hint.or(most),
        };
        let streams = workload.streams();
        Host {
            has_streams: !streams.is_empty(),
            planned: Streams::new(workload.take_plans()),
            processes: Processors::new(workload.process_rules()),
            pacing: workload.pacing(),
            workload,
            pool: Pool::new(policy.scheduler.order()),
            policy,
            last: Lbn(0),
            outstanding: 0,
            issued: 0,
            arrived: 0,
            power_lost: None,
            first_arrival: None,
            has_no_next: false,
            ahead: Arrival::default(),
            has_ahead: false,
            looks_ahead: false,
            held: Vec::new(),
            held_free: Vec::new(),
            users: Vec::new(),
            streams: Vec::new(),
            growth: Growth::default(),
            recorder: recorder.with_streams(streams),
            log: None,
            table: None,
            total,
            progress,
            foresight: None,
        }
    }

    /// Where the device looks ahead, and the load is one whose next request is known before somebody makes it, tells the device of it.
    #[must_use]
    pub fn looking_ahead(mut self, looks_ahead: bool) -> Host<'a> {
        let is_closed = matches!(self.pacing, Pacing::Closed { .. });
        self.looks_ahead = looks_ahead && is_closed && self.workload.is_one_load();
        self
    }

    /// Tells of the next request of an open load.
    #[must_use]
    pub fn with_foresight(mut self, foresight: Option<Foresight>) -> Host<'a> {
        self.foresight = foresight;
        self
    }

    /// Writes every completed request to `log`.
    #[must_use]
    pub fn with_log(mut self, log: Option<RequestLog>) -> Host<'a> {
        self.log = log;
        self
    }

    /// Keeps every completed request in `table`.
    #[must_use]
    pub fn with_table(mut self, table: Option<RequestTable>) -> Host<'a> {
        self.table = table;
        self
    }

    /// The table of completed requests, if there is one.
    pub fn take_table(&mut self) -> Option<RequestTable> {
        self.table.take()
    }

    /// Ends the log, if there is one, after a run that went well.
    ///
    /// # Errors
    /// The log could not be written to its end.
    pub fn finish_log(&mut self) -> Result<(), Error> {
        self.log.take().map_or(Ok(()), RequestLog::finish)
    }

    /// Requests handed to the device.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// The workload, for its counts and warnings.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// What fio tells of jobs, where it was collected.
    pub fn take_jobs(&mut self) -> Option<Box<Jobs>> {
        self.recorder.take_jobs()
    }

    /// Ends the recording.
    pub fn finish_recording(&mut self) -> (Measurements, Option<Box<Picture>>) {
        self.recorder.finish()
    }

    /// What the results should warn of.
    pub fn warnings(&self) -> Vec<String> {
        let open =
            matches!(self.pacing, Pacing::Open | Pacing::Processes) || self.planned.has_open();
        let backlog = if open { self.growth.verdict() } else { None };
        backlog.into_iter().collect()
    }

    /// What the user should know of the run, without doubting its results.
    pub fn notes(&self) -> Vec<String> {
        let streams = self.workload.streams().into_iter();
        let streams = streams.collect::<BTreeSet<_>>().len();
        let many = (streams > MOST_STREAMS).then(|| {
            format!("the load has {streams} streams, more than the {MOST_STREAMS} that results tell apart: there is no by_stream")
        });
        let dark = self.power_lost.map(|(at, lost)| {
            let held = self.pool.len();
            format!("the power was cut at {at}: {lost} requests under way were lost, and {held} had not been issued")
        });
        let processes = self.processes.notes();
        dark.into_iter().chain(many).chain(processes).collect()
    }

    /// Writes the next request of the workload for a user, unless the run's extent is reached.
    #[inline(always)]
    fn pull(&mut self, user: u32, next: &mut Arrival) -> Result<bool, Error> {
        match self.takes_more() {
            true => self.workload.fill_for(user, next),
            false => Ok(false),
        }
    }

    /// [`Self::pull`], as the request that is known ahead.
    #[inline(always)]
    fn pull_ahead(&mut self, user: u32) -> Result<bool, Error> {
        match self.takes_more() {
            true => self.workload.fill_for(user, &mut self.ahead),
            false => Ok(false),
        }
    }

    /// Whether the run's extent and the power let another request arrive.
    #[inline(always)]
    fn takes_more(&self) -> bool {
        let most = self.policy.extent.requests;
        self.power_lost.is_none() && most.is_none_or(|most| self.arrived < most)
    }

    /// A user's request arrives now.
    #[inline]
    fn arrive(&mut self, arrival: &Arrival, user: u32, port: &mut Port<'_>) {
        let now = port.now();
        self.first_arrival.get_or_insert(now);
        if self.recorder.arrived(now, arrival.stream) {
            port.measure_from_here();
        }
        let origin = Origin {
            arrival: now,
            sequence: self.arrived,
            user,
            stream: arrival.stream,
        };
        self.arrived += 1;
        self.growth
            .add(self.arrived - self.recorder.completed_count());
        if self.pool.is_empty() && self.may_issue() {
            self.issue(&arrival.command, &origin, port);
        } else {
            self.hold(&arrival.command, origin, now);
        }
    }

    #[inline]
    fn may_issue(&self) -> bool {
        self.power_lost.is_none()
            && self
                .policy
                .outstanding
                .is_none_or(|most| self.outstanding < most)
    }

    #[inline(always)]
    fn issue(&mut self, command: &Command, origin: &Origin, port: &mut Port<'_>) {
        self.outstanding += 1;
        self.issued += 1;
        self.last = command.end();
        let request = port.submit(command, origin.arrival, origin.sequence);
        if self.pacing != Pacing::Open {
            note(&mut self.users, request, origin.user);
            if self.pacing == Pacing::Processes {
                self.hand_over_of_process(origin.sequence, request, port);
            }
        }
        if self.has_streams {
            note(&mut self.streams, request, origin.stream);
            port.set_stream(request, origin.stream);
        }
    }

    #[cold]
    fn hand_over_of_process(&mut self, sequence: u64, request: RequestId, port: &mut Port<'_>) {
        let class = self.processes.handed_over(sequence, request);
        port.set_class(request, class);
    }

    #[inline(never)]
    fn hold(&mut self, command: &Command, origin: Origin, now: Time) {
        let index = match self.held_free.pop() {
            Some(index) => {
                self.held[index as usize] = origin;
                index
            }
            None => {
                self.held.push(origin);
                (self.held.len() - 1) as u32
            }
        };
        let key = if self.pool.order() == Order::Arrival {
            0
        } else {
            command.lbn.0
        };
        let request = RequestId(index);
        let pending = Pending::new(request, *command, now, None, key);
        self.pool.push(pending);
    }

    /// Writes a completed request where all of them are wanted.
    #[cold]
    fn write_down(&mut self, completed: &Request) -> Result<(), Error> {
        if let Some(log) = &mut self.log {
            log.add(completed)?;
        }
        if let Some(table) = &mut self.table {
            table.add(completed);
        }
        Ok(())
    }

    /// Hands over what may be handed over.
    #[inline(never)]
    fn issue_held(&mut self, port: &mut Port<'_>) {
        while !self.pool.is_empty() && self.may_issue() {
            let view = View {
                now: port.now(),
                pool: &self.pool,
                space: Space::Blocks(self.last),
            };
            let slot = self.policy.scheduler.pick(&view);
            let Pending {
                request: RequestId(index),
                command,
                ..
            } = *self.pool.remove(slot);
            self.held_free.push(index);
            let origin = self.held[index as usize];
            self.issue(&command, &origin, port);
        }
    }

    /// Sets the alarm for the next recorded arrival.
    fn await_next(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        let is_there = self.pull_ahead(0);
        let at = self.ahead.at;
        let first = self.first_arrival.unwrap_or(at);
        let most = self.policy.extent.duration;
        let comes = is_there? && most.is_none_or(|most| at.saturating_sub(first) <= most);
        if comes {
            port.alarm(at, Token::new(ARRIVAL, 0));
        }
        self.has_no_next = !comes;
        if !comes && self.policy.extent.ends_with_last_arrival {
            port.stop();
        }
        if let Some(foresight) = &self.foresight {
            foresight.note(comes.then_some(&self.ahead.command));
        }
        Ok(())
    }

    /// A user of a closed load, whose request is complete, thinks before the next one.
    #[inline(always)]
    fn think(&mut self, user: u32, port: &mut Port<'_>) -> Result<(), Error> {
        match self.workload.think(user) {
            Time::ZERO => self.next_of_user(user, port),
            think => {
                let token = Token::new(THOUGHT, user);
                port.alarm(port.now().checked_add(think).unwrap_or(Time::MAX), token);
                Ok(())
            }
        }
    }

    /// A user of a closed load makes the next request.
    fn next_of_user(&mut self, user: u32, port: &mut Port<'_>) -> Result<(), Error> {
        let first = self.first_arrival.unwrap_or(port.now());
        if self
            .policy
            .extent
            .duration
            .is_some_and(|most| port.now() - first > most)
        {
            return Ok(());
        }
        if self.looks_ahead {
            return self.next_known_ahead(user, port);
        }
        let mut next = Arrival::default();
        if self.pull(user, &mut next)? {
            self.arrive(&next, user, port);
        }
        Ok(())
    }

    /// The next request arrives, which is known since the one before it, and the device hears of the one behind it.
    #[inline(never)]
    fn next_known_ahead(&mut self, user: u32, port: &mut Port<'_>) -> Result<(), Error> {
        if !self.has_ahead {
            self.pull_first(user)?;
        }
        if !(self.has_ahead && self.takes_more()) {
            return Ok(());
        }
        let next = self.ahead;
        self.arrive(&next, user, port);
        self.has_ahead = self.pull_ahead(user)?;
        port.foresee(self.has_ahead.then_some(self.ahead.command.lbn));
        Ok(())
    }

    /// Looks ahead where nothing is known yet, or nothing was left.
    #[cold]
    fn pull_first(&mut self, user: u32) -> Result<(), Error> {
        self.has_ahead = self.pull_ahead(user)?;
        Ok(())
    }
}

impl Initiator for Host<'_> {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        match self.pacing {
            Pacing::Open => self.await_next(port),
            Pacing::Closed { users } => {
                for user in 0..users.or(self.policy.outstanding).unwrap_or(1) {
                    self.next_of_user(user, port)?;
                }
                Ok(())
            }
            Pacing::Planned => self.begin_stages(port),
            Pacing::Processes => self.start_processes(port),
        }
    }

    fn alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        match self.pacing {
            Pacing::Open | Pacing::Closed { .. } => {}
            Pacing::Planned => return self.planned_alarm(token, port),
            Pacing::Processes => return self.processor_alarm(token, port),
        }
        if token.kind() == THOUGHT {
            return self.next_of_user(token.value(), port);
        }
        let arrival = self.ahead;
        self.arrive(&arrival, 0, port);
        self.await_next(port)
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        self.outstanding -= 1;
        let completed = port.request(request);
        let stream = match self.has_streams {
            true => self.streams[request.0 as usize],
            false => 0,
        };
        let measures_from_here = self.recorder.completed(completed, stream);
        if self.log.is_some() || self.table.is_some() {
            self.write_down(completed)?;
        }
        if measures_from_here {
            port.measure_from_here();
        }
        if !self.pool.is_empty() {
            self.issue_held(port);
        }
        match self.pacing {
            Pacing::Open => {}
            Pacing::Closed { .. } => self.think(self.users[request.0 as usize], port)?,
            Pacing::Planned => self.planned_completed(self.users[request.0 as usize], port)?,
            Pacing::Processes => self.process_completed(request, port)?,
        }
        // Only of an open load is it known whether more is to come.
        if self.outstanding == 0 && (self.has_no_next || self.pacing != Pacing::Open) {
            port.measure_until_here();
        }
        Ok(())
    }

    fn power_lost(&mut self, now: Time) {
        self.power_lost = Some((now, self.outstanding));
    }

    fn tick(&mut self) -> ControlFlow<()> {
        self.progress
            .update(self.recorder.completed_count(), self.total)
    }
}

/// Notes something of a request by its number.
#[inline]
fn note(list: &mut Vec<u32>, request: RequestId, value: u32) {
    let index = request.0 as usize;
    match list.get_mut(index) {
        Some(noted) => *noted = value,
        None => note_first(list, index, value),
    }
}

/// The same of a number that no request has had yet.
#[cold]
fn note_first(list: &mut Vec<u32>, index: usize, value: u32) {
    list.resize(index, 0);
    list.push(value);
}

#[cfg(test)]
mod tests;

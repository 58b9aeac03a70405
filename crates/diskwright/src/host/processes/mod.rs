//! Processes on simulated processors. `docs/processes.md` defines what they do.
//!
//! A process is a straight program: it computes for the gap before its next request, makes it, waits for it if it is critical, and plans the
//! one after. A processor computes for one process at a time, without pre-emption; a process gives it up only to wait. Who is woken
//! goes to the end of the queue of those who are ready.

mod fractions;
mod notes;
mod timers;

use std::collections::{BTreeMap, VecDeque};

use super::Host;
use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::request::{Class, RequestId};
use crate::engine::{Port, Token};
use crate::workload::Arrival;
use crate::workload::processes::{IdleProcessors, PlannedRequest, ProcessRules};
use fractions::Fractions;
use timers::Timers;

/// The kind of the alarm at which a processor has computed; the value is its number.
const COMPUTED: u32 = 0;

/// What a process does next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Computes for so many ms.
    Compute(f64),
    /// Waits for a request of its own, by the number of its plan, unless it is complete.
    LookAfter(u64),
    /// Makes its request.
    Request,
}

/// A process.
#[derive(Default)]
struct Process {
    /// The generator that it has its requests from.
    generator: usize,
    /// What it does until it plans again.
    steps: VecDeque<Step>,
    timers: Timers,
    /// The request that it makes, and the number of its plan.
    next: PlannedRequest,
    plan: u64,
    /// The sequence of the request that it waits for.
    waits_for: Option<u64>,
    /// Requests made.
    made: u64,
}

/// A request that is not complete.
struct UnderWay {
    process: u32,
    class: Class,
    /// The fraction of its arrival.
    fraction: f64,
    /// Its number, once it has been handed over.
    request: Option<RequestId>,
}

/// A processor.
#[derive(Clone, Copy, Default)]
struct Processor {
    process: Option<u32>,
    /// The fraction of the instant at which it will have computed.
    fraction: f64,
    /// Since when it has no process.
    idle_since: Time,
}

/// What the processes of a load, and the processors that they run on, are doing.
#[derive(Default)]
pub(super) struct Processors {
    rules: ProcessRules,
    processes: Vec<Process>,
    processors: Vec<Processor>,
    /// The processes that wait for a processor, the first one first.
    ready: VecDeque<u32>,
    /// By their sequences.
    under_way: BTreeMap<u64, UnderWay>,
    /// The sequences of the time-limited requests that are still to be looked after, by their plans.
    limited: BTreeMap<u64, u64>,
    /// Plans made.
    plans: u64,
    /// How often a process has gone on from a request.
    gone_on: u64,
    fractions: Fractions,
    /// When the run was ended.
    stopped: Option<Time>,
}

impl Processors {
    /// Those of a load, before its start.
    pub(super) fn new(rules: ProcessRules) -> Processors {
        let process = |generator| Process {
            generator,
            ..Process::default()
        };
        Processors {
            rules,
            // The last generator comes first.
            processes: (0..rules.generators).rev().map(process).collect(),
            processors: vec![Processor::default(); rules.processors as usize],
            ..Processors::default()
        }
    }

    /// Notes the number of a request that has been handed over; its class.
    pub(super) fn handed_over(&mut self, sequence: u64, request: RequestId) -> Class {
        let under_way = self.under_way.get_mut(&sequence);
        let under_way = under_way.expect("a process made it");
        under_way.request = Some(request);
        under_way.class
    }
}

impl Process {
    /// Takes a plan, and makes the steps up to its request of it.
    fn follow(&mut self, next: PlannedRequest, plan: u64) {
        (self.next, self.plan) = (next, plan);
        let mut gap = next.gap_ms;
        if let Some(limit) = next.limit_ms {
            self.timers.add(limit + gap, plan);
        }
        while let Some((ms, plan)) = self.timers.within(&mut gap) {
            self.steps.push_back(Step::Compute(ms));
            self.steps.push_back(Step::LookAfter(plan));
        }
        self.steps.push_back(Step::Compute(gap));
        self.steps.push_back(Step::Request);
    }
}

impl Host<'_> {
    /// The processes plan their first requests, and as many as there are processors begin.
    pub(super) fn start_processes(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        for process in 0..self.processes.processes.len() {
            self.plan(process)?;
        }
        let all = 0..self.processes.processes.len() as u32;
        self.processes.ready.extend(all);
        for processor in 0..self.processes.processors.len() {
            self.go_on(processor, port)?;
        }
        Ok(())
    }

    /// A processor has computed.
    pub(super) fn processor_alarm(
        &mut self,
        token: Token,
        port: &mut Port<'_>,
    ) -> Result<(), Error> {
        debug_assert_eq!(token.kind(), COMPUTED);
        let processor = token.value() as usize;
        let fraction = self.processes.processors[processor].fraction;
        self.processes.fractions.set(fraction);
        self.go_on(processor, port)
    }

    /// A request of a process is complete: who waits for it is ready again.
    pub(super) fn process_completed(
        &mut self,
        request: RequestId,
        port: &mut Port<'_>,
    ) -> Result<(), Error> {
        let completed = port.request(request);
        let (sequence, arrival, start) = (completed.sequence, completed.arrival, completed.start);
        let of = &mut self.processes;
        let under_way = of.under_way.remove(&sequence);
        let under_way = under_way.expect("a process made it");
        let arrival = (arrival, under_way.fraction);
        of.fractions.completed(port.now(), arrival, start);
        let process = &mut of.processes[under_way.process as usize];
        if process.waits_for != Some(sequence) {
            return Ok(());
        }
        process.waits_for = None;
        of.ready.push_back(under_way.process);
        if self.power_lost.is_some() {
            return Ok(());
        }
        // All interrupts are the first processor's.
        let looks_on = match of.rules.idle {
            IdleProcessors::Lost => 1,
            IdleProcessors::Resumed => of.processors.len(),
        };
        let mut looking = of.processors[..looks_on].iter();
        match looking.position(|processor| processor.process.is_none()) {
            Some(processor) => self.go_on(processor, port),
            None => Ok(()),
        }
    }

    /// A process plans its next request.
    fn plan(&mut self, process: usize) -> Result<(), Error> {
        let generator = self.processes.processes[process].generator;
        let next = self.workload.plan_of(generator)?;
        self.processes.plans += 1;
        self.processes.processes[process].follow(next, self.processes.plans);
        Ok(())
    }

    /// Whether the run ends when a process goes on from a request now.
    fn is_at_end(&self, now: Time) -> bool {
        let ProcessRules { requests, end, .. } = self.processes.rules;
        self.processes.gone_on >= requests || now >= end || !self.takes_more() || !self.takes(now)
    }

    fn stop(&mut self, port: &mut Port<'_>) {
        self.processes.stopped = Some(port.now());
        port.stop();
    }

    /// A processor goes on: with its process, or with the first one that is ready, up to where it computes or has none.
    fn go_on(&mut self, processor: usize, port: &mut Port<'_>) -> Result<(), Error> {
        loop {
            let of = &mut self.processes;
            let running = of.processors[processor].process;
            let Some(process) = running.or_else(|| of.ready.pop_front()) else {
                of.processors[processor].idle_since = port.now();
                return Ok(());
            };
            of.processors[processor].process = Some(process);
            match of.processes[process as usize].steps.pop_front() {
                Some(Step::Compute(ms)) => {
                    let (span, fraction) = of.fractions.after_ms(ms * of.rules.time_scale);
                    of.processors[processor].fraction = fraction;
                    let at = port.now().checked_add(span).unwrap_or(Time::MAX);
                    port.alarm(at, Token::new(COMPUTED, processor as u32));
                    return Ok(());
                }
                Some(Step::LookAfter(plan)) => {
                    if self.looks_after(process, plan, port) {
                        self.processes.processors[processor].process = None;
                    }
                }
                Some(Step::Request) => {
                    if !self.takes_more() || !self.takes(port.now()) {
                        self.stop(port);
                        return Ok(());
                    }
                    if self.request(process, port) == Class::Critical {
                        self.processes.processors[processor].process = None;
                    }
                }
                None => {
                    of.gone_on += 1;
                    if self.is_at_end(port.now()) {
                        self.stop(port);
                        return Ok(());
                    }
                    self.plan(process as usize)?;
                }
            }
        }
    }

    /// A process makes its request; of which class.
    fn request(&mut self, process: u32, port: &mut Port<'_>) -> Class {
        let sequence = self.arrived;
        let of = &mut self.processes;
        let one = &mut of.processes[process as usize];
        let PlannedRequest { class, command, .. } = one.next;
        one.made += 1;
        if class == Class::Critical {
            one.waits_for = Some(sequence);
        }
        if class == Class::Limited {
            of.limited.insert(one.plan, sequence);
        }
        let under_way = UnderWay {
            process,
            class,
            fraction: of.fractions.now(),
            request: None,
        };
        of.under_way.insert(sequence, under_way);
        let arrival = Arrival {
            at: port.now(),
            command,
            stream: one.generator as u32,
        };
        self.arrive(&arrival, process, port);
        class
    }

    /// The time of a time-limited request is over: whether the process waits for it.
    fn looks_after(&mut self, process: u32, plan: u64, port: &mut Port<'_>) -> bool {
        let of = &mut self.processes;
        let sequence = of.limited.remove(&plan);
        let Some(under_way) = sequence.and_then(|sequence| of.under_way.get(&sequence)) else {
            return false;
        };
        if let Some(request) = under_way.request {
            port.make_urgent(request);
        }
        of.processes[process as usize].waits_for = sequence;
        true
    }
}

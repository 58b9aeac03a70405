//! A naive twin of processes and processors, written from docs/processes.md alone, with its own random numbers and lists.
//!
//! Within one instant it goes as the engine goes: what is due in the order in which it was set, until nothing is; then what is handed over and
//! what is complete, first in first out; then what these have set for the same instant.

use std::collections::VecDeque;

use super::case::{Case, Drawn, Generator};

const MASK: u64 = (1 << 48) - 1;

struct Random(u64);

impl Random {
    fn seeded(seed: u64) -> Random {
        Random((seed * 65_536 + 0x330E) & MASK)
    }
    fn u(&mut self) -> f64 {
        let next = u128::from(self.0) * 0x5DEE_CE66D + 0xB;
        self.0 = (next % (1 << 48)) as u64;
        self.0 as f64 / 281_474_976_710_656.0
    }
    fn draw(&mut self, Drawn(name, of): &Drawn) -> f64 {
        let mut unit = || -libm::log(1.0 - self.u());
        match *name {
            "uniform" => of[0] + (of[1] - of[0]) * self.u(),
            "exponential" => of[0] + of[1] * unit(),
            "normal" => {
                let (mut y2, mut y1) = (unit(), unit());
                while y2 - (y1 - 1.0) * (y1 - 1.0) / 2.0 <= 0.0 {
                    (y2, y1) = (unit(), unit());
                }
                let sign = if self.u() < 0.5 { -1.0 } else { 1.0 };
                of[1] * (sign * y1) + of[0]
            }
            "poisson" => {
                let mut product = self.u();
                let mut count = 1;
                while product >= libm::exp(-of[1]) {
                    product *= self.u();
                    count += 1;
                }
                of[0] + f64::from(count - 1)
            }
            _ if self.u() < of[2] => of[1],
            _ => of[0],
        }
    }
    fn positive(&mut self, of: &Drawn) -> f64 {
        loop {
            let drawn = self.draw(of);
            if drawn >= 0.0 {
                return drawn;
            }
        }
    }
}

/// A request, in units until it is made.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    gap: f64,
    lbn: i64,
    size: i64,
    read: bool,
    critical: bool,
    limit: Option<f64>,
}

/// What is drawn after `previous`.
fn next(random: &mut Random, of: &Generator, previous: Option<Request>) -> Request {
    let unit = of.unit as i64;
    let units = of.capacity as i64 / unit;
    let mut made = Request::default();
    let u0 = previous.map(|_| random.u());
    let size = |random: &mut Random| (random.draw(&of.size) as i64 + unit - 1) / unit;
    match (previous, u0) {
        (Some(previous), Some(u0))
            if u0 < of.sequential && previous.lbn + 2 * previous.size < units =>
        {
            made.gap = random.positive(&of.sequential_gap);
            made.lbn = previous.lbn + previous.size;
            made.size = previous.size;
            made.read = previous.read;
        }
        (Some(previous), Some(u0)) if of.sequential <= u0 && u0 < of.sequential + of.local => {
            made.gap = random.positive(&of.local_gap);
            loop {
                made.lbn = previous.lbn + random.draw(&of.distance) as i64 / unit;
                made.size = size(random);
                if made.lbn >= 0 && made.size > 0 && made.lbn + made.size < units {
                    break;
                }
            }
            made.read = random.u() < of.reads;
        }
        _ => {
            made.gap = random.positive(&of.gap);
            // One device in a list of one.
            random.u();
            loop {
                made.lbn = (random.u() * units as f64) as i64;
                made.size = size(random);
                if made.size > 0 && made.lbn + made.size < units {
                    break;
                }
            }
            made.read = random.u() < of.reads;
        }
    }
    let c = random.u() - of.critical;
    made.critical = c < 0.0;
    if c >= 0.0 && c < of.limited {
        made.limit = Some(random.positive(&of.limit));
    }
    made
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Compute(f64),
    Check(usize),
    Issue,
}

struct Process {
    generator: usize,
    next: Request,
    /// The number of the plan, and of all plans the sequence of the request.
    plan: usize,
    steps: VecDeque<Step>,
    timers: Vec<(f64, usize)>,
    waits: Option<usize>,
}

/// An instant, and what it lacks in ns.
type At = (u64, f64);

struct Made {
    arrival: At,
    read: bool,
    process: usize,
    done: Option<u64>,
}

#[derive(Clone, Copy)]
enum Event {
    Computed(usize),
    Served(usize, f64),
}

enum Message {
    Accept(usize),
    Complete(usize, f64),
}

/// What a run came to.
#[derive(Debug, PartialEq)]
pub struct Run {
    pub completions: Vec<Option<u64>>,
    /// First block, blocks and whether it is a read, of each request that completed.
    pub asked: Vec<Option<(u64, u64, bool)>>,
    pub end: u64,
    pub issued: usize,
}

pub struct Twin<'c> {
    case: &'c Case,
    random: Random,
    processes: Vec<Process>,
    cpus: Vec<Option<usize>>,
    ready: VecDeque<usize>,
    /// By time and the order in which they were set.
    events: Vec<(u64, usize, Event)>,
    set: usize,
    messages: VecDeque<Message>,
    made: Vec<Made>,
    asked: Vec<(u64, u64, bool)>,
    /// The sequence of the request of each plan.
    of_plan: Vec<Option<usize>>,
    held: VecDeque<usize>,
    outstanding: usize,
    issued: usize,
    queue: VecDeque<usize>,
    serving: usize,
    now: u64,
    /// What the present instant lacks, in ns, and what the instant does at which each processor will have computed.
    fraction: f64,
    of_cpu: Vec<f64>,
    gone_on: u64,
    stopped: bool,
}

impl Twin<'_> {
    pub fn run(case: &Case) -> Run {
        let mut random = Random::seeded(case.seed);
        let mut processes = Vec::new();
        for (generator, of) in case.generators.iter().enumerate().rev() {
            processes.push(Process {
                generator,
                next: next(&mut random, of, None),
                plan: 0,
                steps: VecDeque::new(),
                timers: Vec::new(),
                waits: None,
            });
        }
        let mut twin = Twin {
            case,
            random: Random::seeded(case.later_seed),
            ready: (0..processes.len()).collect(),
            processes,
            cpus: vec![None; case.processors],
            events: Vec::new(),
            set: 0,
            messages: VecDeque::new(),
            made: Vec::new(),
            asked: Vec::new(),
            of_plan: Vec::new(),
            held: VecDeque::new(),
            outstanding: 0,
            issued: 0,
            queue: VecDeque::new(),
            serving: 0,
            now: 0,
            fraction: 0.0,
            of_cpu: vec![0.0; case.processors],
            gone_on: 0,
            stopped: false,
        };
        for process in 0..twin.processes.len() {
            twin.program(process);
        }
        for cpu in 0..case.processors {
            twin.go_on(cpu);
        }
        while !twin.stopped {
            twin.instant();
        }
        let done = twin.made.iter().map(|made| made.done);
        let asked = twin.made.iter().zip(&twin.asked);
        Run {
            asked: asked
                .map(|(made, &asked)| made.done.map(|_| asked))
                .collect(),
            completions: done.collect(),
            end: twin.now,
            issued: twin.issued,
        }
    }

    fn instant(&mut self) {
        let times = self.events.iter().map(|event| event.0);
        self.now = times.min().expect("a process always computes or waits");
        while let Some(event) = self.next_due() {
            match event {
                Event::Computed(cpu) => {
                    self.fraction = self.of_cpu[cpu];
                    self.go_on(cpu);
                }
                Event::Served(request, fraction) => {
                    self.messages
                        .push_back(Message::Complete(request, fraction));
                    self.serving -= 1;
                    self.fraction = fraction;
                    self.serve();
                }
            }
            if self.stopped {
                return;
            }
        }
        while let Some(message) = self.messages.pop_front() {
            match message {
                Message::Accept(request) => {
                    self.queue.push_back(request);
                    self.serve();
                }
                Message::Complete(request, fraction) => self.complete(request, fraction),
            }
            if self.stopped {
                return;
            }
        }
    }

    /// Takes the event of this instant that was set first.
    fn next_due(&mut self) -> Option<Event> {
        let due = self.events.iter().enumerate();
        let due = due.filter(|(_, event)| event.0 == self.now);
        let (index, _) = due.min_by_key(|(_, event)| event.1)?;
        Some(self.events.swap_remove(index).2)
    }

    fn event(&mut self, at: u64, event: Event) {
        self.events.push((at, self.set, event));
        self.set += 1;
    }

    /// The device begins what it has room for.
    fn serve(&mut self) {
        while self.serving < self.case.parallel
            && let Some(request) = self.queue.pop_front()
        {
            self.serving += 1;
            let made = &self.made[request];
            let us = if made.read {
                self.case.read_us
            } else {
                self.case.write_us
            };
            let began = if made.arrival.0 == self.now {
                made.arrival.1
            } else {
                self.fraction
            };
            self.event(self.now + 1_000 * us, Event::Served(request, began));
        }
    }

    fn complete(&mut self, request: usize, fraction: f64) {
        self.fraction = fraction;
        self.made[request].done = Some(self.now);
        self.outstanding -= 1;
        while self.may_issue()
            && let Some(held) = self.held.pop_front()
        {
            self.issue(held);
        }
        let process = self.made[request].process;
        if self.processes[process].waits == Some(request) {
            self.processes[process].waits = None;
            self.ready.push_back(process);
            let looks = if self.case.resumed {
                self.case.processors
            } else {
                1
            };
            if let Some(cpu) = (0..looks).find(|&cpu| self.cpus[cpu].is_none()) {
                self.go_on(cpu);
            }
        }
    }

    fn may_issue(&self) -> bool {
        self.case
            .outstanding
            .is_none_or(|most| self.outstanding < most)
    }

    fn issue(&mut self, request: usize) {
        self.outstanding += 1;
        self.issued += 1;
        self.messages.push_back(Message::Accept(request));
    }

    /// The steps up to the next request of a process.
    fn program(&mut self, process: usize) {
        let plan = self.of_plan.len();
        self.of_plan.push(None);
        let one = &mut self.processes[process];
        one.plan = plan;
        let mut gap = one.next.gap;
        if let Some(limit) = one.next.limit {
            // Into the list, each entry of which counts from the one before.
            let mut left = limit + gap;
            let mut at = 0;
            while at < one.timers.len() && one.timers[at].0 <= left {
                left -= one.timers[at].0;
                at += 1;
            }
            if at < one.timers.len() {
                one.timers[at].0 -= left;
            }
            one.timers.insert(at, (left, plan));
        }
        while !one.timers.is_empty() && one.timers[0].0 < gap {
            let (time, plan) = one.timers.remove(0);
            one.steps.extend([Step::Compute(time), Step::Check(plan)]);
            gap -= time;
        }
        one.steps.extend([Step::Compute(gap), Step::Issue]);
    }

    /// A processor goes on with its process or the first that is ready.
    fn go_on(&mut self, cpu: usize) {
        loop {
            if self.cpus[cpu].is_none() {
                self.cpus[cpu] = self.ready.pop_front();
            }
            let Some(process) = self.cpus[cpu] else {
                return;
            };
            match self.processes[process].steps.pop_front() {
                None => {
                    self.gone_on += 1;
                    let limit = self.case.duration_ms.map(|ms| ms * 1_000_000);
                    if self.gone_on >= self.case.requests
                        || limit.is_some_and(|limit| self.now >= limit)
                    {
                        self.stopped = true;
                        return;
                    }
                    let one = &mut self.processes[process];
                    let of = &self.case.generators[one.generator];
                    one.next = next(&mut self.random, of, Some(one.next));
                    self.program(process);
                }
                Some(Step::Compute(ms)) => {
                    let exact = self.fraction + ms * self.case.time_scale * 1e6;
                    let span = libm::round(exact.max(0.0));
                    self.of_cpu[cpu] = exact - span;
                    self.event(self.now + span as u64, Event::Computed(cpu));
                    return;
                }
                Some(Step::Issue) => {
                    let request = self.made.len();
                    let one = &mut self.processes[process];
                    self.of_plan[one.plan] = Some(request);
                    if one.next.critical {
                        one.waits = Some(request);
                    }
                    let unit = self.case.generators[one.generator].unit;
                    let (lbn, blocks) = (one.next.lbn as u64 * unit, one.next.size as u64 * unit);
                    self.asked.push((lbn, blocks, one.next.read));
                    self.made.push(Made {
                        arrival: (self.now, self.fraction),
                        read: one.next.read,
                        process,
                        done: None,
                    });
                    if self.held.is_empty() && self.may_issue() {
                        self.issue(request);
                    } else {
                        self.held.push_back(request);
                    }
                }
                Some(Step::Check(plan)) => {
                    let request = self.of_plan[plan].expect("it was made before");
                    if self.made[request].done.is_none() {
                        self.processes[process].waits = Some(request);
                    }
                }
            }
            if self.processes[process].waits.is_some() {
                self.cpus[cpu] = None;
            }
        }
    }
}

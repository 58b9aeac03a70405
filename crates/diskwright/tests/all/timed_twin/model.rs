//! The twin: one queue, and as many requests at a time as the device serves. Instants and times are ns.

use std::collections::{BTreeSet, VecDeque};

use diskwright::engine::request::Op;

use super::specs::{Case, Kind};
use crate::support::twins::{Asked, Host};

pub struct Model<'a> {
    case: &'a Case,
    now: u64,
    waiting: VecDeque<usize>,
    /// What is served, and when it is complete.
    served: Vec<(u64, usize)>,
    host: Host,
    /// The block after the last read or write that has begun.
    end: u64,
    /// The most that have waited at a time.
    pub longest: usize,
    pub completions: Vec<Option<u64>>,
    pub met: BTreeSet<&'static str>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        Model {
            case,
            now: 0,
            waiting: VecDeque::new(),
            served: Vec::new(),
            host: Host::new(case.users),
            end: 0,
            longest: 0,
            completions: vec![None; case.requests.len()],
            met: BTreeSet::new(),
        }
    }

    /// Runs until every request is complete.
    pub fn run(&mut self) {
        loop {
            let ended = |&(at, _): &(u64, usize)| at == self.now;
            let due: Vec<(u64, usize)> = self.served.iter().copied().filter(ended).collect();
            for (at, request) in due {
                self.served.retain(|&(_, other)| other != request);
                self.completions[request] = Some(at);
                self.host.hears();
                self.begin();
            }
            for request in self.host.issues(&self.case.requests, self.now) {
                self.waiting.push_back(request);
                self.begin();
                self.longest = self.longest.max(self.waiting.len());
            }
            let arrival = self.host.next_arrival(&self.case.requests);
            let ends = self.served.iter().map(|(at, _)| *at);
            match ends.chain(arrival).min() {
                Some(instant) => self.now = instant,
                None => return,
            }
        }
    }

    /// Begins what waits, as far as there is room.
    fn begin(&mut self) {
        while self.served.len() < self.case.kind.parallel() {
            let Some(request) = self.waiting.pop_front() else {
                return;
            };
            let time = self.time(&self.case.requests[request]);
            self.served.push((self.now + time, request));
        }
        if !self.waiting.is_empty() {
            self.met.insert("a request that waits");
        }
    }

    fn time(&mut self, asked: &Asked) -> u64 {
        let write = match asked.op {
            Op::Read => false,
            Op::Write => true,
            _ => {
                self.met.insert("a request without time");
                return 0;
            }
        };
        match &self.case.kind {
            Kind::Simple(simple) => {
                self.met.insert(match simple.parallel {
                    1 => "a device of constant times",
                    _ => "a device that serves several requests",
                });
                let constant = if write { simple.write } else { simple.read };
                constant + asked.blocks * simple.per_block
            }
            Kind::Curve(curve) => {
                let points = if write { &curve.write } else { &curve.read };
                let distance = asked.lbn.abs_diff(self.end);
                self.end = asked.lbn + asked.blocks;
                let (access, rule) = access(points, distance);
                self.met.insert(rule);
                access + asked.blocks * curve.per_block
            }
        }
    }
}

/// The access time over a distance, rounded to the nanosecond, a half upwards.
fn access(points: &[(u64, u64)], distance: u64) -> (u64, &'static str) {
    let (first, last) = (points[0], points[points.len() - 1]);
    if distance <= first.0 {
        return (first.1, "a distance before the curve");
    }
    if distance >= last.0 {
        return (last.1, "a distance behind the curve");
    }
    let mut pairs = points.windows(2);
    let pair = pairs.find(|pair| distance <= pair[1].0).expect("between");
    let ((left, sooner), (right, later)) = (pair[0], pair[1]);
    let width = i128::from(right - left);
    let rise = (i128::from(later) - i128::from(sooner)) * i128::from(distance - left);
    let between = (2 * rise + width).div_euclid(2 * width);
    let time = i128::from(sooner) + between;
    (time as u64, "a distance between points")
}

//! Changes between a disk with two arms and a logging disk with two arms, by what serves the load better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::split::Split;
use super::{ArmChoice, Candidate, WriteMode, least};
use crate::base::units::Time;
use crate::engine::request::Op;

/// Rule: in place with the arm that positions soonest, or into the log with one arm for reads and one for writes: whichever has the
/// lower expected latency at the share of writes seen in the last window. What reads and writes take in either mode is measured, a mode
/// that is not known yet is tried for a window. Source: Chandy, "A dual actuator logging disk architecture", end of section 3, which
/// leaves the rule open.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adaptive {
    /// Requests over which the share of writes is taken.
    #[schemars(range(min = 1))]
    pub window: u32,
    /// By how much the other mode must be better before it is changed to, as a share.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub margin: f64,
    /// The number of the arm that reads while there is a log, from 0.
    pub reads: usize,
    /// The number of the arm that writes into the log.
    pub writes: usize,
}

impl Default for Adaptive {
    fn default() -> Adaptive {
        let Split { reads, writes } = Split::default();
        Adaptive {
            window: 500,
            margin: 0.01,
            reads,
            writes,
        }
    }
}

impl Adaptive {
    pub(super) const SUMMARY: &str = "In place with the soonest arm, or into a log with one arm for reads and one for writes: \
         whichever serves the present share of writes better.";
    pub(super) fn build(&self) -> Box<dyn ArmChoice> {
        let (reads, writes) = (self.reads, self.writes);
        Box::new(Controller {
            window: self.window.max(1),
            margin: self.margin,
            split: Split { reads, writes },
            mode: WriteMode::InPlace,
            switches: 0,
            seen: [Sum::default(); 2],
            known: [[None; 2]; 2],
        })
    }
}

/// Requests of one kind in the window.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    requests: u32,
    ns: u64,
}

/// How much of what is known of a latency the last window replaces, where all its requests were of the kind.
const FRESH: f64 = 0.5;

struct Controller {
    window: u32,
    margin: f64,
    split: Split,
    mode: WriteMode,
    switches: u64,
    /// Reads and writes of the window.
    seen: [Sum; 2],
    /// By mode: the mean latency of reads and of writes, ns.
    known: [[Option<f64>; 2]; 2],
}

impl Controller {
    /// The window is over: learns from it, and chooses the mode of the next.
    fn decide(&mut self) {
        let total = f64::from(self.window);
        let shares = self.seen.map(|sum| f64::from(sum.requests) / total);
        let here = self.mode as usize;
        for (kind, sum) in self.seen.iter().enumerate() {
            if sum.requests == 0 {
                continue;
            }
            let mean = sum.ns as f64 / f64::from(sum.requests);
            let entry = &mut self.known[here][kind];
            let weight = FRESH * shares[kind];
            *entry = Some(entry.map_or(mean, |before| before + weight * (mean - before)));
        }
        self.seen = [Sum::default(); 2];
        // `None` where the load has a kind of request that the mode has not served yet.
        let cost = |mode: usize| -> Option<f64> {
            let kinds = self.known[mode].iter().zip(shares);
            kinds
                .filter(|&(_, share)| share > 0.0)
                .map(|(known, share)| Some((*known)? * share))
                .sum()
        };
        let is_better = match (cost(here), cost(1 - here)) {
            (Some(here), Some(other)) => other < here * (1.0 - self.margin),
            _ => true,
        };
        if is_better {
            self.switches += 1;
            self.mode = match self.mode {
                WriteMode::InPlace => WriteMode::Log,
                WriteMode::Log => WriteMode::InPlace,
            };
        }
    }
}

impl ArmChoice for Controller {
    fn named(&self, op: Op) -> Option<usize> {
        match self.mode {
            WriteMode::InPlace => None,
            WriteMode::Log => self.split.named(op),
        }
    }

    fn choose(&mut self, op: Op, candidates: &[Candidate]) -> usize {
        match self.mode {
            WriteMode::InPlace => least(candidates, |candidate| candidate.positioning),
            WriteMode::Log => self.split.choose(op, candidates),
        }
    }

    fn mode(&self) -> WriteMode {
        self.mode
    }

    fn served(&mut self, op: Op, latency: Time) {
        let sum = &mut self.seen[usize::from(op == Op::Write)];
        sum.requests += 1;
        sum.ns += latency.ns();
        if self.seen.iter().map(|sum| sum.requests).sum::<u32>() >= self.window {
            self.decide();
        }
    }

    fn switches(&self) -> u64 {
        self.switches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves windows with a share of writes, in percent; reads take 4 ms in place and 6 ms with a log, writes 4 and 0.
    fn serve(controller: &mut dyn ArmChoice, windows: u32, writes: u32) {
        for _ in 0..windows {
            for request in 0..100 {
                let op = if request < writes {
                    Op::Write
                } else {
                    Op::Read
                };
                let ms = match (controller.mode(), op) {
                    (WriteMode::InPlace, _) => 4,
                    (WriteMode::Log, Op::Read) => 6,
                    (WriteMode::Log, _) => 0,
                };
                controller.served(op, Time::from_ms(ms));
            }
        }
    }

    #[test]
    fn it_tries_both_and_keeps_the_better_one() {
        let parameters = Adaptive {
            window: 100,
            ..Adaptive::default()
        };
        // In place costs 4, the log 6 (1 - w): they are equal at a third.
        for (writes, mode) in [
            (0, WriteMode::InPlace),
            (32, WriteMode::InPlace),
            (35, WriteMode::Log),
            (100, WriteMode::Log),
        ] {
            let mut controller = parameters.build();
            serve(controller.as_mut(), 10, writes);
            assert_eq!(controller.mode(), mode, "{writes} % writes");
            assert!(controller.switches() <= 2, "{writes} % writes");
        }
    }

    #[test]
    fn it_follows_the_load_and_tries_again_only_what_it_does_not_know() {
        let mut controller = Adaptive {
            window: 100,
            ..Adaptive::default()
        }
        .build();
        serve(controller.as_mut(), 3, 0);
        assert_eq!(controller.mode(), WriteMode::InPlace);
        let tried = controller.switches();
        // Nobody knows yet what a write takes in either.
        serve(controller.as_mut(), 3, 90);
        assert_eq!(controller.mode(), WriteMode::Log);
        serve(controller.as_mut(), 2, 10);
        assert_eq!(controller.mode(), WriteMode::InPlace);
        serve(controller.as_mut(), 2, 90);
        assert_eq!(controller.mode(), WriteMode::Log);
        assert!(
            controller.switches() - tried <= 5,
            "{}",
            controller.switches()
        );
    }
}

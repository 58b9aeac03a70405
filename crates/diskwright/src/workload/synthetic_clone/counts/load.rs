//! The requests of a synthetic clone of a table: new runs in their order, and between them runs that come again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::base::error::InputError;
use crate::base::order_statistics::NumberedLruStack;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Time};
use crate::engine::request::Op;
use crate::workload::record::Record;
use crate::workload::synthetic::Ranks;

use super::super::urn_sampler::UrnSampler;
use super::arrivals::Arrivals;
use super::cells::Counts;
use super::mixture;
use super::plan::{Kind, New, Plan, Shape, plan};
use crate::workload::clone_options::Resolved;

/// A synthetic clone of a table of counts, being told.
#[derive(Debug)]
pub struct Load {
    plan: Plan,
    /// How many of the new runs have been told.
    yielded: usize,
    again: UrnSampler,
    theta: f64,
    seen: Seen,
    arrivals: Arrivals,
    draws: Stream,
    run: Option<Run>,
}

/// The run that is being told.
#[derive(Clone, Copy, Debug)]
struct Run {
    shape: Shape,
    write: bool,
    /// The request that is next, and its first block.
    index: u32,
    lbn: u64,
}

impl Load {
    /// Of a table, with what it leaves open, from a seed.
    ///
    /// # Errors
    /// Numbers that contradict each other.
    pub fn new(counts: &Counts, parameters: &Resolved, seed: u64) -> Result<Load, InputError> {
        let cells = counts.cells(parameters)?;
        // Twice as far as they come on average, time must not end.
        let gaps = counts.requests() as f64 * parameters.mean_gap.ns() as f64;
        if Time::from_ns_f64(2.0 * gaps).is_none() {
            return Err(InputError::new(format!(
                "mean_gap is {}: {} requests would take longer than 292 years",
                parameters.mean_gap,
                counts.requests()
            )));
        }
        let sizes = mixture::solve(&cells, parameters)?;
        let plan = plan(&cells, &sizes, parameters, seed)?;
        let again = UrnSampler::new(plan.again.iter().map(|(_, number)| *number).collect());
        Ok(Load {
            plan,
            yielded: 0,
            again,
            theta: parameters.theta,
            seen: Seen::default(),
            arrivals: Arrivals::new(parameters, seed),
            draws: Stream::new(seed, "look-alike.references"),
            run: None,
        })
    }

    /// The next request; `None` after the last one, or past the end of time.
    pub fn next(&mut self) -> Option<Record> {
        let mut run = match self.run.take() {
            Some(run) => run,
            None => self.next_run()?,
        };
        let blocks = run.shape.blocks(run.index);
        let record = Record {
            arrival: self.arrivals.next()?,
            device: 0,
            op: if run.write { Op::Write } else { Op::Read },
            fua: false,
            lbn: Lbn(run.lbn),
            blocks,
            recorded: None,
        };
        run.lbn += u64::from(blocks);
        run.index += 1;
        self.run = (run.index <= run.shape.followers).then_some(run);
        Some(record)
    }

    /// One of the remaining runs, new or repeated, each as likely; a new one where no run can be repeated yet.
    fn next_run(&mut self) -> Option<Run> {
        let new = (self.plan.new.len() - self.yielded) as u64;
        // An urn without balls left would begin again.
        let again = self.again.left();
        if new + again == 0 {
            return None;
        }
        if self.draws.below(new + again) >= new
            && let Some(index) = self.again.peek(&mut self.draws)
        {
            let kind = self.plan.again[index].0;
            if let Some(member) = self.seen.find(&kind, self.theta, &mut self.draws) {
                self.again.take(index);
                return Some(Run {
                    shape: kind.shape,
                    write: kind.write,
                    index: 0,
                    lbn: self.seen.runs[member as usize].lbn,
                });
            }
        }
        // Every kind that comes again is among the new runs: what is not there yet is still to come.
        let new = *self.plan.new.get(self.yielded)?;
        self.yielded += 1;
        if new.whole {
            self.seen.add(new);
        }
        Some(Run {
            shape: new.shape,
            write: new.write,
            index: 0,
            lbn: new.lbn,
        })
    }
}

/// The runs that may come again, by their last reference and by what they are.
#[derive(Debug, Default)]
struct Seen {
    runs: Vec<New>,
    /// The number of each run's last reference.
    last: Vec<u64>,
    references: u64,
    stack: NumberedLruStack,
    /// By the size of the first request: the last references.
    heads: BTreeMap<u32, BTreeMap<u64, u32>>,
    /// By that and the size of those that follow: the last references.
    pairs: BTreeMap<(u32, u32), BTreeMap<u64, u32>>,
    /// By the same: how many follow.
    lengths: BTreeMap<(u32, u32), BTreeSet<(u32, u32)>>,
}

/// The number of neighbours in the stack that are searched for one with enough followers, before the longest is taken.
const NEIGHBOURS: usize = 32;

impl Seen {
    fn add(&mut self, new: New) {
        let member = self.stack.push();
        self.runs.push(new);
        self.last.push(0);
        self.put(member);
        if new.shape.followers > 0 {
            let lengths = self.lengths.entry((new.shape.head, new.shape.each));
            lengths.or_default().insert((new.shape.followers, member));
        }
    }

    /// Makes this the run's last reference.
    fn put(&mut self, member: u32) {
        self.references += 1;
        self.last[member as usize] = self.references;
        let shape = self.runs[member as usize].shape;
        let heads = self.heads.entry(shape.head).or_default();
        heads.insert(self.references, member);
        if shape.followers > 0 {
            let pairs = self.pairs.entry((shape.head, shape.each)).or_default();
            pairs.insert(self.references, member);
        }
    }

    /// References a run that the kind repeats: the nearest in the stack to a depth drawn by Zipf's law.
    fn find(&mut self, kind: &Kind, theta: f64, draws: &mut Stream) -> Option<u32> {
        let key = (kind.head, kind.shape.each);
        let followers = kind.shape.followers;
        let alike = match followers {
            0 => self.heads.get(&kind.head)?,
            _ => self.pairs.get(&key)?,
        };
        let longest = match followers {
            0 => None,
            _ => Some(*self.lengths.get(&key)?.last()?).filter(|(length, _)| *length >= followers),
        };
        if followers > 0 && longest.is_none() {
            return None;
        }
        let depth = Ranks::new(self.stack.len(), theta).draw(draws) - 1;
        let wanted = self.last[self.stack.at(depth) as usize];
        let mut older = alike.range(..=wanted).rev().peekable();
        let mut newer = alike
            .range((Bound::Excluded(wanted), Bound::Unbounded))
            .peekable();
        let mut found = None;
        for _ in 0..NEIGHBOURS {
            let is_older = match (older.peek(), newer.peek()) {
                (Some((old, _)), Some((new, _))) => wanted - **old <= **new - wanted,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let next = if is_older { older.next() } else { newer.next() };
            let (_, &member) = next?;
            if self.runs[member as usize].shape.followers >= followers {
                found = Some(member);
                break;
            }
        }
        let member = found.or(longest.map(|(_, member)| member))?;
        self.touch(member);
        Some(member)
    }

    fn touch(&mut self, member: u32) {
        let shape = self.runs[member as usize].shape;
        let last = self.last[member as usize];
        if let Some(heads) = self.heads.get_mut(&shape.head) {
            heads.remove(&last);
        }
        if let Some(pairs) = self.pairs.get_mut(&(shape.head, shape.each)) {
            pairs.remove(&last);
        }
        self.stack.touch(member);
        self.put(member);
    }
}

//! A queue of a driver: what waits in the order in which it entered, which of it is next, and which become one.

use diskwright::engine::request::Op;

use super::specs::Join;
use crate::hdd_twin::queue::{self, Next, View, Waiting};
use crate::hdd_twin::specs::Scheduler;

/// What waits as one request.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The requests that it is made of: that which entered first, then as they joined.
    pub parts: Vec<usize>,
    pub op: Op,
    pub fua: bool,
    pub lbn: u64,
    pub blocks: u64,
    /// When the first of its parts came, ns.
    pub since: u64,
}

impl Entry {
    fn end(&self) -> u64 {
        self.lbn + self.blocks
    }

    fn conflicts(&self, other: &Entry) -> bool {
        let overlaps = self.lbn < other.end() && other.lbn < self.end();
        overlaps && (self.op != Op::Read || other.op != Op::Read)
    }

    fn continues(&self, other: &Entry) -> bool {
        self.end() == other.lbn || other.end() == self.lbn
    }
}

pub struct Queue {
    pub scheduler: Scheduler,
    /// Both in the order in which they entered.
    entries: Vec<Entry>,
    order: queue::Queue,
    /// Only after reads and writes the next choice begins where the last one ends.
    pub stays_at_others: bool,
}

impl Queue {
    pub fn new(scheduler: Scheduler) -> Queue {
        // A host moves no arm.
        let without_arm = match scheduler {
            Scheduler::Scan(by) => Scheduler::Look(by),
            Scheduler::CScan(by) => Scheduler::CLook {
                by,
                from_start: false,
            },
            other => other,
        };
        Queue {
            scheduler,
            entries: Vec::new(),
            order: queue::Queue::new(without_arm),
            stays_at_others: false,
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn remove(&mut self, place: usize) -> Entry {
        self.order.waiting.remove(place);
        self.entries.remove(place)
    }

    /// Adds an entry behind the others, or joins it with one, as often as that goes on; what rules were met.
    pub fn enter(&mut self, entry: Entry, join: Option<Join>) -> Vec<&'static str> {
        let mut met = Vec::new();
        self.entries.push(entry);
        let mut place = self.entries.len() - 1;
        let mut joins = 0;
        while let Some(other) = self.partner(place, join, &mut met) {
            let (older, younger) = (place.min(other), place.max(other));
            let joined = self.entries.remove(younger);
            let into = &mut self.entries[older];
            into.parts.extend(&joined.parts);
            into.lbn = into.lbn.min(joined.lbn);
            into.blocks += joined.blocks;
            into.since = into.since.min(joined.since);
            place = older;
            joins += 1;
        }
        match joins {
            0 => (),
            1 => met.push("a request that joins another"),
            _ => met.push("a request that closes a gap"),
        }
        self.order.waiting = self.entries.iter().map(waiting).collect();
        met
    }

    /// Which of the others an entry joins: of several the one that entered first.
    fn partner(
        &self,
        place: usize,
        join: Option<Join>,
        met: &mut Vec<&'static str>,
    ) -> Option<usize> {
        let join = join?;
        let entry = &self.entries[place];
        let is_joined = match entry.op {
            Op::Read => join.reads,
            Op::Write => join.writes,
            _ => false,
        };
        let fits = |&other: &usize| {
            let neighbour = &self.entries[other];
            let is_alike = neighbour.op == entry.op && entry.continues(neighbour);
            if !is_joined || !is_alike {
                return false;
            }
            if neighbour.fua != entry.fua {
                met.push("one that is forced to the medium beside one that is not");
                return false;
            }
            if neighbour.blocks + entry.blocks > join.most {
                met.push("two that are too large together");
                return false;
            }
            let moved = &self.entries[place.max(other)];
            let overlaps = |third: usize| {
                third != place && third != other && self.entries[third].conflicts(moved)
            };
            let overtakes = (0..self.entries.len()).any(overlaps);
            if overtakes {
                met.push("one that another overlaps");
            }
            !overtakes
        };
        (0..self.entries.len())
            .filter(|&other| other != place)
            .find(fits)
    }

    /// Takes out what is next.
    pub fn take(&mut self, now: u64, blocks: u64) -> Entry {
        let view = View {
            now,
            cylinder: 0,
            cylinders: 1,
            blocks,
            positioning: &|_| unreachable!("a driver knows no positions"),
        };
        let Next::Serve(place) = self.order.next(&view) else {
            unreachable!("a driver moves no arm");
        };
        let end = self.order.end;
        self.order.take(place, self.entries[place].blocks);
        let taken = self.entries.remove(place);
        if self.stays_at_others && !matches!(taken.op, Op::Read | Op::Write) {
            self.order.end = end;
        }
        taken
    }

    /// Takes out the entry that a request is part of.
    pub fn remove_with(&mut self, request: usize) -> Option<Entry> {
        let mut entries = self.entries.iter();
        let place = entries.position(|entry| entry.parts.contains(&request))?;
        Some(self.remove(place))
    }

    /// Takes out one that has waited for `after`, the one that has waited longest.
    pub fn remove_late(&mut self, now: u64, after: u64) -> Option<Entry> {
        let is_late = |entry: &Entry| now - entry.since >= after;
        let place = self.entries.iter().position(is_late)?;
        Some(self.remove(place))
    }
}

fn waiting(entry: &Entry) -> Waiting {
    Waiting {
        request: entry.parts[0],
        since: entry.since,
        write: entry.op != Op::Read,
        lbn: entry.lbn,
        cylinder: 0,
    }
}

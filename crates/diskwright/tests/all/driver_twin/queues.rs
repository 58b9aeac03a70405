//! A queue of a driver: what waits, and which of it is next.

use crate::hdd_twin::queue::{self, Next, View, Waiting};
use crate::hdd_twin::specs::{Join, Scheduler};
use diskwright::engine::request::Op;

pub struct Queue {
    pub scheduler: Scheduler,
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
            order: queue::Queue::new(without_arm),
            stays_at_others: false,
        }
    }

    pub fn len(&self) -> usize {
        self.order.waiting.len()
    }

    /// Adds a request behind the others, or joins it with one, as often as that goes on; what rules were met.
    pub fn enter(&mut self, new: Waiting, join: Option<Join>) -> Vec<&'static str> {
        self.order.enter(new, join)
    }

    /// Takes out what is next.
    pub fn take(&mut self, now: u64, blocks: u64) -> Waiting {
        let view = View {
            now,
            cylinder: 0,
            edges: (0, 0),
            cylinders: 1,
            blocks,
            positioning: &|_| unreachable!("a driver knows no positions"),
        };
        let Next::Serve(place) = self.order.next(&view) else {
            unreachable!("a driver moves no arm");
        };
        let end = self.order.end;
        let taken = self.order.take(place);
        if self.stays_at_others && !matches!(taken.op, Op::Read | Op::Write) {
            self.order.end = end;
        }
        taken
    }

    /// Takes out what a request is part of.
    pub fn remove_with(&mut self, request: usize) -> Option<Waiting> {
        let mut waiting = self.order.waiting.iter();
        let place = waiting.position(|other| other.parts.contains(&request))?;
        Some(self.order.remove(place))
    }

    /// Takes out one that has waited for `after`, the one that has waited longest.
    pub fn remove_late(&mut self, now: u64, after: u64) -> Option<Waiting> {
        let is_late = |waiting: &Waiting| now - waiting.since >= after;
        let place = self.order.waiting.iter().position(is_late)?;
        Some(self.order.remove(place))
    }
}

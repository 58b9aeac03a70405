//! Operations that make way for reads.

use super::model::{Event, Model};
use super::operations::{Running, Work};
use super::specs::Suspension;

impl Model<'_> {
    /// Whether an operation that a worker does or has suspended erases.
    fn erases(running: &Running) -> bool {
        match running.work {
            Work::Striped { erases } => erases,
            Work::Clean { .. } | Work::MergeStep { .. } => running.target.is_none(),
            _ => false,
        }
    }

    fn limits(&self, running: &Running) -> Option<Suspension> {
        match Self::erases(running) {
            true => self.drive().suspend_erase,
            false => self.drive().suspend_program,
        }
    }

    /// Workers suspend and resume operations when nothing more can begin.
    pub fn look_at_suspensions(&mut self) {
        for worker in 0..self.workers.len() {
            if self.workers[worker].suspended.is_some() {
                let its = &self.workers[worker];
                if its.running.is_none() && its.reads.is_empty() {
                    self.resume(worker);
                }
            } else if !self.workers[worker].reads.is_empty() {
                self.suspend_if_it_may_be(worker);
            }
        }
    }

    fn resume(&mut self, worker: usize) {
        let (mut running, left) = self.workers[worker].suspended.take().expect("it has one");
        let resume = self.limits(&running).expect("it was suspended").resume;
        let from = self.now + resume;
        running.works = Some((from, from + left));
        self.workers[worker].running = Some(running);
        self.later(resume + left, Event::StepDone(worker));
    }

    fn suspend_if_it_may_be(&mut self, worker: usize) {
        let Some(running) = &self.workers[worker].running else {
            return;
        };
        let (Some((from, end)), Some(limits)) = (running.works, self.limits(running)) else {
            return;
        };
        let at = self.now.max(from + limits.gap);
        if running.suspensions >= limits.most || at + limits.cost >= end {
            return;
        }
        if at > self.now {
            self.later(at - self.now, Event::ChannelFree);
            return;
        }
        self.suspensions[usize::from(Self::erases(running))] += 1;
        let running = self.workers[worker].running.as_mut().expect("it works");
        running.suspensions += 1;
        // What it has left, until it is suspended.
        running.works = None;
        running.waits_since = None;
        let left = end - self.now;
        let its_end = |&(at, ref event): &(u64, Event)| {
            at == end && matches!(event, Event::StepDone(other) if *other == worker)
        };
        self.events.retain(|event| !its_end(event));
        running.left = left;
        self.later(limits.cost, Event::Suspended(worker));
    }

    pub fn is_suspended(&mut self, worker: usize) {
        let running = self.workers[worker].running.take().expect("it makes way");
        let left = running.left;
        self.workers[worker].suspended = Some((running, left));
    }
}

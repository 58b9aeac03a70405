//! Submission queues: from which one the next request is fetched.

use super::model::Model;
use super::specs::Queues;

const CLASSES: [&str; 4] = ["urgent", "high", "medium", "low"];

/// Whose turn it is.
#[derive(Default)]
pub struct Arbiter {
    /// Requests under way of each queue.
    under_way: Vec<usize>,
    /// Of each class, the queue in turn by its place among them, and how many it has given.
    turns: [(usize, usize); 4],
    /// The class in turn, of high, medium and low, and how many it has given.
    class: (usize, usize),
}

impl Queues {
    /// The queues of a class, in ascending order. Without weights there are no classes.
    fn of_class(&self, class: usize) -> Vec<usize> {
        let class_of = |queue: usize| match self.weights {
            None => "urgent",
            Some(_) => self.classes.get(queue).copied().unwrap_or("medium"),
        };
        let all = 0..self.count;
        all.filter(|&queue| class_of(queue) == CLASSES[class])
            .collect()
    }
}

impl Model<'_> {
    /// The request that the drive takes next, out of those that wait.
    pub fn fetch(&mut self) -> Option<usize> {
        let Some(queues) = &self.case.drive.queues else {
            return (!self.waiting.is_empty()).then(|| self.waiting.remove(0));
        };
        self.arbiter.under_way.resize(queues.count, 0);
        let queue = self
            .gives(queues, 0)
            .or_else(|| self.gives_by_weight(queues))?;
        let mut waiting = self.waiting.iter();
        let at = waiting.position(|&request| self.queue_of(request, queues) == queue);
        self.arbiter.under_way[queue] += 1;
        Some(self.waiting.remove(at.expect("it can give")))
    }

    fn queue_of(&self, request: usize, queues: &Queues) -> usize {
        self.asked(request).stream % queues.count
    }

    /// A request is complete.
    pub fn leaves_queue(&mut self, request: usize) {
        if let Some(queues) = &self.case.drive.queues {
            let queue = self.queue_of(request, queues);
            self.arbiter.under_way[queue] -= 1;
        }
    }

    fn can_give(&self, queue: usize, queues: &Queues) -> bool {
        let mut waiting = self.waiting.iter();
        let has_one = waiting.any(|&request| self.queue_of(request, queues) == queue);
        let is_full = (queues.depth).is_some_and(|depth| self.arbiter.under_way[queue] >= depth);
        has_one && !is_full
    }

    /// The queue of a class that gives the next request.
    fn gives(&mut self, queues: &Queues, class: usize) -> Option<usize> {
        let all = queues.of_class(class);
        let (at, given) = self.arbiter.turns[class];
        if !all.is_empty() && given < queues.burst && self.can_give(all[at], queues) {
            self.arbiter.turns[class] = (at, given + 1);
            return Some(all[at]);
        }
        // From the next one on, and at last the same one again.
        let mut places = (at + 1..all.len()).chain(0..(at + 1).min(all.len()));
        let next = places.find(|&place| self.can_give(all[place], queues))?;
        self.arbiter.turns[class] = (next, 1);
        Some(all[next])
    }

    fn gives_by_weight(&mut self, queues: &Queues) -> Option<usize> {
        let weights = queues.weights?;
        let (at, given) = self.arbiter.class;
        if given < weights[at]
            && let Some(queue) = self.gives(queues, 1 + at)
        {
            self.arbiter.class = (at, given + 1);
            return Some(queue);
        }
        for next in [(at + 1) % 3, (at + 2) % 3, at] {
            if let Some(queue) = self.gives(queues, 1 + next) {
                self.arbiter.class = (next, 1);
                return Some(queue);
            }
        }
        None
    }
}

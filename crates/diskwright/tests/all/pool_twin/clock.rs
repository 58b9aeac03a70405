//! The twin's time: one instant after the other, and what happens in each.

use std::ops::Range;

use super::model::{Event, Model};

impl Model<'_> {
    /// Runs until every request is complete or nothing happens any more.
    pub fn run(&mut self) {
        let count = self.case.requests.len();
        let users = self.case.users.map_or(count, |users| users as usize);
        // Of a closed load, requests are issued in their order; of an open one, they arrive.
        let mut next = 0;
        let mut arrived: Vec<usize> = Vec::new();
        if self.case.users.is_some() {
            next = users.min(count);
            arrived.extend(0..next);
        }
        loop {
            if self.case.users.is_none() {
                while next < count && self.asked(next).at == self.now {
                    arrived.push(next);
                    next += 1;
                }
            }
            while !arrived.is_empty() {
                self.arrive(arrived.remove(0));
                arrived.extend(self.answer(&mut next));
            }
            if !self.is_due() {
                self.begin();
            }
            if !self.is_due() {
                let arrival = (self.case.users.is_none() && next < count).then(|| self.asked(next));
                let times = self.next_instant().into_iter();
                match times.chain(arrival.map(|asked| asked.at)).min() {
                    Some(instant) => self.now = instant,
                    None => return,
                }
            }
            while let Some(event) = self.due() {
                match event {
                    Event::Complete(request) => {
                        self.finish(request);
                        self.take();
                    }
                    Event::Crossed(request) => self.crossed(request),
                    Event::Kept => self.kept(),
                    Event::Done(number) => self.medium_event(number, true),
                    Event::Cut(number) => self.medium_event(number, false),
                }
                arrived.extend(self.answer(&mut next));
            }
            if self.completions.iter().all(Option::is_some) {
                return;
            }
        }
    }

    fn is_due(&self) -> bool {
        self.events.iter().any(|&(at, _)| at == self.now)
    }

    /// Takes the first event of this instant.
    fn due(&mut self) -> Option<Event> {
        let place = self.events.iter().position(|&(at, _)| at == self.now)?;
        Some(self.events.remove(place).1)
    }

    /// The next instant at which something is foreseen, or time alone changes what an idle arm may begin.
    fn next_instant(&self) -> Option<u64> {
        let pool = &self.case.pool;
        let dirty = self.frames.all().iter();
        let ages = dirty
            .filter(|frame| !frame.dirty.is_empty())
            .map(|frame| frame.since + pool.age);
        let idle = self.idle_since.map(|since| since + pool.idle);
        let idle = idle.filter(|_| !self.candidates.is_empty());
        let times = self.events.iter().map(|&(at, _)| at);
        let of_time = ages.chain(idle).filter(|&at| at > self.now);
        times.chain(of_time).min()
    }

    /// What the host of a closed load issues for what is complete.
    fn answer(&mut self, next: &mut usize) -> Range<usize> {
        let unanswered = std::mem::take(&mut self.unanswered);
        let first = *next;
        if self.case.users.is_some() {
            *next = (first + unanswered).min(self.case.requests.len());
        }
        first..*next
    }

    /// A request is complete.
    pub fn finish(&mut self, request: usize) {
        self.completions[request] = Some(self.now);
        self.active.retain(|&other| other != request);
        self.unanswered += 1;
    }
}

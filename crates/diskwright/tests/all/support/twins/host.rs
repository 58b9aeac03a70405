//! A host that issues the requests of a trace in their order.

use std::ops::Range;

use super::Asked;

/// Each request comes at its instant, or in a closed load when another one is answered.
pub struct Host {
    is_closed: bool,
    next: usize,
    /// Completions that it has not answered.
    unanswered: usize,
}

impl Host {
    /// One that has a number of requests outstanding, or issues them as they were recorded.
    pub fn new(users: Option<u64>) -> Host {
        Host {
            is_closed: users.is_some(),
            next: 0,
            // What a closed load issues at once answers nothing.
            unanswered: users.map_or(0, |users| users as usize),
        }
    }

    /// A request is complete.
    pub fn hears(&mut self) {
        self.unanswered += 1;
    }

    /// The requests that it issues at an instant, by their numbers.
    pub fn issues(&mut self, requests: &[Asked], now: u64) -> Range<usize> {
        let left = &requests[self.next..];
        let unanswered = std::mem::take(&mut self.unanswered);
        let count = match self.is_closed {
            true => unanswered.min(left.len()),
            false => left.iter().take_while(|asked| asked.at == now).count(),
        };
        let first = self.next;
        self.next += count;
        first..self.next
    }

    /// When the next one arrives, if that is known.
    pub fn next_arrival(&self, requests: &[Asked]) -> Option<u64> {
        let next = requests.get(self.next).filter(|_| !self.is_closed);
        next.map(|asked| asked.at)
    }
}

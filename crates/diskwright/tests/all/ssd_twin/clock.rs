//! The twin's time: one instant after the other, and what happens in each.

use diskwright::engine::request::Op;

use super::model::{Event, Model};

impl Model<'_> {
    /// Runs until nothing happens any more.
    pub fn run(&mut self) {
        loop {
            while let Some(event) = self.next_of_instant() {
                self.happens(event);
                // Pages are formed, and requests come to their ends, when everything else that an event brings has been done.
                self.form_pages();
                if std::mem::take(&mut self.has_ended_operation) {
                    self.let_all_in();
                }
                self.end_requests();
                self.form_pages();
                self.follows_power();
            }
            if !self.sleeps() {
                self.look_at_channels();
                self.look_at_suspensions();
            }
            self.follows_power();
            if self.read_only_since.is_some() {
                return;
            }
            match self.events.iter().map(|&(at, _)| at).min() {
                Some(next)
                    if (next == self.now || !self.has_ended()) && self.case.has_power(next) =>
                {
                    self.goes_to(next);
                }
                _ => return self.leaves_state(),
            }
        }
    }

    /// Whether every request is complete, and nothing is foreseen but what an idle drive begins by itself, which keeps no run going. A drive that looks for
    /// old blocks for ever ends with its last request.
    fn has_ended(&self) -> bool {
        let is_by_itself = |&(_, event): &(u64, Event)| {
            matches!(
                event,
                Event::Held | Event::Patrol | Event::Fold | Event::Idle | Event::Power(_)
            )
        };
        self.completions.iter().all(Option::is_some)
            && (self.drive().patrols() || self.events.iter().all(is_by_itself))
    }

    /// The next instant begins.
    fn goes_to(&mut self, next: u64) {
        self.now = next;
        self.are_arriving = false;
    }

    /// What happens next in this instant: requests arrive behind all that is foreseen for it until then, and together.
    fn next_of_instant(&mut self) -> Option<Event> {
        let of_now = self
            .events
            .iter()
            .enumerate()
            .filter(|(_, (at, _))| *at == self.now);
        let arrives =
            |&(_, &(_, event)): &(usize, &(u64, Event))| matches!(event, Event::Arrive(_));
        let (arrivals, others): (Vec<_>, Vec<_>) = of_now.partition(arrives);
        let in_turn = match self.are_arriving {
            true => [arrivals, others],
            false => [others, arrivals],
        };
        let &(place, &(_, event)) = in_turn.iter().flatten().next()?;
        self.are_arriving |= matches!(event, Event::Arrive(_));
        self.events.remove(place);
        Some(event)
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Arrive(request) => {
                self.waiting.push(request);
                self.take();
            }
            Event::Data(request) => self.takes_data(request),
            Event::Mapped(request) => self.arrives(request),
            Event::Complete(request) => self.complete(request),
            Event::StepDone(worker) => self.next_step(worker),
            Event::ChannelFree => {}
            Event::Suspended(worker) => self.is_suspended(worker),
            Event::Patrol => self.patrols(),
            Event::Held => self.held_long_enough(),
            Event::Idle => self.cleans_when_idle(),
            Event::Power(alarm) => self.power_rings(alarm),
            Event::Fold => (0..self.planes.len()).for_each(|plane| self.folds_on(plane)),
        }
    }

    fn end_requests(&mut self) {
        while !self.done.is_empty() {
            let request = self.done.remove(0);
            // A read is complete behind all that its event has given to the link.
            let after = match self.asked(request).op {
                Op::Read => self.drive().read_end,
                _ => self.drive().write_end,
            };
            let at = match (self.drive().link, self.asked(request).op) {
                (Some(link), _) => self.crosses(true, link.end()) + link.latency() + after,
                (None, Op::Read) => self.crosses(true, self.drive().frames) + after,
                (None, _) => self.now + after,
            };
            if at == self.now {
                self.complete(request);
            } else {
                self.events.push((at, Event::Complete(request)));
            }
        }
    }

    /// The drive has no request from now on.
    pub fn is_idle(&mut self) {
        if let Some((after, _)) = self.drive().idle {
            self.later(after, Event::Idle);
        }
        if let Some(after) = self.drive().slc.and_then(|slc| slc.fold_after) {
            self.later(after, Event::Fold);
        }
    }

    fn complete(&mut self, request: usize) {
        self.completions[request] = Some(self.now);
        self.under_way -= 1;
        self.leaves_queue(request);
        self.take();
        if self.under_way == 0 {
            self.idle_since = self.now;
            self.is_idle();
        }
    }
}

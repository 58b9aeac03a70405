//! How the twin's transfers wait for one another, and end.

use super::model::{Event, Holder, Model, Purpose, Stage, Transfer};

impl Model<'_> {
    /// Whether a transfer has to wait for one that was made before it.
    fn is_held(&self, transfer: &Transfer) -> bool {
        let before = |other: &&Transfer| other.number < transfer.number;
        let mut others = self.transfers.iter().chain(&self.over).filter(before);
        others.any(|other| other.meets(transfer.from, transfer.to))
    }

    /// A transfer is over: those that waited for it, and for nothing else, go on. One that is over by that holds others until it has its turn.
    pub fn go_on_after(&mut self, transfer: Transfer) {
        self.over.push(transfer);
        while !self.over.is_empty() {
            let Transfer { from, to, .. } = self.over.remove(0);
            let waits = |transfer: &&Transfer| {
                transfer.stage == Stage::Waits
                    && transfer.meets(from, to)
                    && !self.is_held(transfer)
            };
            let free = self.transfers.iter().filter(waits);
            let free: Vec<u64> = free.map(|transfer| transfer.number).collect();
            free.into_iter().for_each(|number| self.go_on(number));
        }
    }

    /// A transfer goes on if it waits for nothing any more.
    pub fn go_on(&mut self, number: u64) {
        let place = self
            .transfers
            .iter()
            .position(|other| other.number == number);
        let place = place.expect("it is not over");
        if self.is_held(&self.transfers[place]) {
            return;
        }
        if let Purpose::Read(request) = self.transfers[place].purpose {
            let Some(run) = self.missing(request) else {
                self.meet("a read that has waited is a hit");
                let transfer = self.transfers.remove(place);
                self.over.push(transfer);
                self.note();
                return self.hit(request);
            };
            if self.transfers[place].run != run {
                self.transfers[place].run = run;
                self.meet("a read that has waited lacks less");
            }
        }
        self.queued += 1;
        self.transfers[place].stage = Stage::Queued(self.queued);
    }

    pub fn transfer(&mut self, number: u64) -> &mut Transfer {
        let mut all = self.transfers.iter_mut();
        all.find(|transfer| transfer.number == number)
            .expect("it has not ended")
    }

    /// Lets the arm leave the piece that is under way, at once or after its motion.
    pub fn cut(&mut self) {
        let mut pieces = self
            .transfers
            .iter()
            .filter_map(|transfer| match &transfer.purpose {
                Purpose::Piece { passing, until, .. } => Some((transfer, passing, *until)),
                _ => None,
            });
        let Some((transfer, passing, until)) = pieces.next() else {
            return;
        };
        let number = transfer.number;
        // Sectors that are read whatever waits.
        let sector = self.medium.sector();
        let held = until.map_or(0, |until| {
            until.min(transfer.to).div_ceil(sector) - transfer.from / sector
        }) as usize;
        let until = match held {
            0 => passing.there,
            held => passing.ends[held - 1],
        };
        if held == passing.ends.len() {
            return;
        }
        self.events
            .retain(|&(_, event)| event != Event::Done(number));
        if self.now < until {
            self.events.push((until, Event::Done(number)));
            self.met.insert(match held {
                0 => "a piece is interrupted in its motion",
                _ => "a piece is interrupted once the arm stays no longer",
            });
        } else {
            self.met.insert(match passing.ends[0] <= self.now {
                true => "a piece is interrupted between sectors",
                false => "a piece is interrupted before its first sector",
            });
            self.events.push((self.now, Event::Cut(number)));
            self.is_busy = false;
        }
    }

    /// What has passed of a piece until now is valid.
    fn end_piece(&mut self, transfer: &Transfer) {
        let Purpose::Piece {
            stream,
            passing,
            until,
        } = &transfer.purpose
        else {
            unreachable!("it is a piece");
        };
        let passed = passing.ends.iter().filter(|&&end| end <= self.now).count() as u64;
        let sector = self.medium.sector();
        let to = (transfer.from / sector + passed) * sector;
        let to = to.clamp(transfer.from, transfer.to);
        self.make_valid(Holder::Piece, transfer.from..to);
        self.unpin(Holder::Piece);
        if !self.is_busy {
            self.stays = until.filter(|&until| to < until).map(|until| (to, until));
        }
        if let Some(stream) = self.streams.get(*stream) {
            stream.read_to = to;
        }
    }

    /// A transfer is over, and so is the arm's work unless it has been cut.
    pub fn medium_event(&mut self, number: u64, is_done: bool) {
        if is_done {
            self.is_busy = false;
        }
        let place = self
            .transfers
            .iter()
            .position(|other| other.number == number);
        let transfer = self.transfers.remove(place.expect("it has not ended"));
        let mut is_destage = false;
        if let Purpose::Read(_) = transfer.purpose
            && self.case.pool.least > 0
        {
            let from = transfer.run.1;
            self.stays = Some((from, from + self.case.pool.least));
        }
        match transfer.purpose {
            Purpose::Read(request) => {
                self.make_valid(Holder::Request(request), transfer.run.0..transfer.run.1);
                self.unpin(Holder::Request(request));
                let blocks = self.asked(request).blocks;
                let of_sector = self
                    .medium
                    .crossing(blocks.min(self.medium.sector()), false);
                let of_all = self.medium.crossing(blocks, false);
                self.free = (self.now + of_sector).max(self.free + of_all);
                self.at(
                    self.free + self.medium.after(false),
                    Event::Complete(request),
                );
            }
            Purpose::Write(request) => {
                self.unpin(Holder::Request(request));
                self.at(self.now + self.medium.after(true), Event::Complete(request));
            }
            Purpose::Destage => is_destage = true,
            Purpose::Piece { .. } => self.end_piece(&transfer),
        }
        self.note();
        self.go_on_after(transfer);
        if is_destage {
            self.end_flushes();
            self.advance_line();
        }
        self.take();
    }
}

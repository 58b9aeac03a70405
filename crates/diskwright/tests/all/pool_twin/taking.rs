//! How the twin takes requests: slots, hits, absorbed writes, writes through, flushes and trims.

use diskwright::engine::request::Op;

use super::model::{Event, Holder, Model, Purpose, Stage, Transfer};
use super::specs::Asked;

/// What becomes of a write.
#[derive(PartialEq, Eq)]
enum Way {
    Absorbed,
    WaitsForRoom,
    Through,
}

impl Model<'_> {
    pub fn arrive(&mut self, request: usize) {
        if self.asked(request).op == Op::Flush {
            self.flushes.push(request);
            return self.end_flushes();
        }
        self.intake.push(request);
        self.take();
    }

    /// Takes what can be taken, in the order of arrival.
    pub fn take(&mut self) {
        while let Some(&request) = self.intake.first() {
            let Asked {
                op, lbn, blocks, ..
            } = self.asked(request);
            let to = lbn + blocks;
            if op == Op::Trim {
                let is_held = self.holds_back(lbn, to);
                if is_held {
                    self.meet("a trim waits");
                    return;
                }
            } else if self.active.len() == self.case.depth as usize {
                return;
            }
            self.intake.remove(0);
            if op == Op::Trim {
                self.trim(request);
                continue;
            }
            self.active.push(request);
            for extent in self.frames.extents(lbn, to) {
                if !self.access(extent, Holder::Request(request)) {
                    self.meet("an extent has no frame");
                }
            }
            match op {
                Op::Read => self.take_read(request),
                _ => self.take_write(request),
            }
        }
    }

    /// Whether a trim of these blocks has to wait.
    fn holds_back(&self, from: u64, to: u64) -> bool {
        let meets = |&request: &usize| {
            let Asked { lbn, blocks, .. } = self.asked(request);
            lbn < to && from < lbn + blocks
        };
        let of_transfer = |transfer: &Transfer| match &transfer.purpose {
            Purpose::Read(request) | Purpose::Write(request) => meets(request),
            _ => transfer.meets(from, to),
        };
        self.transfers.iter().any(of_transfer) || self.line.iter().any(meets)
    }

    /// An access to an extent: whether it has a frame then.
    pub fn access(&mut self, extent: u64, holder: Holder) -> bool {
        let pinned: Vec<u64> = self
            .frames
            .all()
            .iter()
            .filter(|frame| self.is_pinned(frame))
            .map(|frame| frame.extent)
            .collect();
        let has_frame = self
            .frames
            .access(extent, |frame| pinned.contains(&frame.extent));
        if has_frame {
            self.pins.push((holder, extent));
        }
        has_frame
    }

    pub fn unpin(&mut self, holder: Holder) {
        self.pins.retain(|&(other, _)| other != holder);
    }

    /// Blocks become valid in the frames that a request or a piece has.
    pub fn make_valid(&mut self, holder: Holder, blocks: std::ops::Range<u64>) {
        for block in blocks {
            let extent = block / self.case.pool.extent;
            if self.pins.contains(&(holder, extent)) {
                self.frames.make_valid(block);
            }
        }
    }

    fn take_read(&mut self, request: usize) {
        let Asked { lbn, blocks, .. } = self.asked(request);
        if let Some(stream) = self.streams.read(lbn, lbn + blocks) {
            let ahead: Vec<u64> = self
                .frames
                .all()
                .iter()
                .filter(|frame| {
                    let (from, to) = self.frames.blocks(frame.extent);
                    from >= stream.next && to <= stream.end() && !self.is_pinned(frame)
                })
                .map(|frame| frame.extent)
                .collect();
            for extent in ahead {
                self.meet("what was read ahead is dropped");
                self.frames.remove(extent);
            }
        }
        match self.missing(request) {
            None => self.hit(request),
            Some(run) => {
                let ready = self.now + self.medium.before(false);
                let number = self.make(Purpose::Read(request), run, ready);
                self.note();
                self.go_on(number);
            }
        }
    }

    /// The run from the first block of a read that is not valid to the last one.
    pub fn missing(&self, request: usize) -> Option<(u64, u64)> {
        let Asked { lbn, blocks, .. } = self.asked(request);
        let has_it = |block: u64| {
            let extent = block / self.case.pool.extent;
            self.pins.contains(&(Holder::Request(request), extent)) && self.frames.is_valid(block)
        };
        let mut its = (lbn..lbn + blocks).filter(|&block| !has_it(block));
        let first = its.next()?;
        Some((first, its.next_back().unwrap_or(first) + 1))
    }

    /// All blocks of a read are valid.
    pub fn hit(&mut self, request: usize) {
        self.unpin(Holder::Request(request));
        let blocks = self.asked(request).blocks;
        let s = self.now.max(self.free);
        self.free = s + self.case.pool.hit_overhead + self.medium.crossing(blocks, false);
        self.at(self.free, Event::Complete(request));
    }

    /// A transfer is made.
    pub fn make(&mut self, purpose: Purpose, (from, to): (u64, u64), ready: u64) -> u64 {
        self.made += 1;
        self.transfers.push(Transfer {
            number: self.made,
            purpose,
            from,
            to,
            run: (from, to),
            ready,
            stage: Stage::Waits,
        });
        self.made
    }

    fn take_write(&mut self, request: usize) {
        if !self.line.is_empty() {
            return self.line.push(request);
        }
        match self.way(request) {
            Way::WaitsForRoom => {
                self.meet("a write waits for room");
                self.line.push(request);
            }
            Way::Absorbed => self.absorb(request),
            Way::Through => self.go_through(request),
        }
    }

    fn way(&self, request: usize) -> Way {
        let Asked {
            lbn, blocks, fua, ..
        } = self.asked(request);
        let mut extents = self.frames.extents(lbn, lbn + blocks);
        let own = extents.end - extents.start;
        let takes = (self.case.write_cache && !fua) || self.has_persistent();
        let its = Holder::Request(request);
        let has_frames = extents.all(|extent| self.pins.contains(&(its, extent)));
        if !takes || !has_frames || own > self.room() {
            return Way::Through;
        }
        let has_room = self.dirty_with(lbn, lbn + blocks) <= self.room();
        match has_room && self.flushes.is_empty() {
            true => Way::Absorbed,
            false => Way::WaitsForRoom,
        }
    }

    fn absorb(&mut self, request: usize) {
        let Asked { lbn, blocks, .. } = self.asked(request);
        for block in lbn..lbn + blocks {
            self.frames.make_dirty(block, self.now);
        }
        self.unpin(Holder::Request(request));
        let s = self.now.max(self.free);
        if self.regions.is_some() {
            self.free = s + self.medium.before(true) + self.medium.crossing(blocks, true);
            self.at(self.free, Event::Crossed(request));
        } else {
            self.free = s + self.case.pool.hit_overhead + self.medium.crossing(blocks, true);
            self.at(self.free, Event::Complete(request));
        }
        self.note();
    }

    fn go_through(&mut self, request: usize) {
        let Asked { lbn, blocks, .. } = self.asked(request);
        for block in lbn..lbn + blocks {
            self.frames.make_valid(block);
        }
        let s = self.now.max(self.free);
        self.free = s + self.medium.before(true) + self.medium.crossing(blocks, true);
        let number = self.make(Purpose::Write(request), (lbn, lbn + blocks), self.free);
        self.note();
        self.go_on(number);
    }

    /// Looks at the writes that wait for room.
    pub fn advance_line(&mut self) {
        while let Some(&request) = self.line.first() {
            let way = self.way(request);
            if way == Way::WaitsForRoom {
                return;
            }
            self.line.remove(0);
            match way {
                Way::Absorbed => self.absorb(request),
                _ => {
                    self.meet("a write goes through that has waited behind others");
                    self.go_through(request);
                }
            }
        }
    }

    /// Flushes are over once nothing is dirty.
    pub fn end_flushes(&mut self) {
        if self.dirty() > 0 && !self.has_persistent() {
            if !self.flushes.is_empty() {
                self.meet("a flush waits");
            }
            return;
        }
        for request in std::mem::take(&mut self.flushes) {
            self.at(
                self.now + self.medium.before(true),
                Event::Complete(request),
            );
        }
    }

    fn trim(&mut self, request: usize) {
        let Asked { lbn, blocks, .. } = self.asked(request);
        for block in lbn..lbn + blocks {
            self.frames.forget(block);
        }
        for extent in self.frames.extents(lbn, lbn + blocks) {
            let frame = self.frames.get(extent);
            if frame.is_some_and(|frame| frame.valid.is_empty() && !self.is_pinned(frame)) {
                self.meet("an extent is trimmed as a whole");
                self.frames.remove(extent);
            }
        }
        self.at(
            self.now + self.medium.before(true),
            Event::Complete(request),
        );
        self.note();
        self.end_flushes();
        self.advance_line();
    }
}

//! What the twin's arm begins next.

use super::model::{Event, Holder, Kind, Model, Purpose, Stage, Transfer};

impl Model<'_> {
    /// Lets the arm begin something, if it is idle.
    pub fn begin(&mut self) {
        let host = self.scheduled();
        if self.is_busy && self.case.pool.yields && host.is_some() {
            self.cut();
        }
        if self.is_busy {
            return;
        }
        if self.stay() {
            // What waits already ends it as what comes later does.
            return self.begin();
        }
        if self.has_to_keep() {
            return self.keep();
        }
        let is_pressing = self.is_pressing();
        if let Some((number, soonest)) = host {
            let destage = self.cheapest().filter(|_| is_pressing);
            let is_destages_turn = destage.is_some_and(|(_, _, time)| time < soonest);
            if self.last_was_host && is_destages_turn {
                self.meet("a pressing destage comes before the host");
                let (_, block, _) = destage.expect("there is one");
                return self.destage(block, false);
            }
            if self.last_was_host && destage.is_some() {
                self.meet("the host comes before a pressing destage");
            }
            return self.begin_host(number);
        }
        if is_pressing && let Some((_, block, _)) = self.cheapest() {
            return self.destage(block, false);
        }
        if self.read_ahead() {
            return;
        }
        let since = *self.idle_since.get_or_insert(self.now);
        if self.now >= since + self.case.pool.idle
            && let Some((_, block, _)) = self.cheapest()
        {
            self.destage(block, true);
        }
    }

    /// The transfer for the host that the scheduler chooses, and how long the arm takes to reach the nearest that waits.
    fn scheduled(&self) -> Option<(u64, u64)> {
        let queued = |transfer: &Transfer| match transfer.stage {
            Stage::Queued(place) => {
                let is_write = matches!(transfer.purpose, Purpose::Write(_));
                let time = self
                    .medium
                    .positioning(self.arm, self.now, transfer.run.0, is_write);
                Some((time, place, transfer.number))
            }
            _ => None,
        };
        let queue = || self.transfers.iter().filter_map(queued);
        let nearest = queue().min()?;
        let chosen = match self.case.scheduler {
            "satf" => nearest,
            _ => queue().min_by_key(|&(_, place, _)| place)?,
        };
        Some((chosen.2, nearest.0))
    }

    pub fn is_pressing(&self) -> bool {
        let is_aged =
            self.frames.all().iter().any(|frame| {
                !frame.dirty.is_empty() && frame.since + self.case.pool.age <= self.now
            });
        self.is_full || is_aged || !self.flushes.is_empty() || !self.line.is_empty()
    }

    /// The cheapest destage: its extent, its first block, and how long the arm takes to reach it.
    fn cheapest(&self) -> Option<(u64, u64, u64)> {
        let of = |&(extent, block): &(u64, u64)| {
            let time = self.medium.positioning(self.arm, self.now, block, true);
            (extent, block, time)
        };
        // Of several the first one, which has been a candidate longest.
        self.candidates
            .iter()
            .map(of)
            .min_by_key(|&(_, _, time)| time)
    }

    fn is_candidate(&self, extent: u64) -> bool {
        let mut its = self.candidates.iter();
        its.any(|&(other, _)| other == extent)
    }

    /// Goes on with a stream that the arm stays with.
    fn stay(&mut self) -> bool {
        let Some((from, until)) = self.stays.take() else {
            return false;
        };
        let after = self.case.pool.after;
        let streams = self.streams.list.iter();
        let there = streams
            .filter(|stream| stream.count >= after && !stream.is_stopped && stream.end() == from);
        let Some(stream) = there.max_by_key(|stream| stream.continued) else {
            return false;
        };
        let number = stream.number;
        match self.piece_of(stream.next, from) {
            Some(run) if run.0 == from => {
                if self.begin_piece(number, run, Some(until)) {
                    self.meet("the arm stays with a stream");
                    return true;
                }
                self.meet("the arm would stay but for want of frames");
                self.stop(number);
                false
            }
            _ => false,
        }
    }

    /// A stream is not read ahead until it is continued.
    fn stop(&mut self, number: u64) {
        self.streams.get(number).expect("it is followed").is_stopped = true;
    }

    /// The arm is at work on a transfer until it ends.
    fn work(&mut self, number: u64, end: u64) {
        self.is_busy = true;
        self.transfer(number).stage = Stage::Begun;
        self.at(end, Event::Done(number));
    }

    fn begin_host(&mut self, number: u64) {
        let (now, arm) = (self.now, self.arm);
        let transfer = self.transfer(number);
        let (run, start) = (transfer.run, transfer.ready.max(now));
        let is_write = matches!(transfer.purpose, Purpose::Write(_));
        let (end, arm) = self.medium.access(arm, start, run, is_write);
        self.arm = arm;
        self.last_was_host = true;
        self.idle_since = None;
        let kind = match is_write {
            true => Kind::Write,
            false => Kind::Read,
        };
        self.began.push((kind, (run.0, run.1 - run.0, now)));
        self.work(number, end);
    }

    fn destage(&mut self, from: u64, is_idle: bool) {
        let longest = self.case.pool.longest;
        let mut to = from;
        let size = self.case.pool.extent;
        while to < from + longest && self.is_candidate(to / size) && self.frames.is_dirty(to) {
            to += 1;
        }
        for block in from..to {
            self.frames.make_clean(block);
        }
        let (end, arm) = self.medium.access(self.arm, self.now, (from, to), true);
        self.arm = arm;
        self.last_was_host = false;
        if !is_idle {
            self.idle_since = None;
        }
        self.meet(match is_idle {
            true => "a destage in idle time",
            false => "a pressing destage",
        });
        if to == from + longest && self.frames.is_dirty(to) {
            self.meet("a destage is as long as it may be");
        }
        self.began
            .push((Kind::Destage, (from, to - from, self.now)));
        let number = self.make(Purpose::Destage, (from, to), self.now);
        self.work(number, end);
        self.note();
    }

    /// Begins a piece of read-ahead, if there is one to read.
    fn read_ahead(&mut self) -> bool {
        loop {
            let after = self.case.pool.after;
            let streams = self.streams.list.iter();
            let ahead = streams.filter(|stream| stream.count >= after && !stream.is_stopped);
            let with_piece = ahead.filter_map(|stream| {
                let run = self.piece_of(stream.next, stream.end())?;
                Some((stream, run))
            });
            let least = |&(stream, _): &(&super::streams::Stream, _)| {
                (
                    stream.end() - stream.next,
                    std::cmp::Reverse(stream.continued),
                )
            };
            let Some((stream, run)) = with_piece.min_by_key(least) else {
                return false;
            };
            let stream = stream.number;
            if self.begin_piece(stream, run, None) {
                return true;
            }
            self.meet("a stream is stopped for want of frames");
            self.stop(stream);
        }
    }

    /// The blocks of the next piece for a stream.
    fn piece_of(&self, next: u64, end: u64) -> Option<(u64, u64)> {
        let limit = (next + self.case.pool.most).min(self.medium.blocks());
        let is_missing = |&block: &u64| {
            let mut transfers = self.transfers.iter();
            !self.frames.is_valid(block) && !transfers.any(|other| other.meets(block, block + 1))
        };
        let first = (end..limit).find(is_missing)?;
        let limit = limit.min(self.medium.track_end(first));
        Some((
            first,
            first + (first..limit).take_while(is_missing).count() as u64,
        ))
    }

    /// Begins a piece, unless one of its extents has no frame.
    fn begin_piece(&mut self, stream: u64, run: (u64, u64), until: Option<u64>) -> bool {
        let passing = self.medium.piece(self.arm, self.now, run);
        let (arm, end) = (passing.to, passing.ends[passing.ends.len() - 1]);
        let purpose = Purpose::Piece {
            stream,
            passing,
            until,
        };
        let number = self.make(purpose, run, self.now);
        let mut has_frames = true;
        for extent in self.frames.extents(run.0, run.1) {
            has_frames &= self.access(extent, Holder::Piece);
        }
        if !has_frames {
            self.transfers.pop();
            self.unpin(Holder::Piece);
            return false;
        }
        self.arm = arm;
        self.last_was_host = false;
        self.idle_since = None;
        self.began
            .push((Kind::Piece, (run.0, run.1 - run.0, self.now)));
        self.work(number, end);
        self.note();
        true
    }
}

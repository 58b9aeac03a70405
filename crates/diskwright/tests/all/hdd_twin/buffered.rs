//! A drive with a segmented buffer, as docs/model/buffer.md defines it. Instants and times are ns.

use diskwright::engine::request::Op;

use super::ahead::{Filling, What, operations};
use super::cached::Cached as _;
use super::model::{End, Model};
use super::queue::Waiting;
use super::seeks::Arm;
use super::segments::{Blocks, Found, Segments};
use super::specs::{Buffer, Complete, Until};

/// The memory of a drive, and what its medium does behind completed requests.
pub struct Memory<'a> {
    pub settings: &'a Buffer,
    pub segments: Segments,
    /// What fills a segment.
    pub filling: Option<Filling>,
    /// When the medium has written the last write, and whether that was complete before.
    pub written: u64,
    pub is_buffered: bool,
    /// When a flush need not wait for it any more.
    pub flushed: u64,
}

impl<'a> Memory<'a> {
    pub fn new(settings: &'a Buffer) -> Memory<'a> {
        Memory {
            settings,
            segments: Segments::new(settings.segments, settings.size, settings.own_segment),
            filling: None,
            written: 0,
            is_buffered: false,
            flushed: 0,
        }
    }

    /// What the medium has read by an instant is in its segment; where the arm is, if it has done with that.
    fn settle(&mut self, now: u64) -> Option<Arm> {
        let filling = self.filling.as_ref()?;
        let until = filling.read_until(now).max(filling.first);
        let from = filling.first.max(until.saturating_sub(self.segments.size));
        let segment = filling.segment;
        self.segments.all[segment].data = (from, until);
        if filling.ends() > now {
            return None;
        }
        let arm = filling.operations.last().map(|last| last.arm);
        self.release(segment);
        self.filling = None;
        arm
    }

    /// The medium has done with a segment.
    fn release(&mut self, segment: usize) {
        if !self.settings.keeps_data {
            self.segments.empty(segment);
        }
    }
}

impl Model<'_> {
    /// Where the arm is at this instant.
    pub fn arm_now(&self) -> Arm {
        let filling = self
            .memory
            .as_ref()
            .and_then(|memory| memory.filling.as_ref());
        let current = filling.and_then(|filling| {
            let mut all = filling.operations.iter();
            let current = all.find(|operation| operation.ends > self.now);
            current.or(filling.operations.last())
        });
        current.map_or(self.arm, |operation| operation.arm)
    }

    pub fn settle(&mut self) {
        let memory = self.memory.as_mut().expect("it has memory");
        if let Some(arm) = memory.settle(self.now) {
            self.arm = arm;
        }
    }

    /// Stops what fills a segment at an instant, or when that takes effect; gives that, and the segment.
    pub fn interrupt(&mut self, at: u64) -> (u64, Option<usize>) {
        let Some(memory) = self.memory.as_mut() else {
            return (at, None);
        };
        let Some(filling) = &memory.filling else {
            return (at, None);
        };
        let segment = filling.segment;
        let stop = filling.stop(at, memory.settings.stops_within_sector);
        let last = filling.operations.last().expect("it has read").arm;
        let (stop, arm) = stop.unwrap_or((at, last));
        // The sector that is being read is not kept.
        memory.settle(at);
        if memory.filling.take().is_some() {
            memory.release(segment);
        }
        self.arm = arm;
        self.count("read_ahead_interruptions", 1);
        (stop, Some(segment))
    }

    /// Up to where the medium reads for a read, into a segment whose data begin at `first`.
    fn limit(&self, (from, to): Blocks, first: u64, buffer: &Buffer) -> u64 {
        let medium = &self.medium;
        let on_track = |block: u64| medium.end_of(block, |one, other| one.is_on_track_of(other));
        let most = match (buffer.most, buffer.over_requested) {
            (Some(most), _) => to + most,
            (None, false) => from + buffer.size,
            (None, true) => to + buffer.size,
        };
        let blocks = medium.blocks();
        let limit = match buffer.until {
            Until::None => to,
            Until::Track => on_track(to - 1).min(most),
            Until::Cylinder => medium
                .end_of(to - 1, |one, other| one.cylinder == other.cylinder)
                .min(most),
            Until::Segment => most,
            Until::StreamTrack if to >= blocks => to,
            Until::StreamTrack => {
                let end = on_track(to);
                let is_stream = !medium.place(first).is_on_track_of(medium.place(to));
                match is_stream {
                    true => end + medium.place(to).slots,
                    false => end,
                }
            }
        };
        limit.max(to).min(blocks)
    }

    /// Serves a read that was in the queue; when that is complete.
    pub fn serve_read(&mut self, waiting: &Waiting) -> u64 {
        let (from, to) = (waiting.lbn, waiting.end());
        let now = self.now;
        self.settle();
        let memory = self.memory.as_mut().expect("it has memory");
        let buffer = memory.settings;
        let filling = memory.filling.as_ref().map(|filling| filling.segment);
        let found = memory.segments.of_read((from, to), filling);
        let (Found::Hit { segment, .. } | Found::Partial { segment, .. } | Found::Miss { segment }) =
            found;
        memory.segments.touch(segment);
        let is_miss = matches!(found, Found::Miss { .. });
        let (data, asked_for) = match (memory.segments.all[segment], is_miss) {
            (_, true) => ((from, from), 0),
            (segment, false) => (segment.data, segment.limit),
        };
        // The highest limit of all reads that have used the segment since it began anew.
        let limit = asked_for.max(self.limit((from, to), data.0, buffer));
        let memory = self.memory.as_mut().expect("it has memory");
        memory.segments.all[segment].limit = limit;
        let miss_ready = now.max(waiting.since + self.before(false));
        let hit_ready = match (now > waiting.since, self.last_was_write) {
            (true, _) => miss_ready,
            (false, false) => now + buffer.hit_after_read,
            (false, true) => now + buffer.hit_after_write,
        };
        let block = self.case.drive.interface.block;
        let mut free = hit_ready;
        match found {
            Found::Hit { is_filling, .. } => {
                self.count("buffer_hits", 1);
                match is_filling {
                    true => self.join(limit),
                    false => drop(self.interrupt(now)),
                }
                free += waiting.blocks * block;
            }
            Found::Partial {
                is_filling: true, ..
            } => {
                self.count("buffer_partial_hits", 1);
                self.join(limit);
                free += (data.1 - from) * block;
                free = self.cross((data.1, to), free);
            }
            Found::Partial { .. } | Found::Miss { .. } => {
                let (stop, _) = self.interrupt(now);
                let start = miss_ready + (stop - now);
                let (first, begin) = data;
                self.count("media_accesses", 1);
                match is_miss {
                    true => {
                        self.count("buffer_misses", 1);
                        free = 0;
                    }
                    false => {
                        self.count("buffer_partial_hits", 1);
                        free += (data.1 - from) * block;
                    }
                }
                let operations = operations(&self.medium, self.arm, start, (begin, limit));
                let memory = self.memory.as_mut().expect("it has memory");
                memory.segments.all[segment].data = (first, begin);
                memory.filling = Some(Filling {
                    segment,
                    first,
                    limit,
                    operations,
                });
                free = self.cross((begin, to), free);
            }
        }
        let end = free + self.case.drive.overhead.completion_read;
        self.is_left_out |= block > 0 && self.may_overrun((from, to), end);
        self.last_was_write = false;
        end
    }

    /// Whether the medium is at a sector, or comes to one before the end of a read, that takes the place of one of its blocks.
    fn may_overrun(&self, (from, to): Blocks, end: u64) -> bool {
        let memory = self.memory.as_ref().expect("it has memory");
        let Some(filling) = &memory.filling else {
            return false;
        };
        let mut pairs = filling.operations.windows(2);
        pairs.any(|pair| match pair[1].what {
            What::Reads(block) => {
                let takes_its_place = block >= to.max(from + memory.segments.size);
                takes_its_place && pair[0].ends < end && pair[1].ends > self.now
            }
            _ => false,
        })
    }

    /// A read joins the medium, which reads on after it.
    fn join(&mut self, limit: u64) {
        self.count("buffer_hits_on_read_ahead", 1);
        let memory = self.memory.as_mut().expect("it has memory");
        let mut filling = memory.filling.take().expect("it joins the medium");
        filling.raise(&self.medium, limit);
        self.memory.as_mut().expect("it has memory").filling = Some(filling);
    }

    /// Blocks cross as they are read, from an instant on at which the bus is free; when they have.
    fn cross(&self, (from, to): Blocks, free: u64) -> u64 {
        let memory = self.memory.as_ref().expect("it has memory");
        let filling = memory.filling.as_ref().expect("the medium reads them");
        (from..to).fold(free, |free, block| {
            let arrival = filling.arrival(block).expect("it is read");
            free.max(arrival) + self.case.drive.interface.block
        })
    }

    /// Serves a write that was in the queue; when that is complete.
    pub fn serve_write(&mut self, waiting: &Waiting) -> u64 {
        let (from, to) = (waiting.lbn, waiting.end());
        let now = self.now;
        self.settle();
        let memory = self.memory.as_mut().expect("it has memory");
        let buffer = memory.settings;
        let is_buffered = buffer.complete != Complete::OnMedium && !waiting.fua;
        let before = match (is_buffered, self.last_was_write) {
            (true, false) => buffer.buffered_after_read,
            (true, true) => buffer.buffered_after_write,
            (false, _) => self.before(true),
        };
        let ready = now.max(waiting.since + before);
        let (stop, filled) = self.interrupt(now);
        let start = ready + (stop - now);
        let memory = self.memory.as_mut().expect("it has memory");
        let segment = memory.segments.of_write((from, to), filled);
        memory.segments.touch(segment);
        memory.segments.replace((from, to), segment, filled);
        let block = self.case.drive.interface.write_block;
        let least = buffer.least_seek;
        let arrival = |count: u64| ready + count * block;
        let access = self
            .medium
            .write(self.arm, start, (from, to), least, arrival);
        let completion = self.case.drive.overhead.completion_write;
        let crossed = arrival(waiting.blocks);
        let end = match is_buffered {
            true => crossed,
            false => access.end(),
        };
        let memory = self.memory.as_mut().expect("it has memory");
        memory.segments.all[segment].limit = 0;
        memory.segments.all[segment].data = match buffer.hits_written_data && buffer.keeps_data {
            true => (from, to),
            false => (0, 0),
        };
        memory.written = access.end();
        memory.is_buffered = is_buffered;
        memory.flushed = match is_buffered {
            true => access.end(),
            false => end + completion,
        };
        self.ends.push((access.end(), End::Written));
        self.arm = access.arm;
        self.last_was_write = true;
        self.count("media_accesses", 1);
        self.count("read_modify_writes", access.rewritten);
        if is_buffered {
            self.count("buffered_writes", 1);
        }
        end + completion
    }

    /// Whether the medium writes what is complete already.
    pub fn is_writing(&self) -> bool {
        let memory = self.memory.as_ref();
        memory.is_some_and(|memory| memory.is_buffered && memory.written > self.now)
    }

    /// When a flush or a trim that arrives now is complete: a flush waits for what is being written.
    pub fn passes(&self, request: usize) -> u64 {
        let end = self.now + self.before(true);
        let flushed = self.memory.as_ref().map_or(0, |memory| memory.flushed);
        match self.asked(request).op {
            Op::Flush => end.max(flushed),
            _ => end,
        }
    }
}

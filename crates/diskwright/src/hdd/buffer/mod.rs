//! The buffer of a hard disk and the controller that fills and empties it.
//!
//! A request is served in one step: when it is picked, its whole course is known, and what the medium does behind its
//! completion (reading ahead, writing what was buffered) is a function of time, evaluated when the next request comes.

mod append;
mod data;
pub mod parameters;
mod pieces;
mod read_ahead;
mod read_pass;
mod segments;

use data::{Account, ReadTransfer, Source};
use parameters::{BufferDescription, PreSeek, Water, WriteCompletion};
use read_pass::ReadPass;
use segments::{Hit, Segments, State};

use super::access::{self, Arrivals};
use super::hardware::Hardware;
use super::interface::Interface;
use crate::geometry::layout::Run;
use crate::geometry::mechanics::{Arm, Mechanics};
use crate::random::Stream;
use crate::request::{Command, Op, Part, Parts, ServedBy};
use crate::units::{Lbn, Time};

/// Blocks that must have come before the medium takes the first, of a write with an extra disconnection: of a short one, and of
/// one of 45 blocks or more (DiskSim 4.0).
const EXTRA_DISCONNECTION_BLOCKS: [u32; 2] = [10, 15];

/// What the medium is at.
#[derive(Clone, Copy, Debug)]
enum Medium {
    /// Nothing.
    Free,
    /// It fills a segment.
    Reading {
        segment: u32,
        pass: ReadPass,
        /// The block before which it may not be interrupted.
        least: u64,
        /// The read that it began for, or the last one that joined it.
        owner: Owner,
        /// Whether a read joined it that gave it nothing more to read.
        is_kept: bool,
    },
    /// It empties a segment.
    Writing(Destage),
}

/// A read on its way over the bus while the medium runs ahead of it.
#[derive(Clone, Copy, Debug)]
struct Owner {
    /// The first block that crosses without a pause up to the last one.
    first: u64,
    /// The block behind its last one.
    end: u64,
    /// When that had crossed.
    crossed: Time,
    /// When it is complete.
    completion: Time,
}

impl Owner {
    const NONE: Owner = Owner {
        first: 0,
        end: 0,
        crossed: Time::ZERO,
        completion: Time::ZERO,
    };

    /// When the first block begins to cross.
    fn begins(&self, interface: Interface) -> Time {
        let blocks = (self.end - self.first) as u32;
        self.crossed.saturating_sub(interface.time(blocks))
    }

    /// The next block to cross at `at`.
    fn next(&self, interface: Interface, at: Time) -> u64 {
        let left = self.crossed.saturating_sub(at).ns() * 1000;
        let blocks = left.div_ceil(interface.block_ps.max(1));
        self.end.saturating_sub(blocks).max(self.first)
    }

    /// When the head that comes to `sector` at `at` may read it; a whole number of turns later where the segment of
    /// `size` blocks has no room at first.
    fn admits(&self, hardware: &Hardware, size: u64, sector: u64, at: Time) -> Time {
        let lbn = sector * u64::from(hardware.blocks_per_sector);
        let period = hardware.mechanics.spindle.period();
        if lbn < self.end || hardware.interface.block_ps == 0 {
            return at;
        }
        let mut at = at;
        while at < self.completion && lbn >= self.next(hardware.interface, at) + size {
            at += period;
        }
        at
    }
}

/// The way of written data from the buffer to the medium.
#[derive(Clone, Copy, Debug)]
struct Destage {
    segment: u32,
    /// The first block that is not on the medium yet, request by request.
    first: u64,
    /// The first block of its last request.
    last: u64,
    /// When all are on the medium.
    end: Time,
    /// When the arm was free for the last request of it: before that no further one joins.
    begun: Time,
    /// Where the arm is then.
    arm: Arm,
}

/// When the place that the head was over at `once` is under it, at `at` or later.
fn comes_round(mechanics: &Mechanics, once: Time, at: Time) -> Time {
    let period = mechanics.spindle.period().ns();
    let turns = at.saturating_sub(once).ns().div_ceil(period);
    once + Time::from_ns(turns * period)
}

/// What a buffer counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct BufferCounters {
    /// Reads all of whose blocks were in the buffer.
    pub hits: u64,
    /// Reads whose first blocks were.
    pub partial_hits: u64,
    /// Other reads.
    pub misses: u64,
    /// Hits, whole or not, on data that were being read at the time.
    pub joined: u64,
    /// Writes that were complete once they were buffered.
    pub buffered_writes: u64,
    /// Writes that joined the one before them on its way to the medium.
    pub appends: u64,
    /// Requests that interrupted reading ahead.
    pub interruptions: u64,
}

/// The state of a drive's buffer and medium.
#[derive(Debug)]
pub struct Buffer {
    description: BufferDescription,
    segments: Segments,
    arm: Arm,
    medium: Medium,
    /// The block behind the request before.
    last_end: u64,
    /// Draws what is left to chance.
    chance: Stream,
    /// Counters.
    pub counters: BufferCounters,
    /// What has moved since it was last asked for, where somebody asks.
    moves: Option<Vec<Move>>,
}

/// What serving a request comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// When it is complete.
    pub end: Time,
    /// When the arm may set off for the next request.
    pub released: Time,
    /// Where its data were.
    pub by: ServedBy,
    /// The segment that it used.
    pub segment: u32,
    /// Cylinders that the arm moved for it; `None` where it did not begin an access to the medium.
    pub moved: Option<u32>,
    /// Tracks on which a part of a physical sector was read, and written a revolution later.
    pub read_modify_writes: u32,
}

/// Consecutive blocks of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The segment.
    pub segment: u32,
    /// The first block.
    pub lbn: u64,
    /// How many.
    pub blocks: u32,
}

/// Data on their way between the medium and a segment: what a checker wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The medium filled blocks of a segment.
    Fill(Stretch),
    /// Blocks of a segment are on the medium.
    Drain(Stretch),
}

/// A request to serve.
#[derive(Clone, Copy, Debug)]
pub struct Service<'a> {
    /// What it asks.
    pub command: &'a Command,
    /// When the drive accepted it.
    pub accepted: Time,
    /// Now: when the medium has time for it.
    pub now: Time,
    /// When the bus is free of the request before.
    pub bus_free: Time,
    /// Whether the request before it was a write.
    pub after_write: bool,
}

impl Buffer {
    /// An empty buffer, over a medium at rest. What is left to chance is drawn from `chance`.
    pub fn new(description: BufferDescription, chance: Stream) -> Buffer {
        Buffer {
            segments: Segments::new(
                description.segments,
                description.segment_blocks(),
                description.write.own_segment,
                description.read.hits_written_data,
            ),
            description,
            arm: Arm::default(),
            medium: Medium::Free,
            last_end: 0,
            chance,
            counters: BufferCounters::default(),
            moves: None,
        }
    }

    /// What has moved since this was last called; from the first call on.
    pub fn moves(&mut self) -> std::vec::Drain<'_, Move> {
        self.moves.get_or_insert_default().drain(..)
    }

    /// Whether a completed write may be lost with the power.
    pub fn is_volatile(&self) -> bool {
        self.description.write.complete != WriteCompletion::OnMedium
    }

    /// Brings the state up to `now`.
    pub fn settle(&mut self, hardware: &Hardware, now: Time) {
        let per_sector = u64::from(hardware.blocks_per_sector);
        match &mut self.medium {
            Medium::Free => {}
            Medium::Reading {
                segment,
                pass,
                owner,
                ..
            } => {
                let number = *segment;
                let size = self.segments.size();
                let segment = self.segments.get_mut(number);
                let limit = segment.limit.div_ceil(per_sector);
                let mechanics = &hardware.mechanics;
                let may_fill_up = segment.limit > owner.end.min(segment.start) + size;
                let (reached, is_over) = loop {
                    let reached = pass.reached(mechanics, now).min(limit);
                    if may_fill_up
                        && let Some((full, from)) = pass.stalls(hardware, owner, size, reached)
                    {
                        if now < from {
                            break (full, false);
                        }
                        *pass = pass.again(mechanics, full, from);
                        continue;
                    }
                    if reached == limit {
                        let end = pass.passed(mechanics, limit.max(pass.first));
                        break (limit, now >= comes_round(mechanics, end, owner.completion));
                    }
                    if reached < pass.behind() {
                        break (reached, false);
                    }
                    match pass.next(mechanics) {
                        Some(next) => *pass = next,
                        None => break (reached, true),
                    }
                };
                let end = segment.end.max(reached * per_sector);
                if let Some(moves) = &mut self.moves
                    && end > segment.end
                {
                    moves.push(Move::Fill(Stretch {
                        segment: number,
                        lbn: segment.end,
                        blocks: (end - segment.end) as u32,
                    }));
                }
                segment.end = end;
                segment.clamp(size);
                if is_over {
                    self.arm = pass.arm();
                    self.finish(number);
                }
            }
            Medium::Writing(destage) => {
                let is_over = destage.end <= now;
                let (number, arm) = (destage.segment, destage.arm);
                // The arm is free for the last request once all before it are written.
                let behind = if is_over {
                    self.segments.get(number).end
                } else if destage.begun <= now {
                    destage.last
                } else {
                    destage.first
                };
                if let Some(moves) = &mut self.moves
                    && behind > destage.first
                {
                    moves.push(Move::Drain(Stretch {
                        segment: number,
                        lbn: destage.first,
                        blocks: (behind - destage.first) as u32,
                    }));
                }
                destage.first = behind;
                if is_over {
                    self.arm = arm;
                    self.finish(number);
                }
            }
        }
    }

    /// The medium has done with a segment.
    fn finish(&mut self, number: u32) {
        self.medium = Medium::Free;
        let keeps = self.description.keeps_data;
        let hits_written_data = self.description.read.hits_written_data;
        let size = self.segments.size();
        let segment = self.segments.get_mut(number);
        segment.clamp(size);
        segment.state = if keeps && (hits_written_data || !segment.written) {
            State::Clean
        } else {
            State::Empty
        };
    }

    /// When everything that was buffered so far is on the medium: `now`, or a later instant.
    pub fn destaged_at(&self, now: Time) -> Time {
        match &self.medium {
            Medium::Writing(destage) => destage.end.max(now),
            _ => now,
        }
    }

    /// Whether the medium does nothing, as of the last time that the state was brought up.
    pub fn is_at_rest(&self) -> bool {
        matches!(self.medium, Medium::Free)
    }

    /// When the medium has time for the next request: `now`, or a later instant.
    pub fn free_at(&self, hardware: &Hardware, now: Time) -> Time {
        match &self.medium {
            Medium::Free => now,
            Medium::Writing(destage) => destage.end.max(now),
            Medium::Reading { pass, least, .. } => {
                let sector = least.div_ceil(u64::from(hardware.blocks_per_sector));
                if sector <= pass.first {
                    return now;
                }
                pass.has_read(&hardware.mechanics, sector).max(now)
            }
        }
    }

    /// Where the arm is, or will be once what it does at `now` is interrupted.
    pub fn arm(&self) -> Arm {
        match &self.medium {
            Medium::Free => self.arm,
            Medium::Reading { pass, .. } => pass.arm(),
            Medium::Writing(destage) => destage.arm,
        }
    }

    /// The arm is moved without a request, from `now` on.
    pub fn travel(&mut self, hardware: &Hardware, now: Time, to: Arm) {
        self.stop(hardware, now);
        self.arm = to;
    }

    /// Interrupts reading ahead, if that is what the medium does: how long it takes from `now` on.
    fn stop(&mut self, hardware: &Hardware, now: Time) -> Time {
        let Medium::Reading { segment, pass, .. } = self.medium else {
            return Time::ZERO;
        };
        self.counters.interruptions += 1;
        self.arm = pass.arm();
        self.finish(segment);
        let within_sector = self.description.read_ahead.stops_within_sector;
        let end = if now < pass.arrived() {
            pass.arrived()
        } else if within_sector {
            now
        } else if now < pass.edge {
            pass.edge
        } else {
            let mechanics = &hardware.mechanics;
            let reached = pass.reached(mechanics, now);
            pass.passed(mechanics, (reached + 1).min(pass.behind()))
        };
        end.saturating_sub(now)
    }

    /// How much longer than it need the arm takes to the run of a write.
    fn lengthened(&self, hardware: &Hardware, command: &Command, run: &Run) -> Time {
        let least = self.description.write.least_seek;
        if least == Time::ZERO || command.lbn.0 == self.last_end {
            return Time::ZERO;
        }
        let motion = hardware
            .mechanics
            .motion_time(self.arm, Arm::over(run), true);
        least.saturating_sub(motion)
    }

    /// Serves a request that the medium has time for, after [`Self::settle`]. Adds what its time goes into from `now` on to `parts`.
    pub fn serve(
        &mut self,
        hardware: &Hardware,
        service: Service<'_>,
        parts: &mut Parts,
    ) -> Served {
        let mut account = Account {
            parts,
            until: service.now,
        };
        let served = match service.command.op {
            Op::Write => self.write(hardware, service, &mut account),
            _ => self.read(hardware, service, &mut account),
        };
        self.last_end = service.command.end().0;
        served
    }

    fn read(
        &mut self,
        hardware: &Hardware,
        service: Service<'_>,
        account: &mut Account<'_>,
    ) -> Served {
        let Service {
            command,
            accepted,
            now,
            bus_free,
            after_write,
        } = service;
        let mechanics = &hardware.mechanics;
        let per_sector = u64::from(hardware.blocks_per_sector);
        let (lbn, end) = (command.lbn.0, command.end().0);
        let (number, hit) = self.segments.for_read(command);
        let ready = accepted + hardware.overhead.before(false, after_write);
        let joins = hit != Hit::Miss
            && matches!(self.medium, Medium::Reading { segment, .. } if segment == number);
        let wait = if joins {
            Time::ZERO
        } else {
            self.stop(hardware, now)
        };
        self.count_read(hit, joins);
        self.segments.touch(number);
        if hit == Hit::Miss {
            self.segments
                .restart(number, Lbn(lbn / per_sector * per_sector));
        }
        let limit = self.read_ahead_limit(&mechanics.layout, per_sector, command, number);
        let begins = ready.max(now) + wait;
        let resumes = self.description.read_ahead.after_hits;
        let least = end + self.description.read_ahead.least.blocks();
        let out_of_turn = if self.description.read_ahead.while_waiting {
            (self.segments.size() / per_sector) as u32
        } else {
            0
        };
        let segment = self.segments.get_mut(number);
        let before = segment.limit;
        segment.limit = segment.limit.max(limit);
        let present = segment.end;
        let mut pass = None;
        let mut moved = None;
        if let Medium::Reading {
            pass: under_way,
            least: so_far,
            is_kept,
            ..
        } = &mut self.medium
        {
            *so_far = least.max(*so_far);
            if present == before && present < segment.limit {
                // The head has stayed on the track, and goes on when it comes to the place again: a request that joined it
                // before keeps it there until then, even if it is to go on with the next track.
                let sector = present / per_sector;
                let from = if *is_kept && sector == under_way.behind() {
                    comes_round(mechanics, under_way.end, now)
                } else {
                    now
                };
                *under_way = ReadPass::new(mechanics, under_way.arm(), from, sector, 0);
                *is_kept = false;
            } else {
                *is_kept = present == before;
            }
            pass = Some(*under_way);
        } else if present < end || resumes && present < segment.limit {
            let begun = ReadPass::new(
                mechanics,
                self.arm,
                begins,
                present / per_sector,
                out_of_turn,
            );
            segment.state = State::Reading;
            segment.written = false;
            self.medium = Medium::Reading {
                segment: number,
                pass: begun,
                least,
                owner: Owner::NONE,
                is_kept: false,
            };
            pass = Some(begun);
            moved = Some(self.arm.cylinder.abs_diff(begun.arm().cylinder));
        }

        let read = &self.description.read;
        let bus = &self.description.bus;
        let (hit_overhead, disconnect) = if after_write {
            (read.hit_after_write, bus.disconnect_read_after_write)
        } else {
            (read.hit_after_read, bus.disconnect_read_after_read)
        };
        let lateness = match read.late_hits {
            Some(late) if hit != Hit::Miss && self.chance.unit() < late.share => late.by,
            _ => Time::ZERO,
        };
        let water = self.high_water(command.blocks);
        let transfer = ReadTransfer {
            bus,
            disconnect,
            blocks: (lbn, end),
            water,
        };
        let enough = match hit {
            Hit::Whole => true,
            Hit::Partial => {
                read.partial_hits_at_once || present - lbn >= water.min(u64::from(command.blocks))
            }
            Hit::Miss => false,
        };
        let is_connected = !bus.disconnects || (now == accepted && bus_free <= now && enough);
        let decided = if hit == Hit::Miss || !is_connected {
            ready
        } else {
            accepted + hit_overhead + lateness
        };
        account.add(Part::Overhead, decided);
        if hit == Hit::Miss || !is_connected && hit == Hit::Partial {
            account.add(Part::Wait, begins);
        }
        let mut source = Source {
            hardware,
            size: self.segments.size(),
            present,
            pass,
            account: Account {
                parts: account.parts,
                until: account.until,
            },
        };
        let has_read = match pass {
            Some(pass) if present < end => pass.has_read(mechanics, end.div_ceil(per_sector)),
            _ => now,
        };
        let (first, last) = if is_connected {
            transfer.connected(
                decided.max(now).max(bus_free) + bus.preparation,
                &mut source,
            )
        } else {
            transfer.disconnected((ready + disconnect).max(now).max(bus_free), &mut source)
        };
        let is_large = u64::from(command.blocks) > self.segments.size();
        let stalled = source.pass.filter(|_| is_large);
        account.until = source.account.until;
        let crossing = hardware.interface.time(command.blocks);
        let bus_part = last.saturating_sub(account.until).min(crossing);
        account.add(Part::Wait, bus_free.min(last.saturating_sub(bus_part)));
        account.add(Part::Overhead, last.saturating_sub(bus_part));
        account.add(Part::Bus, last);
        let completion = last + hardware.overhead.completion(false);
        account.add(Part::Overhead, completion);
        if let Medium::Reading { owner, pass, .. } = &mut self.medium {
            if let Some(stalled) = stalled {
                *pass = stalled;
            }
            *owner = Owner {
                first,
                end,
                crossed: last,
                completion,
            };
        }
        let released = match self.description.pre_seek {
            PreSeek::AfterCompletion => completion,
            // Of one that is larger than a segment the medium may miss blocks up to the end.
            PreSeek::AfterMedium if !is_large => has_read.max(now),
            PreSeek::AfterMedium | PreSeek::WhileCompleting => last,
        };
        Served {
            end: completion,
            released,
            by: match hit {
                Hit::Whole => ServedBy::Buffer,
                Hit::Partial => ServedBy::Both,
                Hit::Miss => ServedBy::Medium,
            },
            segment: number,
            moved,
            read_modify_writes: 0,
        }
    }

    fn count_read(&mut self, hit: Hit, joins: bool) {
        let counters = &mut self.counters;
        match hit {
            Hit::Whole => counters.hits += 1,
            Hit::Partial => counters.partial_hits += 1,
            Hit::Miss => counters.misses += 1,
        }
        counters.joined += u64::from(joins);
    }

    /// Blocks that must be in the buffer before a read of `blocks` blocks takes the bus.
    fn high_water(&self, blocks: u32) -> u64 {
        let size = self.segments.size();
        let bus = &self.description.bus;
        match bus.water {
            Water::Request => {
                let counted = u64::from(blocks).min(size) as f64;
                libm::trunc(counted * bus.high_water) as u64
            }
            Water::Segment => libm::ceil(size as f64 * bus.high_water) as u64,
        }
        .max(1)
    }

    fn write(
        &mut self,
        hardware: &Hardware,
        service: Service<'_>,
        account: &mut Account<'_>,
    ) -> Served {
        let Service {
            command,
            accepted,
            now,
            bus_free,
            after_write,
        } = service;
        let write = &self.description.write;
        let bus = &self.description.bus;
        let is_buffered = self.is_volatile() && !command.fua;
        let overhead = match (is_buffered, after_write) {
            (true, false) => write.buffered_after_read,
            (true, true) => write.buffered_after_write,
            (false, _) => hardware.overhead.before(true, after_write),
        };
        let is_prompt = now == accepted || !bus.disconnects;
        let (mut ready, mut first) = (accepted + overhead, 1);
        let (mut disconnect, mut reselect) = (bus.disconnect_write, bus.reselect);
        let mut data = if is_prompt && bus_free <= now {
            ready.max(now) + bus.preparation
        } else if !bus.disconnects {
            ready.max(bus_free) + bus.preparation
        } else {
            bus_free.max(now).max(ready + disconnect) + reselect + bus.preparation
        };
        let disconnects = bus.disconnects;
        if let Some(destage) = self.joined(command, now) {
            self.counters.appends += 1;
            let crossed = data + hardware.interface.write_time(command.blocks);
            let done = self.append(hardware, command, destage, (ready, data));
            account.add(Part::Wait, bus_free.min(data));
            account.add(Part::Overhead, data);
            account.add(Part::Bus, crossed);
            let end = crossed + hardware.overhead.completion(true);
            account.add(Part::Overhead, end);
            return Served {
                end,
                released: end,
                by: ServedBy::Buffer,
                segment: destage.segment,
                moved: Some(0),
                read_modify_writes: done.read_modify_writes,
            };
        }
        let number = self.segments.for_write(command);
        let found = self.segments.get(number);
        if let Some(extra) = &write.extra_disconnection
            && self.segments.last_used() == number
            && found.written
            && found.end != command.lbn.0
        {
            let left = accepted + extra.command + extra.disconnect + extra.pause;
            data = bus_free.max(now).max(left) + reselect + bus.preparation;
            ready = accepted + extra.command + extra.seek;
            first =
                EXTRA_DISCONNECTION_BLOCKS[usize::from(command.blocks >= 45)].min(command.blocks);
            (disconnect, reselect) = (extra.second, bus.reselect_again);
        }
        let interrupted = match self.medium {
            Medium::Reading { segment, .. } => Some(segment),
            _ => None,
        };
        let wait = self.stop(hardware, now);
        self.segments.touch(number);
        self.segments.forget(command, number, interrupted);
        self.segments.restart(number, command.lbn);
        let segment = self.segments.get_mut(number);
        segment.end = command.end().0;
        segment.state = State::Writing;
        segment.written = true;
        let run = hardware.first_run(command);
        let begins = ready.max(now) + wait;
        let mut media_parts = Parts::default();
        let lengthened = self.lengthened(hardware, command, &run);
        media_parts.add(Part::Seek, lengthened);
        let moves = begins + lengthened;
        let arrivals = Arrivals { from: data, first };
        let (done, crossed) = if u64::from(command.blocks) > self.segments.size() {
            self.write_in_pieces(hardware, moves, arrivals, command, &mut media_parts)
        } else {
            let (arm, parts) = (self.arm, &mut media_parts);
            let done = access::write(hardware, arm, moves, arrivals, command, run, parts);
            (done, data + hardware.interface.write_time(command.blocks))
        };
        let moved = self.arm.cylinder.abs_diff(run.position.cylinder);
        let completion = hardware.overhead.completion(true);
        account.add(Part::Overhead, data.min(begins));
        let end = if is_buffered {
            self.counters.buffered_writes += 1;
            account.add(Part::Wait, bus_free.min(data));
            account.add(Part::Overhead, data);
            account.add(Part::Bus, crossed);
            crossed + completion
        } else {
            account.add(Part::Overhead, ready.max(now));
            account.add(Part::Wait, begins);
            for &part in Part::ALL {
                let end = account.until + media_parts.get(part);
                account.add(part, end);
            }
            account.add(Part::Bus, crossed);
            if disconnects {
                (crossed + disconnect).max(done.end) + reselect + completion
            } else {
                crossed.max(done.end) + completion
            }
        };
        account.add(Part::Overhead, end);
        let released = match self.description.pre_seek {
            PreSeek::WhileCompleting if !is_buffered => end - completion,
            PreSeek::AfterMedium if !is_buffered => done.end,
            _ => end,
        };
        self.medium = Medium::Writing(Destage {
            segment: number,
            first: command.lbn.0,
            last: command.lbn.0,
            end: if is_buffered { done.end } else { released },
            begun: now,
            arm: done.arm,
        });
        Served {
            end,
            released,
            by: if is_buffered {
                ServedBy::Buffer
            } else {
                ServedBy::Medium
            },
            segment: number,
            moved: Some(moved),
            read_modify_writes: done.read_modify_writes,
        }
    }
}

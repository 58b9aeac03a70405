//! The buffer of a hard disk and the controller that fills and empties it.
//!
//! A request is served in one step: when it is picked, its whole course is known, and what the medium does behind its
//! completion (reading ahead, writing what was buffered) is a function of time, evaluated when the next request comes.

mod append;
mod data;
mod owner;
mod pieces;
mod read;
mod read_ahead;
mod read_pass;
mod segments;
mod write;

use data::TimeAccount;
use owner::Owner;
use read_pass::ReadPass;
use segments::{Hit, Segments, State};

use serde_json::{Map, Value};

use super::buffer_description::{BufferDescription, WriteCompletion};
use super::hardware::Hardware;
use crate::base::random::Stream;
use crate::base::units::Time;
use crate::devices::hdd::tally::{Tally, Track};
use crate::engine::request::{Command, Op, ServedBy};
use crate::models::geometry::mechanics::{HeadPosition, Target};

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
    },
    /// It empties a segment.
    Writing(Destage),
}

/// The way of written data from the buffer to the medium.
#[derive(Clone, Copy, Debug)]
struct Destage {
    segment: u32,
    /// The first block that is not on the medium yet, request by request.
    first: u64,
    /// The first block of its last request.
    last: u64,
    /// When all before that are on the medium.
    before: Time,
    /// When all are on the medium.
    end: Time,
    /// When the arm was free for the last request of it: before that no further one joins.
    begun: Time,
    /// Where the arm is then.
    arm: HeadPosition,
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

impl BufferCounters {
    /// Adds them to a report.
    pub fn report(&self, report: &mut Map<String, Value>) {
        let counts = [
            ("buffer_hits", self.hits),
            ("buffer_partial_hits", self.partial_hits),
            ("buffer_misses", self.misses),
            ("buffer_hits_on_read_ahead", self.joined),
            ("buffered_writes", self.buffered_writes),
            ("appended_writes", self.appends),
            ("read_ahead_interruptions", self.interruptions),
        ];
        report.extend(counts.map(|(key, count)| (key.to_owned(), count.into())));
    }
}

/// The state of a drive's buffer and medium.
#[derive(Clone, Debug)]
pub struct Buffer {
    description: BufferDescription,
    segments: Segments,
    arm: HeadPosition,
    medium: Medium,
    /// Draws what is left to chance.
    chance: Stream,
    /// Counters.
    pub counters: BufferCounters,
    /// What has moved since it was last asked for, where somebody asks.
    moves: Option<Vec<Move>>,
    /// The tracks that have been read since they were last asked for, where somebody asks.
    tracks: Option<Vec<Track>>,
}

/// What serving a request comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferedService {
    /// When it is complete.
    pub end: Time,
    /// When the arm may set off for the next request.
    pub released: Time,
    /// When it needs the bus again after it has left it; `None` where it keeps it to the end.
    pub wants_bus: Option<Time>,
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
    /// Where its first sector is.
    pub target: &'a Target,
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
            arm: HeadPosition::default(),
            medium: Medium::Free,
            chance,
            counters: BufferCounters::default(),
            moves: None,
            tracks: None,
        }
    }

    /// The same with the arm somewhere else.
    #[must_use]
    pub fn starting_at(self, arm: HeadPosition) -> Buffer {
        Buffer { arm, ..self }
    }

    /// What has moved since this was last called; from the first call on.
    pub fn moves(&mut self) -> std::vec::Drain<'_, Move> {
        self.moves.get_or_insert_default().drain(..)
    }

    /// The tracks that have been read since this was last called, from the first call on.
    pub fn tracks(&mut self) -> std::vec::Drain<'_, Track> {
        self.tracks.get_or_insert_default().drain(..)
    }

    /// Whether a read's blocks do not all fit into a segment.
    pub fn is_larger_than_a_segment(&self, command: &Command) -> bool {
        u64::from(command.blocks) > self.segments.size()
    }

    /// Nobody asks for tracks any more.
    pub fn forget_tracks(&mut self) {
        self.tracks = None;
    }

    /// The tracks that will have been read by `now` if nothing comes, and how far the last one has been by then.
    pub fn tracks_until(&self, hardware: &Hardware, now: Time) -> Vec<Track> {
        let mut later = self.clone();
        later.tracks = Some(Vec::new());
        later.advance_to(hardware, now);
        let mut tracks = later.tracks.take().unwrap_or_default();
        if let Medium::Reading { pass, .. } = later.medium
            && pass.start < now
        {
            let until = later.paused_since(hardware, now).unwrap_or(now);
            tracks.push(pass.track(&hardware.mechanics, until));
        }
        tracks
    }

    /// Since when the medium has waited at `now` to go on with its track, where the segment has no room.
    fn paused_since(&self, hardware: &Hardware, now: Time) -> Option<Time> {
        let Medium::Reading {
            segment,
            pass,
            owner,
            ..
        } = &self.medium
        else {
            return None;
        };
        let mechanics = &hardware.mechanics;
        let limit = self.segments.get(*segment).limit;
        let limit = hardware.sector_behind(limit);
        let reached = pass.reached(mechanics, now).min(limit);
        let (full, from) = pass.stalls(hardware, owner, self.segments.size(), reached)?;
        (now < from).then(|| pass.passed(mechanics, full))
    }

    /// Whether a completed write may be lost with the power.
    pub fn is_volatile(&self) -> bool {
        self.description.write.complete != WriteCompletion::OnMedium
    }

    /// Brings the state up to `now`.
    pub fn advance_to(&mut self, hardware: &Hardware, now: Time) {
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
                let limit = hardware.sector_behind(segment.limit);
                let mechanics = &hardware.mechanics;
                let tracks = &mut self.tracks;
                let mut leave = |pass: &ReadPass, until: Time| {
                    if let Some(tracks) = tracks {
                        tracks.push(pass.track(mechanics, until));
                    }
                };
                let may_fill_up = segment.limit > owner.end.min(segment.start) + size;
                let (reached, is_over) = loop {
                    let reached = pass.reached(mechanics, now).min(limit);
                    if may_fill_up
                        && let Some((full, from)) = pass.stalls(hardware, owner, size, reached)
                    {
                        if now < from {
                            break (full, false);
                        }
                        leave(pass, pass.passed(mechanics, full));
                        *pass = pass.again(mechanics, full, from);
                        continue;
                    }
                    if reached == limit {
                        // The arm may have gone to a track of which nothing is wanted any more.
                        let until = match limit > pass.first {
                            true => pass.passed(mechanics, limit),
                            false => pass.arrived(),
                        };
                        leave(pass, until);
                        break (limit, true);
                    }
                    if reached < pass.behind() {
                        break (reached, false);
                    }
                    leave(pass, pass.end);
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
                let behind = if is_over {
                    self.segments.get(number).end
                } else if destage.before <= now {
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
                let sector = hardware.sector_behind(*least);
                if sector <= pass.first {
                    return now;
                }
                pass.has_read(&hardware.mechanics, sector).max(now)
            }
        }
    }

    /// Where the arm is, or will be once what it does at `now` is interrupted.
    pub fn arm(&self) -> HeadPosition {
        match &self.medium {
            Medium::Free => self.arm,
            Medium::Reading { pass, .. } => pass.arm(),
            Medium::Writing(destage) => destage.arm,
        }
    }

    /// The arm is moved without a request, once what it does at `now` is interrupted: how long that takes.
    pub fn travel(&mut self, hardware: &Hardware, now: Time, to: HeadPosition) -> Time {
        let wait = self.stop(hardware, now);
        self.arm = to;
        wait
    }

    /// Interrupts reading ahead, if that is what the medium does: how long it takes from `now` on.
    fn stop(&mut self, hardware: &Hardware, now: Time) -> Time {
        let Medium::Reading { segment, pass, .. } = &self.medium else {
            return Time::ZERO;
        };
        let segment = *segment;
        self.counters.interruptions += 1;
        self.arm = pass.arm();
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
        if self.tracks.is_some() {
            let until = self.paused_since(hardware, now);
            let left = pass.track(&hardware.mechanics, until.unwrap_or(end.max(now)));
            self.tracks.get_or_insert_default().push(left);
        }
        self.finish(segment);
        end.saturating_sub(now)
    }

    /// How long a command that comes now keeps the bus, before the drive leaves it or is done with it; `is_idle` where nothing else is
    /// to be done before.
    pub fn connection(
        &self,
        hardware: &Hardware,
        command: &Command,
        after_write: bool,
        is_idle: bool,
    ) -> Time {
        let bus = &self.description.bus;
        let (interface, overhead) = (&hardware.interface, &hardware.overhead);
        if command.op == Op::Write {
            let is_buffered = self.is_volatile() && !command.fua;
            let write = &self.description.write;
            let before = match (is_buffered, after_write) {
                (true, false) => write.buffered_after_read,
                (true, true) => write.buffered_after_write,
                (false, _) => overhead.before(true, after_write),
            };
            let behind = match is_buffered {
                true => overhead.completion(true),
                false => bus.disconnect_write,
            };
            return match is_idle {
                true => before + bus.preparation + interface.write_time(command.blocks) + behind,
                false => before + bus.disconnect_write,
            };
        }
        let read = &self.description.read;
        let (hit_overhead, disconnect) = match after_write {
            true => (read.hit_after_write, bus.disconnect_read_after_write),
            false => (read.hit_after_read, bus.disconnect_read_after_read),
        };
        let (number, hit) = self.segments.for_read(command);
        let present = self.segments.get(number).end.saturating_sub(command.lbn.0);
        let is_served_at_once = match hit {
            Hit::Whole => true,
            Hit::Partial => {
                let wanted = self.high_water(command.blocks).min(command.blocks.into());
                read.partial_hits_at_once || present >= wanted
            }
            Hit::Miss => false,
        };
        match is_idle && is_served_at_once {
            true => {
                hit_overhead
                    + bus.preparation
                    + interface.time(command.blocks)
                    + overhead.completion(false)
            }
            false => overhead.before(false, after_write) + disconnect,
        }
    }

    /// Serves a request that the medium has time for, after [`Self::advance_to`]. Adds what its time goes into from `now` on to `parts`.
    pub fn serve<T: Tally>(
        &mut self,
        hardware: &Hardware,
        service: Service<'_>,
        parts: &mut T,
    ) -> BufferedService {
        let mut account = TimeAccount {
            parts,
            until: service.now,
        };
        match service.command.op {
            Op::Write => self.write(hardware, service, &mut account),
            _ => self.read(hardware, service, &mut account),
        }
    }
}

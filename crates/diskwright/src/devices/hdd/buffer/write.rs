//! Writes: into the buffer, and on to the medium.

use super::data::TimeAccount;
use super::segments::State;
use super::{Buffer, BufferedService, Destage, Medium, Service};
use crate::base::units::Time;
use crate::devices::hdd::access::{self, Arrivals, Beginning};
use crate::devices::hdd::buffer_description::PreSeek;
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::tally::Tally;
use crate::engine::request::{Command, Part, ServedBy};
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::HeadPosition;

/// Blocks that must have come before the medium takes a sector of a write, on a drive that makes extra disconnections: of a short
/// write, and of one of 45 blocks or more (DiskSim 4.0).
const EXTRA_DISCONNECTION_BLOCKS: [u32; 2] = [10, 15];

impl Buffer {
    /// How much longer than it need the arm takes to the run that a write begins with, also where it need not move at all.
    pub(super) fn lengthened(&self, hardware: &Hardware, from: HeadPosition, run: &Run) -> Time {
        let least = self.description.write.least_seek;
        if least == Time::ZERO {
            return least;
        }
        let motion = hardware
            .mechanics
            .motion_time(from, HeadPosition::over(run), true);
        least.saturating_sub(motion)
    }

    /// How many of a write's blocks must have come before the medium takes any of its sectors. A drive that makes extra
    /// disconnections waits for them with every write, whether that has one or not.
    pub(super) fn wanted_first(&self, command: &Command) -> u32 {
        match self.description.write.extra_disconnection {
            None => 1,
            Some(_) => {
                let wanted = EXTRA_DISCONNECTION_BLOCKS[usize::from(command.blocks >= 45)];
                wanted.min(command.blocks)
            }
        }
    }

    pub(super) fn write<T: Tally>(
        &mut self,
        hardware: &Hardware,
        service: Service<'_>,
        account: &mut TimeAccount<'_, T>,
    ) -> BufferedService {
        let Service {
            command,
            target,
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
        let is_connected = !bus.disconnects || (now == accepted && bus_free <= now);
        let mut ready = accepted + overhead;
        let (mut disconnect, mut reselect) = (bus.disconnect_write, bus.reselect);
        let mut data = if is_connected {
            ready.max(now).max(bus_free) + bus.preparation
        } else {
            bus_free.max(now).max(ready + disconnect) + reselect + bus.preparation
        };
        let (disconnects, preparation) = (bus.disconnects, bus.preparation);
        if let Some(destage) = self.joined(command, now) {
            self.counters.appends += 1;
            let crossed = data + hardware.interface.write_time(command.blocks);
            let parts = &mut *account.parts;
            let done = self.append(hardware, (command, target), destage, (ready, data), parts);
            account.add(Part::Wait, bus_free.min(data));
            account.add(Part::Overhead, data);
            account.add(Part::Bus, crossed);
            let end = crossed + hardware.overhead.completion(true);
            account.add(Part::Overhead, end);
            return BufferedService {
                end,
                released: end,
                wants_bus: (!is_connected).then(|| data.saturating_sub(reselect + preparation)),
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
        let beginning = Beginning::of_command(command, target, hardware);
        let run = beginning.run;
        let begins = ready.max(now) + wait;
        let mut media_parts = T::default();
        media_parts.heads_for(HeadPosition::over(&run));
        let lengthened = self.lengthened(hardware, self.arm, &run);
        media_parts.add(Part::Seek, lengthened);
        let moves = begins + lengthened;
        let arrivals = Arrivals {
            from: data,
            first: self.wanted_first(command),
        };
        let (done, crossed) = if u64::from(command.blocks) > self.segments.size() {
            self.write_in_pieces(hardware, moves, arrivals, command, &mut media_parts)
        } else {
            let (arm, parts) = (self.arm, &mut media_parts);
            let done = access::write(hardware, arm, moves, arrivals, command, beginning, parts);
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
            account.add_each(&media_parts);
            account.add(Part::Bus, crossed);
            if disconnects {
                (crossed + disconnect).max(done.end) + reselect + completion
            } else {
                crossed.max(done.end) + completion
            }
        };
        account.add(Part::Overhead, end);
        account.parts.beside(begins, media_parts);
        let released = match self.description.pre_seek {
            PreSeek::WhileCompleting if !is_buffered => end - completion,
            PreSeek::AfterMedium if !is_buffered => done.end,
            _ => end,
        };
        self.medium = Medium::Writing(Destage {
            segment: number,
            first: command.lbn.0,
            last: command.lbn.0,
            before: now,
            end: if is_buffered { done.end } else { released },
            begun: now,
            arm: done.arm,
        });
        BufferedService {
            end,
            released,
            wants_bus: match is_buffered {
                true => (!is_connected).then(|| data.saturating_sub(reselect + preparation)),
                false => disconnects.then(|| end - completion - reselect),
            },
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

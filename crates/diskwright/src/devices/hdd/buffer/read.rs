//! Reads: what is in the buffer, what the medium brings, and how both cross the bus.

use super::data::{ReadTransfer, Source, TimeAccount};
use super::owner::Owner;
use super::read_pass::ReadPass;
use super::segments::{Hit, State};
use super::{Buffer, BufferedService, Medium, Service};
use crate::base::units::{Lbn, Time};
use crate::devices::hdd::access::Beginning;
use crate::devices::hdd::buffer_description::{PreSeek, Water};
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::tally::Tally;
use crate::engine::request::{Part, ServedBy};

impl Buffer {
    pub(super) fn read<T: Tally>(
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
            let begin = hardware.sector_of(lbn) * per_sector;
            self.segments.restart(number, Lbn(begin));
        }
        let limit = self.read_ahead_limit(hardware, (command, &target.run), number);
        let begins = ready.max(now) + wait;
        let resumes = self.description.read_ahead.after_hits;
        let least = end + self.description.read_ahead.least.blocks();
        let out_of_turn = if self.description.read_ahead.while_waiting {
            (self.segments.size() / per_sector) as u32
        } else {
            0
        };
        let segment = self.segments.get_mut(number);
        segment.limit = segment.limit.max(limit);
        let present = segment.end;
        let mut moved = None;
        if let Medium::Reading { least: so_far, .. } = &mut self.medium {
            *so_far = least.max(*so_far);
        } else if present < end || resumes && present < segment.limit {
            let sector = hardware.sector_of(present);
            let beginning = if sector == hardware.sector_of(lbn) {
                Beginning {
                    run: target.run,
                    edge: target.phase,
                }
            } else {
                let run = mechanics.layout.run(sector, u32::MAX);
                Beginning::of(run, &mechanics.spindle)
            };
            let to = beginning.run.position.cylinder;
            moved = Some(self.arm.cylinder.abs_diff(to));
            segment.state = State::Reading;
            segment.written = false;
            self.medium = Medium::Reading {
                segment: number,
                pass: ReadPass::new(
                    mechanics,
                    self.arm,
                    begins,
                    (sector, beginning),
                    out_of_turn,
                ),
                least,
                owner: Owner::NONE,
            };
        }
        let pass = match &self.medium {
            Medium::Reading { pass, .. } => Some(pass),
            _ => None,
        };

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
            later: None,
            account: TimeAccount {
                parts: account.parts,
                until: account.until,
            },
        };
        let (begun, (first, last)) = if is_connected {
            let start = decided.max(now).max(bus_free) + bus.preparation;
            (start, transfer.connected(start, &mut source))
        } else {
            transfer.disconnected((ready + disconnect).max(now).max(bus_free), &mut source)
        };
        let is_large = u64::from(command.blocks) > self.segments.size();
        let stalled = source.later.filter(|_| is_large);
        account.until = source.account.until;
        let crossing = hardware.interface.time(command.blocks);
        let bus_part = last.saturating_sub(account.until).min(crossing);
        account.add(Part::Wait, bus_free.min(last.saturating_sub(bus_part)));
        account.add(Part::Overhead, last.saturating_sub(bus_part));
        account.add(Part::Bus, last);
        let completion = last + hardware.overhead.completion(false);
        account.add(Part::Overhead, completion);
        let released = match self.description.pre_seek {
            PreSeek::AfterCompletion => completion,
            // Of one that is larger than a segment the medium may miss blocks up to the end.
            PreSeek::AfterMedium if !is_large => match pass {
                Some(pass) if present < end => {
                    let sector = hardware.sector_behind(end);
                    pass.has_read(mechanics, sector).max(now)
                }
                _ => now,
            },
            PreSeek::AfterMedium | PreSeek::WhileCompleting => last,
        };
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
        BufferedService {
            end: completion,
            released,
            wants_bus: (!is_connected)
                .then(|| begun.saturating_sub(bus.reselect + bus.preparation)),
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
    pub(super) fn high_water(&self, blocks: u32) -> u64 {
        let size = self.segments.size();
        let bus = &self.description.bus;
        let counted = match bus.water {
            Water::Request => size.min(blocks.into()),
            Water::Segment => size,
        };
        bus.water.blocks(bus.high_water, counted).max(1)
    }
}

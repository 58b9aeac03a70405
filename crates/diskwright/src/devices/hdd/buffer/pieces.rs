//! Writes of more blocks than a segment holds: they cross the bus piece by piece, as the medium makes room.

use super::Buffer;
use crate::base::units::{Lbn, Time};
use crate::devices::hdd::access::{self, Access, Arrivals, Beginning};
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::tally::Tally;
use crate::engine::request::{Command, Parts};
use crate::models::geometry::mechanics::HeadPosition;

/// A part of a write that crosses the bus in one go.
#[derive(Clone, Copy)]
struct WritePiece {
    command: Command,
    arrivals: Arrivals,
    /// Where the arm is when it turns to the piece, and when that is.
    arm: HeadPosition,
    begins: Time,
    done: Access,
}

impl WritePiece {
    fn write(
        hardware: &Hardware,
        command: Command,
        arrivals: Arrivals,
        (arm, begins): (HeadPosition, Time),
        parts: &mut impl Tally,
    ) -> WritePiece {
        let beginning = Beginning::of_command(&command, &hardware.target_of(&command), hardware);
        let done = access::write(hardware, arm, begins, arrivals, &command, beginning, parts);
        WritePiece {
            command,
            arrivals,
            arm,
            begins,
            done,
        }
    }

    /// When its blocks before `behind` are on the medium.
    fn written(&self, hardware: &Hardware, behind: u64) -> Time {
        let mut command = self.command;
        command.blocks = (behind - command.lbn.0) as u32;
        let from = (self.arm, self.begins);
        let parts = &mut Parts::default();
        WritePiece::write(hardware, command, self.arrivals, from, parts)
            .done
            .end
    }
}

impl Buffer {
    /// Writes a command that is larger than a segment, with an arm that begins to move at `begins`: what the medium does,
    /// and when the last block has crossed the bus.
    ///
    /// The bus is kept, or taken again once no more than the low water mark is left to write.
    #[inline(never)]
    pub(super) fn write_in_pieces(
        &self,
        hardware: &Hardware,
        begins: Time,
        arrivals: Arrivals,
        command: &Command,
        parts: &mut impl Tally,
    ) -> (Access, Time) {
        let bus = &self.description.bus;
        let sector = u64::from(hardware.blocks_per_sector);
        let size = self.segments.size();
        let is_kept = bus.kept_by_writes || !bus.disconnects;
        let mark = if is_kept { size } else { self.low_water() };
        // Room for a sector at least; pieces end where sectors do.
        let mark = mark.min(size - sector) / sector * sector;
        let up_to = |from: u64, blocks: u64| {
            let end = (from + blocks) / sector * sector;
            Command {
                lbn: Lbn(from),
                blocks: (end.min(command.end().0) - from) as u32,
                ..*command
            }
        };
        let first = up_to(command.lbn.0, size);
        let mut pieces = vec![WritePiece::write(
            hardware,
            first,
            arrivals,
            (self.arm, begins),
            parts,
        )];
        let mut draining = 0;
        let mut read_modify_writes = pieces[0].done.read_modify_writes;
        loop {
            let last = pieces[pieces.len() - 1];
            let end = last.command.end().0;
            let crossed = last.arrivals.from + hardware.interface.write_time(last.command.blocks);
            if end == command.end().0 {
                let done = Access {
                    read_modify_writes,
                    ..last.done
                };
                return (done, crossed);
            }
            let behind = end - mark;
            while pieces[draining].command.end().0 < behind {
                draining += 1;
            }
            let room = if behind > command.lbn.0 {
                pieces[draining].written(hardware, behind)
            } else {
                Time::ZERO
            };
            let from = if is_kept {
                crossed.max(room)
            } else {
                (crossed + bus.disconnect_write).max(room) + bus.reselect_again + bus.preparation
            };
            let piece = WritePiece::write(
                hardware,
                up_to(end, size - mark),
                Arrivals::from(from),
                (last.done.arm, last.done.end),
                parts,
            );
            read_modify_writes += piece.done.read_modify_writes;
            pieces.push(piece);
        }
    }

    /// Blocks that may be left in a full segment when a write takes the bus again.
    fn low_water(&self) -> u64 {
        let bus = &self.description.bus;
        bus.water.blocks(bus.low_water, self.segments.size())
    }
}

//! The hardware of a hard disk, as numbers.

use std::hint::select_unpredictable;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::buffer_description::BufferDescription;
use super::interface::Interface;
use crate::base::divide::Divisor;
use crate::base::random::Stream;
use crate::base::units::Time;
use crate::engine::request::{Command, Op};
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::{Mechanics, Target};

/// The controller's time for a command that needs the medium, by its kind and that of the request before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Overhead {
    /// Before a read that follows a read.
    pub read_after_read: Time,
    /// Before a read that follows a write.
    pub read_after_write: Time,
    /// Before a write that follows a read.
    pub write_after_read: Time,
    /// Before a write that follows a write.
    pub write_after_write: Time,
    /// After the data of a read have crossed the interface.
    pub completion_read: Time,
    /// After the data of a write are on the medium.
    pub completion_write: Time,
}

impl Overhead {
    /// The same time before every command, and none after it.
    pub fn before_any(time: Time) -> Overhead {
        Overhead {
            read_after_read: time,
            read_after_write: time,
            write_after_read: time,
            write_after_write: time,
            completion_read: Time::ZERO,
            completion_write: Time::ZERO,
        }
    }
    #[inline]
    pub(super) fn before(&self, write: bool, after_write: bool) -> Time {
        // Whether a request writes cannot be foreseen: no branch hangs on it.
        let read = select_unpredictable(after_write, self.read_after_write, self.read_after_read);
        let written =
            select_unpredictable(after_write, self.write_after_write, self.write_after_read);
        select_unpredictable(write, written, read)
    }
    #[inline]
    pub(super) fn completion(&self, write: bool) -> Time {
        select_unpredictable(write, self.completion_write, self.completion_read)
    }
}

/// The hardware of a hard disk, ready to run.
pub struct Hardware {
    /// What decides positioning times.
    pub mechanics: Mechanics,
    /// 512-byte blocks in a physical sector.
    pub blocks_per_sector: u32,
    by_sector: Divisor,
    /// Command overheads.
    pub overhead: Overhead,
    /// The interface.
    pub interface: Interface,
    /// Where what it leaves to chance is drawn from.
    pub chance: Stream,
    /// The buffer, where the drive has one.
    pub buffer: Option<BufferDescription>,
}

impl Hardware {
    /// The hardware of these parts, with at least one 512-byte block in a physical sector; what it leaves to chance is drawn from a stream of
    /// its own.
    pub fn new(
        mechanics: Mechanics,
        blocks_per_sector: u32,
        overhead: Overhead,
        interface: Interface,
        buffer: Option<BufferDescription>,
    ) -> Hardware {
        let per_sector = u64::from(blocks_per_sector);
        Hardware {
            mechanics,
            blocks_per_sector,
            by_sector: Divisor::new(per_sector, u64::MAX / per_sector - 1),
            overhead,
            interface,
            chance: Stream::new(0, "hdd"),
            buffer,
        }
    }

    /// The physical sector that a block is in.
    #[inline]
    pub fn sector_of(&self, block: u64) -> u64 {
        self.by_sector.divide(block).0
    }

    /// The physical sector behind that of the last block before another.
    #[inline]
    pub fn sector_behind(&self, block: u64) -> u64 {
        self.sector_of(block + u64::from(self.blocks_per_sector) - 1)
    }

    /// The physical sectors in which a command's blocks are: the first, and the one behind the last.
    #[inline]
    pub fn sectors_of(&self, command: &Command) -> (u64, u64) {
        let (first, end) = (command.lbn, command.end());
        (self.sector_of(first.0), self.sector_behind(end.0))
    }

    /// The track of a command's first sector, from that sector to the track's end.
    #[inline]
    pub fn track_of(&self, command: &Command) -> Run {
        let mut track = Run::default();
        self.write_track_of(command, &mut track);
        track
    }

    /// [`Self::track_of`], written where it is wanted.
    #[inline]
    pub fn write_track_of(&self, command: &Command, track: &mut Run) {
        let first = self.sector_of(command.lbn.0);
        self.mechanics.layout.write_run(first, u32::MAX, track);
    }

    /// Where a command's first sector is.
    #[inline]
    pub fn target_of(&self, command: &Command) -> Target {
        let track = self.track_of(command);
        self.mechanics.target(track, command.op == Op::Write)
    }

    /// The first of a command's sectors, up to the end of their track: those of `track`, which is
    /// [its track](Self::track_of), that it wants.
    #[inline]
    pub fn first_run(&self, command: &Command, track: &Run) -> Run {
        let (first, end) = self.sectors_of(command);
        let wanted = (end - first) as u32;
        if wanted >= track.sectors {
            return *track;
        }
        if track.sectors != track.span {
            return self.mechanics.layout.run(first, wanted);
        }
        Run {
            sectors: wanted,
            span: wanted,
            ..*track
        }
    }

    /// Capacity in 512-byte blocks.
    pub fn blocks(&self) -> u64 {
        self.mechanics.layout.sectors() * u64::from(self.blocks_per_sector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::drives;
    use crate::devices::hdd::drive::DriveDescription;

    #[test]
    fn blocks_are_in_sectors() {
        let text = drives::text("hp-c3323a").expect("a drive of the library");
        let description: DriveDescription = toml::from_str(text).expect("a sound description");
        for per_sector in [1u32, 2, 3, 8, 128] {
            let sound = description.hardware().expect("a sound description");
            let hardware = Hardware::new(
                sound.mechanics,
                per_sector,
                sound.overhead,
                sound.interface,
                None,
            );
            let per_sector = u64::from(per_sector);
            for block in (0..300).chain((1 << 49) - 300..1 << 49) {
                let of = hardware.sector_of(block);
                let behind = hardware.sector_behind(block);
                assert!((of * per_sector..(of + 1) * per_sector).contains(&block));
                // The first sector that begins at the block or behind it.
                assert!(behind * per_sector >= block);
                assert!(behind == 0 || (behind - 1) * per_sector < block);
            }
        }
    }
}

//! The medium of the twin: one sector after the other, with the library's geometry and mechanics.

use diskwright::base::units::Time;
use diskwright::devices::hdd::Hardware;
use diskwright::models::geometry::layout::Run;
use diskwright::models::geometry::mechanics::HeadPosition;

/// A drive's hardware, as the twin asks for it. Instants and times are ns.
pub struct Medium {
    hardware: Hardware,
}

/// One piece of read-ahead, on one track.
pub struct Passing {
    /// Where the arm goes.
    pub to: HeadPosition,
    /// When it is there.
    pub there: u64,
    /// When each sector has passed.
    pub ends: Vec<u64>,
}

impl Medium {
    pub fn new(hardware: Hardware) -> Medium {
        Medium { hardware }
    }

    /// Blocks of a physical sector.
    pub fn sector(&self) -> u64 {
        self.hardware.blocks_per_sector.into()
    }

    pub fn blocks(&self) -> u64 {
        self.hardware.blocks()
    }

    /// The controller's time before a request of a kind.
    pub fn before(&self, write: bool) -> u64 {
        let overhead = &self.hardware.overhead;
        match write {
            true => overhead.write_after_write.ns(),
            false => overhead.read_after_read.ns(),
        }
    }

    /// The controller's time after a request of a kind.
    pub fn after(&self, write: bool) -> u64 {
        let overhead = &self.hardware.overhead;
        match write {
            true => overhead.completion_write.ns(),
            false => overhead.completion_read.ns(),
        }
    }

    /// The time of blocks on the interface.
    pub fn crossing(&self, blocks: u64, write: bool) -> u64 {
        let interface = &self.hardware.interface;
        let block_ps = match write {
            true => interface.write_block_ps,
            false => interface.block_ps,
        };
        (block_ps * blocks).div_ceil(1000)
    }

    /// The sectors from that of a block to the end of its track.
    fn track(&self, block: u64) -> Run {
        let sector = block / self.sector();
        self.hardware.mechanics.layout.run(sector, u32::MAX)
    }

    /// The block behind the last one of a block's track.
    pub fn track_end(&self, block: u64) -> u64 {
        (block / self.sector() + u64::from(self.track(block).sectors)) * self.sector()
    }

    pub fn motion(&self, from: HeadPosition, to: HeadPosition, write: bool) -> u64 {
        self.hardware.mechanics.motion_time(from, to, write).ns()
    }

    /// When a place of several sectors on a track without skew comes by from `now` on, and when it has passed.
    pub fn pass_place(&self, now: u64, from: u64, sectors: u64, per_track: u64) -> (u64, u64) {
        let spindle = &self.hardware.mechanics.spindle;
        let phase = spindle.phase(Time::from_ns(now));
        let (wait, whole) = spindle.pass(phase, from as u32, sectors as u32, per_track as u32);
        (now + wait.ns(), now + whole.ns())
    }

    pub fn cylinders(&self) -> u32 {
        self.hardware.mechanics.layout.cylinders()
    }

    pub fn surfaces(&self) -> u32 {
        self.hardware.mechanics.layout.surfaces()
    }

    /// The cylinder in the middle of one of `parts` equal parts of all.
    pub fn middle(&self, part: u64, parts: u64) -> u32 {
        let cylinders = u64::from(self.cylinders());
        ((2 * part + 1) * cylinders / (2 * parts)) as u32
    }

    /// Sectors on a track of a cylinder.
    pub fn track_sectors(&self, cylinder: u32) -> u64 {
        let mut zones = self.hardware.mechanics.layout.zones().iter();
        let its =
            zones.find(|zone| (zone.first_cylinder()..=zone.last_cylinder()).contains(&cylinder));
        its.expect("a zone has it").sectors_per_track().into()
    }

    /// When a sector has passed for which an arm on its track waits from `now` on, and when it began to.
    fn pass(&self, now: u64, sector: u64) -> (u64, u64) {
        let mechanics = &self.hardware.mechanics;
        let run = mechanics.layout.run(sector, 1);
        let phase = mechanics.spindle.phase(Time::from_ns(now));
        let (wait, whole) = mechanics
            .spindle
            .pass(phase, run.angle, 1, run.sectors_per_track);
        (now + wait.ns(), now + whole.ns())
    }

    /// From `now` to the instant at which the sector of a block comes by.
    pub fn positioning(&self, arm: HeadPosition, now: u64, block: u64, write: bool) -> u64 {
        let there = now + self.motion(arm, HeadPosition::over(&self.track(block)), write);
        self.pass(there, block / self.sector()).0 - now
    }

    /// Reads or writes the blocks of `from..to`, moving from `start` on: when it is done, and where the arm is then.
    pub fn access(
        &self,
        mut arm: HeadPosition,
        start: u64,
        (from, to): (u64, u64),
        write: bool,
    ) -> (u64, HeadPosition) {
        let size = self.sector();
        let is_partial = |sector: &u64| write && (sector * size < from || (sector + 1) * size > to);
        let end = to.div_ceil(size);
        let (mut now, mut sector) = (start, from / size);
        while sector < end {
            let run = self
                .hardware
                .mechanics
                .layout
                .run(sector, (end - sector) as u32);
            let there = HeadPosition::over(&run);
            now += self.motion(arm, there, write);
            arm = there;
            let on_track = sector..sector + u64::from(run.sectors);
            let partial: Vec<u64> = on_track.clone().filter(is_partial).collect();
            if let (Some(&first), Some(&last)) = (partial.first(), partial.last()) {
                now = (first..=last).fold(now, |now, sector| self.pass(now, sector).1);
            }
            sector = on_track.end;
            now = on_track.fold(now, |now, sector| self.pass(now, sector).1);
        }
        (now, arm)
    }

    /// Reads the sectors of one track in which blocks are, one after the other, moving from `now` on.
    pub fn piece(&self, arm: HeadPosition, now: u64, (from, to): (u64, u64)) -> Passing {
        let arrived = HeadPosition::over(&self.track(from));
        let there = now + self.motion(arm, arrived, false);
        let mut at = there;
        let sectors = from / self.sector()..to.div_ceil(self.sector());
        let ends = sectors.map(|sector| {
            at = self.pass(at, sector).1;
            at
        });
        Passing {
            to: arrived,
            there,
            ends: ends.collect(),
        }
    }
}

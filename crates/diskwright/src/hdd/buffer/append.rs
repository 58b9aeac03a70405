//! Writes that go on where the one before them ended and join it on its way to the medium.

use super::{Buffer, Destage, Medium};
use crate::geometry::mechanics::Arm;
use crate::hdd::access::{self, Access, Arrivals};
use crate::hdd::buffer::parameters::WriteCompletion;
use crate::hdd::hardware::Hardware;
use crate::request::{Command, Op, Parts};
use crate::units::Time;

impl Buffer {
    /// Whether a write, one of `waiting` requests at `now`, joins what is on its way to the medium.
    pub fn joins(&self, command: &Command, waiting: usize, now: Time) -> bool {
        let alone = self.description.write.complete == WriteCompletion::BufferedAlone;
        (waiting == 1 || !alone) && self.joined(command, now).is_some()
    }

    /// What a write joins.
    pub(super) fn joined(&self, command: &Command, now: Time) -> Option<Destage> {
        let write = &self.description.write;
        let is_buffered = write.complete != WriteCompletion::OnMedium && !command.fua;
        let Medium::Writing(destage) = self.medium else {
            return None;
        };
        let goes_on = command.op == Op::Write
            && write.appends
            && is_buffered
            && destage.end > now
            && destage.begun <= now
            && self.segments.get(destage.segment).end == command.lbn.0;
        // Room is counted as if none of the request before were on the medium yet.
        let has_room = || command.lbn.0 - destage.last < self.segments.size();
        (goes_on && has_room()).then_some(destage)
    }

    /// Writes what joins `destage`: the arm may go on with it at once as far as its blocks come in time, and then
    /// writes it whole, as a request of its own.
    ///
    /// The second pass over the same blocks is DiskSim's; all that it does is to keep the medium busy.
    pub(super) fn append(
        &mut self,
        hardware: &Hardware,
        command: &Command,
        destage: Destage,
        (ready, data): (Time, Time),
    ) -> Access {
        self.segments.forget(command, destage.segment, None);
        let segment = self.segments.get_mut(destage.segment);
        segment.end = command.end().0;
        let (arm, free) = in_passing(hardware, command, destage, data);
        let done = access::write(
            hardware,
            arm,
            ready.max(free),
            Arrivals::from(data),
            command,
            hardware.first_run(command),
            &mut Parts::default(),
        );
        self.medium = Medium::Writing(Destage {
            end: done.end,
            last: command.lbn.0,
            begun: free,
            arm: done.arm,
            ..destage
        });
        done
    }
}

/// Where and when the arm has written what goes on without a pause behind `destage`, of blocks that cross from `data` on.
fn in_passing(hardware: &Hardware, command: &Command, destage: Destage, data: Time) -> (Arm, Time) {
    let mechanics = &hardware.mechanics;
    let per_sector = u64::from(hardware.blocks_per_sector);
    let (mut arm, mut now) = (destage.arm, destage.end);
    let mut sector = command.lbn.0 / per_sector;
    let end = command.end().0.div_ceil(per_sector);
    while sector < end {
        let behind = ((sector + 1) * per_sector).min(command.end().0);
        let arrived = data
            + hardware
                .interface
                .write_time((behind - command.lbn.0) as u32);
        if arrived > now {
            break;
        }
        let run = mechanics.layout.run(sector, 1);
        now += mechanics.motion_time(arm, Arm::over(&run), true);
        arm = Arm::over(&run);
        let phase = mechanics.spindle.phase(now);
        now += mechanics
            .spindle
            .pass(phase, run.angle, 1, run.sectors_per_track)
            .1;
        sector += 1;
    }
    (arm, now)
}

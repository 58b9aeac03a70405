//! Writes that go on where the one before them ended and join it on its way to the medium.

use super::{Buffer, Destage, Medium};
use crate::base::units::{Lbn, Time};
use crate::devices::hdd::access::{self, Access, Arrivals, Beginning};
use crate::devices::hdd::buffer_description::WriteCompletion;
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::tally::{SlotSpan, Tally};
use crate::engine::request::{Command, Op, Part};
use crate::models::geometry::mechanics::{HeadPosition, Target};

impl Buffer {
    /// The block with which a write must begin that joins what is on its way to the medium, one of `waiting` requests at
    /// `now`; `None` where none may.
    pub fn awaits(&self, waiting: usize, now: Time) -> Option<Lbn> {
        let alone = self.description.write.complete == WriteCompletion::BufferedAlone;
        let (_, next) = (waiting == 1 || !alone)
            .then(|| self.open_destage(now))
            .flatten()?;
        Some(next)
    }

    /// Whether a command is a write that joins where `next` is awaited.
    #[inline]
    pub fn joins(command: &Command, next: Lbn) -> bool {
        command.op == Op::Write && !command.fua && command.lbn == next
    }

    /// What a write joins.
    pub(super) fn joined(&self, command: &Command, now: Time) -> Option<Destage> {
        let (destage, next) = self.open_destage(now)?;
        Self::joins(command, next).then_some(destage)
    }

    /// What is on its way to the medium, where more may join it, and the block with which that begins.
    fn open_destage(&self, now: Time) -> Option<(Destage, Lbn)> {
        let write = &self.description.write;
        let Medium::Writing(destage) = self.medium else {
            return None;
        };
        let next = self.segments.get(destage.segment).end;
        let is_open = write.appends
            && write.complete != WriteCompletion::OnMedium
            && destage.end > now
            && destage.begun <= now
            // Room is counted as if none of the request before were on the medium yet.
            && next - destage.last < self.segments.size();
        is_open.then_some((destage, Lbn(next)))
    }

    /// Writes what joins `destage`: the arm may go on with it at once as far as its blocks come in time, and then
    /// writes it whole, as a request of its own.
    ///
    /// The second pass over the same blocks is DiskSim's; all that it does is to keep the medium busy.
    #[inline(never)]
    pub(super) fn append<T: Tally>(
        &mut self,
        hardware: &Hardware,
        (command, target): (&Command, &Target),
        destage: Destage,
        (ready, data): (Time, Time),
        parts: &mut T,
    ) -> Access {
        self.segments.forget(command, destage.segment, None);
        let segment = self.segments.get_mut(destage.segment);
        segment.end = command.end().0;
        let (mut passing, mut whole) = (T::default(), T::default());
        let arrivals = Arrivals {
            from: data,
            first: self.wanted_first(command),
        };
        let (arm, free) = in_passing(hardware, command, destage, arrivals, &mut passing);
        let begins = ready.max(free);
        let beginning = Beginning::of_command(command, target, hardware);
        // The arm that has just ended what is before it goes on at once.
        let lengthened = match ready > free {
            true => self.lengthened(hardware, arm, &beginning.run),
            false => Time::ZERO,
        };
        whole.add(Part::Seek, lengthened);
        let moves = begins + lengthened;
        let done = access::write(
            hardware, arm, moves, arrivals, command, beginning, &mut whole,
        );
        parts.beside(destage.end, passing);
        parts.beside(begins, whole);
        self.medium = Medium::Writing(Destage {
            end: done.end,
            last: command.lbn.0,
            before: destage.end,
            begun: free,
            arm: done.arm,
            ..destage
        });
        done
    }
}

/// Where and when the arm has written what goes on without a pause behind `destage`, of blocks that cross as `arrivals` says.
fn in_passing<T: Tally>(
    hardware: &Hardware,
    command: &Command,
    destage: Destage,
    arrivals: Arrivals,
    parts: &mut T,
) -> (HeadPosition, Time) {
    let mechanics = &hardware.mechanics;
    let per_sector = u64::from(hardware.blocks_per_sector);
    let (mut arm, mut now) = (destage.arm, destage.end);
    let (mut sector, end) = hardware.sectors_of(command);
    while sector < end {
        let behind = ((sector + 1) * per_sector).min(command.end().0);
        let blocks = ((behind - command.lbn.0) as u32).max(arrivals.first);
        let arrived = arrivals.from + hardware.interface.write_time(blocks);
        if arrived > now {
            break;
        }
        let run = mechanics.layout.run(sector, 1);
        let to = HeadPosition::over(&run);
        now += mechanics.motion_time(arm, to, true);
        parts.moves(mechanics, arm, to, true);
        arm = to;
        let phase = mechanics.spindle.phase(now);
        let per_track = run.sectors_per_track;
        let (wait, passed) = mechanics.spindle.pass(phase, run.angle, 1, per_track);
        parts.awaits(SlotSpan::new(run.angle, 1, per_track));
        parts.add(Part::Rotation, wait);
        parts.add(Part::Transfer, passed - wait);
        now += passed;
        sector += 1;
    }
    (arm, now)
}

//! One media access from the end of the command's overhead to the end of the transfer, in closed form: no
//! event a sector, a track or a chunk.

use super::hardware::Hardware;
use super::interface::Interface;
use super::tally::{SlotSpan, Tally};
use crate::base::units::Time;
use crate::engine::request::{Command, Part};
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::{HeadPosition, Mechanics, Target};
use crate::models::geometry::spindle::{PassingSlots, Phase, Spindle};

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// When the last block is on the medium, or in the host for a read.
    pub end: Time,
    /// Where the arm is then.
    pub arm: HeadPosition,
    /// Tracks on which a part of a physical sector was read, and written a revolution later.
    pub read_modify_writes: u32,
}

/// An arm that begins an access.
#[derive(Clone, Copy, Debug)]
pub struct Begin<'a> {
    /// The platters as its heads see them.
    pub spindle: &'a Spindle,
    /// Where it is.
    pub arm: HeadPosition,
    /// When it may begin to move.
    pub at: Time,
}

/// The way of one access through the medium.
struct Pass<'a, T> {
    mechanics: &'a Mechanics,
    spindle: &'a Spindle,
    arm: HeadPosition,
    now: Time,
    parts: &'a mut T,
}

impl<T: Tally> Pass<'_, T> {
    /// Moves to the run's track.
    fn move_to(&mut self, run: &Run, write: bool) {
        let to = HeadPosition::over(run);
        let motion = self.mechanics.motion(self.arm, to, write);
        self.parts.heads_for(to);
        self.parts.add(Part::Seek, motion.seek);
        self.parts.add(Part::HeadSwitch, motion.head_switch);
        self.parts.add(Part::Settle, motion.settle);
        self.now += motion.total();
        self.arm = to;
    }

    /// Waits for the edge of the first of these slots, which is at phase `edge`.
    #[inline]
    fn wait_for(&mut self, slots: SlotSpan, edge: Phase) -> PassingSlots {
        let (wait, passing) = self.come_by(self.now, slots, edge);
        self.parts.awaits(slots);
        self.parts.add(Part::Rotation, wait);
        self.now += wait;
        passing
    }

    /// The wait for the edge of the first of these slots, which is at phase `edge`, from an instant on.
    #[inline]
    fn come_by(&self, at: Time, slots: SlotSpan, edge: Phase) -> (Time, PassingSlots) {
        let spindle = self.spindle;
        spindle.come_by_edge(spindle.phase(at), edge, slots.first, slots.per_track)
    }

    /// Passes over slots whose first edge comes by now.
    #[inline]
    fn pass(&mut self, passing: &PassingSlots, count: u32) {
        let time = self.spindle.passing(passing, count);
        self.parts.add(Part::Transfer, time);
        self.now += time;
    }

    /// Reads the slots of a run that are written in part only.
    #[inline(never)]
    fn reread(&mut self, run: &Run, read: &Reread) {
        let per_track = run.sectors_per_track;
        let first = (run.angle + read.first) % per_track;
        let slots = SlotSpan::new(first, read.slots, per_track);
        let passing = self.wait_for(slots, self.spindle.edge(first, per_track));
        self.pass(&passing, read.slots);
    }

    /// The phase at which the first sector's edge of a run comes by.
    #[inline]
    fn edge(&self, run: &Run) -> Phase {
        self.spindle.edge(run.angle, run.sectors_per_track)
    }
}

/// Reads a command's blocks, beginning to move at `start`; `first` is what they begin with.
///
/// Blocks cross the interface as they come off the medium, or after the last one where the interface does
/// not overlap. `blocks_per_sector` blocks leave the medium together, when their sector has passed.
pub fn read<T: Tally>(
    hardware: &Hardware,
    arm: HeadPosition,
    start: Time,
    command: &Command,
    first: Beginning,
    parts: &mut T,
) -> Access {
    let begin = Begin {
        spindle: &hardware.mechanics.spindle,
        arm,
        at: start,
    };
    let piece = read_piece(hardware, begin, Time::ZERO, command, first, parts);
    let end = if hardware.interface.overlapped {
        piece.on_bus
    } else {
        piece.end + hardware.interface.time(command.blocks)
    };
    parts.add(Part::Bus, end - piece.end);
    Access {
        end,
        arm: piece.arm,
        read_modify_writes: 0,
    }
}

/// The first run of an access, and the phase at which its first sector's edge comes by.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// The run.
    pub run: Run,
    /// The phase.
    pub edge: Phase,
}

impl Beginning {
    /// With a run.
    pub fn of(run: Run, spindle: &Spindle) -> Beginning {
        Beginning {
            run,
            edge: spindle.edge(run.angle, run.sectors_per_track),
        }
    }

    /// Of a command whose first sector is at `target`.
    #[inline]
    pub fn of_command(command: &Command, target: &Target, hardware: &Hardware) -> Beginning {
        Beginning {
            run: hardware.first_run(command, &target.run),
            edge: target.phase,
        }
    }
}

/// A piece of a read that is on its way to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPiece {
    /// When the last block is off the medium.
    pub end: Time,
    /// When it has crossed the interface, where that overlaps; not before `end`.
    pub on_bus: Time,
    /// Where the arm is at `end`.
    pub arm: HeadPosition,
}

/// Reads one of several pieces of which a request is made: a command's blocks, whose first run is `first`. Blocks of earlier pieces
/// keep the interface busy until `on_bus`. The time that blocks need to cross it after `end` is in no part yet.
#[inline(always)]
pub fn read_piece<T: Tally>(
    hardware: &Hardware,
    begin: Begin<'_>,
    mut on_bus: Time,
    command: &Command,
    first: Beginning,
    parts: &mut T,
) -> ReadPiece {
    let Hardware {
        mechanics,
        interface,
        ..
    } = hardware;
    let mut sectors = Sectors::new(command, hardware);
    let mut pass = Pass {
        mechanics,
        spindle: begin.spindle,
        arm: begin.arm,
        now: begin.at,
        parts,
    };
    let Beginning { mut run, mut edge } = first;
    loop {
        pass.move_to(&run, false);
        let slots = SlotSpan::new(run.angle, run.span, run.sectors_per_track);
        let passing = pass.wait_for(slots, edge);
        let began = pass.now;
        pass.pass(&passing, run.span);
        if interface.overlapped {
            let passes = (began, &passing, pass.now);
            on_bus = crossed(&pass, interface, &sectors, &run, passes, on_bus);
        }
        sectors.advance(run.sectors);
        if sectors.left == 0 {
            break;
        }
        run = mechanics.layout.run(sectors.next, sectors.left);
        edge = pass.edge(&run);
    }
    ReadPiece {
        end: pass.now,
        on_bus: on_bus.max(pass.now),
        arm: pass.arm,
    }
}

/// Twice what instants of a run's sectors may lose by being rounded to nanoseconds, and more.
const ROUNDED: Time = Time::from_ns(8);

/// When the blocks of a run, whose first sector's edge passed at `edge`, as `passing` tells, and whose last sector ended at `end`, have
/// crossed the interface, if that was free from `free` on.
///
/// It is held up longest behind some one sector, whose blocks and all later ones then queue. Where sectors pass evenly that
/// is the first or the last one, or the second where the first is wanted in part only.
#[inline]
fn crossed<T>(
    pass: &Pass<'_, T>,
    interface: &Interface,
    sectors: &Sectors,
    run: &Run,
    (edge, passing, end): (Time, &PassingSlots, Time),
    free: Time,
) -> Time {
    let is_plain = run.sectors == run.span && sectors.before == 0 && sectors.behind == 0;
    if !is_plain {
        return crossed_in_parts(pass, interface, sectors, run, (edge, passing, end), free);
    }
    let of_sector = interface.time(sectors.blocks_per_sector);
    // Where the interface keeps pace with the medium, the last sector's blocks wait for no others.
    let crossing = of_sector.ns() * u64::from(run.sectors) + ROUNDED.ns();
    if free <= edge && crossing <= (end - edge).ns() {
        return end + of_sector;
    }
    let first = edge + pass.spindle.passing(passing, 1);
    let all = interface.time(run.sectors * sectors.blocks_per_sector);
    (end + of_sector).max(free.max(first) + all)
}

/// [`crossed`], of a run with gaps or with sectors that are wanted in part.
#[inline(never)]
fn crossed_in_parts<T>(
    pass: &Pass<'_, T>,
    interface: &Interface,
    sectors: &Sectors,
    run: &Run,
    (edge, passing, end): (Time, &PassingSlots, Time),
    free: Time,
) -> Time {
    let all = sectors.blocks_of(run.sectors);
    let last = run.sectors - 1;
    let is_even = run.sectors == run.span;
    let behind_last = end + interface.time(all - sectors.blocks_of(last));
    let queued = behind_last.max(free + interface.time(all));
    let others = match is_even {
        true if sectors.begins_within_a_sector() => 0..last.min(2),
        true => 0..last.min(1),
        false => 0..last,
    };
    let behind = |index: u32| {
        let slot = if is_even {
            index
        } else {
            slots_between(pass.mechanics, sectors.next, index, run)
        };
        let passed = pass.spindle.passing(passing, slot + 1);
        edge + passed + interface.time(all - sectors.blocks_of(index))
    };
    others.map(behind).fold(queued, Time::max)
}

/// Slots from the first sector of a run with gaps to the one `index` further on.
pub(super) fn slots_between(mechanics: &Mechanics, first: u64, index: u32, run: &Run) -> u32 {
    let angle = mechanics.layout.run(first + u64::from(index), 1).angle;
    (angle + run.sectors_per_track - run.angle) % run.sectors_per_track
}

/// When the blocks of a write come over the interface.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    /// When the first one begins to cross.
    pub from: Time,
    /// How many must have come before the first is written.
    pub first: u32,
}

impl Arrivals {
    /// Blocks that cross from an instant on.
    pub fn from(instant: Time) -> Arrivals {
        Arrivals {
            from: instant,
            first: 1,
        }
    }
}

/// Writes a command's blocks, beginning to move at `start`; `first` is what they begin with.
///
/// Where the interface overlaps, blocks cross it as `arrivals` says, while the arm moves; a sector can be written only if
/// its blocks had all come when its edge passes, else the platter turns once more. A physical sector of which
/// only a part is written is read first, and written when it comes by again.
pub fn write<T: Tally>(
    hardware: &Hardware,
    arm: HeadPosition,
    start: Time,
    arrivals: Arrivals,
    command: &Command,
    first: Beginning,
    parts: &mut T,
) -> Access {
    let interface = &hardware.interface;
    let mut begin = Begin {
        spindle: &hardware.mechanics.spindle,
        arm,
        at: start,
    };
    if !interface.overlapped {
        let bus = interface.write_time(command.blocks);
        parts.add(Part::Bus, bus);
        begin.at += bus;
    }
    let arrivals = interface.overlapped.then_some(arrivals);
    write_piece(hardware, begin, arrivals, command, first, parts)
}

/// Writes one of several pieces of which a request is made; without `arrivals` its blocks are in the drive already.
#[inline(always)]
pub fn write_piece<T: Tally>(
    hardware: &Hardware,
    begin: Begin<'_>,
    arrivals: Option<Arrivals>,
    command: &Command,
    first: Beginning,
    parts: &mut T,
) -> Access {
    let Hardware {
        mechanics,
        interface,
        ..
    } = hardware;
    let mut sectors = Sectors::new(command, hardware);
    let mut pass = Pass {
        mechanics,
        spindle: begin.spindle,
        arm: begin.arm,
        now: begin.at,
        parts,
    };
    let mut read_modify_writes = 0;
    // Up to where a track's partial sectors have been read already.
    let mut reread = 0;
    let Beginning { mut run, mut edge } = first;
    loop {
        pass.move_to(&run, true);
        let (slot, per_track) = (run.angle, run.sectors_per_track);
        if sectors.next >= reread
            && let Some(read) = sectors.partial(&run)
        {
            pass.reread(&run, &read);
            read_modify_writes += 1;
        }
        reread = reread.max(sectors.next + u64::from(run.sectors));
        let slots = SlotSpan::new(slot, run.span, per_track);
        let (mut wait, mut passing) = pass.come_by(pass.now, slots, edge);
        if let Some(arrivals) = arrivals {
            let arrived = |count: u32| {
                let blocks = sectors.blocks_until(count).max(arrivals.first);
                arrivals.from + interface.write_time(blocks)
            };
            while arrived(1) > pass.now + wait {
                let later = wait + Time::from_ns(1);
                (wait, passing) = pass.come_by(pass.now + later, slots, edge);
                wait += later;
            }
            let begins = pass.now + wait;
            if arrived(run.sectors) > begins {
                let in_time = |count: u32| {
                    let before = slots_between(mechanics, sectors.next, count - 1, &run);
                    arrived(count) <= begins + pass.spindle.passing(&passing, before)
                };
                let ready = in_time_together(&run, in_time);
                if ready < run.sectors {
                    run = mechanics.layout.run(sectors.next, ready);
                }
            }
        }
        pass.parts.awaits(SlotSpan::new(slot, run.span, per_track));
        pass.parts.add(Part::Rotation, wait);
        pass.now += wait;
        pass.pass(&passing, run.span);
        sectors.advance(run.sectors);
        if sectors.left == 0 {
            break;
        }
        run = mechanics.layout.run(sectors.next, sectors.left);
        edge = pass.edge(&run);
    }
    Access {
        end: pass.now,
        arm: pass.arm,
        read_modify_writes,
    }
}

/// How many sectors of a run can be written in one pass, if the first one can: `in_time(count)` says whether the
/// blocks of the `count`th have come when it passes.
///
/// Where sectors pass evenly, blocks that come too slowly fall further behind from sector to sector, except in the
/// last one if it takes fewer.
fn in_time_together(run: &Run, in_time: impl Fn(u32) -> bool) -> u32 {
    let total = run.sectors;
    if run.span > total {
        return (2..=total)
            .take_while(|&count| in_time(count))
            .last()
            .unwrap_or(1);
    }
    if total == 1 || in_time(total - 1) {
        return if total == 1 || in_time(total) {
            total
        } else {
            total - 1
        };
    }
    let (mut good, mut bad) = (1, total - 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if in_time(middle) {
            good = middle
        } else {
            bad = middle
        }
    }
    good
}

/// The slots of a run that must be read before it is written, from its first slot.
struct Reread {
    first: u32,
    slots: u32,
}

/// The physical sectors of a command that are still to come.
struct Sectors {
    next: u64,
    left: u32,
    blocks_per_sector: u32,
    /// Blocks of the first sector that lie before the command, and of the last that lie behind it.
    before: u32,
    behind: u32,
    total: u32,
}

impl Sectors {
    #[inline]
    fn new(command: &Command, hardware: &Hardware) -> Sectors {
        let (first, end) = hardware.sectors_of(command);
        let blocks_per_sector = hardware.blocks_per_sector;
        let per_sector = u64::from(blocks_per_sector);
        let total = (end - first) as u32;
        Sectors {
            next: first,
            left: total,
            blocks_per_sector,
            before: (command.lbn.0 - first * per_sector) as u32,
            behind: (end * per_sector - command.end().0) as u32,
            total,
        }
    }

    #[inline]
    fn advance(&mut self, sectors: u32) {
        self.next += u64::from(sectors);
        self.left -= sectors;
    }

    /// Blocks of the command up to and with the next `count` sectors.
    #[inline]
    fn blocks_until(&self, count: u32) -> u32 {
        let sectors = self.total - self.left + count;
        let behind = if sectors == self.total {
            self.behind
        } else {
            0
        };
        (sectors * self.blocks_per_sector).saturating_sub(self.before) - behind
    }

    /// Blocks of the command in the next `count` sectors.
    #[inline]
    fn blocks_of(&self, count: u32) -> u32 {
        self.blocks_until(count) - self.blocks_until(0)
    }

    /// Whether the next sector is the first one and wanted in part only.
    #[inline]
    fn begins_within_a_sector(&self) -> bool {
        self.before > 0 && self.left == self.total
    }

    /// What of the next run has to be read before it is written.
    fn partial(&self, run: &Run) -> Option<Reread> {
        let first = self.begins_within_a_sector();
        let last = self.behind > 0 && self.left == run.sectors;
        match (first, last) {
            (false, false) => None,
            (true, false) => Some(Reread { first: 0, slots: 1 }),
            (true, true) => Some(Reread {
                first: 0,
                slots: run.span,
            }),
            (false, true) => Some(Reread {
                first: run.span - 1,
                slots: 1,
            }),
        }
    }
}

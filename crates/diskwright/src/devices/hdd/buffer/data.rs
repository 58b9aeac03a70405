//! How the blocks of a read cross the bus, as they come off the medium.

use super::owner::Owner;
use super::read_pass::ReadPass;
use crate::base::units::Time;
use crate::devices::hdd::buffer_description::BusDescription;
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::tally::Tally;
use crate::engine::request::Part;

/// The medium's side of a read: which blocks are in the buffer at an instant. Instants are asked for in rising order.
pub struct Source<'a, T> {
    pub hardware: &'a Hardware,
    /// Blocks that the segment holds.
    pub size: u64,
    /// The block behind the last one that was there when the request was served.
    pub present: u64,
    /// The track that is being read when the request is served, where any is.
    pub pass: Option<&'a ReadPass>,
    /// The one that has been reached since, if it is another one.
    pub later: Option<ReadPass>,
    /// What the request waits for.
    pub account: TimeAccount<'a, T>,
}

/// Divides the time of a request into parts, in the order in which it passes.
pub struct TimeAccount<'a, T> {
    pub parts: &'a mut T,
    /// Up to when the time has been accounted for.
    pub until: Time,
}

impl<T: Tally> TimeAccount<'_, T> {
    /// What is not accounted for yet up to `end` went into `part`.
    #[inline]
    pub fn add(&mut self, part: Part, end: Time) {
        if end > self.until {
            self.parts.add(part, end - self.until);
            self.until = end;
        }
    }

    /// What the medium did for a request, one after another.
    #[inline(never)]
    pub fn add_each(&mut self, parts: &T) {
        parts.each(|part, time| self.add(part, self.until + time));
    }

    /// A track, from the arm's motion until the sectors before the instant `end` had passed.
    fn add_pass(&mut self, pass: &ReadPass, end: Time) {
        let mut at = pass.start;
        for (part, time) in [
            (Part::Seek, pass.motion.seek),
            (Part::HeadSwitch, pass.motion.head_switch),
            (Part::Settle, pass.motion.settle),
        ] {
            at += time;
            self.add(part, at);
        }
        self.add(Part::Rotation, pass.edge);
        self.add(Part::Transfer, end);
    }
}

impl<T: Tally> Source<'_, T> {
    /// The block behind the last one in the buffer at `at`.
    #[inline]
    fn end_at(&mut self, at: Time) -> u64 {
        while self.track().is_some_and(|pass| at >= pass.end) && self.follow() {}
        let Some(pass) = self.track() else {
            return self.present;
        };
        let reached = pass.reached(&self.hardware.mechanics, at);
        let per_sector = u64::from(self.hardware.blocks_per_sector);
        self.present.max(reached * per_sector)
    }

    /// When the blocks before `end` are in the buffer, of which the medium brings the last one.
    #[inline]
    fn time_of(&mut self, end: u64) -> Time {
        let sector = self.hardware.sector_behind(end);
        while self.track().is_some_and(|pass| sector > pass.behind()) {
            assert!(self.follow(), "the request ends before the drive does");
        }
        let pass = self.later.as_ref().or(self.pass);
        let pass = pass.expect("the medium brings the blocks");
        let at = pass.passed(&self.hardware.mechanics, sector);
        self.account.add_pass(pass, at);
        at
    }

    /// The track that has been reached.
    #[inline]
    fn track(&self) -> Option<&ReadPass> {
        self.later.as_ref().or(self.pass)
    }

    /// Goes on to the next track, if there is one; the request has waited for all of this one.
    #[inline(never)]
    fn follow(&mut self) -> bool {
        let mechanics = &self.hardware.mechanics;
        let Some(pass) = self.later.as_ref().or(self.pass) else {
            return false;
        };
        let Some(next) = pass.next(mechanics) else {
            return false;
        };
        self.account.add_pass(pass, pass.end);
        self.account
            .parts
            .leaves(|| pass.track(mechanics, pass.end));
        self.later = Some(next);
        true
    }

    /// Goes on with the medium until `owner` has crossed, as far as the segment has room.
    #[inline(never)]
    fn run_ahead(&mut self, owner: &Owner) {
        let Some(mut pass) = self.track().copied() else {
            return;
        };
        let mechanics = &self.hardware.mechanics;
        loop {
            let reached = pass.reached(mechanics, owner.crossed);
            // The sector that is passing found room, or none, when it came; one that comes now will.
            let is_passing =
                reached < pass.behind() && pass.passed(mechanics, reached) < owner.crossed;
            let begun = reached + u64::from(is_passing);
            if let Some((full, from)) = pass.stalls(self.hardware, owner, self.size, begun) {
                let until = pass.passed(mechanics, full);
                self.account.add_pass(&pass, until);
                let left = pass;
                self.account.parts.leaves(|| left.track(mechanics, until));
                pass = pass.again(mechanics, full, from);
                self.later = Some(pass);
            } else if reached < pass.behind() || !self.follow() {
                return;
            } else if let Some(next) = self.later {
                pass = next;
            }
        }
    }
}

/// A read's way over the bus.
pub struct ReadTransfer<'a> {
    pub bus: &'a BusDescription,
    /// Leaving the bus.
    pub disconnect: Time,
    /// The first block, and the one behind the last.
    pub blocks: (u64, u64),
    /// How many blocks must be there before the bus is taken.
    pub water: u64,
}

impl ReadTransfer<'_> {
    /// When the last block has crossed, of a read that has the bus and begins to transfer at `start`; and the first
    /// of the blocks that cross with it in one go.
    pub fn connected<T: Tally>(&self, start: Time, source: &mut Source<'_, T>) -> (u64, Time) {
        let keeps_bus = self.bus.kept_by_reads || !self.bus.disconnects;
        let (mut next, end) = self.blocks;
        let mut at = start;
        loop {
            let there = source.end_at(at).min(end);
            if there > next {
                at += source.hardware.interface.time((there - next) as u32);
                self.cross(next, there, at, source);
                if there == end {
                    return (next, at);
                }
                next = there;
            } else if keeps_bus {
                at = source.time_of(next + 1);
            } else {
                at = self.reconnect(at + self.disconnect, next, source);
            }
        }
    }

    /// The same of a read that has left the bus by `free`.
    pub fn disconnected<T: Tally>(
        &self,
        free: Time,
        source: &mut Source<'_, T>,
    ) -> (Time, (u64, Time)) {
        let start = self.reconnect(free, self.blocks.0, source);
        (start, self.connected(start, source))
    }

    /// When a read that left the bus by `free` begins to transfer again, with block `next`.
    fn reconnect<T: Tally>(&self, free: Time, next: u64, source: &mut Source<'_, T>) -> Time {
        let wanted = (next + self.water).min(self.blocks.1).max(next + 1);
        let there = if source.present >= wanted {
            free
        } else {
            free.max(source.time_of(wanted))
        };
        let start = there + self.bus.reselect + self.bus.preparation;
        self.cross(next, next, start, source);
        start
    }

    /// Blocks have crossed at `crossed`: what a segment that is smaller than the request had no room for meanwhile, the
    /// medium has missed.
    #[inline]
    fn cross<T: Tally>(&self, first: u64, end: u64, crossed: Time, source: &mut Source<'_, T>) {
        if self.blocks.1 - self.blocks.0 > source.size {
            source.run_ahead(&Owner {
                first,
                end,
                crossed,
                completion: crossed,
            });
        }
    }
}

//! Reading track after track, in closed form: which sectors have passed at an instant, and when one has.

use crate::base::units::Time;
use crate::devices::hdd::access::Beginning;
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::tally::Track;
use crate::models::geometry::layout::{Layout, Run};
use crate::models::geometry::mechanics::{HeadPosition, Mechanics, Motion};
use crate::models::geometry::spindle::PassingSlots;

use super::owner::Owner;

/// The reading of what is left of a track, from a sector on.
#[derive(Clone, Copy, Debug)]
pub struct ReadPass {
    /// The first sector.
    pub first: u64,
    /// The sectors up to the last one of the track.
    pub run: Run,
    /// When the arm began to move.
    pub start: Time,
    /// How it moved.
    pub motion: Motion,
    /// When the first sector's leading edge passed.
    pub edge: Time,
    slots: PassingSlots,
    /// How many sectors had passed when the last one had: fewer than all where the others were read before the first.
    in_turn: u32,
    /// The most sectors of a track that may be read out of turn.
    most: u32,
    /// When all sectors had passed.
    pub end: Time,
}

impl ReadPass {
    /// Reads from a sector on, which `run` follows to the end of its track, and whose edge comes by at `edge`, with an arm that begins to move
    /// at `start`. While the first sector is waited for, those further on are read if the track has at most `most` of them.
    // In line, so that it is written where it is kept: copied, it would be waited for.
    #[inline(always)]
    pub fn new(
        mechanics: &Mechanics,
        arm: HeadPosition,
        start: Time,
        (first, Beginning { run, edge }): (u64, Beginning),
        most: u32,
    ) -> ReadPass {
        let motion = mechanics.motion(arm, HeadPosition::over(&run), false);
        let arrived = start + motion.total();
        let spindle = &mechanics.spindle;
        let phase = spindle.phase(arrived);
        let (wait, slots) = spindle.come_by_edge(phase, edge, run.angle, run.sectors_per_track);
        let edge = arrived + wait;
        let end = edge + spindle.passing(&slots, run.span);
        let pass = |in_turn, end| ReadPass {
            first,
            run,
            start,
            motion,
            edge,
            slots,
            in_turn,
            most,
            end,
        };
        let (in_turn, end) = match run.sectors <= most {
            true => {
                let round = arrived + spindle.period();
                pass(run.sectors, end).out_of_turn(mechanics, round)
            }
            false => (run.sectors, end),
        };
        pass(in_turn, end)
    }

    /// The head has come round to where it arrived at `round`: from there on all has been read. How many sectors have passed in turn, and
    /// when the last one of them has.
    #[inline(never)]
    fn out_of_turn(&self, mechanics: &Mechanics, round: Time) -> (u32, Time) {
        if round >= self.end {
            return (self.in_turn, self.end);
        }
        let mut next = self.reached(mechanics, round);
        // Instants are rounded: an edge that comes with the head counts.
        if self.passed(mechanics, next) + Time::from_ns(2) < round {
            next += 1;
        }
        let in_turn = (next - self.first) as u32;
        match (1..self.run.sectors).contains(&in_turn) {
            true => (in_turn, self.passed(mechanics, next)),
            false => (self.in_turn, self.end),
        }
    }

    /// Goes on where this track ends; `None` at the end of the drive.
    #[inline(never)]
    pub fn next(&self, mechanics: &Mechanics) -> Option<ReadPass> {
        let next = self.behind();
        (next < mechanics.layout.sectors()).then(|| {
            let run = mechanics.layout.run(next, u32::MAX);
            let beginning = Beginning::of(run, &mechanics.spindle);
            ReadPass::new(
                mechanics,
                self.arm(),
                self.end,
                (next, beginning),
                self.most,
            )
        })
    }

    /// The first sector before `reached` for which a segment of `size` blocks has no room when it comes by, because `owner`
    /// has not taken enough of it over the bus, and when it is read instead.
    pub(super) fn stalls(
        &self,
        hardware: &Hardware,
        owner: &Owner,
        size: u64,
        reached: u64,
    ) -> Option<(u64, Time)> {
        let mechanics = &hardware.mechanics;
        let later = |sector: u64| {
            let at = self.passed(mechanics, sector);
            let from = owner.admits(hardware, size, sector, at);
            (from > at).then_some(from)
        };
        // While the bus stands the medium gains on it from sector to sector; then it gains or loses, all the way.
        let bus_begins = owner.begins(hardware.interface);
        let mut moves = self.reached(mechanics, bus_begins);
        if moves < self.behind() && self.passed(mechanics, moves) < bus_begins {
            moves += 1;
        }
        for (first, behind) in [(self.first, moves.min(reached)), (moves, reached)] {
            if first >= behind {
                continue;
            }
            if let Some(from) = later(first) {
                return Some((first, from));
            }
            if later(behind - 1).is_none() {
                continue;
            }
            let (mut good, mut bad) = (first, behind - 1);
            while bad - good > 1 {
                let middle = good + (bad - good) / 2;
                if later(middle).is_none() {
                    good = middle;
                } else {
                    bad = middle;
                }
            }
            return later(bad).map(|from| (bad, from));
        }
        None
    }

    /// The same track from `sector` on, when it comes by at about `at`.
    pub(super) fn again(&self, mechanics: &Mechanics, sector: u64, at: Time) -> ReadPass {
        let half = Time::from_ns(mechanics.spindle.period().ns() / 2);
        let run = mechanics.layout.run(sector, u32::MAX);
        ReadPass::new(
            mechanics,
            self.arm(),
            at.saturating_sub(half),
            (sector, Beginning::of(run, &mechanics.spindle)),
            0,
        )
    }

    /// What of the track has been read, by an instant at which reading it ended.
    pub fn track(&self, mechanics: &Mechanics, until: Time) -> Track {
        let slots = match () {
            () if until <= self.edge => 0,
            () if until >= self.end && self.in_turn == self.run.sectors => self.run.span,
            () => mechanics.spindle.passed(&self.slots, until - self.edge),
        };
        Track {
            run: self.run,
            start: self.start,
            motion: self.motion,
            edge: self.edge,
            slots,
            until,
        }
    }

    /// Where the arm is once it has moved.
    pub fn arm(&self) -> HeadPosition {
        HeadPosition::over(&self.run)
    }

    /// When the arm had moved.
    pub fn arrived(&self) -> Time {
        self.start + self.motion.total()
    }

    /// The sector after the last one of the track.
    #[inline]
    pub fn behind(&self) -> u64 {
        self.first + u64::from(self.run.sectors)
    }

    /// When the sectors before `sector`, one of the track or the one behind it, had passed.
    #[inline]
    pub fn passed(&self, mechanics: &Mechanics, sector: u64) -> Time {
        let count = (sector - self.first) as u32;
        match count {
            0 => self.edge,
            count if count >= self.in_turn => self.end,
            count => {
                let slots = self.slots(&mechanics.layout, count);
                self.edge + mechanics.spindle.passing(&self.slots, slots)
            }
        }
    }

    /// When all sectors before `sector` have been read, on this track or on those that follow.
    #[inline]
    pub fn has_read(&self, mechanics: &Mechanics, sector: u64) -> Time {
        match sector > self.behind() {
            true => self.has_read_later(mechanics, sector),
            false => self.passed(mechanics, sector.max(self.first)),
        }
    }

    /// The same for sectors behind the track.
    #[inline(never)]
    fn has_read_later(&self, mechanics: &Mechanics, sector: u64) -> Time {
        let mut pass = *self;
        while sector > pass.behind() {
            match pass.next(mechanics) {
                Some(next) => pass = next,
                None => return pass.end,
            }
        }
        pass.passed(mechanics, sector)
    }

    /// The first sector that has not passed whole by `at`.
    #[inline]
    pub fn reached(&self, mechanics: &Mechanics, at: Time) -> u64 {
        if at >= self.end {
            return self.behind();
        }
        if at <= self.edge {
            return self.first;
        }
        let slots = mechanics.spindle.passed(&self.slots, at - self.edge);
        if self.run.sectors == self.run.span {
            return self.first + u64::from(slots);
        }
        // Some of the slots hold no data.
        let mut reached = self.first + u64::from(slots.min(self.in_turn - 1));
        while self.passed(mechanics, reached) > at {
            reached -= 1;
        }
        reached
    }

    /// Slots from the first sector's leading edge to the `count`th's trailing one.
    #[inline]
    fn slots(&self, layout: &Layout, count: u32) -> u32 {
        let Run {
            sectors,
            span,
            angle,
            sectors_per_track,
            ..
        } = self.run;
        if sectors == span {
            return count;
        }
        let last = layout.run(self.first + u64::from(count) - 1, 1).angle;
        (last + sectors_per_track - angle) % sectors_per_track + 1
    }
}

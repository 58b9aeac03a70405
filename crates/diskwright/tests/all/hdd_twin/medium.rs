//! The medium: one sector after the other, as docs/model/access.md defines it. Instants and times are ns.

use super::places::{self, Place};
use super::seeks::Arm;
use super::specs::{Case, Drive};
use super::turns::{Pass, Turns};

pub struct Medium<'a> {
    pub drive: &'a Drive,
    turns: Turns,
    places: Vec<Place>,
}

/// What an access did.
pub struct Access {
    pub arm: Arm,
    /// When each sector had passed, and how many blocks of the request it has.
    pub sectors: Vec<(u64, u64)>,
    /// Runs that were read before parts of their sectors were written.
    pub rewritten: u64,
}

impl Access {
    pub fn end(&self) -> u64 {
        self.sectors.last().expect("a request has blocks").0
    }
}

impl<'a> Medium<'a> {
    pub fn new(case: &'a Case) -> Medium<'a> {
        Medium {
            drive: &case.drive,
            turns: Turns::new(case.drive.rotation, case.angle),
            places: places::of(&case.drive.layout),
        }
    }

    /// The medium as the heads of an arm see it that stands at an angle, in 64ths of a turn.
    pub fn seen_from(case: &'a Case, angle: u64) -> Medium<'a> {
        let medium = Medium::new(case);
        Medium {
            turns: medium.turns.seen_from(angle),
            ..medium
        }
    }

    pub fn blocks(&self) -> u64 {
        self.places.len() as u64 * self.drive.sector
    }

    pub fn place(&self, block: u64) -> &Place {
        &self.places[(block / self.drive.sector) as usize]
    }

    /// Whether a sector goes on with the run of the one before it.
    pub fn goes_on(&self, sector: u64) -> bool {
        sector > 0 && self.places[sector as usize - 1].is_followed_by(&self.places[sector as usize])
    }

    /// The first pass of a block's sector from an instant on.
    pub fn pass(&self, block: u64, from: u64) -> Pass {
        self.turns.pass(self.place(block), from)
    }

    /// The block behind the last one that lies where a block does, by what its place is compared.
    pub fn end_of(&self, block: u64, is_same: impl Fn(&Place, &Place) -> bool) -> u64 {
        let its = self.place(block);
        let mut behind = block..self.blocks();
        let end = behind.find(|&other| !is_same(its, self.place(other)));
        end.unwrap_or(self.blocks())
    }

    /// How long after `start` the first sector of a request comes by, if the arm moves from `start` on.
    pub fn positioning(&self, arm: Arm, start: u64, block: u64, write: bool) -> u64 {
        let there = start + self.motion(arm, block, write);
        self.turns.pass(self.place(block), there).begins - start
    }

    /// How long the arm moves to a block's track.
    pub fn motion(&self, arm: Arm, block: u64, write: bool) -> u64 {
        self.drive.motion(arm, Arm::over(self.place(block)), write)
    }

    /// The blocks of a run that are in a sector.
    fn blocks_in(&self, sector: u64, from: u64, to: u64) -> u64 {
        let size = self.drive.sector;
        (sector * size + size).min(to) - (sector * size).max(from)
    }

    /// Reads the blocks `from..to`, moving from `start` on.
    pub fn read(&self, mut arm: Arm, start: u64, from: u64, to: u64) -> Access {
        let mut now = start;
        let sectors = from / self.drive.sector..to.div_ceil(self.drive.sector);
        let passed = sectors.map(|sector| {
            let place = &self.places[sector as usize];
            now += self.drive.motion(arm, Arm::over(place), false);
            arm = Arm::over(place);
            now = self.turns.pass(place, now).ends;
            (now, self.blocks_in(sector, from, to))
        });
        let sectors = passed.collect();
        Access {
            arm,
            sectors,
            rewritten: 0,
        }
    }

    /// Writes the blocks `from..to`, moving from `start` on, at first for `least` ns or longer; `arrival` says when so many of them have
    /// arrived.
    pub fn write(
        &self,
        mut arm: Arm,
        start: u64,
        (from, to): (u64, u64),
        mut least: u64,
        arrival: impl Fn(u64) -> u64,
    ) -> Access {
        let mut now = start;
        let mut rewritten = 0;
        let mut passed = Vec::new();
        let (mut sector, end) = (from / self.drive.sector, to.div_ceil(self.drive.sector));
        let mut written = 0;
        while sector < end {
            let place = self.places[sector as usize];
            let motion = self.drive.motion(arm, Arm::over(&place), true);
            now += motion.max(std::mem::take(&mut least));
            arm = Arm::over(&place);
            let here = (sector..end).take_while(|&at| at == sector || self.goes_on(at));
            let here: Vec<u64> = here.collect();
            let is_partial = |at: &&u64| self.blocks_in(**at, from, to) < self.drive.sector;
            let partial: Vec<u64> = here.iter().filter(is_partial).copied().collect();
            if let (Some(&first), Some(&last)) = (partial.first(), partial.last()) {
                rewritten += 1;
                for at in first..=last {
                    now = self.turns.pass(&self.places[at as usize], now).ends;
                }
            }
            for &at in &here {
                let blocks = self.blocks_in(at, from, to);
                written += blocks;
                let ready = now.max(arrival(written));
                now = self.turns.pass(&self.places[at as usize], ready).ends;
                passed.push((now, blocks));
            }
            sector += here.len() as u64;
        }
        Access {
            arm,
            sectors: passed,
            rewritten,
        }
    }
}

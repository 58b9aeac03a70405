//! What is on a drive before the run, put there in no time.

use super::Ssd;
use super::mapping::map_units;
use super::overwrite::Overwrite;
use super::spec::{Pattern, PreconditionSpec};
use super::steady::Rounds;
use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::percent::Percent;
use crate::models::flash::blocks::Writer;

/// The blocks of each plane that a round of overwriting before a run has at least.
const LEAST_BLOCKS: u32 = 4;

/// The rounds within which overwriting before a run comes to a steady state.
const MOST_ROUNDS: u32 = 100;

impl Ssd {
    /// Puts on the drive what a spec asks for: as written page by page, in order or at random, and overwritten at random, with cleaning
    /// that takes no time and is done at once. Where it is overwritten until it is steady, `round` is
    /// the share of the drive in a round.
    ///
    /// # Errors
    /// Cleaning finds nothing to free; the drive is worn out, or does not come to a steady state.
    pub(super) fn fill(
        &mut self,
        initial: &PreconditionSpec,
        round: Percent,
        chance: &mut Stream,
    ) -> Result<(), InputError> {
        let units = initial.fill.of(self.host_units.into()) as u32;
        let mut pages = Pages::new(self.allocation.groups());
        match initial.pattern {
            Pattern::Sequential => {
                // Units of one page follow one another, whatever the groups.
                for first in (0..units).step_by(self.geometry.units as usize) {
                    let end = units.min(first + self.geometry.units);
                    if end - first == self.geometry.units {
                        self.write_new_page_at_once(first)?;
                    } else {
                        for unit in first..end {
                            self.write_at_once(unit, &mut pages)?;
                        }
                    }
                }
            }
            Pattern::Random => {
                let mut order: Vec<u32> = (0..units).collect();
                for last in (1..order.len()).rev() {
                    order.swap(last, chance.below(last as u64 + 1) as usize);
                }
                for unit in order {
                    self.write_at_once(unit, &mut pages)?;
                }
            }
        }
        match initial.overwrite {
            _ if units == 0 => {}
            Overwrite::Times(times) => {
                let overwrites = libm::round(times * f64::from(self.host_units)) as u64;
                self.overwrite(overwrites, units, chance, &mut pages)?;
            }
            Overwrite::UntilSteady => {
                // In small drives, a tenth is few blocks: how many are erased while it is written is chance.
                let least =
                    LEAST_BLOCKS * self.geometry.all_planes() * self.geometry.units_of_block();
                let round = round.of(self.host_units.into()).max(least.into());
                self.overwrite_until_steady(round, units, chance, &mut pages)?;
            }
        }
        let of_map = match self.mapping {
            Some(_) => map_units(units, &self.geometry),
            None => 0,
        };
        for number in 0..of_map {
            self.write_at_once(self.host_units + number, &mut pages)?;
        }
        self.write_rest(pages)?;
        if let Some(log) = &mut self.log {
            log.blocks.count_anew();
            // Its blocks were opened before the run.
            log.blocks.take_opened();
        }
        Ok(())
    }

    /// Overwrites some of the first `units` units, `overwrites` times.
    fn overwrite(
        &mut self,
        overwrites: u64,
        units: u32,
        chance: &mut Stream,
        pages: &mut Pages,
    ) -> Result<(), InputError> {
        for _ in 0..overwrites {
            self.write_at_once(chance.below(units.into()) as u32, pages)?;
        }
        Ok(())
    }

    /// Overwrites as much as the flash holds, since until then erased blocks hide what cleaning costs, and from then on in rounds, until five of
    /// them use up as much flash each.
    fn overwrite_until_steady(
        &mut self,
        round: u64,
        units: u32,
        chance: &mut Stream,
        pages: &mut Pages,
    ) -> Result<(), InputError> {
        self.overwrite(self.geometry.slots().into(), units, chance, pages)?;
        let mut rounds = Rounds::default();
        let mut before = self.blocks_used_up();
        for _ in 0..MOST_ROUNDS {
            self.overwrite(round, units, chance, pages)?;
            let now = self.blocks_used_up();
            if rounds.end(now - before) {
                return Ok(());
            }
            before = now;
        }
        Err(InputError::new(format!(
            "the drive has not come to a steady state before the run, within {MOST_ROUNDS} rounds"
        ))
        .help("a longer steady_round, or a number of drive writes in place of \"until-steady\""))
    }

    /// The blocks of flash that were programmed so far, with parts of those that are open.
    fn blocks_used_up(&self) -> f64 {
        let written = self.blocks.all().iter();
        let written: u64 = written.map(|block| u64::from(block.written)).sum();
        self.blocks.erases() as f64 + written as f64 / f64::from(self.geometry.pages)
    }

    /// Writes what has filled no page.
    pub(super) fn write_rest(&mut self, pages: Pages) -> Result<(), InputError> {
        for (group, page) in (0..).zip(pages.0) {
            self.write_page_at_once(group, &page)?;
        }
        Ok(())
    }

    /// A unit comes to a page of its group, which is written when it is full.
    pub(super) fn write_at_once(&mut self, unit: u32, pages: &mut Pages) -> Result<(), InputError> {
        let group = self.allocation.group_of(unit);
        let page = &mut pages.0[group as usize];
        if !page.contains(&unit) {
            page.push(unit);
        }
        if page.len() < self.geometry.units as usize {
            return Ok(());
        }
        let full = std::mem::take(page);
        self.write_page_at_once(group, &full)?;
        // Its memory is used again.
        pages.0[group as usize] = full;
        pages.0[group as usize].clear();
        Ok(())
    }

    /// Writes a page of units that were never written, from one on. There are as many blocks as that takes.
    fn write_new_page_at_once(&mut self, first: u32) -> Result<(), InputError> {
        if self.log.is_some() {
            return self.log_at_once(first);
        }
        if self.stripes.is_some() {
            let to = self.next_page_at_once()?;
            self.map.lay_down(first, to, self.geometry.units);
            self.blocks.count_page(to);
            return Ok(());
        }
        let plane = self.choose_plane(self.allocation.group_of(first));
        let writer = Writer::Host(self.writes.streams - 1);
        self.make_room(plane, writer)?;
        let is_open = !self.blocks.needs_block(plane, writer)
            || self.blocks.free_of(plane) > self.left_to_cleaning(plane);
        let page = is_open.then(|| self.blocks.next_page(plane, writer));
        let Some(to) = page.flatten() else {
            return Err(full());
        };
        self.blocks.written(to);
        self.map.lay_down(first, to, self.geometry.units);
        self.blocks.count_page(to);
        Ok(())
    }

    fn write_page_at_once(&mut self, group: u32, units: &[u32]) -> Result<(), InputError> {
        if units.is_empty() {
            return Ok(());
        }
        if self.log.is_some() {
            return units.iter().try_for_each(|&unit| self.log_at_once(unit));
        }
        if self.stripes.is_some() {
            return self.stripe_at_once(units);
        }
        let plane = self.choose_plane(group);
        let writer = Writer::Host(self.writes.streams - 1);
        self.make_room(plane, writer)?;
        if self.place_at_once(units, plane, writer) {
            return Ok(());
        }
        Err(full())
    }

    /// Cleans a plane that needs a block, until enough are free.
    fn make_room(&mut self, plane: u32, writer: Writer) -> Result<(), InputError> {
        let least = self.cleaning.begin.max(self.left_to_cleaning(plane) + 1);
        while self.blocks.needs_block(plane, writer) && self.blocks.free_of(plane) < least {
            let Some(block) = self.choose_victim(plane) else {
                break;
            };
            self.clean_at_once(plane, block);
            if self.blocks.free_of(plane) == 0 {
                return Err(InputError::new("the drive is worn out before the run")
                    .help("less overwrite, or more endurance"));
            }
        }
        Ok(())
    }

    fn clean_at_once(&mut self, plane: u32, block: u32) {
        let first = block * self.geometry.units_of_block();
        let slots = first..first + self.geometry.units_of_block();
        let units: Vec<u32> = slots.filter_map(|slot| self.map.unit(slot)).collect();
        for page in units.chunks(self.geometry.units as usize) {
            let to = self.blocks.next_page(plane, Writer::Cleaning);
            let to = to.expect("cleaning has a block that the host may not have");
            self.blocks.written(to);
            for (slot, &unit) in (to..).zip(page) {
                self.put_in_slot(unit, slot);
            }
        }
        self.blocks.erase(block);
    }
}

pub(super) fn full() -> InputError {
    InputError::new("the drive is full: cleaning finds nothing to free")
        .help("a smaller fill, or more spare flash")
}

/// Units that wait for a page full, by group.
pub(super) struct Pages(Vec<Vec<u32>>);

impl Pages {
    pub fn new(groups: u32) -> Pages {
        Pages(vec![Vec::new(); groups as usize])
    }
}

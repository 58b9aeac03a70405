//! What is on a drive before the run, put there in no time.

use super::Ssd;
use super::spec::{InitialSpec, Pattern};
use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::models::flash::blocks::Writer;

impl Ssd {
    /// Puts on the drive what a spec asks for: as written page by page, in order or at random, and overwritten at random, with cleaning
    /// that takes no time and is done at once.
    ///
    /// # Errors
    /// Cleaning finds nothing to free.
    pub(super) fn fill(
        &mut self,
        initial: &InitialSpec,
        chance: &mut Stream,
    ) -> Result<(), InputError> {
        let units = initial.fill.of(self.map.units().into()) as u32;
        match initial.pattern {
            Pattern::Sequential => {
                for unit in 0..units {
                    self.write_at_once(unit)?;
                }
            }
            Pattern::Random => {
                let mut order: Vec<u32> = (0..units).collect();
                for last in (1..order.len()).rev() {
                    order.swap(last, chance.below(last as u64 + 1) as usize);
                }
                for unit in order {
                    self.write_at_once(unit)?;
                }
            }
        }
        let overwrites = libm::round(initial.overwrite * f64::from(self.map.units())) as u64;
        for _ in 0..if units > 0 { overwrites } else { 0 } {
            self.write_at_once(chance.below(units.into()) as u32)?;
        }
        Ok(())
    }

    fn write_at_once(&mut self, unit: u32) -> Result<(), InputError> {
        let plane = self.choose_plane(unit);
        let least = self.cleaning.begin.max(2);
        while self.blocks.needs_block(plane, Writer::Host) && self.blocks.free_of(plane) < least {
            let Some(block) = self.choose_victim(plane) else {
                break;
            };
            self.clean_at_once(plane, block);
            if self.blocks.free_of(plane) == 0 {
                return Err(InputError::new("the drive is worn out before the run")
                    .help("less overwrite, or more endurance"));
            }
        }
        if self.place_at_once(unit, plane) {
            return Ok(());
        }
        Err(
            InputError::new("the drive is full: cleaning finds nothing to free")
                .help("a smaller fill, or more spare flash"),
        )
    }

    fn clean_at_once(&mut self, plane: u32, block: u32) {
        let first = block * self.geometry.units_of_block();
        for slot in first..first + self.geometry.units_of_block() {
            if let Some(unit) = self.map.unit(slot) {
                let to = self.blocks.next_page(plane, Writer::Cleaning);
                let to = to.expect("cleaning has a block that the host may not have");
                self.blocks.written(to);
                self.settle(unit, to);
            }
        }
        self.blocks.erase(block);
    }
}

//! Superblocks before the run: pages that are written, and superblocks that are cleaned, in no time.

use crate::base::error::InputError;
use crate::devices::ssd::Ssd;
use crate::devices::ssd::initial::full;
use crate::models::flash::blocks::Writer;

impl Ssd {
    /// Puts units on the next page in no time, with all the cleaning that comes before it.
    ///
    /// # Errors
    /// Cleaning finds nothing to free; the drive is worn out by it.
    pub(in crate::devices::ssd) fn stripe_at_once(
        &mut self,
        units: &[u32],
    ) -> Result<(), InputError> {
        let slot = self.next_page_at_once()?;
        for (slot, &unit) in (slot..).zip(units) {
            self.put_in_slot(unit, slot);
        }
        Ok(())
    }

    /// The next page of the host that is written in no time.
    ///
    /// # Errors
    /// As [`stripe_at_once`](Self::stripe_at_once).
    pub(in crate::devices::ssd) fn next_page_at_once(&mut self) -> Result<u32, InputError> {
        let set = self.choose_set();
        let writer = Writer::Host(self.writes.streams - 1);
        let needs = |ssd: &Ssd| {
            let striped = ssd.stripes.as_ref();
            striped.is_some_and(|striped| striped.superblocks.needs_superblock(set, writer))
        };
        let (plane, left) = self.stripes.as_ref().map_or((0, 0), |striped| {
            let plane = striped.superblocks.first_plane(set);
            (plane, striped.left_to_cleaning(set))
        });
        let least = self.cleaning.begin.max(left + 1);
        while needs(self) && self.blocks.free_of(plane) < least {
            let Some(leader) = self.choose_superblock(set) else {
                break;
            };
            self.clean_superblock_at_once(set, leader)?;
            if self.blocks.free_of(plane) == 0 {
                return Err(InputError::new("the drive is worn out before the run")
                    .help("less overwrite, or more endurance"));
            }
        }
        if needs(self) && self.blocks.free_of(plane) <= left {
            return Err(full());
        }
        self.page_at_once(set, writer)
    }

    /// The next page of a writer, which is on flash at once, and so is the parity of a stripe that is full with it.
    fn page_at_once(&mut self, set: u32, writer: Writer) -> Result<u32, InputError> {
        let striped = self.stripes.as_mut();
        let chosen = striped
            .and_then(|striped| (striped.superblocks).next_page(set, writer, &mut self.blocks));
        let chosen = chosen.ok_or_else(full)?;
        self.written_in_superblock(chosen.slot);
        if let Some(slot) = chosen.parity {
            self.written_in_superblock(slot);
        }
        Ok(chosen.slot)
    }

    fn clean_superblock_at_once(&mut self, set: u32, leader: u32) -> Result<(), InputError> {
        let Some(striped) = &self.stripes else {
            return Ok(());
        };
        let superblocks = &striped.superblocks;
        let pages = (0..superblocks.data_pages()).map(|page| superblocks.data_slot(leader, page));
        let slots = pages.flat_map(|slot| slot..slot + self.geometry.units);
        let units: Vec<u32> = slots.filter_map(|slot| self.map.unit(slot)).collect();
        let members: Vec<u32> = superblocks.members(leader).collect();
        for page in units.chunks(self.geometry.units as usize) {
            let to = self.page_at_once(set, Writer::Cleaning)?;
            for (slot, &unit) in (to..).zip(page) {
                self.put_in_slot(unit, slot);
            }
        }
        for block in members {
            self.blocks.erase(block);
        }
        Ok(())
    }
}

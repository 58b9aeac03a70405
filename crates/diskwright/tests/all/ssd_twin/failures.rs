//! Programs and erases that fail.

use diskwright::base::random::Stream;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::blocks::State;
use super::model::Model;
use super::specs::{Rate, SEED};

impl Model<'_> {
    /// Whether something fails that a block undergoes: the program of a page, or the erase, which has the largest number.
    fn fails(&self, rate: Option<Rate>, plane: usize, block: usize, what: u32) -> bool {
        let Some(rate) = rate else { return false };
        let erases = self.planes[plane].blocks[block].erases;
        let number = (plane * self.drive().blocks + block) as u32;
        let words = [number, erases as u32, what];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let key = Stream::new(SEED, "ssd.failures").bits();
        let drawn = (xxh3_64_with_seed(&bytes, key) >> 11) as f64 / (1u64 << 53) as f64;
        let (new, worn) = (rate.new / 100.0, rate.worn / 100.0);
        let way = erases.min(rate.erases) as f64 / rate.erases as f64;
        drawn < new + (worn - new) * way
    }

    pub fn program_fails(&mut self, plane: usize, block: usize, page: usize) -> bool {
        let rate = self.drive().failures.and_then(|failures| failures.program);
        let fails = self.fails(rate, plane, block, page as u32);
        self.failed_programs += u64::from(fails);
        fails
    }

    /// Of a block with a failed program nothing is erased that could fail.
    pub fn erase_fails(&mut self, plane: usize, block: usize) -> bool {
        let rate = self.drive().failures.and_then(|failures| failures.erase);
        let is_erased = self.planes[plane].blocks[block].state != State::Retiring;
        let fails = is_erased && self.fails(rate, plane, block, u32::MAX);
        self.failed_erases += u64::from(fails);
        fails
    }

    /// A program of a block has failed: nobody writes it any more, and it waits to be cleaned.
    pub fn block_fails(&mut self, plane: usize, block: usize) {
        let its = &mut self.planes[plane];
        let others = [&mut its.slc, &mut its.cleaning];
        for open in its.host.iter_mut().chain(others) {
            if *open == Some(block) {
                *open = None;
            }
        }
        its.blocks[block].state = State::Retiring;
        its.failed.push(block);
        self.sealed += 1;
        self.loses_block(plane);
        self.cleans_failed(plane);
    }

    /// A plane cleans a block with a failed program, if nothing else is cleaned and it may.
    pub fn cleans_failed(&mut self, plane: usize) {
        if self.planes[plane].may_retire() {
            self.wants_cleaning(plane);
        }
    }
}

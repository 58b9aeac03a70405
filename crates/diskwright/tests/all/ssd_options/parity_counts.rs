//! Cleaning of superblocks against a naive count: lists and linear searches, one write after another.

use std::fmt::Write as _;

use diskwright::base::random::Stream;

use super::parity::drive;
use super::times;

/// From one write to the next: whatever it brings is over.
const APART: u64 = 10_000_000_000;
/// Planes of the set, each with a page of every stripe.
const WIDTH: usize = 4;
/// Free superblocks that the idle drive wants.
const WANTED: usize = 3;

/// A superblock: the pages of the host that were put there, in order, and which are the newest.
#[derive(Clone, Default)]
struct Superblock {
    pages: Vec<(usize, bool)>,
    erases: u64,
}

impl Superblock {
    fn valid(&self) -> usize {
        self.pages
            .iter()
            .filter(|(_, is_newest)| *is_newest)
            .count()
    }
}

/// A drive with one set of planes, whose superblocks have `size` pages with data.
struct Naive {
    size: usize,
    superblocks: Vec<Superblock>,
    host: Option<usize>,
    cleaning: Option<usize>,
    moved: u64,
    parity: u64,
    erases: u64,
}

impl Naive {
    fn new(blocks: usize, pages: usize) -> Naive {
        Naive {
            size: pages * (WIDTH - 1),
            superblocks: vec![Superblock::default(); blocks],
            host: None,
            cleaning: None,
            moved: 0,
            parity: 0,
            erases: 0,
        }
    }

    fn is_free(&self, number: usize) -> bool {
        self.superblocks[number].pages.is_empty()
            && self.host != Some(number)
            && self.cleaning != Some(number)
    }

    fn free(&self) -> usize {
        let all = 0..self.superblocks.len();
        all.filter(|&number| self.is_free(number)).count()
    }

    /// The free superblock that was erased least, the first of equals.
    fn next_free(&self) -> usize {
        let all = 0..self.superblocks.len();
        all.filter(|&number| self.is_free(number))
            .min_by_key(|&number| self.superblocks[number].erases)
            .expect("one is free")
    }

    /// Puts a page into a superblock, whose stripe may be full with it; the superblock if it has room for more.
    fn put(&mut self, into: Option<usize>, page: usize) -> Option<usize> {
        let into = into.unwrap_or_else(|| self.next_free());
        for superblock in &mut self.superblocks {
            for other in &mut superblock.pages {
                other.1 &= other.0 != page;
            }
        }
        let pages = &mut self.superblocks[into].pages;
        pages.push((page, true));
        self.parity += u64::from(pages.len().is_multiple_of(WIDTH - 1));
        (pages.len() < self.size).then_some(into)
    }

    fn write(&mut self, page: usize) {
        self.host = self.put(self.host, page);
        while self.free() < WANTED && self.clean() {}
    }

    /// Cleans the full superblock with the fewest valid pages, the first of equals, if that gains a page.
    fn clean(&mut self) -> bool {
        let full = (0..self.superblocks.len()).filter(|&number| {
            let superblock = &self.superblocks[number];
            superblock.pages.len() == self.size && superblock.valid() < self.size
        });
        let Some(victim) = full.min_by_key(|&number| self.superblocks[number].valid()) else {
            return false;
        };
        let pages = self.superblocks[victim].pages.clone();
        for (page, _) in pages.into_iter().filter(|(_, is_newest)| *is_newest) {
            self.cleaning = self.put(self.cleaning, page);
            self.moved += 1;
        }
        self.superblocks[victim].pages.clear();
        self.superblocks[victim].erases += 1;
        self.erases += WIDTH as u64;
        true
    }
}

#[test]
fn cleaning_of_superblocks_moves_what_a_naive_count_says() {
    let mut cleaned = 0;
    for seed in 0..12 {
        let mut chance = Stream::new(seed, "superblocks");
        let (blocks, pages) = (8 + chance.below(8) as usize, 2 + chance.below(5) as usize);
        let size = pages * (WIDTH - 1);
        // What leaves the blocks that are kept and those that an idle drive wants.
        let most = (blocks - 2 - WANTED) * (size - 1);
        let data = (most as f64 * (0.5 + 0.5 * chance.unit())) as usize;
        let share = 100.0 - data as f64 * 100.0 / (blocks * size) as f64;
        let mut tables = String::new();
        write!(
            tables,
            "[cleaning]\nbegin = 1\nidle = {{ after = '1 ms', free = {WANTED} }}\n[initial]\nfill = '0 %'"
        )
        .expect("text");
        let text = drive(
            blocks as u32,
            pages as u32,
            &format!("{share:.9} %"),
            &tables,
        );
        let mut naive = Naive::new(blocks, pages);
        let writes: Vec<(u64, &str, u64)> = (0..8 * data as u64)
            .map(|at| {
                let page = chance.below(data as u64 - 1);
                naive.write(page as usize);
                (at * APART, "write", page)
            })
            .collect();
        let (_, result) = times(&text, &writes);
        let counted = [
            result["moved_pages"].as_u64(),
            result["parity"]["pages"].as_u64(),
            result["erases"]["total"].as_u64(),
        ];
        let expected = [naive.moved, naive.parity, naive.erases].map(Some);
        assert_eq!(counted, expected, "moved, parity, erases of drive {seed}");
        cleaned += naive.moved;
    }
    assert!(cleaned > 1_000, "{cleaned} pages moved in all");
}

//! The table of counts as eight cells: random or sequential, read or write, referenced for the first time or again.
//!
//! A table fixes the margins, not the cells. Where nothing is said the cells are the most even ones with these margins:
//! products of shares, kept within what the sizes allow.

use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::workload::profile::Class;

use crate::workload::clone_options::Resolved;

/// A table as papers print it: requests and 512-byte blocks of each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Distinct first blocks, and distinct blocks.
    pub working_set: Class,
    /// Requests that do not begin where the one before them ended.
    pub random: Class,
    /// Requests that do.
    pub sequential: Class,
    /// Reads.
    pub read: Class,
    /// Writes.
    pub write: Class,
}

/// Requests and blocks by cell: `cells[part][class][direction]`.
pub type Cells = [[[Class; 2]; 2]; 2];
/// The words for the first index.
pub const PARTS: [&str; 2] = ["first", "again"];
/// The words for the second index.
pub const CLASSES: [&str; 2] = ["random", "sequential"];
/// The words for the third index.
pub const DIRECTIONS: [&str; 2] = ["read", "write"];

/// The most requests that a table may count, and, a thousand times that, blocks: so that no sum overflows.
const MOST: u64 = (1 << 32) - 1;
/// The most distinct first blocks: all are kept in memory.
const MOST_DISTINCT: u64 = 1 << 27;

impl Counts {
    /// Requests.
    pub fn requests(&self) -> u64 {
        self.random.requests + self.sequential.requests
    }

    /// Blocks.
    pub fn blocks(&self) -> u64 {
        self.random.blocks + self.sequential.blocks
    }

    /// Refuses what contradicts itself, whatever the cells.
    ///
    /// # Errors
    /// The numbers that contradict each other.
    fn check(&self, modes: &[u32]) -> Result<(), InputError> {
        let Counts {
            working_set,
            random,
            sequential,
            read,
            write,
        } = *self;
        for (name, class) in [
            ("working_set", working_set),
            ("random", random),
            ("sequential", sequential),
            ("read", read),
            ("write", write),
        ] {
            if class.requests > MOST || class.blocks / 1024 > MOST {
                return Err(InputError::new(format!(
                    "counts.{name} is more than a synthetic clone can count: {} requests, {} blocks",
                    class.requests, class.blocks
                )));
            }
        }
        let (requests, blocks) = (self.requests(), self.blocks());
        for (what, ones, others) in [
            (
                "requests",
                (random.requests, sequential.requests),
                (read.requests, write.requests),
            ),
            (
                "blocks",
                (random.blocks, sequential.blocks),
                (read.blocks, write.blocks),
            ),
        ] {
            let (one, other) = (ones.0 + ones.1, others.0 + others.1);
            if one != other {
                return Err(InputError::new(format!(
                    "counts: random + sequential are {} + {} = {one} {what}, and read + write {} + {} = {other}: they are the same requests",
                    ones.0, ones.1, others.0, others.1
                )));
            }
        }
        if requests == 0 {
            return Err(InputError::new("counts: there are no requests"));
        }
        if random.requests == 0 {
            return Err(InputError::new(
                "counts: random has 0 requests, and the first request of all is random",
            ));
        }
        for (what, distinct, all) in [
            ("requests", working_set.requests, requests),
            ("blocks", working_set.blocks, blocks),
        ] {
            if distinct > all {
                return Err(InputError::new(format!(
                    "counts: working_set has {distinct} distinct {what}, and all requests together only {all}"
                )));
            }
        }
        if working_set.requests == 0 || working_set.requests > MOST_DISTINCT {
            return Err(InputError::new(format!(
                "counts: working_set has {} requests: expected 1 to {MOST_DISTINCT}",
                working_set.requests
            )));
        }
        let again = Class {
            requests: requests - working_set.requests,
            blocks: blocks - working_set.blocks,
        };
        for (name, class) in [
            ("random", random),
            ("sequential", sequential),
            ("read", read),
            ("write", write),
            ("working_set", working_set),
            ("all requests but working_set", again),
        ] {
            let (low, high) = bounds(class.requests, modes);
            if class.blocks < low || class.blocks > high {
                return Err(InputError::new(format!(
                    "counts: {name} has {} blocks in {} requests, and requests of {} to {} blocks can have {low} to {high}",
                    class.blocks,
                    class.requests,
                    modes[0],
                    modes[modes.len() - 1]
                ))
                .help("parameters.modes can have other sizes"));
            }
        }
        Ok(())
    }

    /// The cells.
    ///
    /// # Errors
    /// Numbers that contradict each other.
    pub fn cells(&self, parameters: &Resolved) -> Result<Cells, InputError> {
        let modes = &parameters.modes[..];
        self.check(modes)?;
        let both = self.by_class_and_direction(parameters)?;
        let flat = [both[0][0], both[0][1], both[1][0], both[1][1]];
        // First references are as common in each cell, except that the first request of all is one at random.
        let first = self.working_set.requests;
        let share = first as f64 / self.requests() as f64;
        let wanted = flat.map(|class| class.requests as f64 * share);
        let mut firsts = rounded(wanted, first, flat.map(|class| class.requests));
        if firsts[0] + firsts[1] == 0 {
            let to = usize::from(flat[0].requests == 0);
            let from = if firsts[2] > 0 { 2 } else { 3 };
            firsts[from] -= 1;
            firsts[to] += 1;
        }
        // Their blocks: as many as the cell's mean gives, times a factor that all cells share.
        let limits: [(u64, u64); 4] = std::array::from_fn(|cell| {
            let class = flat[cell];
            let (low, high) = bounds(firsts[cell], modes);
            let (low_again, high_again) = bounds(class.requests - firsts[cell], modes);
            (
                low.max(class.blocks.saturating_sub(high_again)),
                high.min(class.blocks.saturating_sub(low_again)),
            )
        });
        let blocks = self.working_set.blocks;
        let least: u64 = limits.iter().map(|(low, _)| low).sum();
        let most: u64 = limits.iter().map(|(_, high)| high).sum();
        if limits.iter().any(|(low, high)| low > high) || blocks < least || blocks > most {
            return Err(InputError::new(format!(
                "counts: working_set has {blocks} blocks in {first} requests, and with the means of the four classes {least} to {most} are possible"
            ))
            .help("parameters.modes can have other sizes, parameters.random_read_share another split"));
        }
        let mean = |cell: usize| ratio(flat[cell].blocks, flat[cell].requests);
        let scaled = |factor: f64| -> [f64; 4] {
            std::array::from_fn(|cell| {
                let (low, high) = limits[cell];
                (factor * firsts[cell] as f64 * mean(cell)).clamp(low as f64, high as f64)
            })
        };
        let factor = bisect(0.0, 2.0 * f64::from(modes[modes.len() - 1]), |factor| {
            scaled(factor).iter().sum::<f64>() < blocks as f64
        });
        let first_blocks = within(scaled(factor), blocks, limits);
        let mut cells = Cells::default();
        for (cell, class) in flat.into_iter().enumerate() {
            let (c, d) = (cell / 2, cell % 2);
            cells[0][c][d] = Class {
                requests: firsts[cell],
                blocks: first_blocks[cell],
            };
            cells[1][c][d] = Class {
                requests: class.requests - firsts[cell],
                blocks: class.blocks - first_blocks[cell],
            };
        }
        Ok(cells)
    }

    /// The four of class and direction.
    fn by_class_and_direction(&self, parameters: &Resolved) -> Result<[[Class; 2]; 2], InputError> {
        let Counts {
            random,
            sequential,
            read,
            write,
            ..
        } = *self;
        let modes = &parameters.modes[..];
        let share = parameters
            .random_read_share
            .unwrap_or_else(|| ratio(read.requests, self.requests()));
        let wanted = libm::round(share * random.requests as f64) as u64;
        let (low, high) = (
            random.requests.saturating_sub(write.requests),
            random.requests.min(read.requests),
        );
        if parameters.random_read_share.is_some() && !(low..=high).contains(&wanted) {
            return Err(InputError::new(format!(
                "random_read_share is {share}, so {wanted} of {} random requests are reads: with {} reads and {} writes in all, {low} to {high} can be",
                random.requests, read.requests, write.requests
            )));
        }
        let reads = wanted.clamp(low, high);
        let requests = square(reads, random.requests, read.requests, sequential.requests);
        // What each cell's sizes allow, as limits on the blocks of random reads.
        let cell = |c: usize, d: usize| bounds(requests[c][d], modes);
        let low = [
            cell(0, 0).0,
            random.blocks.saturating_sub(cell(0, 1).1),
            read.blocks.saturating_sub(cell(1, 0).1),
            (cell(1, 1).0 + random.blocks + read.blocks).saturating_sub(self.blocks()),
        ];
        let low = low.into_iter().max().unwrap_or(0);
        let high = [
            Some(cell(0, 0).1),
            random.blocks.checked_sub(cell(0, 1).0),
            read.blocks.checked_sub(cell(1, 0).0),
            (cell(1, 1).1 + random.blocks + read.blocks).checked_sub(self.blocks()),
        ];
        let high = high.into_iter().min().flatten().filter(|high| low <= *high);
        let Some(high) = high else {
            return Err(InputError::new(format!(
                "counts: {} random requests are reads, and no sizes of {} to {} blocks give random {} blocks, sequential {}, read {} and write {}",
                requests[0][0],
                modes[0],
                modes[modes.len() - 1],
                random.blocks,
                sequential.blocks,
                read.blocks,
                write.blocks
            ))
            .help("parameters.random_read_share can be another, parameters.modes can have other sizes"));
        };
        // Where the means of the classes and of the directions multiply, this product is 1, and it rises with the blocks.
        let less = |x: f64| {
            let others = (random.blocks as f64 - x) * (read.blocks as f64 - x);
            let corner = x * (self.blocks() as f64 - random.blocks as f64 - read.blocks as f64 + x);
            let of = |c: usize, d: usize| requests[c][d] as f64;
            corner * of(0, 1) * of(1, 0) < others * of(0, 0) * of(1, 1)
        };
        let blocks = libm::round(bisect(low as f64, high as f64, less)) as u64;
        let blocks = blocks.clamp(low, high);
        let blocks = square(blocks, random.blocks, read.blocks, sequential.blocks);
        Ok(std::array::from_fn(|c| {
            std::array::from_fn(|d| Class {
                requests: requests[c][d],
                blocks: blocks[c][d],
            })
        }))
    }
}

/// A square with these margins: the first row, the first column and the second row.
fn square(corner: u64, row: u64, column: u64, below: u64) -> [[u64; 2]; 2] {
    let left = column - corner;
    [[corner, row - corner], [left, below - left]]
}

/// The fewest and the most blocks of `requests` requests. One of them may be smaller than the smallest mode.
pub fn bounds(requests: u64, modes: &[u32]) -> (u64, u64) {
    let (low, high) = (u64::from(modes[0]), u64::from(modes[modes.len() - 1]));
    let least = (requests * low + 1).saturating_sub(low);
    (if requests == 0 { 0 } else { least }, requests * high)
}

pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Where between two numbers a condition, which holds below, ends.
pub fn bisect(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Whole numbers near the wanted ones, with this sum, none above its limit; the limits must allow it.
fn rounded(wanted: [f64; 4], sum: u64, most: [u64; 4]) -> [u64; 4] {
    within(wanted, sum, most.map(|most| (0, most)))
}

/// Whole numbers near the wanted ones, with this sum, each within its limits; the limits must allow it.
fn within(wanted: [f64; 4], sum: u64, limits: [(u64, u64); 4]) -> [u64; 4] {
    let mut whole: [u64; 4] =
        std::array::from_fn(|i| (libm::round(wanted[i]) as u64).clamp(limits[i].0, limits[i].1));
    for i in (0..4).cycle().take(8) {
        let now: u64 = whole.iter().sum();
        let (low, high) = limits[i];
        if now < sum {
            whole[i] += (sum - now).min(high - whole[i]);
        } else {
            whole[i] -= (now - sum).min(whole[i] - low);
        }
    }
    whole
}

//! Plain models of `lirs` and `w-tinylfu`: vectors, oldest first.

use super::models::{Free, Model};
use super::queues::{first_free, take};

/// LIRS: the stack has blocks of both kinds and keys of those that have left, the most recently accessed last.
#[derive(Default)]
pub struct Lirs {
    /// How many LIR blocks there may be.
    pub room: usize,
    pub remembers: usize,
    pub stack: Vec<u64>,
    pub low: Vec<u64>,
    /// The first one is the next to leave.
    pub high: Vec<u64>,
    pub ghosts: Vec<u64>,
    pub is_back: bool,
}

impl Lirs {
    /// The last block of the stack is a LIR block.
    fn prune(&mut self) {
        while let Some(&last) = self.stack.first()
            && !self.low.contains(&last)
        {
            take(&mut self.ghosts, last);
            self.stack.remove(0);
        }
    }

    fn lower(&mut self, key: u64) {
        self.low.push(key);
        if self.low.len() > self.room {
            let last = self.low.remove(0);
            take(&mut self.stack, last);
            self.high.push(last);
        }
    }
}

impl Model for Lirs {
    fn hit(&mut self, key: u64) {
        let was_stacked = take(&mut self.stack, key);
        self.stack.push(key);
        if take(&mut self.low, key) {
            self.low.push(key);
        } else {
            take(&mut self.high, key);
            match was_stacked {
                true => self.lower(key),
                false => self.high.push(key),
            }
        }
        self.prune();
    }
    fn miss(&mut self, key: u64) {
        self.is_back = take(&mut self.ghosts, key) && take(&mut self.stack, key);
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        if let Some(key) = first_free(&mut self.high, free) {
            if self.stack.contains(&key) {
                self.ghosts.push(key);
            }
            if self.ghosts.len() > self.remembers {
                let oldest = self.ghosts.remove(0);
                take(&mut self.stack, oldest);
            }
            return Some(key);
        }
        let key = first_free(&mut self.low, free)?;
        take(&mut self.stack, key);
        self.prune();
        Some(key)
    }
    fn insert(&mut self, key: u64) {
        self.stack.push(key);
        match self.is_back || self.low.len() < self.room {
            true => self.lower(key),
            false => self.high.push(key),
        }
        self.prune();
    }
    fn remove(&mut self, key: u64) {
        [&mut self.low, &mut self.high, &mut self.stack]
            .into_iter()
            .for_each(|list| {
                take(list, key);
            });
        self.prune();
    }
}

/// Four rows of counters, each of which counts up to 15.
struct Counters {
    rows: [Vec<u8>; 4],
    sample: u64,
    counted: u64,
}

impl Counters {
    fn new(capacity: u32, sample: u64) -> Counters {
        let columns = (capacity as usize).next_power_of_two().max(16);
        Counters {
            rows: std::array::from_fn(|_| vec![0; columns]),
            sample,
            counted: 0,
        }
    }

    /// The column of a key in a row: two hashes, one of which is added for each row. The hash is the finaliser of SplitMix64.
    fn column(&self, key: u64, row: usize) -> usize {
        let mixed = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let hash = mixed ^ (mixed >> 31);
        let step = (hash >> 32) | 1;
        let at = hash.wrapping_add(step.wrapping_mul(row as u64));
        (at % self.rows[row].len() as u64) as usize
    }

    fn count(&mut self, key: u64) {
        for row in 0..4 {
            let column = self.column(key, row);
            let counter = &mut self.rows[row][column];
            *counter = (*counter + 1).min(15);
        }
        self.counted += 1;
        if self.counted == self.sample {
            self.counted /= 2;
            for counter in self.rows.iter_mut().flatten() {
                *counter /= 2;
            }
        }
    }

    fn frequency(&self, key: u64) -> u8 {
        let counts = (0..4).map(|row| self.rows[row][self.column(key, row)]);
        counts.min().expect("four rows")
    }
}

pub struct WTinyLfu {
    window_room: usize,
    protected_room: usize,
    window: Vec<u64>,
    probation: Vec<u64>,
    protected: Vec<u64>,
    counters: Counters,
}

impl WTinyLfu {
    pub fn new(capacity: u32, window: usize, protected: usize, sample: u64) -> WTinyLfu {
        WTinyLfu {
            window_room: window,
            protected_room: protected,
            window: Vec::new(),
            probation: Vec::new(),
            protected: Vec::new(),
            counters: Counters::new(capacity, sample),
        }
    }
}

impl Model for WTinyLfu {
    fn hit(&mut self, key: u64) {
        self.counters.count(key);
        for list in [&mut self.window, &mut self.protected] {
            if take(list, key) {
                return list.push(key);
            }
        }
        take(&mut self.probation, key);
        self.protected.push(key);
        if self.protected.len() > self.protected_room {
            let falls = self.protected.remove(0);
            self.probation.push(falls);
        }
    }
    fn miss(&mut self, key: u64) {
        self.counters.count(key);
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        let first = |list: &[u64]| list.iter().copied().find(|&key| free(key));
        let victim = first(&self.probation).or_else(|| first(&self.protected));
        let is_short = self.window.len() < self.window_room;
        let candidate = first(&self.window).filter(|_| victim.is_none() || !is_short);
        let leaves = match (candidate, victim) {
            (Some(candidate), Some(victim)) => {
                let frequency = |key| self.counters.frequency(key);
                if frequency(candidate) > frequency(victim) {
                    take(&mut self.window, candidate);
                    self.probation.push(candidate);
                    victim
                } else {
                    candidate
                }
            }
            (one, other) => one.or(other)?,
        };
        self.remove(leaves);
        Some(leaves)
    }
    fn insert(&mut self, key: u64) {
        self.window.push(key);
        if self.window.len() > self.window_room {
            let falls = self.window.remove(0);
            self.probation.push(falls);
        }
    }
    fn remove(&mut self, key: u64) {
        for list in [&mut self.window, &mut self.probation, &mut self.protected] {
            take(list, key);
        }
    }
}

//! How often keys were accessed of late, more or less, in little memory.

/// A count-min sketch of four-bit counters whose counts are halved now and then: Cormode and Muthukrishnan, "An improved data stream
/// summary", Journal of Algorithms 55(1), 2005; the halving as in TinyLFU. It never counts too little, but for what was halved and beyond 15.
pub(super) struct Sketch {
    /// Four rows, sixteen counters a word.
    words: Box<[u64]>,
    /// Counters of a row, less 1; a power of two, less 1.
    mask: u64,
    /// Accesses between halvings.
    sample: u64,
    counted: u64,
}

const ROWS: u64 = 4;
const COUNTERS: u64 = 16;
const LARGEST: u64 = 15;
/// Three of a word's every four bits: what stays of counters that were moved down by one.
const HALVES: u64 = 0x7777_7777_7777_7777;

/// Words of a sketch with `counters` counters in a row.
fn words(counters: u64) -> u64 {
    ROWS * counters / COUNTERS
}

/// Counters of a row for a cache of `capacity` blocks.
fn counters(capacity: u32) -> u64 {
    u64::from(capacity).next_power_of_two().max(COUNTERS)
}

/// Bytes of the sketch for a cache of `capacity` blocks.
pub(super) fn bytes(capacity: u32) -> u64 {
    8 * words(counters(capacity))
}

impl Sketch {
    /// For a cache of `capacity` blocks; counts are halved after `sample` accesses, or never where that is 0.
    pub(super) fn new(capacity: u32, sample: u64) -> Sketch {
        let counters = counters(capacity);
        Sketch {
            words: vec![0; words(counters) as usize].into(),
            mask: counters - 1,
            sample,
            counted: 0,
        }
    }

    /// The word and the shift of a key's counter in each row.
    fn places(&self, key: u64) -> [(usize, u64); ROWS as usize] {
        let (hash, mask) = (mix(key), self.mask);
        let stride = hash >> 32 | 1;
        std::array::from_fn(|row| {
            let row = row as u64;
            let counter = hash.wrapping_add(row.wrapping_mul(stride)) & mask;
            let word = (row * (mask + 1) + counter) / COUNTERS;
            (word as usize, counter % COUNTERS * 4)
        })
    }

    /// Counts an access.
    pub(super) fn count(&mut self, key: u64) {
        for (word, shift) in self.places(key) {
            if self.words[word] >> shift & LARGEST < LARGEST {
                self.words[word] += 1 << shift;
            }
        }
        self.counted += 1;
        if self.counted == self.sample {
            self.counted /= 2;
            for word in &mut self.words {
                *word = *word >> 1 & HALVES;
            }
        }
    }

    /// How often a key was accessed: 0 to 15.
    pub(super) fn frequency(&self, key: u64) -> u8 {
        let counts = self
            .places(key)
            .map(|(word, shift)| self.words[word] >> shift & LARGEST);
        counts.into_iter().min().unwrap_or(0) as u8
    }
}

/// The finaliser of SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
fn mix(key: u64) -> u64 {
    let key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ key >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_never_counts_too_little(keys in prop::collection::vec(0u64..40, 1..400), capacity in 1u32..100) {
            let mut sketch = Sketch::new(capacity, 0);
            for (index, &key) in keys.iter().enumerate() {
                sketch.count(key);
                let seen = keys[..=index].iter().filter(|&&other| other == key).count();
                prop_assert!(usize::from(sketch.frequency(key)) >= seen.min(15));
            }
        }
    }

    #[test]
    fn a_lone_key_is_counted_exactly_and_halved_in_time() {
        let mut sketch = Sketch::new(16, 10);
        let counts: Vec<u8> = (0..16)
            .map(|_| {
                sketch.count(7);
                sketch.frequency(7)
            })
            .collect();
        // The tenth access halves the counts, and five more, counted from five, do again.
        assert_eq!(counts, [1, 2, 3, 4, 5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5, 6]);
        let mut sketch = Sketch::new(16, 0);
        (0..40).for_each(|_| sketch.count(7));
        assert_eq!(sketch.frequency(7), 15);
    }
}

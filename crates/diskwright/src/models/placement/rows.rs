//! Rows of bits, of which those that are set near a place are found at once.

/// Rows of as many bits each, all clear at first; a second level says which words have any.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Words of a row, and words that sum these up.
    words: usize,
    sums: usize,
    /// A row's words, and behind them what sums them up.
    bits: Box<[u64]>,
}

impl Rows {
    pub fn new(rows: usize, bits_per_row: usize) -> Rows {
        let words = bits_per_row.div_ceil(64);
        let sums = words.div_ceil(64);
        Rows {
            words,
            sums,
            bits: vec![0; rows * (words + sums)].into(),
        }
    }

    #[inline]
    fn row(&self, row: usize) -> (&[u64], &[u64]) {
        let both = &self.bits[row * (self.words + self.sums)..][..self.words + self.sums];
        both.split_at(self.words)
    }

    /// Sets a bit; returns whether it was clear.
    #[inline]
    pub fn set(&mut self, row: usize, bit: u32) -> bool {
        let start = row * (self.words + self.sums);
        let word = (bit / 64) as usize;
        let (own, mask) = (&mut self.bits[start + word], 1 << (bit % 64));
        let was_clear = *own & mask == 0;
        *own |= mask;
        self.bits[start + self.words + word / 64] |= 1 << (word % 64);
        was_clear
    }

    /// Clears a bit.
    #[inline]
    pub fn clear(&mut self, row: usize, bit: u32) {
        let start = row * (self.words + self.sums);
        let word = (bit / 64) as usize;
        self.bits[start + word] &= !(1 << (bit % 64));
        if self.bits[start + word] == 0 {
            self.bits[start + self.words + word / 64] &= !(1 << (word % 64));
        }
    }

    /// The first bit of a row from `from` on that is set.
    #[inline]
    pub fn first_from(&self, row: usize, from: u32) -> Option<u32> {
        let (words, sums) = self.row(row);
        let word = (from / 64) as usize;
        let own = words.get(word)? & (u64::MAX << (from % 64));
        if own != 0 {
            return Some(word as u32 * 64 + own.trailing_zeros());
        }
        let next = word + 1;
        let mut sum = next / 64;
        let mut any = sums.get(sum)? & (u64::MAX << (next % 64));
        while any == 0 {
            sum += 1;
            any = *sums.get(sum)?;
        }
        let word = sum * 64 + any.trailing_zeros() as usize;
        Some(word as u32 * 64 + words[word].trailing_zeros())
    }

    /// The last bit of a row below `below` that is set.
    #[inline]
    pub fn last_below(&self, row: usize, below: u32) -> Option<u32> {
        let (words, sums) = self.row(row);
        let last = below.checked_sub(1)?;
        let word = (last / 64) as usize;
        let own = words[word] & (u64::MAX >> (63 - last % 64));
        if own != 0 {
            return Some(word as u32 * 64 + 63 - own.leading_zeros());
        }
        let before = word.checked_sub(1)?;
        let mut sum = before / 64;
        let mut any = sums[sum] & (u64::MAX >> (63 - before % 64));
        while any == 0 {
            sum = sum.checked_sub(1)?;
            any = sums[sum];
        }
        let word = sum * 64 + 63 - any.leading_zeros() as usize;
        Some(word as u32 * 64 + 63 - words[word].leading_zeros())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_sets(bits in 1u32..9000, steps in prop::collection::vec((0usize..3, any::<u32>(), any::<bool>()), 0..60)) {
            let mut rows = Rows::new(3, bits as usize);
            let mut sets = vec![BTreeSet::new(); 3];
            for (row, bit, is_set) in steps {
                let bit = bit % bits;
                if is_set {
                    prop_assert_eq!(rows.set(row, bit), sets[row].insert(bit));
                } else {
                    rows.clear(row, bit);
                    sets[row].remove(&bit);
                }
                for (row, set) in sets.iter().enumerate() {
                    for from in [0, bit, bit + 1, bits - 1, bits] {
                        prop_assert_eq!(rows.first_from(row, from), set.range(from..).next().copied());
                        prop_assert_eq!(rows.last_below(row, from), set.range(..from).next_back().copied());
                    }
                }
            }
        }
    }
}

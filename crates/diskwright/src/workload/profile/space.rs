//! Where on the device requests go, and in the same way when they arrive.

/// Bins at most; more than half as many are in use, once there are addresses enough.
const BINS: usize = 128;

/// Requests by their first block (or by another number), in bins of equal width, which doubles as often as the addresses need it.
#[derive(Default)]
pub struct Spread {
    /// The width of a bin is two to this power.
    shift: u32,
    counts: Vec<u64>,
}

impl Spread {
    #[inline]
    pub fn add(&mut self, lbn: u64) {
        while lbn >> self.shift >= BINS as u64 {
            self.widen();
        }
        let bin = (lbn >> self.shift) as usize;
        if self.counts.len() <= bin {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
    }

    #[cold]
    fn widen(&mut self) {
        self.shift += 1;
        self.counts = self
            .counts
            .chunks(2)
            .map(|pair| pair.iter().sum())
            .collect();
    }

    /// Blocks of a bin.
    pub fn bin_blocks(&self) -> u64 {
        1 << self.shift
    }

    /// Requests of each bin, up to the last that has any.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

/// Powers of two that are told apart, from 1 block on; what a larger one divides counts with the largest.
pub const ALIGNMENTS: usize = 12;

/// Blocks by the largest power of two that divides them.
#[derive(Default)]
pub struct Alignments([u64; ALIGNMENTS]);

impl Alignments {
    #[inline]
    pub fn add(&mut self, lbn: u64) {
        let power = lbn.trailing_zeros() as usize;
        self.0[power.min(ALIGNMENTS - 1)] += 1;
    }

    /// Blocks of each power, up to the last that has any.
    pub fn counts(&self) -> Vec<u64> {
        let used = self.0.iter().rposition(|count| *count > 0);
        self.0[..used.map_or(0, |last| last + 1)].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_told_apart_by_their_powers_of_two() {
        let mut alignments = Alignments::default();
        assert!(alignments.counts().is_empty());
        for lbn in [1, 2, 3, 6, 8] {
            alignments.add(lbn);
        }
        assert_eq!(alignments.counts(), [2, 2, 0, 1]);
        // Block 0 is a multiple of everything.
        for lbn in [0, 1 << 11, 1 << 40] {
            alignments.add(lbn);
        }
        assert_eq!(alignments.counts()[11], 3);
    }

    #[test]
    fn bins_widen_only_when_they_must() {
        let mut spread = Spread::default();
        for lbn in [0, 1, 127] {
            spread.add(lbn);
        }
        assert_eq!((spread.bin_blocks(), spread.counts().len()), (1, 128));
        spread.add(128);
        assert_eq!((spread.bin_blocks(), spread.counts().len()), (2, 65));
        assert_eq!((spread.counts()[0], spread.counts()[64]), (2, 1));
        spread.add(u64::MAX);
        assert_eq!((spread.bin_blocks(), spread.counts().len()), (1 << 57, 128));
    }

    proptest! {
        #[test]
        fn bins_count_as_if_their_width_had_been_known(
            lbns in prop::collection::vec(prop_oneof![0u64..1_000, 0u64..1 << 40], 1..100),
        ) {
            let mut spread = Spread::default();
            lbns.iter().for_each(|lbn| spread.add(*lbn));
            let width = spread.bin_blocks();
            for (bin, count) in spread.counts().iter().enumerate() {
                let there = lbns.iter().filter(|lbn| *lbn / width == bin as u64).count();
                prop_assert_eq!(there as u64, *count);
            }
            prop_assert_eq!(spread.counts().iter().sum::<u64>(), lbns.len() as u64);
        }
    }
}

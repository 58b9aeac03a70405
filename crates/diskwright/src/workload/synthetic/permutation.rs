//! Seeded permutations of `0..n` for any `n`: every number goes to another, and no table is kept.
//!
//! A Feistel network permutes the smallest power of two that holds `n`; what lands outside of `0..n` is permuted again until
//! it lands inside ("cycle walking": Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, section 3).
//! The power of two is less than twice `n`, so that two steps do on average.

use crate::base::random::Stream;

/// Luby and Rackoff need four rounds of random functions to look random; ours are only mixed well, so that there are more.
const ROUNDS: usize = 6;

/// The keys of a permutation; together with a number of bits they are one.
#[derive(Clone, Copy, Debug)]
struct Keys([u64; ROUNDS]);

/// A permutation of `0..n`, for every `n` up to the one it was drawn for.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    keys: Keys,
    /// Bits of the lower and of the upper part of a number.
    low: u32,
    high: u32,
}

impl Permutation {
    /// Draws a permutation for `n` up to `largest`, which must not be 0.
    pub fn new(stream: &mut Stream, largest: u64) -> Permutation {
        Permutation::of(Keys(std::array::from_fn(|_| stream.bits())), largest)
    }

    /// The same permutation where `n` is not much smaller than before, so that a number mostly goes to the same place;
    /// otherwise another one with the same keys, for walking would be long.
    #[must_use]
    pub fn for_up_to(&self, n: u64) -> Permutation {
        let bits = self.low + self.high;
        if bits > 1 && n <= 1 << (bits - 2) {
            Permutation::of(self.keys, n)
        } else {
            *self
        }
    }

    fn of(keys: Keys, largest: u64) -> Permutation {
        let bits = u64::BITS - largest.saturating_sub(1).leading_zeros();
        Permutation {
            keys,
            low: bits / 2,
            high: bits - bits / 2,
        }
    }

    /// Where `index`, which is less than `n`, goes.
    #[inline]
    pub fn apply(&self, index: u64, n: u64) -> u64 {
        debug_assert!(index < n, "{index} of {n}");
        let mut at = index;
        loop {
            at = self.step(at);
            if at < n {
                return at;
            }
        }
    }

    /// One pass of the network over all numbers of its width in bits.
    #[inline]
    fn step(&self, number: u64) -> u64 {
        let low_mask = (1u64 << self.low) - 1;
        let high_mask = (1u64 << self.high) - 1;
        let (mut low, mut high) = (number & low_mask, number >> self.low);
        for pair in self.keys.0.chunks_exact(2) {
            low ^= mixed(high, pair[0]) & low_mask;
            high ^= mixed(low, pair[1]) & high_mask;
        }
        (high << self.low) | low
    }
}

/// Half of the finaliser of MurmurHash3 (Appleby), of which the upper bits are used.
#[inline]
fn mixed(half: u64, key: u64) -> u64 {
    let mut bits = (half ^ key).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^= bits >> 33;
    bits.wrapping_mul(0xc4ce_b9fe_1a85_ec53) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn permutation(seed: u64, largest: u64) -> Permutation {
        Permutation::new(&mut Stream::new(seed, "permutation"), largest)
    }

    fn is_bijection(permutation: &Permutation, n: u64) -> bool {
        let mut seen = vec![false; n as usize];
        (0..n).all(|i| !std::mem::replace(&mut seen[permutation.apply(i, n) as usize], true))
    }

    #[test]
    fn every_small_size_is_permuted() {
        for n in 1..=600 {
            for seed in 0..3 {
                assert!(is_bijection(&permutation(seed, n), n), "{n}, seed {seed}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_size_is_permuted(seed: u64, n in 1u64..200_000) {
            prop_assert!(is_bijection(&permutation(seed, n), n));
        }

        #[test]
        fn a_part_is_permuted_too(seed: u64, largest in 1u64..5_000, part in 0.0..1.0f64) {
            let n = 1 + (part * (largest - 1) as f64) as u64;
            prop_assert!(is_bijection(&permutation(seed, largest).for_up_to(n), n));
        }

        #[test]
        fn huge_sizes_stay_inside(seed: u64, n in 1u64..=1 << 63, share in 0.0..1.0f64) {
            let index = ((n - 1) as f64 * share) as u64;
            let index = index.min(n - 1);
            prop_assert!(permutation(seed, n).apply(index, n) < n);
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        // Of a random permutation of n, a neighbour of i lands next to i's place with probability 2/n.
        let n = 100_000;
        let permutation = permutation(5, n);
        let next = |i: u64| {
            permutation
                .apply(i, n)
                .abs_diff(permutation.apply(i + 1, n))
        };
        let close = (0..n - 1).filter(|i| next(*i) == 1).count();
        assert!(close < 12, "{close} where 2 are expected");
        // The mean distance of two random places is n/3, its standard deviation n/√18.
        let mean = (0..n - 1).map(next).sum::<u64>() as f64 / (n - 1) as f64;
        let error = n as f64 / 18f64.sqrt() / (n as f64).sqrt();
        assert!((mean - n as f64 / 3.0).abs() < 5.0 * error, "{mean}");
    }

    #[test]
    fn a_place_is_as_likely_as_another() {
        // Over many seeds, where 0 goes among 10: chi-squared with 9 degrees exceeds 27.9 once in a thousand.
        let mut counts = [0u32; 10];
        for seed in 0..20_000 {
            counts[permutation(seed, 10).apply(0, 10) as usize] += 1;
        }
        let chi: f64 = counts
            .iter()
            .map(|&c| (f64::from(c) - 2e3).powi(2) / 2e3)
            .sum();
        assert!(chi < 27.9, "{counts:?}");
    }

    #[test]
    fn a_slightly_smaller_size_moves_little() {
        let all = permutation(1, 100_000);
        let fewer = all.for_up_to(99_999);
        let same = (0..99_999)
            .filter(|&i| all.apply(i, 100_000) == fewer.apply(i, 99_999))
            .count();
        assert!(same >= 99_990, "{same}");
    }
}

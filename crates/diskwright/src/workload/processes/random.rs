//! The random numbers of DiskSim's generators: a linear congruential generator of 48 bits, as POSIX has it (`drand48`).

/// The multiplier and the increment: IEEE Std 1003.1, `drand48`.
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
/// What the lowest 16 bits are when a seed is set.
const LOW: u64 = 0x330E;
const MASK: u64 = (1 << 48) - 1;

/// The generator: X ← 0x5DEECE66D · X + 0xB modulo 2⁴⁸.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random48(u64);

impl Random48 {
    /// Starts from a seed, of which the lowest 32 bits count: X = seed · 2¹⁶ + 0x330E.
    pub fn new(seed: u64) -> Random48 {
        Random48((seed << 16 | LOW) & MASK)
    }

    /// The next number, from 0 to below 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = MULTIPLIER.wrapping_mul(self.0).wrapping_add(INCREMENT) & MASK;
        // 48 bits are exact.
        self.0 as f64 / (1u64 << 48) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_generator_of_posix() {
        // Perl 5, whose rand() is drand48(): srand(SEED), then rand() three times.
        let known = [
            (0, [0.170_828_036_1, 0.749_901_980_48, 0.096_371_655_88]),
            (1, [0.041_630_344_77, 0.454_492_444_73, 0.834_817_218_55]),
        ];
        for (seed, expected) in known {
            let mut random = Random48::new(seed);
            for expected in expected {
                let found = random.uniform();
                assert!((found - expected).abs() < 1e-10, "{seed}: {found}");
            }
        }
    }

    #[test]
    fn seeds_count_by_their_lowest_32_bits() {
        assert_eq!(Random48::new(42), Random48::new(42 | 1 << 32));
        assert_ne!(Random48::new(42), Random48::new(42 | 1 << 31));
        assert_ne!(Random48::new(42), Random48::new(43));
    }
}

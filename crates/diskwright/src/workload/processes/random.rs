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
        // The C library's: srand48(SEED), then drand48() three times.
        let known = [
            (
                0,
                [0.17082803610628972, 0.7499019804849638, 0.09637165562356742],
            ),
            (
                1,
                [
                    0.041630344771878214,
                    0.45449244472862915,
                    0.8348172181669149,
                ],
            ),
            (
                1_000_003,
                [0.09190055060117075, 0.3279170385535224, 0.8742516907315228],
            ),
        ];
        for (seed, expected) in known {
            let mut random = Random48::new(seed);
            for expected in expected {
                let found = random.uniform();
                assert_eq!(found, expected, "{seed}");
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

//! Named, independent streams of random numbers.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::units::Time;

/// One stream of random numbers, independent of every stream of another name.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream called `name` of the spec's `seed`.
    pub fn new(seed: u64, name: &str) -> Stream {
        Stream(Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(
            name.as_bytes(),
            seed,
        )))
    }
    /// A whole number below `n`, every one exactly as likely as another; `n` must not be 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let mut wide = u128::from(self.0.next_u64()) * u128::from(n);
        if (wide as u64) < n {
            let uneven = n.wrapping_neg() % n;
            while (wide as u64) < uneven {
                wide = u128::from(self.0.next_u64()) * u128::from(n);
            }
        }
        (wide >> 64) as u64
    }
    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// An exponentially distributed time.
    pub fn exponential(&mut self, mean: Time) -> Time {
        let ns = -libm::log(1.0 - self.unit()) * mean.ns() as f64;
        Time::from_ns_f64(ns).unwrap_or(Time::MAX)
    }
}

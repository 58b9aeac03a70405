//! Named, independent random streams.
//!
//! Every random quantity of a run draws from a stream of its own, seeded by the spec's seed and the
//! stream's name, so that adding a draw in one place never changes another. Xoshiro256++ is named
//! rather than left to a library's default: its output is the same in every version and on every
//! machine. Logarithms come from `libm` for the same reason.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::base::units::Time;

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream called `name` of a run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Stream {
        let seed = xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), seed);
        Stream(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..n`, without bias. `n` must not be 0.
    ///
    /// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0, "an empty range has no element to draw");
        let mut product = u128::from(self.bits()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Exponentially distributed with this mean, to the nearest nanosecond.
    #[inline]
    pub fn exponential(&mut self, mean: Time) -> Time {
        // 1 − u lies in (0, 1], so the logarithm is finite.
        let ns = -libm::log(1.0 - self.unit()) * mean.ns() as f64;
        Time::from_ns(nearest(ns))
    }
}

/// The whole number nearest to one that is not negative, of two the higher one: what [`libm::round`] gives, in a fraction of its time.
#[inline]
fn nearest(number: f64) -> u64 {
    // From here on there are no fractions.
    const WHOLE: f64 = (1u64 << 52) as f64;
    if number >= WHOLE {
        return number as u64;
    }
    let below = number as i64;
    let is_nearer_above = number - below as f64 >= 0.5;
    below as u64 + u64::from(is_nearer_above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_only() {
        let draw = |seed, name| Stream::new(seed, name).bits();
        assert_eq!(draw(1, "workload.address"), draw(1, "workload.address"));
        assert_ne!(draw(1, "workload.address"), draw(2, "workload.address"));
        assert_ne!(draw(1, "workload.address"), draw(1, "workload.arrivals"));
    }

    #[test]
    fn the_generator_is_pinned() {
        // A changed value here would change every published digest.
        let mut stream = Stream::new(1, "pinned");
        assert_eq!(
            [stream.bits(), stream.bits()],
            [5_961_444_595_922_998_381, 10_919_195_612_371_494_900]
        );
    }

    #[test]
    fn below_is_uniform() {
        let mut stream = Stream::new(7, "below");
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        // Chi-squared with 5 degrees of freedom exceeds 20.5 once in a thousand.
        let chi: f64 = counts
            .iter()
            .map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4)
            .sum();
        assert!(chi < 20.5, "{counts:?}");
    }

    #[test]
    fn the_nearest_whole_number_is_that_of_libm() {
        let edges = [0.0, 0.5, 1.5, 2.5, 1e9 + 0.5, (1u64 << 51) as f64 + 0.5]
            .into_iter()
            .chain((50..65).map(|power| (1u128 << power) as f64));
        let edges = edges.flat_map(|edge: f64| [edge.next_down().max(0.0), edge, edge.next_up()]);
        let mut stream = Stream::new(5, "nearest");
        let drawn = (0..100_000).map(|_| stream.unit() * (1u64 << stream.below(63)) as f64);
        let drawn: Vec<f64> = drawn.collect();
        for number in edges.chain(drawn).chain([f64::MAX, f64::INFINITY]) {
            assert_eq!(nearest(number), libm::round(number) as u64, "{number:e}");
        }
    }

    #[test]
    fn exponential_has_its_mean_and_variance() {
        let mut stream = Stream::new(3, "gaps");
        let n = 200_000;
        let draws: Vec<f64> = (0..n)
            .map(|_| stream.exponential(Time::from_ms(20)).ms())
            .collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((mean - 20.0).abs() < 0.2, "{mean}");
        assert!((variance.sqrt() - 20.0).abs() < 0.4, "{variance}");
    }
}

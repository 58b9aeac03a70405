//! Spatial sampling: a cache of a share R of the objects, R times as large, misses as often.
//!
//! An object is in a sample or not by a hash of its key, so that all accesses to it are or none (SHARDS: Waldspurger, Park,
//! Garthwaite and Ahmad, "Efficient MRC construction with SHARDS", FAST 2015; for other policies than LRU: Waldspurger, Saemundsson,
//! Ahmad and Park, "Cache modeling and optimization using miniature simulations", USENIX ATC 2017).

use crate::base::random::Stream;

/// Which objects a sample is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    seed: u64,
    below: u64,
}

/// 2⁶⁴: how many hashes there are.
const HASHES: f64 = 18_446_744_073_709_551_616.0;

impl Sample {
    /// Independent samples of a share `rate` of all objects, more than 0 and less than 1.
    pub(super) fn several(rate: f64, count: u32, seed: u64) -> Vec<Sample> {
        let mut seeds = Stream::new(seed, "miss_ratio.sample");
        // A product below 2⁶⁴; at least one hash is in.
        let below = ((rate * HASHES) as u64).max(1);
        let sample = |_| Sample {
            seed: seeds.bits(),
            below,
        };
        (0..count).map(sample).collect()
    }

    /// Whether an object is in it.
    #[inline]
    pub(super) fn takes(&self, object: u64) -> bool {
        mix(object ^ self.seed) < self.below
    }
}

/// A hash of all 64 bits, one to one.
///
/// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), in
/// Stafford's thirteenth variant.
#[inline]
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_their_rate_and_are_independent() {
        let (rate, objects) = (0.1, 200_000u64);
        let samples = Sample::several(rate, 6, 1);
        // Neighbours, as blocks are, and places far apart.
        for stride in [1, 1 << 20] {
            let taken = |which: &dyn Fn(u64) -> bool| {
                (0..objects).filter(|at| which(at * stride)).count() as f64
            };
            // Five standard deviations of a binomial count.
            let near = |found: f64, share: f64| {
                let mean = objects as f64 * share;
                (found - mean).abs() < 5.0 * libm::sqrt(mean * (1.0 - share))
            };
            for (at, one) in samples.iter().enumerate() {
                let alone = taken(&|object| one.takes(object));
                assert!(near(alone, rate), "{alone} of {objects}");
                for other in &samples[..at] {
                    let both = taken(&|object| one.takes(object) && other.takes(object));
                    assert!(near(both, rate * rate), "{both} of {objects}");
                }
                let pairs = taken(&|object| one.takes(object) && one.takes(object + stride));
                assert!(near(pairs, rate * rate), "{pairs} of {objects}");
            }
        }
    }

    #[test]
    fn other_seeds_are_other_samples() {
        let of = |seed| Sample::several(0.5, 1, seed)[0];
        let members = |sample: Sample| (0..64).map(|at| sample.takes(at)).collect::<Vec<_>>();
        assert_ne!(members(of(1)), members(of(2)));
        assert_eq!(members(of(1)), members(of(1)));
    }

    #[test]
    fn nearly_nothing_and_nearly_everything() {
        let of = |rate| Sample::several(rate, 1, 1)[0].below;
        assert_eq!(of(f64::MIN_POSITIVE), 1);
        assert_eq!(of(0.5), 1 << 63);
        assert_eq!(of(1.0 - f64::EPSILON / 2.0), u64::MAX - 2047);
    }
}

//! Confidence intervals of a mean: from the batch means of one run, or from replications.
//!
//! Successive response times are correlated, so a run's own variance says little about its mean. Batch
//! means cut the run into equal batches, long enough that their means are nearly independent (Law,
//! *Simulation Modeling and Analysis*, 5th ed., §9.5.3). Here batches grow while the run goes on: when the
//! store is full, neighbours are joined and the batch size doubles.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The fewest batches that make an interval.
const FEWEST: usize = 20;
/// The most batches kept; then neighbours are joined.
const MOST: usize = 128;
/// The largest lag-1 correlation at which batch means count as independent.
const CORRELATION: f64 = 0.1;

/// Batches of a stream of integer values.
#[derive(Clone, Debug)]
pub struct Batches {
    sums: Vec<u128>,
    size: u64,
    filled: u64,
    sum: u128,
}

impl Default for Batches {
    fn default() -> Batches {
        Batches {
            sums: Vec::with_capacity(MOST),
            size: 1,
            filled: 0,
            sum: 0,
        }
    }
}

/// Why there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInterval {
    /// Fewer values than the fewest batches.
    TooShort,
    /// The means of even the longest batches are correlated.
    Correlated,
}

impl Batches {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.sum += u128::from(value);
        self.filled += 1;
        if self.filled == self.size {
            self.close();
        }
    }

    /// Adds values.
    #[inline]
    pub fn add_all(&mut self, mut values: &[u64]) {
        while !values.is_empty() {
            let room = usize::try_from(self.size - self.filled).unwrap_or(usize::MAX);
            let (some, rest) = values.split_at(room.min(values.len()));
            self.sum += some.iter().map(|&value| u128::from(value)).sum::<u128>();
            self.filled += some.len() as u64;
            if self.filled == self.size {
                self.close();
            }
            values = rest;
        }
    }

    #[inline(never)]
    fn close(&mut self) {
        if self.sums.len() == MOST {
            self.sums = join(&self.sums);
            self.size *= 2;
            // The batch just filled has half the new size and goes on.
            return;
        }
        self.sums.push(self.sum);
        (self.sum, self.filled) = (0, 0);
    }

    /// The means of the full batches.
    pub fn means(&self) -> Vec<f64> {
        self.sums
            .iter()
            .map(|&sum| sum as f64 / self.size as f64)
            .collect()
    }

    /// The 95 % interval of the mean, in the values' unit. Values after the last full batch are left out.
    pub fn ci95(&self) -> Result<[f64; 2], NoInterval> {
        let (mut sums, mut size) = (self.sums.clone(), self.size);
        if sums.len() < FEWEST {
            return Err(NoInterval::TooShort);
        }
        loop {
            let means: Vec<f64> = sums.iter().map(|&sum| sum as f64 / size as f64).collect();
            if lag1(&means) < CORRELATION {
                return Ok(ci95(&means).expect("at least twenty batches"));
            }
            if sums.len() / 2 < FEWEST {
                return Err(NoInterval::Correlated);
            }
            sums = join(&sums);
            size *= 2;
        }
    }
}

fn join(sums: &[u128]) -> Vec<u128> {
    let mut joined = Vec::with_capacity(MOST);
    joined.extend(sums.as_chunks::<2>().0.iter().map(|[a, b]| a + b));
    joined
}

/// The lag-1 autocorrelation; 0 where nothing varies.
fn lag1(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let product: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    if variance > 0.0 {
        product / variance
    } else {
        0.0
    }
}

/// The 97.5th percentile of Student's t with `freedom` degrees of freedom; `None` where these are not positive.
pub(super) fn t975(freedom: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975))
}

/// The 95 % interval of the mean of independent values, by Student's t; `None` for fewer than two.
pub fn ci95(values: &[f64]) -> Option<[f64; 2]> {
    let n = values.len() as f64;
    let freedom = n - 1.0;
    let t = t975(freedom)?;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / freedom;
    let half = t * libm::sqrt(variance / n);
    Some([mean - half, mean + half])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Stream;

    #[test]
    fn student_for_ten_values() {
        // Mean 5.5, standard deviation 3.0277, t(9) = 2.262157.
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let [low, high] = ci95(&values).unwrap();
        assert!(
            (low - 3.334_149).abs() < 1e-5 && (high - 7.665_851).abs() < 1e-5,
            "{low} {high}"
        );
        assert_eq!(ci95(&[1.0]), None);
    }

    #[test]
    fn students_t_is_that_of_the_tables() {
        // Two-sided 95 %: NIST/SEMATECH e-Handbook of Statistical Methods, §1.3.6.7.2.
        for (freedom, t) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (4.0, 2.776),
            (9.0, 2.262),
            (30.0, 2.042),
            (100.0, 1.984),
        ] {
            let found = t975(freedom).expect("positive");
            assert!((found - t).abs() < 6e-4, "{freedom}: {found}");
        }
        assert_eq!((t975(0.0), t975(-1.0)), (None, None));
    }

    #[test]
    fn ninety_five_of_a_hundred_intervals_hold_the_mean() {
        let (mut intervals, mut hits) = (0u32, 0u32);
        for seed in 0..400 {
            let mut stream = Stream::new(seed, "batches");
            let mut batches = Batches::default();
            for _ in 0..5_000 {
                batches.add(stream.below(1001));
            }
            if let Ok([low, high]) = batches.ci95() {
                intervals += 1;
                hits += u32::from(low <= 500.0 && 500.0 <= high);
            }
        }
        // By chance alone some runs look correlated and have none.
        assert!(intervals > 360, "{intervals} of 400");
        let share = f64::from(hits) / f64::from(intervals);
        assert!((0.92..0.98).contains(&share), "{hits} of {intervals}");
    }

    #[test]
    fn short_and_drifting_runs_have_none() {
        let mut batches = Batches::default();
        (0..19).for_each(|value| batches.add(value));
        assert_eq!(batches.ci95(), Err(NoInterval::TooShort));
        (19..100_000).for_each(|value| batches.add(value));
        assert_eq!(batches.ci95(), Err(NoInterval::Correlated));
    }

    #[test]
    fn values_by_the_slice_are_values_one_by_one() {
        let mut stream = Stream::new(1, "slices");
        let (mut one_by_one, mut by_slices) = (Batches::default(), Batches::default());
        for _ in 0..300 {
            let values: Vec<u64> = (0..stream.below(65)).map(|_| stream.below(1_000)).collect();
            values.iter().for_each(|&value| one_by_one.add(value));
            by_slices.add_all(&values);
            assert_eq!(one_by_one.means(), by_slices.means());
            assert_eq!(one_by_one.sum, by_slices.sum);
        }
    }

    #[test]
    fn joining_loses_nothing() {
        let mut batches = Batches::default();
        let n = MOST as u64 * 8 + 5;
        (0..n).for_each(|_| batches.add(3));
        let kept: u128 = batches.sums.iter().sum::<u128>() + batches.sum;
        assert_eq!(kept, u128::from(n) * 3);
        assert!(
            batches
                .sums
                .iter()
                .all(|&sum| sum == u128::from(batches.size) * 3)
        );
    }
}

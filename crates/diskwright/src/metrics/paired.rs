//! Two systems under the same random numbers: intervals of the difference and of the ratio of their means.
//!
//! Run *i* of both has the same seed, so their values go up and down together. The differences of the pairs are
//! independent of each other, and what the pair shares falls out of them (Law, *Simulation Modeling and Analysis*,
//! 5th ed., §10.2.1). The interval of the ratio is Fieller's ("Some problems in interval estimation", Journal of the
//! Royal Statistical Society B 16(2), 1954): all ratios θ that a paired t test of `value − θ · base` does not reject.
//! So it holds 1 exactly where the interval of the difference holds 0.

use super::interval::{ci95, t975};

/// A system beside the one that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The mean difference, value − base.
    pub difference: f64,
    /// Its 95 % interval; `None` for fewer than two pairs.
    pub ci95: Option<[f64; 2]>,
    /// The ratio of the means, value / base; `None` where the base is 0.
    pub ratio: Option<f64>,
    /// Its 95 % interval; `None` for fewer than two pairs, and where it is not bounded, since a base of 0 cannot be
    /// ruled out.
    pub ratio_ci95: Option<[f64; 2]>,
}

impl Paired {
    /// Of pairs of a value and its base; `None` where there are none.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Paired> {
        if pairs.is_empty() {
            return None;
        }
        let differences: Vec<f64> = pairs.iter().map(|(value, base)| value - base).collect();
        let (value, base) = means(pairs);
        Some(Paired {
            difference: differences.iter().sum::<f64>() / pairs.len() as f64,
            ci95: ci95(&differences),
            ratio: (base != 0.0).then(|| value / base),
            ratio_ci95: ratio_ci95(pairs),
        })
    }

    /// Whether the interval of the difference excludes zero; `None` without an interval.
    pub fn is_significant(&self) -> Option<bool> {
        self.ci95.map(|[low, high]| low > 0.0 || high < 0.0)
    }
}

fn means(pairs: &[(f64, f64)]) -> (f64, f64) {
    let n = pairs.len() as f64;
    let (values, bases) = pairs
        .iter()
        .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    (values / n, bases / n)
}

/// Fieller's interval of the ratio of the means.
fn ratio_ci95(pairs: &[(f64, f64)]) -> Option<[f64; 2]> {
    let n = pairs.len() as f64;
    let t = t975(n - 1.0)?;
    let (value, base) = means(pairs);
    // Covariances of the means, times t².
    let scale = t * t / (n * (n - 1.0));
    let (mut vv, mut vb, mut bb, mut spread) = (0.0, 0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a - value, b - base);
        vv += scale * a * a;
        vb += scale * a * b;
        bb += scale * b * b;
        let rest = base * a - value * b;
        spread += scale * rest * rest;
    }
    // (value − θ · base)² ≤ t² · variance, a parabola in θ that opens upwards only for a base that is not 0.
    let leading = base * base - bb;
    if leading <= 0.0 {
        return None;
    }
    let middle = (value * base - vb) / leading;
    // The discriminant without the difference of large squares.
    let half = libm::sqrt((spread - (vv * bb - vb * vb)).max(0.0)) / leading;
    Some([middle - half, middle + half])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: [f64; 2], expected: [f64; 2]) -> bool {
        found
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() <= 1e-8 * (1.0 + b.abs()))
    }

    #[test]
    fn a_pair_with_itself_differs_by_nothing() {
        let pairs = [1.1, 1.7, 0.1 + 1.2].map(|value| (value, value));
        let same = Paired::of(&pairs).expect("three pairs");
        let exactly = Paired {
            difference: 0.0,
            ci95: Some([0.0, 0.0]),
            ratio: Some(1.0),
            ratio_ci95: Some([1.0, 1.0]),
        };
        assert_eq!((same, same.is_significant()), (exactly, Some(false)));
    }

    #[test]
    fn one_pair_has_no_interval_and_none_has_nothing() {
        let one = Paired::of(&[(3.0, 2.0)]).expect("a pair");
        assert_eq!((one.difference, one.ratio), (1.0, Some(1.5)));
        assert_eq!(
            (one.ci95, one.ratio_ci95, one.is_significant()),
            (None, None, None)
        );
        assert_eq!(Paired::of(&[]), None);
    }

    #[test]
    fn differences_are_those_of_a_paired_t_test() {
        // Differences 1, 2, 3, 4, 5: mean 3, standard deviation √2.5, t(4) = 2.776445.
        let pairs: Vec<(f64, f64)> = (1..=5)
            .map(|i| (f64::from(100 * i + i), f64::from(100 * i)))
            .collect();
        let paired = Paired::of(&pairs).expect("five pairs");
        assert!(close(
            paired.ci95.expect("five"),
            [3.0 - 1.963_243_162, 3.0 + 1.963_243_162]
        ));
        assert_eq!(
            (paired.difference, paired.is_significant()),
            (3.0, Some(true))
        );
    }

    #[test]
    fn over_a_constant_base_the_ratio_is_the_scaled_mean() {
        let values = [3.0, 5.0, 4.5, 6.25];
        let pairs: Vec<(f64, f64)> = values.iter().map(|value| (*value, 4.0)).collect();
        let expected = ci95(&values).expect("four values").map(|edge| edge / 4.0);
        assert!(close(ratio_ci95(&pairs).expect("bounded"), expected));
    }

    #[test]
    fn a_base_that_may_be_zero_bounds_no_ratio() {
        let pairs = [(1.0, -1.0), (2.0, 1.0), (3.0, 0.5)];
        assert_eq!(ratio_ci95(&pairs), None);
        let zero = Paired::of(&[(1.0, 0.0), (2.0, 0.0)]).expect("two pairs");
        assert_eq!((zero.ratio, zero.ratio_ci95), (None, None));
    }

    fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
        prop::collection::vec((5.0f64..20.0, 8.0f64..12.0), 3..12)
    }

    proptest! {
        #[test]
        fn the_ratios_edges_are_where_a_t_test_turns(pairs in pairs()) {
            let Some([low, high]) = ratio_ci95(&pairs) else {
                // The base itself cannot be told from zero.
                let bases: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
                let [low, high] = ci95(&bases).expect("three or more");
                prop_assert!(low <= 0.0 && high >= 0.0);
                return Ok(());
            };
            let holds = |ratio: f64| {
                let rest: Vec<f64> = pairs.iter().map(|(value, base)| value - ratio * base).collect();
                let [low, high] = ci95(&rest).expect("three or more");
                low <= 0.0 && 0.0 <= high
            };
            let step = 1e-6 * (1.0 + high.abs());
            prop_assert!(!holds(low - step) && holds(low + step) && holds(high - step) && !holds(high + step));
        }

        #[test]
        fn the_ratio_holds_one_where_the_difference_holds_zero(pairs in pairs()) {
            let paired = Paired::of(&pairs).expect("pairs");
            if let (Some([low, high]), Some(significant)) = (paired.ratio_ci95, paired.is_significant()) {
                prop_assert_eq!(significant, low > 1.0 || high < 1.0);
            }
        }

        #[test]
        fn a_multiple_has_that_ratio(bases in prop::collection::vec(8.0f64..12.0, 4..12), factor in 0.1f64..9.0) {
            let pairs: Vec<(f64, f64)> = bases.iter().map(|base| (factor * base, *base)).collect();
            if let Some(interval) = ratio_ci95(&pairs) {
                prop_assert!(interval.iter().all(|edge| (edge - factor).abs() < 1e-6 * factor), "{interval:?}");
            }
        }
    }
}

//! One measured quantity: its distribution, exact moments, and the interval of its mean.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use super::histogram::Logarithmic;
use super::interval::{Batches, NoInterval};
use super::picture::distribution::curve;
use crate::base::units::Time;

/// Significant decimal digits of a percentile.
const DIGITS: u8 = 3;
/// The fewest samples above a percentile that make it worth printing.
pub const FEWEST_ABOVE: f64 = 100.0;

/// The percentiles of a result, by name.
pub const PERCENTILES: [(&str, f64); 5] = [
    ("p50", 0.50),
    ("p90", 0.90),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p999", 0.999),
];

/// A quantity measured once a request, in nanoseconds. Sums are exact; percentiles are within 0.1 %.
#[derive(Default)]
pub struct Series {
    /// In the bins of a [`Histogram`] of three digits, counted in fewer steps than by that.
    counts: Logarithmic<10>,
    count: u64,
    sum: u128,
    squares: u128,
    max: u64,
    batches: Batches,
}

impl Series {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: Time) {
        self.add_all(&[value.ns()]);
    }

    /// Adds values, ns.
    #[inline]
    pub fn add_all(&mut self, values: &[u64]) {
        self.count += values.len() as u64;
        // Sums in registers: for all that a compiler knows, a count may lie where a sum does.
        let (mut sum, mut squares, mut max) = (self.sum, self.squares, self.max);
        for &ns in values {
            self.counts.add(ns);
            sum += u128::from(ns);
            squares += u128::from(ns) * u128::from(ns);
            max = max.max(ns);
        }
        (self.sum, self.squares, self.max) = (sum, squares, max);
        self.batches.add_all(values);
    }

    /// The same values in one series, of which `batches` are the batches in the order in which all of them came.
    pub fn joined<'a>(parts: impl Iterator<Item = &'a Series>, batches: &Batches) -> Series {
        let mut all = Series {
            batches: batches.clone(),
            ..Series::default()
        };
        for part in parts {
            all.counts.join(&part.counts);
            all.count += part.count;
            all.sum += part.sum;
            all.squares += part.squares;
            all.max = all.max.max(part.max);
        }
        all
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean in ms, 0 for an empty series.
    pub fn mean_ms(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64 / 1e6
        }
    }

    /// The standard deviation in ms: from exact integer sums, so it suffers no cancellation.
    pub fn std_ms(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let n = u128::from(self.count);
        // n·Σx² − (Σx)², over n·(n − 1).
        let spread = match (self.squares.checked_mul(n), self.sum.checked_mul(self.sum)) {
            (Some(left), Some(right)) => (left - right) as f64 / n as f64,
            _ => self.squares as f64 - self.sum as f64 * (self.sum as f64 / n as f64),
        };
        libm::sqrt(spread.max(0.0) / (n - 1) as f64) / 1e6
    }

    /// The distribution.
    fn histogram(&self) -> Histogram<u64> {
        let most = self.max.max(2);
        let mut histogram =
            Histogram::new_with_max(most, DIGITS).expect("three digits, and 2 or more as the most");
        for (value, count) in self.counts.bins() {
            histogram
                .record_n(value, count)
                .expect("no value is above the most");
        }
        histogram
    }

    /// A quantile in ms, within 0.1 %.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        self.quantile_of(&self.histogram(), quantile)
    }

    /// Quantiles in ns, as [`Self::quantile_ms`] has them.
    pub fn quantiles_ns(&self, quantiles: &[f64]) -> Vec<u64> {
        let histogram = self.histogram();
        let found = quantiles.iter();
        found
            .map(|quantile| histogram.value_at_quantile(*quantile).min(self.max))
            .collect()
    }

    /// The largest value in ns, 0 for an empty series.
    pub fn max_ns(&self) -> u64 {
        self.max
    }

    fn quantile_of(&self, histogram: &Histogram<u64>, quantile: f64) -> f64 {
        histogram.value_at_quantile(quantile).min(self.max) as f64 / 1e6
    }

    /// The 95 % interval of the mean in ms.
    pub fn ci95_ms(&self) -> Result<[f64; 2], NoInterval> {
        self.batches
            .ci95()
            .map(|[low, high]| [low / 1e6, high / 1e6])
    }

    /// The curve of the distribution, for a picture.
    pub fn curve(&self) -> Value {
        curve(&self.histogram(), self.max)
    }

    /// The object of results: mean, std, percentiles, max and total in ms, ci95 or null.
    pub fn json(&self) -> Value {
        let mut object = json!({ "mean": self.mean_ms(), "std": self.std_ms() });
        let histogram = self.histogram();
        for (name, quantile) in PERCENTILES {
            object[name] = json!(self.quantile_of(&histogram, quantile));
        }
        object["max"] = json!(self.max as f64 / 1e6);
        object["total"] = json!(self.sum as f64 / 1e6);
        object["ci95"] = json!(self.ci95_ms().ok());
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact_and_percentiles_close() {
        let mut series = Series::default();
        (1..=1000).for_each(|us| series.add(Time::from_us(us)));
        let json = series.json();
        assert_eq!(json["mean"], 0.5005);
        assert!((json["std"].as_f64().unwrap() - 0.288_819_436_1).abs() < 1e-9);
        assert!((json["p50"].as_f64().unwrap() - 0.5).abs() < 1.5e-3);
        assert!((json["p99"].as_f64().unwrap() - 0.99).abs() < 1e-3);
        assert_eq!(json["max"], 1.0);
        assert_eq!(json["total"], 500.5);
    }

    #[test]
    fn parts_join_to_what_one_series_has() {
        let (mut whole, mut parts) = (Series::default(), [Series::default(), Series::default()]);
        let mut batches = Batches::default();
        for us in (1..=10_000).map(|i| i * i % 7_919 * 13) {
            whole.add(Time::from_us(us));
            batches.add(Time::from_us(us).ns());
            parts[usize::from(us % 3 == 0)].add(Time::from_us(us));
        }
        let joined = Series::joined(parts.iter(), &batches);
        assert_eq!(joined.json(), whole.json());
        assert_eq!(joined.curve(), whole.curve());
        assert!(parts.iter().all(|part| part.count() > 1000));
    }

    #[test]
    fn an_empty_series_is_all_zero() {
        let json = Series::default().json();
        assert_eq!(
            (&json["mean"], &json["p999"], &json["ci95"]),
            (&json!(0.0), &json!(0.0), &Value::Null)
        );
    }
}

//! A distribution as a curve, from its body to its far tail.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::base::units::Time;

/// Points of the body, evenly from the least value on, up to the quantile at which the tail begins.
const BODY: u32 = 100;
const BODY_ENDS: f64 = 0.9;
/// Points of the tail for every tenth part that is left.
const PER_DECADE: u32 = 20;
/// The share beyond the last point of the tail: 10 to the power of minus this.
const DECADES: u32 = 5;

/// The quantiles of a curve of `count` values, rising: evenly through the body, then evenly in the logarithm of what lies
/// beyond, as far as one value does.
fn quantiles(count: u64) -> impl Iterator<Item = f64> {
    let body = (0..BODY).map(|step| BODY_ENDS * f64::from(step) / f64::from(BODY));
    let tail = (PER_DECADE..=PER_DECADE * DECADES)
        .map(|step| libm::pow(10.0, -f64::from(step) / f64::from(PER_DECADE)))
        // A rounding error at a count of a power of ten costs no point.
        .take_while(move |beyond| beyond * count as f64 > 1.0 - 1e-9)
        .map(|beyond| 1.0 - beyond);
    body.chain(tail)
}

/// The curve of a histogram of ns: `count`, the list `quantile`, and the value of each in `ms`. It ends in the largest value, at
/// 1; without values it has no points.
pub fn curve(histogram: &Histogram<u64>, max: u64) -> Value {
    let count = histogram.len();
    let mut quantile: Vec<f64> = match count {
        0 => Vec::new(),
        _ => quantiles(count).collect(),
    };
    let value = |&quantile: &f64| histogram.value_at_quantile(quantile).min(max) as f64 / 1e6;
    let mut ms: Vec<f64> = quantile.iter().map(value).collect();
    if count > 0 {
        quantile.push(1.0);
        ms.push(max as f64 / 1e6);
    }
    json!({ "count": count, "quantile": quantile, "ms": ms })
}

/// Times of one kind of request, for their curve. Values are within 0.1 %.
#[derive(Clone, Debug)]
pub struct Times {
    histogram: Histogram<u64>,
    max: u64,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            histogram: Histogram::new(3).expect("three digits are within the histogram's range"),
            max: 0,
        }
    }
}

impl Times {
    /// Adds a time.
    pub fn add(&mut self, time: Time) {
        let ns = time.ns();
        self.histogram
            .record(ns)
            .expect("a histogram that resizes itself takes every value");
        self.max = self.max.max(ns);
    }

    /// The curve, as [`curve`] gives it.
    pub fn json(&self) -> Value {
        curve(&self.histogram, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(times: &Times) -> Vec<(f64, f64)> {
        let json = times.json();
        let list = |key: &str| -> Vec<f64> {
            let list = json[key].as_array().unwrap();
            list.iter().filter_map(Value::as_f64).collect()
        };
        list("quantile").into_iter().zip(list("ms")).collect()
    }

    #[test]
    fn the_curve_of_even_values_is_a_line() {
        let mut times = Times::default();
        (1..=200_000).for_each(|us| times.add(Time::from_us(us)));
        let points = points(&times);
        for &(quantile, ms) in &points {
            let exact = (quantile * 200.0).max(0.001);
            assert!((ms / exact - 1.0).abs() < 2e-3, "{ms} at {quantile}");
        }
        assert!(points.is_sorted());
        let (beyond, last) = (points[points.len() - 2], points[points.len() - 1]);
        assert!((1.0 - beyond.0 - 1e-5).abs() < 1e-12);
        assert_eq!(last, (1.0, 200.0));
    }

    #[test]
    fn the_tail_ends_where_the_values_do() {
        let mut times = Times::default();
        (0..1000).for_each(|_| times.add(Time::from_ms(1)));
        let points = points(&times);
        assert!((points[points.len() - 2].0 - 0.999).abs() < 1e-12);
        assert!(points.iter().all(|&(_, ms)| ms <= 1.0 && ms > 0.999));
    }

    #[test]
    fn one_value_is_a_curve_and_none_is_not() {
        assert_eq!(points(&Times::default()), []);
        let mut times = Times::default();
        times.add(Time::from_ms(7));
        let points = points(&times);
        assert_eq!(points.len() as u32, BODY + 1);
        assert_eq!(points[BODY as usize], (1.0, 7.0));
    }
}

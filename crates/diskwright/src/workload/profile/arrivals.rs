//! How requests arrive: the gaps between them, and how bursty they are.

use serde::{Deserialize, Serialize};

use crate::base::units::Time;
use crate::metrics::histogram::LogHistogram;

use super::bursts::{BurstProfile, Bursts};
use super::space::Spread;

/// The windows in which arrivals are counted.
const WINDOWS: [Time; 6] = [
    Time::from_ms(1),
    Time::from_ms(10),
    Time::from_ms(100),
    Time::from_s(1),
    Time::from_s(10),
    Time::from_s(100),
];
/// Fewer windows than this say nothing of their variance.
const FEWEST: u64 = 10;

/// The arrivals of a stream of requests, one after the other; one out of order counts as arriving with the one in front.
#[derive(Default)]
pub struct Arrivals {
    first: Option<Time>,
    before: Time,
    gaps: LogHistogram,
    windows: [Window; WINDOWS.len()],
    bursts: Bursts,
    slices: Spread,
}

impl Arrivals {
    pub fn add(&mut self, at: Time) {
        let Some(first) = self.first else {
            self.first = Some(at);
            self.before = at;
            self.slices.add(0);
            self.windows.iter_mut().for_each(|window| window.add(0));
            return;
        };
        let at = at.max(self.before);
        let gap = (at - self.before).ns();
        self.gaps.add(gap);
        self.bursts.add(gap);
        self.before = at;
        let since = (at - first).ns();
        self.slices.add(since);
        for (window, length) in self.windows.iter_mut().zip(WINDOWS) {
            window.add(since / length.ns());
        }
    }

    pub fn gaps(&self) -> &LogHistogram {
        &self.gaps
    }

    /// Requests by the time since the first, in slices of equal length.
    pub fn slices(&self) -> &Spread {
        &self.slices
    }

    /// Bursts of every length; none where nothing arrived.
    pub fn bursts(&self) -> Vec<BurstProfile> {
        self.first.map_or_else(Vec::new, |_| self.bursts.finish())
    }

    /// The index of dispersion of counts, for each length of which enough whole windows lie within the trace.
    pub fn dispersion(&self) -> Vec<Dispersion> {
        let lengths = self.windows.iter().zip(WINDOWS);
        let enough = lengths.filter(|(window, _)| window.number >= FEWEST);
        enough
            .map(|(window, length)| Dispersion {
                window_ms: length.ms(),
                windows: window.number,
                index: window.dispersion(),
            })
            .collect()
    }
}

/// The variance of the number of arrivals in windows of one length, divided by its mean: 1 for a Poisson process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispersion {
    /// How long a window is.
    pub window_ms: f64,
    /// Whole windows since the first arrival.
    pub windows: u64,
    /// Variance / mean.
    pub index: f64,
}

/// Counts in windows of one length. The last one, which the trace may end within, is not among the sums.
#[derive(Default)]
struct Window {
    /// The current window, and whole windows before it.
    number: u64,
    count: u64,
    sum: u128,
    squares: u128,
}

impl Window {
    fn add(&mut self, number: u64) {
        if number != self.number {
            let count = u128::from(self.count);
            self.sum += count;
            self.squares += count * count;
            (self.number, self.count) = (number, 0);
        }
        self.count += 1;
    }

    fn dispersion(&self) -> f64 {
        // n Σx² − (Σx)² over n Σx, exact up to the division.
        let n = u128::from(self.number);
        let above = (n * self.squares - self.sum * self.sum) as f64;
        above / (n * self.sum) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_arrivals_have_no_dispersion_and_pairs_have_some() {
        let mut even = Arrivals::default();
        let mut pairs = Arrivals::default();
        for i in 0..=100 {
            even.add(Time::from_ms(i));
            // Two in every second millisecond: counts 2, 0, 2, 0, …: mean 1, variance 1.
            pairs.add(Time::from_ms(2 * i));
            pairs.add(Time::from_ms(2 * i));
        }
        let at = |arrivals: &Arrivals| {
            let all = arrivals.dispersion();
            all.iter()
                .map(|d| (d.window_ms, d.windows, d.index))
                .collect::<Vec<_>>()
        };
        assert_eq!(at(&even), [(1.0, 100, 0.0), (10.0, 10, 0.0)]);
        assert_eq!(at(&pairs), [(1.0, 200, 1.0), (10.0, 20, 0.0)]);
        let gaps: Vec<_> = pairs.gaps().bins().map(|(_, count)| count).collect();
        assert_eq!(gaps, [101, 100]);
    }

    #[test]
    fn an_arrival_out_of_order_comes_with_the_one_in_front() {
        let mut arrivals = Arrivals::default();
        for ms in [5, 9, 2, 9] {
            arrivals.add(Time::from_ms(ms));
        }
        let gaps: Vec<_> = arrivals.gaps().bins().map(|(_, count)| count).collect();
        assert_eq!(gaps, [2, 1]);
        assert!(arrivals.dispersion().is_empty());
    }
}

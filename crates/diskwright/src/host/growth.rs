//! Does an open load outrun its device? Then the queue only grows, and the run's length decides every mean.

use crate::metrics::interval::Batches;

/// A backlog below this is no queue worth speaking of.
const SMALL: f64 = 16.0;
/// The last quarter's backlog against the first one's, from which growth is taken for granted.
const FACTOR: f64 = 3.0;

/// The backlog, requests arrived and not completed, as each arrival found it.
#[derive(Default)]
pub struct Growth(Batches);

impl Growth {
    /// Notes the backlog at an arrival.
    #[inline]
    pub fn add(&mut self, backlog: u64) {
        self.0.add(backlog);
    }

    /// A warning where the backlog rose from quarter to quarter of the run.
    pub fn verdict(&self) -> Option<String> {
        let means = self.0.means();
        let quarter = means.len() / 4;
        if quarter == 0 {
            return None;
        }
        let quarters: Vec<f64> = means
            .chunks(quarter)
            .take(4)
            .map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64)
            .collect();
        let (first, last) = (quarters[0], quarters[3]);
        let grows = quarters.is_sorted() && last > SMALL && last > FACTOR * first;
        grows.then(|| {
            format!(
                "the queue only grows (mean backlog {first:.0} in the first quarter of the run, {last:.0} in the last): the \
                 load is more than the device can take, and mean times depend on the run's length"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_backlog_is_found_and_a_level_one_is_not() {
        let mut rising = Growth::default();
        (0..10_000).for_each(|i| rising.add(i / 10));
        assert!(rising.verdict().unwrap().contains("only grows"));
        let mut level = Growth::default();
        (0..10_000).for_each(|i| level.add(500 + i % 7));
        assert_eq!(level.verdict(), None);
        assert_eq!(Growth::default().verdict(), None);
    }
}

//! Counts in bins that grow with what they count.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

/// Counts of whole numbers: exact below `2^(BITS + 1)`, then in `2^BITS` bins for every doubling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logarithmic<const BITS: u32> {
    counts: Vec<u64>,
}

/// Counts of whole numbers: exact up to 7, then in four bins for every doubling.
pub type LogHistogram = Logarithmic<2>;

impl<const BITS: u32> Logarithmic<BITS> {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// Counts `value` `times` times.
    pub fn add_many(&mut self, value: u64, times: u64) {
        let bin = bin::<BITS>(value);
        if self.counts.len() <= bin {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += times;
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// All that was counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The bins with something in them: the least number of each, and its count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        let bins = self.counts.iter().enumerate();
        bins.filter(|(_, count)| **count > 0)
            .map(|(bin, count)| (least::<BITS>(bin), *count))
    }

    /// How many numbers the bin of a number holds; the last bin of all ends with the largest number there is.
    pub fn bin_width(value: u64) -> u64 {
        let bin = bin::<BITS>(value);
        // What follows the last bin of all is 2^64, which wraps to 0.
        least::<BITS>(bin + 1).wrapping_sub(least::<BITS>(bin))
    }

    /// Counts all that `other` counted.
    pub fn join(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// The number below or at which a share `quantile` of all lie: the middle of its bin, and so off by at most one part
    /// in `2^(BITS + 1)`. `None` where nothing was counted.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let rank = libm::ceil(quantile * self.total() as f64).max(1.0);
        let mut below = 0;
        let bin = self.counts.iter().position(|count| {
            below += count;
            below as f64 >= rank
        })?;
        let first = least::<BITS>(bin);
        // What follows the last bin of all is 2^64, which wraps to 0.
        let last = least::<BITS>(bin + 1).wrapping_sub(1);
        Some(first + (last - first) / 2)
    }
}

/// As two lists, `from` (the least number of each bin) and `count`; empty bins are left out.
impl<const BITS: u32> Serialize for Logarithmic<BITS> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (from, count): (Vec<_>, Vec<_>) = self.bins().unzip();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("from", &from)?;
        map.serialize_entry("count", &count)?;
        map.end()
    }
}

/// From the lists [`Logarithmic`] is written as; numbers that are not the least of their bin count in the bin they lie in.
impl<'de, const BITS: u32> Deserialize<'de> for Logarithmic<BITS> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Lists {
            from: Vec<u64>,
            count: Vec<u64>,
        }
        let Lists { from, count } = Lists::deserialize(deserializer)?;
        if from.len() != count.len() {
            return Err(serde::de::Error::custom(format!(
                "a histogram has as many counts as bins, and here are {} bins and {} counts",
                from.len(),
                count.len()
            )));
        }
        let mut histogram = Self::default();
        let mut total = 0u64;
        for (from, count) in from.into_iter().zip(count) {
            total = total
                .checked_add(count)
                .ok_or_else(|| serde::de::Error::custom("a histogram counts fewer than 2^64"))?;
            histogram.add_many(from, count);
        }
        Ok(histogram)
    }
}

/// The bin of a number.
#[inline]
fn bin<const BITS: u32>(value: u64) -> usize {
    // Without a branch for the exact ones, which is not foreseen where they are mixed with others.
    let doubling = (value | 1 << BITS).ilog2() - BITS;
    ((u64::from(doubling) << BITS) + (value >> doubling)) as usize
}

/// The least number of a bin.
fn least<const BITS: u32>(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < 1 << BITS {
        return bin;
    }
    let doubling = (bin >> BITS) - 1;
    (bin - (doubling << BITS)) << doubling
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_are_exact_and_then_four_for_a_doubling() {
        let leasts: Vec<_> = (0..18).map(least::<2>).collect();
        let expected = [
            0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40,
        ];
        assert_eq!(leasts, expected);
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(LogHistogram::default().quantile(0.5), None);
    }

    #[test]
    fn what_is_counted_is_found_again() {
        let mut histogram = LogHistogram::default();
        for value in [0, 7, 9, 9, 8, u64::MAX] {
            histogram.add(value);
        }
        let bins: Vec<_> = histogram.bins().collect();
        assert_eq!(bins, [(0, 1), (7, 1), (8, 3), (7 << 61, 1)]);
        assert_eq!(histogram.total(), 6);
    }

    #[test]
    fn lists_of_different_lengths_are_no_histogram() {
        let read = |text: &str| toml::from_str::<LogHistogram>(text);
        assert_eq!(read("from = [8]\ncount = [3]").unwrap().total(), 3);
        let error = read("from = [8]\ncount = []").unwrap_err().to_string();
        assert!(error.contains("1 bins and 0 counts"), "{error}");
        let most = i64::MAX;
        let text = format!("from = [1, 2, 3]\ncount = [{most}, {most}, {most}]");
        assert!(read(&text).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(values in prop::collection::vec(0..u64::from(u32::MAX), 0..50)) {
            let mut histogram = LogHistogram::default();
            values.iter().for_each(|&value| histogram.add(value));
            let text = toml::to_string(&histogram).unwrap();
            prop_assert_eq!(toml::from_str::<LogHistogram>(&text).unwrap(), histogram);
        }

        #[test]
        fn bins_follow_each_other(value in any::<u64>()) {
            let first = least::<2>(bin::<2>(value));
            let last = first + (LogHistogram::bin_width(value) - 1);
            prop_assert_eq!(bin::<2>(last), bin::<2>(value));
            prop_assert!(last == u64::MAX || bin::<2>(last + 1) == bin::<2>(value) + 1);
        }

        #[test]
        fn a_number_lies_in_its_bin(value in prop_oneof![0u64..5_000, any::<u64>()]) {
            let at = bin::<2>(value);
            prop_assert!(least::<2>(at) <= value);
            if at < bin::<2>(u64::MAX) {
                prop_assert!(value < least::<2>(at + 1));
            }
        }

        #[test]
        fn a_quantile_is_as_close_as_it_says(
            mut values in prop::collection::vec(prop_oneof![0u64..100, any::<u64>()], 1..200),
            share in 0.0f64..=1.0,
        ) {
            let mut histogram = Logarithmic::<4>::default();
            values.iter().for_each(|&value| histogram.add(value));
            values.sort_unstable();
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
            let (exact, close) = (values[rank - 1], histogram.quantile(share).unwrap());
            prop_assert!(exact.abs_diff(close) <= exact / 32, "{} for {}", close, exact);
        }

        #[test]
        fn joined_is_as_if_counted_together(
            left in prop::collection::vec(any::<u64>(), 0..50),
            right in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let counted = |values: &[u64]| {
                let mut histogram = LogHistogram::default();
                values.iter().for_each(|&value| histogram.add(value));
                histogram
            };
            let mut joined = counted(&left);
            joined.join(&counted(&right));
            prop_assert_eq!(joined, counted(&[left, right].concat()));
        }
    }
}

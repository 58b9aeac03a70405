//! Counts in bins that grow with what they count.

use serde::Serialize;
use serde::ser::SerializeMap;

/// Counts of whole numbers: exact up to 7, then in four bins for every doubling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogHistogram {
    counts: Vec<u64>,
}

/// Bins of a doubling, as a power of two.
const BITS: u32 = 2;

impl LogHistogram {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// Counts `value` so many times.
    pub fn add_many(&mut self, value: u64, times: u64) {
        let bin = bin(value);
        if self.counts.len() <= bin {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += times;
    }

    /// All that was counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The bins with something in them: the least number of each, and its count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        let bins = self.counts.iter().enumerate();
        bins.filter(|(_, count)| **count > 0)
            .map(|(bin, count)| (least(bin), *count))
    }
}

/// As two lists, `from` (the least number of each bin) and `count`; empty bins are left out.
impl Serialize for LogHistogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (from, count): (Vec<_>, Vec<_>) = self.bins().unzip();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("from", &from)?;
        map.serialize_entry("count", &count)?;
        map.end()
    }
}

/// The bin of a number.
#[inline]
fn bin(value: u64) -> usize {
    if value < 1 << BITS {
        return value as usize;
    }
    let doubling = value.ilog2() - BITS;
    ((u64::from(doubling) << BITS) + (value >> doubling)) as usize
}

/// The least number of a bin.
fn least(bin: usize) -> u64 {
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
        let leasts: Vec<_> = (0..18).map(least).collect();
        let expected = [
            0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40,
        ];
        assert_eq!(leasts, expected);
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

    proptest! {
        #[test]
        fn a_number_lies_in_its_bin(value in prop_oneof![0u64..5_000, any::<u64>()]) {
            let at = bin(value);
            prop_assert!(least(at) <= value);
            if at < bin(u64::MAX) {
                prop_assert!(value < least(at + 1));
            }
        }
    }
}

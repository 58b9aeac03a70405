//! Something collected over simulated time, in equal bins that widen while the run goes on.

use crate::base::units::Time;

/// The width of the first bins, ns.
const NARROWEST: u64 = 1_000;

/// What two neighbouring bins become when they are one.
pub trait Join {
    /// Takes in the bin that follows.
    fn join(&mut self, next: Self);
}

/// A limited number of bins of equal width, from the first instant noted on. When they are full, neighbours are joined and the width
/// doubles, so that memory does not grow with the run.
#[derive(Clone, Debug)]
pub struct Bins<T> {
    bins: Vec<T>,
    most: usize,
    width: u64,
    origin: Option<Time>,
}

impl<T: Default + Join> Bins<T> {
    /// At most `most` bins, and none yet.
    pub fn new(most: usize) -> Bins<T> {
        Bins {
            bins: Vec::new(),
            most,
            width: NARROWEST,
            origin: None,
        }
    }

    /// The bin of an instant; one before the first instant noted falls into the first bin.
    pub fn at(&mut self, at: Time) -> &mut T {
        let offset = self.offset(at);
        let bin = self.bin(offset);
        &mut self.bins[bin]
    }

    /// Calls `add` for every bin between two instants, with the nanoseconds of it that lie between them.
    pub fn over(&mut self, from: Time, to: Time, mut add: impl FnMut(&mut T, u64)) {
        let (from, to) = (self.offset(from), self.offset(to));
        if from >= to {
            return;
        }
        let last = self.bin(to - 1);
        for bin in (from / self.width) as usize..=last {
            let start = bin as u64 * self.width;
            let span = (start + self.width).min(to) - start.max(from);
            add(&mut self.bins[bin], span);
        }
    }

    /// Time since the first instant noted, which this one may be.
    fn offset(&mut self, at: Time) -> u64 {
        at.saturating_sub(*self.origin.get_or_insert(at)).ns()
    }

    /// Makes sure that there is a bin for this time since the first instant.
    fn bin(&mut self, offset: u64) -> usize {
        while offset / self.width >= self.most as u64 {
            self.widen();
        }
        let bin = (offset / self.width) as usize;
        if bin >= self.bins.len() {
            self.bins.resize_with(bin + 1, T::default);
        }
        bin
    }

    fn widen(&mut self) {
        let mut old = std::mem::take(&mut self.bins).into_iter();
        self.bins.reserve(self.most);
        while let Some(mut bin) = old.next() {
            if let Some(next) = old.next() {
                bin.join(next);
            }
            self.bins.push(bin);
        }
        self.width *= 2;
    }

    /// Joins neighbours until there are at most `wanted` bins, or one.
    #[must_use]
    pub fn coarsened(mut self, wanted: usize) -> Bins<T> {
        while self.bins.len() > wanted.max(1) {
            self.widen();
        }
        self
    }

    /// Changes every bin.
    pub fn each(&mut self, change: impl FnMut(&mut T)) {
        self.bins.iter_mut().for_each(change);
    }

    /// The bins, the earliest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.bins.iter()
    }

    /// How many bins there are.
    pub fn len(&self) -> usize {
        self.bins.len()
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// Where the first bin begins.
    pub fn start(&self) -> Time {
        self.origin.unwrap_or_default()
    }

    /// The width of a bin.
    pub fn width(&self) -> Time {
        Time::from_ns(self.width)
    }

    /// How much of the last bin had passed at `end`, which lies in it.
    pub fn last_width(&self, end: Time) -> Time {
        let before = self.bins.len().saturating_sub(1) as u64 * self.width;
        let passed = end.saturating_sub(self.start()).ns().saturating_sub(before);
        Time::from_ns(passed.min(self.width))
    }
}

/// The number of bins to show for `events` events: enough to see something, but with more than a few events in each bin.
pub fn enough_for(events: u64) -> usize {
    const EVENTS_PER_BIN: u64 = 16;
    const FEWEST: u64 = 24;
    (events / EVENTS_PER_BIN).max(FEWEST) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Sum(u64);

    impl Join for Sum {
        fn join(&mut self, next: Sum) {
            self.0 += next.0;
        }
    }

    const MOST: usize = 8;

    /// The bins that events make, worked out at once: the width that fits, then every event into its bin.
    fn brute(offsets: &[u64]) -> (u64, Vec<u64>) {
        let latest = offsets.iter().max().copied().unwrap_or(0);
        let mut width = NARROWEST;
        while latest / width >= MOST as u64 {
            width *= 2;
        }
        let mut bins = vec![0; (latest / width) as usize + 1];
        for offset in offsets {
            bins[(offset / width) as usize] += 1;
        }
        (width, bins)
    }

    #[test]
    fn the_bins_widen_when_they_are_full_and_no_earlier() {
        let mut bins = Bins::new(MOST);
        let start = Time::from_s(5);
        for us in 0..8 {
            *bins.at(start + Time::from_us(us)) = Sum(us + 1);
        }
        assert_eq!((bins.len(), bins.width()), (8, Time::from_us(1)));
        bins.at(start + Time::from_us(8)).0 += 9;
        let sums: Vec<u64> = bins.iter().map(|sum| sum.0).collect();
        assert_eq!(
            (sums, bins.width()),
            (vec![3, 7, 11, 15, 9], Time::from_us(2))
        );
        assert_eq!(
            (bins.start(), bins.last_width(start + Time::from_us(9))),
            (start, Time::from_us(1))
        );
    }

    #[test]
    fn years_and_an_instant_before_the_first_find_their_bin() {
        let mut bins = Bins::<Sum>::new(MOST);
        bins.at(Time::from_s(1)).0 += 1;
        bins.at(Time::MAX).0 += 1;
        bins.at(Time::ZERO).0 += 1;
        let sums: Vec<u64> = bins.iter().map(|sum| sum.0).collect();
        assert!(sums.len() <= MOST);
        assert_eq!((sums[0], *sums.last().unwrap()), (2, 1));
    }

    proptest! {
        #[test]
        fn widening_is_the_same_as_wide_bins_from_the_start(
            offsets in prop::collection::vec(0u64..10_000_000, 1..60),
            wanted in 0usize..10,
        ) {
            let start = Time::from_ms(3);
            let mut bins = Bins::<Sum>::new(MOST);
            bins.at(start);
            for &offset in &offsets {
                bins.at(start + Time::from_ns(offset)).0 += 1;
            }
            let sums = |bins: &Bins<Sum>| bins.iter().map(|sum| sum.0).collect::<Vec<_>>();
            let (width, expected) = brute(&offsets);
            prop_assert_eq!((bins.width().ns(), sums(&bins)), (width, expected));
            let coarse = bins.coarsened(wanted);
            prop_assert!(coarse.len() <= wanted.max(1));
            prop_assert_eq!(sums(&coarse).iter().sum::<u64>(), offsets.len() as u64);
        }

        #[test]
        fn spans_are_divided_exactly(
            spans in prop::collection::vec((0u64..2_000_000, 0u64..2_000_000), 1..40),
        ) {
            let mut bins = Bins::<Sum>::new(MOST);
            bins.at(Time::ZERO);
            for &(from, span) in &spans {
                let from = Time::from_ns(from);
                bins.over(from, from + Time::from_ns(span), |sum, ns| sum.0 += ns);
            }
            let expected = |bin: u64| -> u64 {
                let (low, high) = (bin * bins.width().ns(), (bin + 1) * bins.width().ns());
                let within = |&(from, span): &(u64, u64)| (from + span).min(high).saturating_sub(from.max(low));
                spans.iter().map(within).sum()
            };
            for (bin, sum) in bins.iter().enumerate() {
                prop_assert_eq!(sum.0, expected(bin as u64));
            }
            prop_assert_eq!(
                bins.iter().map(|sum| sum.0).sum::<u64>(),
                spans.iter().map(|(_, span)| span).sum::<u64>()
            );
        }
    }
}

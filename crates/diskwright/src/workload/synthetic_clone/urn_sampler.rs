//! Draws without replacement: what a histogram counts comes up exactly as often as it counts it.

use crate::base::order_statistics::Fenwick;
use crate::base::random::Stream;
use crate::metrics::histogram::LogHistogram;

/// An urn with balls of several kinds. Once all are drawn it is as full as it was.
#[derive(Clone, Debug)]
pub struct UrnSampler {
    counts: Vec<u64>,
    left: Fenwick,
}

impl UrnSampler {
    /// An urn with `counts[kind]` balls of each kind.
    pub fn new(counts: Vec<u64>) -> UrnSampler {
        let left = Fenwick::new(counts.iter().copied());
        UrnSampler { counts, left }
    }

    /// Balls that are left.
    pub fn left(&self) -> u64 {
        self.left.total()
    }

    /// Balls of a kind that are left.
    pub fn left_of(&self, kind: usize) -> u64 {
        if kind >= self.left.len() {
            return 0;
        }
        self.left.between(kind, kind + 1)
    }

    /// The kind of the next ball, which is still in the urn; `None` if the urn was made without balls.
    pub fn peek(&mut self, stream: &mut Stream) -> Option<usize> {
        if self.left.total() == 0 {
            self.left = Fenwick::new(self.counts.iter().copied());
        }
        let left = self.left.total();
        (left > 0).then(|| self.left.find(stream.below(left)).0)
    }

    /// Takes a ball of a kind; nothing happens when none is left.
    pub fn take(&mut self, kind: usize) {
        if self.left_of(kind) > 0 {
            self.left.lower(kind);
        }
    }

    /// Draws a ball.
    pub fn draw(&mut self, stream: &mut Stream) -> Option<usize> {
        let kind = self.peek(stream)?;
        self.left.lower(kind);
        Some(kind)
    }
}

/// The fractional part of the golden ratio: its multiples, modulo 1, are spread more evenly than random numbers.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// `count` numbers that lie somewhere among `width` from `from` on.
#[derive(Clone, Copy, Debug)]
pub struct Bin {
    from: u64,
    width: u64,
    count: u64,
}

/// A bin of a [`LogHistogram`]: the least number, and the count.
impl From<(u64, u64)> for Bin {
    fn from((from, count): (u64, u64)) -> Bin {
        Bin {
            from,
            width: LogHistogram::bin_width(from),
            count,
        }
    }
}

/// The least number, how many numbers there are, and the count.
impl From<(u64, u64, u64)> for Bin {
    fn from((from, width, count): (u64, u64, u64)) -> Bin {
        Bin { from, width, count }
    }
}

/// The numbers that a histogram counts, as often as it counts them, each somewhere in its bin.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The least number of each bin, and how many numbers it holds.
    bins: Vec<(u64, u64)>,
    urn: UrnSampler,
    /// Where in each bin the next number lies, 0 to 1.
    places: Vec<f64>,
    /// Exponent on the place: 1 spreads the numbers evenly over a bin.
    skew: f64,
}

impl Numbers {
    /// The numbers of a histogram.
    pub fn new(histogram: &LogHistogram) -> Numbers {
        Numbers::of_bins(histogram.bins())
    }

    /// The numbers of bins, by [`Bin`].
    pub fn of_bins<B: Into<Bin>>(bins: impl IntoIterator<Item = B>) -> Numbers {
        let bins: Vec<Bin> = bins.into_iter().map(Into::into).collect();
        Numbers {
            // The first lies in the middle, for it may be the only one; where the others lie is up to its multiples.
            places: vec![0.5 - GOLDEN + 1.0; bins.len()],
            urn: UrnSampler::new(bins.iter().map(|bin| bin.count).collect()),
            bins: bins
                .iter()
                .map(|bin| (bin.from, bin.width.max(1)))
                .collect(),
            skew: 1.0,
        }
    }

    /// How numbers lie in their bins, for [`Self::with_skew`].
    pub fn skew(&self) -> f64 {
        self.skew
    }

    /// Numbers lie in their bins as in another's.
    #[must_use]
    pub fn with_skew(mut self, skew: f64) -> Numbers {
        self.skew = skew;
        self
    }

    /// No number is above `most`, whatever its bin.
    #[must_use]
    pub fn with_most(mut self, most: u64) -> Numbers {
        for (from, width) in &mut self.bins {
            *width = (most.saturating_sub(*from).saturating_add(1)).min(*width);
        }
        self
    }

    /// Moves numbers within their bins so that all together come as near to `sum` as they can.
    #[must_use]
    pub fn with_sum(mut self, sum: f64) -> Numbers {
        // The mean of a place to the power of e is 1/(1 + e).
        let total = |share: f64| -> f64 {
            let bins = self.bins.iter().zip(&self.urn.counts);
            bins.map(|(&(from, width), &count)| {
                count as f64 * (from as f64 + share * (width - 1) as f64)
            })
            .sum()
        };
        let (low, high) = (total(0.0), total(1.0));
        if high > low {
            let share = ((sum - low) / (high - low)).clamp(0.001, 0.999);
            self.skew = 1.0 / share - 1.0;
        }
        self
    }

    /// The next number, or `None` where nothing was counted.
    pub fn draw(&mut self, stream: &mut Stream) -> Option<u64> {
        let bin = self.urn.draw(stream)?;
        Some(self.within(bin))
    }

    /// The bin of the next number, which is not drawn yet.
    pub fn peek(&mut self, stream: &mut Stream) -> Option<usize> {
        self.urn.peek(stream)
    }

    /// The least number of a bin, and how many numbers it holds.
    pub fn bin(&self, bin: usize) -> (u64, u64) {
        self.bins[bin]
    }

    /// Draws a number from this bin.
    pub fn draw_from(&mut self, bin: usize) -> u64 {
        self.urn.take(bin);
        self.within(bin)
    }

    /// Whether this very number has a bin of its own with something left in it.
    pub fn has_number(&self, number: u64) -> bool {
        let bin = self
            .bins
            .iter()
            .position(|&(from, width)| from == number && width == 1);
        bin.is_some_and(|bin| self.urn.left_of(bin) > 0)
    }

    /// Draws this very number, if it has a bin of its own with something left in it.
    pub fn take_number(&mut self, number: u64) -> bool {
        let bin = self
            .bins
            .iter()
            .position(|&(from, width)| from == number && width == 1);
        let Some(bin) = bin.filter(|&bin| self.urn.left_of(bin) > 0) else {
            return false;
        };
        self.urn.take(bin);
        true
    }

    /// Draws a number of this bin.
    pub fn take(&mut self, bin: usize) {
        self.urn.take(bin);
    }

    /// The bin with the smallest, or the largest, numbers of several draws, none of which is made.
    pub fn extreme(&mut self, tries: usize, largest: bool, stream: &mut Stream) -> Option<usize> {
        let mut found: Option<usize> = None;
        for _ in 0..tries {
            let bin = self.peek(stream)?;
            if found.is_none_or(|best| (self.bins[bin].0 > self.bins[best].0) == largest) {
                found = Some(bin);
            }
        }
        found
    }

    fn within(&mut self, bin: usize) -> u64 {
        let (from, width) = self.bins[bin];
        if width == 1 {
            return from;
        }
        let place = &mut self.places[bin];
        *place = (*place + GOLDEN) % 1.0;
        let share = libm::pow(*place, self.skew);
        from + ((share * width as f64) as u64).min(width - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_urn_is_drawn_to_its_last_ball_and_filled_again() {
        let counts = vec![3, 0, 5];
        let mut urn = UrnSampler::new(counts.clone());
        let mut stream = Stream::new(1, "deck");
        for _ in 0..3 {
            let mut seen = vec![0; 3];
            for _ in 0..8 {
                seen[urn.draw(&mut stream).unwrap()] += 1;
            }
            assert_eq!((&seen, urn.left()), (&counts, 0));
        }
        assert_eq!(UrnSampler::new(vec![0, 0]).draw(&mut stream), None);
    }

    #[test]
    fn what_is_taken_does_not_come_again() {
        let mut urn = UrnSampler::new(vec![1, 2]);
        urn.take(0);
        urn.take(0);
        let mut stream = Stream::new(1, "deck");
        assert_eq!((urn.left(), urn.left_of(0), urn.left_of(1)), (2, 0, 2));
        assert_eq!(urn.draw(&mut stream), Some(1));
    }

    #[test]
    fn numbers_fill_the_histogram_they_come_from_and_have_their_sum() {
        let mut counted = LogHistogram::default();
        let mut sum = 0;
        for i in 0..2_000u64 {
            // Near the lower ends of their bins.
            let number = (1 << (i % 20)) + (i % 20) / 8;
            counted.add(number);
            sum += number;
        }
        let mut stream = Stream::new(1, "numbers");
        let mut numbers = Numbers::new(&counted).with_sum(sum as f64);
        let (mut drawn, mut total) = (LogHistogram::default(), 0);
        for _ in 0..counted.total() {
            let number = numbers.draw(&mut stream).unwrap();
            drawn.add(number);
            total += number;
        }
        assert_eq!(drawn, counted);
        assert!(
            (total as f64 / sum as f64 - 1.0).abs() < 0.01,
            "{total} for {sum}"
        );
    }
}

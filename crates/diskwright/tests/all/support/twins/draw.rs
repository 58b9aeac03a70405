//! Random choices: a number and a name give the same ones on every machine.

use std::ops::RangeInclusive;

use diskwright::base::random::Stream;

pub struct Draw(Stream);

impl Draw {
    /// Those of the case of a number, of the twin of a name.
    pub fn new(number: u64, name: &str) -> Draw {
        Draw(Stream::new(number, name))
    }

    pub fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        range.start() + self.0.below(range.end() - range.start() + 1)
    }

    pub fn size(&mut self, range: RangeInclusive<u64>) -> usize {
        self.within(range) as usize
    }

    /// Small numbers more likely than large ones.
    pub fn scaled(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (low, high) = (*range.start() as f64 + 1.0, *range.end() as f64 + 2.0);
        let drawn = low * libm::pow(high / low, self.0.unit());
        (drawn as u64 - 1).clamp(*range.start(), *range.end())
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.0.below(times) == 0
    }

    pub fn percent(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }

    pub fn coin(&mut self) -> bool {
        self.0.below(2) == 1
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.below(from.len() as u64) as usize]
    }

    /// A time in ns: nothing at times, else not beyond `most`.
    pub fn time(&mut self, most: u64) -> u64 {
        match self.percent(25) {
            true => 0,
            false => self.within(1..=most),
        }
    }
}

//! When a process looks after its time-limited requests: on a time line that stands still unless it lies within one gap.
//!
//! The times are a sorted list of which each entry counts from the one before, as in DiskSim 4.0. Before a gap, the entries that lie within it
//! are taken off, and split it; one that does not is left as it is, as if no time had passed. So a request is looked after in one gap that is
//! longer than what is left of its time, and later than its limit says.

/// The requests of one process that are to be looked after, by the numbers of their plans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timers(Vec<(f64, u64)>);

impl Timers {
    /// Looks after a request so many ms from now on the time line; after those that are there already for the same instant.
    pub fn add(&mut self, mut ms: f64, plan: u64) {
        let mut index = 0;
        while let Some(&(delta, _)) = self.0.get(index)
            && delta <= ms
        {
            ms -= delta;
            index += 1;
        }
        if let Some((delta, _)) = self.0.get_mut(index) {
            *delta -= ms;
        }
        self.0.insert(index, (ms, plan));
    }

    /// Takes off the first entry that lies within a gap of so many ms, and shortens the gap by its time.
    pub fn within(&mut self, gap_ms: &mut f64) -> Option<(f64, u64)> {
        let &(delta, _) = self.0.first()?;
        if delta >= *gap_ms {
            return None;
        }
        *gap_ms -= delta;
        Some(self.0.remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What splits a gap, and what is left of it.
    fn split(timers: &mut Timers, mut gap: f64) -> (Vec<(f64, u64)>, f64) {
        let taken = std::iter::from_fn(|| timers.within(&mut gap));
        let taken: Vec<_> = taken.collect();
        (taken, gap)
    }

    #[test]
    fn entries_count_from_the_one_before() {
        let mut timers = Timers::default();
        for (ms, plan) in [(30.0, 1), (10.0, 2), (50.0, 3), (30.0, 4), (0.0, 5)] {
            timers.add(ms, plan);
        }
        let expected = [(0.0, 5), (10.0, 2), (20.0, 1), (0.0, 4), (20.0, 3)];
        assert_eq!(timers.0, expected);
        assert_eq!(split(&mut timers, 100.0), (expected.to_vec(), 50.0));
        assert_eq!(timers, Timers::default());
    }

    #[test]
    fn what_lies_beyond_a_gap_does_not_come_nearer() {
        let mut timers = Timers::default();
        timers.add(5.0, 1);
        timers.add(13.0, 2);
        // 8 ms after the first one, of which the rest of the gap has 5.
        assert_eq!(split(&mut timers, 10.0), (vec![(5.0, 1)], 5.0));
        for _ in 0..3 {
            assert_eq!(split(&mut timers, 8.0), (vec![], 8.0));
        }
        assert_eq!(split(&mut timers, 8.5), (vec![(8.0, 2)], 0.5));
    }
}

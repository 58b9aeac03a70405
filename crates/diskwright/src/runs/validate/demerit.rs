//! The distance of two distributions of times, by the procedure of DiskSim's validation.
//!
//! Ruemmler and Wilkes ("An introduction to disk drive modeling", IEEE Computer 27(3), 1994) call the root mean square of
//! the horizontal distance of two distributions the demerit of a model. DiskSim 4.0 works it out from histograms whose bins
//! grow by 1 %, printed and read again with six decimals; so does this, so that figures compare.

use crate::base::units::Time;

/// The lines of a histogram.
const LINES: usize = 1_750;
/// The values that a bin's lower edge is divided by for the growth of its width: 1 %.
const GROWTH: u64 = 100;
/// The quantiles that are compared, and what lies between two.
pub const POINTS: usize = 10_000;
const STEP: f64 = 0.0001;

/// The lower edge of each line in µs: from one to the next, 1 µs and 1 % more, truncated.
const EDGES_US: [u64; LINES] = {
    let mut edges = [0; LINES];
    let mut line = 1;
    while line < LINES {
        let below = edges[line - 1];
        edges[line] = below + 1 + below / GROWTH;
        line += 1;
    }
    edges
};

/// How many times lie below each edge, in constant memory.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// By line, the number of times from the edge before to just below that of the line. The last line has all that are
    /// longer, too.
    counts: Vec<u64>,
    total: u64,
}

impl Default for Distribution {
    fn default() -> Distribution {
        Distribution {
            counts: vec![0; LINES],
            total: 0,
        }
    }
}

impl Distribution {
    /// Counts a time, truncated to whole microseconds.
    pub fn add(&mut self, time: Time) {
        let us = time.ns() / 1_000;
        // The first edge is 0: a time is never in line 0, which is DiskSim's for negative ones.
        let line = EDGES_US.partition_point(|&edge| edge <= us);
        self.counts[line.min(LINES - 1)] += 1;
        self.total += 1;
    }

    /// The lines up to the first at which all times have been counted: an edge in ms, and the share of the times below it
    /// as printed. Empty where nothing was counted.
    pub fn lines(&self) -> Vec<(f64, f64)> {
        let mut lines = Vec::new();
        let mut below = 0;
        for (&edge, &count) in EDGES_US.iter().zip(&self.counts) {
            if self.total == 0 {
                break;
            }
            below += count;
            let share = printed(below as f64 / self.total as f64);
            lines.push((edge as f64 / 1_000.0, share));
            if share >= 1.0 {
                break;
            }
        }
        lines
    }
}

/// A share with the six decimals that it is printed with.
fn printed(share: f64) -> f64 {
    let text = format!("{share:.6}");
    text.parse().expect("a printed number")
}

/// The lines of a distribution, and how far its quantiles have been looked up.
struct Quantiles {
    lines: Vec<(f64, f64)>,
    at: usize,
}

impl Quantiles {
    fn new(distribution: &Distribution) -> Quantiles {
        Quantiles {
            lines: distribution.lines(),
            at: 0,
        }
    }

    /// The time in ms below which a share `p` lies, between two edges on a straight line; shares must rise.
    fn at(&mut self, p: f64) -> f64 {
        while self.at + 1 < self.lines.len() && self.lines[self.at].1 < p {
            self.at += 1;
        }
        let (x, y) = self.lines[self.at];
        match self.at.checked_sub(1).map(|before| self.lines[before]) {
            Some((x0, y0)) if y > y0 => x0 + (p - y0) * (x - x0) / (y - y0),
            _ => x,
        }
    }
}

/// The quantiles of both distributions in ms, at 0.0001, 0.0002, … 1; none where one is empty.
pub fn quantiles(
    recorded: &Distribution,
    simulated: &Distribution,
) -> impl Iterator<Item = (f64, f64, f64)> {
    let points = if recorded.total == 0 || simulated.total == 0 {
        0
    } else {
        POINTS
    };
    let (mut recorded, mut simulated) = (Quantiles::new(recorded), Quantiles::new(simulated));
    let mut p = 0.0;
    (0..points).map(move |_| {
        p += STEP;
        (p, recorded.at(p), simulated.at(p))
    })
}

/// The root mean square of the distance of the quantiles, in ms; 0 where a distribution is empty.
pub fn demerit_ms(recorded: &Distribution, simulated: &Distribution) -> f64 {
    let squares = quantiles(recorded, simulated).map(|(_, recorded, simulated)| {
        let distance = recorded - simulated;
        distance * distance
    });
    libm::sqrt(squares.sum::<f64>() / POINTS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(times_us: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        for &us in times_us {
            distribution.add(Time::from_us(us));
        }
        distribution
    }

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} for {wanted}");
    }

    #[test]
    fn edges_grow_by_a_microsecond_and_one_percent() {
        assert_eq!(EDGES_US[..3], [0, 1, 2]);
        // 99, 100, then steps of 2 up to 200, then of 3.
        assert_eq!(EDGES_US[99..103], [99, 100, 102, 104]);
        assert_eq!(EDGES_US[150..153], [200, 203, 206]);
        assert!(EDGES_US.is_sorted());
    }

    #[test]
    fn a_time_is_counted_at_the_edge_above_it() {
        for (ns, edge_ms) in [
            (0, 0.001),
            (999, 0.001),
            (1_000, 0.002),
            (99_999, 0.1),
            (100_000, 0.102),
            (101_999, 0.102),
            (102_000, 0.104),
        ] {
            let mut distribution = Distribution::default();
            distribution.add(Time::from_ns(ns));
            assert_eq!(distribution.lines().last(), Some(&(edge_ms, 1.0)), "{ns}");
        }
    }

    #[test]
    fn what_lies_beyond_the_last_edge_is_in_the_last_line() {
        let last = EDGES_US[LINES - 1];
        for us in [EDGES_US[LINES - 2], last, u64::MAX / 1_000] {
            let lines = of(&[us]).lines();
            assert_eq!(lines.len(), LINES, "{us}");
            assert_eq!(lines.last(), Some(&(last as f64 / 1_000.0, 1.0)));
        }
        assert_eq!(of(&[EDGES_US[LINES - 2] - 1]).lines().len(), LINES - 1);
    }

    #[test]
    fn shares_have_six_decimals_and_reading_stops_at_one() {
        let lines = of(&[0, 1, 1]).lines();
        assert_eq!(lines, [(0.0, 0.0), (0.001, 0.333_333), (0.002, 1.0)]);
        // 1 − 10^-7 is printed as 1: the slowest of ten million is not seen.
        let mut many = Distribution::default();
        many.counts[1] = 9_999_999;
        many.counts[5] = 1;
        many.total = 10_000_000;
        assert_eq!(many.lines(), [(0.0, 0.0), (0.001, 1.0)]);
    }

    /// Two values a hundred bins of 1 µs apart: every quantile is.
    #[test]
    fn equal_shapes_are_as_far_apart_as_they_were_moved() {
        close(demerit_ms(&of(&[10, 50]), &of(&[20, 60])), 0.010);
        close(demerit_ms(&of(&[20, 60]), &of(&[10, 50])), 0.010);
        close(demerit_ms(&of(&[10, 50]), &of(&[50, 10])), 0.0);
    }

    /// One value against two, by hand: over all p the first runs from 10 to 11 µs, 10 + p; the other does so up to a half,
    /// 10 + 2p, and from there on runs from 30 to 31 µs, 30 + 2(p − ½).
    #[test]
    fn a_split_is_worked_out_by_hand() {
        let (mut squares, mut p) = (0.0, 0.0);
        for point in 1..=POINTS {
            p += STEP;
            // 5,000 steps of 0.0001 add up to a little less than a half.
            let us: f64 = if point <= 5_000 {
                2.0 * p - p
            } else {
                20.0 + 2.0 * (p - 0.5) - p
            };
            squares += us * us / 1e6;
        }
        assert!((1..=5_000).fold(0.0, |p: f64, _| p + STEP) < 0.5);
        let expected = libm::sqrt(squares / POINTS as f64);
        close(demerit_ms(&of(&[10]), &of(&[10, 30])), expected);
    }

    #[test]
    fn the_points_add_up_to_just_less_than_one() {
        let (last, ..) = quantiles(&of(&[1]), &of(&[2])).last().expect("points");
        assert_eq!(last, 0.999_999_999_999_906_2);
    }

    #[test]
    fn nothing_is_no_distance() {
        assert_eq!(demerit_ms(&of(&[]), &of(&[5])), 0.0);
        assert_eq!(demerit_ms(&of(&[]), &of(&[])), 0.0);
    }

    /// Numbers of times that share no factor with 10,000: no point falls on a step of the distribution.
    const COUNTS: [usize; 6] = [1, 3, 7, 21, 33, 77];

    fn times() -> impl Strategy<Value = Vec<u64>> {
        let time = prop_oneof![0u64..300, 0u64..200_000, 0u64..20_000_000];
        prop::sample::select(&COUNTS[..])
            .prop_flat_map(move |count| prop::collection::vec(time.clone(), count))
    }

    /// The value at each point of the sorted times, and the width of its bin, in µs.
    fn sorted(mut times: Vec<u64>) -> Vec<(f64, f64)> {
        times.sort_unstable();
        let rank = |point: usize| (point * times.len()).div_ceil(POINTS) - 1;
        let value = |point| times[rank(point)];
        (1..=POINTS)
            .map(value)
            .map(|us| (us as f64, (1 + us / GROWTH) as f64))
            .collect()
    }

    proptest! {
        /// The distance of the sorted times themselves, without bins, differs by no more than the bins are wide.
        #[test]
        fn it_is_the_distance_of_the_sorted_times(one in times(), other in times()) {
            let found = demerit_ms(&of(&one), &of(&other)) * 1e3;
            let (one, other) = (sorted(one), sorted(other));
            let rms = |squares: &mut dyn Iterator<Item = f64>| {
                libm::sqrt(squares.sum::<f64>() / POINTS as f64)
            };
            let plain = rms(&mut one.iter().zip(&other).map(|(a, b)| (a.0 - b.0) * (a.0 - b.0)));
            // By the triangle inequality; a value lies in a bin that is at most as wide as the rule gives for the value.
            let width = |values: &[(f64, f64)]| rms(&mut values.iter().map(|(_, width)| width * width));
            let most = width(&one) + width(&other);
            prop_assert!((found - plain).abs() <= most + 1e-6, "{} for {}", found, plain);
        }

        #[test]
        fn quantiles_rise(one in times(), other in times()) {
            let points: Vec<_> = quantiles(&of(&one), &of(&other)).collect();
            prop_assert_eq!(points.len(), POINTS);
            for pair in points.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1 && pair[0].2 <= pair[1].2);
            }
        }
    }
}

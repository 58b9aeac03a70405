//! Arrivals of a measured profile: bursts within bursts, as many in each as were counted, with the gaps that were counted.
//!
//! Bursts and gaps come in a random order as long as about as many requests have arrived as in the trace until then. The more
//! are missing, the more often larger bursts and shorter gaps come first; where there are too many, smaller and longer ones.

use crate::base::random::Stream;
use crate::base::units::Time;
use crate::metrics::histogram::LogHistogram;
use crate::workload::profile::ArrivalProfile;
use crate::workload::profile::bursts::{LEVELS, level, parting};

use super::super::urn_sampler::Numbers;

/// Tells the arrival times one after the other.
#[derive(Debug)]
pub struct Arrivals {
    now: Option<Time>,
    /// Gaps by the level of bursts within which they lie.
    gaps: Vec<Numbers>,
    /// How many members bursts have, by level; none of a level that the profile does not tell of.
    members: Vec<Numbers>,
    /// Members that are still to come in the current burst of each level.
    left: [u64; LEVELS],
    /// Requests before each slice of the trace's time, and in all; and how long a slice is.
    until: Vec<u64>,
    slice_ns: u64,
    yielded: u64,
    stream: Stream,
}

/// What is wanted of the next bursts and gaps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    More,
    Any,
    Fewer,
}

/// The number of draws. The largest or the smallest is taken where more or fewer requests are wanted.
const TRIES: usize = 4;

impl Arrivals {
    /// As measured; the gaps are to add up to the duration.
    pub fn new(profile: &ArrivalProfile, duration_s: f64, requests: u64, seed: u64) -> Arrivals {
        let stream = Stream::new(seed, "look-alike.arrivals");
        let mut by_level = vec![LogHistogram::default(); LEVELS + 1];
        for (from, count) in profile.gap_ns.bins() {
            by_level[level(from)].add_many(from, count);
        }
        let all = Numbers::new(&profile.gap_ns).with_sum(duration_s * 1e9);
        let gaps = by_level
            .iter()
            .map(|gaps| Numbers::new(gaps).with_skew(all.skew()))
            .collect();
        // Every burst is a member of one of the next level.
        let mut below = requests;
        let mut members = Vec::new();
        for index in 0..LEVELS {
            let found = profile
                .bursts
                .iter()
                .find(|burst| burst.gap_ns == parting(index));
            let counted = found.map(|burst| burst.members.clone()).unwrap_or_default();
            members.push(Numbers::new(&counted).with_sum(below as f64));
            below = counted.total();
        }
        let mut sum = 0u64;
        let until = std::iter::once(0).chain(profile.slice_requests.iter().map(|count| {
            sum = sum.saturating_add(*count);
            sum
        }));
        let mut arrivals = Arrivals {
            until: until.collect(),
            slice_ns: profile.slice_ns.max(1),
            yielded: 0,
            now: Some(Time::ZERO),
            gaps,
            members,
            left: [0; LEVELS],
            stream,
        };
        arrivals.begin(LEVELS, Want::Any);
        arrivals
    }

    /// Whether more or fewer requests have arrived than in the trace: where as many are missing as a slice has, always; where
    /// fewer, as much less often.
    fn want(&mut self, at: Time) -> Want {
        let slice = (at.ns() / self.slice_ns) as usize;
        let Some(pair) = self.until.get(slice..slice.saturating_add(2)) else {
            // Past the end of the trace all that is left is late.
            return if self.until.len() < 2 {
                Want::Any
            } else {
                Want::More
            };
        };
        let share = (at.ns() % self.slice_ns) as f64 / self.slice_ns as f64;
        let in_slice = (pair[1] - pair[0]) as f64;
        let missing = pair[0] as f64 + share * in_slice - self.yielded as f64;
        let mean = self.until.last().copied().unwrap_or(0) as f64 / (self.until.len() - 1) as f64;
        let urgency = missing.abs() / in_slice.max(mean).max(1.0);
        match self.stream.unit() < urgency {
            true if missing > 0.0 => Want::More,
            true => Want::Fewer,
            false => Want::Any,
        }
    }

    /// Begins a burst at each level below this one.
    fn begin(&mut self, levels: usize, want: Want) {
        for index in 0..levels {
            let members = drawn(
                &mut self.members[index],
                want,
                want == Want::More,
                &mut self.stream,
            );
            self.left[index] = members.unwrap_or(1).saturating_sub(1);
        }
    }

    /// The next arrival; `None` past the end of time.
    pub fn next(&mut self) -> Option<Time> {
        let at = self.now?;
        let want = self.want(at);
        self.yielded += 1;
        let within = self
            .left
            .iter()
            .position(|left| *left > 0)
            .unwrap_or(LEVELS);
        if let Some(left) = self.left.get_mut(within) {
            *left -= 1;
        }
        self.begin(within, want);
        // A level without gaps, which only an edited profile has, has those of the next one that has any.
        let (below, above) = self.gaps.split_at_mut(within);
        let levels = above.iter_mut().chain(below.iter_mut().rev());
        let gap = levels
            .filter_map(|gaps| drawn(gaps, want, want == Want::Fewer, &mut self.stream))
            .next()
            .unwrap_or(0);
        self.now = at.checked_add(Time::from_ns(gap));
        Some(at)
    }
}

/// The next number: any, or, where something is wanted, the largest or the smallest of several.
fn drawn(numbers: &mut Numbers, want: Want, largest: bool, stream: &mut Stream) -> Option<u64> {
    if want == Want::Any {
        return numbers.draw(stream);
    }
    let bin = numbers.extreme(TRIES, largest, stream)?;
    Some(numbers.draw_from(bin))
}

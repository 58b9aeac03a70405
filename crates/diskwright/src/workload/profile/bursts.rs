//! Bursts of arrivals, at many lengths of time, one within the other.
//!
//! At a gap `g` a burst is as many requests as follow each other with gaps below `g`. With gaps four times as large, several
//! bursts and the gaps between them are one burst again, and so on. How many bursts are in one of the next length says how
//! arrivals crowd at every scale, and, together with the gaps, is enough to make arrivals like them.

use serde::{Deserialize, Serialize};

use crate::metrics::histogram::LogHistogram;

/// The shortest gap that parts bursts is two to this power, in nanoseconds: 16 µs.
const SHORTEST: u32 = 14;
/// Each is two to this power times as long as the one before.
const STEP: u32 = 2;
/// The number of lengths: the longest gap is four hours and a half.
pub const LEVELS: usize = 16;

/// Bursts that end at gaps of one length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstProfile {
    /// A gap of this number of nanoseconds or more separates two bursts.
    pub gap_ns: u64,
    /// How many bursts of the next shorter gap are in one; of the shortest gap, how many requests.
    pub members: LogHistogram,
}

/// The gap that parts bursts of a level.
pub fn parting(level: usize) -> u64 {
    1 << (SHORTEST + STEP * level as u32)
}

/// The level of bursts within which a gap lies: it parts those of the levels below.
pub fn level(gap_ns: u64) -> usize {
    (0..LEVELS)
        .find(|&level| gap_ns < parting(level))
        .unwrap_or(LEVELS)
}

/// Bursts while arrivals come by.
pub struct Bursts {
    /// Members of the burst that is under way at each level.
    now: [u64; LEVELS],
    members: [LogHistogram; LEVELS],
}

impl Default for Bursts {
    fn default() -> Bursts {
        Bursts {
            now: [1; LEVELS],
            members: Default::default(),
        }
    }
}

impl Bursts {
    pub fn add(&mut self, gap_ns: u64) {
        let within = level(gap_ns);
        for level in 0..within {
            self.members[level].add(self.now[level]);
            self.now[level] = 1;
        }
        if let Some(now) = self.now.get_mut(within) {
            *now += 1;
        }
    }

    /// All bursts, those too that the end of the trace cuts off; none for a trace without gaps.
    pub fn finish(&self) -> Vec<BurstProfile> {
        let levels = self.members.iter().zip(self.now).enumerate();
        levels
            .map(|(level, (members, now))| {
                let mut members = members.clone();
                members.add(now);
                BurstProfile {
                    gap_ns: parting(level),
                    members,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn levels_begin_at_their_gaps() {
        assert_eq!(parting(0), 16_384);
        for (gap, expected) in [(0, 0), (16_383, 0), (16_384, 1), (65_535, 1), (65_536, 2)] {
            assert_eq!(level(gap), expected, "{gap}");
        }
        let last = parting(LEVELS - 1);
        assert_eq!((level(last - 1), level(last)), (LEVELS - 1, LEVELS));
    }

    #[test]
    fn bursts_are_counted_by_hand() {
        let mut bursts = Bursts::default();
        // Three requests, a pause, one request, a longer pause, two requests.
        for gap in [10, 10, 20_000, 100_000, 10] {
            bursts.add(gap);
        }
        let found = bursts.finish();
        let members = |level: usize| found[level].members.bins().collect::<Vec<_>>();
        assert_eq!(members(0), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(members(1), [(1, 1), (2, 1)]);
        assert_eq!(members(2), [(2, 1)]);
        assert_eq!(members(3), [(1, 1)]);
    }

    proptest! {
        #[test]
        fn every_burst_is_a_member_of_the_next(gaps in prop::collection::vec(0u64..1 << 46, 0..60)) {
            let mut bursts = Bursts::default();
            gaps.iter().for_each(|&gap| bursts.add(gap));
            for (level, now) in bursts.finish().iter().enumerate() {
                let longer = gaps.iter().filter(|gap| **gap >= parting(level)).count() as u64;
                prop_assert_eq!(now.members.total(), longer + 1);
            }
        }
    }
}

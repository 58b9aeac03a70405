//! How sequential requests are shared out among runs: lengths of a geometric distribution, as whole runs.

use std::collections::BTreeMap;

/// How many runs have each number of followers: the requests that follow the first of a run.
pub type Lengths = BTreeMap<u64, u64>;

/// Shares `followers` out among about `followers / mean` runs, with geometric lengths of this mean from 1 on, none longer than
/// `longest`. All followers have a place.
pub fn lengths(followers: u64, mean: f64, longest: u64) -> Lengths {
    if followers == 0 {
        return Lengths::new();
    }
    let runs = (libm::round(followers as f64 / mean) as u64)
        .max(followers.div_ceil(longest))
        .clamp(1, followers);
    share_out(followers, runs, longest)
}

/// [`lengths`] with a given number of runs, which must have room for the followers and no more than one run for each.
pub fn share_out(followers: u64, runs: u64, longest: u64) -> Lengths {
    let stay = 1.0 - (runs as f64 / followers as f64).min(1.0);
    let mut found = Lengths::new();
    let (mut placed, mut sum, mut length) = (0, 0, 1);
    let mut longer = 1.0;
    // `up_to` is the number of runs that are at most this long: the cumulative distribution, rounded.
    while placed < runs {
        longer *= stay;
        let up_to = match length == longest {
            true => runs,
            false => (libm::round(runs as f64 * (1.0 - longer)) as u64).min(runs),
        };
        if up_to > placed {
            found.insert(length, up_to - placed);
            sum += (up_to - placed) * length;
        }
        placed = up_to;
        length += 1;
    }
    // What rounding lost or gained, from the shortest up or from the longest down, one request a run.
    while sum < followers {
        let next = found.keys().copied().find(|&length| length < longest);
        let Some(length) = next else { break };
        let moved = found[&length].min(followers - sum);
        shift(&mut found, length, length + 1, moved);
        sum += moved;
    }
    while sum > followers {
        let next = found.keys().copied().rev().find(|&length| length > 1);
        let Some(length) = next else { break };
        let moved = found[&length].min(sum - followers);
        shift(&mut found, length, length - 1, moved);
        sum -= moved;
    }
    found
}

fn shift(lengths: &mut Lengths, from: u64, to: u64, runs: u64) {
    if let Some(there) = lengths.get_mut(&from) {
        *there -= runs;
        if *there == 0 {
            lengths.remove(&from);
        }
    }
    *lengths.entry(to).or_default() += runs;
}

/// How many runs there are.
pub fn runs(lengths: &Lengths) -> u64 {
    lengths.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_follower_has_a_place(
            followers in 0u64..5_000,
            mean in 1.0f64..300.0,
            longest in 1u64..400,
        ) {
            let found = lengths(followers, mean, longest);
            prop_assert_eq!(found.iter().map(|(length, runs)| length * runs).sum::<u64>(), followers);
            prop_assert!(found.iter().all(|(length, runs)| (1..=longest).contains(length) && *runs > 0));
        }
    }

    #[test]
    fn lengths_are_geometric() {
        // Of 1,000 runs with a mean of 2 half have one follower, a quarter two, and so on.
        let found = lengths(2_000, 2.0, u64::MAX);
        assert_eq!(runs(&found), 1_000);
        for (length, expected) in [(1u64, 500u64), (2, 250), (3, 125), (4, 62)] {
            assert!(found[&length].abs_diff(expected) <= 12, "{found:?}");
        }
    }
}

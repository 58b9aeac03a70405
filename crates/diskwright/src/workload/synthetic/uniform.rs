//! Addresses all as likely as each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::permutation::Permutation;
use super::places::Places;

/// The range, and where in it requests may begin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UniformParams {
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Requests begin at multiples of this; of their own size when not given. `"1 block"` is anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
    /// Every place once, in random order, before any a second time; then again, in another order. Of several sizes each
    /// has its own places.
    pub once: bool,
}

/// Draws uniform addresses.
pub struct Uniform {
    places: Vec<Places>,
    /// How far each size has come, when every place has its turn.
    rounds: Vec<Round>,
    stream: Stream,
}

/// A pass through all places.
struct Round {
    done: u64,
    order: Permutation,
}

impl Uniform {
    /// # Errors
    /// The range is not on the drive or has no aligned place for one of the sizes.
    pub fn new(params: &UniformParams, drive: &Drive<'_>) -> Result<Uniform, InputError> {
        let places = drive.places("uniform", params.from, params.blocks, params.align)?;
        let mut stream = drive.stream();
        let rounds = if params.once {
            let round = |places: &Places| Round {
                done: 0,
                order: Permutation::new(&mut stream, places.count),
            };
            places.iter().map(round).collect()
        } else {
            Vec::new()
        };
        Ok(Uniform {
            places,
            rounds,
            stream,
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let places = self.places[size];
        if self.rounds.is_empty() {
            return places.at(self.stream.below(places.count));
        }
        let round = &mut self.rounds[size];
        if round.done == places.count {
            round.done = 0;
            round.order = Permutation::new(&mut self.stream, places.count);
        }
        let index = round.order.apply(round.done, places.count);
        round.done += 1;
        places.at(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(sizes: &[u32]) -> Drive<'_> {
        Drive::for_test(sizes, 1, 100)
    }

    fn seen(params: &UniformParams, size: u32) -> Vec<u64> {
        let mut pattern = Uniform::new(params, &drive(&[size])).unwrap();
        let mut all: Vec<_> = (0..5_000).map(|_| pattern.next(0).0).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn every_aligned_place_is_reached_and_no_other() {
        let expected: Vec<_> = (0..12).map(|i| i * 8).collect();
        assert_eq!(seen(&UniformParams::default(), 8), expected);
        let part = UniformParams {
            from: Lbn(9),
            blocks: Some(23),
            align: None,
            once: false,
        };
        assert_eq!(seen(&part, 8), [16, 24]);
        let anywhere = UniformParams {
            from: Lbn(9),
            blocks: Some(10),
            align: Some(Size::from_blocks(1)),
            once: false,
        };
        assert_eq!(seen(&anywhere, 8), [9, 10, 11]);
        assert_eq!(
            seen(
                &UniformParams {
                    from: Lbn(92),
                    ..UniformParams::default()
                },
                4
            ),
            [92, 96]
        );
    }

    #[test]
    fn the_mean_is_the_middle() {
        let sizes = [1];
        let drive = Drive::for_test(&sizes, 9, 1_000_001);
        let mut pattern = Uniform::new(&UniformParams::default(), &drive).unwrap();
        let sum: u64 = (0..100_000).map(|_| pattern.next(0).0).sum();
        // The standard error is 1,000,000/√12/√100,000, about 913.
        assert!((sum / 100_000).abs_diff(500_000) < 4 * 913);
    }

    #[test]
    fn ranges_off_the_drive_name_the_key() {
        for (from, blocks, align) in [
            (100, None, None),
            (0, Some(101), None),
            (50, Some(51), None),
            (0, Some(7), None),
            (1, Some(14), None),
            (0, None, Some(Size::from_blocks(0))),
        ] {
            let params = UniformParams {
                from: Lbn(from),
                blocks,
                align,
                once: false,
            };
            let error = Uniform::new(&params, &drive(&[8])).err().unwrap();
            assert!(
                error.message.contains("workload.synthetic.address"),
                "{error}"
            );
        }
        for (from, blocks) in [(0, Some(100)), (50, Some(50)), (1, Some(15))] {
            let params = UniformParams {
                from: Lbn(from),
                blocks,
                align: None,
                once: false,
            };
            Uniform::new(&params, &drive(&[8])).unwrap();
        }
    }

    #[test]
    fn every_place_has_its_turn() {
        let params = UniformParams {
            once: true,
            ..UniformParams::default()
        };
        let sizes = [8, 3];
        let mut pattern = Uniform::new(&params, &drive(&sizes)).unwrap();
        let mut rounds = Vec::new();
        for _ in 0..3 {
            // The other size's requests in between change nothing.
            let round: Vec<_> = (0..12)
                .map(|_| (pattern.next(0).0, pattern.next(1)).0)
                .collect();
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..12).map(|i| i * 8).collect::<Vec<_>>());
            rounds.push(round);
        }
        assert_ne!(rounds[0], rounds[1]);
        assert_ne!(rounds[1], rounds[2]);
    }
}

//! The best of some that are drawn from those nobody writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BlockState, Candidates, Stream, Victims};

/// Rule: different blocks of the plane are drawn, one number after another, from those that are full or free: other numbers, and those drawn
/// already, are drawn again. Of them the one with the fewest valid units is cleaned. Tie: the lowest number. Where none of those drawn may be
/// cleaned, others are drawn. Source: Li, Lee and Lui, "Stochastic modeling of large-scale solid-state storage systems: analysis, design
/// tradeoffs and optimization", SIGMETRICS 2013, as MQSim has it, which draws free blocks, too.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomGreedy {
    /// How many are drawn; 0: the logarithm to the base 2 of the blocks of a plane, rounded down, as in MQSim.
    pub of: u32,
}

impl RandomGreedy {
    pub(super) const SUMMARY: &str =
        "The best of some different blocks, drawn from the full and the free blocks of the plane.";
    pub(super) fn build(&self) -> Box<dyn Victims> {
        Box::new(*self)
    }
}

/// How often blocks are drawn before all are looked at.
const DRAWS: u32 = 64;

impl Victims for RandomGreedy {
    fn choose(&mut self, candidates: &Candidates<'_>, chance: &mut Stream) -> Option<u32> {
        candidates.possible().next()?;
        let blocks = candidates.blocks;
        let is_drawn = |state| matches!(state, BlockState::Sealed | BlockState::Free);
        let eligible = blocks.iter().filter(|block| is_drawn(block.state)).count();
        let wanted = match self.of {
            0 => blocks.len().ilog2().max(1),
            of => of,
        };
        let wanted = eligible.min(wanted as usize);
        let mut drawn = Vec::with_capacity(wanted);
        for _ in 0..DRAWS {
            drawn.clear();
            while drawn.len() < wanted {
                let number = chance.below(blocks.len() as u64) as u32;
                if is_drawn(blocks[number as usize].state) && !drawn.contains(&number) {
                    drawn.push(number);
                }
            }
            let possible = drawn.iter().filter_map(|&number| {
                let block = &blocks[number as usize];
                candidates.may_be(block).then_some((block.valid, number))
            });
            if let Some((_, number)) = possible.min() {
                return Some(number);
            }
        }
        candidates.possible().next().map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Block;
    use super::*;

    #[test]
    fn blocks_that_are_written_are_not_drawn_and_the_lowest_of_equals_is_cleaned() {
        use BlockState::{Free, Open, Sealed, Victim};
        let states = [
            (Open, 0),
            (Sealed, 3),
            (Free, 0),
            (Sealed, 2),
            (Sealed, 2),
            (Victim, 0),
        ];
        let blocks: Vec<Block> = (states.into_iter())
            .map(|(state, valid)| Block {
                valid,
                erases: 0,
                written: 0,
                sealed: 0,
                state,
                is_slc: false,
            })
            .collect();
        let candidates = Candidates {
            blocks: &blocks,
            units: 4,
            most: 3,
            clock: 0,
        };
        let mut chance = Stream::new(1, "victims");
        let mut chosen = |of| RandomGreedy { of }.choose(&candidates, &mut chance);
        // Four may be drawn: no more than these are wanted, and all of them are.
        assert_eq!(chosen(100), Some(3));
        let mut counts = [0; 6];
        for _ in 0..4_000 {
            counts[chosen(2).expect("a block") as usize] += 1;
        }
        // Of the six pairs of 1, 2, 3 and 4 one gives 1; two 4; three 3.
        assert_eq!((counts[0], counts[2], counts[5]), (0, 0, 0));
        for (number, pairs) in [(1, 1.0), (4, 2.0), (3, 3.0)] {
            let share = f64::from(counts[number]) / 4_000.0;
            assert!((share - pairs / 6.0).abs() < 0.04, "{number}: {share}");
        }
    }
}

//! The best of some that are drawn from all blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidates, Stream, Victims};

/// Rule: of blocks that are drawn from all of the plane, each draw from all of them, free ones too, the one with the fewest valid units is
/// cleaned. Tie: the one drawn first. Where none of those drawn may be cleaned, others are drawn. Source: Li, Lee and Lui, "Stochastic modeling
/// of large-scale solid-state storage systems: analysis, design tradeoffs and optimization", SIGMETRICS 2013, as MQSim has it, which
/// draws free blocks, too.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomGreedy {
    /// How many are drawn; 0: the logarithm to the base 2 of the blocks of a plane, rounded down, as in MQSim.
    pub of: u32,
}

impl RandomGreedy {
    pub(super) const SUMMARY: &str =
        "The best of some blocks that are drawn from all of the plane, free ones among them.";
    pub(super) fn build(&self) -> Box<dyn Victims> {
        Box::new(*self)
    }
}

/// How often blocks are drawn before all are looked at.
const DRAWS: u32 = 64;

impl Victims for RandomGreedy {
    fn choose(&mut self, candidates: &Candidates<'_>, chance: &mut Stream) -> Option<u32> {
        candidates.possible().next()?;
        let count = candidates.blocks.len() as u64;
        let wanted = match self.of {
            0 => count.ilog2().max(1),
            of => of,
        };
        for _ in 0..DRAWS {
            let mut best: Option<(u32, u32)> = None;
            for _ in 0..wanted {
                let number = chance.below(count) as usize;
                let block = &candidates.blocks[number];
                if candidates.may_be(block) && best.is_none_or(|(_, least)| block.valid < least) {
                    best = Some((number as u32, block.valid));
                }
            }
            if let Some((number, _)) = best {
                return Some(number);
            }
        }
        candidates.possible().next().map(|(number, _)| number)
    }
}

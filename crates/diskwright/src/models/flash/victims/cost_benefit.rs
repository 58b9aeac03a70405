//! Cost-benefit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidates, Stream, Victims};

/// Rule: the block with the largest age · (units − valid) / (units + valid) is cleaned, its age being counted in blocks that were
/// filled since, itself among them. Tie: the lowest number. Source: Rosenblum and Ousterhout, "The design and implementation of a log-structured file system",
/// ACM TOCS 10(1), 1992, section 3.6.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostBenefit {}

impl CostBenefit {
    pub(super) const SUMMARY: &str =
        "The block is cleaned that gives most for its cost, old ones before young ones.";
    pub(super) fn build(&self) -> Box<dyn Victims> {
        Box::new(*self)
    }
}

impl Victims for CostBenefit {
    fn choose(&mut self, candidates: &Candidates<'_>, _chance: &mut Stream) -> Option<u32> {
        let units = u128::from(candidates.units);
        let mut best: Option<(u32, u128, u128)> = None;
        for (number, block) in candidates.possible() {
            let valid = u128::from(block.valid);
            let gain = u128::from(candidates.clock - block.sealed) * (units - valid);
            let cost = units + valid;
            // Fractions are compared without a division.
            if best.is_none_or(|(_, most, of)| gain * of > most * cost) {
                best = Some((number, gain, cost));
            }
        }
        best.map(|(number, ..)| number)
    }
}

//! The best of some that are drawn from those that may be cleaned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidates, Stream, Victims};

/// Rule: of `d` draws, each from all full blocks of which a page can be gained, the one with the fewest valid units is cleaned. Tie: the
/// one drawn first. Source: Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state
/// drives", SIGMETRICS 2013.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DChoices {
    /// How many are drawn.
    #[schemars(range(min = 1, max = 1000))]
    pub d: u32,
}

impl Default for DChoices {
    fn default() -> DChoices {
        DChoices { d: 10 }
    }
}

impl DChoices {
    pub(super) const SUMMARY: &str =
        "The best of some blocks, drawn from those that may be cleaned.";
    pub(super) fn build(&self) -> Box<dyn Victims> {
        Box::new(*self)
    }
}

impl Victims for DChoices {
    fn choose(&mut self, candidates: &Candidates<'_>, chance: &mut Stream) -> Option<u32> {
        let possible: Vec<(u32, u32)> = candidates
            .possible()
            .map(|(number, block)| (number, block.valid))
            .collect();
        let count = possible.len() as u64;
        let mut best: Option<(u32, u32)> = None;
        for _ in 0..self.d.max(1) {
            let drawn = (count > 0).then(|| possible[chance.below(count) as usize])?;
            if best.is_none_or(|(_, least)| drawn.1 < least) {
                best = Some(drawn);
            }
        }
        best.map(|(number, _)| number)
    }
}

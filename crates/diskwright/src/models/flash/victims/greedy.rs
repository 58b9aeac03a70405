//! Greedy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidates, Stream, Victims};

/// Rule: the block with the fewest valid units is cleaned. Tie: the lowest number. Source: Rosenblum and Ousterhout, "The design
/// and implementation of a log-structured file system", ACM TOCS 10(1), 1992, section 3.4.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greedy {}

impl Greedy {
    pub(super) const SUMMARY: &str = "The block with the fewest valid units is cleaned.";
    pub(super) fn build(&self) -> Box<dyn Victims> {
        Box::new(*self)
    }
}

impl Victims for Greedy {
    fn choose(&mut self, candidates: &Candidates<'_>, _chance: &mut Stream) -> Option<u32> {
        let least = candidates.possible().min_by_key(|(_, block)| block.valid);
        least.map(|(number, _)| number)
    }
}

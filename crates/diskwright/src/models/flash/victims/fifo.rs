//! First in, first out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidates, Stream, Victims};

/// Rule: the block that has been full longest is cleaned. Tie: none can be. Source: Menon, "A performance comparison of RAID-5 and
/// log-structured arrays", HPDC 1995; its write amplification under uniform load is 1/(1 − u) with (u − 1)/ln u the part of the
/// blocks that is valid.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl Fifo {
    pub(super) const SUMMARY: &str = "The block that has been full longest is cleaned.";
    pub(super) fn build(&self) -> Box<dyn Victims> {
        Box::new(*self)
    }
}

impl Victims for Fifo {
    fn choose(&mut self, candidates: &Candidates<'_>, _chance: &mut Stream) -> Option<u32> {
        let oldest = candidates.possible().min_by_key(|(_, block)| block.sealed);
        oldest.map(|(number, _)| number)
    }
}

//! No look ahead.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Rule};
use crate::base::error::InputError;

/// Rule: a write is redirected where the medium would take longer for it than the NV cache: h_n > f_n. Tie: the medium. Source: what Bisson
/// and Brandt, MASCOTS 2007, section III-B, argue against. Weakness: after a redirected write far away the head stays where it is, and
/// those near that write are redirected too.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadOnly {}

impl HeadOnly {
    pub(super) const SUMMARY: &str = "Where the NV cache is faster for this write alone.";
    pub(super) fn build(&self) -> Result<Box<dyn Rule>, InputError> {
        Ok(Box::new(HeadOnly {}))
    }
}

impl Rule for HeadOnly {
    fn redirects(&mut self, decision: &Decision) -> bool {
        decision.head_to_request > decision.flash
    }
}

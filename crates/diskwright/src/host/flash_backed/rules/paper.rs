//! The rule of Fig. 6.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Next, Rule};
use crate::base::error::InputError;
use crate::base::units::Time;

/// Rule: a write is redirected where the medium would take longer for it and the next request than the NV cache for it and the
/// medium for the next: h_n + n_nn > f_n + h_nn. Tie: the medium. Source: Bisson and Brandt, MASCOTS 2007, Fig. 6. Weakness: where the
/// queue is empty it does not look ahead, and most writes of a desktop come one by one.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paper {}

impl Paper {
    pub(super) const SUMMARY: &str = "Where it shortens this write and the next request together.";
    pub(super) fn build(&self) -> Result<Box<dyn Rule>, InputError> {
        Ok(Box::new(Paper {}))
    }
}

impl Rule for Paper {
    fn redirects(&mut self, decision: &Decision) -> bool {
        let (from_request, from_head) = match decision.next {
            Next::Is {
                from_request,
                from_head,
            } => (from_request, from_head),
            Next::None => (Time::ZERO, Time::ZERO),
            Next::Required => return false,
        };
        decision.head_to_request + from_request > decision.flash + from_head
    }
}

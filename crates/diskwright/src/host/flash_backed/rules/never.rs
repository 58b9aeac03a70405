//! No redirection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Rule};
use crate::base::error::InputError;

/// Rule: no write is redirected. Source: the baseline of Bisson and Brandt, MASCOTS 2007. Weakness: the NV cache has no use.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Never {}

impl Never {
    pub(super) const SUMMARY: &str = "No write is redirected.";
    pub(super) fn build(&self) -> Result<Box<dyn Rule>, InputError> {
        Ok(Box::new(Never {}))
    }
}

impl Rule for Never {
    fn redirects(&mut self, _decision: &Decision) -> bool {
        false
    }
}

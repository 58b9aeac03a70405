//! Everything is redirected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Rule};
use crate::base::error::InputError;

/// Rule: every write is redirected that fits. Source: the simplest that there is. Weakness: large and sequential writes are slower on flash
/// than on the medium, and fill the FQueue.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Always {}

impl Always {
    pub(super) const SUMMARY: &str = "Every write is redirected.";
    pub(super) fn build(&self) -> Result<Box<dyn Rule>, InputError> {
        Ok(Box::new(Always {}))
    }
}

impl Rule for Always {
    fn redirects(&mut self, _decision: &Decision) -> bool {
        true
    }
}

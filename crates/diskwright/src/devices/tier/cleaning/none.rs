//! No cleaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CleaningRules;
use crate::base::error::InputError;

/// Rule: a dirty line is written back when its place is needed, or for a flush. Tie: none can be. Source: the cleaning policy `nop` of
/// Open CAS. Weakness: once all lines are dirty, every new line waits for the backing device.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NoCleaning")]
pub struct Never {}

impl Never {
    pub(super) const SUMMARY: &str =
        "Only lines whose place is needed, and lines that a flush needs, are written back.";
    pub(super) fn build(&self, _blocks: u64) -> Result<Option<CleaningRules>, InputError> {
        Ok(None)
    }
}

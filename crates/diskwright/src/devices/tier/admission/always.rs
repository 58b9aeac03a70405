//! Every line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Admission;
use crate::base::error::InputError;

/// Rule: every line that misses is admitted. Tie: none can be. Source: the promotion policy `always` of Open CAS. Weakness: lines that
/// are accessed once drive others out, and wear the cache device.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Always {}

impl Always {
    pub(super) const SUMMARY: &str = "Every line that misses gets a place.";
    pub(super) fn build(&self, _lines: u32) -> Result<Box<dyn Admission>, InputError> {
        Ok(Box::new(Always {}))
    }
}

impl Admission for Always {
    fn would_admit(&self, _line: u64) -> bool {
        true
    }
    fn accessed(&mut self, _line: u64) -> bool {
        true
    }
}

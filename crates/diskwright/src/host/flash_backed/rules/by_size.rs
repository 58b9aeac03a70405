//! Small writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Rule};
use crate::base::error::InputError;
use crate::base::units::Size;

/// Rule: writes of up to `most` are redirected. Source: the usual rule of thumb that flash is for small writes. Weakness: blind to where
/// the head is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RedirectBySize")]
pub struct BySize {
    /// The largest write that is redirected.
    pub most: Size,
}

/// 64 KiB.
const MOST: u64 = 128;

impl Default for BySize {
    fn default() -> BySize {
        BySize {
            most: Size::from_blocks(MOST),
        }
    }
}

impl BySize {
    pub(super) const SUMMARY: &str = "Writes up to a size are redirected.";
    pub(super) fn build(&self) -> Result<Box<dyn Rule>, InputError> {
        Ok(Box::new(Small(self.most.blocks())))
    }
}

/// The most blocks.
struct Small(u64);

impl Rule for Small {
    fn redirects(&mut self, decision: &Decision) -> bool {
        u64::from(decision.blocks) <= self.0
    }
}

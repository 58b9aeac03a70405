//! Write-through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HeldLine, WriteRules};

/// Rule: a write goes to both devices and is complete when both have it. Tie: none can be. Source: Open CAS, bcache and dm-cache have it under this name; Smart Response calls it enhanced. Weakness: a write is as slow as the backing device.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteThrough {}

impl WriteThrough {
    pub(super) const SUMMARY: &str =
        "A write goes to both devices and is complete when both have it.";
    pub(super) fn build(&self) -> WriteRules {
        WriteRules {
            caches_reads: true,
            held: HeldLine::Updated,
            allocates: true,
        }
    }
}

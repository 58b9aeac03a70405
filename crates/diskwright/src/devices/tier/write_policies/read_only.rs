//! Read-only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HeldLine, WriteRules};

/// Rule: a write goes to the backing device, and lines lose its blocks. Tie: none can be. Source: EnhanceIO; Open CAS calls it write-invalidate. Weakness: what is written leaves the cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadOnly {}

impl ReadOnly {
    pub(super) const SUMMARY: &str = "A write goes to the backing device, and lines lose its blocks: the cache holds what was read.";
    pub(super) fn build(&self) -> WriteRules {
        WriteRules {
            caches_reads: true,
            held: HeldLine::Invalidated,
            allocates: false,
        }
    }
}

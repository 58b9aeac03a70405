//! Pass-through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HeldLine, WriteRules};

/// Rule: every request goes to the backing device; nothing is cached. Tie: none can be. Source: Open CAS. Weakness: it is no cache; it is there to compare with.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PassThrough {}

impl PassThrough {
    pub(super) const SUMMARY: &str =
        "Every request goes to the backing device, and nothing is cached.";
    pub(super) fn build(&self) -> WriteRules {
        WriteRules {
            caches_reads: false,
            held: HeldLine::Invalidated,
            allocates: false,
        }
    }
}

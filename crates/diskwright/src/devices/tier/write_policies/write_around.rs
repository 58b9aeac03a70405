//! Write-around.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HeldLine, WriteRules};

/// Rule: a write goes to the backing device, and to the cache device as far as lines are held; it gets no line. Tie: none can be. Source: Open CAS. Weakness: what is written and then read misses once.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteAround {}

impl WriteAround {
    pub(super) const SUMMARY: &str =
        "A write goes to the backing device and updates lines that are held, but gets none.";
    pub(super) fn build(&self) -> WriteRules {
        WriteRules {
            caches_reads: true,
            held: HeldLine::Updated,
            allocates: false,
        }
    }
}

//! Write-back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HeldLine, WriteRules};

/// Rule: a write is complete when the cache device has it; its blocks are dirty until they are written back. Tie: none can be. Source: Open CAS, bcache and dm-cache have it under this name; Smart Response calls it maximized. Weakness: what is dirty is lost with the cache device.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteBack {}

impl WriteBack {
    pub(super) const SUMMARY: &str =
        "A write is complete when the cache device has it, and goes to the backing device later.";
    pub(super) fn build(&self) -> WriteRules {
        WriteRules {
            caches_reads: true,
            held: HeldLine::Absorbing,
            allocates: true,
        }
    }
}

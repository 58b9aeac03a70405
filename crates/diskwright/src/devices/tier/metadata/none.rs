//! No metadata.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MetadataRules;

/// Rule: which lines are held is in memory only, so that a power cut loses all that the cache device has; a flush writes back every dirty
/// block. Tie: none can be. Source: the closed forms of a tier, and DiskSim's cache device, know no metadata. Weakness: a flush takes as
/// long as all write-backs together.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NoMetadata")]
pub struct InMemory {}

impl InMemory {
    pub(super) const SUMMARY: &str =
        "In memory only: a power cut loses it, and a flush writes back what is dirty.";
    pub(super) fn build(&self) -> Option<MetadataRules> {
        None
    }
}

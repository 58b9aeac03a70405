//! A table on the cache device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MetadataRules;
use crate::base::units::Time;

/// Rule: the cache device has a table with an entry for each place, behind the places; after a power cut the dirty blocks that it names
/// are found again, and clean ones are dropped. A commit writes all blocks of the table that have changed. Tie: none can be. Source: the
/// table and its recovery are those of Open CAS, the interval is dm-cache's; bcache also lets writes wait for metadata only at a flush.
/// Weakness: each change costs a write of 4 KiB, however many share it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "MetadataOnCache")]
pub struct OnCache {
    /// What waits until changes of the table are durable. Left out, writes if the cache device promises what it acknowledges, and else
    /// flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitWith>,
    /// The longest time for which a change waits for its commit.
    pub interval: Time,
}

/// What waits until changes of the table are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CommitWith")]
pub enum CommitWith {
    /// Each write that makes blocks dirty, as in Open CAS.
    Writes,
    /// Flushes and writes with FUA, as in bcache and dm-cache.
    Flushes,
}

/// `COMMIT_PERIOD` of dm-cache: a second.
const INTERVAL: Time = Time::from_s(1);

impl Default for OnCache {
    fn default() -> OnCache {
        OnCache {
            commit: None,
            interval: INTERVAL,
        }
    }
}

impl OnCache {
    pub(super) const SUMMARY: &str = "A table on the cache device: dirty blocks survive a power cut, and a flush writes none back.";
    pub(super) fn build(&self) -> Option<MetadataRules> {
        Some(MetadataRules {
            commit: self.commit,
            interval: self.interval,
        })
    }
}

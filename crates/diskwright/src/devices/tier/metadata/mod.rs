//! Metadata: whether the cache device keeps which dirty blocks it has, and when changes of that are written.

mod none;
mod on_cache;

use crate::base::registry::{policies, schema_of_family};
use crate::base::units::Time;

policies! {
    /// How a tier keeps its metadata, as a spec names it.
    pub enum MetadataSpec of "metadata policy" builds Option<MetadataRules> {
        None = "none" [] in none::InMemory,
        OnCache = "on-cache" [] in on_cache::OnCache,
    }
}

impl Default for MetadataSpec {
    fn default() -> MetadataSpec {
        MetadataSpec::OnCache(on_cache::OnCache::default())
    }
}

schema_of_family!(
    MetadataSpec,
    "TierMetadata",
    "Where a cache tier keeps which lines it holds."
);

pub use on_cache::CommitWith;

/// When changes of metadata on the cache device are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataRules {
    /// What waits for a commit; `None` where the promise of the cache device decides.
    pub commit: Option<CommitWith>,
    /// The longest time for which a change waits for its commit.
    pub interval: Time,
}

//! Everything that is dirty, at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Begins, CleaningOrder, CleaningRules, MERGE, merged};
use crate::base::error::InputError;
use crate::base::units::{Size, Time};

/// Rule: as soon as anything is dirty it is written back, whatever the host does: the next dirty run behind the last one, by LBN, and
/// after the end the first. Tie: none can be. Source: the cleaning policy `acp` of Open CAS. Weakness: blocks that are written
/// often are written back often, and requests of the host wait behind it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "AggressiveCleaning")]
pub struct Aggressive {
    /// The most that is written back together.
    pub merge: Size,
    /// How long cleaning rests after each write-back.
    pub pause: Time,
}

impl Default for Aggressive {
    fn default() -> Aggressive {
        Aggressive {
            merge: MERGE,
            pause: Time::ZERO,
        }
    }
}

impl Aggressive {
    pub(super) const SUMMARY: &str = "All dirty blocks, at once and in ascending order.";
    pub(super) fn build(&self, _blocks: u64) -> Result<Option<CleaningRules>, InputError> {
        Ok(Some(CleaningRules {
            begins: Begins::Always,
            order: CleaningOrder::Ascending,
            merge: merged(self.merge)?,
            pause: self.pause,
        }))
    }
}

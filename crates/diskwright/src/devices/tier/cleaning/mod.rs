//! Cleaning policies: when dirty lines are written back for whose place nobody waits, and which first.

mod aggressive;
mod none;
mod oldest;

use crate::base::error::InputError;
use crate::base::registry::{policies, schema_of_family};
use crate::base::units::{Size, Time};

policies! {
    /// A cleaning policy and its parameters, as a spec names it, for a cache of `blocks` blocks.
    pub enum CleaningSpec of "cleaning policy" builds Result<Option<CleaningRules>, InputError>,
    for (blocks: u64) as |parameters| { parameters.build(blocks) } {
        None = "none" ["nop"] in none::Never,
        Oldest = "oldest" ["alru"] in oldest::Oldest,
        Aggressive = "aggressive" ["acp"] in aggressive::Aggressive,
    }
}

impl Default for CleaningSpec {
    fn default() -> CleaningSpec {
        CleaningSpec::Oldest(oldest::Oldest::default())
    }
}

schema_of_family!(
    CleaningSpec,
    "TierCleaning",
    "When a cache tier writes dirty lines back, and which first."
);

/// When lines are cleaned, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleaningRules {
    /// What cleaning begins for.
    pub begins: Begins,
    /// Where it begins.
    pub order: CleaningOrder,
    /// The most blocks that are written back together.
    pub merge: u32,
    /// How long it rests between two write-backs.
    pub pause: Time,
}

/// What cleaning begins for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Anything that is dirty.
    Always,
    /// No request of the host for so long, or more dirty blocks than `high`, until there are no more than `low`.
    When {
        /// How long there is no request; `None` where that is no reason.
        idle: Option<Time>,
        /// High and low mark, in blocks; `None` where there are none.
        marks: Option<(u64, u64)>,
    },
}

/// Which dirty run is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleaningOrder {
    /// That of the line that has been dirty longest.
    Oldest,
    /// The next one behind the last, and after the end the first.
    Ascending,
}

/// The most that is written back together unless the spec says otherwise: 1 MiB.
const MERGE: Size = Size::from_blocks(2048);
/// The most that may be: 64 MiB.
const MOST_MERGED: u64 = 131_072;

/// The blocks of a size that is written back together.
fn merged(size: Size) -> Result<u32, InputError> {
    if (1..=MOST_MERGED).contains(&size.blocks()) {
        return Ok(size.blocks() as u32);
    }
    let error = InputError::new(format!("write-backs of up to {size}"));
    Err(error.help("accepted for merge: 1 block to 64 MiB"))
}

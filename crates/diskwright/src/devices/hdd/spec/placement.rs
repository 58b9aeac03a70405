//! What a spec says of where a drive's data go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::registry::{policies, schema_of_family};
use crate::base::units::{Size, Time};
use crate::models::placement::allocator::{Allocator, Ties};
use crate::models::placement::cleaner::CleanerSpec;

policies! {
    /// Where data go, as a spec names it.
    pub enum PlacementSpec of "placement" builds Option<EagerSpec> {
        InPlace = "in-place" [] in InPlaceSpec,
        Eager = "eager" ["logging"] in EagerSpec,
    }
}

schema_of_family!(
    PlacementSpec,
    "Placement",
    "Where a drive puts the data of a write."
);

impl Default for PlacementSpec {
    fn default() -> PlacementSpec {
        PlacementSpec::InPlace(InPlaceSpec {})
    }
}

/// Every block has its place.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InPlaceSpec {}

impl InPlaceSpec {
    const SUMMARY: &str = "Every block has its place, and is written there.";
    fn build(&self) -> Option<EagerSpec> {
        None
    }
}

/// A block is written into a free slot near the head, and the slot that held it before becomes free.
///
/// English and Stepanov, "Loge: a self-organizing storage device", USENIX Winter 1992; Wang, Anderson and Patterson, "Virtual log
/// based file systems for a programmable disk", OSDI 1999; Chandy, "A dual actuator logging disk architecture".
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EagerSpec {
    /// What has a place of its own, and lies on one track: a slot. A write of less reads the rest of the slot first.
    pub block: Size,
    /// Which free slot a write takes.
    pub allocator: Allocator,
    /// Which cylinder a write takes where free slots of several come by at the same instant.
    pub ties: Ties,
    /// The share of all slots that is kept free, and not told as capacity.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub reserve: f64,
    /// How the map is found again after a loss of power.
    pub recovery: Recovery,
    /// Makes tracks empty; nothing does where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleaner: Option<CleanerSpec>,
    /// The data written before time zero. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialSpec>,
}

impl Default for EagerSpec {
    fn default() -> EagerSpec {
        EagerSpec {
            block: Size::from_blocks(8),
            allocator: Allocator::default(),
            ties: Ties::default(),
            reserve: 0.01,
            recovery: Recovery::default(),
            cleaner: None,
            initial: None,
        }
    }
}

impl EagerSpec {
    const SUMMARY: &str =
        "A write goes to a free slot near the head; a map tells where each block is.";
    fn build(&self) -> Option<EagerSpec> {
        Some(self.clone())
    }
}

/// How a logging drive finds its map again after a loss of power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// By a scan of all tracks: sector headers have the number of the block and that of the write. Costs nothing before.
    #[default]
    Headers,
    /// By reading the map from the medium: after each write of data the changed part of the map is written near the head.
    VirtualLog,
}

/// What a logging drive wrote before time zero.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialSpec {
    /// So much of the address space, from its start on, block after block.
    pub write: Size,
    /// The mean of the exponential gaps between these writes, from the end of one to the beginning of the next. Without gaps every track
    /// would be filled to the last slot.
    #[serde(default = "tenth_of_a_second")]
    pub gap: Time,
}

fn tenth_of_a_second() -> Time {
    Time::from_ms(100)
}

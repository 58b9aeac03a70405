//! What a spec says of an SSD.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drive::{
    CleaningDescription, ControllerDescription, MappingDescription, MultiPlaneDescription,
    Parallel, ParityDescription, RecoveryDescription, RefreshDescription, RetryDescription,
    SlcDescription, SpareDescription, SuspendDescription, WearDescription, WriteBufferDescription,
};
use super::overwrite::Overwrite;
use crate::base::units::percent::Percent;
use crate::models::flash::allocation::AllocationDescription;
use crate::models::flash::failures::FailuresDescription;
use crate::models::flash::geometry::GeometryDescription;
use crate::models::flash::timing::TimingDescription;
use crate::models::power::PowerPolicySpec;
use crate::models::power::figures::SsdPowerFigures;
use crate::models::queue::submission::QueuesDescription;

/// An SSD.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SsdSpec {
    /// The name of a drive, or the path of a drive's TOML file.
    #[schemars(extend("format" = "drive"))]
    pub drive: String,
    /// The number of host requests that it serves at a time; others wait in the order of their arrival. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// The submission queues from which it fetches requests. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueuesDescription>,
    /// The data on the drive at the start. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<PreconditionSpec>,
    /// The geometry of its flash. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<GeometryDescription>,
    /// The times of its flash. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<TimingDescription>,
    /// The controller and its link to the host. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<ControllerDescription>,
    /// The unit that does one operation at a time. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Parallel>,
    /// Whether a page that is moved within a plane stays in the flash. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_back: Option<bool>,
    /// The operations that the planes of a die do together. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_plane: Option<MultiPlaneDescription>,
    /// Whether the read of a page that was never written gives the page a place. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_allocate: Option<bool>,
    /// The spare part of its flash. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare: Option<SpareDescription>,
    /// The planes on which data are written. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<AllocationDescription>,
    /// When and how blocks are freed. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleaning: Option<CleaningDescription>,
    /// How blocks wear. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearDescription>,
    /// How reads of worn and old blocks are retried. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryDescription>,
    /// When the data of a block are moved because of reads and age. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshDescription>,
    /// The programs and erases that fail. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailuresDescription>,
    /// The map from addresses to flash. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingDescription>,
    /// Its parity over dies. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<ParityDescription>,
    /// The operations that are suspended for reads. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<SuspendDescription>,
    /// Its SLC cache. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcDescription>,
    /// Its write buffer. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<WriteBufferDescription>,
    /// How its map survives a power cut. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryDescription>,
    /// When it enters its low power states, and how much power it draws. Without this table it enters none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<SsdPowerSpec>,
    /// The writes of the host in a round, as a share of the drive; five rounds show whether the drive is in a steady state.
    #[serde(default = "tenth")]
    pub steady_round: Percent,
}

/// The power of an SSD.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SsdPowerSpec {
    /// When it goes into which low power state; into none where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PowerPolicySpec>,
    /// Its power figures where they differ from the drive's: each key replaces that of the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<SsdPowerFigures>,
}

fn tenth() -> Percent {
    Percent::new(10.0).expect("a percentage")
}

/// What is on a drive at the start: it is put there before time zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PreconditionSpec {
    /// How much of it has been written, from its first block on.
    pub fill: Percent,
    /// In which order.
    pub pattern: Pattern,
    /// How often all that it holds has then been overwritten at random; `"until-steady"`: until five rounds of that use up as much flash each.
    pub overwrite: Overwrite,
}

impl Default for PreconditionSpec {
    fn default() -> PreconditionSpec {
        PreconditionSpec {
            fill: Percent::new(100.0).expect("a percentage"),
            pattern: Pattern::Sequential,
            overwrite: Overwrite::Times(0.0),
        }
    }
}

/// The order in which a drive was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// From the first block to the last.
    Sequential,
    /// Each page once, in a random order.
    Random,
}

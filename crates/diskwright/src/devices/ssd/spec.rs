//! What a spec says of an SSD.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drive::{
    CleaningDescription, ControllerDescription, MappingDescription, MultiPlaneDescription,
    Parallel, RecoveryDescription, RefreshDescription, RetryDescription, SlcDescription,
    SpareDescription, SuspendDescription, WearDescription, WriteBufferDescription,
};
use crate::base::units::percent::Percent;
use crate::models::flash::allocation::AllocationDescription;
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
    /// How many requests of the host it serves at a time; others wait in the order of their arrival. The drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Its submission queues, from which it fetches what it serves; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueuesDescription>,
    /// What is on it at the start; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<PreconditionSpec>,
    /// How its flash is divided; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<GeometryDescription>,
    /// How long its flash takes; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<TimingDescription>,
    /// The controller and its link to the host; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<ControllerDescription>,
    /// What does one operation at a time; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Parallel>,
    /// Whether a page that is moved within a plane stays in the flash; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_back: Option<bool>,
    /// What the planes of a die do together; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_plane: Option<MultiPlaneDescription>,
    /// Whether the read of a page that was never written gives it its place; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_allocate: Option<bool>,
    /// How much of its flash is spare; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare: Option<SpareDescription>,
    /// On which planes data are written; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<AllocationDescription>,
    /// When and how blocks are freed; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleaning: Option<CleaningDescription>,
    /// How blocks wear; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearDescription>,
    /// How reads of worn and old blocks are retried; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryDescription>,
    /// When the data of a block are moved because of reads and age; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshDescription>,
    /// How it knows where data are; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingDescription>,
    /// Which operations make way for reads; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<SuspendDescription>,
    /// Its SLC cache; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcDescription>,
    /// Its write buffer; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<WriteBufferDescription>,
    /// How its map survives a power cut; the drive's own unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryDescription>,
    /// When it goes into its low power states, and what it draws; without it, it goes into none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<SsdPowerSpec>,
    /// How much the host writes in a round, five of which tell whether the drive is in a steady state: a share of what it holds.
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
    /// What it draws, where that differs from the drive's figures: each key stands in place of the drive's.
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
    /// How often all that it holds has then been overwritten at random.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub overwrite: f64,
}

impl Default for PreconditionSpec {
    fn default() -> PreconditionSpec {
        PreconditionSpec {
            fill: Percent::new(100.0).expect("a percentage"),
            pattern: Pattern::Sequential,
            overwrite: 0.0,
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

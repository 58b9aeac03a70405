//! What a spec says of a hard disk.

pub mod buffer;
pub mod cache;
pub mod overhead;
pub mod placement;
mod queue;
pub mod settings;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::devices::hdd::arms_spec::ArmsOfSpec;
use crate::devices::spindles::AngleSpec;
use crate::models::power::PowerPolicySpec;
use crate::models::power::figures::HddPowerFigures;
use buffer::BufferSpec;
use cache::CacheSpec;
use overhead::OverheadSpec;
use placement::{EagerSpec, PlacementSpec};
pub use queue::QueueSpec;

/// A hard disk.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HddSpec {
    /// The name of a drive, or the path of a drive's TOML file or of a `.parv` file of DiskSim's.
    #[schemars(extend("format" = "drive"))]
    pub drive: String,
    /// The position of the platters at time zero. Default: 0, or in an array that of its `spindles`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle: Option<AngleSpec>,
    /// The drive's queue.
    #[serde(default)]
    pub queue: QueueSpec,
    /// The drive's buffer: `true` for the one that the drive has, `false` for none, or a table of what is to differ from
    /// the drive's. Without it, none where a cache, arms or a log are given, and else the drive's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSpec>,
    /// Whether the drive's write cache is on; as the drive ships where it is left out. Beside a block cache only with `buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<bool>,
    /// The name of a bus that it shares with the other drives that name it: one of them uses it at a time. Only with a segmented buffer, which
    /// knows when a drive needs the bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<String>,
    /// How long the controller takes for a command: a time before every command, or a table of what is to differ from the
    /// drive's; the drive's own where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<OverheadSpec>,
    /// A block cache in front of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSpec>,
    /// The drive's arms; its own, or a single one, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arms: Option<ArmsOfSpec>,
    /// Where data go: to their place, or wherever the head is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSpec>,
    /// When it enters its low power states, and how much power it draws. Without this table it enters none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<HddPowerSpec>,
}

/// The power of a hard disk.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HddPowerSpec {
    /// When it goes into which low power state; into none where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PowerPolicySpec>,
    /// Its power figures where they differ from the drive's: each key replaces that of the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<HddPowerFigures>,
}

impl HddSpec {
    /// Whether it may have the drive's pool: unless it says something else, or has a block cache.
    pub fn takes_pool(&self) -> bool {
        match &self.buffer {
            Some(buffer) => *buffer != BufferSpec::Off,
            None => self.cache.is_none(),
        }
    }

    /// Its segmented buffer, said or not.
    pub fn buffer(&self) -> &BufferSpec {
        let is_plain = self.cache.is_none() && self.arms.is_none() && self.log().is_none();
        match &self.buffer {
            Some(buffer) => buffer,
            None if is_plain => &BufferSpec::Drive,
            None => &BufferSpec::Off,
        }
    }

    /// Refuses a word on the write cache where the memory behind it is off.
    ///
    /// # Errors
    /// `write_cache` beside a block cache, but for `buffer = true` or a table.
    pub fn check_write_cache(&self) -> Result<(), InputError> {
        let is_off = *self.buffer() == BufferSpec::Off;
        if self.write_cache.is_none() || self.cache.is_none() || !is_off {
            return Ok(());
        }
        Err(InputError::new(
            "write_cache is about the drive's own memory, which is off beside a block cache ([device.….cache])",
        )
        .help("leave write_cache out, or write buffer = true to have both"))
    }

    /// How it keeps a log, where it does.
    pub fn log(&self) -> Option<EagerSpec> {
        self.placement.as_ref()?.build()
    }
}

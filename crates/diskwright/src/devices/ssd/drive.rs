//! A drive's description: the hardware and its firmware, as its file in `drives/` gives them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spec::PreconditionSpec;
use crate::base::document::from_node;
use crate::base::error::Error;
use crate::base::units::percent::Percent;
use crate::base::units::quantities::Rate;
use crate::base::units::{Size, Time};
use crate::devices::drives::DriveFile;
use crate::models::flash::allocation::AllocationDescription;
use crate::models::flash::failures::FailuresDescription;
use crate::models::flash::geometry::GeometryDescription;
use crate::models::flash::log_blocks::LogVictim;
use crate::models::flash::timing::TimingDescription;
use crate::models::flash::victims::VictimSpec;
use crate::models::link::LinkDescription;
use crate::models::power::figures::SsdPowerFigures;
use crate::models::queue::submission::QueuesDescription;

/// An SSD.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SsdDescription {
    /// The kind of device: an SSD.
    pub kind: SolidState,
    /// Maker and model.
    pub name: String,
    /// What kind of drive it is, in a line.
    #[serde(default)]
    pub about: String,
    /// Where the values come from.
    #[serde(default)]
    pub source: Vec<String>,
    /// Which values are estimates, and how they were made.
    #[serde(default)]
    pub estimated: Vec<String>,
    /// The year it came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<u16>,
    /// How many requests of the host it serves at a time.
    pub queue_depth: u32,
    /// Its submission queues, if it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueuesDescription>,
    /// How its flash is divided.
    pub flash: GeometryDescription,
    /// How long its flash takes.
    pub timing: TimingDescription,
    /// What does one operation at a time.
    #[serde(default)]
    pub parallel: Parallel,
    /// Whether a page that is moved within a plane stays in the flash.
    #[serde(default)]
    pub copy_back: bool,
    /// The planes of a die work together, where this is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_plane: Option<MultiPlaneDescription>,
    /// Whether the read of a page that was never written gives it its place, and takes as long as any other.
    #[serde(default)]
    pub reads_allocate: bool,
    /// The controller and its link to the host.
    #[serde(default)]
    pub interface: ControllerDescription,
    /// How much of its flash is spare.
    pub spare: SpareDescription,
    /// On which planes data are written.
    #[serde(default)]
    pub allocation: AllocationDescription,
    /// When and how blocks are freed.
    pub cleaning: CleaningDescription,
    /// How blocks wear.
    #[serde(default)]
    pub wear: WearDescription,
    /// How reads of worn and old blocks are retried, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryDescription>,
    /// When the data of a block are moved because of reads and age, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshDescription>,
    /// Which programs and erases fail; none where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailuresDescription>,
    /// How it knows where data are; a map of pages that is all in memory where this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingDescription>,
    /// Its parity over dies, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<ParityDescription>,
    /// Which operations make way for reads, if any do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<SuspendDescription>,
    /// Its SLC cache, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcDescription>,
    /// Its write buffer, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<WriteBufferDescription>,
    /// How its map survives a power cut; without, every page is looked at afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryDescription>,
    /// What it draws; without it, results tell nothing of its power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<SsdPowerFigures>,
    /// What is on it at the start.
    #[serde(default)]
    pub initial: PreconditionSpec,
}

impl SsdDescription {
    /// The description in a drive's file.
    ///
    /// # Errors
    /// A drive of another kind; anything that is not understood, with its place.
    pub fn read(file: &DriveFile) -> Result<SsdDescription, Error> {
        file.must_be("ssd")?;
        Ok(from_node(&file.tree)?)
    }
}

/// The kind of an SSD's drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SolidState {
    /// An SSD.
    #[serde(rename = "ssd")]
    Ssd,
}

/// What does one operation at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Parallel {
    /// A die: the dies of a package work side by side.
    #[default]
    Dies,
    /// A package, with all its dies.
    Packages,
    /// A plane: the planes of a die work side by side.
    Planes,
}

/// What each of the operations that the planes of a die do together costs the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiPlaneDescription {
    /// Of a read.
    pub read: Time,
    /// Of a program.
    pub program: Time,
}

/// A write buffer: a write is done when it is in there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteBufferDescription {
    /// How much it holds, in whole units; 0: there is none.
    pub size: Size,
    /// Whether a capacitor saves its contents when the power fails.
    #[serde(default)]
    pub capacitor: bool,
    /// How long data wait for others to fill a page with.
    #[serde(default = "short")]
    pub hold: Time,
}

fn short() -> Time {
    Time::from_ms(1)
}

/// How the map survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoveryDescription {
    /// The changed parts of the map are written whenever this amount has been programmed.
    pub checkpoint: Size,
}

/// The controller and its link to the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerDescription {
    /// The controller's time before a read.
    pub read: Time,
    /// Its time after a read's data.
    pub read_end: Time,
    /// Its time before a write's data.
    pub write: Time,
    /// Its time after a write.
    pub write_end: Time,
    /// The time to look up where the data are.
    pub mapping: Time,
    /// How fast data cross the link, in each direction by itself; they take no time where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The time that the frames of a read's end, and of a write's command, take on the link.
    pub frames: Time,
    /// The link by its standard, which commands, data and completions share, in place of `rate` and `frames`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkDescription>,
}

/// How much of the flash is spare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpareDescription {
    /// The share of the flash that the host does not see.
    pub share: Percent,
    /// Blocks of each plane that are neither for data nor for spares: those of the map.
    #[serde(default)]
    pub reserved: u32,
    /// The share of blocks that are bad from the start, drawn by the seed.
    #[serde(default)]
    pub bad: Percent,
}

/// The most blocks of a plane that may be under cleaning at a time.
pub(super) const MOST_AT_ONCE: u32 = 64;

/// When and how blocks are freed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleaningDescription {
    /// A plane is cleaned when it has fewer free blocks than this.
    pub begin: u32,
    /// How many blocks of a plane may be under cleaning at a time; another one is begun when one is opened or erased.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = MOST_AT_ONCE))]
    pub at_once: u32,
    /// The host opens no block while a plane has fewer free blocks than this and something can be cleaned.
    #[serde(default)]
    pub stop: u32,
    /// Whether the host's writes and cleaning take turns while the free blocks are between the two; else cleaning goes first.
    #[serde(default)]
    pub throttled: bool,
    /// How long a write of the host is delayed for each unit that cleaning moves per unit that it frees, as the block has them that was chosen last;
    /// left out, not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_delay: Option<Time>,
    /// Whether an operation of cleaning may begin while no read or program waits for its worker.
    #[serde(default = "yes")]
    pub background: bool,
    /// Cleaning while the drive is idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleDescription>,
    /// Which block is cleaned.
    #[serde(default)]
    pub victim: VictimSpec,
    /// Whether moved data go to blocks of their own.
    #[serde(default = "yes")]
    pub separate: bool,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

/// Cleaning of an idle drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleDescription {
    /// How long it has been idle.
    pub after: Time,
    /// How many free blocks it wants in each plane.
    pub free: u32,
}

/// How blocks wear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WearDescription {
    /// Whether the free block that was erased least is written next; else the one that has been free longest.
    pub levelling: bool,
    /// When data that nobody writes again are moved from blocks with few erases; never where it is left out.
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    pub levelled_by: Option<StaticLevellingDescription>,
    /// The number of erases after which a block cannot be used any more; no limit where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endurance: Option<u32>,
}

/// Static wear levelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticLevellingDescription {
    /// How many more erases the block of a plane erased most may have than the one erased least.
    pub spread: u32,
    /// At most one in this number of erases of a plane is for levelling.
    #[schemars(range(min = 2))]
    pub every: u32,
}

impl Default for WearDescription {
    fn default() -> WearDescription {
        WearDescription {
            levelling: true,
            levelled_by: None,
            endurance: None,
        }
    }
}

/// Stripes of pages over dies, each with one page of parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParityDescription {
    /// Pages of a stripe, that of parity among them: the number of planes is a multiple.
    #[schemars(range(min = 2))]
    pub stripe: u32,
}

/// Blocks that are written in SLC mode, one bit a cell, before what they hold is folded into the native mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlcDescription {
    /// Pages of a block in SLC mode, fewer than it has in the native mode: a third of a TLC block.
    pub pages: u32,
    /// Blocks of each plane that may always be in SLC mode.
    #[serde(default)]
    pub fixed: u32,
    /// Blocks of each plane that may be in SLC mode besides, at most, while data do not need them.
    #[serde(default)]
    pub dynamic: u32,
    /// From the array into the page register.
    pub read: Time,
    /// From the page register into the array.
    pub program: Time,
    /// The time to erase a block in SLC mode. Default: that of the native mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase: Option<Time>,
    /// What the host writes when the cache is full.
    #[serde(default)]
    pub full: SlcFull,
    /// How long a drive has been idle when it folds; it does not where this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_after: Option<Time>,
}

/// What the host writes when the SLC cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlcFull {
    /// Pages in the native mode.
    #[default]
    Direct,
    /// Nothing, until a block is folded.
    Fold,
}

/// Operations that make way for reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SuspendDescription {
    /// Those that program; none of them where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<SuspensionLimits>,
    /// Those that erase; none of them where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erase: Option<SuspensionLimits>,
}

/// How operations are suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspensionLimits {
    /// From the decision until a read may begin.
    pub cost: Time,
    /// From the resumption until the operation works again.
    #[serde(default)]
    pub resume: Time,
    /// How long the operation must have worked since it began to, or worked again.
    #[serde(default)]
    pub gap: Time,
    /// How often one operation is suspended, at most.
    #[schemars(range(min = 1))]
    pub most: u32,
}

/// How the drive knows where data are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MappingDescription {
    /// What the map has entries for.
    pub scheme: MapScheme,
    /// How much of a map of pages the memory holds, in whole units, the rest being on flash; an entry takes 4 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Size>,
    /// Log blocks of each plane: with `fast` one of them is for sequential writes; with `block` blocks that may be written again side by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub log_blocks: Option<u32>,
    /// The log block that is merged when another one is needed. Default: `fifo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub victim: Option<LogVictim>,
}

/// What a drive's map has entries for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapScheme {
    /// Pages, or units of them: a page may be anywhere.
    #[default]
    Page,
    /// Blocks: a page has its own place in its block, and what is written again goes to a block that is to replace it.
    Block,
    /// Blocks, and pages of a log block for each of some blocks (block-associative sector translation).
    Bast,
    /// Blocks, and pages of log blocks that all blocks share (fully-associative sector translation).
    Fast,
}

/// Reads that are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryDescription {
    /// The additional time of each retry.
    pub time: Time,
    /// The number of erases of the block that add one retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub erases: Option<u32>,
    /// A retry more for each such age of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<Time>,
    /// How often a read is retried, at most.
    pub most: u32,
    /// How old the blocks are at the start that have been written.
    #[serde(default = "no_time")]
    pub initial_age: Time,
}

fn no_time() -> Time {
    Time::ZERO
}

/// Blocks of which the data are moved in the background before reads and age make them unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefreshDescription {
    /// When a block has been read so often since it was last erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub reads: Option<u32>,
    /// When a block is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<Time>,
    /// How often each plane looks for a block that is too old.
    #[serde(default = "hour")]
    pub period: Time,
}

fn hour() -> Time {
    Time::from_s(3600)
}

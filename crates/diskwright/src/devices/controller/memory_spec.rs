//! What a spec says of a controller's memory cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locks::Locks;
use super::memory::{Memory, MemoryRules, Prefetch, Writes};
use crate::base::error::{Error, InputError};
use crate::base::units::{Size, Time};
use crate::devices::assembly::{DeviceTree, Site};
use crate::models::cache::replacement::{ReplacementChoice, Setting, lines_memory};
use crate::models::cache::{BlockCache, MOST_FRAMES, MOST_LINE_BLOCKS};

/// A cache in a controller's memory, which a power cut empties.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ControllerMemory")]
pub struct MemorySpec {
    /// Its size, a whole number of lines.
    pub size: Size,
    /// The unit of the cache, from 1 block to 1 MiB.
    #[serde(default = "thirty_two_kib")]
    pub line: Size,
    /// Which line leaves when another needs its place.
    #[serde(default)]
    pub policy: ReplacementChoice,
    /// Which lines may leave.
    #[serde(default)]
    pub victims: Victims,
    /// The blocks that are there, or dirty, together: a line is a whole number of them.
    #[serde(default = "one_block")]
    pub grain: Size,
    /// The blocks that are locked together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Size>,
    /// Reads of the same blocks may be under way together.
    #[serde(default)]
    pub shared_reads: bool,
    /// When a write is complete.
    #[serde(default)]
    pub writes: WriteScheme,
    /// What a read that misses fetches beyond its blocks.
    #[serde(default)]
    pub read_prefetch: Prefetch,
    /// What a write to a line that is not there as a whole fetches beside its blocks.
    #[serde(default)]
    pub write_prefetch: Prefetch,
    /// A line is fetched before the next one gets its place; else the missing blocks of all lines are fetched together.
    #[serde(default)]
    pub line_by_line: bool,
    /// The most lines of one fetch, and of one write; left out, any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub gather: Option<u32>,
    /// The most lines that are written together when dirty ones are.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub cluster: u32,
    /// All that is dirty is written each time that this has passed; left out, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_period: Option<Time>,
    /// What is dirty is written, run after run, once the devices have been idle for this time; left out, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_flush: Option<Time>,
}

/// Which lines may leave the cache for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ControllerVictims")]
pub enum Victims {
    /// Those that the replacement policy chooses: a dirty one is written first.
    #[default]
    Any,
    /// Clean ones, as long as there are any; for each line that leaves, a dirty run is written.
    Clean,
}

/// When a write is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ControllerWrites")]
pub enum WriteScheme {
    /// When its data are on their device.
    Synchronous,
    /// When its data are in the cache; they go to their device at once.
    WriteThrough,
    /// When its data are in the cache, which keeps them until their place is needed, or a flush.
    #[default]
    WriteBack,
}

impl WriteScheme {
    pub(super) fn build(self) -> Writes {
        match self {
            WriteScheme::Synchronous => Writes::Synchronous,
            WriteScheme::WriteThrough => Writes::Through,
            WriteScheme::WriteBack => Writes::Back,
        }
    }
}

fn thirty_two_kib() -> Size {
    Size::from_blocks(64)
}

fn one_block() -> Size {
    Size::from_blocks(1)
}

fn one() -> u32 {
    1
}

/// The most blocks that may be locked together.
const MOST_LOCK: u64 = 1 << 32;

impl MemorySpec {
    /// The empty cache and its locks, and the most blocks of a piece that it can take.
    ///
    /// # Errors
    /// Sizes that do not fit one another, numbers that make no sense, more memory than there is.
    pub(super) fn build(
        &self,
        blocks: u64,
        site: &Site<'_>,
        tree: &mut DeviceTree,
    ) -> Result<(Memory, Locks), Error> {
        let (lines, line) = self.lines(site)?;
        let wrong = |key: &str, message: String, help: &str| {
            let key = format!("memory.{key}");
            Err(site.locate(&key, InputError::new(message).help(help)))
        };
        let grain = self.grain.blocks();
        if grain == 0 || !u64::from(line).is_multiple_of(grain) {
            let message = format!("lines of {} in parts of {}", self.line, self.grain);
            return wrong("grain", message, "a line is a whole number of parts");
        }
        let lock = self.lock.unwrap_or(self.line).blocks();
        if !(1..=MOST_LOCK).contains(&lock) {
            let message = format!("locks of {lock} blocks");
            return wrong("lock", message, "accepted: 1 block to 2 TiB");
        }
        for (key, lines) in [("gather", self.gather), ("cluster", Some(self.cluster))] {
            if lines == Some(0) {
                return wrong(key, "no lines together".to_owned(), "accepted: 1 or more");
            }
        }
        if self.flush_period == Some(Time::ZERO) {
            return wrong(
                "flush_period",
                "a period of 0 ms".to_owned(),
                "accepted: more than 0 ms",
            );
        }
        let keys = blocks.div_ceil(line.into());
        let of_policy = match &self.policy {
            ReplacementChoice::Known(policy) => policy.memory(lines, keys),
            ReplacementChoice::Custom(_) => 0,
        };
        let bytes = lines_memory(lines, line, keys) + of_policy;
        let what = format!("a cache of {lines} lines of {}", self.line);
        let help = "write a smaller size, or larger lines";
        let taken = tree.memory.take(bytes, what, help);
        taken.map_err(|error| site.locate("memory.size", error))?;
        let setting = Setting {
            capacity: lines,
            chance: site.stream(""),
        };
        let policy = site.replacement(&self.policy, "memory.policy", &setting)?;
        let cache = BlockCache::new(lines, line, policy);
        let gather = self.gather.map_or(u64::MAX >> 32, u64::from);
        let rules = MemoryRules {
            grain: grain as u32,
            writes: self.writes.build(),
            line_by_line: self.line_by_line,
            fetched_lines: gather,
            written_lines: gather.min(self.cluster.into()),
            read_prefetch: self.read_prefetch,
            write_prefetch: self.write_prefetch,
            prefers_clean: self.victims == Victims::Clean,
            period: self.flush_period,
            idle: self.idle_flush,
        };
        let locks = Locks::new(lock, self.shared_reads);
        Ok((Memory::new(cache, rules), locks))
    }

    /// How many lines, and how many blocks each.
    fn lines(&self, site: &Site<'_>) -> Result<(u32, u32), Error> {
        let wrong = |key: &str, message: String, help: String| {
            let key = format!("memory.{key}");
            Err(site.locate(&key, InputError::new(message).help(help)))
        };
        let (line, size) = (self.line.blocks(), self.size.blocks());
        if !(1..=u64::from(MOST_LINE_BLOCKS)).contains(&line) {
            let help = "accepted: 1 block to 1 MiB, such as \"32 KiB\"".to_owned();
            return wrong("line", format!("lines of {}", self.line), help);
        }
        if size == 0 || !size.is_multiple_of(line) {
            let message = format!(
                "a cache of {} is no whole number of lines of {}",
                self.size, self.line
            );
            let help = format!(
                "write a multiple of line, such as \"{} blocks\"",
                (size / line).max(1) * line
            );
            return wrong("size", message, help);
        }
        let lines = u32::try_from(size / line).unwrap_or(u32::MAX);
        if lines > MOST_FRAMES {
            let message = format!("a cache of {} in lines of {}", self.size, self.line);
            return wrong("line", message, "accepted: below 2^31 lines".to_owned());
        }
        if let ReplacementChoice::Known(policy) = &self.policy
            && policy.needs_future()
        {
            let message = format!("{:?} must know future requests", policy.name());
            let help = "a simulation does not: `diskwright miss-ratio` has it beside the others";
            return wrong("policy", message, help.to_owned());
        }
        Ok((lines, line as u32))
    }
}

//! Maps of blocks: a logical block has its pages at their own places in a *data block*, and pages that are written again go to *log blocks*, which
//! are merged with the data blocks when there are no more. What is written where, and what is merged when, is defined in `docs/model/flash.md`.
//!
//! Sources: Ban, US patent 5,937,425 (blocks that replace others, page by page); Kim, Kim, Noh, Min and Cho, "A space-efficient flash translation
//! layer for CompactFlash systems", IEEE Transactions on Consumer Electronics 48(2), 2002 (BAST); Lee, Park, Chung, Lee, Park and Song, "A log
//! buffer-based flash translation layer using fully-associative sector translation", ACM TECS 6(3), 2007 (FAST).

mod choices;
mod merges;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::Blocks;
use super::map::PageMap;

pub use choices::Choice;
use merges::Job;
pub use merges::Step;

/// How pages that are written again find their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogScheme {
    /// At their own places in a block that is to replace the data block.
    Block,
    /// On the next page of the log block of their logical block.
    Bast,
    /// On the next page of the log block of sequential writes, or of the last one of all others.
    Fast,
}

/// Which log block is merged when one is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogVictim {
    /// The one that was begun first.
    #[default]
    Fifo,
    /// The one that was written least recently.
    Lru,
}

/// A map of blocks.
#[derive(Clone, Copy, Debug)]
pub struct LogRules {
    /// Where pages go that are written again.
    pub scheme: LogScheme,
    /// Log blocks of each plane.
    pub logs: u32,
    /// Which one is merged.
    pub victim: LogVictim,
}

/// A block of which pages have been written, and the number of the next one that may be.
#[derive(Clone, Copy, Debug)]
struct Filled {
    block: u32,
    next: u32,
}

impl Filled {
    /// How many pages of this data block tell what is in it: of a full one, one does.
    fn to_scan(self, pages: u32) -> u32 {
        if self.next == pages { 1 } else { self.next }
    }
}

/// A log block.
#[derive(Clone, Copy, Debug)]
struct Log {
    filled: Filled,
    /// The logical block of its pages; of a log block of all others [`NONE`].
    owner: u32,
    /// Every page of it is at its own place.
    in_place: bool,
    /// When it was written last, in pages that were written to log blocks.
    written: u64,
}

const NONE: u32 = u32::MAX;

/// The blocks of one plane.
struct PlaneLogs {
    /// The data block of each logical block.
    data: Vec<Option<Filled>>,
    /// In the order in which they were begun.
    logs: Vec<Log>,
    /// The log block of sequential writes.
    sequential: Option<Log>,
    job: Option<Job>,
}

/// Merges since they were counted anew.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeCounts {
    /// A log block with all pages in their places has become the data block.
    pub switch: u64,
    /// A log block with its pages in their places has, with the rest copied to it.
    pub partial: u64,
    /// A logical block has been copied to a new block.
    pub full: u64,
    /// Log blocks that held nothing valid any more, and were erased.
    pub dropped: u64,
}

/// What is on the flash of a drive.
pub struct Flash<'a> {
    /// Its blocks.
    pub blocks: &'a mut Blocks,
    /// What slots hold.
    pub map: &'a PageMap,
    /// The slot of a unit.
    pub home: &'a dyn Fn(u32) -> Option<u32>,
}

/// A map of blocks of a drive whose pages are units.
pub struct LogBlocks {
    rules: LogRules,
    /// Pages of a block, and units of the host.
    pages: u32,
    units: u32,
    /// The position of each plane in the order of units, and the plane of each position.
    positions: Vec<u32>,
    order: Vec<u32>,
    planes: Vec<PlaneLogs>,
    written: u64,
    /// A block that has been opened since it was last asked.
    opened: Option<u32>,
    counts: MergeCounts,
}

impl LogBlocks {
    /// The map of `units` units in blocks of `pages` pages. `order` has the planes in the order in which consecutive units fill them.
    pub fn new(rules: LogRules, pages: u32, units: u32, order: Vec<u32>) -> LogBlocks {
        let count = order.len() as u32;
        let mut positions = vec![0; order.len()];
        for (position, &plane) in (0..).zip(&order) {
            positions[plane as usize] = position;
        }
        let planes = positions.iter().map(|&position| {
            let of_plane = units.saturating_sub(position).div_ceil(count);
            PlaneLogs {
                data: vec![None; of_plane.div_ceil(pages) as usize],
                logs: Vec::with_capacity(rules.logs as usize),
                sequential: None,
                job: None,
            }
        });
        LogBlocks {
            planes: planes.collect(),
            rules,
            pages,
            units,
            positions,
            order,
            written: 0,
            opened: None,
            counts: MergeCounts::default(),
        }
    }

    /// Blocks that a plane needs: those of its data, its log blocks, and one to merge into.
    pub fn needed(&self, plane: u32) -> u32 {
        self.planes[plane as usize].data.len() as u32 + self.rules.logs + 1
    }

    /// Log blocks of a plane, at most.
    pub fn logs(&self) -> u32 {
        self.rules.logs
    }

    /// The plane of a unit.
    pub fn plane_of(&self, unit: u32) -> u32 {
        self.order[(unit % self.order.len() as u32) as usize]
    }

    /// The logical block of a unit in its plane, and its page there.
    fn place_of(&self, unit: u32) -> (u32, u32) {
        let number = unit / self.order.len() as u32;
        (number / self.pages, number % self.pages)
    }

    /// The unit of a page of a logical block, if the drive has it.
    fn unit_at(&self, plane: u32, logical: u32, page: u32) -> Option<u32> {
        let number = logical * self.pages + page;
        let unit = number * self.order.len() as u32 + self.positions[plane as usize];
        (unit < self.units).then_some(unit)
    }

    /// Whether a plane merges.
    #[inline]
    pub fn is_merging(&self, plane: u32) -> bool {
        self.planes[plane as usize].job.is_some()
    }

    /// A block that has been opened since this was last asked.
    pub fn take_opened(&mut self) -> Option<u32> {
        self.opened.take()
    }

    /// Merges since they were counted anew, and log blocks that there are now.
    pub fn counts(&self) -> (MergeCounts, u64) {
        let logs = self.planes.iter();
        let logs = logs.map(|plane| plane.logs.len() + usize::from(plane.sequential.is_some()));
        (self.counts, logs.sum::<usize>() as u64)
    }

    /// Merges are counted anew.
    pub fn count_anew(&mut self) {
        self.counts = MergeCounts::default();
    }

    /// Blocks, and the pages of each whose spare areas tell what is in it: of a full data block one, of others all that have been written.
    pub fn to_scan(&self) -> impl Iterator<Item = (u32, u32)> {
        let pages = self.pages;
        self.planes.iter().flat_map(move |plane| {
            let data = plane.data.iter().flatten();
            let data = data.map(move |data| (data.block, data.to_scan(pages)));
            let logs = plane.logs.iter().chain(&plane.sequential);
            let logs = logs.map(|log| (log.filled.block, log.filled.next));
            data.chain(logs)
                .chain(plane.job.iter().flat_map(Job::to_scan))
        })
    }
}

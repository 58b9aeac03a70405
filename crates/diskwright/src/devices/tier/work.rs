//! What a tier has under way: requests of the host, and the writing back of dirty lines.

use crate::base::units::Lbn;
use crate::engine::children::{Ground, JobId};
use crate::engine::request::{Command, Op, RequestId};
use crate::models::cache::Frame;
use crate::models::cache::block_cache::{LinePiece, Victim};

/// The number of a work; reused after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkId(pub u32);

/// A request of the host but for flushes, or a write-back.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub request: Option<RequestId>,
    /// The host's, or a write of the run that is written back.
    pub command: Command,
    /// It is part of a sequential stream that is too long for the cache.
    pub is_bypassed: bool,
    pub job: Option<JobId>,
    pub stage: Stage,
    /// The request's parts by lines, in ascending order.
    pub lines: Vec<WorkLine>,
    /// Of a read, what is promoted; of a write-back, what is written back: in ascending order.
    pub runs: Vec<CacheRun>,
    /// Blocks in the run that a read fetches which it has from the cache device all the same, for they are dirty.
    pub overlays: Vec<(u64, u32)>,
    /// Victims that must be written back before it may write to the cache device.
    pub awaited: u32,
    /// Of a write-back, what it is for.
    pub cause: Cause,
}

impl Work {
    /// Whether it writes back a line that has lost its place, and has not ended.
    pub fn is_leaving(&self) -> bool {
        let is_under_way = matches!(
            self.stage,
            Stage::Gathering | Stage::Spreading | Stage::Settling
        );
        is_under_way && matches!(self.cause, Cause::Victim { .. })
    }

    /// Makes it as a new one, whose lists have memory.
    fn reset(&mut self) {
        let Work {
            request,
            command,
            is_bypassed,
            job,
            stage,
            lines,
            runs,
            overlays,
            awaited,
            cause,
        } = self;
        (*request, *command, *is_bypassed) = (None, Command::default(), false);
        (*job, *stage, *awaited) = (None, Stage::default(), 0);
        *cause = Cause::None;
        lines.clear();
        runs.clear();
        overlays.clear();
    }
}

/// How far a work has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// It waits for lines that others use.
    #[default]
    Waiting,
    /// A read's data are on their way.
    Reading,
    /// What a read has fetched goes to the cache device.
    Promoting,
    /// A read has failed, but its places are not free yet.
    Abandoned,
    /// A write is on its way.
    Writing,
    /// A trim is on its way.
    Trimming,
    /// Dirty blocks are read from the cache device.
    Gathering,
    /// They are written to the backing device.
    Spreading,
    /// The backing device is flushed.
    Settling,
    /// It waits until what the table says is durable.
    Committing,
}

/// What lines are written back for.
#[derive(Debug, Default)]
pub(super) enum Cause {
    /// It is no write-back.
    #[default]
    None,
    /// The place of a line is needed for another one's work, which waits for that.
    Victim {
        victim: Victim,
        /// Its number among all victims.
        number: u64,
        waiter: WorkId,
    },
    Cleaning,
    Flush,
    /// A change of the cache.
    Change,
    /// The table cannot be changed any more.
    Retirement,
    /// It writes nothing back: a line has lost all its blocks, and its place.
    Emptied {
        key: u64,
    },
}

impl Cause {
    /// Whether a run goes on for a write-back.
    pub fn ground(&self) -> Ground {
        match self {
            Cause::Change | Cause::Retirement => Ground::Foreground,
            Cause::None
            | Cause::Victim { .. }
            | Cause::Cleaning
            | Cause::Flush
            | Cause::Emptied { .. } => Ground::Behind,
        }
    }
}

/// A work's part in one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkLine {
    pub piece: LinePiece,
    pub frame: Option<Frame>,
    /// It got its place for this work.
    pub is_new: bool,
    /// The work uses the line alone.
    pub is_exclusive: bool,
    pub action: Action,
    /// The read that has just fetched blocks of the line and has them in memory.
    pub in_memory_of: Option<WorkId>,
}

/// What a work does with its blocks of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// They come from where they are, or go to the backing device; the line does not change.
    Pass,
    /// Those that are missing are promoted.
    Fill,
    /// They are written to the cache device alone.
    Absorb,
    /// They are written to both devices.
    Update,
    /// They were to be written to the cache device, which failed: the line loses them.
    Drop,
}

/// A run of blocks of one line on the cache device, or of several that follow one another there and on the backing device.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheRun {
    /// The frame of its first line.
    pub frame: Frame,
    pub lbn: u64,
    pub blocks: u32,
    /// Where it begins on the cache device.
    pub at: u64,
    /// It could not be read.
    pub is_lost: bool,
}

impl CacheRun {
    /// Whether another run goes on where it ends, on both devices.
    pub fn is_followed_by(&self, next: &CacheRun) -> bool {
        let blocks = u64::from(self.blocks);
        (self.lbn + blocks, self.at + blocks) == (next.lbn, next.at)
    }
}

/// What a request to a child is, of a work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub work: WorkId,
    pub what: What,
}

/// What a request to a child does.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// Reads blocks for the host from the cache device.
    Hit { lbn: u64, blocks: u32 },
    /// Reads for the host from the backing device what is missing.
    Fetch,
    /// The same in the place of blocks that the cache device could not give.
    Instead,
    /// Writes the host's blocks of a line, by its place in the work's list, to the cache device.
    Store(usize),
    /// Writes blocks of the host to the backing device.
    Through,
    /// Writes a run of the work's list to the cache device.
    Promote(usize),
    /// Reads a run of the work's list from the cache device.
    Gather(usize),
    /// Writes dirty blocks to the backing device.
    Spread,
    /// Flushes the backing device behind them.
    Settle,
    /// Passes a flush of the host on, to the cache device or to the backing device.
    Barrier { is_cache: bool },
    /// Passes a trim on.
    Trim,
    /// Flushes the backing device before the table is retired.
    Retire,
    /// Writes a part of the table to the cache device, or flushes that before.
    Commit,
}

/// A command without FUA.
pub(super) fn command(op: Op, lbn: u64, blocks: u32) -> Command {
    Command {
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks,
    }
}

/// All works, by their numbers.
#[derive(Default)]
pub(super) struct Works {
    /// Each stays where it is in memory; nothing stands in the place of one that is [taken](Works::take).
    entries: Vec<Option<Box<Work>>>,
    free: Vec<u32>,
}

impl Works {
    /// Adds a work for a request of the host, or for a write-back.
    pub fn add(&mut self, request: Option<RequestId>, command: Command) -> WorkId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Some(Box::default()));
            self.entries.len() as u32 - 1
        });
        let work = self.get_mut(WorkId(id));
        (work.request, work.command) = (request, command);
        WorkId(id)
    }

    /// All works that are not taken, those that have ended too.
    pub fn iter(&self) -> impl Iterator<Item = &Work> {
        self.entries.iter().flatten().map(Box::as_ref)
    }

    #[inline]
    pub fn get(&self, id: WorkId) -> &Work {
        self.entries[id.0 as usize].as_ref().expect(TAKEN)
    }

    #[inline]
    pub fn get_mut(&mut self, id: WorkId) -> &mut Work {
        self.entries[id.0 as usize].as_mut().expect(TAKEN)
    }

    /// Takes a work out of its place, to which it is [put back](Works::put_back).
    #[inline]
    pub fn take(&mut self, id: WorkId) -> Box<Work> {
        self.entries[id.0 as usize].take().expect(TAKEN)
    }

    #[inline]
    pub fn put_back(&mut self, id: WorkId, work: Box<Work>) {
        self.entries[id.0 as usize] = Some(work);
    }

    /// Ends a work, whose lists keep their memory.
    pub fn end(&mut self, id: WorkId) {
        self.get_mut(id).reset();
        self.free.push(id.0);
    }
}

/// Why a work that is used must be in its place.
const TAKEN: &str = "a taken work is used only by its holder";

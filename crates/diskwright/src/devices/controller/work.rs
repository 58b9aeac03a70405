//! What a controller has to do: requests of the host, and what it does by itself.

use crate::base::units::Time;
use crate::engine::request::{Command, Outcome, RequestId};
use crate::models::cache::Frame;

/// The number of some work; reused after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WorkId(pub u32);

/// What some work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request of the host.
    Host,
    /// Dirty blocks of the memory cache go to their device. Those of a line that has left its frame are told.
    WriteBack { leaving: Option<(u64, u64)> },
    /// Dirty blocks of the cache device go to the device behind it.
    Settle,
}

/// What comes next for some work, once it waits for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has to have its blocks for itself.
    Lock,
    /// It has them.
    Begin,
    /// The lines of a memory cache: the next one, and whether what it had to fetch has been sent for.
    Lines { line: usize },
    /// Its data are to be moved between the host and the controller.
    Move,
    /// They have been moved.
    Moved,
    /// What it writes is where it has to be first.
    Written,
    /// The same of what it writes second.
    WrittenThrough,
    /// The host is told.
    Answer,
    /// It is over.
    End,
}

/// Where a line of a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineFrame {
    /// It is not looked for yet.
    Unknown,
    /// In a frame, which is pinned, since the piece was locked; it counts as an access when its turn comes.
    Found(Frame),
    /// In a frame, which is pinned.
    Taken(Frame),
    /// Nowhere: no frame could be freed.
    None,
    /// Nowhere for the piece, but in a frame, which is pinned, since another piece has brought the line.
    Beside(Frame),
}

impl LineFrame {
    /// The frame, if it has one.
    pub fn frame(self) -> Option<Frame> {
        match self {
            LineFrame::Found(frame) | LineFrame::Taken(frame) => Some(frame),
            LineFrame::Unknown | LineFrame::None | LineFrame::Beside(_) => None,
        }
    }

    /// The frame that is pinned for it.
    pub fn pinned(self) -> Option<Frame> {
        match self {
            LineFrame::Beside(frame) => Some(frame),
            _ => self.frame(),
        }
    }

    /// The same once another piece has brought the line into a frame.
    pub fn brought(self, frame: Frame) -> LineFrame {
        match self {
            LineFrame::Unknown => LineFrame::Found(frame),
            _ => LineFrame::Beside(frame),
        }
    }
}

/// Some work.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub kind: Kind,
    /// The host's request, until it has been answered.
    pub request: Option<RequestId>,
    /// What it asks as a whole.
    pub command: Command,
    /// The piece of it that is under way: its first block, and the one behind its last.
    pub from: u64,
    pub end: u64,
    pub stage: Stage,
    /// What it waits for: operations, other work.
    pub left: u32,
    pub outcome: Outcome,
    /// Up to when its time has been divided into parts.
    pub accounted: Time,
    /// The lines of its piece, in a memory cache.
    pub frames: Vec<LineFrame>,
    /// What waits for its end.
    pub owner: Option<WorkId>,
    /// Something was read for it from a device.
    pub has_missed: bool,
    /// Whether its data came or went otherwise than by the cache.
    pub has_bypassed: bool,
}

impl Work {
    /// Blocks of the piece under way.
    pub fn blocks(&self) -> u32 {
        (self.end - self.from) as u32
    }
}

/// All work under way.
#[derive(Default)]
pub(super) struct Works {
    entries: Vec<Option<Work>>,
    free: Vec<u32>,
}

impl Works {
    /// Adds some work.
    pub fn begin(&mut self, work: Work) -> WorkId {
        match self.free.pop() {
            Some(index) => {
                self.entries[index as usize] = Some(work);
                WorkId(index)
            }
            None => {
                self.entries.push(Some(work));
                WorkId(self.entries.len() as u32 - 1)
            }
        }
    }

    /// Work that is over.
    pub fn end(&mut self, id: WorkId) -> Work {
        self.free.push(id.0);
        let work = self.entries[id.0 as usize].take();
        work.expect("work ends once")
    }

    pub fn get(&self, id: WorkId) -> &Work {
        let work = self.entries[id.0 as usize].as_ref();
        work.expect("it is under way")
    }

    pub fn get_mut(&mut self, id: WorkId) -> &mut Work {
        let work = self.entries[id.0 as usize].as_mut();
        work.expect("it is under way")
    }

    /// All that is under way.
    pub fn iter(&self) -> impl Iterator<Item = (WorkId, &Work)> {
        let entries = (0..).zip(&self.entries);
        entries.filter_map(|(id, work)| Some((WorkId(id), work.as_ref()?)))
    }
}

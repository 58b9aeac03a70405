//! When a logging drive makes tracks empty, and which.
//!
//! A cleaner reads the blocks that are left on a track and writes them where other tracks have holes. It works between requests: one
//! access at a time, the reading of a track or the writing of one block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::free::FreeSlots;
use super::slots::DriveSlots;
use crate::base::registry::{policies, schema_of_family};
use crate::base::units::Time;

policies! {
    /// A cleaner and its parameters, as a spec names it.
    pub enum CleanerSpec of "cleaner" builds Cleaner {
        Idle = "idle" [] in Idle,
        Watermark = "watermark" [] in Watermark,
    }
}

schema_of_family!(
    CleanerSpec,
    "Cleaner",
    "When a logging drive makes tracks empty."
);

/// When a cleaner works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cleaner {
    /// How long the drive must have been idle; `None`: requests wait for it.
    pub after: Option<Time>,
    /// It begins when less than this share of all tracks is empty.
    pub low: f64,
    /// It ends when this share is.
    pub high: f64,
}

/// Works when the drive has been idle for a while, until a share of all tracks is empty.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Idle {
    /// How long it waits after the last request, or after time zero.
    pub after: Time,
    /// The share of all tracks that it wants to be empty.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub empty: f64,
}

impl Default for Idle {
    fn default() -> Idle {
        Idle {
            after: Time::from_ms(50),
            empty: 0.05,
        }
    }
}

impl Idle {
    const SUMMARY: &str = "Cleans when the drive has been idle for a while.";
    fn build(&self) -> Cleaner {
        Cleaner {
            after: Some(self.after),
            low: self.empty,
            high: self.empty,
        }
    }
}

/// Begins when few tracks are empty, whatever waits, and ends when enough are.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Watermark {
    /// The share of all tracks below which it begins.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub low: f64,
    /// The share at which it ends.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub high: f64,
}

impl Default for Watermark {
    fn default() -> Watermark {
        Watermark {
            low: 0.02,
            high: 0.05,
        }
    }
}

impl Watermark {
    const SUMMARY: &str = "Cleans between requests when few tracks are empty, until enough are.";
    fn build(&self) -> Cleaner {
        Cleaner {
            after: None,
            low: self.low,
            high: self.high.max(self.low),
        }
    }
}

/// The track that is cheapest to empty: the one with the fewest blocks, but with some; the lowest of equals. `None` where what is
/// on it would not fit into the holes of the others.
///
/// The greedy choice of Rosenblum and Ousterhout, "The design and implementation of a log-structured file system", ACM
/// TOCS 10(1), 1992, section 3.4.
pub fn cheapest(free: &FreeSlots, slots: &DriveSlots) -> Option<usize> {
    let tracks = slots.tracks().iter().enumerate();
    let partly_filled = tracks
        .map(|(number, track)| (number, track.slots - free.on_track(number), track.slots))
        .filter(|&(_, used, of)| used > 0 && used < of);
    let mut holes = 0;
    let mut best: Option<(u32, usize, u32)> = None;
    for (number, used, of) in partly_filled {
        holes += u64::from(of - used);
        if best.is_none_or(|(least, ..)| used < least) {
            best = Some((used, number, of));
        }
    }
    let (used, number, of) = best?;
    (holes - u64::from(of - used) >= u64::from(used)).then_some(number)
}

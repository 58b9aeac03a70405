//! One record of a trace, whatever its format.

use crate::base::units::{Lbn, Time};
use crate::engine::request::Op;

/// A request as a trace tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When the request arrived, on the trace's own clock.
    pub arrival: Time,
    /// The device it was for, by the trace's own number.
    pub device: u32,
    /// Read, write, flush or trim.
    pub op: Op,
    /// Force unit access.
    pub fua: bool,
    /// First 512-byte block; 0 for a flush.
    pub lbn: Lbn,
    /// Number of 512-byte blocks; 0 for a flush; [`Record::OVERSIZE`] for any number that large or larger.
    pub blocks: u32,
    /// What the trace says of how the request went, where it says anything.
    pub recorded: Option<Recorded>,
}

impl Record {
    /// The value of `blocks` that stands for every size too large to be told in it.
    pub const OVERSIZE: u32 = u32::MAX;

    /// `blocks` as a record holds it.
    pub fn clamp_blocks(blocks: u64) -> u32 {
        u32::try_from(blocks).unwrap_or(Record::OVERSIZE)
    }
}

/// What the recorded system did with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The service time.
    pub service: Option<Time>,
    /// From this request's completion to the next one's arrival.
    pub gap: Option<Time>,
}

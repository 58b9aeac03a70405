//! Replies to requests.

use super::Put;
use super::errno::EIO;
use crate::engine::request::Outcome;

const SIMPLE: u32 = 0x6744_6698;
const STRUCTURED: u32 = 0x668e_33ef;
const DONE: u16 = 1;
const OFFSET_DATA: u16 = 1;
const BLOCK_STATUS: u16 = 5;
const ERROR: u16 = 0x8001;
/// The number of the context `base:allocation`.
pub(super) const ALLOCATION: u32 = 1;
/// Its flags of a hole that reads as zeros.
const HOLE_AND_ZERO: u32 = 3;

/// What a client is told of an outcome; 0 for a good one.
pub fn error_of(outcome: Outcome) -> u32 {
    match outcome {
        Outcome::Ok => 0,
        Outcome::MediaError | Outcome::FailedDevice | Outcome::Refused => EIO,
    }
}

/// Ends a request without data, well or with an error.
pub fn reply_done(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.u32(SIMPLE);
    out.u32(error);
    out.u64(cookie);
}

fn chunk(out: &mut Vec<u8>, kind: u16, cookie: u64, length: u32) {
    out.u32(STRUCTURED);
    out.u16(DONE);
    out.u16(kind);
    out.u64(cookie);
    out.u32(length);
}

/// Ends a request that was to give data with an error.
pub fn reply_error(out: &mut Vec<u8>, is_structured: bool, cookie: u64, error: u32) {
    if !is_structured {
        return reply_done(out, cookie, error);
    }
    chunk(out, ERROR, cookie, 6);
    out.u32(error);
    out.u16(0);
}

/// Begins the reply to a read; the data follow.
pub fn reply_read(out: &mut Vec<u8>, is_structured: bool, cookie: u64, offset: u64, length: u32) {
    if !is_structured {
        return reply_done(out, cookie, 0);
    }
    chunk(out, OFFSET_DATA, cookie, length + 8);
    out.u64(offset);
}

/// Ends a request for the status of blocks: lengths, and whether each is a hole.
pub fn reply_block_status(out: &mut Vec<u8>, cookie: u64, extents: &[(u32, bool)]) {
    chunk(out, BLOCK_STATUS, cookie, 4 + 8 * extents.len() as u32);
    out.u32(ALLOCATION);
    for &(length, is_hole) in extents {
        out.u32(length);
        out.u32(if is_hole { HOLE_AND_ZERO } else { 0 });
    }
}

//! The protocol of network block devices: the fixed newstyle handshake, options, requests and replies.
//!
//! Source of all numbers: "The NBD protocol", doc/proto.md of the reference implementation
//! (<https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>). Nothing here reads or writes: a [`Session`] takes bytes and gives
//! bytes, so that tests need no socket.

mod options;
mod reply;
mod session;
#[cfg(test)]
mod tests;

pub use reply::{error_of, reply_block_status, reply_done, reply_error, reply_read};
pub use session::{Ask, Kind, Session, Step};

/// The most bytes of a read or a write: what clients assume where nothing is announced.
pub const MOST_BYTES: u32 = 32 << 20;

/// Errors of replies.
pub mod errno {
    /// Not allowed: a write to a device that is served read-only.
    pub const EPERM: u32 = 1;
    /// The device could not do it.
    pub const EIO: u32 = 5;
    /// A wrong request.
    pub const EINVAL: u32 = 22;
    /// A write behind the end, or no room for contents.
    pub const ENOSPC: u32 = 28;
    /// A request that is too large.
    pub const EOVERFLOW: u32 = 75;
}

/// What is told of the device to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its size in bytes.
    pub size: u64,
    /// What offsets and lengths are multiples of, bytes: a power of two, 512 or more.
    pub block: u32,
    /// It takes no writes.
    pub read_only: bool,
    /// It has a disk that turns.
    pub rotational: bool,
    /// What it is, for people.
    pub description: String,
}

/// Adds numbers in the order of the network.
pub(super) trait Put {
    fn u16(&mut self, number: u16);
    fn u32(&mut self, number: u32);
    fn u64(&mut self, number: u64);
}

impl Put for Vec<u8> {
    fn u16(&mut self, number: u16) {
        self.extend_from_slice(&number.to_be_bytes());
    }
    fn u32(&mut self, number: u32) {
        self.extend_from_slice(&number.to_be_bytes());
    }
    fn u64(&mut self, number: u64) {
        self.extend_from_slice(&number.to_be_bytes());
    }
}

/// Reads numbers in the order of the network, from the front.
#[derive(Clone, Copy)]
pub(super) struct Take<'a>(pub &'a [u8]);

impl<'a> Take<'a> {
    /// The next bytes; `None` where there are fewer.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    pub fn u16(&mut self) -> Option<u16> {
        let bytes = self.bytes(2)?;
        Some(u16::from_be_bytes(bytes.try_into().ok()?))
    }
    pub fn u32(&mut self) -> Option<u32> {
        let bytes = self.bytes(4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    }
    pub fn u64(&mut self) -> Option<u64> {
        let bytes = self.bytes(8)?;
        Some(u64::from_be_bytes(bytes.try_into().ok()?))
    }
    /// A text behind its length.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.bytes(length as usize)
    }
}

//! Contents that are not kept.

use std::io;

use super::Contents;

/// Takes what is written and forgets it: everything reads as zeros. For measurements on devices that are larger than the memory.
pub struct Discarded;

impl Contents for Discarded {
    fn read(&mut self, _offset: u64, into: &mut [u8]) -> io::Result<()> {
        into.fill(0);
        Ok(())
    }
    fn write(&mut self, _offset: u64, _from: &[u8]) -> io::Result<()> {
        Ok(())
    }
    fn zero(&mut self, _offset: u64, _length: u64, _kept: bool) -> io::Result<()> {
        Ok(())
    }
    fn extent(&mut self, _offset: u64, length: u64) -> io::Result<(u64, bool)> {
        // A client that copies is to read all of it: what is measured is the device.
        Ok((length, false))
    }
}

//! Contents in memory.

use std::collections::BTreeMap;
use std::io;

use super::Contents;

/// Bytes that are kept together.
const CHUNK: u64 = 1 << 16;

/// Keeps what is written in memory; what is not written, or made zero as a whole chunk, takes none.
#[derive(Default)]
pub struct Memory {
    chunks: BTreeMap<u64, Box<[u8]>>,
}

impl Memory {
    /// The bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        self.chunks.len() as u64 * CHUNK
    }
}

/// The chunks of a run of bytes: of each its number and which of its bytes.
fn pieces(offset: u64, length: u64) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let end = offset + length;
    let chunks = offset / CHUNK..end.div_ceil(CHUNK);
    chunks.map(move |chunk| {
        let start = chunk * CHUNK;
        let from = offset.max(start) - start;
        let to = end.min(start + CHUNK) - start;
        (chunk, from as usize..to as usize)
    })
}

impl Contents for Memory {
    fn read(&mut self, offset: u64, mut into: &mut [u8]) -> io::Result<()> {
        for (chunk, range) in pieces(offset, into.len() as u64) {
            let (piece, rest) = into.split_at_mut(range.len());
            match self.chunks.get(&chunk) {
                Some(bytes) => piece.copy_from_slice(&bytes[range]),
                None => piece.fill(0),
            }
            into = rest;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, mut from: &[u8]) -> io::Result<()> {
        for (chunk, range) in pieces(offset, from.len() as u64) {
            let (piece, rest) = from.split_at(range.len());
            let bytes = self.chunks.entry(chunk);
            let bytes = bytes.or_insert_with(|| vec![0; CHUNK as usize].into());
            bytes[range].copy_from_slice(piece);
            from = rest;
        }
        Ok(())
    }

    fn zero(&mut self, offset: u64, length: u64, _kept: bool) -> io::Result<()> {
        let chunks = offset / CHUNK..(offset + length).div_ceil(CHUNK);
        let there: Vec<u64> = self.chunks.range(chunks).map(|(chunk, _)| *chunk).collect();
        for chunk in there {
            let start = chunk * CHUNK;
            let from = offset.max(start) - start;
            let to = (offset + length).min(start + CHUNK) - start;
            if to - from == CHUNK {
                self.chunks.remove(&chunk);
            } else if let Some(bytes) = self.chunks.get_mut(&chunk) {
                bytes[from as usize..to as usize].fill(0);
            }
        }
        Ok(())
    }

    fn extent(&mut self, offset: u64, length: u64) -> io::Result<(u64, bool)> {
        let (first, end) = (offset / CHUNK, offset + length);
        let mut there = self
            .chunks
            .range(first..)
            .map(|(chunk, _)| *chunk)
            .peekable();
        if there.peek() != Some(&first) {
            let until = there.next().map_or(end, |chunk| end.min(chunk * CHUNK));
            return Ok((until - offset, true));
        }
        let last = first
            + there
                .zip(first..)
                .take_while(|(found, chunk)| found == chunk)
                .count() as u64;
        Ok((end.min(last * CHUNK) - offset, false))
    }
}

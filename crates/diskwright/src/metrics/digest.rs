//! A hash of every completion in order: equal digests mean equal runs.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

use crate::engine::request::{Op, Outcome, Request};

/// The running hash. XXH3 with 128 bits over little-endian fields, the same on every machine.
#[derive(Default)]
pub struct Digest {
    hash: Box<Xxh3>,
    /// What is hashed next, kept for its memory.
    bytes: Vec<[u8; BYTES]>,
}

/// Bytes of a request.
const BYTES: usize = 59;

impl Digest {
    /// Adds requests in the order of their completions.
    #[inline]
    pub fn add<'a>(&mut self, requests: impl Iterator<Item = &'a Request>) {
        self.bytes.clear();
        self.bytes.extend(requests.map(bytes));
        self.hash.update(self.bytes.as_flattened());
    }
}

/// What is hashed of a request.
#[inline]
fn bytes(request: &Request) -> [u8; BYTES] {
    let op = match request.command.op {
        Op::Read => 0u8,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Trim => 3,
        Op::NvCache(_) => 4,
    };
    let outcome = match request.outcome {
        None => 0u8,
        Some(Outcome::Ok) => 1,
        Some(Outcome::MediaError) => 2,
        Some(Outcome::FailedDevice) => 3,
        Some(Outcome::Refused) => 4,
    };
    let mut bytes = [0u8; BYTES];
    let fields = [
        request.sequence,
        request.command.lbn.0,
        u64::from(request.command.blocks),
        request.arrival.ns(),
        request.acceptance.ns(),
        request.start.ns(),
        request.completion.ns(),
    ];
    let places = bytes.as_chunks_mut::<8>().0;
    for (place, value) in places.iter_mut().zip(fields) {
        *place = value.to_le_bytes();
    }
    bytes[56] = op;
    bytes[57] = outcome;
    bytes[58] = u8::from(request.command.fua);
    bytes
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.hash.digest128())
    }
}

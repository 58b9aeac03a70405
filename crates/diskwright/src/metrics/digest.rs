//! A hash of every completion in order: equal digests mean equal runs.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

use crate::engine::request::{Op, Outcome, Request};

/// The running hash. XXH3 with 128 bits over little-endian fields, the same on every machine.
pub struct Digest(Box<Xxh3>);

impl Default for Digest {
    fn default() -> Digest {
        Digest(Box::new(Xxh3::new()))
    }
}

impl Digest {
    /// Adds a completed request.
    pub fn add(&mut self, request: &Request) {
        let op = match request.command.op {
            Op::Read => 0u8,
            Op::Write => 1,
            Op::Flush => 2,
            Op::Trim => 3,
        };
        let outcome = match request.outcome {
            None => 0u8,
            Some(Outcome::Ok) => 1,
            Some(Outcome::MediaError) => 2,
            Some(Outcome::FailedDevice) => 3,
        };
        let mut bytes = [0u8; 63];
        let mut fields = bytes.as_chunks_mut::<8>().0.iter_mut();
        for value in [
            request.sequence,
            request.command.lbn.0,
            u64::from(request.command.blocks),
            request.arrival.ns(),
            request.acceptance.ns(),
            request.start.ns(),
            request.completion.ns(),
        ] {
            *fields.next().expect("seven fields of eight bytes") = value.to_le_bytes();
        }
        bytes[56] = op;
        bytes[57] = outcome;
        bytes[58] = u8::from(request.command.fua);
        self.0.update(&bytes[..59]);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0.digest128())
    }
}

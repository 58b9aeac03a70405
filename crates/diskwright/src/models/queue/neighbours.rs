//! Of most LBNs it can be told at once that no waiting request begins or ends there.

use crate::base::units::Lbn;
use crate::engine::request::Command;

/// How many waiting requests begin at LBNs of each kind, and how many end there.
#[derive(Debug)]
pub(super) struct Neighbours {
    begins: [u32; KINDS],
    ends: [u32; KINDS],
}

/// Kinds of LBNs.
const KINDS: usize = 256;

/// The kind of an LBN: neighbours and multiples of a size are of different ones.
#[inline]
fn kind(lbn: Lbn) -> usize {
    (lbn.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}

impl Default for Neighbours {
    fn default() -> Neighbours {
        Neighbours {
            begins: [0; KINDS],
            ends: [0; KINDS],
        }
    }
}

impl Neighbours {
    /// A request waits.
    #[inline]
    pub fn add(&mut self, command: &Command) {
        self.begins[kind(command.lbn)] += 1;
        self.ends[kind(command.end())] += 1;
    }

    /// It does not wait any more.
    #[inline]
    pub fn remove(&mut self, command: &Command) {
        self.begins[kind(command.lbn)] -= 1;
        self.ends[kind(command.end())] -= 1;
    }

    /// The most requests that begin at an LBN.
    pub fn beginning_at(&self, lbn: Lbn) -> usize {
        self.begins[kind(lbn)] as usize
    }

    /// The most requests whose last block is right before an LBN.
    pub fn ending_at(&self, lbn: Lbn) -> usize {
        self.ends[kind(lbn)] as usize
    }
}

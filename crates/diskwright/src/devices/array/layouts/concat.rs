//! Concatenation: the blocks of one member after those of the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layout, Member, MemberPiece, Organisation};
use crate::base::error::InputError;
use crate::base::units::Lbn;
use crate::engine::request::Command;

/// Rule: all blocks of the first member, then all of the second, and so on; a request across the boundary is split. Source: the
/// linear mode of volume managers. Weakness: what is hot may all be on one member.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Concat {}

impl Concat {
    pub(super) const SUMMARY: &str = "The blocks of one member after those of the other.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Organisation, InputError> {
        let mut end = 0;
        let ends = members.iter().map(|blocks| {
            end += blocks;
            end
        });
        Ok(Organisation::Plain(Box::new(Chained {
            ends: ends.collect(),
        })))
    }
}

/// The block behind the last one of each member.
struct Chained {
    ends: Vec<u64>,
}

impl Chained {
    /// The member that has a block, and its first one.
    fn find(&self, lbn: u64) -> (usize, u64) {
        let member = self.ends.partition_point(|&end| end <= lbn);
        (member, self.begin(member))
    }

    /// The first block of a member.
    fn begin(&self, member: usize) -> u64 {
        member.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

impl Layout for Chained {
    fn blocks(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn place(&self, lbn: Lbn, _copy: u32) -> (usize, Lbn) {
        let (member, begin) = self.find(lbn.0);
        (member, Lbn(lbn.0 - begin))
    }

    fn origin(&self, member: usize, at: Lbn) -> (Lbn, u64) {
        let lbn = self.begin(member) + at.0;
        (Lbn(lbn), self.ends[member] - lbn)
    }

    fn split(&mut self, command: &Command, _members: &[Member], pieces: &mut Vec<MemberPiece>) {
        let (mut lbn, end) = (command.lbn.0, command.end().0);
        let (mut member, mut begin) = self.find(lbn);
        while lbn < end {
            let next = self.ends[member].min(end);
            pieces.push(MemberPiece {
                member,
                lbn: Lbn(lbn - begin),
                blocks: (next - lbn) as u32,
            });
            (lbn, begin, member) = (next, self.ends[member], member + 1);
        }
    }
}

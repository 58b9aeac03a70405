//! Mirroring: every member has every block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::reads::{Read, ReadSpec};
use super::super::redundant::geometry::{Geometry, Scheme};
use super::super::redundant::spec::Rules;
use super::{Layout, Member, MemberPiece, Organisation, smallest};
use crate::base::error::InputError;
use crate::base::units::Lbn;
use crate::engine::request::{Command, Op};

/// Rule: writes go to all members and a read to one, which a policy of its own chooses. Source: Bitton and Gray, "Disk shadowing", VLDB
/// 1988. Weakness: a write waits for the slowest member; of writes of the same blocks that are outstanding together each member may
/// have another one last, as in real arrays: a host that needs an order waits for the first write to end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mirror {
    /// Which member a read goes to.
    pub read: ReadSpec,
}

impl Mirror {
    pub(super) const SUMMARY: &str = "Every member has every block.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Organisation, InputError> {
        Ok(Organisation::Plain(Box::new(Mirrored {
            blocks: smallest(members),
            members: members.len() as u32,
            read: self.read.build(),
            left: (Vec::new(), Vec::new()),
        })))
    }

    /// The same for an array with spares: one unit with a copy on each member.
    pub(super) fn kept_up(&self, members: &[u64]) -> Organisation {
        let geometry = Geometry {
            scheme: Scheme::Copies(members.len()),
            members: members.len(),
            unit: smallest(members),
            rows: 1,
        };
        Organisation::Redundant(geometry, Rules::of_copies(&self.read))
    }
}

/// Copies of the same blocks, one on each member.
struct Mirrored {
    blocks: u64,
    members: u32,
    read: Box<dyn Read>,
    /// Those that have not failed, and which they are, for the policy; used once one has.
    left: (Vec<Member>, Vec<usize>),
}

impl Mirrored {
    /// The member for a read, where one is left.
    fn choose(&mut self, command: &Command, members: &[Member]) -> Option<usize> {
        if members.iter().all(|member| !member.has_failed) {
            return Some(self.read.choose(command, members));
        }
        let (left, numbers) = &mut self.left;
        left.clear();
        numbers.clear();
        for (number, member) in members.iter().enumerate() {
            if !member.has_failed {
                left.push(*member);
                numbers.push(number);
            }
        }
        (!left.is_empty()).then(|| numbers[self.read.choose(command, left)])
    }
}

impl Layout for Mirrored {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn copies(&self) -> u32 {
        self.members
    }

    fn place(&self, lbn: Lbn, copy: u32) -> (usize, Lbn) {
        (copy as usize, lbn)
    }

    fn origin(&self, _member: usize, at: Lbn) -> (Lbn, u64) {
        (at, self.blocks - at.0)
    }

    fn split(&mut self, command: &Command, members: &[Member], pieces: &mut Vec<MemberPiece>) {
        let piece = |member| MemberPiece {
            member,
            lbn: command.lbn,
            blocks: command.blocks,
        };
        if command.op == Op::Read {
            return pieces.extend(self.choose(command, members).map(piece));
        }
        let left = members.iter().enumerate();
        let left = left.filter(|(_, member)| !member.has_failed);
        pieces.extend(left.map(|(member, _)| piece(member)));
    }

    fn instead(
        &self,
        piece: &MemberPiece,
        first: usize,
        members: &[Member],
    ) -> Option<MemberPiece> {
        let count = members.len();
        let others = (piece.member + 1..).map(|member| member % count);
        let mut others = others.take_while(|&member| member != first);
        let member = others.find(|&member| !members[member].has_failed)?;
        Some(MemberPiece { member, ..*piece })
    }
}

//! Mirroring: every member has every block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::reads::{Read, ReadSpec};
use super::{Layout, Member, Piece, smallest};
use crate::base::error::InputError;
use crate::base::units::Lbn;
use crate::engine::request::{Command, Op};

/// Rule: writes go to all members and a read to one, which a policy of its own chooses. Source: Bitton and Gray, "Disk shadowing", VLDB
/// 1988. Weakness: a write waits for the slowest member; of writes of the same blocks that are outstanding together each member may
/// have another one last, as in real arrays: who wants an order waits for the first to end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mirror {
    /// Which member a read goes to.
    pub read: ReadSpec,
}

impl Mirror {
    pub(super) const SUMMARY: &str = "Every member has every block.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Box<dyn Layout>, InputError> {
        Ok(Box::new(Mirrored {
            blocks: smallest(members),
            members: members.len() as u32,
            read: self.read.build(),
        }))
    }
}

/// So many copies of so many blocks.
struct Mirrored {
    blocks: u64,
    members: u32,
    read: Box<dyn Read>,
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

    fn split(&mut self, command: &Command, members: &[Member], pieces: &mut Vec<Piece>) {
        let all = match command.op {
            Op::Read => {
                let one = self.read.choose(command, members);
                one..one + 1
            }
            _ => 0..members.len(),
        };
        pieces.extend(all.map(|member| Piece {
            member,
            lbn: command.lbn,
            blocks: command.blocks,
        }));
    }
}

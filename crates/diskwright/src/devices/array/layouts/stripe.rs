//! Striping: units of blocks go round the members.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layout, Member, MemberPiece, Organisation, smallest};
use crate::base::error::InputError;
use crate::base::units::{Lbn, Size};
use crate::engine::request::Command;

/// Rule: one unit of blocks after the other on one member after the other. Source: Salem and Garcia-Molina, "Disk
/// striping", ICDE 1986; on the unit, Chen and Patterson, "Maximizing performance in a striped disk array", ISCA 1990. Weakness: a
/// request over several members waits for the slowest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stripe {
    /// How many blocks follow each other on a member before the next member's turn.
    pub unit: Size,
}

impl Stripe {
    pub(super) const SUMMARY: &str = "Units of blocks go round the members.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Organisation, InputError> {
        let (unit, smallest) = (self.unit.blocks(), smallest(members));
        if unit == 0 || unit > smallest {
            return Err(
                InputError::new(format!("a stripe's unit of {}", self.unit)).help(format!(
                    "accepted: 1 block to those of the smallest member, {smallest}"
                )),
            );
        }
        Ok(Organisation::Plain(Box::new(Striped {
            unit,
            members: members.len() as u64,
            rows: smallest / unit,
        })))
    }
}

/// Rows of one unit on each member.
struct Striped {
    unit: u64,
    members: u64,
    rows: u64,
}

impl Layout for Striped {
    fn blocks(&self) -> u64 {
        self.unit * self.members * self.rows
    }

    fn place(&self, lbn: Lbn, _copy: u32) -> (usize, Lbn) {
        let (unit, within) = (lbn.0 / self.unit, lbn.0 % self.unit);
        let (row, member) = (unit / self.members, unit % self.members);
        (member as usize, Lbn(row * self.unit + within))
    }

    fn origin(&self, member: usize, at: Lbn) -> (Lbn, u64) {
        let (row, within) = (at.0 / self.unit, at.0 % self.unit);
        let unit = row * self.members + member as u64;
        (Lbn(unit * self.unit + within), self.unit - within)
    }

    fn split(&mut self, command: &Command, _members: &[Member], pieces: &mut Vec<MemberPiece>) {
        let (first, last) = (command.lbn.0, command.end().0 - 1);
        let (from, to) = (first / self.unit, last / self.unit);
        for begin in from..=to.min(from + self.members - 1) {
            // The units of a member follow each other on it, from the first of the request to the last.
            let end = to - (to - begin) % self.members;
            let before = if begin == from { first % self.unit } else { 0 };
            let until = if end == to {
                last % self.unit + 1
            } else {
                self.unit
            };
            let lbn = begin / self.members * self.unit + before;
            let behind = end / self.members * self.unit + until;
            pieces.push(MemberPiece {
                member: (begin % self.members) as usize,
                lbn: Lbn(lbn),
                blocks: (behind - lbn) as u32,
            });
        }
    }
}

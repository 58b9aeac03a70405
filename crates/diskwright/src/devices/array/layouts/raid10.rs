//! RAID-10: striping over groups of members with the same blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::reads::ReadSpec;
use super::super::redundant::geometry::{Geometry, Scheme};
use super::super::redundant::spec::Rules;
use super::{Organisation, rows_of};
use crate::base::error::InputError;
use crate::base::units::Size;

/// Rule: with n members and c copies, units go round the first n/c members, and the copy k of what member x has is on member x + k·n/c, at
/// the same place. Source: DiskSim's shadowed organisations. Weakness: each write goes to all copies, and half the space is lost with two.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Raid10 {
    /// How many blocks follow each other on a member before the next member's turn.
    pub unit: Size,
    /// How many members have each block. They divide the number of members.
    #[serde(default = "two")]
    pub copies: u32,
    /// Which copy a read goes to.
    #[serde(default)]
    pub read: ReadSpec,
}

fn two() -> u32 {
    2
}

impl Raid10 {
    pub(super) const SUMMARY: &str =
        "Units go round groups of members; those of a group have the same blocks.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Organisation, InputError> {
        let rows = rows_of(self.unit, members)?;
        let copies = self.copies as usize;
        if copies == 0 || !members.len().is_multiple_of(copies) {
            let error = InputError::new(format!("{copies} copies on {} members", members.len()));
            return Err(
                error.help("accepted: a number of copies that divides the number of members")
            );
        }
        let geometry = Geometry {
            scheme: Scheme::Copies(copies),
            members: members.len(),
            unit: self.unit.blocks(),
            rows,
        };
        Ok(Organisation::Redundant(
            geometry,
            Rules::of_copies(&self.read),
        ))
    }
}

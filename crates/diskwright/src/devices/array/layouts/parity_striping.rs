//! Parity striping: parity that goes round the members, whose data stay together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::redundant::geometry::{Direction, Geometry, Scheme};
use super::super::redundant::spec::{Waits, WritesSpec};
use super::{Organisation, rows_of, with_parity};
use crate::base::error::InputError;
use crate::base::units::Size;

/// Rule: each row of units has the sum of the others on one member, another one in the next row; the blocks of the array go over all units of
/// data of the first member, then over those of the next one. Source: Gray, Horst and Walker, "Parity striping of disc arrays", VLDB 1990, with
/// units in place of one area of parity for each member; DiskSim's rotated parity over devices as they are. Weakness: members share neither the
/// load of a busy region nor the transfer of a large request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParityStriping {
    /// How many blocks of parity follow each other on a member.
    pub unit: Size,
    /// How parity goes from member to member.
    #[serde(default)]
    pub rotation: Direction,
    /// When the parity of a row is computed from what changes, and when from the whole row.
    #[serde(default)]
    pub writes: WritesSpec,
    /// Which pre-reads a write waits for.
    #[serde(default)]
    pub waits: Waits,
}

impl ParityStriping {
    pub(super) const SUMMARY: &str =
        "Parity goes round the members, and the data of each stay together.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Organisation, InputError> {
        let geometry = Geometry {
            scheme: Scheme::ByMember(self.rotation),
            members: members.len(),
            unit: self.unit.blocks(),
            rows: rows_of(self.unit, members)?,
        };
        with_parity("parity-striping", geometry, &self.writes, self.waits)
    }
}

//! RAID-6: two parities that go round the members.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::redundant::geometry::{Geometry, Rotation, Scheme};
use super::super::redundant::spec::{Waits, WritesSpec};
use super::{Organisation, rows_of, with_parity};
use crate::base::error::InputError;
use crate::base::units::Size;

/// Rule: each row of units has two parities beside each other, the sum of the others and their sum with weights in GF(2⁸), so that any two
/// units can be lost. Source: H. P. Anvin, "The mathematics of RAID-6", 2004; the places are those of Linux's md. Weakness: a small write
/// takes three reads and three writes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Raid6 {
    /// How many blocks follow each other on a member before the next member's turn.
    pub unit: Size,
    /// How parity goes from member to member.
    #[serde(default)]
    pub rotation: Rotation,
    /// When the parity of a row is computed from what changes, and when from the whole row.
    #[serde(default)]
    pub writes: WritesSpec,
    /// Which pre-reads a write waits for.
    #[serde(default)]
    pub waits: Waits,
}

impl Raid6 {
    pub(super) const SUMMARY: &str =
        "Units go round the members, and so do two parities of each row: any two members may fail.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Organisation, InputError> {
        let rows = rows_of(self.unit, members)?;
        let geometry = Geometry {
            scheme: Scheme::Double(self.rotation),
            members: members.len(),
            unit: self.unit.blocks(),
            rows,
        };
        with_parity("raid-6", geometry, &self.writes, self.waits)
    }
}

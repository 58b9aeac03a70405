//! RAID-5: parity that goes round the members.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::redundant::geometry::{Geometry, Rotation, Scheme};
use super::super::redundant::spec::{Waits, WritesSpec};
use super::{Organisation, rows_of, with_parity};
use crate::base::error::InputError;
use crate::base::units::Size;

/// Rule: each row of units has the sum of the others on one member, another one in the next row. Source: Patterson, Gibson and Katz, "A case
/// for redundant arrays of inexpensive disks", SIGMOD 1988; the rotations, Lee and Katz, ASPLOS 1991. Weakness: a small write takes two reads
/// and two writes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Raid5 {
    /// How many blocks follow each other on a member before the next member's turn.
    pub unit: Size,
    /// How many blocks of parity follow each other on a member: a multiple of the unit, which it is where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_unit: Option<Size>,
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

impl Raid5 {
    pub(super) const SUMMARY: &str =
        "Units go round the members, and so does the parity of each row.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Organisation, InputError> {
        let rows = rows_of(self.unit, members)?;
        let unit = self.unit.blocks();
        let parity = self.parity_unit.unwrap_or(self.unit);
        if parity.blocks() == 0 || !parity.blocks().is_multiple_of(unit) {
            let error = InputError::new(format!(
                "units of parity of {parity}, with units of {}",
                self.unit
            ));
            return Err(error.help("accepted: a multiple of the unit"));
        }
        let geometry = Geometry {
            scheme: Scheme::Rotated(self.rotation, parity.blocks() / unit),
            members: members.len(),
            unit,
            rows,
        };
        with_parity("raid-5", geometry, &self.writes, self.waits)
    }
}

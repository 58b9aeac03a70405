//! RAID-4: parity on a member of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::redundant::geometry::{Geometry, Scheme};
use super::super::redundant::spec::{Waits, WritesSpec};
use super::{Organisation, rows_of, with_parity};
use crate::base::error::InputError;
use crate::base::units::Size;

/// Rule: units go round all members but the last, which has the sum of the others in each row. Source: Patterson, Gibson and Katz, "A case
/// for redundant arrays of inexpensive disks", SIGMOD 1988. Weakness: every small write goes to the last member.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Raid4 {
    /// How many blocks follow each other on a member before the next member's turn.
    pub unit: Size,
    /// When the parity of a row is computed from what changes, and when from the whole row.
    #[serde(default)]
    pub writes: WritesSpec,
    /// Which pre-reads a write waits for.
    #[serde(default)]
    pub waits: Waits,
}

impl Raid4 {
    pub(super) const SUMMARY: &str =
        "Units go round the members, but for the last, which has the parity.";
    pub(super) fn build(&self, members: &[u64]) -> Result<Organisation, InputError> {
        let rows = rows_of(self.unit, members)?;
        let geometry = Geometry {
            scheme: Scheme::Fixed,
            members: members.len(),
            unit: self.unit.blocks(),
            rows,
        };
        with_parity("raid-4", geometry, &self.writes, self.waits)
    }
}

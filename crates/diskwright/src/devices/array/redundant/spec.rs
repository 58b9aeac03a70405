//! What a spec says of writes with parity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::reads::{Read, ReadSpec};

/// When the new parity is computed from what changes, which takes the old data and the old parity (read-modify-write), and when from the rest
/// of the row (reconstruction).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ParityWrites")]
pub enum WritesSpec {
    /// Whichever reads fewer units; reconstruction where both read as many, as Linux's md does.
    #[default]
    FewestReads,
    /// By the number of the row's units that are written, as DiskSim does.
    Threshold(u32),
}

/// Which pre-reads a write waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ParityWaits")]
pub enum Waits {
    /// All writes wait for all pre-reads of the request.
    #[default]
    All,
    /// A write of data waits for the pre-reads of its own member, one of parity for those of its row. A member that fails between may take
    /// data of other requests along.
    OwnChain,
}

/// How requests become those of members.
pub struct Rules {
    pub writes: WritesSpec,
    pub waits: Waits,
    /// Which of several copies a read goes to.
    pub read: Box<dyn Read>,
}

impl Rules {
    /// Those of copies without parity.
    pub fn of_copies(read: &ReadSpec) -> Rules {
        Rules {
            writes: WritesSpec::default(),
            waits: Waits::default(),
            read: read.build(),
        }
    }
}

//! What would take the least energy, known afterwards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PowerPolicy, Timeout};
use crate::base::error::InputError;
use crate::models::power::figures::PowerFigures;

/// Rule: an idle period is spent in the state in which it takes the least energy, from its beginning on, and the device is back from it at
/// the very end. No drive can do that: it is the least energy of these idle periods at which no request waits.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OracleTimeout {}

impl OracleTimeout {
    pub(super) const SUMMARY: &str = "The state that takes the least energy, chosen with the length of the idle period known, and without any delay.";

    pub(super) fn build(&self, _: &PowerFigures) -> Result<Box<dyn PowerPolicy>, InputError> {
        Ok(Box::new(Foresight))
    }
}

struct Foresight;

impl PowerPolicy for Foresight {
    fn plan(&mut self, _timeouts: &mut Vec<Timeout>) {}

    fn knows_length(&self) -> bool {
        true
    }
}

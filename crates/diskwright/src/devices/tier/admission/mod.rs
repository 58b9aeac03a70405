//! Admission: which lines that miss get a place in the cache.

mod after;
mod always;

use crate::base::error::InputError;
use crate::base::registry::{policies, schema_of_family};

policies! {
    /// An admission policy and its parameters, as a spec names it, for a cache of `lines` lines.
    pub enum AdmissionSpec of "admission policy" builds Result<Box<dyn Admission>, InputError>,
    for (lines: u32) as |parameters| { parameters.build(lines) } {
        Always = "always" [] in always::Always,
        After = "after" ["nhit"] in after::After,
    }
}

impl Default for AdmissionSpec {
    fn default() -> AdmissionSpec {
        AdmissionSpec::Always(always::Always {})
    }
}

/// Bytes of a line whose accesses are counted.
const PER_COUNT: u64 = 60;

impl AdmissionSpec {
    /// The most bytes that the policy keeps for a cache of `lines` lines, on a device with `keys` lines.
    pub fn memory(&self, lines: u32, keys: u64) -> u64 {
        match self {
            AdmissionSpec::Always(_) => 0,
            AdmissionSpec::After(after) => u64::from(after.remembered(lines)).min(keys) * PER_COUNT,
        }
    }
}

schema_of_family!(
    AdmissionSpec,
    "TierAdmission",
    "Which lines that miss get a place in a cache tier."
);

/// A rule that admits lines.
pub trait Admission: Send {
    /// Whether an access to a line that is not held would be admitted now.
    fn would_admit(&self, line: u64) -> bool;

    /// A line that is not held is accessed; whether it is admitted.
    fn accessed(&mut self, line: u64) -> bool;
}

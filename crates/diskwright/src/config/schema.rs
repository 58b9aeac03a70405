//! The JSON schemas of specs, of drives and of what is chosen elsewhere too, for editors, for documentation and for other languages.

use serde_json::Value;

use super::drive::DriveDescription;
use super::spec::Spec;
use crate::cache::replacement::ReplacementChoice;
use crate::schema;

/// The schema of a spec.
pub fn spec() -> Value {
    schema::of::<Spec>("a spec of diskwright")
}

/// The schema of a drive's description.
pub fn drive() -> Value {
    schema::of::<DriveDescription>("a drive of diskwright")
}

/// The schema of a replacement policy, as it is written for caches of whatever kind.
pub fn replacement() -> Value {
    schema::of::<ReplacementChoice>("a replacement policy of diskwright")
}

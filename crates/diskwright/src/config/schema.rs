//! The JSON schemas of specs and of drives, for editors, for documentation and for other languages.

use serde_json::Value;

use super::spec::Spec;
use crate::base::schema;
use crate::devices::hdd::drive::DriveDescription;

/// The schema of a spec.
pub fn spec() -> Value {
    schema::of::<Spec>("a spec of diskwright")
}

/// The schema of a drive's description.
pub fn drive() -> Value {
    schema::of::<DriveDescription>("a drive of diskwright")
}

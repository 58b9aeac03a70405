//! Spec text becomes checked values: the whole of a spec, its `[sweep]`, and the schemas of what is read.

pub mod schema;
pub mod spec;
pub mod sweep;

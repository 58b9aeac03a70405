//! Spec text becomes checked values; every error names file, line, column and what was expected.

pub mod array;
pub mod buffer;
pub mod cache;
pub mod de;
pub mod drive;
pub mod drives;
pub mod overhead;
pub mod placement;
pub mod schema;
pub mod spec;
pub mod sweep;
pub mod tree;

pub use de::from_node;
pub use tree::Node;

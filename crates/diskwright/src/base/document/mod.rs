//! A TOML text as a tree whose values know their places, and how it becomes checked values: every error names file, line, column
//! and what was expected.

mod de;
mod former;
mod tree;

pub use de::from_node;
pub use tree::*;

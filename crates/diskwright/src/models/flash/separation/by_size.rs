//! Separation by the size of requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Separation;
use crate::base::units::Size;

/// Rule: units of requests of `cold` or more are the second stream, all others the first. Small writes are metadata that change often.
/// Source: Chang, "A hybrid approach to NAND-flash-based solid-state disks", IEEE Transactions on Computers 59(10), 2010.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BySize {
    /// The size of a request from which on its data are cold.
    pub cold: Size,
}

impl Default for BySize {
    fn default() -> BySize {
        BySize {
            cold: Size::from_blocks(128),
        }
    }
}

impl BySize {
    pub(super) const SUMMARY: &str = "Large requests are cold, small ones hot.";
    pub(super) fn build(&self) -> Box<dyn Separation> {
        Box::new(*self)
    }
}

impl Separation for BySize {
    fn streams(&self) -> u32 {
        2
    }

    fn stream(&mut self, _unit: u32, blocks: u32) -> u32 {
        u32::from(u64::from(blocks) >= self.cold.blocks())
    }
}

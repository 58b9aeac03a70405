//! One stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Separation;

/// Rule: all that the host writes is one stream.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleStream {}

impl SingleStream {
    pub(super) const SUMMARY: &str = "All that the host writes is one stream.";
    pub(super) fn build(&self) -> Box<dyn Separation> {
        Box::new(*self)
    }
}

impl Separation for SingleStream {
    fn streams(&self) -> u32 {
        1
    }

    fn stream(&mut self, _unit: u32, _blocks: u32) -> u32 {
        0
    }
}

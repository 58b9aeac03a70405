//! Always the first member.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Member, Read};
use crate::engine::request::Command;

/// Rule: the first member. Tie: none can arise. Source: a mirror that is there for safety alone. Weakness: the others read nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct First {}

impl First {
    pub(super) const SUMMARY: &str = "The first member, always.";
    pub(super) fn build(&self) -> Box<dyn Read> {
        Box::new(self.clone())
    }
}

impl Read for First {
    fn choose(&mut self, _command: &Command, _members: &[Member]) -> usize {
        0
    }
}

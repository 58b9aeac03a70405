//! One member after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Member, Read};
use crate::engine::request::Command;

/// Rule: one member after the other, whatever they do. Tie: none can arise. Source: the baseline of mirrors. Weakness: takes arms away from
/// sequential reads, and sends reads to members that are busy.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundRobin {
    #[serde(skip)]
    next: usize,
}

impl RoundRobin {
    pub(super) const SUMMARY: &str = "One member after the other.";
    pub(super) fn build(&self) -> Box<dyn Read> {
        Box::new(self.clone())
    }
}

impl Read for RoundRobin {
    fn choose(&mut self, _command: &Command, members: &[Member]) -> usize {
        // There may be fewer members than before.
        let one = self.next % members.len();
        self.next = (one + 1) % members.len();
        one
    }
}

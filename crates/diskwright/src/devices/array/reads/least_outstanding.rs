//! The member with the fewest requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Member, Read, distance, least};
use crate::engine::request::Command;

/// Rule: the member with the fewest requests outstanding. Tie: the one whose last request ended nearest, then the first. Source: the
/// read balance of Linux's md for flash, which knows no heads; here heads break the ties. Weakness: requests do not all take as long.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeastOutstanding {}

impl LeastOutstanding {
    pub(super) const SUMMARY: &str = "The member with the fewest requests outstanding; of several the one whose last request ended nearest.";
    pub(super) fn build(&self) -> Box<dyn Read> {
        Box::new(self.clone())
    }
}

impl Read for LeastOutstanding {
    fn choose(&mut self, command: &Command, members: &[Member]) -> usize {
        least(members, |member| {
            (member.outstanding, distance(member, command.lbn))
        })
    }
}

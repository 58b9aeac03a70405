//! The member whose head is nearest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Member, Read, distance, least};
use crate::engine::request::Command;

/// Rule: the member whose last request ended nearest, in blocks: an array does not know where its members have their cylinders. Tie: the
/// fewest requests outstanding, then the first. Source: Bitton and Gray, "Disk shadowing", VLDB 1988, on the nearest arm; the read
/// balance of Linux's md counts in sectors. Weakness: near blocks all go to one member, however long its queue is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nearest {}

impl Nearest {
    pub(super) const SUMMARY: &str =
        "The member whose last request ended nearest, in blocks, however many requests it has.";
    pub(super) fn build(&self) -> Box<dyn Read> {
        Box::new(self.clone())
    }
}

impl Read for Nearest {
    fn choose(&mut self, command: &Command, members: &[Member]) -> usize {
        least(members, |member| {
            (distance(member, command.lbn), member.outstanding)
        })
    }
}

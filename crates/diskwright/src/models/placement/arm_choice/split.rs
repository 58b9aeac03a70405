//! One arm for reads, another for writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArmChoice, Candidate, least};
use crate::engine::request::Op;

/// Rule: reads go to one arm and writes to another, as far as these reach the place; else to the one that positions soonest. Source:
/// Chandy, "A dual actuator logging disk architecture", section 2.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Split {
    /// The number of the arm that reads, from 0.
    pub reads: usize,
    /// The number of the arm that writes.
    pub writes: usize,
}

impl Default for Split {
    fn default() -> Split {
        Split {
            reads: 0,
            writes: 1,
        }
    }
}

impl Split {
    pub(super) const SUMMARY: &str = "Reads go to one arm, writes to another.";
    pub(super) fn build(&self) -> Box<dyn ArmChoice> {
        Box::new(self.clone())
    }
}

impl ArmChoice for Split {
    fn named(&self, op: Op) -> Option<usize> {
        Some(match op {
            Op::Write => self.writes,
            _ => self.reads,
        })
    }

    fn choose(&mut self, op: Op, candidates: &[Candidate]) -> usize {
        let wanted = self.named(op);
        let own = candidates
            .iter()
            .position(|candidate| Some(candidate.arm) == wanted);
        own.unwrap_or_else(|| least(candidates, |candidate| candidate.positioning))
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate;
    use super::*;

    #[test]
    fn each_kind_has_its_arm_where_that_reaches() {
        let mut rule = Split::default();
        let arms = [candidate(0, 1, 1), candidate(1, 9, 9), candidate(2, 5, 5)];
        assert_eq!(rule.choose(Op::Read, &arms), 0);
        assert_eq!(rule.choose(Op::Write, &arms), 1);
        assert_eq!(
            rule.choose(Op::Read, &arms[1..]),
            1,
            "the soonest of the others"
        );
    }
}

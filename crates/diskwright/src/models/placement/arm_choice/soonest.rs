//! The arm that positions soonest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArmChoice, Candidate, least};
use crate::engine::request::Op;

/// Rule: the arm with the shortest seek, head switch, settling and rotation together. Tie: the one with the lower number. Source:
/// Chandy, "A dual actuator logging disk architecture", the dual actuator disk (DAD).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Soonest {}

impl Soonest {
    pub(super) const SUMMARY: &str =
        "The arm that positions soonest: seek, switch, settle and rotation together.";
    pub(super) fn build(&self) -> Box<dyn ArmChoice> {
        Box::new(self.clone())
    }
}

impl ArmChoice for Soonest {
    fn choose(&mut self, _op: Op, candidates: &[Candidate]) -> usize {
        least(candidates, |candidate| candidate.positioning)
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate;
    use super::*;

    #[test]
    fn rotation_counts() {
        let mut rule = Soonest::default();
        let arms = [candidate(0, 1000, 7000), candidate(1, 3000, 6999)];
        assert_eq!(rule.choose(Op::Read, &arms), 1);
        let arms = [candidate(0, 1000, 6999), candidate(1, 3000, 6999)];
        assert_eq!(rule.choose(Op::Write, &arms), 0);
    }
}

//! The arm with the shortest motion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArmChoice, Candidate, least};
use crate::engine::request::Op;

/// Rule: the arm with the shortest seek, head switch and settling; rotation does not count. Tie: the one that positions sooner, then
/// the one with the lower number.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nearest {}

impl Nearest {
    pub(super) const SUMMARY: &str = "The arm with the shortest motion, wherever the platter is.";
    pub(super) fn build(&self) -> Box<dyn ArmChoice> {
        Box::new(self.clone())
    }
}

impl ArmChoice for Nearest {
    fn choose(&mut self, _op: Op, candidates: &[Candidate]) -> usize {
        least(candidates, |candidate| {
            (candidate.motion, candidate.positioning)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate;
    use super::*;

    #[test]
    fn rotation_only_decides_between_equals() {
        let mut rule = Nearest::default();
        let arms = [candidate(0, 1000, 7000), candidate(1, 3000, 3001)];
        assert_eq!(rule.choose(Op::Read, &arms), 0);
        let arms = [candidate(0, 1000, 7000), candidate(1, 1000, 3001)];
        assert_eq!(rule.choose(Op::Read, &arms), 1);
    }
}

//! A rule that learns what looking ahead is worth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Next, Rule};
use crate::base::error::InputError;

/// Rule: that of Fig. 6, with the accesses to the next request weighted by how often a next request was a write that the medium served: h + p
/// (n − m) > f. Else a shorter way to the next request shortens no write: a read is none, and a write that is redirected itself
/// goes no way. Tie: the medium. Source: our own. Weakness: it does not see which next request will be which.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Learned {
    /// The share p is a moving average over about this number of next requests, from 1 to 65,536.
    pub memory: u32,
}

impl Default for Learned {
    fn default() -> Learned {
        Learned { memory: 64 }
    }
}

/// The share 1.
const ONE: i64 = 1 << 16;

impl Learned {
    pub(super) const SUMMARY: &str =
        "As in the paper, with the next request weighted by what it has been worth.";
    pub(super) fn build(&self) -> Result<Box<dyn Rule>, InputError> {
        if !(1..=ONE as u32).contains(&self.memory) {
            let error = InputError::new(format!("a memory of {} requests", self.memory));
            return Err(error.help("accepted: 1 to 65,536"));
        }
        Ok(Box::new(Weighing {
            share: ONE,
            memory: self.memory.into(),
        }))
    }
}

/// The weight of the next request, of [`ONE`].
struct Weighing {
    share: i64,
    memory: i64,
}

impl Rule for Weighing {
    fn redirects(&mut self, decision: &Decision) -> bool {
        let ns = |time: crate::base::units::Time| i128::from(time.ns());
        let saved = match decision.next {
            Next::Is {
                from_request,
                from_head,
            } => ns(from_request) - ns(from_head),
            Next::None => 0,
            Next::Required => return false,
        };
        let whole = i128::from(ONE);
        ns(decision.head_to_request) * whole + saved * i128::from(self.share)
            > ns(decision.flash) * whole
    }

    fn next_was(&mut self, is_write_to_medium: bool) {
        let target = if is_write_to_medium { ONE } else { 0 };
        self.share += (target - self.share) / self.memory;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Time;

    #[test]
    fn what_the_next_request_is_worth_is_learned() {
        let mut rule = Learned::default().build().expect("it is sound");
        let decision = Decision {
            blocks: 8,
            head_to_request: Time::from_us(1_000),
            flash: Time::from_us(2_000),
            next: Next::Is {
                from_request: Time::from_us(9_000),
                from_head: Time::from_us(3_000),
            },
        };
        // 1 + 9 > 2 + 3, as in the paper.
        assert!(rule.redirects(&decision));
        // 1 + 6 p > 2 down to a share of a sixth: ln 6 = 1.8 memories of next requests that were no such writes.
        let turns = (0..).take_while(|_| {
            rule.next_was(false);
            rule.redirects(&decision)
        });
        let turns = turns.count();
        assert!((110..=118).contains(&turns), "{turns}");
        (0..64).for_each(|_| rule.next_was(true));
        assert!(rule.redirects(&decision));
    }

    #[test]
    fn a_memory_of_nothing_is_refused() {
        assert!(Learned { memory: 0 }.build().is_err());
    }
}

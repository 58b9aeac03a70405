//! Redirection: which writes go to the NV cache in place of the medium.

mod always;
mod by_size;
mod head_only;
mod learned;
mod never;
mod paper;

use crate::base::error::InputError;
use crate::base::registry::{policies, schema_of_family};
use crate::base::units::Time;

policies! {
    /// A redirection rule and its parameters, as a spec names it.
    pub enum RuleSpec of "redirection rule" builds Result<Box<dyn Rule>, InputError> {
        Paper = "paper" [] in paper::Paper,
        HeadOnly = "head-only" [] in head_only::HeadOnly,
        Never = "never" [] in never::Never,
        Always = "always" [] in always::Always,
        BySize = "by-size" [] in by_size::BySize,
        Learned = "learned" [] in learned::Learned,
    }
}

impl Default for RuleSpec {
    fn default() -> RuleSpec {
        RuleSpec::Paper(paper::Paper {})
    }
}

schema_of_family!(
    RuleSpec,
    "RedirectionRule",
    "Which writes go to the NV cache in place of the medium."
);

/// What is known when a write is to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Blocks of the write.
    pub blocks: u32,
    /// Access from the head to the write, with its transfer.
    pub head_to_request: Time,
    /// The write to the NV cache.
    pub flash: Time,
    /// What is known of the request behind it.
    pub next: Next,
}

/// The request behind a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There is one: access from the write to it, and from the head to it, both with its transfer.
    Is {
        /// From the write.
        from_request: Time,
        /// From the head.
        from_head: Time,
    },
    /// There is none, which counts as two accesses that take no time.
    None,
    /// There is none, and a rule that looks ahead does not redirect then.
    Required,
}

/// A rule that redirects writes.
pub trait Rule: Send {
    /// Whether a write is redirected.
    fn redirects(&mut self, decision: &Decision) -> bool;

    /// What the next request of its last decision was, if there was one: a write that the medium served, alone or with entries of the FQueue,
    /// or not.
    fn next_was(&mut self, is_write_to_medium: bool) {
        let _ = is_write_to_medium;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(head: u64, flash: u64, next: Next) -> Decision {
        Decision {
            blocks: 8,
            head_to_request: Time::from_us(head),
            flash: Time::from_us(flash),
            next,
        }
    }

    fn next(from_request: u64, from_head: u64) -> Next {
        Next::Is {
            from_request: Time::from_us(from_request),
            from_head: Time::from_us(from_head),
        }
    }

    /// The inequality of Fig. 6, both sides of it and where they are equal, and the other rules beside it.
    #[test]
    fn rules_decide_by_their_tables() {
        let rows = [
            // h_n, f_n, next: paper, head-only.
            (10, 2, Next::None, true, true),
            (2, 2, Next::None, false, false),
            (3, 2, Next::None, true, true),
            (1, 2, Next::None, false, false),
            (10, 2, Next::Required, false, true),
            // 10 + 8 > 2 + 15, by 1; 2 + 16, no.
            (10, 2, next(8, 15), true, true),
            (10, 2, next(8, 16), false, true),
            (10, 2, next(8, 17), false, true),
            // A near write between far ones: 1 + 20 > 2 + 3.
            (1, 2, next(20, 3), true, false),
            (1, 2, next(4, 3), false, false),
        ];
        for (head, flash, next, by_paper, by_head) in rows {
            let decision = decision(head, flash, next);
            let says = |spec: RuleSpec| spec.build().expect("it is sound").redirects(&decision);
            assert_eq!(says(RuleSpec::default()), by_paper, "{decision:?}");
            assert_eq!(says(RuleSpec::HeadOnly(head_only::HeadOnly {})), by_head);
            assert!(!says(RuleSpec::Never(never::Never {})));
            assert!(says(RuleSpec::Always(always::Always {})));
        }
    }

    #[test]
    fn small_writes_are_redirected_by_size() {
        let rule = RuleSpec::BySize(by_size::BySize::default()).build();
        let mut rule = rule.expect("it is sound");
        let of = |blocks| Decision {
            blocks,
            ..decision(0, 1_000_000, Next::None)
        };
        assert!(rule.redirects(&of(1)) && rule.redirects(&of(128)));
        assert!(!rule.redirects(&of(129)));
    }
}

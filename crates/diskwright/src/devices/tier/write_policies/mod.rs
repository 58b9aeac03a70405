//! Write policies: what a tier does with writes, and whether it caches at all.

mod pass_through;
mod read_only;
mod write_around;
mod write_back;
mod write_through;

use crate::base::registry::{policies, schema_of_family};

policies! {
    /// A write policy, as a spec names it.
    pub enum WritePolicySpec of "write policy" builds WriteRules {
        WriteThrough = "write-through" [] in write_through::WriteThrough,
        WriteBack = "write-back" [] in write_back::WriteBack,
        WriteAround = "write-around" [] in write_around::WriteAround,
        ReadOnly = "read-only" ["write-invalidate"] in read_only::ReadOnly,
        PassThrough = "pass-through" [] in pass_through::PassThrough,
    }
}

impl Default for WritePolicySpec {
    fn default() -> WritePolicySpec {
        WritePolicySpec::WriteThrough(write_through::WriteThrough {})
    }
}

schema_of_family!(
    WritePolicySpec,
    "TierWritePolicy",
    "What a cache tier does with writes."
);

/// What a policy says of a request's part in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRules {
    /// Blocks that reads fetch from the backing device are promoted.
    pub caches_reads: bool,
    /// What a write does to a line that is held.
    pub held: HeldLine,
    /// Whether a write gets a line where none is held.
    pub allocates: bool,
}

/// What a write does to a line that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldLine {
    /// It goes to both devices.
    Updated,
    /// It goes to the cache device alone: its blocks are dirty.
    Absorbing,
    /// It goes to the backing device, and the line loses its blocks.
    Invalidated,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_has_rules_of_its_own() {
        let rules = |name: &str| {
            let spec = serde_json::from_value::<WritePolicySpec>(serde_json::json!({ name: {} }));
            spec.expect("a name").build()
        };
        let found = [
            "write-through",
            "write-back",
            "write-around",
            "read-only",
            "pass-through",
        ]
        .map(rules)
        .map(|rules| (rules.caches_reads, rules.held, rules.allocates));
        use HeldLine::{Absorbing, Invalidated, Updated};
        assert_eq!(
            found,
            [
                (true, Updated, true),
                (true, Absorbing, true),
                (true, Updated, false),
                (true, Invalidated, false),
                (false, Invalidated, false),
            ]
        );
        assert_eq!(WritePolicySpec::default().name(), "write-through");
    }
}

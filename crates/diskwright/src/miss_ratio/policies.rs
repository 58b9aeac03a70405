//! The policies of a comparison, and what each needs.

use serde::Serialize;
use serde_json::Value;

use super::listed::Entry;
use crate::cache::replacement::ReplacementSpec;
use crate::config;
use crate::config::tree::Override;
use crate::error::{InputError, unknown_name};

/// The option that lists them.
const OPTION: &str = "--policies";

/// A policy as it was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Policy {
    /// As it was written; points name it so.
    pub policy: String,
    /// With all its parameters.
    pub effective: Value,
    #[serde(skip)]
    pub(super) spec: ReplacementSpec,
}

impl ReplacementSpec {
    /// Whether the policy chooses by [`Access::next`](crate::cache::replacement::Access::next), which only those know who
    /// have the whole trace before them.
    pub(crate) fn needs_future(&self) -> bool {
        matches!(self, ReplacementSpec::Belady(_))
    }

    /// Whether caches of all sizes follow from one stack in the order of the last accesses.
    fn is_lru_stack(&self) -> bool {
        matches!(self, ReplacementSpec::Lru(_))
    }
}

impl Policy {
    /// Reads `A,B,…`: each is a policy as specs have it, a name or `{ name = { … } }`.
    ///
    /// # Errors
    /// An entry that is no policy, with its place; one that is there twice.
    pub(super) fn listed(text: &str) -> Result<Vec<Policy>, InputError> {
        let mut policies: Vec<Policy> = Vec::new();
        for entry in Entry::all(OPTION, text)? {
            let spec = read(&entry)?;
            let effective = serde_json::to_value(&spec).expect("a policy is plain data");
            if policies.iter().any(|other| other.effective == effective) {
                return Err(entry.error(format!("the policy {} is there twice", entry.text())));
            }
            policies.push(Policy {
                policy: entry.text().trim_matches('"').to_owned(),
                effective,
                spec,
            });
        }
        Ok(policies)
    }

    /// Whether one stack answers for all sizes.
    pub(super) fn is_stack(&self) -> bool {
        self.spec.is_lru_stack()
    }
}

fn read(entry: &Entry) -> Result<ReplacementSpec, InputError> {
    let text = entry.text();
    let names = ReplacementSpec::NAMES;
    // A name that is not known is told as such, whatever else could be read into it.
    if text.chars().all(|c| c.is_alphanumeric() || c == '-') && !names.contains(&text) {
        return Err(entry.blamed(unknown_name("replacement policy", text, names)));
    }
    let change = Override::parse(OPTION, &format!("policy={text}"))?;
    config::from_node(&change.node).map_err(|error| entry.blamed(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_written_as_in_specs() {
        let found = Policy::listed("lru, { fifo = {} }").expect("both");
        let names: Vec<_> = found.iter().map(|policy| policy.spec.name()).collect();
        assert_eq!(names, ["lru", "fifo"]);
        assert_eq!(found[1].policy, "{ fifo = {} }");
        assert_eq!(found[1].effective, "fifo");
        assert_eq!(Policy::listed("\"fifo\"").expect("one")[0].policy, "fifo");
    }

    #[test]
    fn only_the_offline_optimum_needs_the_future() {
        for name in ReplacementSpec::NAMES {
            let found = &Policy::listed(name).expect(name)[0];
            let is_optimum = matches!(found.spec, ReplacementSpec::Belady(_));
            assert_eq!(found.spec.needs_future(), is_optimum, "{name}");
            assert_eq!(found.is_stack(), *name == "lru", "{name}");
        }
    }

    #[test]
    fn what_is_no_policy_is_told_with_its_place() {
        for (text, message, place) in [
            ("lru,fifi", "did you mean \"fifo\"", "--policies:1:5"),
            ("2", "unknown replacement policy \"2\"", "--policies:1:1"),
            ("lru,{ fifo = { x = 1 } }", "\"x\"", "--policies:1:5"),
            ("fifo,lru,\"fifo\"", "is there twice", "--policies:1:10"),
            ("fifo,[1]", "a name", "--policies:1:6"),
            (
                "fifo,{ a = {}, b = {} }",
                "unknown name \"a\"",
                "--policies:1:6",
            ),
        ] {
            let error = Policy::listed(text).expect_err(text).to_string();
            assert!(
                error.contains(message) && error.contains(place),
                "{text}: {error}"
            );
        }
    }
}

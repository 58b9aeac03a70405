//! The policies of a comparison, and what each needs.

use serde::Serialize;
use serde_json::Value;

use super::listed::Entry;
use crate::base::choice::Choice;
use crate::base::document::{Override, Value as TomlValue, from_node};
use crate::base::error::{InputError, unknown_name};

use crate::models::cache::replacement::{CustomReplacements, ReplacementChoice, ReplacementSpec};

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
    pub(super) choice: ReplacementChoice,
}

impl ReplacementSpec {
    /// Whether the policy chooses by [`Access::next`](crate::models::cache::replacement::Access::next), which only those know who
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
    /// Reads `A,B,…`: each is a policy as specs have it, a name or `{ name = { … } }`, of the registry or of those brought along.
    ///
    /// # Errors
    /// An entry that is no policy, with its place; one that is there twice.
    pub(super) fn listed(
        text: &str,
        custom: &CustomReplacements,
    ) -> Result<Vec<Policy>, InputError> {
        let mut policies: Vec<Policy> = Vec::new();
        for entry in Entry::all(OPTION, text)? {
            let choice = read(&entry, custom)?;
            let effective = serde_json::to_value(&choice).expect("a policy is plain data");
            if policies.iter().any(|other| other.effective == effective) {
                return Err(entry.error(format!("the policy {} is there twice", entry.text())));
            }
            policies.push(Policy {
                policy: entry.text().trim_matches('"').to_owned(),
                effective,
                choice,
            });
        }
        Ok(policies)
    }

    /// Whether one stack answers for all sizes.
    pub(super) fn is_stack(&self) -> bool {
        matches!(&self.choice, Choice::Known(spec) if spec.is_lru_stack())
    }

    /// Whether it is told of the future: of those brought along none is.
    pub(super) fn needs_future(&self) -> bool {
        matches!(&self.choice, Choice::Known(spec) if spec.needs_future())
    }
}

fn read(entry: &Entry, custom: &CustomReplacements) -> Result<ReplacementChoice, InputError> {
    let text = entry.text();
    let change = Override::parse(OPTION, &format!("policy={text}"));
    if let Ok(Override { node, .. }) = &change
        && let TomlValue::String(name) = &node.value
        && custom.contains(name)
    {
        return Ok(Choice::Custom(name.clone()));
    }
    let known = ReplacementSpec::NAMES;
    let bare = text.trim_matches('"');
    // A name that is not known is told as such, whatever else could be read into it.
    if bare.chars().all(|c| c.is_alphanumeric() || c == '-') && !known.contains(&bare) {
        let names: Vec<&str> = known.iter().copied().chain(custom.names()).collect();
        return Err(entry.blamed(unknown_name("replacement policy", bare, &names)));
    }
    let choice = from_node(&change?.node).map_err(|error| entry.blamed(error))?;
    if let Choice::Custom(name) = &choice {
        custom.check(name).map_err(|error| entry.blamed(error))?;
    }
    Ok(choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Result<Vec<Policy>, InputError> {
        Policy::listed(text, &CustomReplacements::default())
    }

    #[test]
    fn those_brought_along_have_their_names_and_are_told_nothing_of_the_future() {
        let mut custom = CustomReplacements::default();
        for name in ["mine", "my \"own\" one"] {
            let make = |setting: &_| ReplacementSpec::default().build(setting);
            custom.add_for(name, make).expect("a free name");
        }
        let text = r#"mine,lru,'my "own" one'"#;
        let found = Policy::listed(text, &custom).expect("all three");
        let names: Vec<_> = found.iter().map(|policy| policy.choice.name()).collect();
        assert_eq!(names, ["mine", "lru", "my \"own\" one"]);
        assert_eq!(found[0].effective, serde_json::json!({ "custom": "mine" }));
        assert!(!found[0].is_stack() && !found[0].needs_future());
        for text in ["\"mine\"", "{ custom = \"mine\" }"] {
            let again = Policy::listed(text, &custom).expect(text);
            assert_eq!(again[0].effective, found[0].effective, "{text}");
        }
        for (text, message, place) in [
            ("lru,mne", "did you mean \"mine\"", "--policies:1:5"),
            ("lru,\"mne\"", "did you mean \"mine\"", "--policies:1:5"),
            (
                "{ custom = \"mne\" }",
                "did you mean \"mine\"",
                "--policies:1:1",
            ),
            ("mine,lru,\"mine\"", "is there twice", "--policies:1:10"),
        ] {
            let error = Policy::listed(text, &custom).expect_err(text).to_string();
            assert!(
                error.contains(message) && error.contains(place),
                "{text}: {error}"
            );
        }
        let error = listed("{ custom = \"mine\" }").expect_err("nobody brought it");
        assert!(error.to_string().contains("replacements={…}"), "{error}");
    }

    #[test]
    fn policies_are_written_as_in_specs() {
        let found = listed("lru, { fifo = {} }").expect("both");
        let names: Vec<_> = found.iter().map(|policy| policy.choice.name()).collect();
        assert_eq!(names, ["lru", "fifo"]);
        assert_eq!(found[1].policy, "{ fifo = {} }");
        assert_eq!(found[1].effective, "fifo");
        assert_eq!(listed("\"fifo\"").expect("one")[0].policy, "fifo");
    }

    #[test]
    fn only_the_offline_optimum_needs_the_future() {
        for name in ReplacementSpec::NAMES {
            let found = &listed(name).expect(name)[0];
            let is_optimum = matches!(found.choice, Choice::Known(ReplacementSpec::Belady(_)));
            assert_eq!(found.needs_future(), is_optimum, "{name}");
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
            let error = listed(text).expect_err(text).to_string();
            assert!(
                error.contains(message) && error.contains(place),
                "{text}: {error}"
            );
        }
    }
}

//! A scheduler as a spec chooses it: one of the registry's, or one that the program brings along.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{EnumAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Scheduler, SchedulerSpec};
use crate::error::{InputError, unknown_name};
use crate::registry::Name;
use crate::schema;

/// The name under which a spec asks for what the program brings along: `{ custom = "mine" }`.
pub const CUSTOM: &str = "custom";

const NAMES: &[&str] = &{
    let mut names = [CUSTOM; SchedulerSpec::NAMES.len() + 1];
    let mut index = 0;
    while index < SchedulerSpec::NAMES.len() {
        names[index] = SchedulerSpec::NAMES[index];
        index += 1;
    }
    names
};

/// The scheduler of a queue.
#[derive(Clone, Debug)]
pub enum SchedulerChoice {
    /// One of the registry.
    Known(SchedulerSpec),
    /// One that the program brings along, by the name it has there.
    Custom(String),
}

impl Default for SchedulerChoice {
    fn default() -> SchedulerChoice {
        SchedulerChoice::Known(SchedulerSpec::default())
    }
}

impl SchedulerChoice {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            SchedulerChoice::Known(spec) => spec.name(),
            SchedulerChoice::Custom(name) => name,
        }
    }

    /// The scheduler, ready to run.
    ///
    /// # Errors
    /// `brought` has none of the name.
    pub fn build(&self, brought: &CustomSchedulers) -> Result<Box<dyn Scheduler>, InputError> {
        match self {
            SchedulerChoice::Known(spec) => Ok(spec.build()),
            SchedulerChoice::Custom(name) => brought.make(name),
        }
    }
}

impl JsonSchema for SchedulerChoice {
    fn schema_name() -> Cow<'static, str> {
        "Scheduler".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut choices = SchedulerSpec::choices(generator);
        let name = generator.subschema_for::<String>();
        choices.push(schema::variant(
            CUSTOM,
            "One that the program brings along, by the name that it has there.",
            &name,
        ));
        json_schema!({ "description": "Which of the waiting requests is next.", "oneOf": choices })
    }
}

impl Serialize for SchedulerChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SchedulerChoice::Known(spec) => spec.serialize(serializer),
            SchedulerChoice::Custom(name) => {
                crate::registry::serialize_policy(CUSTOM, name, serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for SchedulerChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Choice;
        impl<'de> Visitor<'de> for Choice {
            type Value = SchedulerChoice;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "one of {}, with or without parameters", NAMES.join(", "))
            }
            fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Self::Value, A::Error> {
                match data.variant_seed(Name(NAMES))? {
                    (CUSTOM, access) => access.newtype_variant().map(SchedulerChoice::Custom),
                    (name, access) => {
                        SchedulerSpec::of_variant(name, access).map(SchedulerChoice::Known)
                    }
                }
            }
        }
        deserializer.deserialize_enum("scheduler", NAMES, Choice)
    }
}

type Maker = Arc<dyn Fn() -> Box<dyn Scheduler> + Send + Sync>;

/// Schedulers that a program brings along, by name.
#[derive(Clone, Default)]
pub struct CustomSchedulers(BTreeMap<String, Maker>);

impl CustomSchedulers {
    /// Brings a scheduler along; `make` is asked for one by each queue that wants it.
    ///
    /// # Errors
    /// The name is one of the registry's, or empty.
    pub fn add(
        &mut self,
        name: &str,
        make: impl Fn() -> Box<dyn Scheduler> + Send + Sync + 'static,
    ) -> Result<(), InputError> {
        if name.is_empty() || NAMES.contains(&name) {
            let message = format!("a scheduler of one's own cannot be called {name:?}");
            return Err(
                InputError::new(message).help(format!("taken already: {}", NAMES.join(", ")))
            );
        }
        self.0.insert(name.to_owned(), Arc::new(make));
        Ok(())
    }

    /// Whether there is one of the name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn make(&self, name: &str) -> Result<Box<dyn Scheduler>, InputError> {
        let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        match self.0.get(name) {
            Some(make) => Ok(make()),
            None if names.is_empty() => Err(InputError::new(format!(
                "the scheduler {name:?} is a program's own, and no program has brought it along"
            ))
            .help("run the spec from Python, with schedulers={…}, or from Rust, with RunOptions::schedulers")),
            None => Err(unknown_name("scheduler of the program's own", name, &names)),
        }
    }
}

impl fmt::Debug for CustomSchedulers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SchedulerChoice, InputError> {
        let source = crate::error::Source::new("spec", format!("it = {text}"));
        let tree = crate::config::Node::parse(&source).expect("TOML");
        crate::config::from_node(tree.get("it").expect("the key"))
    }

    fn brought() -> CustomSchedulers {
        let mut brought = CustomSchedulers::default();
        let fcfs = || SchedulerSpec::default().build();
        brought.add("mine", fcfs).expect("a free name");
        for taken in ["", "fcfs", "sptf", CUSTOM] {
            let error = brought.add(taken, fcfs).expect_err(taken);
            assert!(error.to_string().contains("batch-satf"), "{error}");
        }
        brought
    }

    #[test]
    fn a_choice_is_the_registrys_or_the_programs() {
        for (text, name, written) in [
            ("'sptf'", "satf", r#""satf""#),
            (
                "{ v-scan = { r = 0.5 } }",
                "v-scan",
                r#"{"v-scan":{"r":0.5,"by":"cylinder"}}"#,
            ),
            ("{ custom = 'mine' }", "mine", r#"{"custom":"mine"}"#),
        ] {
            let choice = read(text).expect(text);
            assert_eq!(choice.name(), name);
            assert_eq!(serde_json::to_string(&choice).expect("plain data"), written);
            assert!(choice.build(&brought()).is_ok());
        }
    }

    #[test]
    fn what_nobody_brought_along_is_told() {
        for (text, brought, words) in [
            (
                "{ custom = 'mine' }",
                CustomSchedulers::default(),
                "schedulers={…}",
            ),
            ("{ custom = 'mne' }", brought(), "did you mean \"mine\""),
        ] {
            let error = read(text).expect(text).build(&brought).err().expect(text);
            assert!(error.to_string().contains(words), "{error}");
        }
        for text in [
            "'mine'",
            "'custom'",
            "{ custom = 1 }",
            "{ fcfs = { r = 1 } }",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

//! A policy as a spec chooses it: one of the registry's, or one that the program brings along.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{EnumAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::error::{InputError, unknown_name};
use crate::base::registry::{CUSTOM, Name};
use crate::base::schema;

/// A family of policies that a program may add to.
///
/// Most of it is what [`policies!`](crate::base::registry) has made under the same names.
pub trait Family: Clone + fmt::Debug + Default + Serialize {
    /// What a policy of the family can do.
    type Policy: ?Sized + 'static;
    /// What a policy is built for.
    type Setting;
    /// The word that errors use for one of them.
    const WORD: &'static str;
    /// The name of the family's definition in schemas.
    const DEFINITION: &'static str;
    /// What such a policy decides, as a sentence.
    const DESCRIPTION: &'static str;
    /// How a program brings one along.
    const HOW: &'static str;
    /// Every accepted name, and [`CUSTOM`].
    const NAMES: &'static [&'static str];

    /// The policy's name in specs.
    fn name(&self) -> &'static str;
    /// The policy, ready to run.
    fn build(&self, setting: &Self::Setting) -> Box<Self::Policy>;
    /// Reads the parameters of the policy `name`, which is in the registry.
    ///
    /// # Errors
    /// Those of the parameters.
    fn read<'de, A: VariantAccess<'de>>(name: &'static str, access: A) -> Result<Self, A::Error>;
    /// The policies of the registry as choices of a schema.
    fn choices(generator: &mut SchemaGenerator) -> Vec<serde_json::Value>;
}

/// A policy of a family.
#[derive(Clone, Debug)]
pub enum Choice<F> {
    /// One of the registry.
    Known(F),
    /// One that the program brings along, by the name it has there.
    Custom(String),
}

impl<F: Default> Default for Choice<F> {
    fn default() -> Choice<F> {
        Choice::Known(F::default())
    }
}

impl<F: Family> Choice<F> {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Choice::Known(spec) => spec.name(),
            Choice::Custom(name) => name,
        }
    }

    /// The policy for a setting, ready to run.
    ///
    /// # Errors
    /// `custom` has none of the name.
    pub fn build_for(
        &self,
        setting: &F::Setting,
        custom: &CustomPolicies<F>,
    ) -> Result<Box<F::Policy>, InputError> {
        match self {
            Choice::Known(spec) => Ok(spec.build(setting)),
            Choice::Custom(name) => custom.make(name, setting),
        }
    }
}

impl<F: Family> JsonSchema for Choice<F> {
    fn schema_name() -> Cow<'static, str> {
        F::DEFINITION.into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut choices = F::choices(generator);
        let name = generator.subschema_for::<String>();
        choices.push(schema::variant(
            CUSTOM,
            "One that the program brings along, by the name that it has there.",
            &name,
        ));
        json_schema!({ "description": F::DESCRIPTION, "oneOf": choices })
    }
}

impl<F: Family> Serialize for Choice<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Choice::Known(spec) => spec.serialize(serializer),
            Choice::Custom(name) => {
                crate::base::registry::serialize_policy(CUSTOM, name, serializer)
            }
        }
    }
}

impl<'de, F: Family> Deserialize<'de> for Choice<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<F>(PhantomData<F>);
        impl<'de, F: Family> Visitor<'de> for Reader<F> {
            type Value = Choice<F>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let names = F::NAMES.join(", ");
                write!(f, "one of {names}, with or without parameters")
            }
            fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Self::Value, A::Error> {
                match data.variant_seed(Name(F::NAMES))? {
                    (CUSTOM, access) => access.newtype_variant().map(Choice::Custom),
                    (name, access) => F::read(name, access).map(Choice::Known),
                }
            }
        }
        deserializer.deserialize_enum(F::WORD, F::NAMES, Reader(PhantomData))
    }
}

type Maker<F> = Arc<dyn Fn(&<F as Family>::Setting) -> Box<<F as Family>::Policy> + Send + Sync>;

/// Policies of a family that a program brings along, by name.
pub struct CustomPolicies<F: Family>(BTreeMap<String, Maker<F>>);

impl<F: Family> Clone for CustomPolicies<F> {
    fn clone(&self) -> CustomPolicies<F> {
        CustomPolicies(self.0.clone())
    }
}

impl<F: Family> Default for CustomPolicies<F> {
    fn default() -> CustomPolicies<F> {
        CustomPolicies(BTreeMap::new())
    }
}

impl<F: Family> CustomPolicies<F> {
    /// Brings a policy along; `make` is asked for one wherever a spec wants it, and told for what.
    ///
    /// # Errors
    /// The name is one of the registry's, or empty.
    pub fn add_for(
        &mut self,
        name: &str,
        make: impl Fn(&F::Setting) -> Box<F::Policy> + Send + Sync + 'static,
    ) -> Result<(), InputError> {
        if name.is_empty() || F::NAMES.contains(&name) {
            let message = format!("a {} of one's own cannot be called {name:?}", F::WORD);
            return Err(
                InputError::new(message).help(format!("taken already: {}", F::NAMES.join(", ")))
            );
        }
        self.0.insert(name.to_owned(), Arc::new(make));
        Ok(())
    }

    /// The names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether there is one of the name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn make(&self, name: &str, setting: &F::Setting) -> Result<Box<F::Policy>, InputError> {
        self.maker(name).map(|make| make(setting))
    }

    /// # Errors
    /// There is none of the name.
    pub(crate) fn check(&self, name: &str) -> Result<(), InputError> {
        self.maker(name).map(|_| ())
    }

    fn maker(&self, name: &str) -> Result<&Maker<F>, InputError> {
        let names: Vec<&str> = self.names().collect();
        match self.0.get(name) {
            Some(make) => Ok(make),
            None if names.is_empty() => Err(InputError::new(format!(
                "the {} {name:?} is a program's own, and no program has brought it along",
                F::WORD
            ))
            .help(F::HOW)),
            None => {
                let kind = format!("{} of the program's own", F::WORD);
                Err(unknown_name(&kind, name, &names))
            }
        }
    }
}

impl<F: Family> fmt::Debug for CustomPolicies<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Makes a family out of a registry's enum: everything of [`Family`] that [`policies!`](crate::base::registry) has made already.
macro_rules! family_of {
    ($spec:ty) => {
        const NAMES: &'static [&'static str] = <$spec>::NAMES_AND_CUSTOM;
        fn name(&self) -> &'static str {
            <$spec>::name(self)
        }
        fn read<'de, A: serde::de::VariantAccess<'de>>(
            name: &'static str,
            access: A,
        ) -> Result<Self, A::Error> {
            <$spec>::of_variant(name, access)
        }
        fn choices(generator: &mut schemars::SchemaGenerator) -> Vec<serde_json::Value> {
            <$spec>::choices(generator)
        }
    };
}
pub(crate) use family_of;

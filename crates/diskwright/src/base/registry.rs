//! Named policies: one explicit list a family, from which everything else about the family follows.
//!
//! A policy is a file with a serde struct of its parameters; the family's list names it once, and
//! from that list come the spec's forms `"name"` and `{ name = { … } }`, the names that errors suggest,
//! the rows of the reference documentation, and the constructor.

/// A row of the documentation of a family.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PolicyRow {
    /// The name in specs.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence.
    pub summary: &'static str,
}

/// The name under which a spec asks for a policy of the program's own: `{ custom = "mine" }`.
pub const CUSTOM: &str = "custom";

/// Writes a policy as specs do: the bare name where it has no parameters.
pub(crate) fn serialize_policy<S: serde::Serializer, P: serde::Serialize>(
    name: &str,
    parameters: &P,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::{Error, SerializeMap};
    let value = serde_json::to_value(parameters).map_err(Error::custom)?;
    if value.as_object().is_some_and(serde_json::Map::is_empty) {
        return serializer.serialize_str(name);
    }
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(name, &value)?;
    map.end()
}

/// Declares a family of policies, with the word that errors use for one of them. Each line is `Variant = "name" ["alias", …] in path::to::Parameters`, where the
/// parameters have a `SUMMARY` and a constructor `build`, which may be given what a run knows: `builds P for (setting: &Setting)`.
///
/// `["alias", …]` are other names in the field, which documentation and errors list too. `formerly ["name", …]` behind them are names
/// that the policy had once: specs may still have them, and nothing shows them.
macro_rules! policies {
    (
        $(#[$doc:meta])*
        $visibility:vis enum $spec:ident of $family:literal builds $policy:ty {
            $($lines:tt)*
        }
    ) => {
        $crate::base::registry::policies! {
            $(#[$doc])*
            $visibility enum $spec of $family builds $policy, for () as |parameters| { parameters.build() } {
                $($lines)*
            }
        }
    };
    (
        $(#[$doc:meta])*
        $visibility:vis enum $spec:ident of $family:literal builds $policy:ty,
        for ($($setting:ident: $given:ty)?) as |$one:ident| $make:block
        {
            $($variant:ident = $name:literal [$($alias:literal),*] $(formerly [$($former:literal),*])? in $parameters:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        $visibility enum $spec {
            $(#[doc = concat!("`", $name, "`.")] $variant($parameters),)*
        }

        impl $spec {
            /// Every name, without those that policies had once.
            pub const NAMES: &'static [&'static str] = &[$($name, $($alias,)*)*];

            /// Names that policies had once, each with the present one.
            pub(crate) const FORMER_NAMES: &'static [$crate::base::registry::Renamed] =
                &[$($($(($former, $name),)*)?)*];

            /// [`NAMES`](Self::NAMES), and the one of a program's own policies, for families that it may add to.
            #[allow(dead_code)]
            pub(crate) const NAMES_AND_CUSTOM: &'static [&'static str] =
                &[$($name, $($alias,)*)* $crate::base::registry::CUSTOM];

            /// The family's rows of the reference documentation.
            pub fn rows() -> Vec<$crate::base::registry::PolicyRow> {
                vec![$($crate::base::registry::PolicyRow {
                    name: $name,
                    aliases: &[$($alias),*],
                    summary: <$parameters>::SUMMARY,
                },)*]
            }

            /// The policy's name in specs.
            pub fn name(&self) -> &'static str {
                match self { $($spec::$variant(_) => $name,)* }
            }

            /// One policy of the family, ready to run.
            pub fn build(&self $(, $setting: $given)?) -> $policy {
                match self { $($spec::$variant($one) => $make,)* }
            }

            /// Reads the parameters of the policy `name`, one of [`Self::NAMES`].
            pub(crate) fn of_variant<'de, A: serde::de::VariantAccess<'de>>(
                name: &'static str,
                access: A,
            ) -> Result<$spec, A::Error> {
                match name {
                    $($name $(| $alias)* => Ok($spec::$variant(access.newtype_variant()?)),)*
                    _ => unreachable!("the name was checked"),
                }
            }
        }

        impl $spec {
            /// The policies as choices of a schema: each by its name or another, with or without parameters.
            pub(crate) fn choices(generator: &mut schemars::SchemaGenerator) -> Vec<serde_json::Value> {
                let mut choices = Vec::new();
                $(
                    let parameters = generator.subschema_for::<$parameters>();
                    for name in [$name $(, $alias)*] {
                        let summary = <$parameters>::SUMMARY;
                        choices.push($crate::base::schema::variant(name, summary, &parameters));
                    }
                )*
                choices
            }
        }

        impl serde::Serialize for $spec {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $($spec::$variant(parameters) =>
                        $crate::base::registry::serialize_policy($name, parameters, serializer),)*
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $spec {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Choice;
                impl<'de> serde::de::Visitor<'de> for Choice {
                    type Value = $spec;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "one of {}, with or without parameters", $spec::NAMES.join(", "))
                    }
                    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, data: A) -> Result<$spec, A::Error> {
                        let name = $crate::base::registry::Name {
                            names: $spec::NAMES,
                            former: $spec::FORMER_NAMES,
                        };
                        let (name, access) = data.variant_seed(name)?;
                        $spec::of_variant(name, access)
                    }
                }
                deserializer.deserialize_enum($family, $spec::NAMES, Choice)
            }
        }
    };
}
pub(crate) use policies;

/// Says in schemas what a family is to which a program adds nothing: the name of its definition, and what its policies decide.
macro_rules! schema_of_family {
    ($spec:ident, $definition:literal, $description:literal) => {
        impl schemars::JsonSchema for $spec {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $definition.into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let choices = $spec::choices(generator);
                schemars::json_schema!({ "description": $description, "oneOf": choices })
            }
        }
    };
}
pub(crate) use schema_of_family;

/// A name that something had once, and the present one.
pub type Renamed = (&'static str, &'static str);

/// The present name of what `former` lists, or else `name` itself.
pub(crate) fn present_name<'n>(name: &'n str, former: &[Renamed]) -> &'n str {
    let renamed = former.iter().find(|(old, _)| *old == name);
    renamed.map_or(name, |&(_, new)| new)
}

/// Reads a name that must be one of a list, or one that had another name once.
pub(crate) struct Name {
    /// What errors list.
    pub names: &'static [&'static str],
    /// What is read as one of these.
    pub former: &'static [Renamed],
}

impl<'de> serde::de::DeserializeSeed<'de> for Name {
    type Value = &'static str;
    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<&'static str, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl serde::de::Visitor<'_> for Name {
    type Value = &'static str;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "one of {}", self.names.join(", "))
    }
    fn visit_str<E: serde::de::Error>(self, found: &str) -> Result<&'static str, E> {
        let present = present_name(found, self.former);
        let known = self.names.iter().find(|&&name| name == present);
        known
            .copied()
            .ok_or_else(|| E::unknown_variant(found, self.names))
    }
}

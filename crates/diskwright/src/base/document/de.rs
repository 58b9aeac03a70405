//! From the tree to checked values: serde over [`Node`], keeping the place of every error.
//!
//! An enum is written as its name, `"fcfs"`, or as its name with parameters, `{ ncq = { … } }`; the bare
//! name stands for the variant with an empty table. That is the one form of every choice in a spec.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::tree::{Entry, Node, Value};
use crate::base::error::{InputError, Place, unknown_name};

/// Reads a value of type `T` from a tree.
pub fn from_node<T: DeserializeOwned>(node: &Node) -> Result<T, InputError> {
    T::deserialize(node).map_err(|error| error.0)
}

/// How the message begins that a key is missing.
const MISSING: &str = "the key ";

/// An error under way to its place: the innermost value that knows one supplies it.
#[derive(Debug)]
pub struct DeError(InputError);

impl DeError {
    fn at(mut self, place: impl FnOnce() -> Place) -> DeError {
        self.0.place.get_or_insert_with(place);
        self
    }
}

impl fmt::Display for DeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for DeError {}

impl de::Error for DeError {
    fn custom<T: fmt::Display>(message: T) -> DeError {
        DeError(InputError::new(message.to_string()))
    }
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> DeError {
        DeError(unknown_name("key", field, expected))
    }
    fn missing_field(field: &'static str) -> DeError {
        DeError(InputError::new(format!("{MISSING}{field:?} is missing")))
    }
    // The node that is at hand describes itself better than serde's guess of what was found does.
    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> DeError {
        DeError(InputError::new(format!("expected {}", plain(expected))))
    }
    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> DeError {
        DeError::invalid_type(found, expected)
    }
}

/// What serde expects, without the names of Rust's types.
fn plain(expected: &dyn de::Expected) -> String {
    let of_rust = expected.to_string();
    let whole_from_0 = |most: u64| format!("a whole number from 0 to {most}");
    let plain = match of_rust.as_str() {
        "u8" => return whole_from_0(u8::MAX.into()),
        "u16" => return whole_from_0(u16::MAX.into()),
        "u32" => return whole_from_0(u32::MAX.into()),
        "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        "path string" => "a path",
        struct_name if struct_name.starts_with("struct ") => "a table",
        _ => return of_rust,
    };
    plain.to_owned()
}

impl Node {
    /// Completes an error that arose from this value.
    fn blame(&self, mut error: DeError) -> DeError {
        if error.0.place.is_none() && error.0.message.starts_with("expected ") {
            error.0.message = format!("found {}, {}", self.value.describe(), error.0.message);
        }
        error.at(|| self.origin.place())
    }
}

impl<'de> de::Deserializer<'de> for &'de Node {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match &self.value {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => visitor.visit_u64(number),
                (_, Ok(number)) => visitor.visit_i64(number),
                _ => visitor.visit_i128(*number),
            },
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(flag) => visitor.visit_bool(*flag),
            Value::Datetime(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => visitor.visit_seq(Items(items.iter())),
            Value::Table(entries) => visitor.visit_map(Fields {
                entries: entries.iter(),
                current: None,
            }),
        }
        .map_err(|error| self.blame(error))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        family: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let choice = |name, parameters| Choice {
            node: self,
            name,
            parameters,
            family,
            names: variants,
        };
        match &self.value {
            Value::String(name) => visitor.visit_enum(choice(name, None)),
            Value::Table(entries) => match entries.as_slice() {
                [entry] => visitor.visit_enum(choice(&entry.key, Some(entry))),
                entries => Err(DeError(one_choice(entries, variants))),
            },
            _ => {
                let error =
                    InputError::new("expected a name, or a name with parameters { name = { … } }");
                Err(DeError(
                    error.help(format!("one of: {}", variants.join(", "))),
                ))
            }
        }
        .map_err(|error| self.blame(error))
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match &self.value {
            Value::Table(entries) if entries.is_empty() => visitor.visit_unit(),
            _ => Err(self.blame(de::Error::custom("this name takes no parameters"))),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// What is wrong with a table that should name one choice and does not have one key.
fn one_choice(entries: &[Entry], variants: &[&str]) -> InputError {
    let stranger = entries
        .iter()
        .find(|entry| !variants.contains(&entry.key.as_str()));
    if let Some(entry) = stranger {
        return unknown_name("name", &entry.key, variants).at(entry.key_origin.place());
    }
    let found = entries.len();
    InputError::new(format!(
        "expected one key that names the choice, found {found}"
    ))
    .help(format!("one of: {}", variants.join(", ")))
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = DeError;
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeError> {
        self.0.next().map(|node| seed.deserialize(node)).transpose()
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Fields<'de> {
    entries: std::slice::Iter<'de, Entry>,
    current: Option<&'de Entry>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = DeError;
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeError> {
        self.current = self.entries.next();
        let Some(entry) = self.current else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, DeError> = entry.key.as_str().into_deserializer();
        seed.deserialize(key)
            .map(Some)
            .map_err(|error| error.at(|| entry.key_origin.place()))
    }
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, DeError> {
        let entry = self.current.expect("serde asks for a value after its key");
        seed.deserialize(&entry.node)
            .map_err(|error| entry.node.blame(error))
    }
}

/// A name, with or without parameters.
struct Choice<'de> {
    node: &'de Node,
    name: &'de str,
    parameters: Option<&'de Entry>,
    /// What one of them is called: a policy's family, or else the name of a Rust type.
    family: &'static str,
    names: &'static [&'static str],
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = DeError;
    type Variant = Choice<'de>;
    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Choice<'de>), DeError> {
        let name: StrDeserializer<'_, DeError> = self.name.into_deserializer();
        let place = || {
            self.parameters
                .map_or(&self.node.origin, |entry| &entry.key_origin)
                .place()
        };
        // A text can only be refused because it is none of the names.
        match seed.deserialize(name) {
            Ok(variant) => Ok((variant, self)),
            Err(DeError(_)) => {
                let is_family = self.family.starts_with(char::is_lowercase);
                let kind = if is_family { self.family } else { "name" };
                Err(DeError(unknown_name(kind, self.name, self.names)).at(place))
            }
        }
    }
}

impl<'de> VariantAccess<'de> for Choice<'de> {
    type Error = DeError;
    fn unit_variant(self) -> Result<(), DeError> {
        match self.parameters.map(|entry| &entry.node) {
            None => Ok(()),
            Some(Node {
                value: Value::Table(entries),
                ..
            }) if entries.is_empty() => Ok(()),
            Some(node) => {
                let message = format!("{:?} takes no parameters", self.name);
                Err(node.blame(de::Error::custom(message)))
            }
        }
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DeError> {
        match self.parameters {
            Some(entry) => seed.deserialize(&entry.node),
            None => seed
                .deserialize(NoParameters)
                .map_err(|error| self.lacks_parameters(error)),
        }
        .map_err(|error| self.node.blame(error))
    }
    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, DeError> {
        self.struct_variant(&[], visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        match self.parameters {
            Some(entry) => de::Deserializer::deserialize_any(&entry.node, visitor),
            None => de::Deserializer::deserialize_any(NoParameters, visitor)
                .map_err(|error| self.lacks_parameters(error)),
        }
        .map_err(|error| self.node.blame(error))
    }
}

impl Choice<'_> {
    /// A bare name cannot do without what `error` asks for: how it is given.
    fn lacks_parameters(&self, mut error: DeError) -> DeError {
        let (name, message) = (self.name, &mut error.0.message);
        if message.starts_with("expected ") {
            *message = format!("{name:?} takes a value, {message}: {{ {name} = … }}");
        } else if let Some(key) = message
            .strip_prefix(MISSING)
            .and_then(|rest| rest.split('"').nth(1))
        {
            let help = format!("written as {{ {name} = {{ {key} = … }} }}");
            error.0 = error.0.help(help);
        }
        error
    }
}

/// The empty table that stands behind a bare name.
struct NoParameters;

impl<'de> de::Deserializer<'de> for NoParameters {
    type Error = DeError;
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_map(Fields {
            entries: [].iter(),
            current: None,
        })
    }
    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

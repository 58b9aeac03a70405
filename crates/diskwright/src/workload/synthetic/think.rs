//! How long a user thinks.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::base::random::Stream;
use crate::base::schema;
use crate::base::units::Time;

/// From a completion to the same user's next request: `"5 ms"`, or `{ exponential = "5 ms" }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkSpec {
    /// Always the same.
    Constant(Time),
    /// Exponentially distributed with this mean.
    Exponential(Time),
}

impl Default for ThinkSpec {
    fn default() -> ThinkSpec {
        ThinkSpec::Constant(Time::ZERO)
    }
}

/// The distributions that have a name, of which one is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    constant: Option<Time>,
    exponential: Option<Time>,
}

impl JsonSchema for ThinkSpec {
    fn schema_name() -> Cow<'static, str> {
        "ThinkSpec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Time>();
        json_schema!({
            "description": "From a completion to the same user's next request: a time, always the same, or a distribution.",
            "oneOf": [
                time,
                schema::variant("constant", "Always the same.", &time),
                schema::variant("exponential", "Exponentially distributed with this mean.", &time),
            ],
        })
    }
}

impl Serialize for ThinkSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ThinkSpec::Constant(time) => time.serialize(serializer),
            ThinkSpec::Exponential(mean) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("exponential", mean)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for ThinkSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Think;
        impl<'de> Visitor<'de> for Think {
            type Value = ThinkSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"5 ms\", or { exponential = \"5 ms\" }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ThinkSpec, E> {
                Time::deserialize(StrDeserializer::new(text)).map(ThinkSpec::Constant)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ThinkSpec, A::Error> {
                let named = Named::deserialize(MapAccessDeserializer::new(map))?;
                match (named.constant, named.exponential) {
                    (Some(time), None) => Ok(ThinkSpec::Constant(time)),
                    (None, Some(mean)) => Ok(ThinkSpec::Exponential(mean)),
                    _ => Err(de::Error::custom(
                        "expected one of the keys constant and exponential",
                    )),
                }
            }
        }
        deserializer.deserialize_any(Think)
    }
}

/// Draws the times that users think.
pub struct Think {
    spec: ThinkSpec,
    stream: Stream,
}

impl Think {
    /// From this stream.
    pub fn new(spec: ThinkSpec, stream: Stream) -> Think {
        Think { spec, stream }
    }

    /// The next one.
    #[inline]
    pub fn next(&mut self) -> Time {
        match self.spec {
            ThinkSpec::Constant(time) => time,
            ThinkSpec::Exponential(mean) => self.stream.exponential(mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Spec {
        think: ThinkSpec,
    }

    #[test]
    fn a_time_or_a_distribution() {
        let ms = Time::from_ms;
        for (text, think) in [
            ("'5 ms'", ThinkSpec::Constant(ms(5))),
            ("{ constant = '5 ms' }", ThinkSpec::Constant(ms(5))),
            ("{ exponential = '5 ms' }", ThinkSpec::Exponential(ms(5))),
        ] {
            let read: Spec = toml::from_str(&format!("think = {text}")).unwrap();
            assert_eq!(read.think, think);
            let again = toml::from_str::<Spec>(&toml::to_string(&read).unwrap()).unwrap();
            assert_eq!(again, read);
        }
        for bad in [
            "5",
            "'5'",
            "{ pareto = '5 ms' }",
            "{ constant = '5 ms', exponential = '5 ms' }",
            "{}",
        ] {
            assert!(
                toml::from_str::<Spec>(&format!("think = {bad}")).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn times_have_their_mean() {
        let stream = Stream::new(1, "think");
        let mut think = Think::new(ThinkSpec::Exponential(Time::from_ms(5)), stream.clone());
        let sum: f64 = (0..10_000).map(|_| think.next().ms()).sum();
        assert!((sum / 1e4 - 5.0).abs() < 5.0 * 5.0 / 100.0, "{sum}");
        assert_eq!(Think::new(ThinkSpec::default(), stream).next(), Time::ZERO);
    }
}

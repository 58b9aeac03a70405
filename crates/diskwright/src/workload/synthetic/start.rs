//! When a stream may begin.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::base::error::InputError;
use crate::base::units::Time;

use super::arrivals::UniformGaps;
use super::scope::Scope;

/// The earliest beginning of a stream, from the start of the run: `"5 s"`, or drawn, `{ min = "1 s", max = "5 s" }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartSpec {
    /// At this instant.
    At(Time),
    /// Drawn uniformly from an interval.
    Within(UniformGaps),
}

impl Default for StartSpec {
    fn default() -> StartSpec {
        StartSpec::At(Time::ZERO)
    }
}

impl StartSpec {
    /// Whether the stream begins with the run.
    pub fn is_at_once(&self) -> bool {
        *self == StartSpec::default()
    }

    /// The instant.
    ///
    /// # Errors
    /// An interval that ends before it begins.
    pub(super) fn draw(self, scope: &Scope) -> Result<Time, InputError> {
        match self {
            StartSpec::At(at) => Ok(at),
            StartSpec::Within(UniformGaps { min, max }) => {
                let Some(more) = max.ns().checked_sub(min.ns()) else {
                    let what = format_args!(": min is {min} and max {max}");
                    return Err(scope.wrong("start", what));
                };
                let mut stream = scope.stream("start");
                let drawn = match more.checked_add(1) {
                    Some(count) => stream.below(count),
                    None => stream.bits(),
                };
                Ok(min + Time::from_ns(drawn))
            }
        }
    }
}

impl JsonSchema for StartSpec {
    fn schema_name() -> Cow<'static, str> {
        "StartSpec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The earliest beginning of a stream, from the start of the run: a time, or an interval from which it is drawn.",
            "anyOf": [
                generator.subschema_for::<Time>(),
                generator.subschema_for::<UniformGaps>(),
            ],
        })
    }
}

impl Serialize for StartSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            StartSpec::At(time) => time.serialize(serializer),
            StartSpec::Within(interval) => interval.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for StartSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Start;
        impl<'de> Visitor<'de> for Start {
            type Value = StartSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"5 s\", or { min = \"1 s\", max = \"5 s\" }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<StartSpec, E> {
                Time::deserialize(StrDeserializer::new(text)).map(StartSpec::At)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StartSpec, A::Error> {
                UniformGaps::deserialize(MapAccessDeserializer::new(map)).map(StartSpec::Within)
            }
        }
        deserializer.deserialize_any(Start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Spec {
        start: StartSpec,
    }

    fn read(text: &str) -> Result<Spec, toml::de::Error> {
        toml::from_str(&format!("start = {text}"))
    }

    #[test]
    fn a_time_or_an_interval() {
        let interval = UniformGaps {
            min: Time::from_s(1),
            max: Time::from_s(5),
        };
        for (text, start) in [
            ("'5 s'", StartSpec::At(Time::from_s(5))),
            ("{ min = '1 s', max = '5 s' }", StartSpec::Within(interval)),
        ] {
            let spec = read(text).unwrap();
            assert_eq!(spec.start, start);
            let again = toml::from_str::<Spec>(&toml::to_string(&spec).unwrap()).unwrap();
            assert_eq!(again, spec);
        }
        for bad in ["5", "'5'", "{ min = '1 s' }"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn drawn_starts_lie_in_their_interval() {
        let draw = |seed, text: &str| read(text).unwrap().start.draw(&Scope::only(seed));
        let (low, high) = (Time::from_s(1), Time::from_s(5));
        let starts: Vec<Time> = (0..50)
            .map(|seed| draw(seed, "{ min = '1 s', max = '5 s' }").unwrap())
            .collect();
        assert!(starts.iter().all(|start| (low..=high).contains(start)));
        assert!(starts.iter().any(|start| *start < Time::from_s(2)));
        assert!(starts.iter().any(|start| *start > Time::from_s(4)));
        let error = draw(0, "{ min = '2 s', max = '1 s' }").unwrap_err();
        assert!(error.message.contains("workload.synthetic.start"));
    }
}

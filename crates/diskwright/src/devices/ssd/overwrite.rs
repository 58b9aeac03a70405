//! Random writes before the run to all that a drive holds: a number of drive writes, or until the drive is steady.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// The most drive writes before a run.
pub const MOST_DRIVE_WRITES: f64 = 100.0;

const UNTIL_STEADY: &str = "until-steady";

/// How often all that a drive holds has been overwritten at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overwrite {
    /// This number of drive writes.
    Times(f64),
    /// Until five rounds of it have used up as much flash each.
    UntilSteady,
}

impl JsonSchema for Overwrite {
    fn schema_name() -> Cow<'static, str> {
        "Overwrite".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of drive writes, or \"until-steady\": until the flash that a round of them uses up stays the same.",
            "anyOf": [
                { "type": "number", "minimum": 0.0, "maximum": MOST_DRIVE_WRITES },
                { "type": "string", "enum": [UNTIL_STEADY] },
            ],
        })
    }
}

impl Serialize for Overwrite {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Overwrite::Times(times) => serializer.serialize_f64(*times),
            Overwrite::UntilSteady => serializer.serialize_str(UNTIL_STEADY),
        }
    }
}

impl<'de> Deserialize<'de> for Overwrite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Overwrite, D::Error> {
        struct Times;
        impl Visitor<'_> for Times {
            type Value = Overwrite;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number of drive writes, or \"{UNTIL_STEADY}\"")
            }
            fn visit_f64<E: de::Error>(self, times: f64) -> Result<Overwrite, E> {
                Ok(Overwrite::Times(times))
            }
            fn visit_u64<E: de::Error>(self, times: u64) -> Result<Overwrite, E> {
                Ok(Overwrite::Times(times as f64))
            }
            fn visit_i64<E: de::Error>(self, times: i64) -> Result<Overwrite, E> {
                Ok(Overwrite::Times(times as f64))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Overwrite, E> {
                match text {
                    UNTIL_STEADY => Ok(Overwrite::UntilSteady),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Times)
    }
}

//! Numbers in the parameters of policies.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::borrow::Cow;

use crate::base::units::Share;

/// A number from 0 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Factor(f64);

const LARGEST: f64 = 1e6;

impl Factor {
    /// Accepts 0 ≤ `value` ≤ 1,000,000 only.
    pub fn new(value: f64) -> Option<Factor> {
        (0.0..=LARGEST).contains(&value).then_some(Factor(value))
    }
    /// The number.
    pub const fn value(self) -> f64 {
        self.0
    }
    pub(super) const ONE: Factor = Factor(1.0);
    pub(super) const TWO: Factor = Factor(2.0);
    pub(super) const TEN: Factor = Factor(10.0);
}

impl JsonSchema for Factor {
    fn schema_name() -> Cow<'static, str> {
        "Factor".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number",
            "description": "A number from 0 to 1,000,000.",
            "minimum": 0,
            "maximum": LARGEST,
        })
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Factor, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Factor::new(value).ok_or_else(|| {
            de::Error::custom(format!(
                "{value} is not accepted: expected a number from 0 to {LARGEST}"
            ))
        })
    }
}

/// A number of segments, 2 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Segments(u8);

const MOST: u8 = 16;

impl Segments {
    /// Accepts 2 ≤ `value` ≤ 16 only.
    pub fn new(value: u8) -> Option<Segments> {
        (2..=MOST).contains(&value).then_some(Segments(value))
    }
    /// The number.
    pub const fn value(self) -> u8 {
        self.0
    }
    pub(super) const TWO: Segments = Segments(2);
}

impl JsonSchema for Segments {
    fn schema_name() -> Cow<'static, str> {
        "Segments".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer",
            "description": "A number of segments, from 2 to 16.",
            "minimum": 2,
            "maximum": MOST,
        })
    }
}

impl<'de> Deserialize<'de> for Segments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Segments, D::Error> {
        let value = u8::deserialize(deserializer)?;
        Segments::new(value).ok_or_else(|| {
            de::Error::custom(format!(
                "{value} segments are not accepted: expected 2 to {MOST}"
            ))
        })
    }
}

/// Which variant of a policy, where publications and implementations differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// As in the paper.
    #[default]
    Paper,
    /// As in libCacheSim.
    LibCacheSim,
}

/// A share of a cache's frames, rounded down.
pub(super) fn part(share: Share, capacity: u32) -> u32 {
    // At most the capacity, which is a u32; below 2³² a product of two doubles is the same on every machine.
    (share.value() * f64::from(capacity)) as u32
}

/// A constant share.
pub(super) fn share(value: f64) -> Share {
    Share::new(value).expect("a number from 0 to 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_are_refused() {
        for text in ["0.0", "1.5", "1e6"] {
            assert!(serde_json::from_str::<Factor>(text).is_ok(), "{text}");
        }
        for text in ["-0.1", "1000000.1"] {
            let error = serde_json::from_str::<Factor>(text).expect_err(text);
            assert!(error.to_string().contains("from 0 to 1000000"), "{error}");
        }
        for (text, is_good) in [("1", false), ("2", true), ("16", true), ("17", false)] {
            let read = serde_json::from_str::<Segments>(text);
            assert_eq!(read.is_ok(), is_good, "{text}");
        }
    }
}

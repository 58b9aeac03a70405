//! How the platters of hard disks stand and turn, as a spec and what a disk is in have it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::base::random::Stream;
use crate::base::schema;
use crate::base::units::angle::Angle;
use crate::base::units::quantities::Rotation;
use crate::models::geometry::spindle::Spindle;

/// What surrounds a device, such as the array that it is a member of, has of spindles.
#[derive(Clone, Debug)]
pub struct Spindles {
    /// Where platters of which nothing is said stand at time zero.
    pub angle: AngleSpec,
    /// The most by which a speed is above or below its drive's, as a share; each deviation up to that is as likely.
    pub tolerance: f64,
    /// What turns together is drawn together: under this path.
    pub together: Option<String>,
}

impl Spindles {
    /// Of a device that stands alone.
    pub fn alone() -> Spindles {
        Spindles {
            angle: AngleSpec::default(),
            tolerance: 0.0,
            together: None,
        }
    }

    /// By which part of its drive's speed the disk at `path` in the tree of devices turns faster.
    pub fn deviation(&self, seed: u64, path: &str) -> f64 {
        if self.tolerance == 0.0 {
            return 0.0;
        }
        let unit = Stream::new(seed, &format!("{path}.speed")).unit();
        (2.0 * unit - 1.0) * self.tolerance
    }

    /// The spindle of the disk at `path`, of a drive of this speed; `angle` is what its spec says.
    pub fn build(
        &self,
        rotation: Rotation,
        angle: Option<AngleSpec>,
        seed: u64,
        path: &str,
    ) -> Spindle {
        let drawn_at = self.together.as_deref().unwrap_or(path);
        let angle = angle.unwrap_or_default().resolve(seed, drawn_at);
        let deviation = self.deviation(seed, path);
        Spindle::new(rotation.deviating(deviation)).starting_at(angle)
    }
}

/// The angle of a drive's platters at time zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AngleSpec {
    /// This one.
    At(Angle),
    /// One drawn from the spec's seed.
    Random,
}

impl Default for AngleSpec {
    fn default() -> AngleSpec {
        AngleSpec::At(Angle::default())
    }
}

impl AngleSpec {
    /// The angle of the drive at `path` in the tree of devices.
    pub fn resolve(self, seed: u64, path: &str) -> Angle {
        match self {
            AngleSpec::At(angle) => angle,
            AngleSpec::Random => {
                Angle::from_bits(Stream::new(seed, &format!("{path}.angle")).bits())
            }
        }
    }
}

const ANGLE_EXPECTED: &str = "a part of a turn from 0 to below 1, such as 0.25, or \"random\"";

impl<'de> Deserialize<'de> for AngleSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AngleSpec, D::Error> {
        struct Turns;
        impl Visitor<'_> for Turns {
            type Value = AngleSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(ANGLE_EXPECTED)
            }
            fn visit_f64<E: de::Error>(self, turns: f64) -> Result<AngleSpec, E> {
                let angle = Angle::from_turns(turns).map(AngleSpec::At);
                angle.ok_or_else(|| {
                    E::custom(format!(
                        "an angle of {turns} turns: expected {ANGLE_EXPECTED}"
                    ))
                })
            }
            fn visit_u64<E: de::Error>(self, turns: u64) -> Result<AngleSpec, E> {
                self.visit_f64(turns as f64)
            }
            fn visit_i64<E: de::Error>(self, turns: i64) -> Result<AngleSpec, E> {
                self.visit_f64(turns as f64)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<AngleSpec, E> {
                match text {
                    "random" => Ok(AngleSpec::Random),
                    _ => Err(E::custom(format!("{text:?} is not {ANGLE_EXPECTED}"))),
                }
            }
        }
        deserializer.deserialize_any(Turns)
    }
}

impl JsonSchema for AngleSpec {
    fn schema_name() -> Cow<'static, str> {
        "Angle".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": schema::sentence(ANGLE_EXPECTED),
            "anyOf": [
                { "type": "number", "minimum": 0, "exclusiveMaximum": 1 },
                { "type": "string", "enum": ["random"] },
            ],
            "examples": [0.25, "random"],
        })
    }
}

impl Serialize for AngleSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AngleSpec::At(angle) => serializer.serialize_f64(angle.turns()),
            AngleSpec::Random => serializer.serialize_str("random"),
        }
    }
}

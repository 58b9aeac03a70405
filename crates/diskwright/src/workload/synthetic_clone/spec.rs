//! `workload.synthetic-clone` of a spec: a file, or a table with the file and parameters over those in it.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::base::units::{Size, Time};

use crate::workload::clone_options::Parameters;

/// A profile, `"profile.toml"`, or a table of counts with parameters, `{ profile = "counts.toml", theta = 0.8 }`.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticCloneSpec {
    /// The file.
    pub profile: PathBuf,
    /// Parameters over those of the file.
    pub parameters: Parameters,
}

/// A declaration of the table: the file, and the parameters beside it.
macro_rules! table {
    ($($(#[$doc:meta])* $key:ident: $kind:ty,)*) => {
        /// A synthetic clone of a table of counts, with parameters over those of its file.
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "SyntheticCloneTable")]
        struct Table {
            /// The file.
            #[schemars(extend("format" = "path"))]
            profile: PathBuf,
            $($(#[$doc])* #[serde(default, skip_serializing_if = "Option::is_none")] $key: Option<$kind>,)*
        }

        impl From<Table> for SyntheticCloneSpec {
            fn from(table: Table) -> SyntheticCloneSpec {
                SyntheticCloneSpec {
                    profile: table.profile,
                    parameters: Parameters { $($key: table.$key,)* },
                }
            }
        }

        impl From<&SyntheticCloneSpec> for Table {
            fn from(spec: &SyntheticCloneSpec) -> Table {
                let SyntheticCloneSpec { profile, parameters } = spec.clone();
                Table { profile, $($key: parameters.$key,)* }
            }
        }
    };
}

table! {
    /// The sizes that requests have, in blocks, ascending.
    modes: Vec<u32>,
    /// How common each size is before the shares are fitted to the means of the table.
    weights: Vec<f64>,
    /// The share of small requests, 0 to 1.
    small_share: f64,
    /// The largest size that counts as small.
    small: Size,
    /// The share of reads among the random requests, 0 to 1.
    random_read_share: f64,
    /// The mean number of requests in a sequential run of two or more.
    run_requests: f64,
    /// The exponent of Zipf's law by which runs are referenced again, by their depth in the LRU stack, 0 or more.
    theta: f64,
    /// The range of addresses.
    span: Size,
    /// The mean gap between arrivals.
    mean_gap: Time,
    /// The mean number of requests in a burst, 1 or more.
    burst_requests: f64,
    /// The mean gap between the arrivals of a burst.
    burst_gap: Time,
}

impl JsonSchema for SyntheticCloneSpec {
    fn schema_name() -> Cow<'static, str> {
        "SyntheticCloneSpec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A profile or a table of counts, or such a table with parameters.",
            "anyOf": [{ "type": "string", "format": "path" }, generator.subschema_for::<Table>()],
        })
    }
}

impl Serialize for SyntheticCloneSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.parameters == Parameters::default() {
            return self.profile.serialize(serializer);
        }
        Table::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SyntheticCloneSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SyntheticClone;
        impl<'de> Visitor<'de> for SyntheticClone {
            type Value = SyntheticCloneSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a file such as \"profile.toml\", or { profile = \"counts.toml\", theta = 0.8 }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SyntheticCloneSpec, E> {
                Ok(SyntheticCloneSpec {
                    profile: PathBuf::deserialize(StrDeserializer::new(text))?,
                    parameters: Parameters::default(),
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SyntheticCloneSpec, A::Error> {
                Table::deserialize(MapAccessDeserializer::new(map)).map(SyntheticCloneSpec::from)
            }
        }
        deserializer.deserialize_any(SyntheticClone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        at: SyntheticCloneSpec,
    }

    #[test]
    fn a_spec_is_a_file_or_a_table_and_reads_back() {
        for text in [
            "at = \"p.toml\"\n",
            "[at]\nprofile = \"p.toml\"\nsmall_share = 0.5\ntheta = 0.8\nspan = \"100 blocks\"\n",
        ] {
            let holder: Holder = toml::from_str(text).unwrap();
            assert_eq!(toml::to_string(&holder).unwrap(), text);
        }
        for bad in [
            "at = 3",
            "[at]\ntheta = 1.0",
            "[at]\nprofile = 'p'\nthetta = 1.0",
        ] {
            assert!(toml::from_str::<Holder>(bad).is_err(), "{bad}");
        }
    }
}

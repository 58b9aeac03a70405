//! What a spec says of a drive's command overhead: one time before every command, or the drive's with some values changed.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::base::units::Time;
use crate::devices::hdd::Overhead;

/// The command overhead of a hard disk in a spec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverheadSpec {
    /// This long before every command, and nothing at its completion.
    Each(Time),
    /// The drive's, with these values in place of its own.
    Changed(OverheadTable),
}

/// The controller's times that are to differ from the drive's, for a command that needs the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OverheadTable {
    /// Before a read that follows a read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_after_read: Option<Time>,
    /// Before a read that follows a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_after_write: Option<Time>,
    /// Before a write that follows a read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_after_read: Option<Time>,
    /// Before a write that follows a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_after_write: Option<Time>,
    /// After the data of a read have crossed the interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_read: Option<Time>,
    /// After the data of a write are on the medium.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_write: Option<Time>,
}

const EXPECTED: &str = "a time before every command such as \"0.3 ms\", or a table of what is to differ from the drive's";

impl OverheadSpec {
    /// The overhead of a drive that has `own`.
    pub fn resolve(&self, own: Overhead) -> Overhead {
        match *self {
            OverheadSpec::Each(time) => Overhead::before_any(time),
            OverheadSpec::Changed(table) => Overhead {
                read_after_read: table.read_after_read.unwrap_or(own.read_after_read),
                read_after_write: table.read_after_write.unwrap_or(own.read_after_write),
                write_after_read: table.write_after_read.unwrap_or(own.write_after_read),
                write_after_write: table.write_after_write.unwrap_or(own.write_after_write),
                completion_read: table.completion_read.unwrap_or(own.completion_read),
                completion_write: table.completion_write.unwrap_or(own.completion_write),
            },
        }
    }
}

impl<'de> Deserialize<'de> for OverheadSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OverheadSpec, D::Error> {
        struct Choice;
        impl<'de> Visitor<'de> for Choice {
            type Value = OverheadSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OverheadSpec, E> {
                Time::deserialize(StrDeserializer::new(text)).map(OverheadSpec::Each)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OverheadSpec, A::Error> {
                OverheadTable::deserialize(MapAccessDeserializer::new(map))
                    .map(OverheadSpec::Changed)
            }
        }
        deserializer.deserialize_any(Choice)
    }
}

impl Serialize for OverheadSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            OverheadSpec::Each(time) => time.serialize(serializer),
            OverheadSpec::Changed(table) => table.serialize(serializer),
        }
    }
}

impl JsonSchema for OverheadSpec {
    fn schema_name() -> Cow<'static, str> {
        "OverheadSpec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time before every command, or a table of what is to differ from the drive's.",
            "anyOf": [generator.subschema_for::<Time>(), generator.subschema_for::<OverheadTable>()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::{Node, from_node};
    use crate::base::error::Source;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        overhead: OverheadSpec,
    }

    fn spec(text: &str) -> OverheadSpec {
        let holder: Holder = toml::from_str(text).expect(text);
        holder.overhead
    }

    fn own() -> Overhead {
        Overhead {
            read_after_read: Time::from_ns(1),
            read_after_write: Time::from_ns(2),
            write_after_read: Time::from_ns(3),
            write_after_write: Time::from_ns(4),
            completion_read: Time::from_ns(5),
            completion_write: Time::from_ns(6),
        }
    }

    #[test]
    fn a_time_stands_before_every_command_and_nothing_after_it() {
        let before = Time::from_ns(300_000);
        let expected = Overhead {
            read_after_read: before,
            read_after_write: before,
            write_after_read: before,
            write_after_write: before,
            ..Overhead::default()
        };
        assert_eq!(spec("overhead = \"0.3 ms\"").resolve(own()), expected);
        assert_eq!(
            spec("overhead = \"0 ms\"").resolve(own()),
            Overhead::default()
        );
    }

    #[test]
    fn each_key_of_a_table_changes_one_value() {
        assert_eq!(spec("overhead = {}").resolve(own()), own());
        let keys = [
            "read_after_read",
            "read_after_write",
            "write_after_read",
            "write_after_write",
            "completion_read",
            "completion_write",
        ];
        for key in keys {
            let found = spec(&format!("overhead = {{ {key} = \"9 ns\" }}")).resolve(own());
            let mut expected = serde_json::to_value(own()).expect("times are text");
            expected[key] = serde_json::json!("9 ns");
            let expected: Overhead = serde_json::from_value(expected).expect("as it was");
            assert_eq!(found, expected, "{key}");
        }
    }

    #[test]
    fn it_reads_back_as_it_was_written() {
        for text in [
            "overhead = \"300 us\"\n",
            "[overhead]\nread_after_write = \"1 ms\"\ncompletion_read = \"500 us\"\n",
        ] {
            let holder: Holder = toml::from_str(text).expect(text);
            assert_eq!(toml::to_string(&holder).expect("plain data"), text);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_where_it_stands() {
        for (text, place, words) in [
            (
                "overhead = 3\n",
                "spec.toml:1:12",
                &["integer", "0.3 ms"][..],
            ),
            ("overhead = \"3 mss\"\n", "spec.toml:1:12", &["3 mss"]),
            (
                "[overhead]\nread_after_reed = \"1 ms\"\n",
                "spec.toml:2:1",
                &["read_after_reed", "read_after_read"],
            ),
            (
                "[overhead]\n\ncompletion_read = \"-1 ms\"\n",
                "spec.toml:3:19",
                &["-1 ms"],
            ),
        ] {
            let node = Node::parse(&Source::new("spec.toml", text)).expect(text);
            let error = from_node::<Holder>(&node).expect_err(text).to_string();
            assert!(error.contains(place), "{text}: {error}");
            for word in words {
                assert!(error.contains(word), "{text}: {error}");
            }
        }
    }
}

//! What a spec says of a drive's buffer: as the drive has it, none, or as the drive has it with some values changed.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::base::document::{Node, from_node};
use crate::base::error::{InputError, Source};

/// The buffer of a hard disk in a spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BufferSpec {
    /// As the drive's description has it.
    #[default]
    Drive,
    /// None: every request waits for the medium.
    Off,
    /// The drive's, with these keys in place of its own.
    Changed(Map<String, Value>),
}

const EXPECTED: &str =
    "true for the drive's buffer, false for none, or a table of what is to differ from the drive's";

impl BufferSpec {
    /// Whether it makes a pool, whatever the drive has.
    pub fn is_of_pool(&self) -> bool {
        matches!(self, BufferSpec::Changed(changes) if changes.contains_key("size"))
    }

    /// Whether it makes a segmented buffer, whatever the drive has.
    pub fn is_segmented(&self) -> bool {
        matches!(self, BufferSpec::Changed(changes) if changes.contains_key("segments"))
    }

    /// The memory, a segmented buffer or a pool, of a drive that has `own`.
    ///
    /// # Errors
    /// A key that a buffer does not have, or a value that does not fit it.
    pub fn resolve<T: Serialize + DeserializeOwned>(
        &self,
        own: Option<T>,
    ) -> Result<Option<T>, InputError> {
        let changes = match self {
            BufferSpec::Drive => return Ok(own),
            BufferSpec::Off => return Ok(None),
            BufferSpec::Changed(changes) => changes,
        };
        let mut table = match own {
            Some(own) => serde_json::to_value(own).expect("a description is text and numbers"),
            None => Value::Object(Map::new()),
        };
        merge(&mut table, changes);
        // As TOML it is read as everything else that a spec says.
        let text = toml::to_string(&table).expect("text and numbers");
        let tree = Node::parse(&Source::new("buffer", text));
        let read = tree.and_then(|tree| Ok(from_node(&tree)?));
        read.map(Some).map_err(|error| {
            InputError::new(format!("the buffer is not complete or not sound: {error}"))
        })
    }
}

/// Puts `changes` over a table, key by key.
fn merge(table: &mut Value, changes: &Map<String, Value>) {
    for (key, change) in changes {
        match (table.get_mut(key), change) {
            (Some(inner @ Value::Object(_)), Value::Object(change)) => merge(inner, change),
            _ => table[key] = change.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for BufferSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BufferSpec, D::Error> {
        struct Choice;
        impl<'de> Visitor<'de> for Choice {
            type Value = BufferSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_bool<E: de::Error>(self, on: bool) -> Result<BufferSpec, E> {
                Ok(if on {
                    BufferSpec::Drive
                } else {
                    BufferSpec::Off
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BufferSpec, A::Error> {
                Map::deserialize(MapAccessDeserializer::new(map)).map(BufferSpec::Changed)
            }
        }
        deserializer.deserialize_any(Choice)
    }
}

impl Serialize for BufferSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            BufferSpec::Drive => serializer.serialize_bool(true),
            BufferSpec::Off => serializer.serialize_bool(false),
            BufferSpec::Changed(changes) => changes.serialize(serializer),
        }
    }
}

impl JsonSchema for BufferSpec {
    fn schema_name() -> Cow<'static, str> {
        "Buffer".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["boolean", "object"], "format": "buffer" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::hdd::buffer_description::BufferDescription;

    fn spec(text: &str) -> BufferSpec {
        #[derive(Deserialize)]
        struct Holder {
            buffer: BufferSpec,
        }
        let holder: Holder = toml::from_str(text).expect(text);
        holder.buffer
    }

    fn own() -> BufferDescription {
        toml::from_str(
            "segments = 3\nsegment_size = \"64 KiB\"\n[read]\nhit_after_read = \"1 ms\"\nhit_after_write = \"2 ms\"",
        )
        .expect("sound")
    }

    #[test]
    fn it_is_the_drives_or_none() {
        assert_eq!(spec("buffer = true").resolve(Some(own())), Ok(Some(own())));
        let none: Option<BufferDescription> = None;
        assert_eq!(spec("buffer = true").resolve(none), Ok(None));
        assert_eq!(spec("buffer = false").resolve(Some(own())), Ok(None));
    }

    #[test]
    fn changes_stand_over_the_drives_values_key_by_key() {
        let changed = spec("buffer = { segments = 7, read = { hit_after_read = \"3 ms\" } }");
        let mut expected = own();
        expected.segments = 7;
        expected.read.hit_after_read = crate::base::units::Time::from_ms(3);
        assert_eq!(changed.resolve(Some(own())), Ok(Some(expected)));
        let whole = spec("buffer = { segments = 1, segment_size = \"8 blocks\" }");
        let built: Option<BufferDescription> = whole.resolve(None).expect("complete");
        let built = built.expect("a buffer");
        assert_eq!((built.segments, built.segment_blocks()), (1, 8));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let error = spec("buffer = { segmnts = 7 }")
            .resolve(Some(own()))
            .unwrap_err();
        assert!(error.to_string().contains("segmnts"), "{error}");
        let none: Option<BufferDescription> = None;
        let error = spec("buffer = { segments = 7 }").resolve(none).unwrap_err();
        assert!(error.to_string().contains("segment_size"), "{error}");
        let error = spec("buffer = { segments = \"x\" }")
            .resolve(Some(own()))
            .unwrap_err();
        assert!(
            error.to_string().contains("segments") || error.to_string().contains("u32"),
            "{error}"
        );
    }
}

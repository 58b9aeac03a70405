//! The `[sweep]` part of a spec: what is varied in it, and how often each combination runs.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::base::document::{Node, Origin, Value};
use crate::base::error::{Error, InputError};

/// A grid of points: all combinations of the values of some keys of the spec. `diskwright sweep` runs it; every other verb
/// runs the spec without it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SweepSpec {
    /// Runs of each point, with seeds from the spec's on.
    pub seeds: u32,
    /// The keys that are varied, by dotted path, each with a list of its values: `"device.hdd.queue.depth" = [1, 32]`.
    pub vary: VarySpec,
    /// The numbers of the results that its table shows, by their keys with dots between them, such as `by_op.read.response_ms.p99`; the
    /// response time's mean and p99 and the IOPS where there are none.
    pub metrics: Vec<String>,
}

impl Default for SweepSpec {
    fn default() -> SweepSpec {
        SweepSpec {
            seeds: 5,
            vary: VarySpec,
            metrics: Vec::new(),
        }
    }
}

/// The keys that are varied. [`axes`] reads them, from the tree, which knows where each value was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VarySpec;

impl<'de> Deserialize<'de> for VarySpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<VarySpec, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = VarySpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of keys with lists of values")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VarySpec, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(VarySpec)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl JsonSchema for VarySpec {
    fn schema_name() -> Cow<'static, str> {
        "Vary".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Keys of the spec, by dotted path, each with a list of its values.",
            "type": "object",
            "format": "vary",
            "additionalProperties": {
                "anyOf": [
                    { "type": "array", "minItems": 1 },
                    { "type": "object" },
                ],
            },
        })
    }
}

/// A key that is varied, and its values, each with the place where it was written.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The dotted path.
    pub key: String,
    /// Where it was written.
    pub origin: Origin,
    /// The values, in their order.
    pub values: Vec<Node>,
}

impl Axis {
    /// An error about the key.
    pub fn error(&self, message: impl Into<String>) -> InputError {
        InputError::new(message).at(self.origin.place())
    }

    /// Refuses an empty list, and a value that is there twice.
    fn checked(self) -> Result<Axis, InputError> {
        if self.values.is_empty() {
            return Err(self
                .error(format!("{} has no values", self.key))
                .help("expected a list of one or more"));
        }
        for (at, node) in self.values.iter().enumerate() {
            let value = node.value.to_json();
            if self.values[..at]
                .iter()
                .any(|other| other.value.to_json() == value)
            {
                return Err(node.error(format!("the value {value} is there twice")));
            }
        }
        Ok(self)
    }
}

/// The axes that the `[sweep.vary]` of a spec has, in the order of the text.
///
/// # Errors
/// A key without a list of values; the same value twice.
pub fn axes(spec: &Node) -> Result<Vec<Axis>, Error> {
    let mut axes = Vec::new();
    if let Some(vary) = spec.get("sweep.vary") {
        collect(vary, "", &mut axes)?;
    }
    Ok(axes)
}

/// A key may be written as one, `"a.b" = […]`, or as TOML nests it, `a.b = […]`.
fn collect(node: &Node, above: &str, axes: &mut Vec<Axis>) -> Result<(), InputError> {
    let Value::Table(entries) = &node.value else {
        let found = node.value.describe();
        return Err(node.error(format!(
            "found {found}, expected a table of keys with lists of values"
        )));
    };
    for entry in entries {
        let key = match above {
            "" => entry.key.clone(),
            above => format!("{above}.{}", entry.key),
        };
        match &entry.node.value {
            Value::Array(values) => axes.push(
                Axis {
                    key,
                    origin: entry.key_origin.clone(),
                    values: values.clone(),
                }
                .checked()?,
            ),
            Value::Table(_) => collect(&entry.node, &key, axes)?,
            other => {
                let message = format!(
                    "found {}, expected a list of the values of {key}",
                    other.describe()
                );
                let help = format!("\"{key}\" = [A, B, …]");
                return Err(entry.node.error(message).help(help));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::from_node;
    use crate::base::error::Source;

    fn tree(text: &str) -> Node {
        Node::parse(&Source::new("spec.toml", text)).expect("valid TOML")
    }

    fn read(text: &str) -> Result<Vec<(String, Vec<String>)>, Error> {
        let values = |axis: &Axis| {
            axis.values
                .iter()
                .map(|node| node.value.to_json().to_string())
                .collect()
        };
        let found = axes(&tree(text))?;
        Ok(found
            .iter()
            .map(|axis| (axis.key.clone(), values(axis)))
            .collect())
    }

    #[test]
    fn keys_are_dotted_or_nested_and_values_anything() {
        let text = "[sweep.vary]\n\"a.b\" = [1, { x = { y = 2 } }]\nc.d.e = [\"f\"]\n[sweep.vary.g]\nh = [[1], []]\n";
        let expected = [
            ("a.b", vec!["1", r#"{"x":{"y":2}}"#]),
            ("c.d.e", vec!["\"f\""]),
            ("g.h", vec!["[1]", "[]"]),
        ];
        let found = read(text).expect("axes");
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|(key, values)| (key.as_str(), values.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(read("seed = 1").expect("none"), []);
    }

    #[test]
    fn what_is_no_list_of_values_is_told_with_its_place() {
        for (text, message, place) in [
            (
                "[sweep]\nvary = 3",
                "expected a table of keys",
                "spec.toml:2:8",
            ),
            (
                "[sweep.vary]\n\"a.b\" = 3",
                "expected a list of the values of a.b",
                "spec.toml:2:9",
            ),
            (
                "[sweep.vary]\na.b = []",
                "a.b has no values",
                "spec.toml:2:3",
            ),
            (
                "[sweep.vary]\n\"a\" = [1, 2, 1]",
                "1 is there twice",
                "spec.toml:2:14",
            ),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(
                error.contains(message) && error.contains(place),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn the_table_has_no_other_keys() {
        let read = |text: &str| from_node::<SweepSpec>(tree(text).get("sweep").expect("a sweep"));
        let spec = read("[sweep]\nseeds = 3\nvary = { a = [1] }").expect("a sweep");
        assert_eq!((spec.seeds, SweepSpec::default().seeds), (3, 5));
        for text in [
            "[sweep]\nseed = 3",
            "[sweep]\nseeds = -1",
            "[sweep]\nvary = [1]",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

//! A spec as a tree of values, each of which knows where it was written.
//!
//! A spec file, a drive description and `--set` overrides become one tree; what is read from it later
//! can always name the text, line and column that is to blame.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::former::{last_key, present_key, present_path};
use crate::base::error::{Error, InputError, Place, Source};

/// Where a value was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    source: Arc<Source>,
    span: Range<usize>,
}

impl Origin {
    /// The place, for an error.
    pub fn place(&self) -> Place {
        Place::Text {
            source: Arc::clone(&self.source),
            span: self.span.clone(),
        }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where.
    pub origin: Origin,
}

/// A table's entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub key_origin: Origin,
    /// The value.
    pub node: Node,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    String(String),
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
    /// A boolean.
    Boolean(bool),
    /// A date or time, as text; no key of a spec takes one.
    Datetime(String),
    /// An array.
    Array(Vec<Node>),
    /// A table, in the order of the text.
    Table(Vec<Entry>),
}

impl Value {
    /// As JSON: what is not a number there becomes null.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Value::String(text) | Value::Datetime(text) => text.as_str().into(),
            Value::Integer(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => number.into(),
                (_, Ok(number)) => number.into(),
                _ => (*number as f64).into(),
            },
            Value::Float(number) => (*number).into(),
            Value::Boolean(flag) => (*flag).into(),
            Value::Array(items) => items.iter().map(|item| item.value.to_json()).collect(),
            Value::Table(entries) => {
                let entry = |entry: &Entry| (entry.key.clone(), entry.node.value.to_json());
                Json::Object(entries.iter().map(entry).collect())
            }
        }
    }

    /// What the value is, for "found …".
    pub fn describe(&self) -> String {
        match self {
            Value::String(text) => format!("the string {text:?}"),
            Value::Integer(number) => format!("the integer {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Boolean(flag) => format!("the boolean {flag}"),
            Value::Datetime(text) => format!("the date {text}"),
            Value::Array(_) => "an array".into(),
            Value::Table(_) => "a table".into(),
        }
    }
}

/// The most parts of a key that is set: tables are as deep, and are gone through by recursion, as are those of a text, whose parser has a limit
/// of its own.
const MOST_PARTS: usize = 100;

impl Node {
    /// Parses a TOML document.
    pub fn parse(source: &Arc<Source>) -> Result<Node, Error> {
        let table = DeTable::parse(&source.text).map_err(|error| syntax_error(source, &error))?;
        let span = 0..0;
        let value = table_value(table.into_inner(), "", source)?;
        Ok(Node {
            value,
            origin: Origin {
                source: Arc::clone(source),
                span,
            },
        })
    }

    /// An error about this value.
    pub fn error(&self, message: impl Into<String>) -> InputError {
        InputError::new(message).at(self.origin.place())
    }

    /// The value at a dotted path such as `device.hdd.queue`, with `member[0]` for array elements.
    pub fn get(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(self, |node, step| {
            let (key, index) = step_parts(step)?;
            let Value::Table(entries) = &node.value else {
                return None;
            };
            let child = &entries.iter().find(|entry| entry.key == key)?.node;
            match (index, &child.value) {
                (None, _) => Some(child),
                (Some(index), Value::Array(items)) => items.get(index),
                (Some(_), _) => None,
            }
        })
    }

    /// Puts a value at its path, making tables on the way; what stood there before is replaced.
    ///
    /// # Errors
    /// A path that leads through something other than tables and existing elements of arrays, or that has more parts than any key.
    pub fn set(&mut self, change: Override) -> Result<(), InputError> {
        let Override {
            path,
            path_origin,
            node,
        } = change;
        let wrong = |message: String| Err(InputError::new(message).at(path_origin.place()));
        let parts = path.split('.').count();
        if parts > MOST_PARTS {
            return wrong(format!(
                "a key of {parts} parts, expected at most {MOST_PARTS}"
            ));
        }
        let mut here = self;
        for step in path.split('.') {
            let Some((key, index)) = step_parts(step) else {
                return wrong(format!(
                    "{step:?} is not a key: expected letters, digits, '-' and '_', with [N] for an element"
                ));
            };
            // A policy given by its bare name becomes a table when one of its parameters is set.
            if matches!(&here.value, Value::String(name) if name == key) {
                *here = Node {
                    value: Value::Table(Vec::new()),
                    origin: path_origin.clone(),
                };
            }
            let found = here.value.describe();
            let Value::Table(entries) = &mut here.value else {
                return wrong(format!("cannot set {path:?}: {found} stands above {key:?}"));
            };
            let at = entries
                .iter()
                .position(|entry| entry.key == key)
                .unwrap_or_else(|| {
                    let node = Node {
                        value: Value::Table(Vec::new()),
                        origin: path_origin.clone(),
                    };
                    entries.push(Entry {
                        key: key.to_owned(),
                        key_origin: path_origin.clone(),
                        node,
                    });
                    entries.len() - 1
                });
            here = &mut entries[at].node;
            if let Some(index) = index {
                let found = here.value.describe();
                let Value::Array(items) = &mut here.value else {
                    return wrong(format!(
                        "cannot set {path:?}: {key:?} is {found}, not an array"
                    ));
                };
                let length = items.len();
                match items.get_mut(index) {
                    Some(item) => here = item,
                    None => {
                        return wrong(format!(
                            "cannot set {path:?}: {key:?} has {length} elements, counted from 0"
                        ));
                    }
                }
            }
        }
        *here = node;
        Ok(())
    }

    /// Removes what stands at a dotted path of tables, if anything does.
    pub fn remove(&mut self, path: &str) {
        let Value::Table(entries) = &mut self.value else {
            return;
        };
        match path.split_once('.') {
            None => entries.retain(|entry| entry.key != path),
            Some((key, rest)) => {
                if let Some(entry) = entries.iter_mut().find(|entry| entry.key == key) {
                    entry.node.remove(rest);
                }
            }
        }
    }
}

/// One value that is put into a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// The dotted path of the key.
    pub path: String,
    /// Where the path was written.
    pub path_origin: Origin,
    /// The value.
    pub node: Node,
}

impl Override {
    /// Parses one `KEY=VALUE` of the command line, given with `option`. VALUE is TOML; what is not becomes a string.
    ///
    /// # Errors
    /// A text without an equals sign.
    pub fn parse(option: &str, text: &str) -> Result<Override, InputError> {
        let source = Source::new(option, text);
        let at = |span| Origin {
            source: Arc::clone(&source),
            span,
        };
        let Some((path, value)) = text.split_once('=') else {
            return Err(InputError::new("expected KEY=VALUE")
                .at(at(0..text.len()).place())
                .help("for example device.hdd.queue.scheduler=fcfs"));
        };
        let origin = at(path.len() + 1..text.len());
        let parsed = DeValue::parse(value.trim())
            .ok()
            .and_then(|value| tree(value, last_key(path.trim()), &source).ok());
        let value =
            parsed.map_or_else(|| Value::String(value.trim().to_owned()), |node| node.value);
        let node = relocated(
            Node {
                value,
                origin: origin.clone(),
            },
            &origin,
        );
        Ok(Override {
            path: present_path(path.trim()),
            path_origin: at(0..path.len()),
            node,
        })
    }

    /// The string `value`, given with an option such as `--drive`, for the key at `path`.
    pub fn from_option(option: &str, path: String, value: &str) -> Override {
        let origin = Origin {
            source: Source::new(option, value),
            span: 0..value.len(),
        };
        let node = Node {
            value: Value::String(value.to_owned()),
            origin: origin.clone(),
        };
        Override {
            path,
            path_origin: origin,
            node,
        }
    }
}

/// A copy of `node` whose every part names `origin`: spans inside one override are those of the whole.
fn relocated(node: Node, origin: &Origin) -> Node {
    let value = match node.value {
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| relocated(item, origin))
                .collect(),
        ),
        Value::Table(entries) => Value::Table(
            entries
                .into_iter()
                .map(|entry| Entry {
                    key: entry.key,
                    key_origin: origin.clone(),
                    node: relocated(entry.node, origin),
                })
                .collect(),
        ),
        other => other,
    };
    Node {
        value,
        origin: origin.clone(),
    }
}

fn step_parts(step: &str) -> Option<(&str, Option<usize>)> {
    let (key, index) = match step.split_once('[') {
        Some((key, index)) => (key, Some(index.strip_suffix(']')?.parse().ok()?)),
        None => (step, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!key.is_empty() && key.chars().all(plain)).then_some((key, index))
}

fn syntax_error(source: &Arc<Source>, error: &toml::de::Error) -> Error {
    let span = error.span().unwrap_or(0..0);
    InputError::new(format!("not valid TOML: {}", error.message()))
        .at(Place::Text {
            source: Arc::clone(source),
            span,
        })
        .into()
}

/// The value that stands under `key`.
fn tree(value: Spanned<DeValue<'_>>, key: &str, source: &Arc<Source>) -> Result<Node, Error> {
    let origin = Origin {
        source: Arc::clone(source),
        span: value.span(),
    };
    let bad = |what: &str| InputError::new(what).at(origin.place());
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(number) => Value::Integer(
            i128::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| bad("the integer is too large"))?,
        ),
        DeValue::Float(number) => Value::Float(
            number
                .as_str()
                .parse()
                .map_err(|_| bad("the number cannot be read"))?,
        ),
        DeValue::Boolean(flag) => Value::Boolean(flag),
        DeValue::Datetime(date) => Value::Datetime(date.to_string()),
        DeValue::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| tree(item, key, source))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => table_value(table, key, source)?,
    };
    Ok(Node { value, origin })
}

/// The table that stands under `name`.
fn table_value(table: DeTable<'_>, name: &str, source: &Arc<Source>) -> Result<Value, Error> {
    let entry = |(key, node): (Spanned<_>, _)| -> Result<Entry, Error> {
        let key_origin = Origin {
            source: Arc::clone(source),
            span: key.span(),
        };
        let key: std::borrow::Cow<'_, str> = key.into_inner();
        Ok(Entry {
            node: tree(node, &key, source)?,
            key: present_key(name, &key).to_owned(),
            key_origin,
        })
    };
    Ok(Value::Table(
        table.into_iter().map(entry).collect::<Result<_, _>>()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Node {
        let text = "seed = 1\n[a]\nb = 2\nlist = [1, 2]\npolicy = \"ncq\"\n";
        Node::parse(&Source::new("spec.toml", text)).expect("valid TOML")
    }
    fn set(text: &str) -> Result<Node, InputError> {
        let mut tree = spec();
        tree.set(Override::parse("--set", text)?)?;
        Ok(tree)
    }
    fn value(text: &str, path: &str) -> Value {
        set(text)
            .expect("a change that fits")
            .get(path)
            .expect("the key just set")
            .value
            .clone()
    }

    #[test]
    fn values_are_toml_and_bare_words_strings() {
        assert_eq!(value("a.b=3", "a.b"), Value::Integer(3));
        assert_eq!(value("a.b = fcfs", "a.b"), Value::String("fcfs".into()));
        assert_eq!(value("a.b=\"20 ms\"", "a.b"), Value::String("20 ms".into()));
        assert_eq!(value("a.b=20 ms", "a.b"), Value::String("20 ms".into()));
        assert_eq!(
            value("a.b={ x = 1.5, y = [true] }", "a.b.x"),
            Value::Float(1.5)
        );
        assert_eq!(value("new.deep.key=-1", "new.deep.key"), Value::Integer(-1));
        assert_eq!(value("a.list[1]=7", "a.list[1]"), Value::Integer(7));
        let timeout = value("a.policy.ncq.timeout=1 s", "a.policy.ncq.timeout");
        assert_eq!(timeout, Value::String("1 s".into()));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        for (text, message) in [
            ("a.b", "expected KEY=VALUE"),
            ("a..b=1", "is not a key"),
            ("a.b.c=1", "the integer 2 stands above \"c\""),
            ("a.policy.satf.x=1", "\"ncq\" stands above \"satf\""),
            ("a.list[2]=1", "has 2 elements"),
            ("a.b[0]=1", "not an array"),
        ] {
            let error = set(text).expect_err(text);
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert!(error.to_string().contains("--set:1:1"), "{error}");
        }
    }

    #[test]
    fn keys_have_no_more_parts_than_can_be_gone_through() {
        let key = |parts: usize| format!("{}=1", vec!["x"; parts].join("."));
        assert!(set(&key(MOST_PARTS)).is_ok());
        let error = set(&key(MOST_PARTS + 1)).expect_err("too many");
        assert!(error.message.contains("101 parts"), "{}", error.message);
    }

    #[test]
    fn values_know_their_lines() {
        let tree = spec();
        let place = |path: &str| {
            tree.get(path)
                .expect("a key of the text")
                .origin
                .place()
                .to_string()
        };
        assert_eq!(
            (place("seed"), place("a.list[1]")),
            ("spec.toml:1:8".into(), "spec.toml:4:12".into())
        );
        let error = Node::parse(&Source::new("bad.toml", "a = \n")).unwrap_err();
        assert!(error.to_string().contains("bad.toml:1:5"), "{error}");
    }
}

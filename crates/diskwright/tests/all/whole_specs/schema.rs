//! Values drawn from the JSON schemas of specs and drives, which follow the registries: what is added there is drawn here.

use diskwright::config::schema;
use serde_json::{Map, Value};

use super::draw::{Draw, size};
use super::{devices, load};

/// The definitions of both schemas.
pub struct Definitions(Map<String, Value>);

impl Definitions {
    pub fn read() -> Definitions {
        let mut all = Map::new();
        for (root, name) in [(schema::spec(), "Spec"), (schema::drive(), "Drive")] {
            let Value::Object(mut root) = root else {
                unreachable!("a schema is an object");
            };
            if let Some(Value::Object(definitions)) = root.remove("definitions") {
                all.extend(definitions);
            }
            all.insert(name.to_owned(), Value::Object(root));
        }
        Definitions(all)
    }

    pub fn get(&self, name: &str) -> &Value {
        self.0
            .get(name)
            .unwrap_or_else(|| panic!("no schema of {name}"))
    }

    /// The names among which a definition's key chooses: those of `{ NAME = … }`.
    pub fn names(&self, name: &str) -> Vec<String> {
        let choices = self.get(name)["oneOf"].as_array().expect("choices");
        let properties = choices
            .iter()
            .filter_map(|choice| choice["properties"].as_object());
        properties
            .flat_map(|entries| entries.keys().cloned())
            .collect()
    }
}

/// What is known of a key beyond its schema.
pub enum Hint {
    /// Nothing.
    Schema,
    /// It is left out.
    Omit,
    /// It has this value.
    Value(Value),
}

impl<T: Into<Value>> From<T> for Hint {
    fn from(value: T) -> Hint {
        Hint::Value(value.into())
    }
}

/// How likely a key is given that may be left out.
const GIVEN: f64 = 0.4;

impl Draw<'_> {
    /// A value of a definition.
    pub fn named(&mut self, name: &str) -> Value {
        if let Some(value) = self.quantity(name) {
            return value;
        }
        let definitions = self.definitions;
        self.by(definitions.get(name), name)
    }

    /// A value of a schema that stands in the definition `owner`.
    pub fn by(&mut self, schema: &Value, owner: &str) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().expect("a name");
            return self.named(name);
        }
        if let Some(only) = schema["allOf"].as_array() {
            return self.by(&only[0], owner);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.pick(values).clone();
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(choices) = schema[key].as_array() {
                // What a program brings along is nothing that a spec alone can name.
                let choices: Vec<&Value> = choices
                    .iter()
                    .filter(|choice| choice["properties"].get("custom").is_none())
                    .collect();
                let choice = *self.pick(&choices);
                return self.by(choice, owner);
            }
        }
        match schema["type"].as_str() {
            Some("object") => self.object(schema, owner),
            Some("array") => self.list(schema, owner),
            Some("boolean") => self.chance(0.5).into(),
            Some("integer") => {
                let least = schema["minimum"].as_u64().unwrap_or(0);
                let most = schema["maximum"]
                    .as_u64()
                    .unwrap_or(u64::MAX)
                    .min(least + 64);
                self.scaled(least..=most).into()
            }
            Some("number") => self.number(schema).into(),
            _ => panic!("nothing is known of a value in {owner}: {schema}; give it a hint"),
        }
    }

    fn number(&mut self, schema: &Value) -> f64 {
        let low = schema["minimum"].as_f64().unwrap_or(0.0);
        // Of a factor that may be a million only the lower end is of interest.
        let high = schema["maximum"].as_f64().unwrap_or(1.0).min(low + 20.0);
        match self.within(0..=9) {
            0 => low,
            1 if schema.get("exclusiveMaximum").is_none() => high,
            _ => self.share(low, high),
        }
    }

    fn list(&mut self, schema: &Value, owner: &str) -> Value {
        match &schema["items"] {
            Value::Array(items) => items.iter().map(|item| self.by(item, owner)).collect(),
            item => {
                let count = self.within(1..=4);
                (0..count).map(|_| self.by(item, owner)).collect()
            }
        }
    }

    fn object(&mut self, schema: &Value, owner: &str) -> Value {
        let mut drawn = Map::new();
        let required = |key: &str| {
            let keys = schema["required"].as_array();
            keys.is_some_and(|keys| keys.iter().any(|required| required == key))
        };
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            let hint = match devices::hint(self, owner, key) {
                Hint::Schema => load::hint(self, owner, key),
                hint => hint,
            };
            match hint {
                Hint::Value(value) => drop(drawn.insert(key.clone(), value)),
                Hint::Omit => {}
                Hint::Schema if required(key) || self.chance(GIVEN) => {
                    let value = self.by(inner, owner);
                    drawn.insert(key.clone(), value);
                }
                Hint::Schema => {}
            }
        }
        Value::Object(drawn)
    }

    /// A value with a unit, or of a kind that is written by hand.
    fn quantity(&mut self, name: &str) -> Option<Value> {
        Some(match name {
            "Time" if self.chance(0.1) => "0 ms".into(),
            "Time" => self.time(10, 100_000),
            "SignedTime" => format!("{} us", self.within(0..=1_500) as i64 - 300).into(),
            "Size" => self.blocks(1..=300),
            "Rate" => format!("{} MB/s", self.scaled(1..=2_000)).into(),
            "Percent" => format!("{} %", self.within(0..=100)).into(),
            "Portion" => format!("{} %", self.within(1..=99)).into(),
            "Lbn" => self.region.0.into(),
            "Angle" if self.chance(0.3) => "random".into(),
            "Angle" => self.share(0.0, 0.99).into(),
            "WarmUp" => match self.within(0..=2) {
                0 => self.scaled(0..=200).into(),
                1 => format!("{} %", self.within(0..=60)).into(),
                _ => self.time(1_000, 2_000_000),
            },
            "SizeSpec" => load::sizes(self),
            "AddressSpec" => load::address(self),
            "Rotation" => match self.rotation.clone() {
                Some(rotation) => rotation.into(),
                None if self.chance(0.8) => format!("{} rpm", self.within(36..=150) * 100).into(),
                None => format!("{} us", self.within(4_001..=16_667)).into(),
            },
            _ => return None,
        })
    }
}

/// As many blocks as specs write them, for hints.
pub fn blocks(blocks: u64) -> Hint {
    Hint::Value(size(blocks))
}

//! JSON schemas of what is read: the structs that read a text say themselves what they accept.
//!
//! Structs and enums derive theirs. What reads itself by hand writes its own beside that; tests hold both together.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value, json};

/// A quantity that is written as text: `expected` says what is accepted, with examples in quotation marks.
pub(crate) fn text(expected: &str) -> Schema {
    let examples: Vec<&str> = expected.split('"').skip(1).step_by(2).collect();
    json_schema!({
        "type": "string",
        "description": sentence(expected),
        "examples": examples,
    })
}

/// `what` as a sentence.
pub(crate) fn sentence(what: &str) -> String {
    let mut letters = what.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    format!("{first}{}.", letters.as_str())
}

/// A choice by name with parameters, `{ name = … }`.
pub(crate) fn variant(name: &str, description: &str, parameters: &Schema) -> Value {
    json!({
        "type": "object",
        "description": description,
        "properties": { name: parameters },
        "required": [name],
        "additionalProperties": false,
    })
}

/// The schema of what `T` reads, of JSON Schema's draft 7, which editors understand.
pub fn of<T: JsonSchema>(title: &str) -> Value {
    let mut generator = SchemaSettings::draft07().into_generator();
    let schema = generator.root_schema_for::<T>();
    let mut schema = schema.to_value();
    schema["title"] = title.into();
    let optional = optional_tables(&schema);
    let mut schema: Schema = schema.try_into().expect("an object is a schema");
    NoNulls.transform(&mut schema);
    BareNames { optional }.transform(&mut schema);
    schema.to_value()
}

/// The definitions that are tables none of whose keys must be given.
fn optional_tables(schema: &Value) -> Vec<String> {
    let definitions = schema["definitions"].as_object().into_iter().flatten();
    let tables = definitions.filter(|(_, definition)| is_optional_table(definition));
    tables
        .map(|(name, _)| format!("#/definitions/{name}"))
        .collect()
}

fn is_optional_table(schema: &Value) -> bool {
    schema["type"] == "object" && schema.get("required").is_none()
}

/// TOML has no null: what may be left out is left out.
struct NoNulls;

impl Transform for NoNulls {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(object) = schema.as_object_mut() {
            without_null(object);
        }
        transform_subschemas(self, schema);
    }
}

fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice["type"] != "null");
    if let [only] = choices.as_slice() {
        let only = json!([only]);
        object.remove("anyOf");
        object.insert("allOf".into(), only);
    }
}

/// A choice all of whose parameters have defaults may be written as its bare name.
struct BareNames {
    optional: Vec<String>,
}

impl BareNames {
    /// The bare name that stands for a choice with parameters, if it may.
    fn bare(&self, choice: &Value) -> Option<Value> {
        let properties = choice["properties"].as_object()?;
        let (name, parameters) = properties.iter().next()?;
        if properties.len() != 1 || choice["required"] != json!([name]) {
            return None;
        }
        let reference = parameters["$ref"].as_str();
        let known = reference.is_some_and(|to| self.optional.iter().any(|table| table == to));
        (known || is_optional_table(parameters)).then(|| {
            let mut bare = json!({ "type": "string", "const": name });
            if let Some(description) = choice.get("description") {
                bare["description"] = description.clone();
            }
            bare
        })
    }
}

impl Transform for BareNames {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::Array(choices)) = schema.get_mut("oneOf") {
            let bare: Vec<Value> = choices
                .iter()
                .filter_map(|choice| self.bare(choice))
                .collect();
            choices.splice(0..0, bare);
        }
        transform_subschemas(self, schema);
    }
}

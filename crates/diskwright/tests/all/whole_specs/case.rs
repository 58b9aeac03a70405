//! A spec with the files that it names: what is run, shrunk and shown.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use diskwright::base::units::{Lbn, Time};
use diskwright::engine::request::Op;
use diskwright::workload::{FORMATS, Losses, Output, Record};
use serde_json::{Map, Value, json};

use super::load::traces;
use crate::support::{SpecSource, from_text_in};

/// A spec and its files, each by its name: `{ drive = { … } }`, `{ text = "…" }`, or `{ format = "…", rows = [[ns, op, lbn, blocks, fua], …] }`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    pub spec: Value,
    pub files: Map<String, Value>,
}

impl Case {
    /// The case as one value, to be shrunk.
    pub fn whole(&self) -> Value {
        json!({ "spec": self.spec, "files": self.files })
    }

    /// What [`Self::whole`] made.
    pub fn of(whole: Value) -> Option<Case> {
        let spec = whole.get("spec")?.clone();
        let files = whole.get("files")?.as_object()?.clone();
        // What nothing names any more is no part of it.
        let text = spec.to_string();
        let files = files
            .into_iter()
            .filter(|(name, _)| text.contains(name.as_str()))
            .collect();
        Some(Case { spec, files })
    }

    /// Adds a file; its name in the spec.
    pub fn add(&mut self, ending: &str, content: Value) -> String {
        let name = format!("file{}{ending}", self.files.len());
        self.files.insert(name.clone(), content);
        name
    }

    /// Writes the files into a folder, and is what runs there; `None` where a file has no sense, as after a step of shrinking.
    pub fn place(&self, folder: &Path) -> Option<SpecSource> {
        for (name, content) in &self.files {
            let path = folder.join(name);
            if let Some(drive) = content.get("drive") {
                fs::write(&path, toml::to_string(drive).ok()?).expect("written");
            } else if let Some(text) = content.get("text") {
                fs::write(&path, text.as_str()?).expect("written");
            } else {
                write_trace(content, &path)?;
            }
        }
        Some(from_text_in(toml::to_string(&self.spec).ok()?, folder))
    }

    /// The case as a text from which it can be built again.
    pub fn shown(&self) -> String {
        let mut text = self.spec_text();
        for (name, content) in &self.files {
            let shown = text_of(content).unwrap_or_else(|| content.to_string());
            let _ = write!(text, "--- {name}\n{shown}\n");
        }
        text
    }

    fn spec_text(&self) -> String {
        toml::to_string(&self.spec).unwrap_or_else(|error| format!("{error}: {}", self.spec))
    }

    /// Writes the case into a folder, to be run there: the spec as `spec.toml`.
    pub fn write(&self, folder: &Path) {
        fs::write(folder.join("spec.toml"), self.spec_text()).expect("written");
        self.place(folder);
    }
}

/// The text of a file that has one.
fn text_of(content: &Value) -> Option<String> {
    match content.get("drive") {
        Some(drive) => Some(toml::to_string(drive).unwrap_or_else(|_| drive.to_string())),
        None => content
            .get("text")
            .and_then(Value::as_str)
            .map(str::to_owned),
    }
}

/// The records that the rows of a trace stand for.
fn records(rows: &Value) -> Option<Vec<Record>> {
    let row = |row: &Value| {
        let op = match row[1].as_str()? {
            "read" => Op::Read,
            "write" => Op::Write,
            "flush" => Op::Flush,
            _ => Op::Trim,
        };
        let moves = !matches!(op, Op::Flush);
        Some(Record {
            arrival: Time::from_ns(row[0].as_u64()?),
            device: 0,
            op,
            fua: op == Op::Write && row[4].as_bool()?,
            lbn: Lbn(if moves { row[2].as_u64()? } else { 0 }),
            blocks: if moves { row[3].as_u64()? as u32 } else { 0 },
            recorded: None,
        })
    };
    rows.as_array()?.iter().map(row).collect()
}

fn write_trace(content: &Value, path: &Path) -> Option<()> {
    let records = records(&content["rows"])?;
    let name = content["format"].as_str()?;
    if let Some(bytes) = traces::by_hand(name, &records) {
        fs::write(path, bytes).expect("written");
        return Some(());
    }
    let writing = FORMATS
        .iter()
        .find(|format| format.name == name)?
        .write
        .as_ref()?;
    let mut writer = (writing.create)(Output::create(path).ok()?).ok()?;
    let mut losses = Losses::default();
    for record in &records {
        if let Some(fitted) = writing.holds.fit(record, &mut losses).ok()? {
            writer.write(&fitted).ok()?;
        }
    }
    writer.finish().and_then(Output::finish).ok()
}

//! An imported drive as the text of a drive's file, and a system as that of a spec.

use std::fmt::Write;

use serde::Serialize;
use serde_json::json;

use super::convert::{Import, SsdImport};
use super::whole::Whole;
use crate::config::spec::HostSpec;
use crate::devices::hdd::spec::QueueSpec;

/// The longest line, in characters.
const WIDTH: usize = 110;

/// The drive as TOML, with the warnings of its import before it and the set-up around it, as a spec has that, after it, both
/// as comments.
pub fn to_toml(import: &Import) -> String {
    let around = Queues {
        host: &import.settings.host,
        device: Device {
            hdd: Hdd {
                buffer: true,
                queue: &import.settings.queue,
            },
        },
    };
    drive_to_toml(&import.warnings, &import.drive, &around)
}

/// The same of an SSD.
pub fn ssd_to_toml(import: &SsdImport) -> String {
    let around = json!({ "host": import.settings.host });
    drive_to_toml(&import.warnings, &import.drive, &around)
}

fn drive_to_toml(warnings: &[String], drive: &impl Serialize, around: &impl Serialize) -> String {
    let mut text = String::new();
    if !warnings.is_empty() {
        comment(&mut text, "The import of this drive has these warnings:");
        for warning in warnings {
            comment(&mut text, &format!("- {warning}"));
        }
        text.push('\n');
    }
    let drive = toml::to_string(drive)
        .expect("a drive's description has only keys and values that TOML has");
    for line in drive.lines() {
        push_line(&mut text, line);
    }
    let around = toml::to_string(around).expect("a host has only keys and values that TOML has");
    text.push('\n');
    comment(&mut text, "In a spec, the set-up around the drive is:");
    for line in around.lines() {
        comment(&mut text, line);
    }
    text
}

/// A system as the spec of its devices, with the warnings of its import before it. The load is left to be said, with the places of a
/// trace's devices.
pub fn to_spec(whole: &Whole) -> String {
    let mut text = String::new();
    if !whole.warnings.is_empty() {
        comment(&mut text, "The import of this system has these warnings:");
        for warning in &whole.warnings {
            comment(&mut text, &format!("- {warning}"));
        }
        text.push('\n');
    }
    let places = json!({ "workload": { "devices": whole.places } });
    let places = toml::to_string(&places).expect("places have only keys and values that TOML has");
    comment(&mut text, "A trace with these devices may be the load:");
    for line in places.lines() {
        comment(&mut text, line);
    }
    text.push('\n');
    let spec = json!({ "measure": whole.measure, "device": whole.device });
    let spec = toml::to_string(&spec).expect("devices have only keys and values that TOML has");
    text.push_str(&spec);
    text
}

#[derive(Serialize)]
struct Queues<'i> {
    host: &'i HostSpec,
    device: Device<'i>,
}

#[derive(Serialize)]
struct Device<'i> {
    hdd: Hdd<'i>,
}

#[derive(Serialize)]
struct Hdd<'i> {
    buffer: bool,
    queue: &'i QueueSpec,
}

fn comment(text: &mut String, line: &str) {
    for line in line.lines() {
        // A control character would end the comment, or the file's being TOML.
        let line: String = line
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        writeln!(text, "# {line}").expect("a string takes all");
    }
}

/// Adds a line; a long list gets lines of its own.
fn push_line(text: &mut String, line: &str) {
    let list = line
        .split_once(" = [")
        .and_then(|(key, rest)| Some((key, rest.strip_suffix(']')?)));
    let Some((key, items)) = list.filter(|(_, items)| line.len() > WIDTH && !items.contains('"'))
    else {
        text.push_str(line);
        text.push('\n');
        return;
    };
    writeln!(text, "{key} = [").expect("a string takes all");
    let mut row = String::from("   ");
    for item in split(items) {
        if row.len() + item.len() + 2 > WIDTH {
            writeln!(text, "{row}").expect("a string takes all");
            row.truncate(3);
        }
        write!(row, " {item},").expect("a string takes all");
    }
    writeln!(text, "{row}\n]").expect("a string takes all");
}

/// The items of a list without texts, at the commas outside of inner lists.
fn split(items: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    items
        .split(move |c| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
        .map(str::trim)
}

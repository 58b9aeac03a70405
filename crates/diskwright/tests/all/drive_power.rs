//! The handbook's tables of what drives draw have the figures of the drives' files.

use diskwright::devices::drives;
use serde_json::Value;

use crate::support::simulation;

/// What a column shows: a key under `power`, and of it one more, or nothing.
type Column = (&'static str, &'static [&'static str]);

const OF_DISKS: [Column; 10] = [
    ("idle", &[""]),
    ("seek", &[""]),
    ("read", &[""]),
    ("write", &[""]),
    ("idle_a", &["power"]),
    ("idle_b", &["power"]),
    ("idle_c", &["power"]),
    ("standby_z", &["power"]),
    ("standby_z", &["enter.time"]),
    ("standby_z", &["leave.time", "leave.power", "leave.peak"]),
];
const OF_SSDS: [Column; 7] = [
    ("idle", &[""]),
    ("read", &[""]),
    ("write", &[""]),
    ("slumber", &["power"]),
    ("slumber", &["leave.time"]),
    ("devsleep", &["power"]),
    ("devsleep", &["leave.time"]),
];

/// Whether a drive's file calls a figure an estimate.
fn is_estimate(description: &Value, key: &str) -> bool {
    let texts = description["estimated"].as_array().into_iter().flatten();
    let names = |text: &str| {
        text.match_indices(key).any(|(at, _)| {
            let behind = text[at + key.len()..].chars().next();
            !behind.is_some_and(|next| next.is_alphanumeric() || "._".contains(next))
        })
    };
    texts.filter_map(Value::as_str).any(names)
}

fn cell(description: &Value, (key, parts): Column) -> String {
    let mut values = Vec::new();
    let mut is_estimated = false;
    for part in parts {
        let pointer = format!("/power/{key}/{}", part.replace('.', "/"));
        let value = description.pointer(pointer.trim_end_matches('/'));
        if let Some(value) = value.and_then(Value::as_str) {
            values.push(value.to_owned());
            // A way's time and power have one name in the files.
            let way = part.split('.').next().unwrap_or_default();
            let of_way = [format!("power.{key}.{part}"), format!("power.{key}.{way}")];
            let name = match *part {
                "" | "power" => vec![format!("power.{key}")],
                _ => of_way.to_vec(),
            };
            is_estimated |= name.iter().any(|name| is_estimate(description, name));
        }
    }
    match (values.is_empty(), is_estimated) {
        (true, _) => "–".to_owned(),
        (false, true) => format!("{}*", values.join(", ")),
        (false, false) => values.join(", "),
    }
}

#[test]
fn the_handbook_lists_what_drives_draw() {
    let page = include_str!("../../../../docs/drives.md");
    let (_, tables) = page.split_once("## Power").expect("the section");
    let tables = tables.split("\n## ").next().expect("its text");
    let mut listed = 0;
    for (kind, columns) in [("hdd", &OF_DISKS[..]), ("ssd", &OF_SSDS[..])] {
        for name in drives::names_of(kind) {
            let summary = simulation::drive_summary(name).expect("a drive");
            let description = &summary["description"];
            if description["power"].is_null() {
                let begins = format!("| `{name}` |");
                assert!(!tables.contains(&begins), "{name} has no figures");
                continue;
            }
            let cells: Vec<String> = columns
                .iter()
                .map(|&column| cell(description, column))
                .collect();
            let row = format!("| `{name}` | {} |", cells.join(" | "));
            assert!(tables.contains(&row), "the table lacks\n{row}");
            listed += 1;
        }
    }
    let rows = tables
        .lines()
        .filter(|line| line.starts_with("| `"))
        .count();
    assert_eq!(rows, listed);
}

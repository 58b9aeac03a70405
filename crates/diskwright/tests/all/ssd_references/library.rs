//! The SSDs that come with diskwright.

use diskwright::devices::drives;
use serde_json::{Value, json};

use crate::support::{run as run_checked, simulation};

fn summary(name: &str) -> Value {
    simulation::drive_summary(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_ssd_names_its_sources_and_is_in_the_handbook() {
    let page = include_str!("../../../../../docs/drives.md");
    for name in drives::names_of("ssd") {
        let summary = summary(name);
        assert_eq!(summary["kind"], "ssd");
        for key in ["source", "estimated"] {
            let texts = summary["description"][key].as_array();
            assert!(
                texts.is_some_and(|texts| !texts.is_empty()),
                "{name}: {key}"
            );
        }
        let digits = summary["capacity_blocks"].to_string();
        let groups: Vec<&str> = digits
            .as_bytes()
            .rchunks(3)
            .rev()
            .map(|group| std::str::from_utf8(group).expect("digits"))
            .collect();
        let product = summary["name"].as_str().expect("a name");
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` | {product}")));
        let row = row.unwrap_or_else(|| panic!("no row of {name}"));
        assert!(row.contains(&format!("| {} |", groups.join(" "))), "{row}");
    }
}

/// Reads, writes, trims and flushes of all sizes, some of them forced, on a drive with fewer blocks, and a power cut.
#[test]
fn every_ssd_serves_a_mixture_with_the_checker_on() {
    for name in drives::names_of("ssd") {
        let mut flash = summary(name)["description"]["flash"].clone();
        let reserved = &summary(name)["description"]["spare"]["reserved"];
        let reserved = reserved.as_u64().expect("a number").min(8);
        flash["blocks"] = json!(32 + reserved);
        flash["pages"] = json!(16);
        let mut spec = json!({
            "workload": { "synthetic": {
                "requests": 3_000,
                "arrivals": { "closed": { "users": 16 } },
                "size": [{ "size": "3 blocks", "share": 0.3 }, { "size": "4 KiB", "share": 0.4 }, { "size": "64 KiB", "share": 0.3 }],
                "reads": 0.4, "trims": 0.05, "flushes": 0.02, "fua": 0.05,
            } },
            "host": { "outstanding": 16 },
            "device": { "ssd": { "drive": name, "flash": flash, "spare": { "share": "35 %", "reserved": reserved } } },
            "fault": [{ "at": "40 ms", "kind": "power-cut" }],
        });
        // As large a part of it in SLC mode.
        let slc = &summary(name)["description"]["slc"];
        if slc.is_object() {
            let mut slc = slc.clone();
            (slc["pages"], slc["fixed"], slc["dynamic"]) = (json!(5), json!(1), json!(9));
            spec["device"]["ssd"]["slc"] = slc;
        }
        // Where cleaning begins early, blocks enough for that.
        let begin = &summary(name)["description"]["cleaning"]["begin"];
        if begin.as_u64().expect("a number") > 4 {
            let mut cleaning = summary(name)["description"]["cleaning"].clone();
            cleaning["begin"] = json!(4);
            cleaning["stop"] = json!(4);
            spec["device"]["ssd"]["cleaning"] = cleaning;
        }
        let result = run_checked(&toml::to_string(&spec).expect("plain data"));
        assert!(
            result["requests"]["completed"].as_u64() > Some(10),
            "{name}"
        );
    }
}

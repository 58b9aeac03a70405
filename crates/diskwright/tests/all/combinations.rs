//! Every feature with every other one: each pair runs a random load with the checker on, or is refused for a reason that is known.
//!
//! ```sh
//! cargo test --test all combinations -- --nocapture        # prints the table
//! DISKWRIGHT_BLESS=1 cargo test --test all combinations    # writes it into docs/features.md
//! ```

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::support::{checked, from_text_in, outcome_of, root};

/// A feature: what it puts into the table of every disk, or around them.
struct Feature {
    /// Its name in the table.
    name: &'static str,
    /// Features with the same one are alternatives of one key, and do not meet.
    key: &'static str,
    put: Put,
}

enum Put {
    /// Keys of the disk.
    Disk(fn() -> Value),
    /// The layout of an array of two such disks.
    Array(fn() -> Value),
    /// What goes wrong, by the path of the (first) disk.
    Fault(fn(&str) -> Value),
}

const FEATURES: &[Feature] = &[
    Feature {
        name: "reordering",
        key: "scheduler",
        put: Put::Disk(|| json!({ "queue": { "scheduler": { "ncq": { "timeout": "0.2 s" } } } })),
    },
    Feature {
        name: "clustering",
        key: "clustering",
        put: Put::Disk(|| json!({ "queue": { "clustering": "64 blocks" } })),
    },
    Feature {
        name: "segmented buffer",
        key: "buffer",
        put: Put::Disk(|| {
            json!({ "buffer": {
                "segments": 4, "segment_size": "96 blocks", "read_ahead": { "least": "16 blocks" },
                "write": { "complete": "buffered" },
            } })
        }),
    },
    Feature {
        name: "pool, write cache on",
        key: "buffer",
        put: Put::Disk(|| json!({ "buffer": pool(&json!({})), "write_cache": true })),
    },
    Feature {
        name: "pool, persistent memory",
        key: "buffer",
        put: Put::Disk(|| {
            let kept = json!({ "persistent": { "memory": "64 KiB" } });
            json!({ "buffer": pool(&kept), "write_cache": false })
        }),
    },
    Feature {
        name: "pool, persistent regions",
        key: "buffer",
        put: Put::Disk(|| {
            let kept = json!({ "memory": "64 KiB", "region": { "count": 2, "size": "96 KiB" } });
            json!({ "buffer": pool(&json!({ "persistent": kept })), "write_cache": false })
        }),
    },
    Feature {
        name: "write-through cache",
        key: "cache",
        put: Put::Disk(
            || json!({ "cache": { "size": "256 KiB", "block_size": "4 KiB", "policy": "arc" } }),
        ),
    },
    Feature {
        name: "write-back cache",
        key: "cache",
        put: Put::Disk(
            || json!({ "cache": { "size": "256 KiB", "block_size": "16 KiB", "policy": "atca", "write_policy": "write-back" } }),
        ),
    },
    Feature {
        name: "arms, one at a time",
        key: "arms",
        put: Put::Disk(
            || json!({ "arms": { "motion": "one-at-a-time", "arm": [{}, { "angle": 0.5 }] } }),
        ),
    },
    Feature {
        name: "independent arms",
        key: "arms",
        put: Put::Disk(
            || json!({ "arms": { "motion": "independent", "arm": [{}, { "angle": 0.5 }] } }),
        ),
    },
    Feature {
        name: "access ranges",
        key: "drive",
        put: Put::Disk(|| json!({ "drive": "two-ranges.toml" })),
    },
    Feature {
        name: "log",
        key: "placement",
        put: Put::Disk(|| json!({ "placement": { "eager": { "reserve": 0.3 } } })),
    },
    Feature {
        name: "log, cleaned when idle",
        key: "placement",
        put: Put::Disk(|| {
            json!({ "placement": { "eager": {
                "reserve": 0.3, "cleaner": { "idle": { "after": "2 ms", "empty": 0.3 } },
            } } })
        }),
    },
    Feature {
        name: "stripe",
        key: "array",
        put: Put::Array(|| json!({ "stripe": { "unit": "24 blocks" } })),
    },
    Feature {
        name: "mirror",
        key: "array",
        put: Put::Array(|| json!("mirror")),
    },
    Feature {
        name: "concat",
        key: "array",
        put: Put::Array(|| json!("concat")),
    },
    Feature {
        name: "power cut",
        key: "fault",
        put: Put::Fault(|_| json!("power-cut")),
    },
    Feature {
        name: "media errors",
        key: "fault",
        put: Put::Fault(
            |disk| json!({ "media-error": { "device": disk, "from": 800, "blocks": 400 } }),
        ),
    },
    Feature {
        name: "failing disk",
        key: "fault",
        put: Put::Fault(|disk| json!({ "fail": disk })),
    },
];

/// A pool that reads ahead, and what else it has.
fn pool(more: &Value) -> Value {
    let mut pool = json!({
        "size": "256 KiB", "extent": "4 KiB", "hit_overhead": "0.05 ms",
        "read_ahead": { "streams": 4, "most": "32 KiB" }, "write_cache": { "share": 0.25 },
    });
    merge(&mut pool, more.clone());
    pool
}

/// What has no physical meaning: words of the message, and the reason for a reader of the table.
const REFUSED: &[(&str, &str)] = &[
    (
        "a segmented buffer on a drive with several arms",
        "A segmented buffer is the firmware of drives with one arm: it knows one place where the head is.",
    ),
    (
        "a segmented buffer on a drive with data in a log",
        "A segmented buffer reads ahead and destages by LBN, where neighbours are neighbours on the medium; in a log they are not.",
    ),
    (
        "may put a block anywhere",
        "A log may put a block anywhere, but with access ranges each arm reaches only a part of the drive.",
    ),
];

/// What a pair came to.
enum Found {
    /// It ran with the checker on.
    Runs,
    /// It is refused for the reason of this number.
    Refused(usize),
    /// Alternatives of one key.
    Alternatives,
}

/// Puts the values of `from` over those of `into`, tables by their keys.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// A random load on disks with both features.
fn spec(features: &[&Feature], seed: u64) -> String {
    let mut disk = json!({ "drive": "tiny.toml" });
    let mut layout = None;
    for feature in features {
        match feature.put {
            Put::Disk(keys) => merge(&mut disk, keys()),
            Put::Array(of) => layout = Some(of()),
            Put::Fault(_) => {}
        }
    }
    let (device, path) = match layout {
        Some(layout) => {
            let members = json!([{ "hdd": disk }, { "hdd": disk }]);
            (
                json!({ "array": { "layout": layout, "member": members } }),
                "array.member[0].hdd",
            )
        }
        None => (json!({ "hdd": disk }), "hdd"),
    };
    let fault = features.iter().filter_map(|feature| match feature.put {
        Put::Fault(kind) => Some(json!({ "at": "1.5 s", "kind": kind(path) })),
        _ => None,
    });
    let fault: Vec<Value> = fault.collect();
    let mut spec = json!({
        "seed": seed,
        "workload": { "synthetic": {
            "requests": 500,
            "arrivals": { "closed": { "users": 6, "think": "3 ms" } },
            "reads": 0.5, "flushes": 0.02, "trims": 0.03, "fua": 0.1,
            "size": [{ "size": "8 blocks", "share": 0.6 }, { "size": "40 blocks", "share": 0.4 }],
            "address": { "uniform": { "from": 0, "blocks": 3000 } },
        } },
        "device": device,
    });
    if !fault.is_empty() {
        spec["fault"] = fault.into();
    }
    toml::to_string(&spec).expect("plain data")
}

fn run(features: &[&Feature], seed: u64) -> Found {
    let folder = root().join("crates/diskwright/tests/golden/drives");
    let text = spec(features, seed);
    match outcome_of(&from_text_in(text.as_str(), folder), &checked()) {
        Ok(outcome) => {
            let fails = features.iter().any(|feature| feature.key == "fault");
            assert!(fails || outcome.completed() >= 500, "{text}");
            Found::Runs
        }
        Err(error) => {
            let message = error.to_string();
            let known = REFUSED
                .iter()
                .position(|(words, _)| message.contains(words));
            Found::Refused(known.unwrap_or_else(|| panic!("{message}\n{text}")))
        }
    }
}

/// The table, with the reasons below it.
fn table() -> String {
    let mut reasons: Vec<usize> = Vec::new();
    let names: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
    let mut text = format!(
        "| | {} |\n|---|{}\n",
        names.join(" | "),
        ":-:|".repeat(names.len())
    );
    for (row, one) in FEATURES.iter().enumerate() {
        let _ = write!(text, "| **{}** |", one.name);
        for (column, other) in FEATURES.iter().enumerate() {
            let found = match (row == column, one.key == other.key) {
                (true, _) => run(&[one], 1),
                (_, true) => Found::Alternatives,
                _ => {
                    run(&[one, other], 1);
                    run(&[one, other], 2)
                }
            };
            let cell = match found {
                Found::Runs => "✓".to_owned(),
                Found::Alternatives => "or".to_owned(),
                Found::Refused(reason) => {
                    let known = reasons.iter().position(|&told| told == reason);
                    let number = known.unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                    format!("[{}](#reasons)", number + 1)
                }
            };
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text.push_str("\n## Reasons\n\n");
    for (number, reason) in (1..).zip(reasons) {
        let _ = writeln!(text, "{number}. {}", REFUSED[reason].1);
    }
    text
}

const BEGIN: &str = "<!-- the table: made by the tests -->\n";

#[test]
fn every_pair_of_features_runs_or_is_refused_with_reason() {
    let table = table();
    println!("{table}");
    let page = root().join("docs/features.md");
    let text = fs::read_to_string(&page).expect("the page");
    let (above, below) = text.split_once(BEGIN).expect("the place of the table");
    if std::env::var_os("DISKWRIGHT_BLESS").is_some() {
        fs::write(&page, format!("{above}{BEGIN}\n{table}")).expect("written");
    } else {
        assert_eq!(
            below.trim(),
            table.trim(),
            "docs/features.md: write it with DISKWRIGHT_BLESS=1"
        );
    }
}

/// Three at a time, of those whose pairs all run.
#[test]
fn features_run_in_threes() {
    let mut ran = 0;
    for (a, one) in FEATURES.iter().enumerate() {
        for (b, two) in FEATURES.iter().enumerate().skip(a + 1) {
            for three in FEATURES.iter().skip(b + 1) {
                let keys = [one.key, two.key, three.key];
                let distinct = keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2];
                if distinct && let Found::Runs = run(&[one, two, three], 3) {
                    ran += 1;
                }
            }
        }
    }
    assert!(ran > 200, "{ran}");
}

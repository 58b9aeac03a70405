//! Synthetic clones of published tables: what is measured of them is what the tables say.

use std::path::{Path, PathBuf};

use crate::support::{RunOptions, from_text_in, outcome_of, setting};
use diskwright::workload::{FormatOptions, InspectOptions, Inspection, inspect};

fn example(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("examples/synthetic-clone").join(name)
}

fn measured(path: &Path, seed: u64) -> Inspection {
    let mut format = FormatOptions::default();
    format.synthetic_clone.seed = Some(seed);
    let options = InspectOptions {
        format,
        ..InspectOptions::default()
    };
    inspect(path, &options, &mut ()).unwrap()
}

/// Requests and blocks of the working set, of random and sequential requests, of reads and of writes.
type Table = [(u64, u64); 5];

fn table(seen: &Inspection) -> Table {
    let all = &seen.all;
    [
        (all.working_set_requests, all.working_set_blocks),
        (all.random_requests, all.random_blocks),
        (all.sequential_requests, all.sequential_blocks),
        (all.reads, all.read_blocks),
        (all.writes, all.write_blocks),
    ]
}

const SMALLDISKMON: Table = [
    (41_819, 1_956_272),
    (57_166, 1_872_624),
    (15_656, 1_756_502),
    (31_208, 992_172),
    (41_614, 2_636_954),
];
const PCFAT32: Table = [
    (204_386, 7_484_939),
    (437_742, 10_417_692),
    (199_145, 14_561_873),
    (414_498, 14_724_779),
    (222_389, 10_254_786),
];

#[test]
fn the_published_tables_come_back_exactly_from_every_seed() {
    for seed in [1, 2] {
        let seen = measured(&example("smalldiskmon.toml"), seed);
        assert_eq!(
            (table(&seen), seen.format.as_str()),
            (SMALLDISKMON, "synthetic-clone")
        );
    }
    assert_eq!(table(&measured(&example("pcfat32.toml"), 1)), PCFAT32);
}

/// Runs a spec with this workload in the examples' folder.
fn run(workload: &str, set: &[&str]) -> Result<serde_json::Value, String> {
    let text = format!(
        "[workload]\n{workload}\nlimit = 2_000\npace = \"closed\"\n[measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\n"
    );
    let spec = from_text_in(text, example(""));
    let options = RunOptions {
        check: true,
        ..setting(set)
    };
    let outcome = outcome_of(&spec, &options);
    outcome
        .map(|outcome| outcome.json().clone())
        .map_err(|error| error.to_string())
}

#[test]
fn a_spec_makes_a_synthetic_clone_from_its_seed_and_its_parameters() {
    let named = "synthetic-clone = \"smalldiskmon.toml\"";
    let digest = |set: &[&str]| run(named, set).unwrap()["digest"].clone();
    let first = digest(&[]);
    assert_eq!(first, digest(&["seed=1"]));
    assert_ne!(first, digest(&["seed=2"]));
    let varied = "synthetic-clone = { profile = \"smalldiskmon.toml\", small_share = 0.7 }";
    let of_table = |set: &[&str]| run(varied, set).unwrap();
    assert_ne!(first, of_table(&[])["digest"]);
    let set = of_table(&["workload.synthetic-clone.small_share=0.75"]);
    assert_ne!(set["digest"], of_table(&[])["digest"]);
    assert_eq!(set["requests"]["issued"], 2_000);
    assert_eq!(
        set["spec"]["workload"]["synthetic-clone"]["small_share"],
        0.75
    );
    // As a trace it has the spec's seed too.
    let trace = run("trace = \"smalldiskmon.toml\"", &["seed=2"]).unwrap();
    assert_eq!(trace["digest"], digest(&["seed=2"]));
}

#[test]
fn what_is_wrong_with_a_synthetic_clone_is_told() {
    for (workload, expected) in [
        (
            "synthetic-clone = \"none.toml\"",
            "a profile's path starts at the spec's folder",
        ),
        (
            "synthetic-clone = { profile = \"smalldiskmon.toml\", theta = -1 }",
            "theta is -1",
        ),
        (
            "synthetic-clone = { profile = \"smalldiskmon.toml\", thetta = 1 }",
            "theta",
        ),
        (
            "synthetic-clone = \"../demo.toml\"",
            "neither a table [counts]",
        ),
        (
            "synthetic-clone = \"smalldiskmon.toml\"\ndevice = 0",
            "workload.device is about a recorded trace",
        ),
    ] {
        let error = run(workload, &[]).unwrap_err();
        assert!(error.contains(expected), "{workload}: {error}");
    }
}

#[test]
fn a_measured_profile_has_no_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.csv");
    std::fs::write(&trace, "time_s,lbn,blocks,op\n0,0,8,r\n1,8,8,w\n2,0,8,r\n").unwrap();
    let profile = folder.path().join("t.toml");
    let options = InspectOptions {
        profile: Some(profile.clone()),
        ..InspectOptions::default()
    };
    inspect(&trace, &options, &mut ()).unwrap();
    let mut format = FormatOptions::default();
    assert_eq!(measured(&profile, 3).all.requests, 3);
    format.synthetic_clone.parameters.theta = Some(0.5);
    let options = InspectOptions {
        format,
        ..InspectOptions::default()
    };
    let error = inspect(&profile, &options, &mut ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("theta is about a table of counts"),
        "{error}"
    );
}

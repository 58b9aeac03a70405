//! Synthetic loads through the whole simulation: what was published stays, streams have their users, job files show what
//! became of them.

use std::path::Path;

use crate::support::{RunOptions, SpecSource, checked, from_file, from_text_in, outcome_of};
use serde_json::Value;

const DEVICE: &str = "[measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\n";

fn result(source: &SpecSource) -> Value {
    outcome_of(source, &checked())
        .unwrap_or_else(|error| panic!("{source:?}\n{error}"))
        .json()
}

fn of_text(workload: &str, base: &Path) -> Value {
    result(&from_text_in(format!("{workload}\n{DEVICE}"), base))
}

#[test]
fn the_examples_have_the_digests_they_had() {
    for (example, digest) in [
        ("demo", "10907fe6a0d5db16dc1c4eecb7d8b28f"),
        ("queue", "d1bfeeb07d7a21974c9c322264f987cf"),
    ] {
        let path = format!(
            "{}/../../examples/{example}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        let options = RunOptions {
            set: vec!["device.hdd.buffer=false".to_owned()],
            ..checked()
        };
        let result = outcome_of(&from_file(path), &options);
        let result = result.expect("an example runs").json();
        assert_eq!(result["digest"], digest, "{example}");
    }
}

#[test]
fn users_of_several_streams_end_with_their_own_stream() {
    // The thinking stream lasts longer than the other, whose users must not go on with its requests.
    let text = "[[workload.synthetic.stream]]\nname = \"busy\"\nrequests = 500\narrivals = { closed = { users = 4 } }\naddress = { uniform = { blocks = 100_000 } }\n[[workload.synthetic.stream]]\nname = \"slow\"\nrequests = 50\narrivals = { closed = { users = 1, think = \"1 s\" } }\nreads = 0.0\nflush_every = 4\naddress = { uniform = { from = 100_000 } }\n";
    let result = of_text(text, Path::new(""));
    assert_eq!(result["requests"]["completed"], 550);
    let seconds = result["simulated_s"].as_f64().expect("a number");
    // The one slow user thinks 49 times between 50 requests of well below 100 ms each.
    assert!((49.0..54.0).contains(&seconds), "{seconds}");
    let again = of_text(text, Path::new(""));
    assert_eq!(result["digest"], again["digest"]);
    assert_eq!(
        result["spec"]["workload"]["synthetic"]["stream"][1]["name"],
        "slow"
    );
}

#[test]
fn thinking_times_may_be_drawn() {
    let load = |think: &str| {
        let text = format!(
            "[workload.synthetic]\nrequests = 2000\narrivals = {{ closed = {{ users = 1, think = {think} }} }}\n"
        );
        of_text(&text, Path::new(""))["simulated_s"]
            .as_f64()
            .expect("a number")
    };
    let constant = load("\"100 ms\"");
    let drawn = load("{ exponential = \"100 ms\" }");
    // The sum of 1,999 exponential times of 100 ms deviates by 100 ms √1999, about 4.5 s.
    assert!(
        (constant - drawn).abs() < 5.0 * 4.5,
        "{constant} and {drawn}"
    );
    assert!(
        (constant - drawn).abs() > 0.01,
        "drawn times are not all the same"
    );
}

#[test]
fn every_kind_of_request_goes_through() {
    let text = "[workload.synthetic]\nrequests = 2000\narrivals = { on-off = { on = \"50 ms\", off = \"200 ms\", gap = \"5 ms\" } }\nreads = 0.4\ntrims = 0.1\nflushes = 0.1\nfua = 0.5\naddress = \"hot-cold\"\n";
    let result = of_text(text, Path::new(""));
    assert_eq!(result["requests"]["completed"], 2000);
}

#[test]
fn the_result_shows_what_a_job_file_became() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = "[global]\nend_fsync=1\n[a]\nrw=randrw\nrwmixread=70\nsize=2m\niodepth=4\nioengine=libaio\n[b]\nrw=write\nsize=1m\nfsync=8\n";
    std::fs::write(folder.path().join("job.fio"), job).expect("a file");
    let shown = of_text("[workload]\nfio = \"job.fio\"", folder.path());
    assert_eq!(shown["requests"]["completed"], 512 + 256 + 32);
    let workload = &shown["spec"]["workload"];
    assert!(workload.get("fio").is_none());
    assert_eq!(workload["synthetic"]["stream"][0]["reads"], 0.7);
    let warnings = shown["warnings"].to_string();
    assert!(
        warnings.contains("job.fio:2: not modelled: end_fsync=1"),
        "{warnings}"
    );
    // What is shown can be run, and is the same load.
    let table = serde_json::json!({ "workload": workload });
    let text = toml::to_string(&table).expect("a table");
    assert_eq!(of_text(&text, folder.path())["digest"], shown["digest"]);
}

#[test]
fn a_job_file_that_is_not_there_is_named_where_the_spec_names_it() {
    let source = from_text_in(
        format!("[workload]\nfio = \"nowhere.fio\"\n{DEVICE}"),
        "/base",
    );
    let error = outcome_of(&source, &RunOptions::default())
        .expect_err("the file is not there")
        .to_string();
    assert!(
        error.contains("/base/nowhere.fio") && error.contains("spec:2:7"),
        "{error}"
    );
}

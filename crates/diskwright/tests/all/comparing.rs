//! Variants side by side: the same seeds, the figures of the runs themselves, and what is said of runs that do not differ.

use std::path::Path;

use crate::support::{RunOptions, from_text, outcome_of};
use diskwright::base::error::Error;
use diskwright::metrics::interval::ci95;
use diskwright::runs::compare::{CompareOptions, Comparison, compare};
use serde_json::{Value, json};

const SPEC: &str = "seed = 7\n[workload.synthetic]\nrequests = 600\narrivals = { closed = { users = 16, think = \"0 ms\" } }\n\
    size = \"8 blocks\"\n[measure]\nwarmup = \"10 %\"\n[device.hdd]\ndrive = \"ibm-18es\"\n";

fn options(vary: &[&str], seeds: u32) -> CompareOptions {
    CompareOptions {
        vary: vary.iter().map(|text| (*text).to_owned()).collect(),
        seeds,
        ..CompareOptions::default()
    }
}

fn compared(text: &str, options: &CompareOptions) -> Comparison {
    compare(&from_text(text), options, &mut ()).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str, options: &CompareOptions) -> String {
    let answer = compare(&from_text(text), options, &mut ());
    answer
        .map(|found| found.json)
        .expect_err("an error")
        .to_string()
}

/// A trace of reads all over the drive.
fn trace(folder: &Path) -> String {
    let path = folder.join("reads.trace");
    let record = |at: u64| format!("{}.0 0 {} 8 1\n", 15 * at, at * 7_919_000 % 17_000_000);
    let text: String = (0..300).map(record).collect();
    std::fs::write(&path, text).expect("a temporary file");
    format!(
        "[workload]\ntrace = {path:?}\n[measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\n"
    )
}

#[test]
fn figures_are_those_of_the_runs() {
    let found = compared(SPEC, &options(&["device.hdd.queue.scheduler=fcfs,satf"], 4));
    assert_eq!(found.json["seeds"], json!([7, 8, 9, 10]));
    assert_eq!(
        (&found.json["baseline"], &found.json["seeds_vary"]),
        (&json!(0), &json!(["workload"]))
    );
    let mut means = Vec::new();
    for (index, scheduler) in ["fcfs", "satf"].into_iter().enumerate() {
        let variant = &found.json["variants"][index];
        assert_eq!(
            variant["values"],
            json!({ "device.hdd.queue.scheduler": scheduler })
        );
        let runs: Vec<Value> = (7..=10)
            .map(|seed| {
                let set = vec![
                    format!("seed={seed}"),
                    format!("device.hdd.queue.scheduler={scheduler}"),
                ];
                let options = RunOptions {
                    set,
                    ..RunOptions::default()
                };
                outcome_of(&from_text(SPEC), &options)
                    .expect("the spec runs")
                    .json()
            })
            .collect();
        let digests: Vec<&Value> = runs.iter().map(|run| &run["digest"]).collect();
        assert_eq!(variant["runs"], json!(digests));
        let values: Vec<f64> = runs
            .iter()
            .map(|run| run["response_ms"]["p95"].as_f64().expect("a percentile"))
            .collect();
        let metric = &variant["metrics"]["response_p95_ms"];
        let mean = values.iter().sum::<f64>() / 4.0;
        assert_eq!(
            *metric,
            json!({ "value": mean, "ci95": ci95(&values), "n": 4 })
        );
        means.push(values);
        let busy: f64 = runs
            .iter()
            .map(|run| {
                run["devices"]["hdd"]["utilisation"]
                    .as_f64()
                    .expect("a share")
            })
            .sum();
        assert_eq!(
            variant["metrics"]["utilisation_hdd"]["value"],
            json!(busy / 4.0)
        );
    }
    let differences: Vec<f64> = means[1]
        .iter()
        .zip(&means[0])
        .map(|(satf, fcfs)| satf - fcfs)
        .collect();
    let difference = &found.json["variants"][1]["difference"]["response_p95_ms"];
    assert_eq!(difference["ci95"], json!(ci95(&differences)));
    // SATF serves a queue of 16 far faster, and lets some wait longer.
    assert_eq!(difference["significant"], json!(true));
    assert!(
        difference["ratio_ci95"][0].as_f64() > Some(1.2),
        "{difference}"
    );
    let difference = &found.json["variants"][1]["difference"]["response_mean_ms"];
    assert!(
        difference["ratio_ci95"][1].as_f64() < Some(0.9),
        "{difference}"
    );
}

#[test]
fn a_variant_that_is_the_baseline_differs_by_exactly_nothing() {
    let found = compared(
        SPEC,
        &options(&["device.hdd.queue.scheduler=satf,sptf,fcfs"], 3),
    );
    for index in [0, 1] {
        let difference = found.json["variants"][index]["difference"]
            .as_object()
            .expect("an object");
        assert!(difference.len() >= 10);
        for (name, found) in difference {
            let nothing = json!({ "value": 0.0, "ci95": [0.0, 0.0], "ratio": 1.0, "ratio_ci95": [1.0, 1.0], "significant": false });
            assert_eq!(*found, nothing, "{name}");
        }
    }
    let warnings = found.json["warnings"].as_array().expect("a list");
    let said = |warning: &&Value| {
        warning["text"]
            .as_str()
            .is_some_and(|text| text.contains("changes nothing"))
    };
    let same: Vec<&Value> = warnings.iter().filter(said).collect();
    assert_eq!(same.len(), 1);
    assert_eq!(
        (&same[0]["variants"], &same[0]["runs"]),
        (&json!([1]), &json!(3))
    );
}

#[test]
fn a_recorded_trace_is_repeated_from_other_angles() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let spec = trace(folder.path());
    let found = compared(&spec, &options(&["device.hdd.queue.depth=1,4"], 3));
    assert_eq!(
        (&found.json["seeds"], &found.json["seeds_vary"]),
        (&json!([1, 2, 3]), &json!(["angle"]))
    );
    for variant in found.json["variants"].as_array().expect("a list") {
        let runs = variant["runs"].as_array().expect("digests");
        assert!(runs[0] != runs[1] && runs[1] != runs[2]);
        assert!(variant["metrics"]["iops"]["ci95"].is_array());
    }
    // What the seeds draw is the key of the spec.
    let set = vec!["seed=2".to_owned(), "device.hdd.angle=random".to_owned()];
    let options = RunOptions {
        set,
        ..RunOptions::default()
    };
    let alone = outcome_of(&from_text(&spec), &options).expect("the spec runs");
    assert_eq!(found.runs[0].len(), 3);
    assert!(
        found
            .runs
            .iter()
            .any(|runs| runs[1].digest() == alone.digest())
    );
}

#[test]
fn what_nothing_varies_in_runs_once_without_intervals() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fixed = trace(folder.path()) + "angle = 0.5\n";
    let even = SPEC
        .replace("size", "address = \"sequential\"\nsize")
        .replace("users = 16", "users = 1");
    for spec in [fixed, even] {
        let found = compared(
            &spec,
            &options(&["device.hdd.drive=ibm-18es,cheetah-9lp"], 4),
        );
        assert_eq!(found.json["seeds"].as_array().map(Vec::len), Some(1));
        assert_eq!(found.json["seeds_vary"], json!([]));
        assert!(found.runs.iter().all(|runs| runs.len() == 1));
        let metric = &found.json["variants"][1]["metrics"]["response_mean_ms"];
        assert_eq!((&metric["ci95"], &metric["n"]), (&Value::Null, &json!(1)));
        let difference = &found.json["variants"][1]["difference"]["response_mean_ms"];
        assert_eq!(
            (&difference["ci95"], &difference["significant"]),
            (&Value::Null, &Value::Null)
        );
        assert!(difference["value"].is_f64());
        let first = &found.json["notes"][0];
        assert!(
            first["text"]
                .as_str()
                .is_some_and(|text| text.contains("nothing in these runs varies"))
        );
        assert_eq!(first["variants"], json!([0, 1]));
    }
}

#[test]
fn pictures_are_of_first_runs_the_baselines_among_them() {
    let mut options = options(&["device.hdd.queue.depth=1,2,4,8"], 2);
    let without = compared(SPEC, &options);
    for (baseline, pictures, expected) in [
        ("1", 0, vec![]),
        ("1", 2, vec![0, 1]),
        ("4", 1, vec![2]),
        ("4", 3, vec![0, 1, 2]),
        ("8", 3, vec![0, 1, 3]),
        ("1", 99, vec![0, 1, 2, 3]),
    ] {
        options.baseline = vec![baseline.to_owned()];
        options.pictures = pictures;
        let found = compared(SPEC, &options);
        let mut drawn = Vec::new();
        for (variant, runs) in found.runs.iter().enumerate() {
            assert_eq!(runs[1].picture(), None);
            drawn.extend(runs[0].picture().map(|_| variant));
            assert_eq!(
                found.json["variants"][variant]["runs"], without.json["variants"][variant]["runs"],
                "a picture changes nothing"
            );
        }
        assert_eq!(drawn, expected, "{pictures} beside {baseline}");
    }
}

#[test]
fn another_baseline_turns_the_differences_round() {
    let vary = &["device.hdd.queue.scheduler=fcfs,{ ncq = { timeout = \"1 s\" } }"];
    let first = compared(SPEC, &options(vary, 2));
    let mut other = options(vary, 2);
    other.baseline = vec!["{ ncq = { timeout = '1 s' } }".to_owned()];
    other.metrics = vec!["response_mean_ms".to_owned(), "utilisation".to_owned()];
    let second = compared(SPEC, &other);
    assert_eq!(second.json["baseline"], json!(1));
    let value = |found: &Comparison, index: usize| {
        found.json["variants"][index]["difference"]["response_mean_ms"]["value"].as_f64()
    };
    assert_eq!(value(&first, 1), value(&second, 0).map(|value| -value));
    let metrics = second.json["variants"][0]["metrics"]
        .as_object()
        .expect("an object");
    assert_eq!(
        metrics.keys().collect::<Vec<_>>(),
        ["response_mean_ms", "utilisation_hdd"]
    );
    assert_eq!(
        second.json["spec"]["device"]["hdd"]["queue"]["scheduler"]["ncq"]["timeout"],
        "1 s"
    );
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let endless = SPEC.replace("600", "10_000_000_000");
    let scheduler = "device.hdd.queue.scheduler=fcfs,satf";
    for (vary, words) in [
        (
            vec!["device.hdd.queue.scheduler=fcfs,staf"],
            &[
                "--vary:1:28",
                "unknown scheduler \"staf\"",
                "did you mean \"satf\"",
            ][..],
        ),
        (
            vec!["device.hdd.queu.depth=1,2"],
            &["--vary:1:1", "unknown key \"queu\""],
        ),
        (
            vec!["device.hdd.queue.depth=1,x"],
            &["--vary:1:24", "found the string \"x\""],
        ),
        (
            vec![scheduler, "device.hdd.queue.depth=4"],
            &["one value is nothing to compare", "--set"],
        ),
    ] {
        let error = refused(&endless, &options(&vary, 2));
        for word in words {
            assert!(error.contains(word), "{vary:?}: {error}");
        }
    }
    type Change = fn(&mut CompareOptions);
    let cases: [(Change, &str); 7] = [
        (
            |options| options.seeds = 50_001,
            "50001 seeds of 2 variants are more than 100000 runs",
        ),
        (|options| options.seeds = 0, "with 0 seeds"),
        (
            |options| options.metrics = vec!["response_mean".into()],
            "unknown metric \"response_mean\"",
        ),
        (
            |options| options.baseline = vec!["sstf".into()],
            "not one of the values",
        ),
        (
            |options| options.set = vec!["device.hdd.queue.scheduler=sstf".into()],
            "is set and varied",
        ),
        (
            |options| options.set = vec!["seed=18446744073709551615".into()],
            "beyond the largest",
        ),
        (
            |options| {
                (options.vary, options.drive) = (
                    vec!["device.hdd.drive=ibm-18es,exos-x20".into()],
                    Some("cheetah-9lp".into()),
                )
            },
            "--drive or --trace replaces it",
        ),
    ];
    for (change, words) in cases {
        let mut wrong = options(&[scheduler], 2);
        change(&mut wrong);
        let error = refused(&endless, &wrong);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_run_that_fails_is_named() {
    let error = refused(
        SPEC,
        &options(&["device.hdd.drive=ibm-18es,no-such-drive"], 2),
    );
    assert!(error.contains("unknown drive \"no-such-drive\""), "{error}");
    assert!(
        error.contains("this is the run of device.hdd.drive=no-such-drive with seed 7"),
        "{error}"
    );
    let interrupted = compare(
        &from_text(SPEC),
        &options(&["device.hdd.queue.depth=1,2"], 2),
        &mut Impatient,
    );
    assert!(matches!(
        interrupted.map(|found| found.json),
        Err(Error::Interrupted)
    ));
}

struct Impatient;

impl diskwright::base::progress::Progress for Impatient {
    fn update(&mut self, _: u64, _: Option<u64>) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Break(())
    }
}

#[test]
fn any_number_of_a_result_is_a_metric() {
    let mut options = options(&["device.hdd.buffer=true,false"], 2);
    options.metrics = [
        "by_op.read.response_ms.p99",
        "devices.hdd.media_accesses",
        "devices.hdd.buffer_hits",
        "parts_ms.seek",
        "iops",
        "requests.measured",
    ]
    .map(str::to_owned)
    .to_vec();
    let found = compared(SPEC, &options);
    for (index, buffered) in [true, false].into_iter().enumerate() {
        let variant = &found.json["variants"][index];
        let metrics = variant["metrics"].as_object().expect("an object");
        let names: Vec<&String> = metrics.keys().collect();
        assert_eq!(names, options.metrics.iter().collect::<Vec<_>>());
        let runs: Vec<Value> = found.runs[index].iter().map(|run| run.json()).collect();
        let mean = |of: &dyn Fn(&Value) -> &Value| {
            let values: Vec<f64> = runs.iter().filter_map(|run| of(run).as_f64()).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let near = |name: &str, expected: f64| {
            let value = metrics[name]["value"].as_f64().expect("a number");
            assert!(
                (value - expected).abs() <= 1e-9 * expected,
                "{name}: {value}"
            );
        };
        near(
            "by_op.read.response_ms.p99",
            mean(&|run| &run["by_op"]["read"]["response_ms"]["p99"]),
        );
        near(
            "devices.hdd.media_accesses",
            mean(&|run| &run["devices"]["hdd"]["media_accesses"]),
        );
        near("parts_ms.seek", mean(&|run| &run["parts_ms"]["seek"]));
        near("requests.measured", 540.0);
        // The variant without a buffer has none of its counters, and no difference.
        let hits = &metrics["devices.hdd.buffer_hits"];
        assert_eq!(hits["n"], if buffered { 2 } else { 0 });
        assert_eq!(hits["value"].is_number(), buffered);
        assert_eq!(
            variant["difference"]["devices.hdd.buffer_hits"]["value"].is_number(),
            buffered
        );
    }
    for (name, told) in [
        (
            "devices.hdd.bufer_hits",
            "did you mean \"devices.hdd.buffer_hits\"",
        ),
        (
            "devices.hdd.cache.reads",
            "devices.hdd has no \"cache.reads\"",
        ),
        ("by_stream.a.iops", "unknown metric"),
        ("spec.seed", "unknown metric"),
    ] {
        options.metrics = vec![name.to_owned()];
        let error = refused(SPEC, &options);
        assert!(error.contains(told), "{name}: {error}");
    }
}

#[test]
fn streams_are_compared_by_name() {
    let stream = |name: &str| {
        format!(
            "[[workload.synthetic.stream]]\nname = \"{name}\"\nrequests = 200\narrivals = {{ poisson = \"20 ms\" }}\n"
        )
    };
    let spec = format!(
        "{}{}[measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\n",
        stream("a"),
        stream("a.b")
    );
    let mut options = options(&["device.hdd.queue.scheduler=fcfs,satf"], 1);
    options.metrics = vec!["by_stream.a.b.service_ms.mean".to_owned()];
    let found = compared(&spec, &options);
    let value = &found.json["variants"][0]["metrics"]["by_stream.a.b.service_ms.mean"]["value"];
    let run = found.runs[0][0].json();
    assert_eq!(*value, run["by_stream"]["a.b"]["service_ms"]["mean"]);
    options.metrics = vec!["by_stream.c.iops".to_owned()];
    let error = refused(&spec, &options);
    assert!(error.contains("by_stream has no \"c.iops\""), "{error}");
}

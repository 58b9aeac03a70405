//! The points of a sweep and their keys: what makes another point and what does not; which runs they are.

use std::fs;
use std::path::Path;

use crate::support::simulation::many::{Job, run_each};
use crate::support::simulation::point::{Point, ProgramIdentity, points};
use crate::support::simulation::sweep::{PointChoice, Sweep, SweepOptions};
use crate::support::{RunOptions, SpecSource, from_file, from_text, outcome_of, setting};
use diskwright::base::error::Error;
use proptest::prelude::*;

const SPEC: &str = "seed = 7\n[workload.synthetic]\nrequests = 300\narrivals = { poisson = \"20 ms\" }\nsize = \"8 blocks\"\n\
    [device.hdd]\ndrive = \"ibm-18es\"\n";
const SWEEP: &str = "[sweep]\nseeds = 2\n[sweep.vary]\n\"device.hdd.queue.scheduler\" = [\"fcfs\", { ncq = { timeout = \"1 s\" } }]\n\
    \"device.hdd.queue.depth\" = [1, 4, 32]\n";

fn job(spec: SpecSource, options: RunOptions) -> Job {
    let point = Some(PointChoice::default());
    Job {
        spec,
        options: RunOptions { point, ..options },
    }
}

fn point(spec: SpecSource, options: RunOptions) -> Point {
    let found = points(&job(spec, options), &[], &ProgramIdentity::default());
    found.expect("a sound spec").remove(0)
}

fn key(options: RunOptions) -> String {
    point(from_text(SPEC), options).key
}

fn sweep(spec: &str, vary: &[&str], run: RunOptions) -> Result<Sweep, Error> {
    let vary = vary.iter().map(|text| (*text).to_owned()).collect();
    let options = SweepOptions {
        vary,
        run,
        ..SweepOptions::default()
    };
    Sweep::read(&from_text(spec), &options)
}

#[test]
fn what_means_the_same_is_the_same_point() {
    let plain = key(RunOptions::default());
    assert_eq!(plain.len(), 32);
    for same in [
        "seed=7",
        "device.hdd.buffer=true",
        "workload.synthetic.arrivals={ poisson = \"0.02 s\" }",
        "sweep.seeds=9",
    ] {
        assert_eq!(key(setting(&[same])), plain, "{same}");
    }
    // Another name of the same policy.
    let scheduler = |name: &str| key(setting(&[&format!("device.hdd.queue.scheduler={name}")]));
    assert_eq!(scheduler("satf"), scheduler("sptf"));
}

#[test]
fn what_a_result_depends_on_makes_another_point() {
    let mut keys = vec![key(RunOptions::default())];
    for other in [
        "seed=8",
        "device.hdd.queue.depth=31",
        "device.hdd.queue.scheduler=satf",
        // The same completions, but results tell who has said it.
        "device.hdd.queue.depth=32",
        "device.hdd.drive=cheetah-9lp",
        "device.hdd.angle=0.5",
        "measure.warmup=10 %",
        "workload.synthetic.requests=301",
    ] {
        keys.push(key(setting(&[other])));
    }
    let check = true;
    keys.push(key(RunOptions {
        check,
        ..RunOptions::default()
    }));
    let other_build = ProgramIdentity {
        commit: "another".to_owned(),
        ..ProgramIdentity::default()
    };
    let built = points(
        &job(from_text(SPEC), RunOptions::default()),
        &[],
        &other_build,
    );
    keys.push(built.expect("a sound spec").remove(0).key);
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

/// A spec that replays a trace on a drive from a file, both beside it.
fn beside(folder: &Path, trace: &str, drive: &str) -> SpecSource {
    let spec = "[workload]\ntrace = \"a.trace\"\n[device.hdd]\ndrive = \"mine.toml\"\n";
    for (name, text) in [
        ("a.trace", trace),
        ("mine.toml", drive),
        ("spec.toml", spec),
    ] {
        fs::write(folder.join(name), text).expect("written");
    }
    from_file(folder.join("spec.toml"))
}

#[test]
fn files_count_by_what_they_hold_and_not_by_where_they_lie() {
    let folders = [(); 4].map(|()| tempfile::tempdir().expect("a folder"));
    let drive = diskwright::devices::drives::text("ibm-18es").expect("a drive");
    let trace = "0.0 0 0 8 1\n10.0 0 8 8 1\n";
    let edited = drive.replacen("settle = ", "settle  = ", 1);
    let in_folder = |at: usize, trace: &str, drive: &str| {
        point(
            beside(folders[at].path(), trace, drive),
            RunOptions::default(),
        )
    };
    let first = in_folder(0, trace, drive);
    let moved = in_folder(1, trace, &edited);
    assert_eq!(first.key, moved.key);
    assert_ne!(first.traces[0].path, moved.traces[0].path);
    assert_eq!(first.traces[0].bytes, trace.len() as u64);
    assert_eq!(first.spec["workload"]["trace"], "a.trace");
    assert_ne!(
        in_folder(
            2,
            &trace.replace("1000", "1001").replace("8 8 1", "8 8 0"),
            drive
        )
        .key,
        first.key
    );
    let faster = drive.replacen("7200 rpm\"\n", "7201 rpm\"\n", 1);
    assert!(faster != drive && edited != drive);
    assert_ne!(in_folder(3, trace, &faster).key, first.key);
    // The drive that is named runs alike, and so does the file that is edited in its spaces alone.
    let named = RunOptions {
        drive: Some("ibm-18es".to_owned()),
        ..RunOptions::default()
    };
    assert_eq!(
        point(from_file(folders[0].path().join("spec.toml")), named).key,
        first.key
    );
}

#[test]
fn a_trace_that_is_given_only_once_has_no_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = format!(
        "[workload]\ntrace = {:?}\n[device.hdd]\ndrive = \"ibm-18es\"\n",
        folder.path()
    );
    let found = points(
        &job(from_text(spec), RunOptions::default()),
        &[],
        &ProgramIdentity::default(),
    );
    let error = found.expect_err("a folder is no trace").to_string();
    assert!(error.contains("no regular file"), "{error}");
}

#[test]
fn the_seeds_of_a_recorded_trace_vary_the_angle_unless_it_is_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let drive = diskwright::devices::drives::text("ibm-18es").expect("a drive");
    let spec = beside(folder.path(), "0.0 0 0 8 1\n", drive);
    let digests = |options: RunOptions| {
        [1, 2].map(|seed| {
            let mut job = job(spec.clone(), options.clone());
            job.options.point = Some(PointChoice {
                seed: Some(seed),
                ..PointChoice::default()
            });
            let run = outcome_of(&job.spec, &job.options).expect("a run");
            run.digest().to_owned()
        })
    };
    let [one, two] = digests(RunOptions::default());
    assert_ne!(one, two);
    let [one, two] = digests(setting(&["device.hdd.angle=0.25"]));
    assert_eq!(one, two);
}

#[test]
fn a_point_is_the_run_of_its_values() {
    let spec = format!("{SPEC}{SWEEP}");
    let sweep = sweep(
        &spec,
        &["workload.synthetic.reads=0,1"],
        RunOptions::default(),
    )
    .expect("a sweep");
    assert_eq!(
        sweep.keys(),
        [
            "device.hdd.queue.scheduler",
            "device.hdd.queue.depth",
            "workload.synthetic.reads"
        ]
    );
    assert_eq!((sweep.points(), sweep.seeds.as_slice()), (12, &[7, 8][..]));
    let json = sweep.json();
    let mut jobs = Vec::new();
    let mut alone = Vec::new();
    for (index, point) in json["points"]
        .as_array()
        .expect("a list")
        .iter()
        .enumerate()
    {
        let choice = sweep.choice(&["workload.synthetic.reads=0,1".to_owned()], index);
        assert_eq!(point["choice"], serde_json::json!(choice.values));
        let values = point["values"].as_object().expect("a table");
        let said: Vec<String> = values
            .iter()
            .map(|(key, value)| {
                let value = match value {
                    serde_json::Value::Object(_) => "{ ncq = { timeout = \"1 s\" } }".to_owned(),
                    other => other.to_string(),
                };
                format!("{key}={value}")
            })
            .collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let run = outcome_of(&from_text(SPEC), &setting(&said)).expect("a run");
        alone.push(run.lasting());
        let point = Some(choice);
        let options = RunOptions {
            point,
            ..RunOptions::default()
        };
        jobs.push(Job {
            spec: from_text(&spec),
            options,
        });
    }
    let mut found = vec![None; jobs.len()];
    run_each(&jobs, None, &mut (), &mut |job, outcome| {
        found[job] = Some(outcome.lasting());
        Ok(())
    })
    .expect("all run");
    assert!(alone[0].get("wall_s").is_none() && alone[0].get("digest").is_some());
    for (found, alone) in found.iter().zip(&alone) {
        assert_eq!(found.as_ref(), Some(alone));
    }
}

#[test]
fn whoever_takes_the_results_can_stop_the_runs() {
    let endless = from_text(SPEC.replace("300", "10_000_000_000"));
    let jobs = [
        job(from_text(SPEC), RunOptions::default()),
        job(endless, RunOptions::default()),
    ];
    let mut taken = Vec::new();
    let stopped = run_each(&jobs, None, &mut (), &mut |job, _| {
        taken.push(job);
        Err(Error::Simulation("no room".to_owned()))
    });
    let failed = stopped.expect_err("a refusal");
    assert_eq!(
        (taken, failed.job, failed.error.to_string()),
        (vec![0], 0, "no room".to_owned())
    );
}

#[test]
fn the_spec_runs_without_its_sweep_and_says_so() {
    let notes = |spec: SpecSource, options: &RunOptions| {
        let run = outcome_of(&spec, options).expect("a run");
        run.get("notes").expect("notes").to_string()
    };
    let spec = || from_text(format!("{SPEC}{SWEEP}"));
    let told = "the table [sweep] changes nothing here";
    assert!(notes(spec(), &RunOptions::default()).contains(told));
    assert!(!notes(from_text(SPEC), &RunOptions::default()).contains(told));
    let point = job(spec(), RunOptions::default());
    assert!(!notes(point.spec, &point.options).contains(told));
}

#[test]
fn sweeps_that_make_no_sense_are_refused_with_their_places() {
    let in_spec = |vary: &str| format!("{SPEC}[sweep.vary]\n{vary}\n");
    let none = RunOptions::default;
    let drive = || RunOptions {
        drive: Some("cheetah-9lp".to_owned()),
        ..none()
    };
    let trace = || RunOptions {
        trace: Some("a.trace".into()),
        ..none()
    };
    for (spec, vary, run, messages) in [
        (SPEC.to_owned(), &[][..], none(), &["nothing is swept"][..]),
        (
            in_spec("\"seed\" = [1]"),
            &[],
            none(),
            &["seed cannot be varied", "spec:9:1"],
        ),
        (
            in_spec("\"sweep.seeds\" = [1]"),
            &[],
            none(),
            &["cannot be varied", "spec:9:1"],
        ),
        (
            in_spec("\"a\" = [1]\n\"a.b\" = [1]"),
            &[],
            none(),
            &["a is varied already", "spec:10:1"],
        ),
        (
            SPEC.to_owned(),
            &["a=1,2", "a=3"],
            none(),
            &["a is varied already", "--vary:1:1"],
        ),
        (
            in_spec("\"device.hdd.queue\" = [{}]"),
            &[],
            setting(&["device.hdd.queue.depth=3"]),
            &["is set and varied", "spec:9:1"],
        ),
        (
            in_spec("\"device.hdd.drive\" = [\"x\"]"),
            &[],
            drive(),
            &["--drive replaces it"],
        ),
        (
            in_spec("\"workload.synthetic.reads\" = [1]"),
            &[],
            trace(),
            &["--trace replaces it"],
        ),
        (
            format!("{SPEC}[sweep]\nseeds = 0\n"),
            &[],
            none(),
            &["with 0 seeds", "spec:9:9"],
        ),
        (
            format!("{SPEC}[sweep]\nseed = 1\n"),
            &[],
            none(),
            &["unknown key \"seed\"", "spec:9:1"],
        ),
        (
            format!(
                "{}[sweep]\n",
                SPEC.replace("= 7", &format!("= {}", u64::MAX))
            ),
            &[],
            none(),
            &["go beyond the largest"],
        ),
        (
            // A value that the key does not take is the fault of where it stands.
            in_spec("\"device.hdd.queue.depth\" = [\"deep\", 2]"),
            &[],
            none(),
            &["found the string \"deep\"", "spec:9:29"],
        ),
    ] {
        let error = sweep(&spec, vary, run).expect_err(messages[0]).to_string();
        for message in messages {
            assert!(error.contains(message), "{message}: {error}");
        }
    }
    // What is below a set key may be varied, and a key of the spec replaced.
    let below = setting(&["device.hdd.queue={ depth = 3 }"]);
    assert!(sweep(&in_spec("\"device.hdd.queue.depth\" = [1]"), &[], below).is_ok());
    let replaced = sweep(
        &in_spec("\"device.hdd.queue.depth\" = [1]"),
        &["device.hdd.queue.depth=2,3"],
        none(),
    );
    assert_eq!(replaced.expect("a sweep").points(), 2);
    let many: String = (0..7)
        .map(|key| format!("\"k{key}\" = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"))
        .collect();
    let error = sweep(&in_spec(&many), &[], none())
        .expect_err("too many")
        .to_string();
    assert!(error.contains("more than 1000000 runs"), "{error}");
}

proptest! {
    /// The places of a point in the lists are the digits of its place in the grid.
    #[test]
    fn the_last_key_changes_fastest(counts in prop::collection::vec(1_usize..5, 1..5)) {
        let lists = counts.iter().enumerate().map(|(key, count)| {
            let values: Vec<String> = (0..*count).map(|value| value.to_string()).collect();
            format!("\"measure.k{key}\" = [{}]\n", values.join(", "))
        });
        let spec = format!("{SPEC}[sweep.vary]\n{}", lists.collect::<String>());
        let error = sweep(&spec, &[], RunOptions::default()).expect_err("no such keys").to_string();
        prop_assert!(error.contains("unknown key \"k0\""), "{}", error);
        let lists: Vec<String> = counts.iter().enumerate().map(|(key, count)| {
            let values: Vec<String> = (1..=*count).map(|value| value.to_string()).collect();
            let key = ["device.hdd.queue.depth", "measure.requests", "host.outstanding", "workload.synthetic.requests"][key];
            format!("{key}={}", values.join(","))
        }).collect();
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        let sweep = sweep(SPEC, &lists, RunOptions::default()).expect("a sweep");
        prop_assert_eq!(sweep.points(), counts.iter().product::<usize>());
        let mut before: Option<Vec<usize>> = None;
        for point in 0..sweep.points() {
            let values = sweep.choice(&[], point).values;
            prop_assert!(values.iter().zip(&counts).all(|(value, count)| value < count));
            prop_assert!(before.is_none_or(|before| before < values));
            before = Some(values);
        }
    }
}

#[test]
fn metrics_are_numbers_of_some_point() {
    let with = |metrics: &str, told: &[&str]| {
        let vary = ["device.hdd.buffer=true,false"].map(str::to_owned).to_vec();
        let options = SweepOptions {
            vary,
            metrics: told.iter().map(|name| (*name).to_owned()).collect(),
            ..SweepOptions::default()
        };
        Sweep::read(
            &from_text(format!("{SPEC}[sweep]\nmetrics = {metrics}\n")),
            &options,
        )
    };
    let metrics = |found: Result<Sweep, Error>| found.expect("a sound sweep").metrics;
    // Only one of the points has a buffer.
    let sound = r#"["iops", "by_op.read.response_ms.p99", "devices.hdd.buffer_hits"]"#;
    assert_eq!(
        metrics(with(sound, &[])),
        [
            "iops",
            "by_op.read.response_ms.p99",
            "devices.hdd.buffer_hits"
        ]
    );
    assert_eq!(metrics(with(sound, &["mb_per_s"])), ["mb_per_s"]);
    for (spec, told, messages) in [
        (
            r#"["iops", "devices.hdd.bufer_hits"]"#,
            &[][..],
            &[
                "spec:9:20",
                "unknown metric",
                "did you mean \"devices.hdd.buffer_hits\"",
            ][..],
        ),
        (
            "[]",
            &["by_op.reads.iops"],
            &["--metric:1:1", "did you mean \"by_op.read.iops\""],
        ),
        (
            "[]",
            &["requests"],
            &["--metric:1:1", "is no number", "measured"],
        ),
    ] {
        let error = with(spec, told).expect_err("no metric").to_string();
        for message in messages {
            assert!(error.contains(message), "{message}: {error}");
        }
    }
}

//! Many runs side by side: the results of each alone, in their order; the first failure; a stop.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use crate::support::simulation::many::{FailedRun, Job, run_many};
use crate::support::{Outcome, RunOptions, SpecSource, from_text, outcome_of};
use diskwright::base::error::Error;
use diskwright::base::progress::Progress;

fn spec(requests: u64) -> SpecSource {
    from_text(format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ poisson = \"20 ms\" }}\nsize = \"8 blocks\"\n\
             [measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\n"
    ))
}

fn job(requests: u64, set: &str) -> Job {
    Job {
        spec: spec(requests),
        options: RunOptions {
            set: vec![set.to_owned()],
            ..RunOptions::default()
        },
    }
}

/// More requests than anybody waits for.
const ENDLESS: u64 = 10_000_000_000;

fn threads(count: usize) -> Option<NonZeroUsize> {
    NonZeroUsize::new(count)
}

fn failure(answer: Result<Vec<Outcome>, FailedRun>) -> FailedRun {
    answer.map(|runs| runs.len()).expect_err("a failure")
}

/// A replay of `records` records; the last one is not on the drive.
fn late_failure(folder: &Path, records: u64) -> Job {
    let path = folder.join(format!("{records}.trace"));
    let mut text: String = (0..records)
        .map(|at| format!("{}.0 0 {} 8 1\n", 10 * at, 8 * at))
        .collect();
    text.push_str(&format!("{}.0 0 99999999999 8 1\n", 10 * records));
    std::fs::write(&path, text).expect("a temporary file");
    Job {
        spec: from_text(format!(
            "[workload]\ntrace = {path:?}\n[measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\n"
        )),
        options: RunOptions::default(),
    }
}

#[test]
fn results_are_those_of_each_run_alone_whatever_the_threads() {
    let jobs: Vec<Job> = (0..9)
        .map(|i| job(50 + 400 * (i % 3), &format!("seed={i}")))
        .collect();
    let alone: Vec<String> = jobs
        .iter()
        .map(|job| {
            let outcome = outcome_of(&job.spec, &job.options);
            outcome.expect("the spec runs").digest().to_owned()
        })
        .collect();
    for count in [1, 2, 5, 100] {
        let runs = run_many(&jobs, threads(count), &mut ()).expect("the specs run");
        let digests: Vec<&str> = runs.iter().map(Outcome::digest).collect();
        assert_eq!(digests, alone, "{count} threads");
    }
    let on_all_cores = run_many(&jobs, None, &mut ()).expect("the specs run");
    assert_eq!(on_all_cores.len(), jobs.len());
    assert!(
        run_many(&[], None, &mut ())
            .expect("nothing to do")
            .is_empty()
    );
}

#[test]
fn the_first_failure_is_told_even_if_a_later_run_fails_sooner() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let soon = job(10, "device.hdd.drive=no-such-drive");
    let jobs = [
        job(10, "seed=1"),
        late_failure(folder.path(), 20_000),
        soon.clone(),
        soon,
    ];
    for count in [1, 2, 4] {
        let failed = failure(run_many(&jobs, threads(count), &mut ()));
        assert_eq!(failed.job, 1, "{count} threads: {}", failed.error);
        let message = failed.named("the second").to_string();
        assert!(
            message.contains("20001") && message.contains("this is the run of the second"),
            "{message}"
        );
    }
}

#[test]
fn a_failure_stops_the_runs_after_it() {
    let jobs = [
        job(10, "seed=1"),
        job(10, "device.hdd.quue=1"),
        job(ENDLESS, "seed=2"),
        job(ENDLESS, "seed=3"),
    ];
    for count in [1, 4] {
        let failed = failure(run_many(&jobs, threads(count), &mut ()));
        assert_eq!(failed.job, 1);
        let message = failed.named("specs[1]").to_string();
        for words in [
            "unknown key \"quue\"",
            "did you mean \"queue\"",
            "this is the run of specs[1]",
        ] {
            assert!(message.contains(words), "{message}");
        }
    }
}

/// Notes what it hears, and stops the run after a number of requests.
#[derive(Default)]
struct Listener {
    enough: Option<u64>,
    last: Option<(u64, Option<u64>)>,
    totals: Vec<Option<u64>>,
    went_back: bool,
}

impl Progress for Listener {
    fn update(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        self.went_back |= self.last.is_some_and(|(before, _)| before > done);
        self.last = Some((done, total));
        self.totals.push(total);
        match self.enough {
            Some(enough) if done >= enough => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn whoever_has_had_enough_stops_all_runs() {
    let jobs: Vec<Job> = (0..4).map(|i| job(ENDLESS, &format!("seed={i}"))).collect();
    for (enough, count) in [(0, 1), (1, 2), (1, 4)] {
        let mut listener = Listener {
            enough: Some(enough),
            ..Listener::default()
        };
        let failed = failure(run_many(&jobs, threads(count), &mut listener));
        assert!(matches!(failed.error, Error::Interrupted));
        assert!(matches!(failed.named("any"), Error::Interrupted));
    }
}

#[test]
fn progress_is_that_of_all_runs_together() {
    let jobs = [
        job(3_000, "seed=1"),
        job(500, "seed=2"),
        job(2_000, "seed=3"),
    ];
    for count in [1, 3] {
        let mut listener = Listener::default();
        run_many(&jobs, threads(count), &mut listener).expect("the specs run");
        assert_eq!(listener.last, Some((5_500, Some(5_500))));
        assert!(!listener.went_back);
    }
    // One after the other: after the first run, three times its requests are expected, then thrice the mean of two.
    let mut listener = Listener::default();
    run_many(&jobs, threads(1), &mut listener).expect("the specs run");
    let known: Vec<u64> = listener.totals.into_iter().flatten().collect();
    let expected = [9_000, 5_250, 5_500];
    assert!(
        known.iter().all(|total| expected.contains(total)),
        "{known:?}"
    );
}

//! Power cuts in the middle of what failures bring: a program that fails, the page that is written again, moves, the end of the spare blocks. The
//! checker knows what was promised.

use super::failures::{always, drive, one_that_fails};
use super::{PAGE, PROGRAM, READ, times_with};
use crate::support::{checked, from_text, outcome_of};

/// From one cut to the next.
const STEP: u64 = 61_000;
/// The page of the first block that fails.
const FAILS: u32 = 3;

/// Runs a load of pages at instants on a drive, with a cut; whether anything failed before it.
#[track_caller]
fn cut(drive: &str, seed: u64, requests: &[(u64, &str, u64)], at: u64) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut trace = String::from("time_ns,op,lbn,blocks\n");
    for (at, op, page) in requests {
        trace += &format!("{at},{op},{},8\n", page * 8);
    }
    std::fs::write(path("drive.toml"), drive).expect("written");
    std::fs::write(path("trace.csv"), trace).expect("written");
    let spec = format!(
        "seed = {seed}\n[workload]\ntrace = \"{}\"\nformat = \"csv\"\npace = \"recorded\"\n[measure]\nwarmup = 0\n\
         [device.ssd]\ndrive = \"{}\"\n[[fault]]\nat = \"{at} ns\"\nkind = \"power-cut\"\n",
        path("trace.csv"),
        path("drive.toml")
    );
    let outcome = outcome_of(&from_text(spec), &checked());
    let json = outcome
        .unwrap_or_else(|error| panic!("cut at {at} ns: {error}"))
        .json();
    let failures = &json["devices"]["ssd"]["failures"];
    let count = |key: &str| failures[key].as_u64().unwrap_or(0);
    count("programs") + count("erases") > 0
}

/// In place of more tables: checkpoints, and blocks for them.
const CHECKPOINTS: &str = "checkpoints";
/// Tables that a drive has beside failures.
const MORE: [&str; 4] = [
    "",
    "[buffer]\nsize = '32 KiB'\ncapacitor = true\n",
    "[buffer]\nsize = '32 KiB'\n",
    CHECKPOINTS,
];

/// The drive with more.
fn with(failures: &str, more: &str) -> String {
    let text = drive(failures);
    match more {
        CHECKPOINTS => {
            let text = text.replace("[spare]\nshare", "[spare]\nreserved = 1\nshare");
            format!("{text}[recovery]\ncheckpoint = '8 KiB'\n")
        }
        _ => format!("{text}{more}"),
    }
}

#[test]
fn a_cut_at_any_step_of_a_failure_loses_nothing() {
    let seed = one_that_fails(0.05, FAILS);
    // Some pages, the one that fails, and the same again.
    let pages = [0, 1, 2, 3, 1, 3, 5];
    let requests: Vec<_> = (0..)
        .zip(pages)
        .map(|(number, page)| (number * 700_000, "write", page))
        .collect();
    let moves = u64::from(FAILS) * (READ + 2 * PAGE + PROGRAM);
    let end = 7 * 700_000 + 2 * (PAGE + PROGRAM) + moves;
    let mut has_failed = 0;
    for more in MORE {
        let drive = with(&always("program", 5.0), more);
        for at in (1..end / STEP).map(|number| number * STEP) {
            has_failed += u64::from(cut(&drive, seed, &requests, at));
        }
    }
    assert!(has_failed > end / STEP, "{has_failed}");
}

/// The drive turns read-only with data that it has acknowledged in its buffer.
#[test]
fn a_cut_of_a_drive_that_can_only_be_read_loses_nothing() {
    let mut requests: Vec<_> = (0..4).map(|page| (page * 100_000, "write", page)).collect();
    requests.extend((0..4).map(|page| (9_000_000 + page * 100_000, "read", page)));
    for more in MORE {
        for failures in [always("program", 100.0), always("program", 50.0)] {
            let drive = with(&failures, more);
            let cuts = (1..160).map(|number| number * STEP);
            let failed = cuts.filter(|&at| cut(&drive, 1, &requests, at)).count();
            assert!(failed > 50, "{failed}");
            // What is in the buffer is read from there.
            let (times, _) = times_with(&drive, "seed = 1", &requests);
            assert!(
                times[4..].iter().all(|&time| time <= READ + PAGE),
                "{times:?}"
            );
        }
    }
}

/// Blocks wear out by erases that fail while pages are moved.
#[test]
fn a_cut_among_erases_that_fail_loses_nothing() {
    let requests: Vec<_> = (0..400)
        .map(|number| (number * 700_000, "write", number * 7 % 51))
        .collect();
    let failures = format!("{}\n{}", always("erase", 20.0), always("program", 0.5));
    let mut failed = 0;
    for more in MORE {
        let drive = with(&failures, more);
        let cuts = (1..40).map(|number| 90_000_000 + number * 4_700_123);
        failed += cuts.filter(|&at| cut(&drive, 2, &requests, at)).count();
    }
    assert!(failed > 80, "{failed}");
}

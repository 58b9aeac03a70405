//! What a spec says may be as large as it likes: memory is taken as it fills, and what could come to more than there is is refused.

use crate::support::counting::most_held_during;
use crate::support::{checked, from_text_in, outcome_of, try_run, try_run_with};
use diskwright::runs::simulation::RunOptions;
use serde_json::Value;

const LOAD: &str = "[workload.synthetic]\nrequests = 2000\nreads = 0.7\nsize = \"8 blocks\"\narrivals = { constant = \"30 ms\" }\n\
    [measure]\nwarmup = 0\n";

fn cached(drive: &str, cache: &str) -> Result<Value, String> {
    let text = format!("{LOAD}[device.hdd]\ndrive = \"{drive}\"\n[device.hdd.cache]\n{cache}\n");
    try_run(&text).map_err(|error| error.to_string())
}

/// Frames and keys that a policy remembers take memory once they are used, of which a drive of 9 GB has 2.2 million at most.
#[test]
fn caches_and_ghost_lists_beyond_the_drive_are_empty_for_the_most_part() {
    for cache in [
        "size = \"512 KiB\"\npolicy = { lirs = { ghosts = 1e6 } }",
        "size = \"8 MiB\"\npolicy = { lirs = { ghosts = 1e6 } }",
        "size = \"1 TiB\"",
        "size = \"1 TiB\"\npolicy = \"arc\"",
        "size = \"1 TiB\"\npolicy = \"2q\"",
        "size = \"1 TiB\"\npolicy = \"s3-fifo\"",
        "size = \"1 TiB\"\npolicy = { lirs = { ghosts = 1e6 } }",
        "size = \"1 TiB\"\npolicy = \"atca\"",
        "size = \"1 TiB\"\npolicy = \"random\"",
        "size = \"1 TiB\"\npolicy = { w-tinylfu = { sample = 1e6 } }",
        "size = \"7 TiB\"\nwrite_policy = \"write-back\"",
    ] {
        let found = cached("ibm-18es", cache).unwrap_or_else(|error| panic!("{cache}: {error}"));
        assert_eq!(found["requests"]["completed"], 2000, "{cache}");
    }
}

/// As large as it need be and ten times so: the same hits, and the same times.
#[test]
fn a_cache_that_is_never_full_is_like_any_other() {
    for policy in ["lru", "clock", "lfu", "sieve", "arc", "lirs", "slru"] {
        let digest = |size: &str| {
            let cache = format!("size = \"{size}\"\npolicy = \"{policy}\"");
            cached("ibm-18es", &cache).expect("it runs")["digest"].clone()
        };
        assert_eq!(digest("1 GiB"), digest("1 TiB"), "{policy}");
    }
}

/// The largest drive that a file may describe, in a file of its own.
fn largest() -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let file = file.expect("a temporary file");
    let text = "name = \"the largest\"\nrotation = \"7200 rpm\"\nheads = { switch = \"1 ms\" }\nseek = { constant = \"5 ms\" }\n\
        [layout]\nsurfaces = 1024\ncylinders = 16_777_216\nzone = [{ cylinders = [0, 16_777_215], sectors_per_track = 256 }]\n";
    std::fs::write(file.path(), text).expect("written");
    file
}

#[test]
fn what_the_machine_could_not_hold_is_refused_with_the_figures() {
    let drive = largest();
    let drive = drive.path().display().to_string();
    // 2³⁰ lines of 88 bytes, or the tables of 2³⁴ tracks: more than three quarters of any machine that runs this.
    let error = cached(&drive, "size = \"4 TiB\"").expect_err("too large a cache");
    for part in [
        ":",
        "a cache of 1073741824 frames of 8 blocks may come to need 88.0 GiB of memory",
        "of this machine",
        "smaller size",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let text = format!("{LOAD}[device.hdd]\ndrive = \"{drive}\"\nplacement = \"eager\"\n");
    let error = try_run(&text).expect_err("too large a log").to_string();
    for part in [
        "a log of slots of 8 blocks on this drive may come to need",
        "of this machine",
        "larger placement block",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

/// Two hundred drives, each of which fits into the memory of a small machine.
#[test]
fn many_members_count_together() {
    let drive = largest();
    let member = format!(
        "[[device.array.member]]\nhdd = {{ drive = \"{}\" }}\n",
        drive.path().display()
    );
    let text = format!(
        "{LOAD}[device.array]\nlayout = \"mirror\"\n{}",
        member.repeat(200)
    );
    let options = RunOptions {
        memory: Some(1 << 30),
        ..checked()
    };
    let error = try_run_with(&text, &options).expect_err("too many drives");
    let error = error.to_string();
    for part in [
        "the seek times of a drive of 16777216 cylinders",
        "beside",
        "fewer drives",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn more_frames_than_can_be_numbered_are_refused() {
    let error = cached("ibm-18es", "size = \"8 TiB\"").expect_err("too many frames");
    assert!(error.contains("below 2^31 cache blocks"), "{error}");
}

/// A line that is fetched keeps what is dirty of it from being written for a million periods.
#[test]
fn dirt_that_has_to_wait_is_not_asked_for_again_each_period() {
    let spec = r#"
        [workload]
        trace = "a.csv"
        format = "csv"
        [device.controller.memory]
        size = "64 KiB"
        line = "4 KiB"
        grain = "512 B"
        writes = "write-back"
        flush_period = "10 us"
        [[device.controller.device]]
        simple = { read = "1 s", write = "1 ms", capacity = "1 GB" }
    "#;
    let folder = tempfile::tempdir().expect("a folder");
    let trace = "time_ms,op,lbn,blocks\n0,write,0,1\n0,read,0,8\n";
    std::fs::write(folder.path().join("a.csv"), trace).expect("written");
    let source = from_text_in(spec.to_owned(), folder.path());
    let (outcome, held) = most_held_during(|| outcome_of(&source, &RunOptions::default()));
    let result = outcome.expect("it runs").json();
    assert_eq!(result["devices"]["controller"]["write_backs"], 1);
    assert!(held < 4 << 20, "{held} bytes");
}

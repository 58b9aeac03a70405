//! Changes of the cache in mid-run: other sizes, removal and return.

use serde_json::Value;

use crate::support::{checked, run_with, try_run};

const DEVICES: &str = "[device.tier.cache.simple]\ncapacity = \"1 MiB\"\nread = \"0.1 ms\"\nwrite = \"0.2 ms\"\nparallel = 2\n\
                       [device.tier.backing.simple]\ncapacity = \"16 MiB\"\nread = \"8 ms\"\nwrite = \"9 ms\"\nparallel = 3\n";

/// A load of 40 s on a tier of 100 lines, with these events.
fn spec(keys: &str, events: &[(&str, &str)]) -> String {
    let events: Vec<String> = events
        .iter()
        .map(|(at, kind)| format!("[[device.tier.event]]\nat = \"{at}\"\nkind = {kind}\n"))
        .collect();
    format!(
        "[workload.synthetic]\nrequests = 4_000\narrivals = {{ poisson = \"10 ms\" }}\nreads = 0.6\nsize = \"8 blocks\"\nflushes = 0.01\nfua = 0.05\ntrims = 0.01\n\
         address = {{ zipf = {{ theta = 1.0, blocks = 4_000 }} }}\n[measure]\nwarmup = 0\n[device.tier]\nsize = \"800 blocks\"\n{keys}\n{}{DEVICES}",
        events.concat()
    )
}

const POLICIES: [&str; 5] = [
    "write_policy = \"write-back\"",
    "write_policy = \"write-back\"\nmetadata = \"none\"\ncleaning = \"none\"",
    "write_policy = \"write-back\"\nmetadata = { on-cache = { commit = \"flushes\" } }\ncleaning = \"none\"",
    "write_policy = \"write-through\"\npolicy = \"slru\"",
    "write_policy = \"read-only\"\npolicy = \"fifo\"",
];

#[track_caller]
fn told(keys: &str, events: &[(&str, &str)]) -> Value {
    let result = run_with(&spec(keys, events), &checked());
    assert_eq!(result["requests"]["failed"], 0, "{keys}");
    result["devices"]["tier"].clone()
}

fn count(tier: &Value, key: &str) -> u64 {
    tier[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} is {}", tier[key]))
}

#[test]
fn a_cache_that_shrinks_loses_the_lines_behind_its_end() {
    for keys in POLICIES {
        let whole = told(keys, &[]);
        let shrunk = told(keys, &[("20 s", "{ resize = \"160 blocks\" }")]);
        assert_eq!(
            (count(&shrunk, "lines"), count(&shrunk, "changes")),
            (20, 1),
            "{keys}"
        );
        assert!(count(&shrunk, "lines_held") <= 20);
        let held = |tier: &Value| count(tier, "insertions") - count(tier, "evictions");
        // What left with the places has been evicted; trims and writes take lines, too.
        assert!(held(&shrunk) >= count(&shrunk, "lines_held"), "{keys}");
        assert!(
            count(&shrunk, "read_hits") < count(&whole, "read_hits"),
            "{keys}"
        );
        // Accesses are counted on.
        assert_eq!(
            count(&shrunk, "line_accesses"),
            count(&whole, "line_accesses"),
            "{keys}"
        );
    }
}

#[test]
fn only_what_lies_behind_the_new_end_is_written_back() {
    // Forty lines are dirty, in the first forty places.
    let writes: Vec<String> = (0..40u64)
        .map(|number| format!("{},0,write,0,{},8\n", number * 10_000_000, number * 16))
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "time_ns,device,op,fua,lbn,blocks\n{}2000000000,0,read,0,0,8\n",
        writes.concat()
    );
    std::fs::write(folder.path().join("writes.csv"), text).expect("written");
    for (kind, written_back, held) in [
        ("{ resize = \"1600 blocks\" }", 0, 40),
        ("{ resize = \"320 blocks\" }", 0, 40),
        ("{ resize = \"80 blocks\" }", 30, 10),
        ("\"remove\"", 40, 0),
    ] {
        for metadata in ["\"none\"", "\"on-cache\""] {
            let spec = format!(
                "[workload]\ntrace = \"writes.csv\"\n[measure]\nwarmup = 0\n[device.tier]\nsize = \"800 blocks\"\nmetadata = {metadata}\n\
                 write_policy = \"write-back\"\ncleaning = \"none\"\n[[device.tier.event]]\nat = \"1 s\"\nkind = {kind}\n{DEVICES}"
            );
            let source = crate::support::from_text_in(spec, folder.path());
            let outcome = crate::support::outcome_of(&source, &checked()).expect("it runs");
            let tier = &outcome.json()["devices"]["tier"];
            assert_eq!(
                count(tier, "written_back_blocks"),
                written_back * 8,
                "{kind}"
            );
            assert_eq!(count(tier, "dirty_blocks_at_end"), (40 - written_back) * 8);
            assert_eq!(count(tier, "lines_held"), held, "{kind}");
        }
    }
}

#[test]
fn a_cache_that_grows_holds_more() {
    for keys in POLICIES {
        let small = keys.to_owned();
        let whole = told(&small, &[("0 s", "{ resize = \"160 blocks\" }")]);
        let grown = told(
            &small,
            &[
                ("0 s", "{ resize = \"160 blocks\" }"),
                ("5 s", "{ resize = \"1600 blocks\" }"),
            ],
        );
        assert_eq!(
            (count(&grown, "lines"), count(&grown, "changes")),
            (200, 2),
            "{keys}"
        );
        assert!(
            count(&grown, "lines_held") > count(&whole, "lines_held"),
            "{keys}"
        );
        assert!(
            count(&grown, "read_hits") > count(&whole, "read_hits"),
            "{keys}"
        );
    }
}

#[test]
fn a_cache_that_is_removed_leaves_nothing_behind_and_may_come_back() {
    for keys in POLICIES {
        let removed = told(keys, &[("20 s", "\"remove\"")]);
        assert_eq!(
            (
                count(&removed, "lines_held"),
                count(&removed, "dirty_blocks_at_end")
            ),
            (0, 0),
            "{keys}"
        );
        assert!(
            removed["bypassed"]["changing"].as_u64() > Some(100),
            "{keys}"
        );
        let back = told(keys, &[("10 s", "\"remove\""), ("20 s", "\"attach\"")]);
        assert!(count(&back, "lines_held") > 20, "{keys}");
        let always = told(keys, &[]);
        assert!(
            count(&removed, "read_hits") < count(&always, "read_hits"),
            "{keys}"
        );
        assert!(
            count(&back, "read_hits") < count(&always, "read_hits"),
            "{keys}"
        );
    }
    // What was dirty has been written back for it.
    let keys = POLICIES[1];
    let removed = told(keys, &[("20 s", "\"remove\"")]);
    assert!(
        removed["write_backs"]["changes"].as_u64() > Some(0),
        "{removed}"
    );
    assert!(removed["changes_s"].as_f64() > Some(0.05), "{removed}");
}

/// Half of what is dirty cannot be written back: the cache stays, and serves on; the run ends when the host is done.
#[test]
fn a_change_whose_write_back_is_refused_is_given_up() {
    let halves = DEVICES
        .split_once("[device.tier.backing")
        .expect("two devices")
        .0
        .to_owned()
        + "[device.tier.backing.array]\nlayout = \"concat\"\n"
        + "[[device.tier.backing.array.member]]\nsimple = { capacity = \"1 MiB\", read = \"8 ms\", write = \"9 ms\" }\n"
        + "[[device.tier.backing.array.member]]\nsimple = { capacity = \"15 MiB\", read = \"8 ms\", write = \"9 ms\" }\n";
    let failure =
        "[[fault]]\nat = \"10 s\"\nkind = { fail = \"tier.backing.array.member[0].simple\" }\n";
    let tier_of = |kind: &str, failure: &str| {
        let text = spec(POLICIES[1], &[("20 s", kind)]).replace(DEVICES, &halves);
        let result = run_with(&format!("{failure}{text}"), &checked());
        let end = result["simulated_s"].as_f64().expect("seconds");
        (result["devices"]["tier"].clone(), end)
    };
    for kind in ["\"remove\"", "{ resize = \"8 blocks\" }"] {
        let ((changed, _), (kept, end)) = (tier_of(kind, ""), tier_of(kind, failure));
        assert_eq!(
            [&changed, &kept].map(|tier| count(tier, "changes")),
            [1, 1],
            "{kind}"
        );
        assert!(count(&changed, "lines_held") <= 1, "{kind}");
        assert_eq!(count(&kept, "lines"), 100, "{kind}");
        assert!(count(&kept, "dirty_blocks_at_end") > 0, "{kind}");
        assert!(
            count(&kept, "read_hits") > count(&changed, "read_hits"),
            "{kind}"
        );
        assert!(end < 45.0, "{kind}: the run goes on for {end} s");
    }
}

#[test]
fn a_line_that_stays_is_held_still() {
    // All is read once, then the cache changes, and then all is read again.
    let lines: Vec<String> = (0..60u64)
        .map(|number| {
            let lbn = number % 30 * 8;
            format!("{},0,read,0,{lbn},8\n", number * 1_000_000_000)
        })
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("time_ns,device,op,fua,lbn,blocks\n{}", lines.concat());
    std::fs::write(folder.path().join("reads.csv"), text).expect("written");
    for (kind, hits) in [
        ("{ resize = \"1600 blocks\" }", 30),
        ("{ resize = \"240 blocks\" }", 30),
        ("\"remove\"", 0),
    ] {
        let spec = format!(
            "[workload]\ntrace = \"reads.csv\"\n[measure]\nwarmup = 0\n[device.tier]\nsize = \"800 blocks\"\n\
             [[device.tier.event]]\nat = \"29.5 s\"\nkind = {kind}\n{DEVICES}"
        );
        let source = crate::support::from_text_in(spec, folder.path());
        let outcome = crate::support::outcome_of(&source, &checked()).expect("it runs");
        assert_eq!(
            outcome.json()["devices"]["tier"]["read_hits"],
            hits,
            "{kind}"
        );
    }
}

#[test]
fn power_cuts_around_changes_lose_nothing() {
    let events = [
        ("500 ms", "{ resize = \"80 blocks\" }"),
        ("1 s", "\"remove\""),
        ("1.3 s", "\"attach\""),
        ("1.6 s", "{ resize = \"1200 blocks\" }"),
    ];
    for keys in &POLICIES[..3] {
        for at in (400..2000).step_by(37) {
            let fault = format!("[[fault]]\nat = \"{at} ms\"\nkind = \"power-cut\"\n");
            run_with(&format!("{fault}{}", spec(keys, &events)), &checked());
        }
    }
}

#[test]
fn changes_without_sense_are_refused_where_they_stand() {
    for (kind, words) in [
        ("{ resize = \"0 B\" }", "without lines"),
        ("{ resize = \"9 blocks\" }", "is no whole number of lines"),
        ("{ resize = \"2 MiB\" }", "larger than the cache device"),
        ("{ resize = \"1 MiB\" }", "its metadata are larger"),
        ("\"detach\"", "remove"),
    ] {
        let error = try_run(&spec("", &[("1 s", kind)]))
            .expect_err(kind)
            .to_string();
        assert!(error.contains(words), "{kind}: {error}");
        assert!(
            error.contains("kind = "),
            "{kind}: the line is not shown: {error}"
        );
    }
}

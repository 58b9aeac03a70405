//! Caches that hold something at the start: what a trace leaves is what simulating it leaves, and ranks are what they say.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::support::{checked, from_text_in, outcome_of, run, run_with, try_run};

/// Requests before those that are measured, and the latter.
const BEFORE: usize = 400;
const MEASURED: usize = 300;
/// Blocks that they go to.
const BLOCKS: u64 = 1_600;

/// Requests a second apart, by an arithmetic of their own.
fn requests(seed: u64) -> Vec<String> {
    let mut state = seed * 2 + 1;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut next = 0;
    let requests = (0..(BEFORE + MEASURED) as u64).map(|number| {
        let op = match draw(40) {
            0 => "flush",
            1 => "trim",
            2..=22 => "read",
            _ => "write",
        };
        let fua = u64::from(op == "write" && draw(10) == 0);
        let (mut lbn, mut blocks) = (draw(BLOCKS / 8) * draw(8), 1 + draw(30));
        if draw(3) == 0 {
            (lbn, blocks) = (next, 16);
        }
        if op == "flush" {
            (lbn, blocks) = (0, 0);
        } else {
            next = (lbn + blocks) % (BLOCKS - 40);
        }
        format!("{},0,{op},{fua},{lbn},{blocks}\n", number * 1_000_000_000)
    });
    requests.collect()
}

fn write(path: &Path, requests: &[String]) {
    let mut text = "time_ns,device,op,fua,lbn,blocks\n".to_owned();
    requests.iter().for_each(|line| text.push_str(line));
    std::fs::write(path, text).expect("written");
}

const DEVICES: &str = "[device.tier.cache.simple]\ncapacity = \"600 blocks\"\nread = \"0.1 ms\"\nwrite = \"0.2 ms\"\n\
                       [device.tier.backing.simple]\ncapacity = \"2000 blocks\"\nread = \"8 ms\"\nwrite = \"9 ms\"\n";

#[test]
fn a_trace_leaves_what_simulating_it_leaves() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hits = 0;
    let rules = [
        "",
        "admission = { after = { accesses = 2, remembered = 20 } }",
        "bypass = { sequential = \"12 KiB\" }",
        "cleaning = \"none\"",
        "cleaning = \"aggressive\"\nline = \"3 blocks\"",
        "cleaning = { oldest = { high = \"30 %\", low = \"10 %\" } }",
        "metadata = \"none\"\ncleaning = \"none\"",
    ];
    let policies = ["lru", "fifo", "slru", "arc", "lifo"];
    let writes = ["write-back", "write-through", "write-around", "read-only"];
    for number in 0..rules.len() * writes.len() {
        let (rule, write_policy) = (rules[number % rules.len()], writes[number / rules.len()]);
        let policy = policies[number % policies.len()];
        let requests = requests(number as u64);
        write(&folder.path().join("all.csv"), &requests);
        write(&folder.path().join("before.csv"), &requests[..BEFORE]);
        write(&folder.path().join("then.csv"), &requests[BEFORE..]);
        let told = |trace: &str, warmup: usize, initial: &str| {
            let mut text = format!(
                "[workload]\ntrace = \"{trace}\"\n[measure]\nwarmup = {warmup}\n[device.tier]\nsize = \"240 blocks\"\n"
            );
            let keys = [rule, initial];
            keys.iter()
                .for_each(|key| writeln!(text, "{key}").expect("text"));
            let text = format!(
                "{text}policy = \"{policy}\"\nwrite_policy = \"{write_policy}\"\n{DEVICES}"
            );
            let outcome = outcome_of(&from_text_in(text, folder.path()), &checked());
            let result = outcome
                .unwrap_or_else(|error| panic!("{rule}: {error}"))
                .json();
            let of = |key: &str| result["devices"]["tier"][key].clone();
            let keys = [
                "reads",
                "read_hits",
                "read_hit_blocks",
                "write_hits",
                "write_hit_blocks",
                "line_accesses",
                "line_misses",
                "insertions",
                "evictions",
                "bypassed",
                "lines_held",
                "dirty_blocks_at_end",
                "absorbed_writes",
            ];
            let counts: Vec<(&str, Value)> = keys.map(|key| (key, of(key))).to_vec();
            (
                counts,
                result["response_ms"]["mean"].as_f64().expect("a mean"),
            )
        };
        let simulated = told("all.csv", BEFORE, "");
        let warm = told("then.csv", 0, "initial = { trace = \"before.csv\" }");
        assert_eq!(warm.0, simulated.0, "{policy}, {write_policy}, {rule}");
        let difference = (warm.1 - simulated.1).abs();
        assert!(
            difference < 1e-9,
            "{policy}, {write_policy}, {rule}: {difference} ms"
        );
        hits += simulated.0[1].1.as_u64().expect("a count");
    }
    assert!(hits > 500, "{hits} hits tell little");
}

fn ranked(address: &str, keys: &str) -> String {
    format!(
        "[workload.synthetic]\nrequests = 4_000\narrivals = {{ closed = {{ users = 1, think = \"1 s\" }} }}\nreads = 1.0\nsize = \"8 blocks\"\n\
         address = {address}\n[measure]\nwarmup = 0\n[device.tier]\nsize = \"400 blocks\"\n{keys}\n{DEVICES}"
    )
}

#[test]
fn the_most_popular_lines_are_held() {
    let address = "{ zipf = { theta = 1.0 } }";
    let found = run(&ranked(
        address,
        "admission = { after = { accesses = 1_000_000 } }\ninitial = { rank = { by = \"popularity\" } }",
    ));
    // Nothing else gets in: what hits is the share of ranks 1 to 50 of 250.
    let harmonic = |n: u32| (1..=n).map(|rank| 1.0 / f64::from(rank)).sum::<f64>();
    let expected = harmonic(50) / harmonic(250);
    let ratio = found["devices"]["tier"]["read_hit_ratio"]
        .as_f64()
        .expect("a ratio");
    // Three standard deviations of 4,000 draws.
    assert!((ratio - expected).abs() < 0.022, "{ratio} and {expected}");
    assert_eq!(
        found["devices"]["tier"]["line_accesses"], 4000,
        "none before the run counts"
    );
}

#[test]
fn the_first_lines_are_held_and_the_last_of_them_are_dirty() {
    let keys = "write_policy = \"write-back\"\ncleaning = \"none\"\ninitial = { rank = { fill = \"50 %\", dirty = \"20 %\" } }";
    let found = run(&ranked("{ uniform = { blocks = 200 } }", keys));
    let tier = &found["devices"]["tier"];
    assert_eq!(tier["read_hits"], 4000);
    assert_eq!(
        (&tier["lines_held"], &tier["dirty_blocks_at_end"]),
        (&25.into(), &40.into())
    );
    assert_eq!(tier["dirty_blocks_mean"], 40.0);
    // They are cleaned once the host has been idle, and written back where their places are needed.
    let idle = keys.replace("\ncleaning = \"none\"", "");
    let found = run_with(
        &ranked("{ uniform = { blocks = 2000 } }", &idle),
        &checked(),
    );
    assert_eq!(found["devices"]["tier"]["write_backs"]["cleaning"], 1);
    let found = run_with(&ranked("{ uniform = { blocks = 2000 } }", keys), &checked());
    assert!(found["devices"]["tier"]["write_backs"]["victims"].as_u64() <= Some(5));
}

#[test]
fn what_the_own_load_leaves_is_held() {
    let cold = run(&ranked("{ zipf = {} }", ""));
    let warm = run(&ranked("{ zipf = {} }", "initial = { requests = 100_000 }"));
    let ratio = |result: &Value| {
        result["devices"]["tier"]["read_hit_ratio"]
            .as_f64()
            .expect("a ratio")
    };
    assert!(
        ratio(&warm) > ratio(&cold),
        "{} and {}",
        ratio(&warm),
        ratio(&cold)
    );
}

#[test]
fn dirty_lines_at_the_start_survive_a_power_cut() {
    let keys = "write_policy = \"write-back\"\ninitial = { rank = { dirty = \"100 %\" } }";
    for at in ["0 ms", "90 ms", "140 ms", "1 s", "40 s"] {
        let fault = format!("[[fault]]\nat = \"{at}\"\nkind = \"power-cut\"\n");
        let load = ranked("{ uniform = {} }", keys).replace("reads = 1.0", "reads = 0.5");
        run_with(&format!("{fault}{load}"), &checked());
    }
}

#[test]
fn what_cannot_be_held_is_refused_where_it_stands() {
    let zipf = "{ zipf = {} }";
    for (address, keys, words) in [
        (
            zipf,
            "initial = { rank = { dirty = \"1 %\" } }",
            "whose write policy makes none",
        ),
        (
            "\"uniform\"",
            "initial = { rank = { by = \"popularity\" } }",
            "no ranks of popularity",
        ),
        (zipf, "initial = { trace = \"nowhere.csv\" }", "nowhere.csv"),
        (zipf, "initial = { ranks = {} }", "rank"),
    ] {
        let error = try_run(&ranked(address, keys)).expect_err(keys).to_string();
        assert!(error.contains(words), "{keys}: {error}");
        assert!(
            error.contains("initial"),
            "{keys}: the line is not shown: {error}"
        );
    }
}

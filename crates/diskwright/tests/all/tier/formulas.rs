//! A tier of devices of constant times, with a closed loop of one and think times longer than any work behind it: the mean response time is
//! the sum over what the requests were of the times that the write policy gives them.

use serde_json::Value;

use crate::support::{checked, run_with};

/// Milliseconds of a read and of a write, of the cache device and of the backing device.
#[derive(Clone, Copy)]
struct Times {
    cache: (f64, f64),
    backing: (f64, f64),
}

/// A slow cache device too: which of two devices a write waits for is told apart.
const TIMES: [Times; 2] = [
    Times {
        cache: (0.1, 0.3),
        backing: (9.0, 11.0),
    },
    Times {
        cache: (2.0, 17.0),
        backing: (9.0, 11.0),
    },
];

/// A tier of 50 lines in front of 200, without metadata unless the keys have them, with random requests that are a line each.
fn spec(times: Times, keys: &str) -> String {
    let device = |(read, write): (f64, f64), lines: u32| {
        format!(
            "capacity = \"{} blocks\"\nread = \"{read} ms\"\nwrite = \"{write} ms\"\n",
            lines * 8
        )
    };
    // The table takes 24 blocks behind the lines.
    let (metadata, table) = match keys.contains("metadata") {
        true => ("", 3),
        false => ("metadata = \"none\"\n", 0),
    };
    format!(
        "[workload.synthetic]\nrequests = 3_000\narrivals = {{ closed = {{ users = 1, think = \"1 s\" }} }}\nreads = 0.6\nsize = \"8 blocks\"\n\
         address = {{ zipf = {{ theta = 0.7 }} }}\n[measure]\nwarmup = 0\n[device.tier]\n{keys}\n{metadata}\
         [device.tier.cache.simple]\n{}[device.tier.backing.simple]\n{}",
        device(times.cache, 50 + table),
        device(times.backing, 200),
    )
}

fn count(tier: &Value, key: &str) -> f64 {
    tier[key].as_f64().unwrap_or_else(|| panic!("{key}"))
}

/// What the mean is, and what the formula makes of the counts.
#[track_caller]
fn check(times: Times, keys: &str, formula: impl Fn(&Value) -> f64) {
    let result = run_with(&spec(times, keys), &checked());
    let tier = &result["devices"]["tier"];
    let mean = result["response_ms"]["mean"].as_f64().expect("a mean");
    let expected = formula(tier) / count(tier, "requests");
    assert!(
        (mean - expected).abs() < 1e-9,
        "{keys}: {mean} ms, and by the formula {expected} ms"
    );
    let hits = count(tier, "read_hits");
    let caches = !keys.contains("pass-through");
    assert!(hits > 100.0 || !caches, "{hits} hits tell little");
}

#[test]
fn the_mean_is_the_formula_of_the_write_policy() {
    for times in TIMES {
        let ((rc, wc), (rb, wb)) = (times.cache, times.backing);
        let reads = |tier: &Value| {
            let hits = count(tier, "read_hits");
            hits * rc + (count(tier, "reads") - hits) * rb
        };
        // Both devices at once.
        check(times, "write_policy = \"write-through\"", |tier| {
            reads(tier) + count(tier, "writes") * wc.max(wb)
        });
        check(times, "write_policy = \"write-around\"", |tier| {
            let hits = count(tier, "write_hits");
            reads(tier) + hits * wc.max(wb) + (count(tier, "writes") - hits) * wb
        });
        check(times, "write_policy = \"read-only\"", |tier| {
            reads(tier) + count(tier, "writes") * wb
        });
        check(times, "write_policy = \"pass-through\"", |tier| {
            count(tier, "reads") * rb + count(tier, "writes") * wb
        });
        // Everything is clean again before the next request.
        check(times, "write_policy = \"write-back\"", |tier| {
            assert_eq!(count(tier, "waited_for_place"), 0.0);
            reads(tier) + count(tier, "writes") * wc
        });
        check(
            times,
            "write_policy = \"write-back\"\ncleaning = \"aggressive\"",
            |tier| reads(tier) + count(tier, "writes") * wc,
        );
        // Where every line is dirty, a write waits until the victim has been read and written.
        check(
            times,
            "write_policy = \"write-back\"\ncleaning = \"none\"",
            |tier| {
                let waits = count(tier, "waited_for_place");
                assert!(waits > 20.0, "{waits} waits tell little");
                reads(tier) + count(tier, "writes") * wc + waits * (rc + wb)
            },
        );
        // With metadata, a write that makes blocks dirty waits for the write of the table, and so does the place of a victim.
        let kept =
            "write_policy = \"write-back\"\nmetadata = { on-cache = { interval = \"0.3 s\" } }";
        check(times, kept, |tier| {
            let commits = count(tier, "waited_for_metadata");
            assert_eq!(commits, count(tier, "writes"));
            assert_eq!(count(tier, "waited_for_place"), 0.0);
            reads(tier) + count(tier, "writes") * wc + commits * wc
        });
        check(times, &format!("{kept}\ncleaning = \"none\""), |tier| {
            let waits = count(tier, "waited_for_place");
            let commits = count(tier, "waited_for_metadata");
            assert!(waits > 20.0, "{waits} waits tell little");
            assert!(commits + 100.0 < count(tier, "writes"), "{commits} commits");
            reads(tier) + count(tier, "writes") * wc + waits * (rc + wb + wc) + commits * wc
        });
        // Where only flushes wait for it, writes do not.
        let lazy = kept.replace("interval", "commit = \"flushes\", interval");
        check(times, &lazy, |tier| {
            assert!(count(tier, "metadata_commits") > 100.0);
            reads(tier) + count(tier, "writes") * wc
        });
        // The variant: a read that misses ends with its promotion.
        check(times, "promotion = \"waited\"", |tier| {
            let misses = count(tier, "reads") - count(tier, "read_hits");
            reads(tier) + misses * wc + count(tier, "writes") * wc.max(wb)
        });
    }
}

#[test]
fn a_rate_counts_for_the_bytes_that_each_device_moves() {
    // 8 blocks at 4.096 MB/s are 1 ms.
    let times = TIMES[0];
    let text = spec(times, "write_policy = \"write-back\"");
    let (front, back) = text
        .split_once("[device.tier.backing.simple]")
        .expect("it is there");
    let text = format!("{front}rate = \"4.096 MB/s\"\n[device.tier.backing.simple]{back}");
    let result = run_with(&text, &checked());
    let tier = &result["devices"]["tier"];
    let hits = count(tier, "read_hits") + count(tier, "writes");
    let misses = count(tier, "reads") - count(tier, "read_hits");
    let (rc, wc) = times.cache;
    let expected = count(tier, "read_hits") * rc
        + count(tier, "writes") * wc
        + hits * 1.0
        + misses * times.backing.0;
    let mean = result["response_ms"]["mean"].as_f64().expect("a mean");
    assert!((mean - expected / count(tier, "requests")).abs() < 1e-9);
}

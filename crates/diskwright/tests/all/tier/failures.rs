//! What the death of a cache device loses; tiers over arrays and arrays of tiers, of which a member fails.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{checked, from_text_in, outcome_of, run_with};

const FAST: &str =
    "simple = { capacity = \"1 MiB\", read = \"0.1 ms\", write = \"0.2 ms\", parallel = 4 }";
const SLOW: &str =
    "simple = { capacity = \"8 MiB\", read = \"8 ms\", write = \"9 ms\", parallel = 4 }";
const STRIPE: &str = "{ stripe = { unit = \"8 blocks\" } }";

/// An array of two such members.
fn array(layout: &str, member: &str) -> String {
    format!("array = {{ layout = {layout}, member = [{{ {member} }}, {{ {member} }}] }}")
}

fn tier(write_policy: &str, cache: &str, backing: &str) -> String {
    format!(
        "tier = {{ write_policy = \"{write_policy}\", cache = {{ {cache} }}, backing = {{ {backing} }} }}"
    )
}

/// Results of 30 s on a device of which a part fails after 15 s.
fn found(device: &str, fails: &str) -> Value {
    let spec = format!(
        "[workload.synthetic]\nrequests = 3_000\narrivals = {{ poisson = \"10 ms\" }}\nreads = 0.6\nflushes = 0.02\nsize = \"8 blocks\"\n\
         address = {{ uniform = {{ blocks = 3_000 }} }}\n[measure]\nwarmup = 0\n\
         [[fault]]\nat = \"15 s\"\nkind = {{ fail = \"{fails}\" }}\n[device]\n{device}\n"
    );
    run_with(&spec, &checked())
}

/// A counter of the tier at the root; 0 where there is none.
fn count(result: &Value, key: &str) -> u64 {
    result["devices"]["tier"][key].as_u64().unwrap_or_default()
}

#[test]
fn a_tier_does_not_see_what_a_mirror_makes_up_for() {
    for write_policy in ["write-through", "write-back"] {
        let cache = tier(write_policy, &array("\"mirror\"", FAST), SLOW);
        let backing = tier(write_policy, FAST, &array("\"mirror\"", SLOW));
        for (device, fails) in [
            (cache, "tier.cache.array.member[0]"),
            (backing, "tier.backing.array.member[1]"),
        ] {
            let result = found(&device, fails);
            assert_eq!(result["requests"]["failed"], 0, "{write_policy}, {fails}");
            for key in ["repeated_reads", "failed_cache_writes", "lost_blocks"] {
                assert_eq!(count(&result, key), 0, "{key}: {write_policy}, {fails}");
            }
        }
    }
}

#[test]
fn a_member_of_a_striped_cache_takes_its_blocks_along() {
    let through = found(
        &tier("write-through", &array(STRIPE, FAST), SLOW),
        "tier.cache.array.member[0]",
    );
    assert_eq!(through["requests"]["failed"], 0);
    assert!(count(&through, "repeated_reads") > 0);
    // The first write that fails is the last one.
    assert_eq!(count(&through, "failed_cache_writes"), 1);
    assert!(through["devices"]["tier"]["bypassed"]["cache_failed"].as_u64() > Some(0));
    // The other member is read still.
    let reads = |member: u32| {
        let simple = &through["devices"][format!("tier.cache.array.member[{member}].simple")];
        simple["reads"].as_u64().expect("a count")
    };
    assert!(reads(1) > reads(0), "{} and {}", reads(1), reads(0));

    let back = found(
        &tier("write-back", &array(STRIPE, FAST), SLOW),
        "tier.cache.array.member[0]",
    );
    let (lost, most) = (
        count(&back, "lost_blocks"),
        count(&back, "dirty_blocks_max"),
    );
    assert!(0 < lost && lost < most, "{lost} of {most}");
    assert!(back["requests"]["failed"].as_u64() > Some(0));
    assert_eq!(count(&back, "dirty_blocks_at_end"), 0);
    assert!(back["devices"]["tier"]["retirement_s"].as_f64() > Some(0.0));
}

#[test]
fn a_flush_tells_that_a_member_of_the_cache_has_taken_dirty_blocks_along() {
    for metadata in [
        "{ on-cache = { commit = \"writes\" } }",
        "{ on-cache = { commit = \"flushes\" } }",
        "\"none\"",
    ] {
        // 150 writes of 4 KiB to the first of two devices, which then fails, and a flush.
        let spec = format!(
            "[workload.synthetic]\nrequests = 151\narrivals = {{ constant = \"10 ms\" }}\nreads = 0.0\nflush_every = 150\nsize = \"8 blocks\"\n\
             address = {{ sequential = {{}} }}\n[measure]\nwarmup = 0\n\
             [[fault]]\nat = \"1.498 s\"\nkind = {{ fail = \"tier.cache.array.member[0]\" }}\n\
             [device.tier]\nwrite_policy = \"write-back\"\ncleaning = \"none\"\nmetadata = {metadata}\n\
             cache = {{ {} }}\nbacking = {{ {SLOW} }}\n",
            array("\"concat\"", FAST)
        );
        let result = run_with(&spec, &checked());
        assert_eq!(count(&result, "dirty_blocks_max"), 1_200, "{metadata}");
        assert_eq!(count(&result, "lost_blocks"), 1_200, "{metadata}");
        assert_eq!(result["requests"]["failed"], 1, "{metadata}");
    }
}

#[test]
fn requests_to_a_member_of_the_backing_device_fail_with_it() {
    let result = found(
        &tier("write-through", FAST, &array(STRIPE, SLOW)),
        "tier.backing.array.member[0]",
    );
    let failed = result["requests"]["failed"].as_u64().expect("a count");
    // Half of the lines lie on the other member.
    assert!((300..1_000).contains(&failed), "{failed}");
    assert_eq!(count(&result, "failed_cache_writes"), 0);
}

#[test]
fn what_cannot_be_cleaned_keeps_no_other_line_from_it() {
    // 200 writes make 800 blocks of each member of the backing device dirty; then one fails, and 200 writes overwrite the same blocks.
    // A fault that meets nothing keeps the run going while the rest is cleaned.
    for cleaning in ["oldest", "aggressive"] {
        let spec = format!(
            "[workload.synthetic]\nrequests = 400\narrivals = {{ constant = \"10 ms\" }}\nreads = 0.0\nsize = \"8 blocks\"\n\
             address = {{ sequential = {{ blocks = 1_600 }} }}\n[measure]\nwarmup = 0\nduration = \"20 s\"\n\
             [[fault]]\nat = \"1.998 s\"\nkind = {{ fail = \"tier.backing.array.member[0]\" }}\n\
             [[fault]]\nat = \"19 s\"\nkind = {{ media-error = {{ device = \"tier.cache.simple\", from = 2_000, blocks = 1 }} }}\n\
             [device.tier]\nwrite_policy = \"write-back\"\nmetadata = \"none\"\n\
             cleaning = {{ {cleaning} = {{ merge = \"8 blocks\", pause = \"1 ms\" }} }}\n\
             cache = {{ {FAST} }}\nbacking = {{ {} }}\n",
            array(STRIPE, SLOW)
        );
        let result = run_with(&spec, &checked());
        // The other member's are all there in the end.
        assert_eq!(count(&result, "dirty_blocks_at_end"), 800, "{cleaning}");
        assert_eq!(count(&result, "lost_blocks"), 0, "{cleaning}");
        let simple = &result["devices"]["tier.backing.array.member[1].simple"];
        assert!(simple["writes"].as_u64() >= Some(100), "{simple}");
    }
}

#[test]
fn a_mirror_of_tiers_makes_up_for_a_cache_that_fails() {
    for write_policy in ["write-through", "write-back"] {
        let mirror = array("\"mirror\"", &tier(write_policy, FAST, SLOW));
        let cache = found(&mirror, "array.member[0].tier.cache.simple");
        let whole = found(&mirror, "array.member[0]");
        for result in [&cache, &whole] {
            assert_eq!(result["requests"]["failed"], 0, "{write_policy}");
        }
        let lost = cache["devices"]["array.member[0].tier"]["lost_blocks"].as_u64();
        assert_eq!(lost > Some(0), write_policy == "write-back");
    }
}

/// Lines of 8 blocks that requests go to, and the requests before the cache device fails.
const LINES: u64 = 200;
const BEFORE: u64 = 300;

/// Reads and writes of whole lines by an arithmetic of their own, a second apart, a read last: the line, and whether it is written.
fn lines(seed: u64) -> Vec<(u64, bool)> {
    let mut state = seed * 2 + 1;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    (1..=BEFORE)
        .map(|number| (draw(LINES), draw(3) > 0 && number < BEFORE))
        .collect()
}

#[test]
fn a_cache_device_that_fails_takes_along_exactly_what_nobody_else_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |number: u64, (line, is_write): (u64, bool)| {
        let op = if is_write { "write" } else { "read" };
        format!("{},0,{op},0,{},8\n", number * 1_000_000_000, line * 8)
    };
    let tell = |rows: &[String], keys: &str, fault: &str| {
        let text = format!("time_ns,device,op,fua,lbn,blocks\n{}", rows.concat());
        std::fs::write(folder.path().join("load.csv"), text).expect("written");
        let text = format!(
            "[workload]\ntrace = \"load.csv\"\n[measure]\nwarmup = 0\n{fault}[device.tier]\nwrite_policy = \"write-back\"\n{keys}\n\
             cache = {{ {FAST} }}\nbacking = {{ {SLOW} }}\n"
        );
        let outcome = outcome_of(&from_text_in(text, folder.path()), &checked());
        outcome
            .unwrap_or_else(|error| panic!("{keys}: {error}"))
            .json()
    };
    let whole = "cleaning = \"none\"";
    for (seed, keys) in [
        (1, whole),
        (2, "cleaning = \"none\"\nmetadata = \"none\""),
        (
            3,
            "cleaning = \"none\"\nsize = \"320 blocks\"\npolicy = \"fifo\"",
        ),
        (
            4,
            "cleaning = { oldest = { high = \"20 %\", low = \"10 %\" } }",
        ),
        (5, "cleaning = \"aggressive\""),
    ] {
        let lines = lines(seed);
        let before: Vec<String> = (0..)
            .zip(&lines)
            .map(|(number, &line)| row(number, line))
            .collect();
        let reads = (0..LINES).map(|line| row(BEFORE + line, (line, false)));
        let all: Vec<String> = before.iter().cloned().chain(reads).collect();
        let at = BEFORE as f64 - 0.5;
        let fault = format!("[[fault]]\nat = \"{at} s\"\nkind = {{ fail = \"tier.cache\" }}\n");
        let result = tell(&all, keys, &fault);
        // The checker compares what each read gets with what was written: those that do not fail have the newest data.
        let unreadable = 8 * result["requests"]["failed"].as_u64().expect("a count");
        assert_eq!(count(&result, "lost_blocks"), unreadable, "{keys}");
        assert_eq!(count(&result, "lost_blocks_at_end"), unreadable, "{keys}");
        let at_risk = count(&tell(&before, keys, ""), "dirty_blocks_at_end");
        assert_eq!(unreadable, at_risk, "{keys}");
        let written: BTreeSet<u64> = lines
            .iter()
            .filter(|line| line.1)
            .map(|line| line.0)
            .collect();
        let written = 8 * written.len() as u64;
        match keys {
            keys if !keys.contains("size") && keys.contains("none\"") => {
                assert_eq!(unreadable, written)
            }
            keys if keys.contains("aggressive") => assert_eq!(unreadable, 0),
            keys => assert!(
                0 < unreadable && unreadable < written,
                "{keys}: {unreadable} of {written}"
            ),
        }
    }
}

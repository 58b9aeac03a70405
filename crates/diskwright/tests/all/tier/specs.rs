//! What a spec may say of a tier, where tiers stand in a tree, and what is refused.

use serde_json::Value;

use crate::support::{run, try_run};

/// Some requests to a device.
fn load(device: &str) -> String {
    format!(
        "[workload.synthetic]\nrequests = 600\narrivals = {{ closed = {{ users = 3, think = \"2 ms\" }} }}\nreads = 0.6\nsize = \"8 blocks\"\n\
         flushes = 0.02\ntrims = 0.02\naddress = {{ uniform = {{ blocks = 4_000 }} }}\n{device}"
    )
}

const CACHE: &str = "[device.tier.cache.simple]\ncapacity = \"1 MiB\"\nread = \"0.1 ms\"\nwrite = \"0.2 ms\"\nparallel = 4\n";
const BACKING: &str =
    "[device.tier.backing.simple]\ncapacity = \"16 MiB\"\nread = \"8 ms\"\nwrite = \"9 ms\"\n";

fn tier(keys: &str) -> String {
    load(&format!("[device.tier]\n{keys}\n{CACHE}{BACKING}"))
}

/// The error of a tier with these keys.
#[track_caller]
fn error(keys: &str) -> String {
    try_run(&tier(keys)).expect_err(keys).to_string()
}

fn lines(result: &Value) -> &Value {
    &result["devices"]["tier"]["lines"]
}

#[test]
fn the_cache_is_as_large_as_its_device_unless_said() {
    // Metadata of 254 lines take 8 KiB behind them.
    let found = run(&tier(""));
    assert_eq!(lines(&found), 254);
    assert_eq!(lines(&run(&tier("metadata = \"none\""))), 256);
    assert_eq!(
        lines(&run(&tier("size = \"64 KiB\"\nline = \"512 B\""))),
        128
    );
    assert_eq!(
        lines(&run(&tier("line = \"1 MiB\"\nmetadata = \"none\""))),
        1
    );
    // Lines that do not divide the device leave a rest of it unused.
    assert_eq!(lines(&run(&tier("line = \"3 blocks\""))), (2048 - 24) / 3);
    for path in ["tier.cache.simple", "tier.backing.simple"] {
        assert!(found["devices"].get(path).is_some(), "{path}");
    }
}

#[test]
fn what_makes_no_tier_is_refused_where_it_stands() {
    for (keys, place, words) in [
        ("line = \"2 MiB\"", "line", "1 block to 1 MiB"),
        ("line = \"0 B\"", "line", "1 block to 1 MiB"),
        ("size = \"0 B\"", "size", "without lines"),
        (
            "size = \"9 blocks\"",
            "size",
            "is no whole number of lines of",
        ),
        ("size = \"2 MiB\"", "size", "larger than the cache device"),
        ("size = \"1 MiB\"", "size", "its metadata are larger"),
        ("policy = \"belady\"", "policy", "must know future requests"),
        ("policy = \"lrx\"", "policy", "lru"),
        ("write_policy = \"write-bck\"", "write_policy", "write-back"),
        (
            "admission = { after = { accesses = 0 } }",
            "admission",
            "1 or more",
        ),
        (
            "admission = { after = { remembered = 0 } }",
            "admission",
            "1 or more",
        ),
        (
            "cleaning = { oldest = { low = \"5 %\" } }",
            "cleaning",
            "without high",
        ),
        (
            "cleaning = { oldest = { high = \"5 %\", low = \"6 %\" } }",
            "cleaning",
            "is above high",
        ),
        (
            "cleaning = { aggressive = { merge = \"0 B\" } }",
            "cleaning",
            "64 MiB",
        ),
        (
            "bypass = { sequential = \"1 MiB\", streams = 0 }",
            "streams",
            "1 to 1024",
        ),
        ("metadata = \"nowhere\"", "metadata", "on-cache"),
    ] {
        let error = error(keys);
        assert!(error.contains(words), "{keys}: {error}");
        let shown = error
            .lines()
            .any(|line| line.contains(place) && line.contains('='));
        assert!(shown, "{keys}: the line is not shown: {error}");
    }
    let small = format!(
        "[device.tier]\nsize = \"1 MiB\"\n{CACHE}{}",
        BACKING.replace("16 MiB", "512 KiB")
    );
    let error = try_run(&load(&small)).expect_err("too small").to_string();
    assert!(error.contains("larger than the backing device"), "{error}");
    let missing = load(&format!("[device.tier]\n{CACHE}"));
    let error = try_run(&missing)
        .expect_err("no backing device")
        .to_string();
    assert!(error.contains("backing"), "{error}");
}

#[test]
fn tiers_stand_anywhere_in_a_tree() {
    let simple = |capacity: &str, ms: &str| {
        format!("simple = {{ capacity = \"{capacity}\", read = \"{ms} ms\", write = \"{ms} ms\" }}")
    };
    let (fast, slow) = (simple("1 MiB", "0.1"), simple("16 MiB", "8"));
    let one = format!(
        "tier = {{ write_policy = \"write-back\", cache = {{ {fast} }}, backing = {{ {slow} }} }}"
    );
    let smaller = simple("128 KiB", "0.01");
    let over_a_tier = format!(
        "tier = {{ write_policy = \"write-back\", cache = {{ {smaller} }}, backing = {{ {one} }} }}"
    );
    let mirror = |member: &str| {
        format!("array = {{ layout = \"mirror\", member = [{{ {member} }}, {{ {member} }}] }}")
    };
    let over_an_array = format!(
        "tier = {{ cache = {{ {} }}, backing = {{ {} }} }}",
        mirror(&fast),
        mirror(&slow)
    );
    let as_a_cache = format!(
        "tier = {{ cache = {{ {over_a_tier} }}, backing = {{ {slow} }}, size = \"1 MiB\" }}"
    );
    for (device, path) in [
        (over_a_tier.clone(), "tier.backing.tier.cache.simple"),
        (mirror(&one), "array.member[1].tier.backing.simple"),
        (over_an_array, "tier.cache.array.member[0].simple"),
        (as_a_cache, "tier.cache.tier.backing.tier.backing.simple"),
    ] {
        let found = run(&load(&format!("[device]\n{device}\n")));
        assert!(found["devices"].get(path).is_some(), "{path}");
        assert_eq!(found["requests"]["failed"], 0);
    }
}

#[test]
fn every_replacement_policy_runs_a_tier() {
    use diskwright::models::cache::replacement::ReplacementSpec;
    for name in ReplacementSpec::NAMES
        .iter()
        .filter(|name| !["belady", "min", "opt"].contains(name))
    {
        for write_policy in ["write-through", "write-back"] {
            let keys = format!(
                "size = \"128 KiB\"\npolicy = \"{name}\"\nwrite_policy = \"{write_policy}\""
            );
            let found = run(&tier(&keys));
            let told = &found["devices"]["tier"];
            assert!(
                told["evictions"].as_u64() > Some(50),
                "{name}: {}",
                told["evictions"]
            );
            assert!(
                told["read_hits"].as_u64() > Some(5),
                "{name}: {}",
                told["read_hits"]
            );
        }
    }
}

#[test]
fn a_disk_behind_an_ssd_is_hidden_by_it() {
    let devices = "[device.tier]\nsize = \"8 MiB\"\n[device.tier.cache.ssd]\ndrive = \"slc-classic\"\n[device.tier.backing.hdd]\ndrive = \"ibm-18es\"\n";
    let zipf = load(devices).replace(
        "{ uniform = { blocks = 4_000 } }",
        "{ zipf = { theta = 1.0, blocks = 16_000 } }",
    );
    let found = run(&zipf.replace("requests = 600", "requests = 6_000"));
    let alone = zipf.replace(devices, "[device.hdd]\ndrive = \"ibm-18es\"\n");
    let alone = run(&alone.replace("requests = 600", "requests = 6_000"));
    let mean = |result: &Value, op: &str| {
        result["by_op"][op]["response_ms"]["mean"]
            .as_f64()
            .expect("a mean")
    };
    assert!(
        mean(&found, "read") < 0.6 * mean(&alone, "read"),
        "{} and {}",
        mean(&found, "read"),
        mean(&alone, "read")
    );
}

#[test]
fn a_worn_out_cache_device_costs_no_request() {
    let flash = "channels = 1, packages = 1, dies = 1, planes = 1, blocks = 40, pages = 16, page = \"8 blocks\", unit = \"8 blocks\"";
    let ssd = format!(
        "[device.tier.cache.ssd]\ndrive = \"slc-classic\"\nflash = {{ {flash} }}\nspare = {{ share = \"30 %\" }}\nwear = {{ endurance = 2 }}\n"
    );
    for write_policy in ["write-through", "write-back"] {
        let keys = format!(
            "[device.tier]\nsize = \"1 MiB\"\nwrite_policy = \"{write_policy}\"\n{ssd}{BACKING}"
        );
        let found = run(&load(&keys).replace("requests = 600", "requests = 6_000"));
        let (tier, ssd) = (
            &found["devices"]["tier"],
            &found["devices"]["tier.cache.ssd"],
        );
        assert!(ssd["read_only_since_s"].as_f64().is_some(), "{ssd}");
        assert!(tier["failed_cache_writes"].as_u64() > Some(0), "{tier}");
        assert!(
            tier["bypassed"]["cache_failed"].as_u64() > Some(0),
            "{tier}"
        );
        assert_eq!(found["requests"]["failed"], 0, "{write_policy}");
        assert!(tier.get("lost_blocks").is_none());
    }
}

//! Members that fail, blocks that cannot be read, and a power cut after either.

use crate::support::RunOptions;
use serde_json::Value;

use super::common::{LINEAR, alone, number, two};
use crate::support::{run, try_run_with};

/// Requests at random instants to a device.
fn poisson(requests: u32, keys: &str, device: &str) -> String {
    format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ poisson = \"8 ms\" }}\nsize = \"8 blocks\"\n{keys}\n\
         [measure]\nwarmup = 0\n[device]\n{device}\n"
    )
}

fn fault(at: &str, kind: &str) -> String {
    format!("[[fault]]\nat = \"{at}\"\nkind = {kind}\n")
}

fn failed(result: &Value) -> u64 {
    result["requests"]["failed"].as_u64().expect("a count")
}

#[test]
fn a_mirror_with_one_member_is_the_disk_that_is_left() {
    let keys = "reads = 0.5\nflushes = 0.05\naddress = { uniform = { blocks = 4_000_000 } }";
    let disk = run(&poisson(800, keys, &format!("hdd = {{ {LINEAR} }}")));
    for (member, path) in [
        (0, "array.member[0]"),
        (0, "array.member[0].hdd"),
        (1, "array.member[1]"),
    ] {
        for read in ["first", "round-robin", "nearest", "least-outstanding"] {
            let mirror = two(
                &format!("{{ mirror = {{ read = \"{read}\" }} }}"),
                "\"synchronised\"",
                LINEAR,
            );
            let text = poisson(800, keys, &mirror);
            let result = run(&format!(
                "{text}{}",
                fault("0 ms", &format!("{{ fail = \"{path}\" }}"))
            ));
            assert_eq!(result["digest"], disk["digest"], "{path} {read}");
            assert_eq!(failed(&result), 0);
            let sent = |member: u32| {
                number(
                    &result["devices"]["array"],
                    &format!("members.member[{member}].pieces"),
                )
            };
            assert_eq!([sent(member), sent(1 - member)], [0.0, 800.0]);
        }
    }
}

#[test]
fn a_member_that_fails_on_the_way_costs_no_request() {
    let keys = "reads = 0.5\nfua = 0.2\nflushes = 0.05\naddress = { uniform = { blocks = 2_000 } }";
    for disk in [
        LINEAR,
        "drive = \"ibm-18es\"",
        "drive = \"cheetah-9lp\", cache = { size = \"64 KiB\", write_policy = \"write-back\" }",
    ] {
        let mirror = two("{ mirror = { read = \"round-robin\" } }", "\"free\"", disk);
        let text = poisson(1000, keys, &mirror);
        for cut in ["", "[[fault]]\nat = \"7 s\"\nkind = \"power-cut\"\n"] {
            let result = run(&format!(
                "{text}{}{cut}",
                fault("3 s", "{ fail = \"array.member[1]\" }")
            ));
            if cut.is_empty() {
                assert_eq!(failed(&result), 0);
                assert_eq!(number(&result, "requests.measured"), 1000.0);
            }
        }
        let both =
            [0, 1].map(|member| fault("3 s", &format!("{{ fail = \"array.member[{member}]\" }}")));
        let lost = run(&format!("{text}{}", both.concat()));
        let count = failed(&lost);
        assert!(
            (500..750).contains(&count),
            "{count} of about 625 requests come after 3 s"
        );
        assert_eq!(number(&lost, "requests.measured"), (1000 - count) as f64);
        let warnings = lost["warnings"].to_string();
        assert!(
            warnings.contains(&format!("{count} requests ended with an error")),
            "{warnings}"
        );
    }
}

#[test]
fn a_stripe_passes_media_errors_on_until_the_blocks_are_written() {
    let stripe = two("{ stripe = { unit = \"8 blocks\" } }", "\"free\"", LINEAR);
    let spoilt = fault(
        "0 ms",
        "{ media-error = { device = \"array.member[1].hdd\", from = 20, blocks = 2 } }",
    );
    let text = |reads: &str| {
        let keys = format!("reads = {reads}\naddress = {{ uniform = {{ blocks = 80 }} }}");
        format!("{}{spoilt}", alone(2000, 8, &keys, &stripe))
    };
    // Blocks 20 and 21 of the second member are in its third unit: one of ten places. Four standard errors.
    let count = failed(&run(&text("1.0")));
    assert!(count.abs_diff(200) < 54, "{count}");
    let healed = failed(&run(&text("0.5")));
    assert!(
        healed < 12,
        "{healed} reads before the first write of the place"
    );
}

#[test]
fn a_mirror_makes_up_for_media_errors_and_a_cache_does_not_keep_them() {
    let keys = "reads = 0.9\naddress = { uniform = { blocks = 4_000 } }";
    let spoilt = |device: &str| {
        fault(
            "0 ms",
            &format!("{{ media-error = {{ device = \"{device}\", from = 0, blocks = 1000 }} }}"),
        )
    };
    let cached = "drive = \"cheetah-9lp\", cache = { size = \"256 KiB\" }";
    let disk = alone(1500, 8, keys, &format!("hdd = {{ {cached} }}"));
    let failures = failed(&run(&format!("{disk}{}", spoilt("hdd"))));
    assert!((100..400).contains(&failures), "{failures}");
    let mirror = alone(
        1500,
        8,
        keys,
        &two("{ mirror = { read = \"first\" } }", "\"free\"", cached),
    );
    let result = run(&format!("{mirror}{}", spoilt("array.member[0]")));
    assert_eq!(failed(&result), 0);
    assert!(number(&result, "devices.array.retried_reads") > 100.0);
}

#[test]
fn faults_that_cannot_be_are_told_where_they_stand() {
    let device = two("\"mirror\"", "\"free\"", LINEAR);
    let good = poisson(10, "", &device);
    for (kind, words) in [
        (
            "{ fail = \"array.member[2]\" }",
            &[
                "spec:12:17",
                "unknown device \"array.member[2]\"",
                "did you mean \"array.member[",
            ][..],
        ),
        (
            "{ fail = \"device.array.member[1]\" }",
            &["did you mean \"array.member[1]\"?"],
        ),
        (
            "{ fail = \"hdd\" }",
            &["accepted: array.member[0], array.member[0].hdd, array.member[1]"],
        ),
        (
            "{ fial = \"hdd\" }",
            &["spec:12:10", "did you mean \"fail\""],
        ),
        (
            "\"fail\"",
            &["spec:12:8", "\"fail\" takes a value", "{ fail = … }"],
        ),
        (
            "{ media-error = { device = \"array\", from = 0, blocks = 8 } }",
            &[
                "spec:12:35",
                "not one device with a medium",
                "array.member[0].hdd, array.member[1].hdd",
            ],
        ),
        (
            "{ media-error = { device = \"array.member[0]\", from = 17899439, blocks = 2 } }",
            &["2 blocks from block 17899439", "up to block 17899440"],
        ),
        (
            "{ media-error = { device = \"array.member[0]\", from = 1, blocks = 0 } }",
            &["no blocks", "expected 1 or more"],
        ),
        (
            "{ media-error = { device = \"array.member[0]\", from = 1 } }",
            &["\"blocks\" is missing"],
        ),
    ] {
        let text = format!("{good}{}", fault("1 s", kind));
        let error = try_run_with(&text, &RunOptions::default()).expect_err(kind);
        let message = error.to_string();
        assert_eq!(error.exit_code(), 2, "{message}");
        for word in words {
            assert!(
                message.contains(word),
                "{kind}: {word:?} is not in\n{message}"
            );
        }
    }
    run(&format!(
        "{good}{}",
        fault("1 ms", "{ fail = \"array.member[1]\" }")
    ));
}

#[test]
fn the_effective_spec_has_the_faults_and_runs_again() {
    let device = two("\"mirror\"", "\"free\"", LINEAR);
    let faults = [
        fault("1 s", "{ fail = \"array.member[1]\" }"),
        fault(
            "1 s",
            "{ media-error = { device = \"array.member[0].hdd\", from = 1000, blocks = 8 } }",
        ),
        fault("1.2 s", "\"power-cut\""),
    ];
    let result = run(&format!(
        "{}{}",
        poisson(300, "reads = 0.5", &device),
        faults.concat()
    ));
    let again = run(&toml::to_string(&result["spec"]).expect("TOML has all of it"));
    assert_eq!(again["digest"], result["digest"]);
    assert_eq!(again["spec"]["fault"], result["spec"]["fault"]);
    assert_eq!(
        result["spec"]["fault"][0]["kind"]["fail"],
        "array.member[1]"
    );
}

//! Drives with several arms, and drives that write wherever the head is.

use diskwright::models::queue::SchedulerSpec;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{run, try_run};

fn refused(text: &str) -> String {
    try_run(text).expect_err("refused").to_string()
}

/// Random requests of 4 KiB over the first million sectors of a drive, one after the other.
fn load(requests: u32, reads: f64, new: f64) -> String {
    format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ poisson = \"100 ms\" }}\nreads = {reads}\nsize = \"8 blocks\"\n\
         address = {{ growing = {{ from = 0, blocks = 1_000_000, new = {new} }} }}\n"
    )
}

const DAD: &str = "arms = { arm = [{}, { angle = 0.5 }] }\n";
const DALD: &str = "arms = { arm = [{ writes = false }, { angle = 0.5, reads = false }] }\n";
const EAGER: &str = "placement = { eager = { initial = { write = \"1_000_000 blocks\" } } }\n";

fn on(drive: &str, what: &str) -> String {
    format!("[device.hdd]\ndrive = \"{drive}\"\nbuffer = false\n{what}")
}

/// The mean time from the start of a request to its end.
fn latency(text: &str) -> f64 {
    let parts = run(text)["parts_ms"].clone();
    let parts = parts.as_object().expect("parts").values();
    parts.filter_map(Value::as_f64).sum()
}

#[test]
fn one_arm_said_or_not_is_the_same_drive() {
    for drive in ["ibm-18es", "cheetah-9lp", "exos-x20", "ibm-18es-linear"] {
        for scheduler in SchedulerSpec::NAMES {
            for size in [3, 700] {
                let text = |arms: &str| {
                    format!(
                        "[workload.synthetic]\nrequests = 400\narrivals = {{ poisson = \"9 ms\" }}\nreads = 0.6\nsize = \"{size} blocks\"\n\
                         address = {{ uniform = {{ from = 1, blocks = 3_000_000 }} }}\n{}[device.hdd.queue]\nscheduler = \"{scheduler}\"\n",
                        on(drive, arms)
                    )
                };
                let (plain, said) = (run(&text("")), run(&text("arms = {}\n")));
                assert_eq!(
                    plain["digest"], said["digest"],
                    "{drive} {scheduler} {size}"
                );
                let (plain, said) = (&plain["devices"]["hdd"], &said["devices"]["hdd"]);
                for key in [
                    "busy_ms",
                    "utilisation",
                    "queue_length_mean",
                    "read_modify_writes",
                    "travels",
                ] {
                    assert_eq!(plain[key], said[key], "{drive} {scheduler} {size}: {key}");
                }
            }
        }
    }
}

#[test]
fn two_arms_position_in_the_times_of_the_paper() {
    for (drive, one, two) in [
        ("ibm-18es-linear", 5.68, 3.60),
        ("cheetah-9lp-linear", 4.19, 2.70),
    ] {
        let found = |what: &str| latency(&format!("{}{}", load(60_000, 1.0, 0.0), on(drive, what)));
        assert!((found("") - one).abs() < 0.02, "{drive}: {}", found(""));
        assert!((found(DAD) - two).abs() < 0.02, "{drive}: {}", found(DAD));
    }
}

#[test]
fn the_arm_that_writes_stays_where_there_is_room() {
    let found = |arms: &str, w: f64| {
        let what = format!("{arms}{EAGER}");
        latency(&format!(
            "{}{}",
            load(20_000, 1.0 - w, 0.5),
            on("ibm-18es-linear", &what)
        ))
    };
    // Reads move the only arm away from it.
    let (logging, dald) = (found("", 0.5), found(DALD, 0.5));
    assert!(dald < 0.97 * logging, "{dald} and {logging}");
    // Without reads nothing does.
    let (logging, dald) = (found("", 1.0), found(DALD, 1.0));
    assert!((dald / logging - 1.0).abs() < 0.05, "{dald} and {logging}");
    assert!(dald < 1.1, "{dald}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let text = |what: &str| format!("{}{}", load(10, 0.5, 0.0), on("ibm-18es-linear", what));
    for (what, said) in [
        ("arms = { arm = [] }", "0 arms"),
        ("arms = { arm = [{ angle = 1.0 }] }", "0.5 is opposite"),
        (
            "arms = { arm = [{ surfaces = [2, 5] }] }",
            "surfaces 0 to 4",
        ),
        (
            "arms = { arm = [{ cylinders = [3, 2] }] }",
            "cylinders 0 to 11473",
        ),
        (
            "arms = { arm = [{ cylinders = [3, 11473] }] }",
            "no arm reads surface 0 of cylinder 0",
        ),
        ("arms = { arm = [{ writes = false }] }", "no arm writes"),
        (
            "arms = { motion = \"independent\", arm = [{}, { writes = false }] }",
            "independent arms 0 and 1",
        ),
        ("arms = {}\nbuffer = true", "duplicate key"),
        (
            "placement = { eager = { block = \"0 B\" } }",
            "whole number of sectors",
        ),
        (
            "placement = { eager = { block = \"256 KiB\" } }",
            "no block fits",
        ),
        (
            "placement = { eager = { reserve = 1.0 } }",
            "from 0 to below 1",
        ),
        (
            "placement = \"eager\"\narms = { arm = [{ surfaces = [0, 2] }, { surfaces = [3, 4] }] }",
            "may put a block anywhere",
        ),
        ("arms = { choice = \"soonets\" }", "soonest"),
    ] {
        let error = refused(&text(what));
        assert!(error.contains(said), "{what}: {error}");
        assert!(error.contains("spec:"), "{what}: {error}");
    }
}

#[test]
fn a_segmented_buffer_is_for_one_arm_and_data_in_place() {
    let text = |what: &str| {
        let load = load(10, 0.5, 0.0);
        format!("{load}[device.hdd]\ndrive = \"ibm-18es\"\nbuffer = true\n{what}")
    };
    for (what, said) in [
        (
            "arms = { arm = [{}, { angle = 0.5 }] }",
            "with several arms",
        ),
        ("placement = \"eager\"", "with data in a log"),
    ] {
        let error = refused(&text(what));
        assert!(error.contains(said), "{what}: {error}");
        assert!(error.contains("buffer = false"), "{what}: {error}");
        assert!(error.contains("spec:"), "{what}: {error}");
    }
    run(&text("arms = { arm = [{ angle = 0.25, start = 100 }] }"));
}

/// Arms of every kind; those that a log can have, too.
fn arms(with_log: bool) -> impl Strategy<Value = String> {
    let choices = prop::sample::select(vec![
        "\"soonest\"",
        "\"nearest\"",
        "\"split\"",
        "{ adaptive = { window = 20 } }",
    ]);
    let angle = 0.0..0.99f64;
    let sets: BoxedStrategy<(String, bool)> = prop_oneof![
        Just(("{}".to_owned(), true)),
        angle.clone().prop_map(|a| (format!("{{}}, {{ angle = {a} }}"), true)),
        angle.clone().prop_map(|a| (format!("{{}}, {{ angle = {a}, start = 400 }}, {{ angle = {a} }}"), true)),
        angle.clone().prop_map(|a| (format!("{{ writes = false }}, {{ angle = {a}, reads = false }}"), true)),
        // Not with a log: each has its surfaces, its cylinders, or one of both.
        Just(("{ surfaces = [0, 1] }, { surfaces = [2, 4] }".to_owned(), false)),
        Just(("{ cylinders = [0, 900] }, { cylinders = [901, 11473], angle = 0.25 }".to_owned(), false)),
        angle.prop_map(|a| (
            format!("{{ surfaces = [0, 1] }}, {{ surfaces = [2, 4] }}, {{ surfaces = [2, 4], angle = {a} }}"),
            false
        )),
    ]
    .boxed();
    let motion = prop::sample::select(vec!["one-at-a-time", "independent"]);
    (sets, motion, choices)
        .prop_filter("a log may put a block anywhere", move |((_, all), ..)| {
            *all || !with_log
        })
        .prop_map(|((arms, _), motion, choice)| {
            format!("arms = {{ motion = \"{motion}\", choice = {choice}, arm = [{arms}] }}\n")
        })
}

fn logs() -> impl Strategy<Value = String> {
    let allocator = prop::sample::select(vec!["soonest", "nearest-cylinder", "edge"]);
    let recovery = prop::sample::select(vec!["headers", "virtual-log"]);
    let cleaner = prop::sample::select(vec![
        "",
        "cleaner = { idle = { after = \"3 ms\", empty = 0.97 } },",
        "cleaner = { watermark = { low = 0.97, high = 0.98 } },",
    ]);
    let block = prop::sample::select(vec![1u32, 8, 64]);
    let initial = prop_oneof![
        Just(String::new()),
        (1u32..4000).prop_map(|blocks| format!(
            "initial = {{ write = \"{blocks} blocks\", gap = \"5 ms\" }},"
        )),
    ];
    (allocator, recovery, cleaner, block, initial, prop::sample::select(vec![0.0, 0.01, 0.5])).prop_map(
        |(allocator, recovery, cleaner, block, initial, reserve)| {
            format!(
                "placement = {{ eager = {{ allocator = \"{allocator}\", recovery = \"{recovery}\", {cleaner} {initial} \
                 block = \"{block} blocks\", reserve = {reserve} }} }}\n"
            )
        },
    )
}

fn specs() -> impl Strategy<Value = String> {
    let placed = prop_oneof![
        1 => arms(false),
        2 => (arms(true), logs()).prop_map(|(arms, log)| format!("{arms}{log}")),
    ];
    let size = prop::sample::select(vec![1u32, 3, 8, 64, 700]);
    let region = prop::sample::select(vec![1_500u32, 5_000, 200_000]);
    let scheduler = prop::sample::select(SchedulerSpec::NAMES);
    let users = 1u32..40;
    let fault = prop_oneof![
        Just(String::new()),
        (1u32..4_000_000)
            .prop_map(|us| format!("[[fault]]\nat = \"{us} us\"\nkind = \"power-cut\"\n")),
    ];
    let operations = (0.0..0.1f64, 0.0..0.1f64, 0.0..0.8f64);
    (placed, size, region, scheduler, users, operations, fault, any::<u32>()).prop_map(
        |(placed, size, region, scheduler, users, (flushes, trims, reads), fault, seed)| {
            format!(
                "seed = {seed}\n[workload.synthetic]\nrequests = 300\narrivals = {{ closed = {{ users = {users}, think = \"1 ms\" }} }}\n\
                 reads = {reads}\nflushes = {flushes}\ntrims = {trims}\nsize = \"{size} blocks\"\n\
                 address = {{ uniform = {{ from = 5, blocks = {region} }} }}\n{fault}\
                 {}[device.hdd.queue]\nscheduler = \"{scheduler}\"\n",
                on("ibm-18es-linear", &placed)
            )
        },
    )
}

proptest! {
    // Each case is two runs, and most make the slots of a whole drive first.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    /// Nothing is lost or stale, every part is accounted for, with or without a loss of power; and twice the same.
    #[test]
    fn random_drives_keep_their_promises(text in specs()) {
        let (first, second) = (run(&text), run(&text));
        prop_assert_eq!(&first["digest"], &second["digest"]);
        if !text.contains("fault") {
            prop_assert_eq!(&first["requests"]["completed"], 300);
        }
    }
}

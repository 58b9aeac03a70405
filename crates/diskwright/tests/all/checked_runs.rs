//! Random specs with the checker on: nothing is lost, nothing stale, every part accounted for; and twice the same.

use diskwright::base::document::{Node, from_node};
use diskwright::base::error::Source;
use diskwright::models::cache::replacement::ReplacementSpec;
use diskwright::models::queue::SchedulerSpec;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::run;

fn needs_geometry(scheduler: &str) -> bool {
    let node = Node::parse(&Source::new("test", format!("scheduler = \"{scheduler}\"")));
    let node = node.expect("valid TOML");
    let spec: SchedulerSpec =
        from_node(node.get("scheduler").expect("the key above")).expect("a scheduler's name");
    spec.build().needs_geometry()
}

fn specs() -> impl Strategy<Value = String> {
    // Those with a pool have no block cache beside it.
    let mut drives = diskwright::devices::drives::names_of("hdd");
    drives.retain(|name| {
        !diskwright::devices::drives::text(name).is_some_and(|text| text.contains("\n[pool]\n"))
    });
    let drive = prop::sample::select(drives);
    let arrivals = prop_oneof![
        (1u32..40).prop_map(|ms| format!("{{ poisson = \"{ms} ms\" }}")),
        (1u32..40).prop_map(|ms| format!("{{ constant = \"{ms} ms\" }}")),
        (1u32..80, 0u32..20).prop_map(|(users, ms)| format!(
            "{{ closed = {{ users = {users}, think = \"{ms} ms\" }} }}"
        )),
    ];
    // Whatever the registry has, and short timeouts.
    let names = || prop::sample::select(SchedulerSpec::NAMES);
    let policy = prop_oneof![
        4 => names().prop_map(|name| format!("\"{name}\"")),
        1 => Just("{ ncq = { timeout = \"30 ms\" } }".to_owned()),
        1 => Just("{ deadline = { read_expire = \"30 ms\", write_expire = \"60 ms\" } }".to_owned()),
    ];
    let host_policy = names().prop_filter("for a host", |name| !needs_geometry(name));
    let size = prop::sample::select(vec![1u32, 3, 8, 64, 300]);
    // A few hundred blocks, so that requests overlap; or the whole drive.
    let address = prop_oneof![
        Just("\"uniform\"".to_owned()),
        (0u32..5000).prop_map(|from| format!("{{ uniform = {{ from = {from}, blocks = 900 }} }}")),
        Just("\"sequential\"".to_owned()),
    ];
    let limits = (
        1u32..40,
        prop_oneof![
            Just(String::new()),
            (1u32..50).prop_map(|n| format!("outstanding = {n}\n"))
        ],
    );
    let operations = prop_oneof![
        Just(String::new()),
        (0.0..0.1f64, 0.0..0.2f64, 0.0..0.1f64).prop_map(|(flushes, fua, trims)| format!(
            "flushes = {flushes}\nfua = {fua}\ntrims = {trims}\n"
        )),
    ];
    let load = (size, address, operations, 0.0..0.8f64);
    let parts = (buffers(), clusterings(), caches());
    (drive, arrivals, policy, host_policy, load, parts, limits, any::<u32>()).prop_map(
        |(drive, arrivals, policy, host_policy, load, (buffer, clustering, cache), (depth, outstanding), seed)| {
            let (size, address, operations, reads) = load;
            format!(
                "seed = {seed}\n[workload.synthetic]\nrequests = 300\narrivals = {arrivals}\nreads = {reads}\nsize = \"{size} blocks\"\n\
                 {operations}address = {address}\n[host]\n{outstanding}scheduler = \"{host_policy}\"\n[device.hdd]\ndrive = \"{drive}\"\n\
                 buffer = {buffer}\n[device.hdd.queue]\ndepth = {depth}\nscheduler = {policy}\n{clustering}{cache}"
            )
        },
    )
}

/// Requests merged in the queue, or not.
fn clusterings() -> impl Strategy<Value = String> {
    let slots = prop::sample::select(vec!["parts", "merged"]);
    let place = prop::sample::select(vec!["oldest", "newest"]);
    let merged = (2u32..700, slots, place).prop_map(|(threshold, slots, place)| {
        format!(
            "clustering = \"{threshold} blocks\"\nslots = \"{slots}\"\nmerged_place = \"{place}\"\n"
        )
    });
    prop_oneof![Just(String::new()), merged]
}

/// A cache in front of the queue, or none: from one that holds a frame to one that holds everything.
fn caches() -> impl Strategy<Value = String> {
    let policies = ReplacementSpec::NAMES.iter().copied();
    let policies: Vec<&str> = policies
        .filter(|name| !["belady", "min", "opt"].contains(name))
        .collect();
    let frames = prop_oneof![1u32..6, 1u32..200, Just(100_000)];
    let block = prop::sample::select(vec![1u32, 7, 8, 64, 65, 2048]);
    let cache = (frames, block, prop::sample::select(policies), any::<bool>(), 0u32..2).prop_map(
        |(frames, block, policy, back, ms)| {
            let size = u64::from(frames) * u64::from(block);
            let writes = if back { "write-back" } else { "write-through" };
            format!(
                "[device.hdd.cache]\nsize = \"{size} blocks\"\nblock_size = \"{block} blocks\"\npolicy = \"{policy}\"\n\
                 write_policy = \"{writes}\"\nhit_overhead = \"{ms} ms\"\n"
            )
        },
    );
    prop_oneof![1 => Just(String::new()), 2 => cache]
}

/// The drive's buffer, none, or any.
fn buffers() -> impl Strategy<Value = String> {
    let write = (
        prop::sample::select(vec!["on-medium", "buffered-alone", "buffered"]),
        any::<bool>(),
        any::<bool>(),
        0u32..3,
    )
        .prop_map(|(complete, own_segment, appends, ms)| {
            format!(
                "complete = \"{complete}\", own_segment = {own_segment}, appends = {appends}, \
                 buffered_after_read = \"{ms} ms\", buffered_after_write = \"0.1 ms\", least_seek = \"{ms} ms\""
            )
        });
    let extra = prop_oneof![
        Just(String::new()),
        Just(", extra_disconnection = { command = \"0.1 ms\", disconnect = \"0.2 ms\", pause = \"0.3 ms\", second = \"0.1 ms\", seek = \"0.4 ms\" }".to_owned()),
    ];
    let ahead = (
        prop::sample::select(vec!["none", "track", "cylinder", "segment", "stream-track"]),
        prop_oneof![Just(String::new()), (0u32..900).prop_map(|n| format!("most = \"{n} blocks\", "))],
        0u32..100,
        any::<[bool; 4]>(),
    )
        .prop_map(|(until, most, least, [over, after, stops, waiting])| {
            format!(
                "until = \"{until}\", {most}least = \"{least} blocks\", over_requested = {over}, after_hits = {after}, \
                 stops_within_sector = {stops}, while_waiting = {waiting}"
            )
        });
    let bus = (any::<[bool; 3]>(), 0.0..1.0f64, prop::sample::select(vec!["request", "segment"]), 0u32..500).prop_map(
        |([disconnects, reads, writes], mark, water, us)| {
            format!(
                "disconnects = {disconnects}, kept_by_reads = {reads}, kept_by_writes = {writes}, high_water = {mark}, low_water = {mark}, \
                 water = \"{water}\", preparation = \"{us} us\", reselect = \"{us} us\", reselect_again = \"{us} us\", \
                 disconnect_read_after_read = \"{us} us\", disconnect_read_after_write = \"0.1 ms\", disconnect_write = \"{us} us\""
            )
        },
    );
    let read = any::<[bool; 2]>().prop_map(|[hits, at_once]| {
        format!("hits_written_data = {hits}, partial_hits_at_once = {at_once}, hit_after_read = \"0.1 ms\", late_hits = {{ share = 0.5, by = \"0.3 ms\" }}")
    });
    let pre_seek =
        prop::sample::select(vec!["after-completion", "while-completing", "after-medium"]);
    let any_buffer = (2u32..6, 8u32..600, (any::<bool>(), pre_seek), read, ahead, (write, extra), bus).prop_map(
        |(segments, size, (keeps, pre_seek), read, ahead, (write, extra), bus)| {
            format!(
                "{{ segments = {segments}, segment_size = \"{size} blocks\", keeps_data = {keeps}, pre_seek = \"{pre_seek}\", read = {{ {read} }}, \
                 read_ahead = {{ {ahead} }}, write = {{ {write}{extra} }}, bus = {{ {bus} }} }}"
            )
        },
    );
    prop_oneof![
        1 => Just("true".to_owned()),
        1 => Just("false".to_owned()),
        3 => any_buffer,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn a_checked_run_has_no_fault_and_repeats_itself(text in specs()) {
        let result = run(&text);
        let requests = &result["requests"];
        prop_assert_eq!(&requests["completed"], &Value::from(300));
        prop_assert_eq!(&requests["issued"], &Value::from(300));
        prop_assert_eq!(&result["checked"], &Value::from(300));
        let has_buffer = result["devices"]["hdd"]["buffer_hits"].is_u64();
        let data = requests["reads"].as_u64().expect("a count") + requests["writes"].as_u64().expect("a count");
        let accesses = result["devices"]["hdd"]["media_accesses"].as_u64().expect("a count");
        let merged = result["devices"]["hdd"]["merged_requests"].as_u64().unwrap_or(0);
        let cache = &result["devices"]["hdd.cache"];
        let of_cache = |key: &str| cache[key].as_u64().unwrap_or(0);
        let at_drive = data - of_cache("read_hits") - of_cache("absorbed_writes") + of_cache("destages");
        let picked = at_drive - merged;
        prop_assert!(accesses == picked || has_buffer && accesses < picked, "{} {}", accesses, picked);
        let parts: f64 = result["parts_ms"].as_object().expect("parts").values().filter_map(Value::as_f64).sum();
        let waiting = result["response_ms"]["mean"].as_f64().expect("a mean") - parts;
        prop_assert!(waiting > -1e-6, "the parts are longer than the response");
        let utilisation = result["devices"]["hdd"]["utilisation"].as_f64().expect("a share");
        prop_assert!((0.0..=1.0 + 1e-9).contains(&utilisation), "{}", utilisation);
        let queue = &result["spec"]["device"]["hdd"]["queue"];
        let depth = queue["depth"].as_u64().expect("a depth");
        let longest = result["devices"]["hdd"]["queue_length_max"].as_u64().expect("a length");
        prop_assert!(longest <= depth || queue["slots"] == "merged");
        prop_assert_eq!(&run(&text)["digest"], &result["digest"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn a_power_cut_loses_nothing_that_was_promised(text in specs(), at_us in 0u64..3_000_000) {
        let result = run(&format!("{text}[[fault]]\nat = \"{at_us} us\"\nkind = \"power-cut\"\n"));
        let count = |key: &str| result["requests"][key].as_u64().expect("a count");
        // What was issued either ended well or was lost, and only what ended well is measured.
        prop_assert_eq!(count("completed"), count("issued"));
        prop_assert_eq!(count("measured"), count("completed") - count("failed"));
        prop_assert!(count("issued") <= 300);
        let notes = result["notes"].to_string();
        prop_assert!(notes.contains("the power was cut"), "{}", notes);
        let last_us = result["simulated_s"].as_f64().expect("a time") * 1e6;
        prop_assert!(last_us <= at_us as f64 + 1.0);
    }
}

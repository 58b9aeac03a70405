//! Controllers of types 2 and 3, with the memory cache and the cache device: what they become, and that the systems run.

use std::path::Path;

use serde_json::{Value, json};

use super::sample::{FIRST, Sample};
use super::systems::simple;
use crate::support::{RunOptions, from_text_in, outcome_of};
use diskwright::disksim::{Whole, whole_from};

const CONTROLLER: &str = "   type = 1,\n   Scale for delays = 0.0,\n   Bulk sector transfer time = 0.0,\n   Maximum queue length = 0,";

const QUEUE: &str = "   Scheduler = disksim_ioqueue {\n Scheduling policy = 3, Cylinder mapping strategy = 0,\n [ Write initiation delay, Read initiation delay ] = 0.0,\n Sequential stream scheme = 3, Maximum concat size = 128,\n [ Overlapping request scheme, Sequential stream diff maximum, Scheduling timeout scheme, Timeout time/weight, Timeout scheduling, Scheduling priority scheme, Priority scheduling ] = 0\n },\n   Max per-disk pending count = 1,";

const MEMORY: &str = "   Cache = disksim_cachemem {\n Cache size = 512, SLRU segments = [ 512 ], Line size = 16, Bit granularity = 1, Lock granularity = 16, Shared read locks = 1, Max request size = 256, Replacement policy = 2, Allocation policy = 0, Write scheme = 3, Flush policy = 0, Flush period = 0.0, Flush idle delay = -1.0, Flush max line cluster = 8, Read prefetch type = 0, Write prefetch type = 0, Line-by-line fetches = 1, Max gather = 7\n },";

const DEVICE: &str = "   Cache = disksim_cachedev {\n Cache size = 500, Max request size = 0, Write scheme = 3, Flush policy = 0, Flush period = 0.0, Flush idle delay = 100.0, Cache device = disk1, Cached device = disk0\n },";

/// A controller of type 3 in the place of the bridges.
fn controlled(sample: &Sample, cache: &str, queue: u32) -> Sample {
    let own = format!(
        "   type = 3,\n   Scale for delays = 0.0,\n   Bulk sector transfer time = 0.0,\n   Maximum queue length = {queue},\n{QUEUE}\n{cache}"
    );
    sample.clone().replace(CONTROLLER, &own)
}

/// Two devices behind one controller, of which the second caches the first.
fn cached(sample: &Sample) -> Sample {
    let module = match sample.text(FIRST).contains("disksim_simpledisk disk0") {
        true => "disksim_simpledisk",
        false => "disksim_disk",
    };
    let one = format!("{module} disk0 []");
    let sample = sample
        .clone()
        .replace("[ disk0 ] as", "[ disk0 .. disk1 ] as")
        .replace(&one, &format!("{one}, {module} disk1 []"));
    controlled(&sample, DEVICE, 3)
}

/// The sample with a controller that has a memory cache, and with one that has a cache device.
pub fn with_caches() -> [Sample; 2] {
    let sample = Sample::new();
    [controlled(&sample, MEMORY, 2), cached(&sample)]
}

fn whole(sample: &Sample) -> Whole {
    let path = Path::new(FIRST);
    whole_from(sample.files(), path, &[], "small.parv", &[])
        .unwrap_or_else(|error| panic!("{error}"))
}

fn controller(whole: &Whole) -> &Value {
    let found = whole.device.pointer("/driver/device/controller");
    found.unwrap_or_else(|| panic!("no controller in {:#}", whole.device))
}

#[test]
fn a_memory_cache_is_that_of_a_controller() {
    let whole = whole(&controlled(&Sample::new(), MEMORY, 2));
    let found = controller(&whole);
    assert_eq!(whole.device["driver"]["outstanding"], 3);
    assert_eq!(
        found["memory"],
        json!({
            "size": "512 blocks", "line": "16 blocks", "policy": "lru", "victims": "any", "grain": "1 blocks", "lock": "16 blocks",
            "shared_reads": true, "writes": "write-back", "read_prefetch": "none", "write_prefetch": "none", "line_by_line": true,
            "cluster": 8, "gather": 7,
        })
    );
    assert_eq!(
        (&found["queue"], &found["outstanding"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(found["max_request"], "256 blocks");
    assert_eq!(
        found["join"],
        json!({ "most": "128 blocks", "reads": true, "writes": true })
    );
    assert!(found["device"][0]["hdd"].is_object());
}

#[test]
fn what_a_memory_cache_may_be() {
    for (from, to, key, value) in [
        (
            "Replacement policy = 2",
            "Replacement policy = 1",
            "policy",
            json!("fifo"),
        ),
        (
            "Replacement policy = 2",
            "Replacement policy = 3",
            "policy",
            json!("random"),
        ),
        (
            "Replacement policy = 2",
            "Replacement policy = 4",
            "policy",
            json!("lifo"),
        ),
        (
            "[ 512 ]",
            "[ 128, 192, 192 ]",
            "policy",
            json!({ "slru": { "segments": 3, "protected": 0.75 } }),
        ),
        (
            "Allocation policy = 0",
            "Allocation policy = 1",
            "victims",
            json!("clean"),
        ),
        (
            "Write scheme = 3",
            "Write scheme = 1",
            "writes",
            json!("synchronous"),
        ),
        (
            "Write scheme = 3",
            "Write scheme = 2",
            "writes",
            json!("write-through"),
        ),
        (
            "Flush policy = 0, Flush period = 0.0",
            "Flush policy = 1, Flush period = 30.0",
            "flush_period",
            json!("30 ms"),
        ),
        (
            "Flush idle delay = -1.0",
            "Flush idle delay = 5.0",
            "idle_flush",
            json!("5 ms"),
        ),
        (
            "Read prefetch type = 0",
            "Read prefetch type = 1",
            "read_prefetch",
            json!("front"),
        ),
        (
            "Write prefetch type = 0",
            "Write prefetch type = 2",
            "write_prefetch",
            json!("rest"),
        ),
        (
            "Read prefetch type = 0",
            "Read prefetch type = 3",
            "read_prefetch",
            json!("line"),
        ),
        ("Max gather = 7", "Max gather = 0", "gather", Value::Null),
    ] {
        let memory = MEMORY.replace(from, to);
        assert_ne!(memory, MEMORY, "{from}");
        let whole = whole(&controlled(&Sample::new(), &memory, 0));
        assert_eq!(controller(&whole)["memory"][key], value, "{to}");
    }
}

#[test]
fn a_cache_device_is_behind_its_controller() {
    let whole = whole(&cached(&Sample::new()));
    let found = controller(&whole);
    let cache = &found["cache"];
    assert_eq!(
        (&cache["size"], &cache["idle_flush"]),
        (&json!("500 blocks"), &json!("100 ms"))
    );
    assert_eq!(cache["device"]["hdd"]["drive"], "small.parv#disk1");
    assert_eq!(found["device"][0]["hdd"]["drive"], "small.parv#disk0");
    assert!(found.get("max_request").is_none());
}

#[test]
fn a_chip_has_delays_or_is_a_bridge() {
    let chip = |scale: &str| {
        let own = CONTROLLER
            .replace("type = 1", "type = 2")
            .replace("delays = 0.0", &format!("delays = {scale}"));
        whole(&Sample::new().replace(CONTROLLER, &own))
    };
    assert!(chip("0.0").device.pointer("/driver/device/hdd").is_some());
    let slow = chip("2.0");
    let found = controller(&slow);
    assert_eq!(
        (&found["message"], &found["one_message"]),
        (&json!("1 ms"), &json!(true))
    );
}

/// The result of requests for 8 blocks of a system of simple disks of 10 ms, of which this share reads.
fn run_system(sample: &Sample, reads: f64, at: &str) -> Value {
    let whole = whole(sample);
    let spec = json!({
        "workload": { "synthetic": {
            "requests": 200, "arrivals": { "constant": "50 ms" }, "reads": reads, "size": "8 blocks", "address": at,
        } },
        "device": whole.device,
    });
    let folder = tempfile::tempdir().expect("a folder");
    let text = serde_json::to_string(&spec).expect("JSON");
    let table: toml::Value = serde_json::from_str(&text).expect("a table");
    let source = from_text_in(toml::to_string(&table).expect("TOML"), folder.path());
    let outcome = outcome_of(&source, &RunOptions::default());
    outcome.unwrap_or_else(|error| panic!("{error}")).json()
}

#[test]
fn systems_with_caches_of_both_kinds_run() {
    let memory = controlled(&simple(&Sample::new()), MEMORY, 0);
    let result = run_system(&memory, 1.0, "sequential");
    // Lines of 16 blocks: each read of 8 misses.
    assert_eq!(result["response_ms"]["mean"], 10.0);
    let result = run_system(&memory, 0.0, "sequential");
    // Writes wait for victims only: 32 lines hold 64 writes, and 125 of 1000 blocks come round.
    assert!(
        result["response_ms"]["mean"]
            .as_f64()
            .is_some_and(|mean| mean < 6.0)
    );
    let device = cached(&simple(&Sample::new()));
    let result = run_system(&device, 0.0, "sequential");
    assert_eq!(result["response_ms"]["mean"], 10.0);
}

/// Two disks behind one controller with a memory cache.
fn two() -> Sample {
    let two = Sample::new()
        .replace("[ disk0 ] as", "[ disk0 .. disk1 ] as")
        .replace(
            "disksim_disk disk0 []",
            "disksim_disk disk0 [], disksim_disk disk1 []",
        )
        .replace("devices = [ disk0 ]", "devices = [ disk0 .. disk1 ]");
    controlled(&two, MEMORY, 2)
}

fn is_told(whole: &Whole, told: &str) -> bool {
    let is_it = |warning: &String| warning.contains(told);
    let (disks, warnings) = ("disk0 and disk1 share ctlr0", &whole.warnings);
    warnings
        .iter()
        .any(|warning| warning.contains(disks) && is_it(warning))
}

#[test]
fn a_cache_that_devices_share_is_one() {
    let united = whole(&two());
    assert!(
        is_told(&united, "one queue for them"),
        "{:?}",
        united.warnings
    );
    let driver = &united.device["driver"];
    assert_eq!(driver["name"], "disk0, disk1");
    let devices = driver["device"]["controller"]["device"].as_array();
    let names = devices
        .into_iter()
        .flatten()
        .map(|device| &device["hdd"]["drive"]);
    let names: Vec<&str> = names.filter_map(Value::as_str).collect();
    assert!(
        matches!(names[..], [one, other] if one.ends_with("#disk0") && other.ends_with("#disk1")),
        "{names:?}"
    );
    let places = united
        .places
        .iter()
        .map(|place| (place.device, place.offset));
    let places: Vec<(u32, u64)> = places.map(|(device, at)| (device, at.blocks())).collect();
    assert_eq!(places, [(14, 0), (0, 0), (1, 780)]);
}

/// 200 writes of half a line go over all 1000 blocks of the first disk, then over 600 of the other one's. For those all lines of the first have
/// to go; a cache of its own would have kept 32 of them.
#[test]
fn what_one_device_has_in_the_cache_the_other_has_not() {
    let result = run_system(&simple(&two()), 0.0, "sequential");
    let controller = &result["devices"]["driver.device.controller"];
    let written = |disk: &str| controller["devices"][disk]["written_blocks"].as_u64();
    assert_eq!(written("device[0]"), Some(1000), "{controller:#}");
    assert_eq!(controller["lines_at_end"], 32);
    let dirty = controller["dirty_blocks_at_end"].as_u64();
    assert_eq!(
        written("device[1]")
            .zip(dirty)
            .map(|(one, other)| one + other),
        Some(600)
    );
}

#[test]
fn members_of_an_array_do_not_share_a_cache_and_it_is_told() {
    let striped = two().replace("= Asis", "= Striped");
    let apart = whole(&striped);
    assert!(
        is_told(&apart, "such a cache of its own"),
        "{:?}",
        apart.warnings
    );
}

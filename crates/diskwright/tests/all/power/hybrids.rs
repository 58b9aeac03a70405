//! Hybrid drives whose medium stops: closed forms, and both sides of each rule.

use serde_json::Value;

use super::{FIGURES, assert_adds_up, assert_close, of_state};
use crate::support::run;

const HOUR: u64 = 3_600_000;

/// The figures as those of the medium: 1 s down with 2 J, 3 s up with 13.5 J, 0.2 W between.
fn device(policy: &str, settings: &str, nv_blocks: u64) -> String {
    let figures = FIGURES.replace("device.hdd", "device.hybrid.media.hdd");
    format!(
        "[device.hybrid]\n{settings}\n[device.hybrid.media.hdd]\ndrive = 'ibm-18es-linear'\nbuffer = false\n\
         queue = {{ scheduler = 'fcfs' }}\n[device.hybrid.media.hdd.power]\n{policy}\n{figures}\n\
         [device.hybrid.nvcache.simple]\ncapacity = '{nv_blocks} blocks'\nread = '1 ms'\nwrite = '2 ms'\n"
    )
}

/// Requests at their instants, ms: the operation, and its first block of eight.
fn requests(asked: &[(u64, &str, u64)], device: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.csv");
    let mut text = "time_ns,device,op,fua,lbn,blocks\n".to_owned();
    for (ms, op, lbn) in asked {
        let blocks = if *op == "flush" { 0 } else { 8 };
        text += &format!("{},0,{op},0,{lbn},{blocks}\n", ms * 1_000_000);
    }
    std::fs::write(&trace, text).expect("written");
    let result = run(&format!(
        "seed = 1\n[workload]\ntrace = '{}'\n[measure]\nwarmup = 0\n{device}",
        trace.display()
    ));
    // What the drive flushes after the last request is in its energy, too.
    if unpinned(&result)[2] == 0 {
        let span = result["measured_s"].as_f64().expect("a span");
        assert_adds_up(medium(&result), span);
    }
    result
}

fn medium(result: &Value) -> &Value {
    &result["devices"]["hybrid.media.hdd"]
}

fn hybrid(result: &Value) -> &Value {
    &result["devices"]["hybrid"]
}

/// Writes and their blocks of the unpinned set, its own flushes and what these flushed.
fn unpinned(result: &Value) -> [u64; 4] {
    let set = &hybrid(result)["unpinned_set"];
    ["writes", "written_blocks", "own_flushes", "flushed_blocks"]
        .map(|key| set[key].as_u64().expect("a count"))
}

fn total_ms(result: &Value) -> f64 {
    result["response_ms"]["total"].as_f64().expect("a time")
}

const TEN_SECONDS: &str = "policy = { fixed = { standby_z = '10 s' } }";

#[test]
fn one_write_an_hour_never_wakes_the_medium() {
    let asked: Vec<(u64, &str, u64)> = (1..=5).map(|hour| (hour * HOUR, "write", 1_000)).collect();
    let first = [&[(0, "read", 0)], &asked[..]].concat();
    let result = requests(&first, &device(TEN_SECONDS, "", 64));
    let disk = medium(&result);
    assert_eq!(disk["spin_ups"], 0);
    assert_eq!(unpinned(&result), [5, 40, 0, 0]);
    assert_eq!(hybrid(&result)["unpinned_blocks"], 8);
    // Ten seconds of idle behind the read, a way down, then standby for the rest of five hours and 2 ms.
    let (active_s, active_j, _) = of_state(disk, "active");
    assert_eq!(of_state(disk, "idle"), (10.0, 10.0, 1));
    let standby = 5.0 * 3600.0 + 0.002 - 11.0 - active_s;
    let energy = disk["energy_j"].as_f64().expect("an energy");
    assert_close(energy, active_j + 10.0 + 2.0 + 0.2 * standby);
    // The disk alone would have come back for each write.
    let alone = device(TEN_SECONDS, "", 64).replace("hybrid.media.", "");
    let alone = alone.replace("[device.hybrid]\n\n", "");
    let alone = alone
        .split("[device.hybrid.nvcache")
        .next()
        .expect("the disk");
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.csv");
    let rows = first
        .iter()
        .map(|(ms, op, lbn)| format!("{},0,{op},0,{lbn},8\n", ms * 1_000_000));
    let rows: String = rows.collect();
    std::fs::write(&trace, format!("time_ns,device,op,fua,lbn,blocks\n{rows}")).expect("written");
    let plain = run(&format!(
        "seed = 1\n[workload]\ntrace = '{}'\n[measure]\nwarmup = 0\n{alone}",
        trace.display()
    ));
    assert_eq!(plain["devices"]["hdd"]["spin_ups"], 5);
    // Five ways up with 13.5 J; after each but the last 10 s of idle and a way down with 2 J, in place of 14 s of standby.
    let more = plain["devices"]["hdd"]["energy_j"]
        .as_f64()
        .expect("an energy")
        - energy;
    let expected = 5.0 * 13.5 + 4.0 * (10.0 + 2.0 - 0.2 * 14.0);
    assert!(
        (more - expected).abs() < 0.5,
        "{more} J more, not {expected}"
    );
}

#[test]
fn one_read_an_hour_wakes_it_each_time() {
    let asked: Vec<(u64, &str, u64)> = (0..4).map(|hour| (hour * HOUR, "read", 1_000)).collect();
    let result = requests(&asked, &device(TEN_SECONDS, "", 64));
    assert_eq!(medium(&result)["spin_ups"], 3);
    assert_eq!(hybrid(&result)["wakes"]["reads"], 3);
    assert_close(
        result["parts_ms"]["wake"].as_f64().expect("a part"),
        3.0 * 3000.0 / 4.0,
    );
}

#[test]
fn a_medium_that_is_never_idle_is_never_down_and_the_drive_is_its_medium() {
    let spec = |device: &str| {
        format!(
            "seed = 1\n[workload.synthetic]\nrequests = 2_000\narrivals = {{ closed = {{ users = 4 }} }}\nreads = 0.5\n\
             size = '8 blocks'\n[measure]\nwarmup = 0\n{device}"
        )
    };
    let with = run(&spec(&device(TEN_SECONDS, "", 64)));
    let without = device(TEN_SECONDS, "", 64).replace("hybrid.media.", "");
    let without = without.replace("[device.hybrid]\n\n", "");
    let without = without
        .split("[device.hybrid.nvcache")
        .next()
        .expect("the disk")
        .to_owned();
    let without = run(&spec(&without));
    let energy = |device: &Value| device["energy_j"].as_f64().expect("an energy");
    assert_close(energy(medium(&with)), energy(&without["devices"]["hdd"]));
    assert_eq!(with["response_ms"], without["response_ms"]);
    assert_eq!(unpinned(&with), [0; 4]);
}

#[test]
fn a_medium_that_is_never_used_stays_down() {
    // In power mode it stops at once, and everything is written to the NV cache.
    let asked: Vec<(u64, &str, u64)> = (0..7)
        .map(|number| (number * HOUR, "write", number * 8))
        .collect();
    let result = requests(&asked, &device("", "power_mode = true", 64));
    let span = result["measured_s"].as_f64().expect("a span");
    assert_close(span, 6.0 * 3600.0 + 0.002);
    let disk = medium(&result);
    assert_close(
        disk["energy_j"].as_f64().expect("an energy"),
        2.0 + 0.2 * (span - 1.0),
    );
    assert_eq!(
        (&disk["spin_ups"], &disk["requests"]),
        (&0.into(), &0.into())
    );
    assert_close(total_ms(&result), 7.0 * 2.0);
}

#[test]
fn a_write_counts_as_the_medium_s_until_the_nanosecond_of_the_timeout() {
    // The read ends at some instant; ten seconds later the medium goes down, and takes no write from then on.
    let end_ms = total_ms(&requests(&[(0, "read", 0)], &device(TEN_SECONDS, "", 64)));
    let end_ns = (end_ms * 1e6).round() as u64;
    for (ms, taken) in [
        (end_ns / 1_000_000 + 10_000, 0),
        (end_ns / 1_000_000 + 10_001, 1),
    ] {
        let result = requests(
            &[(0, "read", 0), (ms, "write", 64)],
            &device(TEN_SECONDS, "", 64),
        );
        assert_eq!(unpinned(&result)[0], taken, "{ms}");
        assert_eq!(hybrid(&result)["medium"]["writes"], 1 - taken);
    }
}

#[test]
fn a_read_of_what_the_nv_cache_has_does_not_wake_the_medium_and_one_block_beside_it_does() {
    let asked = [
        (0, "read", 0),
        (HOUR, "write", 1_000),
        (2 * HOUR, "read", 1_000),
    ];
    let result = requests(&asked, &device(TEN_SECONDS, "", 64));
    assert_eq!(medium(&result)["spin_ups"], 0);
    assert_eq!(hybrid(&result)["reads_at_rest"], 1);
    let beside = [asked[0], asked[1], (2 * HOUR, "read", 1_001)];
    let result = requests(&beside, &device(TEN_SECONDS, "", 64));
    assert_eq!(medium(&result)["spin_ups"], 1);
    assert_eq!(hybrid(&result)["reads_at_rest"], 0);
    // And then what was written while it was down follows.
    assert_eq!(unpinned(&result), [1, 8, 1, 8]);
    assert_eq!(hybrid(&result)["unpinned_blocks"], 0);
}

#[test]
fn a_write_during_a_spin_up_does_not_wait_and_a_read_does() {
    for (op, waits) in [("write", false), ("read", true)] {
        let asked = [
            (0, "read", 0),
            (HOUR, "read", 5_000),
            (HOUR + 1_000, op, 9_000),
        ];
        let result = requests(&asked, &device(TEN_SECONDS, "", 64));
        let first = requests(&asked[..2], &device(TEN_SECONDS, "", 64));
        let last = total_ms(&result) - total_ms(&first);
        match waits {
            true => assert!(last > 2_000.0, "{last} ms"),
            false => assert_close(last, 2.0),
        }
    }
}

#[test]
fn what_does_not_fit_wakes_the_medium_and_makes_room() {
    let writes = |number: u64| (HOUR + number * 60_000, "write", number * 100);
    for (count, ups) in [(2, 0), (3, 1)] {
        let asked: Vec<(u64, &str, u64)> = (1..=count).map(writes).collect();
        let asked = [&[(0, "read", 0)], &asked[..]].concat();
        let result = requests(&asked, &device(TEN_SECONDS, "", 16));
        assert_eq!(medium(&result)["spin_ups"], ups, "{count}");
        assert_eq!(hybrid(&result)["wakes"]["writes"], ups);
        assert_eq!(unpinned(&result), [2, 16, ups, 16 * ups]);
    }
}

#[test]
fn a_flush_and_a_trim_do_not_wake_the_medium() {
    let asked = [
        (0, "read", 0),
        (HOUR, "write", 1_000),
        (HOUR + 10, "flush", 0),
        (HOUR + 20, "trim", 5_000),
    ];
    let result = requests(&asked, &device(TEN_SECONDS, "", 64));
    assert_eq!(medium(&result)["spin_ups"], 0);
}

#[test]
fn power_mode_stops_the_medium_once_it_has_turned_for_the_minimum() {
    // Down at once; a read wakes it; then it turns for so long, and a second read within that finds it turning.
    let asked = [
        (HOUR, "read", 0),
        (HOUR + 10_000, "read", 64),
        (HOUR + 40_000, "read", 128),
    ];
    for (high_power, ups) in [("0 s", 3), ("5 s", 3), ("20 s", 2), ("2 min", 1)] {
        let settings = format!("power_mode = true\nhigh_power = '{high_power}'");
        let result = requests(&asked, &device("", &settings, 64));
        assert_eq!(medium(&result)["spin_ups"], ups, "{high_power}");
        assert_eq!(hybrid(&result)["wakes"]["reads"], ups);
    }
}

#[test]
fn a_medium_without_a_standby_keeps_to_its_policy() {
    let whole = device(
        "policy = { fixed = { idle_b = '10 s' } }",
        "power_mode = true",
        64,
    );
    let lines = whole
        .lines()
        .filter(|line| !line.trim_start().starts_with("standby_z"));
    let lines: Vec<&str> = lines.collect();
    let result = requests(
        &[(HOUR, "read", 0), (2 * HOUR, "read", 64)],
        &lines.join("\n"),
    );
    assert_eq!(medium(&result)["spin_ups"], 0);
    // In the second hour: results are from the first arrival on.
    assert_eq!(medium(&result)["head_unloads"], 1);
}

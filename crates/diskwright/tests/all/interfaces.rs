//! What differs between drives with SATA and drives with SAS: how many requests they hold. Large commands work with both.

use serde_json::Value;

use crate::support::run;

/// Of the library, with what crosses their interface, MB/s.
const SATA: [(&str, f64); 2] = [("exos-x20", 600.0), ("travelstar-5k160", 150.0)];
const SAS: [(&str, f64); 2] = [("savvio-10k4", 600.0), ("exos-10e2400", 1200.0)];

/// As many as the deepest queue has slots.
const USERS: u32 = 128;

/// Reads and writes of users who wait for nothing.
fn load(drive: &str, (requests, users): (u32, u32), size: &str, device: &str) -> Value {
    run(&format!(
        "[workload.synthetic]\nrequests = {requests}\nreads = 0.5\nsize = \"{size}\"\narrivals = {{ closed = {{ users = {users} }} }}\n\
         [measure]\nwarmup = 0\n[device.hdd]\ndrive = \"{drive}\"\n{device}\n"
    ))
}

#[test]
fn a_queue_of_more_than_32_is_unusual_with_sata_only() {
    let with = |drive, depth: u32| {
        let device = format!("write_cache = false\n[device.hdd.queue]\ndepth = {depth}");
        let found = load(drive, (2_000, USERS), "4 KiB", &device);
        let waiting = found["devices"]["hdd"]["queue_length_mean"].as_f64();
        let notes = found["notes"].to_string();
        (
            waiting.expect("a mean"),
            notes.contains("in a drive that ships with one of"),
        )
    };
    for (drive, _) in SAS {
        // Nearly all slots are taken all the time.
        for (depth, unusual) in [(32, false), (64, false), (128, false), (129, true)] {
            let (waiting, noted) = with(drive, depth);
            let slots = f64::from(depth.min(USERS));
            assert!(
                waiting > 0.9 * slots && waiting <= slots,
                "{drive} {depth}: {waiting}"
            );
            assert_eq!(noted, unusual, "{drive} {depth}");
        }
    }
    for (drive, _) in SATA {
        for (depth, unusual) in [(32, false), (33, true), (128, true)] {
            assert_eq!(with(drive, depth).1, unusual, "{drive} {depth}");
        }
    }
}

/// The largest command of Serial ATA, 65,536 blocks: more than the memory of some of these drives.
#[test]
fn commands_of_32_mib_cross_every_interface() {
    for (drive, mb_per_s) in SATA.into_iter().chain(SAS) {
        for device in ["write_cache = false", "write_cache = true"] {
            let found = load(drive, (8, 3), "32 MiB", device);
            assert_eq!(found["requests"]["completed"], 8, "{drive} {device}");
            let rate = found["mb_per_s"].as_f64().expect("a rate");
            assert!(rate > 20.0 && rate < mb_per_s, "{drive} {device}: {rate}");
            // None is over before its blocks have crossed.
            let least = f64::from(32 << 20) / mb_per_s / 1e3;
            for op in ["read", "write"] {
                let response = &found["by_op"][op]["response_ms"];
                let median = response["p50"].as_f64().expect("a median");
                assert!(median > 0.999 * least, "{drive} {device} {op}: {median}");
            }
        }
    }
}

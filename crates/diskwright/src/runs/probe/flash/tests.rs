//! Drives whose figures follow from their parameters, and options that ask for nothing.

use super::*;
use crate::runs::simulation::drive_summary;

fn options(only: &str) -> ProbeOptions {
    ProbeOptions {
        only: vec![only.to_owned()],
        depths: vec![1, 16],
        reads: 6_000,
        ..ProbeOptions::default()
    }
}

fn probed(drive: &str, options: &ProbeOptions) -> Result<FlashProbe, Error> {
    probe(drive, &drive_summary(drive)?, options, &mut ())
}

fn found(drive: &str, only: &str) -> FlashProbe {
    probed(drive, &options(only)).expect("measured")
}

fn near(what: &str, found: f64, expected: f64, within: f64) {
    let apart = found / expected - 1.0;
    assert!(apart.abs() <= within, "{what}: {found} for {expected}");
}

#[test]
fn one_request_takes_what_its_phases_take() {
    let latency = found("mqsim-clean", "latency").latency.expect("measured");
    let four = latency.iter().find(|one| one.bytes == 4096).expect("4 KiB");
    // 290 ns, 75 us and 8 · 1536 ns on the flash; 521 ns and 4 KiB at 5084 MB/s for the host.
    let link = 4096.0 / 5084.0;
    let read = 0.290 + 75.0 + 8.0 * 1.536 + link + 0.521;
    let write = 0.361 + 750.0 + 8.0 * 1.536 + link + 0.509;
    near("a read", four.read.mean_ms, read / 1e3, 1e-4);
    near("a write", four.write.mean_ms, write / 1e3, 1e-4);
    assert!(
        (four.read.max_ms - four.read.p50_ms).abs() < 1e-9,
        "{four:?}"
    );
    // Less of a page crosses the channel; more pages are on other channels.
    let of = |bytes| {
        latency
            .iter()
            .find(|one| one.bytes == bytes)
            .expect("it")
            .read
    };
    assert!(of(512).mean_ms < of(4096).mean_ms && of(4096).mean_ms < of(1 << 20).mean_ms);
}

#[test]
fn bandwidth_ends_at_the_channels() {
    let bandwidth = found("mqsim-clean", "bandwidth")
        .bandwidth
        .expect("measured");
    let channels = 8.0 * 512.0 / 1.536;
    for one in &bandwidth {
        assert!(one.sequential_read_mb_per_s <= channels, "{one:?}");
        assert!(one.random_read_mb_per_s <= channels, "{one:?}");
        // 32 packages that program a page of 4 KiB each in 750 us and more.
        assert!(
            one.sequential_write_mb_per_s <= 32.0 * 4096.0 / 750.0,
            "{one:?}"
        );
    }
    let last = bandwidth.last().expect("sizes");
    assert_eq!(last.bytes, 1 << 20);
    // The data of a channel's four packages go before commands, so that all four are read at the same time and then cross one after another.
    let packages = 32.0 * 4096.0 / (0.29 + 75.0 + 4.0 * 12.288);
    near(
        "sequential reads",
        last.sequential_read_mb_per_s,
        packages,
        1e-3,
    );
}

#[test]
fn mixtures_lie_between_reads_and_writes() {
    let mixed = found("mqsim-clean", "mixed").mixed.expect("measured");
    let depth = found("mqsim-clean", "depth").depth.expect("measured");
    assert!(mixed[0].read.is_none() && mixed[4].write.is_none());
    near("all reads", mixed[4].iops, depth[1].read.iops, 0.03);
    near("MQSim's mean", depth[1].read.times.mean_ms, 0.1203, 0.03);
    for pair in mixed.windows(2) {
        assert!(pair[0].iops < pair[1].iops, "{pair:?}");
    }
    // Little's law.
    near(
        "16 users",
        depth[1].write.iops * depth[1].write.times.mean_ms,
        16e3,
        0.02,
    );
}

/// A drive of four planes that is written in no time.
const SMALL: &str = "flash = { channels = 2, packages = 1, dies = 2, planes = 1, blocks = 64, pages = 32, page = '4 KiB' }\n\
     spare = { share = '20 %' }\ncleaning = { begin = 3 }\n";

#[test]
fn a_new_drive_falls_to_its_steady_state() {
    let text = crate::devices::drives::text("mqsim-clean").expect("a drive");
    let mut table: toml::Table = toml::from_str(text).expect("a table");
    table.extend(toml::from_str::<toml::Table>(SMALL).expect("a table"));
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let file = file.expect("a temporary file");
    std::fs::write(file.path(), toml::to_string(&table).expect("TOML")).expect("written");
    let path = file.path().to_str().expect("a plain path");
    let probed = found(path, "cliff");
    assert_eq!(probed.simulated, None);
    let cliff = probed.cliff.expect("measured");
    assert!(cliff.is_steady, "{cliff:?}");
    near("new", cliff.intervals[0].write_amplification, 1.0, 1e-9);
    assert!(cliff.steady_write_amplification > 1.5, "{cliff:?}");
    assert!(cliff.steady_iops < 0.6 * cliff.fresh_iops, "{cliff:?}");
    let falls = cliff.falls_at_drive_writes.expect("it falls");
    // Three of 64 blocks are kept free.
    assert!((1.0..1.3).contains(&falls), "{falls}");
}

#[test]
fn reads_wait_behind_programs_and_cleaning() {
    let behind = found("mqsim-clean", "behind").behind.expect("measured");
    let names: Vec<_> = behind.iter().map(|one| one.beside).collect();
    assert_eq!(names, ["alone", "writes", "cleaning"]);
    let [alone, writes, cleaning] = [0, 1, 2].map(|index| &behind[index]);
    assert_eq!(alone.delayed, 0.0);
    // Four of 32 packages are programming at a time.
    near("delayed", writes.delayed, 4.0 / 32.0, 0.25);
    assert!(cleaning.delayed > writes.delayed, "{behind:?}");
    // An erase takes 3.8 ms, and nothing suspends it.
    assert!(
        writes.times.max_ms < 3.8 && cleaning.times.p999_ms > 1.0,
        "{behind:?}"
    );
}

#[test]
fn a_large_drive_has_a_smaller_one_in_its_place() {
    for drive in [
        "samsung-970-pro",
        "samsung-850-pro",
        "mqsim-default",
        "slc-classic",
    ] {
        let summary = drive_summary(drive).expect("a drive");
        let stand_in = StandIn::of(drive).expect("one");
        let simulated = stand_in.simulated().expect("it is smaller");
        assert!(simulated.capacity_blocks < summary["capacity_blocks"].as_u64().expect("it"));
        let fresh = serde_json::json!({ "fill": "100 %", "overwrite": 0.0 });
        stand_in.engine(&fresh).expect("it makes sense");
    }
    let summary = drive_summary("mqsim-clean").expect("a drive");
    let stand_in = StandIn::of("mqsim-clean").expect("one");
    assert_eq!(stand_in.simulated(), None);
    assert_eq!(Some(stand_in.blocks()), summary["capacity_blocks"].as_u64());
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (changed, words) in [
        (options("seek"), "latency"),
        (
            ProbeOptions {
                depths: vec![0],
                ..options("depth")
            },
            "depth 0",
        ),
        (
            ProbeOptions {
                depths: Vec::new(),
                ..options("depth")
            },
            "need a depth",
        ),
        (
            ProbeOptions {
                reads: 100,
                ..options("depth")
            },
            "160 or more",
        ),
    ] {
        let error = probed("mqsim-clean", &changed)
            .expect_err(words)
            .to_string();
        assert!(error.contains(words), "{error}");
    }
}

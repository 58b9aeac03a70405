//! Set-ups in specs, and set-ups as specs.

use std::path::Path;

use crate::support::{Outcome, RunOptions, from_file, outcome_of, setting};
use diskwright::base::error::Error;
use diskwright::devices::hdd::drive::DriveDescription;
use diskwright::disksim::to_toml;
use tempfile::TempDir;

use super::sample::Sample;

/// Requests of devices 14, which the sample's mapping names, and 3: ms, device, LBN, blocks, flags.
const TRACE: &str =
    "0.0 14 0 8 1\n40.0 3 8 8 1\n80.0 14 8 8 1\n120.0 14 500 16 0\n200.0 14 20 4 1\n";

const LOAD: &str = "workload.synthetic={ requests = 500, arrivals = { poisson = '15 ms' }, reads = 0.5, size = '4 blocks', address = 'uniform' }";

fn folder(sample: &Sample) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    sample.write(folder.path());
    std::fs::write(folder.path().join("a/t.trace"), TRACE).expect("a file is written");
    folder
}

fn run_file(path: &Path, set: &[&str]) -> Result<Outcome, Error> {
    let options = RunOptions {
        check: true,
        ..setting(set)
    };
    outcome_of(&from_file(path), &options)
}

fn sound(sample: &Sample, set: &[&str]) -> Outcome {
    let folder = folder(sample);
    run_file(&folder.path().join("a/small.parv"), set).unwrap_or_else(|error| panic!("{error}"))
}

fn error(sample: &Sample, set: &[&str]) -> String {
    let folder = folder(sample);
    let Err(error) = run_file(&folder.path().join("a/small.parv"), set) else {
        panic!("expected an error")
    };
    assert_eq!(error.exit_code(), 2);
    error.to_string()
}

fn entry<'o>(outcome: &'o Outcome, path: &str) -> &'o serde_json::Value {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let value = outcome.get(first).expect("an entry");
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!("/{rest}")
    };
    value.pointer(&rest).unwrap_or(&serde_json::Value::Null)
}

fn warnings(outcome: &Outcome, told: &str) -> usize {
    let all = entry(outcome, "warnings").as_array().expect("a list");
    let texts = all.iter().map(|text| text.as_str().expect("a text"));
    texts.filter(|text| text.contains(told)).count()
}

/// A drive is the same by its set-up's file and by the text that its import becomes, and so is the whole set-up.
#[test]
fn a_set_up_names_its_drive() {
    let sample = Sample::new().replace("almost read hits = 0", "almost read hits = 1");
    let folder = folder(&sample);
    let import = sample.sound(&[]);
    std::fs::write(folder.path().join("small.toml"), to_toml(&import)).expect("written");
    let spec = |drive: &str| {
        let text = format!(
            "[host]\noutstanding = 4\n[device.hdd]\ndrive = {drive:?}\nbuffer = true\n[device.hdd.queue]\ndepth = 4\n[workload]\n"
        );
        let path = folder.path().join("spec.toml");
        std::fs::write(&path, text).expect("written");
        run_file(&path, &[LOAD]).unwrap_or_else(|error| panic!("{error}"))
    };
    let (by_set_up, by_text) = (spec("a/small.parv"), spec("small.toml"));
    assert_eq!(by_set_up.digest(), by_text.digest());
    assert_eq!(by_set_up.digest(), sound(&sample, &[LOAD]).digest());
    assert_eq!(by_set_up.completed(), 500);
    // Its warnings reach the run's.
    let told = "\"Allow almost read hits\"";
    assert_eq!(
        (warnings(&by_set_up, told), warnings(&by_text, told)),
        (1, 0)
    );
}

#[test]
fn a_set_up_is_a_spec_without_a_load() {
    let sample = Sample::new()
        .replace("Init Seed = 42", "Statistic warm-up IOs = 100")
        .replace("almost read hits = 0", "almost read hits = 1")
        .replace(
            "Scheduling policy = 1,\n      Cylinder mapping strategy = 4",
            "Scheduling policy = 8,\n      Cylinder mapping strategy = 4",
        );
    let outcome = sound(&sample, &[LOAD]);
    assert_eq!(*entry(&outcome, "spec/host/outstanding"), 4);
    assert_eq!(*entry(&outcome, "spec/device/hdd/queue/depth"), 4);
    assert_eq!(*entry(&outcome, "spec/device/hdd/queue/scheduler"), "satf");
    assert_eq!(*entry(&outcome, "spec/device/hdd/drive"), "small.parv");
    assert_eq!(*entry(&outcome, "spec/device/hdd/buffer"), true);
    assert_eq!(*entry(&outcome, "spec/measure/warmup"), 100);
    assert_eq!(*entry(&outcome, "requests/measured"), 400);
    // Each warning once, though the drive is read for the spec and for the device.
    assert_eq!(warnings(&outcome, "\"Allow almost read hits\""), 1);
    let other = sound(&sample, &[LOAD, "device.hdd.queue.depth=1"]);
    assert_eq!(*entry(&other, "spec/device/hdd/queue/depth"), 1);
    let message = error(&sample, &[]);
    for told in [
        "small.parv",
        "--trace FILE",
        "--set workload.trace=FILE --set workload.format=disksim-ascii",
    ] {
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn what_a_set_up_says_of_traces_holds_unless_an_override_says_otherwise() {
    let trace = "workload.trace=t.trace";
    let plain = sound(&Sample::new(), &[trace]);
    assert_eq!(*entry(&plain, "spec/workload/device"), 14);
    assert_eq!(
        (
            entry(&plain, "requests/completed"),
            entry(&plain, "requests/skipped")
        ),
        (&4.into(), &1.into())
    );
    assert_eq!(*entry(&plain, "spec/workload/pace"), "recorded");
    let all = sound(&Sample::new(), &[trace, "workload.device=all"]);
    assert_eq!(all.completed(), 5);

    let slow = Sample::new().replace("Trace Time Scale = 1.0", "Trace Time Scale = 4.0");
    let (scaled, own) = (
        sound(&slow, &[trace]),
        sound(&slow, &[trace, "workload.pace=recorded"]),
    );
    assert_eq!(*entry(&scaled, "spec/workload/pace/scaled"), 0.25);
    assert_eq!(own.digest(), plain.digest());
    let last_arrival = |outcome: &Outcome| entry(outcome, "simulated_s").as_f64().expect("s");
    assert!((0.2..0.3).contains(&last_arrival(&plain)));
    assert!((0.8..0.9).contains(&last_arrival(&scaled)));
    // It is about traces.
    assert!(entry(&sound(&slow, &[LOAD]), "spec/workload/pace").is_string());

    for (from, to) in [
        ("locScale = 512", "locScale = 256"),
        ("sizeScale = 1", "sizeScale = 2"),
        ("offset = 0", "offset = 8"),
    ] {
        let other = sound(
            &Sample::new().replace(from, to),
            &[trace, "workload.device=all"],
        );
        assert_eq!(
            warnings(&other, "\"I/O Mappings\" of trace devices 14"),
            1,
            "{to}"
        );
        assert_eq!(other.digest(), all.digest(), "{to}");
    }
}

/// An HP trace of two reads of 1024 bytes, at sectors 40 and 80 of device 14.
fn hp_trace() -> Vec<u8> {
    let record = |seconds: u32, sector: u32| {
        [
            52,
            1 << 16 | 1,
            seconds,
            0,
            100,
            10_100,
            1024,
            sector,
            14 << 8,
            4,
            1,
            1,
            0,
        ]
    };
    let words = [record(0, 40), record(1, 80)].concat();
    let header = "$$TR_IOREC-1.3\ndisks = { 14 -> { sectorsize = 256 } };\n\x0c";
    let words = words.into_iter().flat_map(u32::to_be_bytes);
    header.bytes().chain(words).collect()
}

/// DiskSim knows nothing of the sectors in the header: it takes what the mapping says, or blocks.
#[test]
fn sectors_of_a_trace_are_as_long_as_in_disksim() {
    let run = |sample: &Sample, set: &[&str]| {
        let folder = folder(sample);
        std::fs::write(folder.path().join("a/t.srt"), hp_trace()).expect("written");
        let set: Vec<_> = ["workload.trace=t.srt"]
            .iter()
            .chain(set)
            .copied()
            .collect();
        run_file(&folder.path().join("a/small.parv"), &set)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let bytes = |outcome: &Outcome| entry(outcome, "spec/workload/sector_bytes").clone();
    let none = Sample::new().replace(
        "I/O Mappings = [\n      disksim_iomap { tracedev = 0x0e, simdev = disk0, locScale = 512, sizeScale = 1, offset = 0 }\n   ]",
        "I/O Mappings = []",
    );
    let plain = run(&none, &[]);
    assert_eq!((bytes(&plain), plain.completed()), (512.into(), 2));
    assert_eq!(warnings(&plain, "as blocks of 512 bytes"), 1);
    let mapped = run(&Sample::new(), &[]);
    assert_eq!(mapped.digest(), plain.digest());
    assert_eq!(warnings(&mapped, "I/O Mappings"), 0);
    let halves = run(
        &Sample::new().replace("locScale = 512", "locScale = 256"),
        &[],
    );
    assert_eq!(bytes(&halves), 256);
    assert_eq!(warnings(&halves, "I/O Mappings"), 0);
    assert_ne!(halves.digest(), plain.digest());
    for sample in [&none, &Sample::new()] {
        let own = run(
            sample,
            &["workload.sector_bytes=256", "workload.format=hp-srt"],
        );
        assert_eq!(own.digest(), halves.digest());
    }
}

#[test]
fn what_is_wrong_is_told_where_it_is() {
    let folder = folder(&Sample::new().replace("Preseeking level = 0", "Preseeking level = 7"));
    let told = |drive: &str| {
        let path = folder.path().join("spec.toml");
        let text = format!("[device.hdd]\ndrive = {drive:?}\n[workload]\n");
        std::fs::write(&path, text).expect("written");
        let Err(error) = run_file(&path, &[LOAD]) else {
            panic!("{drive}: expected an error")
        };
        error.to_string()
    };
    let missing = told("none.parv");
    assert!(
        missing.contains("spec.toml:2:9") && missing.contains("none.parv"),
        "{missing}"
    );
    let unknown = told("cheetah");
    for ending in [".toml", ".parv"] {
        assert!(unknown.contains(ending), "{unknown}");
    }
    let damaged = told("a/small.parv");
    for part in ["a/drive.diskspecs:13:23", "from 0 to 2"] {
        assert!(damaged.contains(part), "{damaged}");
    }
}

/// The text of a drive with every part of a buffer's description is that drive.
#[test]
fn the_text_of_a_drive_is_the_drive() {
    for put in [
        &[][..],
        &[
            ("disk0", "Extra write disconnect", "1"),
            ("disk0", "Extradisc seek delta", "0.25"),
            ("disk0", "Never disconnect", "1"),
            ("disk0", "Enable caching in buffer", "0"),
            ("disk0", "Fast write level", "1"),
            ("disk0", "Write hit over. after read", "0.123456"),
            ("disk0", "Set watermark by reqsize", "0"),
            ("disk0", "High (read) water mark", "0.1"),
            ("disk0", "Maximum read-ahead (blks)", "0"),
            ("disk0", "Read-ahead over requested", "1"),
            ("disk0", "Data preparation overhead", "0.5"),
        ],
    ] {
        let import = Sample::new().sound(put);
        let text = to_toml(&import);
        let read: DriveDescription = toml::from_str(&text).expect(&text);
        assert_eq!(read, import.drive);
        assert!(text.contains("# buffer = true"), "{text}");
    }
}

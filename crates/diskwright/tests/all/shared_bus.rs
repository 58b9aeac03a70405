//! Drives that share a bus, against closed forms: what one drive does alone, moved by the time that it waits.
//!
//! The drive is the HP C3323A, of which reconnecting and preparing data take no time, and whose reads cross the bus in one go once they are
//! in the buffer.

use crate::hdd_twin::{places, random_case};
use crate::support::twins::{Asked, Draw, completions, load, trace};
use crate::support::{RunOptions, checked, from_text_in, outcome_of, run, try_run};

/// Blocks of the drive.
const BLOCKS: u64 = 2_056_008;
/// What its controller takes, and what a block takes on the bus, ns.
const READ_MISS: u64 = 2_502_000;
const READ_HIT: u64 = 348_000;
const FIRST_WRITE: u64 = 3_290_000;
const AFTER_READ: u64 = 241_000;
const BLOCK: u64 = 145_500;

/// A request: when, on which drive, which block, how many, whether it reads.
type OnDrive = (u64, u64, u64, u64, bool);

/// When the requests are complete, ns.
fn served(asked: &[OnDrive], keys: &str) -> Vec<u64> {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |&(at, drive, lbn, blocks, reads): &OnDrive| {
        let lbn = drive * BLOCKS + lbn;
        let ms = at as f64 / 1e6;
        format!("{ms:.6} 0 {lbn} {blocks} {}\n", u8::from(reads))
    };
    let trace: String = asked.iter().map(line).collect();
    std::fs::write(folder.path().join("a.trace"), trace).expect("written");
    let text = format!(
        "[workload]\ntrace = \"a.trace\"\nformat = \"disksim-ascii\"\n[device.array]\nlayout = \"concat\"\nspindles = \"synchronised\"\n\
         [[device.array.member]]\nhdd = {{ drive = \"hp-c3323a\", {keys} }}\n\
         [[device.array.member]]\nhdd = {{ drive = \"hp-c3323a\", {keys} }}\n"
    );
    let options = RunOptions {
        keep_requests: true,
        ..checked()
    };
    let outcome = outcome_of(&from_text_in(text, folder.path()), &options);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let ends = completions(&outcome, asked.len()).into_iter();
    ends.map(|end| end.expect("it is complete")).collect()
}

const SHARED: &str = "bus = \"scsi\"";
const APART: &str = "angle = 0";

#[test]
fn a_command_waits_until_another_drive_has_left_the_bus() {
    let (one, other) = ((0, 0, 100, 8, true), (0, 1, 900_000, 8, true));
    let later = |from: u64| (from, 1, 900_000, 8, true);
    // A miss leaves the bus behind its overhead.
    let ends = served(&[one, other], SHARED);
    assert_eq!(ends, served(&[one, later(READ_MISS)], APART));
    // A write takes its data along.
    let write = (0, 0, 100, 8, false);
    let ends = served(&[write, other], SHARED);
    let left = FIRST_WRITE + 8 * BLOCK;
    let apart = served(&[write, later(left)], APART);
    // It reports that it is on the medium once the bus has brought the other command.
    assert!((left..left + READ_MISS).contains(&apart[0]));
    assert_eq!(ends, [left + READ_MISS, apart[1]]);
    // A hit is served in one go; what comes in its last nanosecond waits for that, and what comes with its end does not.
    let at = 100_000_000;
    let hit = (at, 0, 100, 8, true);
    let end = at + READ_HIT + 8 * BLOCK + AFTER_READ;
    for (came, begins) in [(at, end), (end - 1, end), (end, end)] {
        let ends = served(&[one, hit, later(came)], SHARED);
        assert_eq!(ends[1], end);
        assert_eq!(ends, served(&[one, hit, later(begins)], APART));
    }
}

#[test]
fn data_wait_for_the_data_of_another_drive() {
    let asked = |at: u64, drive: u64| (at, drive, 100, 200, true);
    let apart = served(&[asked(0, 0), asked(READ_MISS, 1)], APART);
    let crossing = 200 * BLOCK + AFTER_READ;
    let (first, second) = (apart[0], apart[1]);
    // The second one's data are there while the first one's cross.
    assert!(first - crossing < second - crossing && second - crossing < first);
    let shared = served(&[asked(0, 0), asked(0, 1)], SHARED);
    assert_eq!(shared, [first, first + crossing]);
}

#[test]
fn waiting_is_a_part_of_the_time() {
    let text = |keys: &str| {
        format!(
            "seed = 3\n[workload.synthetic]\nrequests = 3000\narrivals = {{ poisson = \"9 ms\" }}\nreads = 0.6\nsize = \"16 blocks\"\n\
             [device.array]\nlayout = {{ stripe = {{ unit = \"64 blocks\" }} }}\n{}",
            format!("[[device.array.member]]\nhdd = {{ drive = \"hp-c3323a\"{keys} }}\n").repeat(4)
        )
    };
    let (apart, shared) = (run(&text("")), run(&text(", bus = \"scsi\"")));
    let mean = |result: &serde_json::Value, key: &str| result[key]["mean"].as_f64().expect(key);
    let (before, after) = (mean(&apart, "service_ms"), mean(&shared, "service_ms"));
    assert!(after > before + 0.5, "{before} {after}");
    // Data are moved as much as ever; what is more is waiting, but for what of the command's time passes while it waits for its turn.
    let part = |result: &serde_json::Value, name: &str| {
        result["parts_ms"][name]
            .as_f64()
            .unwrap_or_else(|| panic!("no part {name}"))
    };
    assert_eq!(part(&apart, "bus"), part(&shared, "bus"));
    assert!(part(&shared, "wait") > part(&apart, "wait") + 0.5);
}

#[test]
fn a_slot_that_a_merge_frees_when_the_bus_brings_a_command_is_given_away() {
    let ms = 1_000_000;
    let (reading, beside) = ((0, 0, 1_900_000, 200, true), (3 * ms, 0, 500, 8, true));
    let occupies = (6 * ms, 1, 100, 200, false);
    // With these two the three slots are taken until the bus is free and the second one joins the one beside it.
    let (joins, outside) = ((8 * ms, 0, 508, 8, true), (9 * ms, 0, 1_000_000, 8, true));
    let asked = [reading, beside, occupies, joins, outside];
    let keys = |depth: u32| {
        format!(
            "bus = \"scsi\", queue = {{ depth = {depth}, clustering = \"64 blocks\", slots = \"merged\" }}"
        )
    };
    // The checker finds no request that waits although a slot is free.
    let ends = served(&asked, &keys(3));
    assert_eq!(ends[1], ends[3], "they are one");
    // A slot too few lets the last one wait longer.
    assert!(served(&asked, &keys(2))[4] >= ends[4]);
    assert_eq!(served(&asked, &keys(4))[4], ends[4]);
}

/// Two made-up drives with buffers on a bus: requests end in turn, and their parts add up, as the checker sees. Those of some drives take no
/// time but that of the medium.
#[test]
fn requests_of_random_drives_on_a_bus_end_in_turn() {
    let with_buffers = (0..).map(random_case);
    let with_buffers = with_buffers.filter(|case| case.drive.buffer.is_some());
    let with_buffers: Vec<_> = with_buffers.take(200).collect();
    for (number, pair) in (0..).zip(with_buffers.windows(2)) {
        let mut draw = Draw::new(number, "drives on a bus");
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        let (mut members, mut requests, mut base) = (String::new(), Vec::new(), 0);
        for (drive, case) in pair.iter().enumerate() {
            let how = draw.pick(&["after-completion", "while-completing", "after-medium"]);
            let buffer = format!("[buffer]\npre_seek = \"{how}\"\n");
            let text = case.drive.text().replace("[buffer]\n", &buffer);
            write(&format!("{drive}.toml"), text);
            let depth = draw.pick(&[1, 2, 8]);
            members += &format!(
                "[[device.array.member]]\nhdd = {{ drive = \"{drive}.toml\", bus = \"one\", queue = {{ depth = {depth} }} }}\n"
            );
            let own = case.requests.iter().filter(|asked| asked.blocks > 0);
            let own = own.map(|asked| Asked {
                at: 0,
                lbn: base + asked.lbn,
                ..*asked
            });
            requests.extend(own);
            base += places::of(&case.drive.layout).len() as u64 * case.drive.sector;
        }
        requests.sort_by_key(|asked| asked.lbn * 7919 % 1009);
        write("trace.csv", trace(&requests));
        let users = draw.within(2..=24);
        let load = load("trace.csv", Some(users));
        let spec = format!("{load}[device.array]\nlayout = \"concat\"\n{members}");
        let outcome = outcome_of(&from_text_in(spec, folder.path()), &checked());
        if let Err(error) = outcome {
            panic!("drives {number}: {error}");
        }
    }
}

#[test]
fn a_drive_alone_on_a_bus_is_not_disturbed() {
    let text = |keys: &str| {
        format!(
            "seed = 4\n[workload.synthetic]\nrequests = 2000\narrivals = {{ poisson = \"25 ms\" }}\nreads = 0.6\nsize = \"16 blocks\"\n\
             [device.hdd]\ndrive = \"hp-c3323a\"\n{keys}"
        )
    };
    let result = |keys: &str| run(&text(keys))["response_ms"].clone();
    assert_eq!(
        result("queue.depth = 1"),
        result("queue.depth = 1\nbus = \"scsi\"")
    );
}

#[test]
fn a_drive_that_does_not_know_when_it_needs_the_bus_has_none() {
    let text = |drive: &str| {
        format!(
            "[workload.synthetic]\nrequests = 10\narrivals = {{ poisson = \"25 ms\" }}\nsize = \"16 blocks\"\n\
             [device.hdd]\nbus = \"scsi\"\n{drive}"
        )
    };
    for drive in [
        "drive = \"exos-x20\"",
        "drive = \"hp-c3323a\"\nbuffer = false",
        "drive = \"hp-c3323a\"\nbuffer = true\ncache.size = \"1 MiB\"",
    ] {
        let error = try_run(&text(drive)).expect_err(drive).to_string();
        assert!(
            error.contains("segmented buffer does not know when it needs the bus")
                && error.contains("bus = \"scsi\""),
            "{error}"
        );
    }
}

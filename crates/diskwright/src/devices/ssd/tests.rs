//! Small drives worked out by hand, drives of simulators against what these print, and everything with the checker.

use serde_json::Value;

use crate::base::document::{Node, from_node};
use crate::base::error::Source;
use crate::base::units::Time;
use crate::devices::DeviceSpec;
use crate::devices::assembly::{DeviceTree, RunSettings};
use crate::engine::fakes::{command, run_at};
use crate::engine::request::{DeviceId, Op};
use crate::engine::tests::Gate;
use crate::models::cache::replacement::CustomReplacements;
use crate::models::queue::CustomSchedulers;
use crate::runs::simulation::{RunOptions, SpecSource, run};

/// Runs a spec with the checker.
fn checked(text: &str) -> Result<Value, String> {
    let source = SpecSource::Text {
        text: text.to_owned(),
        base: ".".into(),
    };
    let options = RunOptions {
        check: true,
        ..RunOptions::default()
    };
    let outcome = run(&source, &options, &mut ()).map_err(|error| error.to_string());
    outcome.map(|outcome| outcome.json())
}

/// A closed loop of 4 KiB requests on a drive, `set` being keys of the device.
fn closed(
    drive: &str,
    users: u32,
    requests: u32,
    (reads, address): (f64, &str),
    set: &str,
) -> Value {
    let text = format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ closed = {{ users = {users}, think = '0 ms' }} }}\n\
         reads = {reads}\nsize = '4 KiB'\naddress = {address}\n\
         [host]\noutstanding = {users}\n[measure]\nwarmup = 0\n[device.ssd]\ndrive = '{drive}'\n{set}"
    );
    checked(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// 80 % of the drive `mqsim-clean`, in blocks.
const WORKING_SET: &str = "{ uniform = { from = 0, blocks = 12482248 } }";

fn mean_us(result: &Value) -> f64 {
    result["response_ms"]["mean"].as_f64().expect("a mean") * 1e3
}

#[test]
fn a_lone_request_takes_what_its_phases_take() {
    let read = closed("mqsim-clean", 1, 100, (1.0, WORKING_SET), "");
    assert!(
        (mean_us(&read) - 88.905).abs() < 0.001,
        "{}",
        mean_us(&read)
    );
    let write = closed("mqsim-clean", 1, 100, (0.0, WORKING_SET), "");
    assert!(
        (mean_us(&write) - 763.964).abs() < 0.001,
        "{}",
        mean_us(&write)
    );
    let parts = &write["parts_ms"];
    assert_eq!(parts["program"], 0.75);
    assert_eq!(parts["wait"], 0.0);
}

/// A device of a spec.
fn built(device: &str) -> DeviceTree {
    let source = Source::new("a device", device.to_owned());
    let spec: DeviceSpec = from_node(&Node::parse(&source).expect("TOML")).expect("a device");
    let tree = spec.tree(&RunSettings {
        seed: 1,
        base: std::path::Path::new(""),
        schedulers: &CustomSchedulers::default(),
        replacements: &CustomReplacements::default(),
        memory: None,
        read_foreign: |_| unreachable!("the library has it"),
        warming: &|_, _, _| Ok(()),
        loses_power: false,
        locate: &|_, error| error,
    });
    tree.expect("a sound device")
}

/// What a host may expect of a drive, by what the drive says: whole times of a read and a write of a page, us.
fn expected_us(device: &str) -> [f64; 2] {
    let tree = built(device);
    let times = tree.get(DeviceId(0)).access_times().expect("it knows them");
    [Op::Read, Op::Write].map(|op| times.whole(&command(op, 0, 8), 1000).ns() as f64 / 1e3)
}

#[test]
fn what_is_expected_of_a_lone_request_is_what_it_takes() {
    let saved = "buffer = { size = '1 MiB', capacitor = true }";
    let linked = "interface = { read = '3 us', write = '5 us', mapping = '1 us', link = { sata = { generation = 2 } } }";
    for set in ["", saved, linked] {
        let expected = expected_us(&format!("[ssd]\ndrive = 'mqsim-clean'\n{set}\n"));
        for (expected, reads) in expected.into_iter().zip([1.0, 0.0]) {
            let took = mean_us(&closed("mqsim-clean", 1, 100, (reads, WORKING_SET), set));
            assert!(
                // Blocks cross a link in frames, of which a thousand blocks have fewer each.
                (took - expected).abs() < if set == linked { 0.1 } else { 0.002 },
                "{set}: {took} us, {expected} expected, reads {reads}"
            );
        }
    }
}

/// Above it a device that sends what the drive has room for, and hears of room alone.
#[test]
fn room_is_announced_when_a_full_queue_is_no_longer_full() {
    for queues in [
        "queue_depth = 2",
        "queue_depth = 2\nqueues = { count = 2, depth = 2 }",
    ] {
        let mut devices = built(&format!("[ssd]\ndrive = 'mqsim-clean'\n{queues}\n")).devices;
        devices.push(Box::new(Gate::new(DeviceId(0))));
        let write = |n: u64| (Time::ZERO, command(Op::Write, 8 * n, 8));
        let (engine, ended) = run_at(devices, (0..6).map(write).collect(), &[]);
        assert_eq!(ended.len(), 6, "{queues}");
        let told = &engine.devices()[1].report(Time::ZERO)["announced"];
        assert!(told.as_u64() >= Some(3), "{queues}: {told}");
    }
}

/// The rows of MQSim's table before cleaning, on a drive that is the same.
#[test]
fn the_rows_of_mqsim_come_out() {
    for (users, load, expected) in [
        (16, (1.0, WORKING_SET), 120.3),
        (256, (1.0, WORKING_SET), 1018.0),
        (16, (0.0, WORKING_SET), 984.7),
        (16, (1.0, "'sequential'"), 99.885),
        (16, (0.0, "'sequential'"), 763.965),
    ] {
        let found = mean_us(&closed("mqsim-clean", users, 60_000, load, ""));
        println!("{users} {load:?}: {found} for {expected}");
        assert!(
            (found / expected - 1.0).abs() < 0.02,
            "{users} {load:?}: {found} for {expected}"
        );
    }
}

/// A drive of four planes of 64 blocks of 32 pages, with `spare` and what else is said.
fn small(spare: &str, cleaning: &str, more: &str) -> String {
    format!(
        "flash = {{ channels = 2, packages = 1, dies = 2, planes = 1, blocks = 64, pages = 32, page = '4 KiB' }}\n\
         spare = {{ share = '{spare}' }}\ncleaning = {{ {cleaning} }}\nallocation = {{ fixed = 0 }}\n{more}\n"
    )
}

fn amplification(victim: &str, spare: &str) -> f64 {
    amplification_after(30_000, victim, spare, "overwrite = 3.0")
}

fn amplification_after(requests: u32, victim: &str, spare: &str, initial: &str) -> f64 {
    let set = small(
        spare,
        &format!("begin = 3, victim = '{victim}', separate = false"),
        &format!("initial = {{ {initial} }}"),
    );
    let result = closed("mqsim-clean", 8, requests, (0.0, "'uniform'"), &set);
    let ssd = &result["devices"]["ssd"];
    assert_eq!(ssd["host_pages"], requests);
    ssd["write_amplification"].as_f64().expect("a number")
}

#[test]
fn fifo_amplifies_by_its_formula_and_greedy_less() {
    for spare in ["15 %", "25 %"] {
        let share: f64 = spare.trim_end_matches(" %").parse().expect("a number");
        // Of 64 blocks two are kept free, and one is open.
        let load = (1.0 - share / 100.0) * 64.0 / 61.0;
        // (u − 1)/ln u rises with u.
        let (valid, _) = (0..60).fold((0.0, 1.0), |(low, high): (f64, f64), _| {
            let middle = (low + high) / 2.0;
            if (middle - 1.0) / libm::log(middle) < load {
                (middle, high)
            } else {
                (low, middle)
            }
        });
        let fifo = amplification("fifo", spare);
        let expected = 1.0 / (1.0 - valid);
        println!("{spare}: {fifo} for {expected}");
        assert!(
            (fifo / expected - 1.0).abs() < 0.05,
            "{spare}: {fifo} for {expected}"
        );
        assert!(amplification("greedy", spare) < fifo);
    }
}

/// How far it is to the steady state depends on the drive and on what it holds at the start; a drive in use for long is in that state.
#[test]
fn a_drive_that_was_overwritten_until_it_is_steady_is_like_one_in_use_for_long() {
    for victim in ["fifo", "greedy"] {
        for (spare, pattern) in [
            ("10 %", "random"),
            ("15 %", "sequential"),
            ("40 %", "random"),
        ] {
            let after = |overwrite: &str| {
                let initial = format!("pattern = '{pattern}', overwrite = {overwrite}");
                amplification_after(3_000, victim, spare, &initial)
            };
            let (new, steady, old) = (after("0"), after("'until-steady'"), after("30"));
            println!("{victim}, {spare}: {new}, {steady}, {old}");
            assert!((steady / old - 1.0).abs() < 0.1, "{steady} for {old}");
            assert!((new / old - 1.0).abs() > 0.1, "{new} is {old} already");
        }
    }
}

#[test]
fn a_fill_in_order_is_the_same_as_the_writes_of_it() {
    let set = |fill: &str| {
        small(
            "20 %",
            "begin = 3",
            &format!("initial = {{ fill = '{fill}' }}"),
        )
    };
    let pages = 4 * 64 * 32 - 1638;
    let written = closed("mqsim-clean", 1, pages, (0.0, "'sequential'"), &set("0 %"));
    let filled = closed("mqsim-clean", 1, 1, (1.0, "'sequential'"), &set("100 %"));
    for key in ["free_blocks", "erases"] {
        assert_eq!(
            written["devices"]["ssd"][key], filled["devices"]["ssd"][key],
            "{key}"
        );
    }
}

#[test]
fn every_mixture_is_right_and_ends() {
    for (number, victim) in [
        "greedy",
        "fifo",
        "cost-benefit",
        "random-greedy",
        "d-choices",
    ]
    .iter()
    .enumerate()
    {
        for (fixed, throttled, copy_back) in [(0, false, true), (4, true, false), (1, true, true)] {
            let set = small(
                "20 %",
                &format!(
                    "begin = 6, at_once = {}, stop = 3, throttled = {throttled}, victim = '{victim}', separate = {copy_back}",
                    if copy_back { 3 } else { 1 }
                ),
                "initial = { overwrite = 1.0 }",
            )
            .replace("fixed = 0", &format!("fixed = {fixed}"));
            let text = format!(
                "seed = {number}\n[workload.synthetic]\nrequests = 6_000\narrivals = {{ closed = {{ users = 24, think = '0 ms' }} }}\n\
                 reads = 0.4\nsize = [{{ size = '3 blocks', share = 0.5 }}, {{ size = '40 blocks', share = 0.5 }}]\n\
                 [host]\noutstanding = 24\n[measure]\nwarmup = 0\n[device.ssd]\ndrive = 'slc-classic'\nqueue_depth = 20\n{set}\n\
                 [[fault]]\nat = '{} ms'\nkind = 'power-cut'",
                900 + 700 * number
            );
            checked(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }
}

/// Each erase that finds too few free blocks begins another cleaning, while some go on: more blocks are free in the end.
#[test]
fn blocks_cleaned_side_by_side_leave_more_of_them_free() {
    let free = |at_once: u32| {
        let cleaning = format!("begin = 6, stop = 6, at_once = {at_once}");
        let set = small("20 %", &cleaning, "initial = { overwrite = 1.0 }");
        let result = closed("mqsim-clean", 4, 20_000, (0.0, "'uniform'"), &set);
        let ssd = &result["devices"]["ssd"];
        (
            ssd["free_blocks"].as_f64().expect("a number") / 4.0,
            ssd["moved_pages"].as_f64().expect("a number"),
        )
    };
    let ((one, moved_by_one), (eight, moved_by_eight)) = (free(1), free(8));
    println!("{one} and {eight} free, {moved_by_one} and {moved_by_eight} moved");
    assert!((5.0..=6.0).contains(&one) && eight > one);
    assert!(moved_by_eight > moved_by_one);
}

/// Writes that come when nothing waits are never kept waiting by cleaning in the background, and by all of it in the foreground: the write that finds
/// too few free blocks waits for each move and the erase. In both the same blocks are cleaned.
#[test]
fn in_the_foreground_the_host_waits_for_cleaning() {
    let run = |background: bool| {
        let cleaning = format!("begin = 3, background = {background}");
        let set = small("20 %", &cleaning, "initial = { overwrite = 1.0 }");
        let text = format!(
            "[workload.synthetic]\nrequests = 2000\narrivals = {{ constant = '200 ms' }}\nreads = 0\n\
             size = '4 KiB'\naddress = 'uniform'\n[measure]\nwarmup = 0\n[device.ssd]\ndrive = 'mqsim-clean'\n{set}"
        );
        checked(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let (behind, waited) = (run(true), run(false));
    assert!((mean_us(&behind) - 763.964).abs() < 0.001);
    let ssd = &waited["devices"]["ssd"];
    let moved = ssd["moved_pages"].as_f64().expect("a number");
    assert!(moved > 1_000.0);
    for key in ["moved_pages", "free_blocks"] {
        let (one, other) = (&behind["devices"]["ssd"][key], &ssd[key]);
        println!("{key}: {one} in the background, {other} in the foreground");
    }
    // A move takes a read, a page out, a page in and a program.
    let waits = (mean_us(&waited) - 763.964) * 2_000.0;
    let cleaning = moved * (88.905 + 763.964 - 2.0 * 2.0);
    println!("waited for {waits} us, of moves alone {cleaning} us");
    assert!(waits > cleaning);
}

/// A plane of 64 blocks of which 51.2 are full of data, two being written: with begin = 10 one is left beside them, with begin = 11 none.
#[test]
fn a_drive_that_cleans_without_end_says_why() {
    let doubts = |begin: u32| {
        let cleaning = format!("begin = {begin}");
        let set = small("20 %", &cleaning, "initial = { overwrite = 1.0 }");
        let result = closed("mqsim-clean", 4, 5_000, (0.0, "'uniform'"), &set);
        result["warnings"]
            .to_string()
            .contains("leave cleaning no room")
    };
    assert!(!doubts(9));
    assert!(doubts(11));
}

#[test]
fn a_worn_out_drive_can_only_be_read() {
    let set = small("20 %", "begin = 3", "wear = { endurance = 3 }");
    let result = closed("mqsim-clean", 4, 60_000, (0.0, "'uniform'"), &set);
    let ssd = &result["devices"]["ssd"];
    assert!(ssd["read_only_since_s"].as_f64().is_some());
    assert!(result["requests"]["failed"].as_u64() > Some(0));
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("could only be read"), "{warnings}");
}

#[test]
fn impossible_drives_are_refused() {
    for (set, words) in [
        (
            small("0 %", "begin = 3", ""),
            "blocks to write and to clean with",
        ),
        (
            small("20 %", "begin = 3", "").replace("blocks = 64", "blocks = 1"),
            "blocks = 1",
        ),
        (small("20 %", "begin = 3", "queue_depth = 0"), "0 requests"),
        (
            small("20 %", "begin = 3", "wear = { endurance = 0 }"),
            "0 erases",
        ),
        (small("100 %", "begin = 3", ""), "holds nothing"),
        (small("20 %", "begin = 3, at_once = 0", ""), "at_once = 0"),
        (
            small("20 %", "begin = 3, at_once = 2, separate = false", ""),
            "no more than 1",
        ),
        (small("20 %", "begin = 3, victim = 'gredy'", ""), "gredy"),
        (
            small(
                "20 %",
                "begin = 3, background = false, idle = { after = '1 s', free = 5 }",
                "",
            ),
            "without idle",
        ),
        (
            small("20 %", "begin = 62", "mapping = { cache = '4 KiB' }"),
            "accepted: at most 61 here",
        ),
    ] {
        let text = format!(
            "[workload.synthetic]\nrequests = 1\narrivals = {{ constant = '1 ms' }}\nreads = 1.0\nsize = '4 KiB'\n[device.ssd]\ndrive = 'mqsim-clean'\n{set}"
        );
        let error = checked(&text).expect_err(words);
        assert!(error.contains(words), "{error}");
    }
    // Cleaning ends with one free block fewer, and without a cached map the run's end ends it.
    for (begin, map) in [(61, "mapping = { cache = '4 KiB' }"), (62, "")] {
        let set = small("20 %", &format!("begin = {begin}"), map);
        let text = format!(
            "[workload.synthetic]\nrequests = 1\narrivals = {{ constant = '1 ms' }}\nreads = 1.0\nsize = '4 KiB'\n[device.ssd]\ndrive = 'mqsim-clean'\n{set}"
        );
        checked(&text).expect("a drive that can clean");
    }
}

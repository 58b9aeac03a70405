//! Systems of several devices, whole: topologies, organisations, mappings, against closed forms and specs by hand.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Outcome, RunOptions, from_file, from_text_in, outcome_of, setting};
use diskwright::base::error::Error;
use diskwright::disksim::{SetUpName, Whole, whole_from};
use tempfile::TempDir;

use super::sample::{FIRST, Sample};

/// Blocks of the sample's drive.
const BLOCKS: u64 = 780;

/// `drives` disks, each on a controller and a bus of its own.
pub fn several(drives: usize) -> Sample {
    let last = drives - 1;
    let branch = |number: usize| {
        format!(
            "disksim_ctlr ctlr{number} [ disksim_bus bus{} [ disksim_disk disk{number} [] ] ]",
            number + 1
        )
    };
    let branches: Vec<_> = (0..drives).map(branch).collect();
    Sample::new()
        .replace("bus1 .. bus1", &format!("bus1 .. bus{drives}"))
        .replace("[ disk0 ] as", &format!("[ disk0 .. disk{last} ] as"))
        .replace("[ ctlr0 ] as", &format!("[ ctlr0 .. ctlr{last} ] as"))
        .replace(
            "disksim_ctlr ctlr0 [\n         disksim_bus bus1 [\n            disksim_disk disk0 []\n         ]\n      ]",
            &branches.join(",\n"),
        )
        .replace("devices = [ disk0 ]", &format!("devices = [ disk0 .. disk{last} ]"))
        .replace("I/O Mappings = [\n      disksim_iomap { tracedev = 0x0e, simdev = disk0, locScale = 512, sizeScale = 1, offset = 0 }\n   ]", "I/O Mappings = []")
}

/// Simple disks of 10 ms in place of the disks.
pub fn simple(sample: &Sample) -> Sample {
    let block = "disksim_simpledisk SIMPLE {\n Scheduler = disksim_ioqueue {\n Scheduling policy = 1, Cylinder mapping strategy = 0,\n [ Write initiation delay, Read initiation delay ] = 0.0,\n [ Sequential stream scheme, Maximum concat size, Overlapping request scheme, Sequential stream diff maximum, Scheduling timeout scheme, Timeout time/weight, Timeout scheduling, Scheduling priority scheme, Priority scheduling ] = 0\n },\n Max queue length = 1,\n Block count = 1000,\n Bulk sector transfer time = 0.0,\n Never disconnect = 1,\n Print stats = 1,\n Command overhead = 0.5,\n Constant access time = 9.5\n}\ninstantiate [";
    let text = sample.text(FIRST);
    let text = text.replacen("instantiate [", block, 1);
    let text = text
        .replace("] as SMALL", "] as SIMPLE")
        .replace("disksim_disk disk", "disksim_simpledisk disk")
        .replace(
            "BUS0 BUS1 { Read block transfer time = 0.05 }",
            "BUS0 BUS1 { Read block transfer time = 0.0 }",
        );
    sample.clone().with(FIRST, &text)
}

fn organised(sample: Sample, changes: &[(&str, &str)]) -> Sample {
    changes
        .iter()
        .fold(sample, |sample, (from, to)| sample.replace(from, to))
}

fn whole(sample: &Sample) -> Result<Whole, Error> {
    whole_from(sample.files(), Path::new(FIRST), &[], "small.parv", &[])
}

/// What a system with overrides comes to.
pub fn outcome(sample: &Sample, overrides: &[(&str, &str, &str)]) -> String {
    let overrides = super::sample::overrides(overrides);
    let path = Path::new(FIRST);
    match whole_from(sample.files(), path, &[], "small.parv", &overrides) {
        Ok(whole) => format!("{whole:?}"),
        Err(error) => error.to_string(),
    }
}

fn sound(sample: &Sample) -> Whole {
    whole(sample).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(sample: &Sample, told: &[&str]) {
    let Err(error) = whole(sample) else {
        panic!("expected an error")
    };
    let error = error.to_string();
    assert!(error.contains(FIRST), "{error}");
    for told in told {
        assert!(error.contains(told), "{error}");
    }
}

fn folder(sample: &Sample, trace: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    sample.write(folder.path());
    std::fs::write(folder.path().join("a/t.trace"), trace).expect("written");
    folder
}

fn run_with(sample: &Sample, trace: &str, name: &str, set: &[&str]) -> Result<Outcome, Error> {
    let folder = folder(sample, trace);
    let mut all = vec!["workload.trace=t.trace", "workload.format=disksim-ascii"];
    all.extend(set);
    let options = RunOptions {
        check: true,
        ..setting(&all)
    };
    outcome_of(
        &from_file(folder.path().join(format!("a/{name}"))),
        &options,
    )
}

fn run(sample: &Sample, trace: &str, set: &[&str]) -> Outcome {
    run_with(sample, trace, "small.parv", set).unwrap_or_else(|error| panic!("{error}"))
}

/// The places of a system: number, first block, blocks.
fn places(whole: &Whole) -> Vec<(u32, u64, u64)> {
    let places = whole.places.iter();
    places
        .map(|place| {
            let size = place.size.expect("a size").blocks();
            (place.device, place.offset.blocks(), size)
        })
        .collect()
}

fn mean(outcome: &Outcome, device: &str) -> f64 {
    let devices = outcome.get("devices").expect("devices");
    let mean = devices[device]["response_ms"]["mean"].as_f64();
    mean.unwrap_or_else(|| panic!("{device}: {devices}"))
}

#[test]
fn several_disks_are_one_behind_the_other_each_behind_a_driver() {
    let whole = sound(&several(3));
    assert_eq!(whole.devices, 3);
    let array = &whole.device["array"];
    assert_eq!(
        (&array["layout"], &array["spindles"]),
        (&json!("concat"), &json!("synchronised"))
    );
    let driver = &array["member"][2]["driver"];
    assert_eq!(
        (&driver["name"], &driver["outstanding"]),
        (&json!("disk2"), &json!(4))
    );
    assert_eq!(driver["device"]["hdd"]["drive"], "small.parv#disk2");
    assert_eq!(
        places(&whole),
        [(0, 0, BLOCKS), (1, BLOCKS, BLOCKS), (2, 2 * BLOCKS, BLOCKS)]
    );
    assert!(
        whole.alone.is_none() && whole.warnings.is_empty(),
        "{:?}",
        whole.warnings
    );
}

/// A system runs as the same spec by hand, and each disk as that disk alone.
#[test]
fn sets_of_drives_in_step_may_leave_out_of_what_they_are() {
    for set in ["devices = [ disk0 ]", "type = disk, devices = [ disk0 ]"] {
        let set = format!("disksim_syncset sync0 {{ {set} }}\n\ndisksim_logorg");
        sound(&Sample::new().replace("disksim_logorg", &set));
    }
}

#[test]
fn a_system_is_its_disks() {
    let trace =
        "0.0 0 0 8 1\n1.0 1 400 8 0\n2.0 0 600 8 1\n50.0 1 16 4 1\n51.0 1 24 4 1\n400.0 0 0 8 1\n";
    let sample = several(2);
    let outcome = run(&sample, trace, &[]);
    // The last one has arrived, and is in no count.
    let requests = outcome.get("requests").expect("counts");
    assert_eq!(
        (&requests["issued"], &requests["completed"]),
        (&json!(6), &json!(5))
    );
    let all = run(&sample, trace, &["measure.end=last-completion"]);
    assert_eq!(all.completed(), 6);
    for number in 0..2 {
        let alone = run_with(
            &several(2),
            trace,
            &format!("small.parv#disk{number}"),
            &[&format!("workload.device={number}")],
        );
        let alone = alone.unwrap_or_else(|error| panic!("{error}"));
        let of_alone = alone.get("response_ms").expect("times")["mean"]
            .as_f64()
            .expect("one");
        let found = mean(&all, &format!("array.member[{number}].driver"));
        assert!(
            (found - of_alone).abs() < 1e-9,
            "{number}: {found} {of_alone}"
        );
    }
}

#[test]
fn a_simple_disk_takes_its_overhead_and_its_access_time() {
    let trace = "0.0 0 0 8 1\n2.0 0 900 8 0\n3.0 0 8 8 1\n100.0 0 0 8 1\n";
    let outcome = run(&simple(&several(1)), trace, &[]);
    // One at a time, 10 ms each: 10, 18 and 27 ms; the last one ends the run.
    let response = &outcome.get("response_ms").expect("times")["mean"];
    assert_eq!(*response, json!((10.0 + 18.0 + 27.0) / 3.0));
    assert_eq!(
        outcome.get("spec").expect("it")["device"]["driver"]["device"]["simple"]["capacity"],
        "1000 blocks"
    );
    // By C-LOOK the request at 8 is before that at 900.
    let by_place = simple(&several(1)).replace(
        "Scheduling policy = 1,\n      Cylinder mapping strategy = 1",
        "Scheduling policy = 3,\n      Cylinder mapping strategy = 1",
    );
    let outcome = run(&by_place, trace, &[]);
    let response = &outcome.get("response_ms").expect("times")["mean"];
    assert_eq!(*response, json!((10.0 + 17.0 + 28.0) / 3.0));
}

#[test]
fn the_mapping_of_traces_names_devices_and_scales_and_moves() {
    let map =
        |text: &str| several(2).replace("I/O Mappings = []", &format!("I/O Mappings = [ {text} ]"));
    let one = "disksim_iomap { tracedev = 0x0e, simdev = disk1, locScale = 1024, sizeScale = 2, offset = 4 }";
    let whole = sound(&map(one));
    let first = &whole.places[0];
    assert_eq!(
        (first.device, first.location_scale, first.size_scale),
        (14, 1_024, 2)
    );
    assert_eq!(places(&whole)[0], (14, BLOCKS + 4, BLOCKS - 4));
    // Devices that are not listed keep their numbers.
    assert_eq!(places(&whole)[1..], [(0, 0, BLOCKS), (1, BLOCKS, BLOCKS)]);
    // Of two for a device the first counts.
    let two = format!(
        "{one}, disksim_iomap {{ tracedev = 14, simdev = disk0, locScale = 512, sizeScale = 1 }}"
    );
    assert_eq!(places(&sound(&map(&two))), places(&whole));
    for (text, told) in [
        (
            "disksim_iomap { tracedev = 1, simdev = bus0, locScale = 512, sizeScale = 1 }",
            "no request can be for bus0",
        ),
        (
            "disksim_iomap { tracedev = 1, simdev = disk0, locScale = 170, sizeScale = 1 }",
            "locScale",
        ),
        (
            "disksim_iomap { tracedev = 1, simdev = disk0, locScale = 512, sizeScale = 1, offset = 780 }",
            "an offset of 780",
        ),
    ] {
        refused(&map(text), &[told]);
    }
    let outcome = run(&map(one), "0.0 14 10 4 1\n900.0 14 0 1 1\n", &[]);
    let devices = outcome.get("devices").expect("devices");
    assert_eq!(devices["array"]["members"]["member[1]"]["blocks"], 8);
    let wrong = run_with(&several(2), "0.0 0 0 8 1\n5.0 7 0 8 1\n", "small.parv", &[]);
    let Err(error) = wrong else {
        panic!("device 7")
    };
    let error = error.to_string();
    assert!(
        error.contains("t.trace:2") && error.contains("device 7"),
        "{error}"
    );
}

#[test]
fn organisations_are_arrays() {
    let striped = (
        "Distribution scheme = Asis",
        "Distribution scheme = Striped",
    );
    let array = ("Addressing mode = Parts", "Addressing mode = Array");
    let mirrored = (
        "Redundancy scheme = Noredun",
        "Redundancy scheme = Shadowed",
    );
    let layout = |whole: &Whole| whole.device["array"]["layout"].clone();
    // 12 whole units of 64 blocks on each of the four; DiskSim's parts are those of whole disks.
    let whole = sound(&organised(several(4), &[striped]));
    assert_eq!(layout(&whole), json!({ "stripe": { "unit": "64 blocks" } }));
    let end = 4 * 12 * 64;
    assert_eq!(places(&whole)[..2], [(0, 0, BLOCKS), (1, BLOCKS, BLOCKS)]);
    assert_eq!(places(&whole)[3], (3, 3 * BLOCKS, end - 3 * BLOCKS));
    let whole = sound(&organised(several(4), &[striped, array]));
    assert_eq!(places(&whole), [(0, 0, end)]);
    // A unit that is a whole disk is one disk after the other; the last block is out of reach.
    let units = (
        "Stripe unit = 64,\n   Synch",
        "Stripe unit = 780,\n   Synch",
    );
    let whole = sound(&organised(several(4), &[striped, array, units]));
    assert_eq!(
        (layout(&whole), places(&whole)),
        (json!("concat"), vec![(0, 0, 4 * BLOCKS - 1)])
    );
    // Data disk 0 and 1, whose copies are 2 and 3.
    let whole = sound(&organised(several(4), &[mirrored]));
    assert_eq!(layout(&whole), "concat");
    let mirror = &whole.device["array"]["member"][1]["array"];
    assert_eq!(
        mirror["layout"],
        json!({ "mirror": { "read": "least-outstanding" } })
    );
    let names = |mirror: &Value| -> Vec<Value> {
        let members = mirror["member"].as_array().expect("members").iter();
        members
            .map(|member| member["driver"]["name"].clone())
            .collect()
    };
    assert_eq!(names(mirror), ["disk1", "disk3"]);
    assert_eq!(places(&whole), [(0, 0, BLOCKS), (1, BLOCKS, BLOCKS)]);
    let whole = sound(&organised(several(4), &[striped, mirrored]));
    assert_eq!(layout(&whole), json!({ "stripe": { "unit": "64 blocks" } }));
    assert_eq!(
        whole.device["array"]["member"].as_array().map(Vec::len),
        Some(2)
    );
    for (choice, read) in [
        (1, "first"),
        (3, "round-robin"),
        (4, "nearest"),
        (5, "least-outstanding"),
    ] {
        let to = format!("Copy choice on read = {choice}");
        let whole = sound(&organised(
            several(2),
            &[mirrored, ("Copy choice on read = 6", &to)],
        ));
        assert_eq!(layout(&whole), json!({ "mirror": { "read": read } }));
    }
}

#[test]
fn organisations_with_parity_are_arrays_with_parity() {
    let striped = (
        "Distribution scheme = Asis",
        "Distribution scheme = Striped",
    );
    let array = ("Addressing mode = Parts", "Addressing mode = Array");
    let scheme = |name: &str| format!("Redundancy scheme = {name}");
    let (disk, rotated) = (scheme("Parity_disk"), scheme("Parity_rotated"));
    let with = |scheme: &str, more: &[(&str, &str)]| {
        let changes = [("Redundancy scheme = Noredun", scheme)];
        sound(&organised(several(4), &[&changes, more].concat()))
    };
    let layout = |whole: &Whole| whole.device["array"]["layout"].clone();
    // Half of the four devices: two units or more are reconstructed.
    let writes = json!({ "threshold": 2 });
    let whole = with(&disk, &[striped, array]);
    assert_eq!(
        layout(&whole),
        json!({ "raid-4": { "unit": "64 blocks", "writes": writes, "waits": "own-chain" } })
    );
    assert_eq!(places(&whole), [(0, 0, 3 * 12 * 64)]);
    // As they are, with a parity disk: one unit a disk.
    let whole = with(&disk, &[]);
    assert_eq!(layout(&whole)["raid-4"]["unit"], "780 blocks");
    // Whatever is to be reconstructed of stripes.
    let modifies = json!({ "threshold": 4 });
    assert_eq!(layout(&whole)["raid-4"]["writes"], modifies);
    let part = |number: u32| (number, u64::from(number) * BLOCKS, BLOCKS);
    assert_eq!(places(&whole), [part(0), part(1), part(2)]);
    let safe = ("Synch writes for safety = 0", "Synch writes for safety = 1");
    for (number, rotation) in [
        (1, "left-symmetric"),
        (2, "left-asymmetric"),
        (3, "right-asymmetric"),
        (4, "right-symmetric"),
    ] {
        let turn = format!("Parity rotation type = {number}");
        let turned = ("Parity rotation type = 1", &*turn);
        let whole = with(&rotated, &[striped, array, safe, turned]);
        assert_eq!(
            layout(&whole),
            json!({ "raid-5": {
                "unit": "64 blocks", "writes": writes, "waits": "all", "parity_unit": "64 blocks", "rotation": rotation
            } })
        );
        // Of each device's 780 blocks three quarters hold data there; here 12 whole units do.
        assert_eq!(places(&whole), [(0, 0, 3 * 12 * 64)]);
    }
    // As they are, past their parity: of 12 units each has parity in 3. DiskSim leaves a unit out.
    for (number, rotation) in [(1, "left"), (2, "left"), (3, "right"), (4, "right")] {
        let turn = format!("Parity rotation type = {number}");
        let whole = with(&rotated, &[("Parity rotation type = 1", &*turn)]);
        assert_eq!(
            layout(&whole),
            json!({ "parity-striping": {
                "unit": "64 blocks", "writes": modifies, "waits": "own-chain", "rotation": rotation
            } })
        );
        let part = |number: u32| (number, u64::from(number) * 9 * 64, BLOCKS * 3 / 4 - 64);
        assert_eq!(places(&whole), [part(0), part(1), part(2), part(3)]);
    }
    let large = [
        ("Redundancy scheme = Noredun", &*rotated),
        ("Parity stripe unit = 64", "Parity stripe unit = 781"),
    ];
    refused(
        &organised(several(4), &large),
        &["781 blocks", "expected 1 to 780"],
    );
    let odd = [
        ("Redundancy scheme = Noredun", &*rotated),
        striped,
        ("Parity stripe unit = 64", "Parity stripe unit = 96"),
    ];
    refused(
        &organised(several(4), &odd),
        &["96, with a stripe unit of 64"],
    );
    let few = [("Redundancy scheme = Noredun", &*disk), striped];
    refused(&organised(several(2), &few), &["parity over 2 devices"]);
    // A small write reads data and parity and writes both.
    let pieces = |changes: &[(&str, &str)]| -> Vec<u64> {
        let changes = [&[("Redundancy scheme = Noredun", &*rotated)], changes].concat();
        let outcome = run(
            &organised(several(4), &changes),
            "0.0 0 10 4 0\n900.0 0 0 1 1\n",
            &[],
        );
        let members = &outcome.get("devices").expect("devices")["array"]["members"];
        let pieces = |member: usize| members[format!("member[{member}]")]["pieces"].as_u64();
        (0..4).filter_map(pieces).collect()
    };
    assert_eq!(pieces(&[striped, array]).iter().sum::<u64>(), 4);
    // Device 0 and the one that has the parity of its first units.
    assert_eq!(pieces(&[]), [2, 0, 0, 2]);
    let right = ("Parity rotation type = 1", "Parity rotation type = 4");
    assert_eq!(pieces(&[right]), [2, 2, 0, 0]);
}

/// Two organisations: a pair as it is, and a striped pair under the number of its organisation.
#[test]
fn organisations_stand_one_behind_the_other() {
    let text = several(4).text(FIRST);
    let begin = text.find("disksim_logorg org0").expect("an organisation");
    let second = text[begin..]
        .replace("org0", "org1")
        .replace("disk0 .. disk3", "disk2 .. disk3")
        .replace("= Asis", "= Striped")
        .replace("= Parts", "= Array");
    let first = text.replace("devices = [ disk0 .. disk3 ]", "devices = [ disk1 ]");
    let sample = several(4).with(FIRST, &format!("{first}{second}"));
    let whole = sound(&sample);
    assert_eq!(places(&whole), [(1, 0, BLOCKS)]);
    assert!(
        whole
            .warnings
            .iter()
            .any(|text| text.contains("disk0 is in no organisation"))
    );
    // Number 1 is disk1's, which is asked first; of org1, whose number is 1, too, nothing is left.
    let other = sample
        .clone()
        .replace("devices = [ disk1 ]", "devices = [ disk0 ]");
    assert_eq!(
        places(&sound(&other)),
        [(0, 0, BLOCKS), (1, BLOCKS, 2 * 12 * 64)]
    );
    refused(
        &sample.replace("devices = [ disk1 ]", "devices = [ disk2 ]"),
        &["disk2 is in org0, too"],
    );
}

#[test]
fn what_has_no_counterpart_is_refused_where_it_stands() {
    let change = |from: &str, to: &str| organised(several(2), &[(from, to)]);
    for (from, to, told) in [
        (
            "devices = [ disk0 .. disk1 ]",
            "devices = [ disk0, disk9 ]",
            "no device \"disk9\"",
        ),
        (
            "devices = [ disk0 .. disk1 ]",
            "devices = []",
            "without devices",
        ),
        (
            "Distribution scheme = Asis",
            "Distribution scheme = Random",
            "drops the addresses",
        ),
        (
            "Distribution scheme = Asis",
            "Distribution scheme = Stripped",
            "expected one of Asis, Striped",
        ),
        (
            "Addressing mode = Parts",
            "Addressing mode = Array",
            "no address space in common",
        ),
        (
            "Addressing mode = Parts",
            "Addressing mode = Part",
            "expected one of Parts, Array",
        ),
        (
            "Redundancy scheme = Noredun",
            "Redundancy scheme = Mirrored",
            "expected one of Noredun",
        ),
    ] {
        refused(&change(from, to), &[told]);
    }
    let three = several(3).replace(
        "Redundancy scheme = Noredun",
        "Redundancy scheme = Shadowed",
    );
    refused(&three, &["2 copies on 3 devices"]);
}

/// What becomes of a driver's policy that needs to know positions.
#[test]
fn policies_of_drivers_that_need_positions_have_a_place() {
    let predicting = |sample: &Sample| {
        sample.clone().replace(
            "Scheduling policy = 1,\n      Cylinder mapping strategy = 1",
            "Scheduling policy = 8,\n      Cylinder mapping strategy = 1",
        )
    };
    let read = |sample: &Sample| whole(sample).unwrap_or_else(|error| panic!("{error}"));
    // One disk: its own queue has it.
    let one = read(&predicting(&Sample::new()));
    let driver = &one.device["driver"];
    assert_eq!(driver["outstanding"], "unlimited");
    assert_eq!(driver["scheduler"], json!({ "fcfs": {} }));
    assert_eq!(driver["device"]["hdd"]["queue"]["scheduler"], "satf");
    assert!(one.alone.is_none());
    // Simple disks have no positions.
    let alike = read(&predicting(&simple(&Sample::new())));
    assert_eq!(alike.device["driver"]["scheduler"], json!({ "fcfs": {} }));
    assert!(
        alike
            .warnings
            .iter()
            .any(|warning| warning.contains("all are alike"))
    );
    // Behind a controller with a queue of its own, and with joined requests, there is only the order of LBNs.
    let nearest = json!({ "sstf": { "by": "lbn", "ties": "alternate" } });
    let [memory, _] = super::controllers::with_caches();
    let joined = predicting(&Sample::new()).replace(
        "Sequential stream scheme = 0",
        "Sequential stream scheme = 3",
    );
    for sample in [predicting(&memory), joined] {
        let found = read(&sample);
        assert_eq!(found.device["driver"]["scheduler"], nearest);
        let told = |warning: &String| warning.contains("the nearest request by LBN");
        assert!(found.warnings.iter().any(told), "{:?}", found.warnings);
    }
}

/// Two drives on one exclusive bus, two on a bus that is always free, and simple disks, which need none.
#[test]
fn a_bus_that_drives_share_is_one() {
    let shared = several(2).replace(
        "disksim_disk disk0 [] ] ],\ndisksim_ctlr ctlr1 [ disksim_bus bus2 [ disksim_disk disk1 [] ] ]",
        "disksim_disk disk0 [],\ndisksim_disk disk1 [] ] ]",
    );
    let bus = |whole: &Whole, number: usize| {
        whole.device["array"]["member"][number]["driver"]["device"]["hdd"]["bus"].clone()
    };
    let whole = sound(&shared);
    assert_eq!(
        (bus(&whole, 0), bus(&whole, 1)),
        (json!("bus1"), json!("bus1"))
    );
    assert_eq!(whole.warnings, [] as [&str; 0]);
    let apart = sound(&several(2));
    assert_eq!((bus(&apart, 0), bus(&apart, 1)), (Value::Null, Value::Null));
    let free = sound(
        &shared
            .clone()
            .replace("BUS0 BUS1 { Read", "BUS0 BUS1 { type = 2, Read"),
    );
    assert_eq!(bus(&free, 1), Value::Null);
    // The second read waits until the first one has left the bus.
    let pair = |at: u32| format!("{at}.0 0 {at} 8 1\n{at}.0 1 {} 8 1\n", 7 * at % 700);
    let trace: String = (0..10).map(|number| pair(number * 70)).collect();
    let response = |sample: &Sample, disk: usize| {
        let name = format!("array.member[{disk}].driver");
        mean(
            &run(sample, &trace, &["measure.end=\"last-completion\""]),
            &name,
        )
    };
    let other = several(2);
    assert!(response(&shared, 1) > response(&other, 1) + 0.01);
    let simple = simple(&shared);
    let warnings = sound(&simple).warnings;
    let text = simple.text(FIRST);
    let line = 1 + text[..text.find("disksim_simpledisk disk0 []").expect("a drive")]
        .matches('\n')
        .count();
    let told = format!("{FIRST}:{line}:");
    assert!(
        warnings.iter().any(|warning| warning.starts_with(&told)
            && warning.contains("disk0 does not wait for others on the exclusive bus bus1")),
        "{warnings:?}"
    );
}

#[test]
fn values_stand_behind_the_name_of_a_system_and_of_its_drives() {
    let trace = "0.0 0 0 8 1\n1.0 1 400 8 0\n2.0 1 600 8 1\n500.0 1 0 8 1\n";
    let name = "small.parv#disk1:Max queue length=2#driver0:Scheduler:Scheduling policy=4";
    let outcome = run_with(&several(2), trace, name, &[]).unwrap_or_else(|error| panic!("{error}"));
    let devices = &outcome.get("spec").expect("it")["device"]["array"]["member"];
    for (number, depth) in [(0, 4), (1, 2)] {
        let driver = &devices[number]["driver"];
        assert_eq!(driver["outstanding"], depth);
        assert_eq!(driver["device"]["hdd"]["queue"]["depth"], depth);
        assert_eq!(
            driver["scheduler"],
            json!({ "sstf": { "by": "lbn", "ties": "alternate" } })
        );
    }
    let drive = devices[1]["driver"]["device"]["hdd"]["drive"]
        .as_str()
        .expect("a name");
    assert_eq!(
        drive,
        "small.parv#disk1#disk1:Max queue length=2#driver0:Scheduler:Scheduling policy=4"
    );
    // A value that changes the drive itself.
    let folder = folder(&several(2), trace);
    let spec = |drive: &str| {
        let text = format!(
            "[device.hdd]\ndrive = {drive:?}\n[workload.synthetic]\nrequests = 50\narrivals = {{ poisson = '30 ms' }}\nsize = '4 blocks'\naddress = 'uniform'\n"
        );
        let source = from_text_in(text, folder.path().join("a"));
        outcome_of(&source, &RunOptions::default()).map(|outcome| outcome.digest().to_owned())
    };
    let digest = |drive: &str| spec(drive).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(digest("small.parv#disk0"), digest("small.parv#disk1"));
    let scaled = "small.parv#disk1#disk1:Time scale for overheads=9.0";
    assert_ne!(digest("small.parv#disk1"), digest(scaled));
    for (drive, told) in [
        ("small.parv", "name one: FILE.parv#disk0"),
        ("small.parv#disk2", "no device \"disk2\""),
        ("small.parv#disk0#disk1", "two drives"),
        ("small.parv#disk0:Max queue=1", "Max queue"),
    ] {
        let error = spec(drive).expect_err(told).to_string();
        assert!(error.contains(told), "{error}");
    }
    let named = SetUpName::read(Path::new("x.parv#disk0")).expect("a name");
    assert_eq!(named.expect("sound").drive.as_deref(), Some("disk0"));
}

/// What the driver's queue becomes.
#[test]
fn the_drivers_queue_is_joined_prioritised_and_timed() {
    let queue = |changes: &[(&str, &str)]| {
        let whole = sound(&organised(several(2), changes));
        (
            whole.device["array"]["member"][0]["driver"].clone(),
            whole.timeout,
        )
    };
    let (plain, timeout) = queue(&[]);
    assert_eq!(
        (plain.get("join"), plain.get("priority"), timeout),
        (None, None, None)
    );
    let (joined, _) = queue(&[(
        "      Sequential stream scheme = 0,\n      Maximum concat size = 128",
        "      Sequential stream scheme = 2,\n      Maximum concat size = 128",
    )]);
    assert_eq!(
        joined["join"],
        json!({ "most": "128 blocks", "reads": false, "writes": true })
    );
    let priority = (
        "Scheduling priority scheme = 0,\n      Priority scheduling = 4",
        "Scheduling priority scheme = 1,\n      Priority scheduling = 3",
    );
    let timed = (
        "Scheduling timeout scheme = 0,\n      Timeout time",
        "Scheduling timeout scheme = 1,\n      Timeout time",
    );
    let (both, timeout) = queue(&[priority, timed]);
    assert_eq!(
        both["priority"],
        json!({ "scheduler": { "c-look": { "by": "lbn", "from": "start" } } })
    );
    assert_eq!(timeout, Some(json!({ "after": "6 s" })));
    let (_, timeout) = queue(&[timed]);
    let sstf = json!({ "sstf": { "by": "lbn", "ties": "alternate" } });
    assert_eq!(timeout, Some(json!({ "after": "6 s", "scheduler": sstf })));
}

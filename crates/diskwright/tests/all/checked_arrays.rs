//! Random arrays with the checker on: nothing is lost, nothing stale, every part accounted for; and twice the same.

use proptest::prelude::*;
use serde_json::Value;

use crate::support::run;

/// A disk: with or without a queue, a buffer that is volatile, a cache that is.
fn disks() -> impl Strategy<Value = String> {
    let drives = prop::sample::select(vec!["ibm-18es", "cheetah-9lp", "ibm-18es-linear"]);
    let angle = prop::sample::select(vec!["", ", angle = 0.3", ", angle = \"random\""]);
    let buffer = prop::sample::select(vec![
        "",
        ", buffer = true",
        ", buffer = false",
        ", buffer = { segments = 4, segment_size = \"90 blocks\", write = { complete = \"buffered\" } }",
        ", buffer = { segments = 4, segment_size = \"90 blocks\", write = { complete = \"buffered-alone\", appends = true } }",
    ]);
    let scheduler = prop::sample::select(vec!["fcfs", "satf", "ncq", "look", "sstf"]);
    let merges = prop::sample::select(vec!["", ", clustering = \"64 blocks\""]);
    let cache = prop::sample::select(vec![
        "",
        "",
        ", cache = { size = \"64 KiB\" }",
        ", cache = { size = \"64 KiB\", write_policy = \"write-back\" }",
        ", cache = { size = \"4 MiB\", write_policy = \"write-back\", policy = \"arc\" }",
    ]);
    (drives, angle, buffer, 1u32..20, scheduler, merges, cache).prop_map(
        |(drive, angle, buffer, depth, scheduler, merges, cache)| {
            format!(
                "hdd = {{ drive = \"{drive}\"{angle}{buffer}, queue = {{ depth = {depth}, scheduler = \"{scheduler}\"{merges} }}{cache} }}"
            )
        },
    )
}

/// A tree of arrays of disks.
fn arrays() -> impl Strategy<Value = String> {
    let unit = prop::sample::select(vec![1u32, 2, 3, 4, 7, 8, 64, 1000]);
    let read = prop::sample::select(diskwright::devices::array::reads::ReadSpec::NAMES);
    let parity = (
        prop::sample::select(vec![
            "left-symmetric",
            "left-asymmetric",
            "right-symmetric",
            "right-asymmetric",
        ]),
        prop::sample::select(vec![
            "waits = \"all\"",
            "waits = \"own-chain\"",
            "writes = { threshold = 2 }",
        ]),
    );
    let layout = (0u32..10, unit, read, parity);
    let spindles = "{ free = { tolerance = \"0.5 %\" } }";
    let tree = disks().prop_recursive(2, 9, 4, move |below| {
        let members = prop::collection::vec(below, 1..5);
        (layout.clone(), members).prop_map(move |((kind, unit, read, (rotation, how)), members)| {
            let count = members.len();
            let unit = format!("unit = \"{unit} blocks\"");
            let layout = match kind {
                0 | 1 => format!("{{ mirror = {{ read = \"{read}\" }} }}"),
                2 => "\"concat\"".to_owned(),
                3 if count >= 2 => format!("{{ raid-4 = {{ {unit}, {how} }} }}"),
                4 | 5 if count >= 2 => {
                    format!("{{ raid-5 = {{ {unit}, {how}, rotation = \"{rotation}\" }} }}")
                }
                6 if count >= 3 => {
                    format!("{{ raid-6 = {{ {unit}, {how}, rotation = \"{rotation}\" }} }}")
                }
                8 if count >= 2 => {
                    let (direction, _) = rotation.split_once('-').expect("a side");
                    format!(
                        "{{ parity-striping = {{ {unit}, {how}, rotation = \"{direction}\" }} }}"
                    )
                }
                7 => format!("{{ raid-10 = {{ {unit}, copies = {count}, read = \"{read}\" }} }}"),
                _ => format!("{{ stripe = {{ {unit} }} }}"),
            };
            let members: Vec<_> = members
                .iter()
                .map(|member| format!("{{ {member} }}"))
                .collect();
            let members = members.join(", ");
            format!("array = {{ layout = {layout}, spindles = {spindles}, member = [{members}] }}")
        })
    });
    tree.prop_filter("an array", |device| device.starts_with("array"))
}

fn specs() -> impl Strategy<Value = String> {
    let size = prop::sample::select(vec![1u32, 3, 8, 64, 300]);
    // A few hundred blocks, so that requests overlap; or all there are.
    let address = prop_oneof![
        1 => Just("\"uniform\"".to_owned()),
        3 => (0u32..5000).prop_map(|from| format!("{{ uniform = {{ from = {from}, blocks = 600, align = \"1 block\" }} }}")),
        1 => Just("\"sequential\"".to_owned()),
        1 => Just("{ growing = { blocks = 700, new = 0.5 } }".to_owned()),
    ];
    let operations = (0.0..0.7f64, 0.0..0.15f64, 0.0..0.1f64, 0.0..0.3f64).prop_map(
        |(reads, flushes, trims, fua)| {
            format!("reads = {reads}\nflushes = {flushes}\ntrims = {trims}\nfua = {fua}\n")
        },
    );
    let load = (1u32..40, 0u32..10, size, address, operations);
    (arrays(), load, any::<u32>()).prop_map(
        |(device, (users, think, size, address, operations), seed)| {
            format!(
                "seed = {seed}\n[workload.synthetic]\nrequests = 250\narrivals = {{ closed = {{ users = {users}, think = \"{think} ms\" }} }}\n\
                 {operations}size = \"{size} blocks\"\naddress = {address}\n[device]\n{device}\n"
            )
        },
    )
}

/// What a device was sent: an array and what hangs below it must agree.
fn pieces_arrive(result: &Value) -> Result<(), TestCaseError> {
    let devices = result["devices"].as_object().expect("devices");
    for (path, counted) in devices {
        let Some(members) = counted["members"].as_object() else {
            continue;
        };
        for (member, sent) in members {
            let below = format!("{path}.{member}.");
            // A cache in front of a disk counts what came to it.
            let top = ["hdd.cache", "hdd", "array"].map(|kind| format!("{below}{kind}"));
            let top = top.iter().find_map(|path| devices.get(path));
            prop_assert_eq!(
                &top.expect("the member")["requests"],
                &sent["pieces"],
                "{}",
                below
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn a_checked_array_has_no_fault_and_repeats_itself(text in specs()) {
        let result = run(&text);
        prop_assert_eq!(&result["requests"]["completed"], &Value::from(250));
        prop_assert_eq!(&result["checked"], &Value::from(250));
        prop_assert_eq!(&result["devices"]["array"]["requests"], &Value::from(250));
        pieces_arrive(&result)?;
        prop_assert_eq!(&run(&text)["digest"], &result["digest"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn a_power_cut_loses_nothing_that_an_array_promised(text in specs(), at_us in 0u64..2_000_000) {
        let result = run(&format!("{text}[[fault]]\nat = \"{at_us} us\"\nkind = \"power-cut\"\n"));
        let count = |key: &str| result["requests"][key].as_u64().expect("a count");
        prop_assert_eq!(count("completed"), count("issued"));
        prop_assert_eq!(count("measured"), count("completed") - count("failed"));
    }
}

/// Something that goes wrong: which path of those there are, when, and for blocks of a medium which.
type Mishap = (prop::sample::Index, u64, Option<(u64, u64)>);

fn mishaps() -> impl Strategy<Value = Vec<Mishap>> {
    let blocks = prop::option::of((0u64..6000, 1u64..2000));
    prop::collection::vec(
        (any::<prop::sample::Index>(), 0u64..1_500_000, blocks),
        1..5,
    )
}

/// Mishaps in the words of a spec whose result names these devices.
fn in_words(mishaps: &[Mishap], devices: &Value) -> String {
    // A cache is a part of its drive.
    let is_device = |path: &&String| !path.ends_with(".cache");
    let paths = devices.as_object().expect("devices").keys();
    let paths: Vec<&String> = paths.filter(is_device).collect();
    let media: Vec<_> = paths.iter().filter(|path| path.ends_with("hdd")).collect();
    let fault = |(path, at, blocks): &Mishap| {
        let kind = match blocks {
            None => format!("{{ fail = \"{}\" }}", paths[path.index(paths.len())]),
            Some((from, blocks)) => {
                let device = media[path.index(media.len())];
                format!(
                    "{{ media-error = {{ device = \"{device}\", from = {from}, blocks = {blocks} }} }}"
                )
            }
        };
        format!("[[fault]]\nat = \"{at} us\"\nkind = {kind}\n")
    };
    mishaps.iter().map(fault).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn whatever_fails_every_request_ends_and_what_is_left_keeps_its_promises(
        text in specs(), mishaps in mishaps(), at_us in prop::option::of(0u64..2_000_000),
    ) {
        let devices = &run(&text)["devices"];
        let cut = at_us.map_or(String::new(), |at| format!("[[fault]]\nat = \"{at} us\"\nkind = \"power-cut\"\n"));
        let text = format!("{text}{}{cut}", in_words(&mishaps, devices));
        let result = run(&text);
        let count = |key: &str| result["requests"][key].as_u64().expect("a count");
        prop_assert_eq!(count("completed"), count("issued"));
        prop_assert_eq!(count("measured"), count("completed") - count("failed"));
        prop_assert_eq!(&run(&text)["digest"], &result["digest"]);
    }
}

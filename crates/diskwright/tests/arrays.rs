//! Arrays of simulated disks: against one disk alone, against closed forms, and through their specs.

use diskwright::metrics::interval::ci95;
use diskwright::simulation::{self, RunOptions, SpecSource};
use proptest::prelude::*;
use serde_json::Value;

fn run_with(text: &str, options: &RunOptions) -> Result<Value, diskwright::error::Error> {
    let source = SpecSource::Text {
        text: text.to_owned(),
        base: ".".into(),
    };
    simulation::run(&source, options, &mut ()).map(|outcome| outcome.json())
}

fn run(text: &str) -> Value {
    let options = RunOptions {
        check: true,
        ..RunOptions::default()
    };
    run_with(text, &options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Requests to a device, each when the one before is complete.
fn alone(requests: u32, size: u32, keys: &str, device: &str) -> String {
    format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ closed = {{ users = 1 }} }}\nsize = \"{size} blocks\"\n{keys}\n\
         [measure]\nwarmup = 0\n[device]\n{device}\n"
    )
}

/// An array of two disks of a kind.
fn two(layout: &str, spindles: &str, hdd: &str) -> String {
    let member = format!("{{ hdd = {{ {hdd} }} }}");
    format!("array = {{ layout = {layout}, spindles = {spindles}, member = [{member}, {member}] }}")
}

fn number(result: &Value, path: &str) -> f64 {
    let path = format!("/{}", path.replace('.', "/"));
    result
        .pointer(&path)
        .and_then(Value::as_f64)
        .expect("a number")
}

/// What a disk with the linear seek curve has before and after the time on the medium is nothing to an array.
const LINEAR: &str = "drive = \"ibm-18es-linear\"";
/// Milliseconds of a turn of it.
const TURN: f64 = 60_000.0 / 7_200.0;

#[test]
fn halves_on_synchronised_disks_take_what_a_half_takes_on_one() {
    for reads in ["1.0", "0.3"] {
        let keys = |blocks: u64| {
            format!("reads = {reads}\naddress = {{ uniform = {{ blocks = {blocks} }} }}")
        };
        let stripe = two(
            "{ stripe = { unit = \"4 blocks\" } }",
            "\"synchronised\"",
            LINEAR,
        );
        let halves = run(&alone(3_000, 8, &keys(8_000_000), &stripe));
        let disk = format!("hdd = {{ {LINEAR} }}");
        let half = run(&alone(3_000, 4, &keys(4_000_000), &disk));
        for key in ["response_ms", "service_ms", "access_ms", "parts_ms", "iops"] {
            assert_eq!(halves[key], half[key], "{key}");
        }
        assert_eq!(number(&halves, "devices.array.split_requests"), 3_000.0);
        for member in ["array.member[0].hdd", "array.member[1].hdd"] {
            let counted = &halves["devices"][member];
            assert_eq!(
                counted["busy_ms"], half["devices"]["hdd"]["busy_ms"],
                "{member}"
            );
        }
    }
}

#[test]
fn free_disks_wait_for_the_later_of_two_angles() {
    // Both arms move alike, so that the slower half is the one that waits longer for its sector: of two waits that are uniform over a
    // turn and independent, the longer is two thirds of a turn on average; one alone is half a turn.
    let access = |spindles: &str, seed: u64| {
        let stripe = two("{ stripe = { unit = \"4 blocks\" } }", spindles, LINEAR);
        let keys = "address = { uniform = { blocks = 8_000_000 } }";
        let text = format!("seed = {seed}\n{}", alone(1_500, 8, keys, &stripe));
        let options = RunOptions::default();
        let result = run_with(&text, &options).expect("the spec runs");
        number(&result, "access_ms.mean")
    };
    for free in ["\"free\"", "{ free = { tolerance = \"0 %\" } }"] {
        let gains: Vec<f64> = (1..=40)
            .map(|seed| access(free, seed) - access("\"synchronised\"", seed))
            .collect();
        let [low, high] = ci95(&gains).expect("forty values");
        let expected = TURN * (2.0 / 3.0 - 1.0 / 2.0);
        assert!(
            low <= expected && expected <= high,
            "{free}: {expected} is outside {low}..{high}"
        );
        assert!(
            high - low < expected / 2.0,
            "{free}: {low}..{high} says little"
        );
    }
}

#[test]
fn a_mirror_writes_as_slowly_as_its_slower_disk_and_reads_from_both() {
    let mirror = |read: &str| format!("{{ mirror = {{ read = \"{read}\" }} }}");
    let keys = "reads = 0.0\naddress = { uniform = { blocks = 4_000_000 } }";
    let writes = run(&alone(
        1_000,
        8,
        keys,
        &two(&mirror("first"), "\"synchronised\"", LINEAR),
    ));
    let disk = run(&alone(1_000, 8, keys, &format!("hdd = {{ {LINEAR} }}")));
    assert_eq!(writes["digest"], disk["digest"]);
    let users = "[workload.synthetic]\nrequests = 4000\narrivals = { closed = { users = 16 } }\n[measure]\nwarmup = 0\n[device]\n";
    let result = |device: &str| run(&format!("{users}{device}\n"));
    let single = result(&format!("hdd = {{ {LINEAR} }}"));
    let of_reads = |read: &str| {
        let result = result(&two(&mirror(read), "\"free\"", LINEAR));
        let members = [0, 1].map(|member| {
            let disk = &result["devices"][format!("array.member[{member}].hdd")];
            number(disk, "seek_distance_mean_cylinders")
        });
        (number(&result, "iops") / number(&single, "iops"), members)
    };
    let (gain, [_, resting]) = of_reads("first");
    assert!((gain - 1.0).abs() < 0.01, "{gain}");
    assert_eq!(resting, 0.0);
    let (gain, [one, other]) = of_reads("round-robin");
    assert!((1.7..2.01).contains(&gain), "{gain}");
    // Of two places at random the distance is a third of the way from end to end, on average; four standard errors of 2000.
    let third = 11_474.0 / 3.0;
    for distance in [one, other] {
        assert!(
            (distance - third).abs() < 4.0 * 11_474.0 / (18.0 * 2000.0f64).sqrt(),
            "{distance}"
        );
    }
    let (balanced, _) = of_reads("soonest-idle");
    assert!((gain..2.1).contains(&balanced), "{balanced}");
    // Each arm keeps to the places that are nearer to it than to the other.
    let (gain, [one, other]) = of_reads("nearest");
    assert!(gain > balanced, "{gain}");
    assert!(one < 0.8 * third && other < 0.8 * third, "{one} {other}");
}

#[test]
fn a_request_across_the_boundary_of_a_concatenation_is_split() {
    let boundary =
        simulation::drive_summary("ibm-18es-linear").expect("a drive")["capacity_blocks"]
            .as_u64()
            .expect("blocks");
    let device = two("\"concat\"", "\"synchronised\"", LINEAR);
    let keys = |from: u64| {
        format!(
            "reads = 0.5\naddress = {{ uniform = {{ from = {from}, blocks = 16, align = \"1 block\" }} }}"
        )
    };
    let result = run(&alone(900, 8, &keys(boundary - 8), &device));
    let array = &result["devices"]["array"];
    // Of nine places two leave the request whole.
    let split = number(array, "split_requests");
    assert!((split - 700.0).abs() < 5.0 * 12.5, "{split}");
    assert_eq!(number(array, "pieces"), 900.0 + split);
    let last = run(&alone(10, 8, &keys(2 * boundary - 16), &device));
    assert_eq!(
        number(&last["devices"]["array"], "members.member[1].share"),
        1.0
    );
    let beyond = run_with(
        &alone(10, 8, &keys(2 * boundary - 15), &device),
        &RunOptions::default(),
    );
    let error = beyond.expect_err("a block too far").to_string();
    assert!(
        error.contains(&format!("the drive has {} blocks", 2 * boundary)),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// An array of one disk takes no time and changes no order.
    #[test]
    fn one_member_is_the_disk_itself(
        layout in prop::sample::select(vec!["\"mirror\"", "\"concat\"", "{ stripe = { unit = \"3 blocks\" } }", "{ stripe = { unit = \"1 MiB\" } }"]),
        queue in prop::sample::select(vec![
            "queue = { depth = 1 }",
            "queue = { depth = 8, scheduler = \"satf\" }",
            "queue = { scheduler = \"ncq\", clustering = \"32 blocks\" }",
            "queue = { scheduler = \"look\" }, cache = { size = \"1 MiB\", write_policy = \"write-back\" }",
            "buffer = false",
        ]),
        users in 1u32..50,
        depth in 1u32..4,
        size in 1u32..40,
        seed: u32,
    ) {
        let hdd = format!("hdd = {{ drive = \"cheetah-9lp\", angle = 0.25, {queue} }}");
        let mut device = hdd.clone();
        for _ in 0..depth {
            device = format!("array = {{ layout = {layout}, spindles = \"synchronised\", member = [{{ {device} }}] }}");
        }
        let spec = |device: &str| format!(
            "seed = {seed}\n[workload.synthetic]\nrequests = 400\narrivals = {{ closed = {{ users = {users} }} }}\nreads = 0.5\nflushes = 0.02\n\
             size = \"{size} blocks\"\naddress = {{ uniform = {{ from = 5000, blocks = 100_000 }} }}\n[device]\n{device}\n"
        );
        let (of_array, of_disk) = (run(&spec(&device)), run(&spec(&hdd)));
        prop_assert_eq!(&of_array["digest"], &of_disk["digest"]);
        for key in ["response_ms", "service_ms", "access_ms", "parts_ms"] {
            prop_assert_eq!(&of_array[key], &of_disk[key]);
        }
    }
}

#[test]
fn the_effective_spec_says_all_and_runs_again() {
    for device in [
        two("\"mirror\"", "\"free\"", LINEAR),
        two("\"mirror\"", "\"synchronised\"", LINEAR),
        two(
            "\"concat\"",
            "\"free\"",
            "drive = \"ibm-18es-linear\", angle = 0.5",
        ),
    ] {
        let text = format!("seed = 9\n{}", alone(200, 8, "reads = 0.5", &device));
        let result = run(&text);
        let again = run(&toml::to_string(&result["spec"]).expect("TOML has all of it"));
        assert_eq!(again["digest"], result["digest"], "{device}");
        assert_eq!(again["spec"], result["spec"]);
    }
    let array = |spindles| {
        let device = two("\"mirror\"", spindles, LINEAR);
        run(&alone(10, 8, "", &device))["spec"]["device"]["array"].clone()
    };
    let free = array("\"free\"");
    assert_eq!(
        free["spindles"],
        serde_json::json!({ "free": { "tolerance": "0.1 %" } })
    );
    assert_eq!(
        free["layout"],
        serde_json::json!({ "mirror": { "read": "soonest-idle" } })
    );
    assert_eq!(free["member"][1]["hdd"]["angle"], "random");
    assert_eq!(array("\"synchronised\"")["member"][1]["hdd"]["angle"], 0.0);
}

/// The rotational wait of the first access of each of two members to their block 0.
fn first_waits(seed: u64, spindles: &str, angles: [&str; 2]) -> [f64; 2] {
    [0, 1].map(|member| {
        let one = |angle: &str| format!("{{ hdd = {{ {LINEAR}{angle} }} }}");
        let [a, b] = angles.map(one);
        let device = format!(
            "array = {{ layout = \"concat\", spindles = {spindles}, member = [{a}, {b}] }}"
        );
        let from = member * 17_899_440;
        let keys = format!("address = {{ uniform = {{ from = {from}, blocks = 8 }} }}");
        let result = run(&format!("seed = {seed}\n{}", alone(1, 8, &keys, &device)));
        assert_eq!(
            number(
                &result["devices"]["array"],
                &format!("members.member[{member}].share")
            ),
            1.0
        );
        number(&result, "parts_ms.rotation")
    })
}

#[test]
fn a_members_own_angle_wins_and_what_is_drawn_is_its_own_or_the_arrays() {
    let drawn = [", angle = \"random\""; 2];
    let (free, synchronised) = ("\"free\"", "\"synchronised\"");
    let [a, b] = first_waits(1, free, ["", ""]);
    assert_ne!(a, b);
    assert_eq!(
        first_waits(1, free, drawn),
        [a, b],
        "free is random unless said"
    );
    assert_ne!(first_waits(2, free, ["", ""]), [a, b]);
    let [a, b] = first_waits(1, synchronised, ["", ""]);
    assert_eq!(a, b);
    let [c, d] = first_waits(1, synchronised, drawn);
    assert_eq!(c, d, "what turns together is drawn together");
    assert_ne!(a, c);
    // Half a turn ahead the sector comes half a turn earlier, or later.
    let [e, f] = first_waits(1, synchronised, ["", ", angle = 0.5"]);
    assert_eq!(e, a);
    assert!(((f - e).abs() - TURN / 2.0).abs() < 1e-5, "{e} {f}");
    // With a speed of their own, but from the angle that is said: a millisecond or so after the start nobody sees the difference.
    let [g, h] = first_waits(1, free, [", angle = 0", ", angle = 0.5"]);
    assert!((g - a).abs() < 0.02 && (h - f).abs() < 0.02, "{g} {h}");
}

#[test]
fn the_command_lines_drive_is_every_members_and_capacities_are_told() {
    let member = |drive: &str| format!("{{ hdd = {{ drive = \"{drive}\" }} }}");
    let device = format!(
        "array = {{ layout = \"mirror\", member = [{}, {}] }}",
        member("ibm-18es"),
        member("exos-x20")
    );
    let text = alone(20, 8, "", &device);
    let warned = run(&text)["warnings"].to_string();
    assert!(
        warned.contains("array: ") && warned.contains("of the members' blocks"),
        "{warned}"
    );
    let options = RunOptions {
        drive: Some("ibm-18es".to_owned()),
        ..RunOptions::default()
    };
    let alike = run_with(&text, &options).expect("the spec runs");
    for member in [0, 1] {
        assert_eq!(
            alike["spec"]["device"]["array"]["member"][member]["hdd"]["drive"],
            "ibm-18es"
        );
    }
    assert!(
        !alike["warnings"]
            .to_string()
            .contains("of the members' blocks")
    );
}

#[test]
fn mistakes_are_told_where_they_stand() {
    let good = "[workload.synthetic]\nrequests = 10\narrivals = { poisson = \"20 ms\" }\n[device.array]\nlayout = { stripe = { unit = \"8 blocks\" } }\n\
                spindles = \"synchronised\"\n[[device.array.member]]\nhdd = { drive = \"ibm-18es\" }\n[[device.array.member]]\n\
                hdd = { drive = \"ibm-18es\", queue = { depth = 4 } }\n";
    run(good);
    for (from, to, words) in [
        (
            "depth = 4",
            "depth = 0",
            &["spec:10:47", "queue of depth 0"][..],
        ),
        (
            "\"ibm-18es\", queue",
            "\"ibm-18se\", queue",
            &["spec:10:17", "did you mean \"ibm-18es\""],
        ),
        (
            "\"ibm-18es\", queue",
            "\"cheetah-9lp\", queue",
            &["spec:6:12", "7200 rpm and at 10045 rpm", "\"free\""],
        ),
        (
            "\"8 blocks\"",
            "\"0 blocks\"",
            &["spec:5:10", "unit of 0 blocks", "1 block to"],
        ),
        (
            "\"8 blocks\"",
            "\"1 TiB\"",
            &["spec:5:10", "smallest member"],
        ),
        (
            "{ stripe = { unit = \"8 blocks\" } }",
            "\"stripe\"",
            &["spec:5:10", "unit"],
        ),
        (
            "{ stripe = { unit = \"8 blocks\" } }",
            "\"strip\"",
            &["spec:5:10", "did you mean \"stripe\""],
        ),
        (
            "{ stripe = { unit = \"8 blocks\" } }",
            "{ mirror = { read = \"second\" } }",
            &["spec:5:", "\"second\"", "round-robin"],
        ),
        (
            "\"synchronised\"",
            "{ free = { tolerance = \"11 %\" } }",
            &["spec:6:12", "up to 11 %", "0 % to 10 %"],
        ),
        (
            "\"synchronised\"",
            "\"loose\"",
            &["spec:6:12", "\"loose\"", "free"],
        ),
        (
            "layout = ",
            "layouts = ",
            &["spec:5:1", "did you mean \"layout\""],
        ),
    ] {
        assert!(good.contains(from), "{from}");
        let error = run_with(&good.replacen(from, to, 1), &RunOptions::default());
        let error = error.expect_err(to).to_string();
        for word in words {
            assert!(error.contains(word), "{to}: {word} is not in\n{error}");
        }
    }
    let none = "[workload.synthetic]\nrequests = 10\narrivals = { poisson = \"20 ms\" }\n[device.array]\nlayout = \"mirror\"\nmember = []\n";
    let error = run_with(none, &RunOptions::default())
        .expect_err("no members")
        .to_string();
    assert!(
        error.contains("spec:6:10") && error.contains("without members"),
        "{error}"
    );
    // A scheduler that belongs into the drives is sent to each of them.
    let host = format!("{good}[host]\nscheduler = \"satf\"\n");
    let error = run_with(&host, &RunOptions::default())
        .expect_err("no geometry")
        .to_string();
    for member in [0, 1] {
        let key = format!("device.array.member[{member}].hdd.queue.scheduler");
        assert!(error.contains(&key), "{error}");
    }
}

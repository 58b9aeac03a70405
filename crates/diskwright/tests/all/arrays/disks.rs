//! What arrays of disks do: against one disk alone, and against closed forms.

use diskwright::metrics::interval::ci95;
use proptest::prelude::*;

use super::common::{LINEAR, TURN, alone, number, two};
use crate::support::{RunOptions, run, simulation, try_run_with};

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
        let result = try_run_with(&text, &options).expect("the spec runs");
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
    let (balanced, _) = of_reads("least-outstanding");
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
    let beyond = try_run_with(
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

//! What specs say of arrays: in effect, with their angles, from the command line, and wrong.

use super::common::{LINEAR, TURN, alone, number, two};
use crate::support::{RunOptions, run, try_run_with};

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
        serde_json::json!({ "mirror": { "read": "least-outstanding" } })
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
    let warned = run(&text)["notes"].to_string();
    assert!(
        warned.contains("array: ") && warned.contains("of the members' blocks"),
        "{warned}"
    );
    let options = RunOptions {
        drive: Some("ibm-18es".to_owned()),
        ..RunOptions::default()
    };
    let alike = try_run_with(&text, &options).expect("the spec runs");
    for member in [0, 1] {
        assert_eq!(
            alike["spec"]["device"]["array"]["member"][member]["hdd"]["drive"],
            "ibm-18es"
        );
    }
    assert!(
        !alike["notes"]
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
        let error = try_run_with(&good.replacen(from, to, 1), &RunOptions::default());
        let error = error.expect_err(to).to_string();
        for word in words {
            assert!(error.contains(word), "{to}: {word} is not in\n{error}");
        }
    }
    let none = "[workload.synthetic]\nrequests = 10\narrivals = { poisson = \"20 ms\" }\n[device.array]\nlayout = \"mirror\"\nmember = []\n";
    let error = try_run_with(none, &RunOptions::default())
        .expect_err("no members")
        .to_string();
    assert!(
        error.contains("spec:6:10") && error.contains("without members"),
        "{error}"
    );
    // A scheduler that belongs into the drives is sent to each of them.
    let host = format!("{good}[host]\nscheduler = \"satf\"\n");
    let error = try_run_with(&host, &RunOptions::default())
        .expect_err("no geometry")
        .to_string();
    for member in [0, 1] {
        let key = format!("device.array.member[{member}].hdd.queue.scheduler");
        assert!(error.contains(&key), "{error}");
    }
}

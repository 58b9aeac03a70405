//! Closed forms: what a disk draws that is used never, always, or once an hour.

use super::{FIGURES, assert_adds_up, assert_close, of_disk, of_state, run_policy, spec};
use crate::support::{RunOptions, checked, run, run_with};

const TIMERS: &str = r#"policy = { fixed = { idle_b = "2 min", standby_z = "15 min" } }"#;

#[test]
fn one_request_an_hour_waits_for_the_spin_up() {
    let result = run_policy(3, "{ constant = '1 h' }", TIMERS);
    let hdd = &result["devices"]["hdd"];
    assert_adds_up(hdd, result["measured_s"].as_f64().unwrap());
    // Between two requests: 2 min of idle, idle_b until 15 min have passed, its way in included, then standby.
    let access_s = of_state(hdd, "active").0;
    assert_eq!(of_state(hdd, "idle"), (240.0, 240.0, 3));
    assert_eq!(of_state(hdd, "unload"), (1.0, 1.0, 2));
    assert_eq!(of_state(hdd, "idle_b"), (1559.0, 1091.3, 2));
    assert_eq!(of_state(hdd, "spin_down"), (2.0, 4.0, 2));
    assert_eq!(of_state(hdd, "spin_up"), (6.0, 27.0, 2));
    assert_eq!(hdd["spin_ups"], 2);
    // The heads are off the platters already when the disk stops.
    assert_eq!(hdd["head_unloads"], 2);
    let rest = 2.0 * 3600.0 - (240.0 + 1.0 + 1559.0 + 2.0);
    let busy = &hdd["busy_ms"];
    let ms = |part: &str| busy[part].as_f64().unwrap();
    let last_ms = result["response_ms"]["max"].as_f64().unwrap();
    assert!(last_ms > 3000.0 && last_ms < 3030.0);
    // What the first two accesses took of the two hours, beside the ways up, of which the last ones are behind them.
    let standby = of_state(hdd, "standby_z").0;
    assert!(
        standby < rest && standby > rest - 3.0 - access_s,
        "{standby}"
    );
    let extra = (ms("seek") + 0.5 * ms("transfer")) / 1000.0;
    assert_close(of_state(hdd, "active").1, access_s + extra);
    assert_close(of_state(hdd, "standby_z").1, 0.2 * standby);
    // Two of three requests wait for exactly 3 s.
    assert_close(result["parts_ms"]["wake"].as_f64().unwrap(), 2000.0);
    let no_policy = run_policy(3, "{ constant = '1 h' }", "");
    assert_eq!(no_policy["parts_ms"]["wake"].as_f64(), Some(0.0));
    let (slow, quick) = (&result["response_ms"], &no_policy["response_ms"]);
    // The platters turn on as if nothing had been, so what is added is a spin-up, and less than a turn.
    let added = slow["total"].as_f64().unwrap() - quick["total"].as_f64().unwrap();
    assert!((added - 6000.0).abs() < 2.0 * 8.34, "{added}");
}

#[test]
fn a_disk_that_is_never_used_goes_through_its_states() {
    let member = |policy: &str| {
        format!(
            "[[device.array.member]]\n[device.array.member.hdd]\ndrive = 'ibm-18es-linear'\nbuffer = false\n\
             [device.array.member.hdd.power]\n{policy}\n{}",
            FIGURES.replace("device.hdd", "device.array.member.hdd")
        )
    };
    let text = format!(
        "seed = 1\n[workload.synthetic]\nrequests = 100\narrivals = {{ constant = '1 min' }}\nsize = '1 block'\n\
         address = {{ uniform = {{ from = 0, blocks = 1000 }} }}\n[measure]\nwarmup = 0\n\
         [device.array]\nlayout = 'concat'\n{}\n{}",
        member(TIMERS),
        member(TIMERS)
    );
    let result = run(&text);
    let span = result["measured_s"].as_f64().unwrap();
    let [used, unused] =
        [0, 1].map(|number| &result["devices"][format!("array.member[{number}].hdd")]);
    assert_adds_up(used, span);
    assert_adds_up(unused, span);
    assert_eq!(unused["requests"], 0);
    let standby = span - 901.0;
    let expected = 120.0 + 0.5 + 0.7 * 779.5 + 2.0 + 0.2 * standby;
    assert_close(unused["energy_j"].as_f64().unwrap(), expected);
    assert_eq!(
        (&unused["spin_ups"], &unused["head_unloads"]),
        (&0.into(), &1.into())
    );
    // Used once a minute, a disk whose first timeout is two minutes leaves idle never.
    assert_eq!(of_state(used, "idle_b").2, 0);
}

#[test]
fn a_disk_that_is_never_idle_draws_what_its_accesses_draw() {
    let result = run_policy(2_000, "{ closed = { users = 4 } }", TIMERS);
    let hdd = &result["devices"]["hdd"];
    let span = result["measured_s"].as_f64().unwrap();
    assert_adds_up(hdd, span);
    assert_eq!(of_state(hdd, "idle").0, 0.0);
    assert_eq!(of_state(hdd, "active").2, 1);
    let busy = &hdd["busy_ms"];
    let ms = |part: &str| busy[part].as_f64().unwrap();
    let moving = ms("seek") + ms("head_switch") + ms("settle");
    assert_close(
        of_disk(&result, "energy_j"),
        span + (moving + 0.5 * ms("transfer")) / 1000.0,
    );
}

#[test]
fn without_a_policy_nothing_changes_but_what_is_reported() {
    for arrivals in [
        "{ poisson = '20 ms' }",
        "{ closed = { users = 8 } }",
        "{ constant = '1 h' }",
    ] {
        let with = spec(200, arrivals, "");
        let without = with.split("[device.hdd.power]").next().unwrap();
        let (with, without) = (run(&with), run(without));
        assert_eq!(with["digest"], without["digest"], "{arrivals}");
        assert_eq!(
            without["devices"]["hdd"]["energy_j"],
            serde_json::Value::Null
        );
        assert_eq!(without["parts_ms"]["wake"], serde_json::Value::Null);
        let hdd = &with["devices"]["hdd"];
        let states: Vec<&String> = hdd["power_states"].as_object().unwrap().keys().collect();
        assert!(
            states
                .iter()
                .all(|state| ["active", "idle"].contains(&state.as_str())),
            "{states:?}"
        );
    }
}

#[test]
fn the_warm_up_is_left_out() {
    let with_warmup = |warmup: &str| {
        let text = spec(
            40,
            "{ constant = '10 min' }",
            "policy = { fixed = { standby_z = '5 min' } }",
        );
        let options = RunOptions {
            set: vec![format!("measure.warmup={warmup}")],
            ..checked()
        };
        run_with(&text, &options)
    };
    let (all, half) = (with_warmup("0"), with_warmup("20"));
    assert_eq!(all["digest"], half["digest"]);
    assert_eq!(of_disk(&all, "spin_ups"), 39.0);
    assert_eq!(of_disk(&half, "spin_ups"), 20.0);
    for result in [&all, &half] {
        assert_adds_up(
            &result["devices"]["hdd"],
            result["measured_s"].as_f64().unwrap(),
        );
    }
    // Ten minutes of each are alike, but for the accesses.
    let per_request =
        |result: &serde_json::Value, requests: f64| of_disk(result, "energy_j") / requests;
    let (all, half) = (per_request(&all, 39.0), per_request(&half, 20.0));
    assert!((all / half - 1.0).abs() < 1e-3, "{all} {half}");
}

#[test]
fn no_timeout_takes_less_energy_than_the_oracle() {
    for (mean, seed) in [("3 s", 1), ("15 s", 2), ("60 s", 3), ("10 min", 4)] {
        let arrivals = format!("{{ poisson = '{mean}' }}");
        let energy = |policy: &str| {
            let text = spec(400, &arrivals, policy).replace("seed = 1", &format!("seed = {seed}"));
            let result = run(&text);
            let span = result["measured_s"].as_f64().unwrap();
            assert_adds_up(&result["devices"]["hdd"], span);
            of_disk(&result, "energy_j")
        };
        let least = energy("policy = 'oracle'");
        for timeout in ["0 s", "1 s", "10 s", "1 min", "1 h"] {
            for state in ["idle_b", "standby_z"] {
                let fixed = energy(&format!(
                    "policy = {{ fixed = {{ {state} = '{timeout}' }} }}"
                ));
                assert!(
                    least <= fixed,
                    "{mean}: {least} against {fixed} of {state} after {timeout}"
                );
            }
        }
        assert!(least <= energy("policy = 'adaptive'"), "{mean}");
        assert!(least <= energy(""), "{mean}");
    }
}

#[test]
fn the_oracle_delays_nothing() {
    let arrivals = "{ poisson = '30 s' }";
    let (oracle, none) = (
        run_policy(300, arrivals, "policy = 'oracle'"),
        run_policy(300, arrivals, ""),
    );
    assert_eq!(oracle["digest"], none["digest"]);
    assert!(of_disk(&oracle, "spin_ups") > 50.0);
    assert_eq!(oracle["parts_ms"]["wake"], 0.0);
}

//! What holds of every scheduler, found through the registry.

use crate::support::{checked, from_text, outcome_of};
use diskwright::engine::request::Op;
use diskwright::models::queue::SchedulerSpec;
use proptest::prelude::*;

use super::common::{Desk, all, lbns, mechanics, scheduler, spec};

fn arrivals() -> impl Strategy<Value = Vec<(Op, u64)>> {
    let op = prop::sample::select(vec![Op::Read, Op::Read, Op::Write, Op::Flush, Op::Trim]);
    prop::collection::vec((op, lbns()), 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn none_loses_doubles_or_invents_a_request(arrivals in arrivals(), is_host in any::<bool>(), at_a_time in 1usize..5) {
        let m = mechanics(0);
        for name in all() {
            if is_host && scheduler(&name).needs_geometry() {
                continue;
            }
            let run = || {
                let mut desk = Desk::new(&m, &name, is_host);
                desk.order_of(&arrivals, at_a_time)
            };
            let first = run();
            let mut sorted = first.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..arrivals.len() as u32).collect::<Vec<_>>(), "{}", name);
            prop_assert_eq!(first, run(), "{} is not deterministic", name);
        }
    }

    #[test]
    fn schedulers_that_ask_for_no_phases_choose_without_them(arrivals in arrivals(), at_a_time in 1usize..5) {
        let m = mechanics(0);
        let names: Vec<String> = all().into_iter().filter(|name| !scheduler(name).needs_phases()).collect();
        prop_assert!(names.len() > 5, "{:?}", names);
        for name in names {
            let run = |hides_phases| {
                let mut desk = Desk::drive(&m, &name);
                desk.hides_phases = hides_phases;
                desk.order_of(&arrivals, at_a_time)
            };
            prop_assert_eq!(run(false), run(true), "{}", name);
        }
    }

    #[test]
    fn the_same_pool_and_view_give_the_same_choice(arrivals in arrivals(), cylinder in 0u32..120) {
        let m = mechanics(0);
        for name in all() {
            let choice = || {
                let mut desk = Desk::drive(&m, &name);
                desk.arm.cylinder = cylinder;
                for &(op, lbn) in &arrivals {
                    desk.push(op, lbn);
                }
                desk.pick()
            };
            prop_assert_eq!(choice(), choice(), "{}", name);
        }
    }
}

#[test]
fn every_one_runs_in_a_drive_and_where_it_can_in_a_host_with_the_checker_on() {
    for name in SchedulerSpec::NAMES {
        let is_for_hosts = !scheduler(&format!("{name:?}")).needs_geometry();
        let host = if is_for_hosts { name } else { "fcfs" };
        let text = format!(
            "[workload.synthetic]\nrequests = 400\narrivals = {{ poisson = \"4 ms\" }}\nreads = 0.6\nsize = \"8 blocks\"\n\
             [host]\noutstanding = 20\nscheduler = \"{host}\"\n[device.hdd]\ndrive = \"ibm-18es\"\n\
             buffer = false\n[device.hdd.queue]\ndepth = 12\nscheduler = \"{name}\"\n"
        );
        let result = outcome_of(&from_text(text), &checked())
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .json();
        assert_eq!(result["checked"], 400, "{name}");
        let hdd = &result["devices"]["hdd"];
        let parts = hdd["busy_ms"].as_object().expect("parts").values();
        let parts: f64 = parts.filter_map(serde_json::Value::as_f64).sum();
        let elapsed = result["simulated_s"].as_f64().expect("a time");
        let utilisation = hdd["utilisation"].as_f64().expect("a share");
        assert!(
            (parts / 1e3 - utilisation * elapsed).abs() < 1e-6,
            "{name}: {parts} {utilisation} {elapsed}"
        );
    }
}

#[test]
fn a_wrong_parameter_is_told_with_what_is_accepted() {
    for (text, words) in [
        (
            "{ look = { by = \"track\" } }",
            &["\"track\"", "lbn, cylinder"][..],
        ),
        ("{ v-scan = { r = 1.5 } }", &["1.5 is not a share"]),
        (
            "{ aged-satf = { weight = -1.0 } }",
            &["-1 is not a weight", "from 0 to 1000"],
        ),
        (
            "{ weighted-satf = { window = 5 } }",
            &["a time with its unit"],
        ),
        ("{ deadline = { fifo_batch = -1 } }", &["-1"]),
        (
            "{ deadline = { read_expires = \"1 s\" } }",
            &["did you mean \"read_expire\""],
        ),
        (
            "{ scan = { direction = \"up\" } }",
            &["unknown key \"direction\""],
        ),
        ("\"lok\"", &["did you mean \"look\""]),
    ] {
        let error = spec(text).expect_err(text).to_string();
        for word in words {
            assert!(error.contains(word), "{text}: no {word:?} in\n{error}");
        }
    }
}

#[test]
fn a_spec_is_written_as_it_is_read() {
    for text in all() {
        let built = spec(&text).expect("a scheduler");
        let written = serde_json::to_value(&built).expect("plain data");
        let toml = match &written {
            serde_json::Value::String(name) => format!("{name:?}"),
            other => toml::Value::try_from(other).expect("TOML").to_string(),
        };
        let again = spec(&toml).unwrap_or_else(|error| panic!("{toml}: {error}"));
        assert_eq!(
            serde_json::to_value(&again).expect("plain data"),
            written,
            "{text}"
        );
    }
}

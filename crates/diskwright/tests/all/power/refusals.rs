//! What specs may not say of power.

use super::spec;
use crate::support::try_run;

#[track_caller]
fn refused(change: impl Fn(String) -> String) -> String {
    let text = change(spec(
        1,
        "{ constant = '1 s' }",
        "policy = { fixed = { standby_z = '1 s' } }",
    ));
    try_run(&text).expect_err("refused").to_string()
}

#[test]
fn a_state_without_figures_is_refused_with_those_that_there_are() {
    let error = refused(|text| text.replace("fixed = { standby_z", "fixed = { idle_c"));
    assert!(
        error.contains("no figures of idle_c: it has idle_b, standby_z"),
        "{error}"
    );
    assert!(error.contains("policy"), "{error}");
    let error = refused(|text| {
        text.replace(
            "fixed = { standby_z = '1 s' }",
            "adaptive = { state = 'slumber' }",
        )
    });
    assert!(error.contains("no figures of slumber"), "{error}");
}

#[test]
fn figures_without_sense_are_refused() {
    let error = refused(|text| text.replace("idle = \"1 W\"", ""));
    assert!(error.contains("without that of idle"), "{error}");
    let error = refused(|text| text.replace("idle = \"1 W\"", "idle = \"1 V\""));
    assert!(error.contains("a power from 0 to 1 kW"), "{error}");
    let error = refused(|text| {
        text.replace(
            "power = \"4.5 W\", peak",
            "power = \"4.5 W\", energy = \"9 J\", peak",
        )
    });
    assert!(error.contains("both power and energy"), "{error}");
    let error = refused(|text| text.replace("time = \"3 s\"", "time = \"1 h\""));
    assert!(error.contains("leave of standby_z"), "{error}");
    let error = refused(|text| text.replace("time = \"1 s\", energy", "time = \"0 s\", energy"));
    assert!(error.contains("energy over no time"), "{error}");
    let error = refused(|text| {
        text.split("[device.hdd.power.figures]")
            .next()
            .unwrap()
            .to_owned()
    });
    assert!(error.contains("no figures of its power"), "{error}");
}

use proptest::prelude::*;

use super::*;
use crate::base::units::power::Power;
use crate::models::power::policies::PowerPolicySpec;

const W: u64 = 1_000_000;

/// Idle 1 W; an idle_b and a standby_z, as a laptop's disk has them.
fn figures() -> PowerFigures {
    let idle = Power::from_microwatts(W);
    let ms = Time::from_ms;
    let low =
        |state, power: u64, (enter, enter_w): (u64, u64), (leave, leave_w): (u64, u64)| LowState {
            state,
            power: Power::from_microwatts(power),
            enter: (ms(enter), Power::from_microwatts(enter_w).over(ms(enter))),
            leave: (ms(leave), Power::from_microwatts(leave_w).over(ms(leave))),
        };
    PowerFigures {
        idle,
        low: vec![
            low(PowerState::IdleB, 600_000, (300, W), (300, 2 * W)),
            low(PowerState::StandbyZ, 100_000, (500, W), (2_500, 4 * W)),
        ],
    }
}

fn control(policy: &str) -> PowerControl {
    let policy: PowerPolicySpec = serde_json::from_str(policy).expect("a policy");
    let figures = figures();
    let policy = policy.build(&figures).expect("sound");
    PowerControl::new(figures, Some(policy))
}

/// The energy of idle periods, fJ, with a millisecond of work behind each; the work of the next one does not wait for the device, so that
/// the periods are the same for all policies. And the time that would have been waited.
fn energy_of(policy: &str, periods: &[u64]) -> (f64, Time) {
    let mut control = control(policy);
    let (mut now, mut waited) = (Time::ZERO, Time::ZERO);
    let mut energy = 0.0;
    for &ms in periods {
        // Each period is an account of its own.
        control.measure_from(now);
        let end = now + Time::from_ms(ms);
        let mut alarm = control.begins_idle(now, now);
        while let Some(at) = alarm.filter(|&at| at < end) {
            alarm = match control.rings(at) {
                Due::Down(next) => next,
                Due::Ready => unreachable!("nothing has wanted it"),
            };
        }
        now = end;
        if let Some(ready) = control.wants(end) {
            assert_eq!(control.rings(ready), Due::Ready);
            waited += ready - end;
            now = ready;
        }
        control.account().becomes_active(now, Power::default());
        energy += control.report(Time::ZERO, now)["energy_j"]
            .as_f64()
            .expect("a number");
        now += Time::from_ms(1);
    }
    (energy, waited)
}

proptest! {
    #[test]
    fn no_timeout_takes_less_energy_than_the_oracle_on_the_same_idle_periods(
        periods in prop::collection::vec(1u64..40_000, 1..40),
        timeout in 0u64..60_000,
        state in prop::sample::select(vec!["idle_b", "standby_z"]),
    ) {
        let (least, waited) = energy_of("{\"oracle\": {}}", &periods);
        prop_assert_eq!(waited, Time::ZERO);
        let fixed = format!("{{\"fixed\": {{\"{state}\": \"{timeout} ms\"}}}}");
        for other in [fixed.as_str(), "{\"adaptive\": {}}"] {
            let (energy, _) = energy_of(other, &periods);
            prop_assert!(least <= energy * (1.0 + 1e-12), "{} of the oracle, {} of {}", least, energy, other);
        }
    }

    #[test]
    fn the_break_even_time_is_where_energies_are_equal_and_not_a_nanosecond_before(
        power in 0..W, enter in (0u64..10_000, 0..9 * W), leave in (0u64..20_000, 0..9 * W),
    ) {
        let way = |(ms, watts): (u64, u64)| {
            let time = Time::from_ms(ms);
            (time, Power::from_microwatts(watts).over(time))
        };
        let low = LowState {
            state: PowerState::StandbyZ,
            power: Power::from_microwatts(power),
            enter: way(enter),
            leave: way(leave),
        };
        let idle = Power::from_microwatts(W);
        let even = low.break_even(idle).expect("it takes less than idle");
        prop_assert!(low.energy(even, true).expect("long enough") <= idle.over(even));
        if even > Time::ZERO {
            let before = even - Time::from_ns(1);
            prop_assert!(low.energy(before, true).is_none_or(|energy| energy > idle.over(before)));
        }
    }
}

#[test]
fn a_state_that_takes_more_than_idle_has_no_break_even_time() {
    let mut low = figures().low[1];
    low.power = Power::from_microwatts(W);
    assert_eq!(low.break_even(Power::from_microwatts(W)), None);
}

#[test]
fn shallower_states_that_are_due_later_are_passed_over() {
    let mut control = control("{\"fixed\": {\"idle_b\": \"5 s\", \"standby_z\": \"1 s\"}}");
    let alarm = control.begins_idle(Time::ZERO, Time::ZERO);
    assert_eq!(alarm, Some(Time::from_s(1)));
    assert_eq!(control.rings(Time::from_s(1)), Due::Down(None));
    assert!(control.is_down());
}

#[test]
fn a_state_that_is_due_on_the_way_into_another_waits_for_its_end() {
    let mut control = control("{\"fixed\": {\"idle_b\": \"1 s\", \"standby_z\": \"1.1 s\"}}");
    let alarm = control.begins_idle(Time::ZERO, Time::ZERO);
    assert_eq!(alarm, Some(Time::from_s(1)));
    assert_eq!(
        control.rings(Time::from_s(1)),
        Due::Down(Some(Time::from_ms(1_300)))
    );
    assert!(!control.is_down());
    assert_eq!(control.rings(Time::from_ms(1_300)), Due::Down(None));
    assert!(control.is_down());
    // Half a second down, two and a half back.
    assert_eq!(
        control.wants(Time::from_ms(1_400)),
        Some(Time::from_ms(4_300))
    );
    assert!(!control.is_down() && control.is_waking());
}

/// An idle_b before the first access, and one behind it.
#[test]
fn entries_before_the_first_access_and_behind_the_last_one_do_not_count() {
    let mut control = control("{\"fixed\": {\"idle_b\": \"5 s\"}}");
    let s = Time::from_s;
    let goes_down = |control: &mut PowerControl, from: Time| {
        let alarm = control.begins_idle(from, from);
        assert_eq!(alarm, Some(from + s(5)));
        assert_eq!(control.rings(from + s(5)), Due::Down(None));
    };
    goes_down(&mut control, Time::ZERO);
    let counted = |control: &PowerControl, from: u64, end: u64| {
        let report = control.report(s(from), s(end));
        let entries = report["power_states"]["idle_b"]["entries"].as_u64();
        [
            entries.unwrap_or(0),
            report["head_unloads"].as_u64().unwrap_or(0),
        ]
    };
    assert_eq!(counted(&control, 0, 20), [1, 1]);
    assert_eq!(counted(&control, 10, 20), [0, 0]);
    // It was done before the first access of others.
    assert_eq!(counted(&control, 10, 2), [0, 0]);
    let ready = control.wants(s(10)).expect("it is down");
    assert_eq!(control.rings(ready), Due::Ready);
    control.account().becomes_active(ready, Power::default());
    goes_down(&mut control, s(20));
    assert_eq!(counted(&control, 10, 40), [1, 1]);
    assert_eq!(counted(&control, 10, 22), [0, 0]);
}

//! Where one elevator is another one, or SSTF.

use diskwright::engine::request::Op;
use proptest::prelude::*;

use super::common::{Desk, mechanics, reads_and_writes};

/// The order of service while `at_a_time` requests come before each pick.
fn order(text: &str, arrivals: &[(Op, u64)], at_a_time: usize, is_host: bool) -> Vec<u32> {
    let m = mechanics(0);
    Desk::new(&m, text, is_host).order_of(arrivals, at_a_time)
}

proptest! {
    #[test]
    fn v_scan_without_a_penalty_is_sstf_and_with_the_whole_one_look(arrivals in reads_and_writes(), at_a_time in 1usize..5) {
        for by in ["lbn", "cylinder"] {
            let order = |text: String| order(&text, &arrivals, at_a_time, false);
            prop_assert_eq!(
                order(format!("{{ v-scan = {{ r = 0.0, by = {by:?} }} }}")),
                order(format!("{{ sstf = {{ by = {by:?} }} }}"))
            );
            prop_assert_eq!(
                order(format!("{{ v-scan = {{ r = 1.0, by = {by:?} }} }}")),
                order(format!("{{ look = {{ by = {by:?} }} }}"))
            );
        }
    }

    #[test]
    fn without_an_arm_to_move_scan_is_look_and_c_scan_c_look(arrivals in reads_and_writes(), at_a_time in 1usize..5) {
        for (scan, look) in [("\"scan\"", "\"look\""), ("\"c-scan\"", "\"c-look\"")] {
            prop_assert_eq!(order(scan, &arrivals, at_a_time, true), order(look, &arrivals, at_a_time, true));
        }
    }

    #[test]
    fn with_nothing_coming_on_the_way_scan_serves_as_look_does(arrivals in reads_and_writes()) {
        for by in ["lbn", "cylinder"] {
            for (scan, look) in [("scan", "look"), ("c-scan", "c-look")] {
                let order = |name: &str| order(&format!("{{ {name} = {{ by = {by:?} }} }}"), &arrivals, arrivals.len(), false);
                prop_assert_eq!(order(scan), order(look));
            }
        }
    }

    #[test]
    fn in_a_host_by_cylinder_is_by_lbn(arrivals in reads_and_writes(), at_a_time in 1usize..5) {
        for name in ["sstf", "look", "scan", "c-look", "c-scan"] {
            let order = |by: &str| order(&format!("{{ {name} = {{ by = {by:?} }} }}"), &arrivals, at_a_time, true);
            prop_assert_eq!(order("lbn"), order("cylinder"));
        }
    }
}

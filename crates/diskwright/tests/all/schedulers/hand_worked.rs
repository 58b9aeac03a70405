//! Orders of service worked out by hand.

use diskwright::base::units::Time;
use diskwright::engine::request::Op;
use diskwright::models::geometry::mechanics::HeadPosition;
use diskwright::models::queue::Space;

use super::common::{Desk, disk, mechanics, textbook};

/// The textbooks' queue: cylinders 0 to 199, the arm at 53.
const TEXTBOOK: [u64; 8] = [98, 183, 37, 122, 14, 124, 65, 67];

/// The cylinders in the order of service, and how far the arm moves; it comes to cylinder 53 upwards or, from 54,
/// downwards.
fn sweep(text: &str, downwards: bool) -> (Vec<u64>, u32) {
    let m = textbook();
    let mut desk = Desk::drive(&m, text);
    for cylinder in if downwards { [54, 53] } else { [52, 53] } {
        desk.push(Op::Read, cylinder * 10);
        desk.serve();
    }
    desk.moved = 0;
    for cylinder in TEXTBOOK {
        desk.push(Op::Read, cylinder * 10);
    }
    let order = desk.drain();
    (order.iter().map(|lbn| lbn / 10).collect(), desk.moved)
}

#[test]
fn the_textbooks_queue() {
    let up = [65, 67, 98, 122, 124, 183];
    let rising: Vec<u64> = up.into_iter().chain([14, 37]).collect();
    let up_and_down: Vec<u64> = up.into_iter().chain([37, 14]).collect();
    let down_and_up: Vec<u64> = [37, 14].into_iter().chain(up).collect();
    let nearest = vec![65, 67, 37, 14, 98, 122, 124, 183];
    for (text, downwards, order, moved) in [
        ("\"fcfs\"", false, &TEXTBOOK.to_vec(), 640),
        ("\"sstf\"", false, &nearest, 236),
        ("\"look\"", false, &up_and_down, 299),
        ("\"look\"", true, &down_and_up, 208),
        // Up to 199 first, or down to 0.
        ("\"scan\"", false, &up_and_down, 331),
        ("\"scan\"", true, &down_and_up, 236),
        ("\"c-look\"", false, &rising, 322),
        // Up to 199, down to 0, and up to 37.
        ("\"c-scan\"", false, &rising, 382),
        ("{ v-scan = { r = 0.0 } }", false, &nearest, 236),
        ("{ v-scan = { r = 1.0 } }", true, &down_and_up, 208),
        // 20 cylinders for a turn: at 67, upwards, 98 is 31 away and 37 counts as 50.
        ("{ v-scan = { r = 0.1 } }", false, &up_and_down, 299),
        // 1 cylinder: 37 counts as 31, as far as 98, and came later; 0: it is 30 away.
        ("{ v-scan = { r = 0.005 } }", false, &up_and_down, 299),
        ("{ v-scan = { r = 0.002 } }", false, &nearest, 236),
    ] {
        assert_eq!(sweep(text, downwards), (order.clone(), moved), "{text}");
        // By what it goes makes no difference here.
        let name = text.trim_matches('"');
        if text.starts_with('"') && name != "fcfs" {
            for by in ["lbn", "cylinder"] {
                let text = format!("{{ {name} = {{ by = {by:?} }} }}");
                assert_eq!(sweep(&text, downwards), (order.clone(), moved), "{text}");
            }
        }
    }
}

/// The order in which a scheduler serves requests that all wait from the start, with the arm at `last`.
fn served(text: &str, lbns: &[u64], last: u64) -> Vec<u64> {
    let m = mechanics(0);
    let mut desk = Desk::drive(&m, text);
    desk.last = last;
    desk.arm = m.target(m.layout.run(last, 1), false).arm();
    for &lbn in lbns {
        desk.push(Op::Read, lbn);
    }
    desk.drain()
}

#[test]
fn fcfs_keeps_the_order_of_arrival() {
    assert_eq!(served("\"fcfs\"", &[500, 3, 9000, 4], 0), [500, 3, 9000, 4]);
}

#[test]
fn c_look_goes_up_from_the_end_of_the_last_request_and_wraps() {
    // 100 is where the last one ended and is taken; 99 lies behind.
    assert_eq!(
        served("\"c-look\"", &[99, 5000, 100, 7, 300], 100),
        [100, 300, 5000, 7, 99]
    );
}

#[test]
fn look_takes_what_begins_at_the_end_of_the_last_request_on_the_way_up_only() {
    assert_eq!(
        served("\"look\"", &[99, 5000, 100, 7], 100),
        [100, 5000, 99, 7]
    );
    let m = mechanics(0);
    let mut desk = Desk::drive(&m, "\"look\"");
    for lbn in [200, 100] {
        desk.push(Op::Read, lbn);
    }
    // Upwards to 200; downwards to 100, of which 101 is the end.
    assert_eq!(
        [desk.serve(), desk.serve()].map(|served| served.command.lbn.0),
        [100, 200]
    );
    desk.push(Op::Read, 100);
    assert_eq!(desk.serve().command.lbn.0, 100);
    for lbn in [101, 100, 50] {
        desk.push(Op::Read, lbn);
    }
    assert_eq!(desk.drain(), [100, 50, 101]);
}

#[test]
fn of_several_requests_at_one_place_the_oldest_is_first_in_both_directions() {
    // 240 sectors a cylinder in zone 0.
    let there = [10 * 240 + 5, 10 * 240 + 2, 10 * 240 + 9];
    for text in [
        "{ look = { by = \"cylinder\" } }",
        "{ scan = { by = \"cylinder\" } }",
        "{ v-scan = { r = 1.0 } }",
    ] {
        assert_eq!(served(text, &there, 0), there, "{text}");
        assert_eq!(served(text, &there, 30 * 240), there, "{text}");
    }
}

#[test]
fn sstf_takes_the_nearest_cylinder_and_the_older_of_two_as_near() {
    // From cylinder 10, cylinders 9 and 11 are equally near.
    let cylinder = |c: u64| c * 240;
    let from = cylinder(10);
    let order = served("\"sstf\"", &[cylinder(30), cylinder(11), cylinder(9)], from);
    assert_eq!(order, [cylinder(11), cylinder(9), cylinder(30)]);
    let order = served("\"sstf\"", &[cylinder(30), cylinder(9), cylinder(11)], from);
    assert_eq!(order, [cylinder(9), cylinder(11), cylinder(30)]);
}

#[test]
fn satf_prefers_a_short_rotation_to_a_short_seek() {
    let m = mechanics(0);
    let arm = HeadPosition {
        cylinder: 10,
        head: 0,
    };
    let space = disk(&m, arm, 0, Time::ZERO);
    let Space::Disk(view) = &space else {
        unreachable!()
    };
    let wait = |lbn: u64| view.positioning(&m.target(m.layout.run(lbn, 1), false));
    // On the arm's own track, the sector that has just passed; on the next cylinder, the one that comes soonest.
    let near = (2400..2460).max_by_key(|&lbn| wait(lbn)).expect("a track");
    let far = (2640..2700).min_by_key(|&lbn| wait(lbn)).expect("a track");
    assert!(wait(far) < wait(near));
    let pick = |text: &str, older: Time| {
        let mut desk = Desk::drive(&m, text);
        desk.arm = arm;
        desk.push(Op::Read, near);
        desk.now = older;
        desk.push(Op::Read, far);
        // The platter stands as it stood at the start: whole revolutions have passed.
        let slot = desk.pick();
        desk.pool.get(slot).command.lbn.0
    };
    assert_eq!(pick("\"satf\"", Time::ZERO), far);
    assert_eq!(pick("\"sstf\"", Time::ZERO), near);

    // What `near` has waited longer makes up for its rotation at a weight of a half, once it is twice as much; a minute is
    // a whole number of revolutions, and what is left of the window after it decides likewise.
    let more = wait(near) - wait(far);
    let text = "{ aged-satf = { weight = 0.5 } }";
    assert!(Time::from_ns(2 * more.ns()) < Time::from_s(60));
    assert_eq!(pick(text, Time::from_s(60)), near);
    assert_eq!(
        pick("{ aged-satf = { weight = 0.0 } }", Time::from_s(60)),
        far
    );
    let window = |window: &str| {
        pick(
            &format!("{{ weighted-satf = {{ window = \"{window}\" }} }}"),
            Time::from_s(60),
        )
    };
    assert_eq!(
        [window("60 s"), window("60000000001 ns"), window("1 d")],
        [near, near, far]
    );
}

#[test]
fn batch_satf_lets_nobody_into_a_batch() {
    let m = mechanics(0);
    let mut desk = Desk::drive(&m, "\"batch-satf\"");
    let far = m.layout.sectors() - 1;
    desk.push(Op::Read, far);
    desk.push(Op::Read, far - 400);
    let first = desk.serve().command.lbn.0;
    for near in [first + 20, first + 30] {
        desk.push(Op::Read, near.min(far));
    }
    let second = desk.serve().command.lbn.0;
    assert_eq!(
        first + second,
        far + far - 400,
        "the two that waited at the start come first"
    );
    assert_eq!(desk.drain().len(), 2);
}

#[test]
fn ncq_promotes_at_its_timeout_and_not_a_nanosecond_before() {
    let m = mechanics(0);
    let waited = |text: &str, waited: Time| {
        let mut desk = Desk::drive(&m, text);
        desk.push(Op::Read, m.layout.sectors() - 1);
        desk.now = waited;
        desk.push(Op::Read, 0);
        let slot = desk.pick();
        (desk.pool.get(slot).request.0, desk.scheduler.promotions())
    };
    let two = Time::from_s(2);
    assert_eq!(waited("\"ncq\"", two), (0, 1));
    assert_eq!(waited("\"ncq\"", two - Time::from_ns(1)), (1, 0));
    assert_eq!(
        waited("{ ncq = { timeout = \"0 ms\" } }", Time::from_s(1_000)),
        (1, 0)
    );
    assert_eq!(
        waited("{ ncq = { timeout = \"50 ms\" } }", Time::from_ms(50)),
        (0, 1)
    );
    // So does the window of weighted SATF.
    assert_eq!(waited("\"weighted-satf\"", two), (0, 1));
    assert_eq!(
        waited("{ weighted-satf = { window = \"0 ms\" } }", two),
        (1, 0)
    );
}

//! An array over devices that do what a test wants.

use super::layouts::LayoutSpec;
use super::*;
use crate::engine::Injection;
use crate::engine::fakes::{Fake, asked, command, faults, run, run_at, run_raised, urgent};
use crate::engine::request::{Part, Parts, Request, ServedBy};

const MIRROR: &str = r#"{ "mirror": { "read": { "round-robin": {} } } }"#;
const STRIPE: &str = r#"{ "stripe": { "unit": "4 blocks" } }"#;
const CONCAT: &str = r#"{ "concat": {} }"#;

/// The devices of an array over these, the array last.
fn array(layout: &str, fakes: Vec<Fake>) -> Vec<Box<dyn Device>> {
    let child = |(device, fake): (u32, &Fake)| Child {
        device: DeviceId(device),
        blocks: fake.blocks,
        promise: fake.promise,
    };
    let children: Vec<Child> = (0..).zip(&fakes).map(child).collect();
    let layout: LayoutSpec = serde_json::from_str(layout).expect("a layout");
    let capacities: Vec<u64> = fakes.iter().map(|fake| fake.blocks).collect();
    let layout = layout.build(&capacities).expect("it fits").plain();
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    for fake in fakes {
        devices.push(Box::new(fake));
    }
    devices.push(Box::new(Array::new(layout, &children)));
    devices
}

#[test]
fn a_request_ends_with_its_last_piece_and_has_its_times() {
    let mut slow = Fake::new(100, 5);
    slow.wait = Time::from_ms(3);
    let devices = array(STRIPE, vec![Fake::new(100, 7), slow]);
    let (engine, ended) = run(
        devices,
        &[command(Op::Read, 0, 8), command(Op::Read, 8, 4)],
        &[],
    );
    let times: Vec<_> = ended
        .iter()
        .map(|request| {
            [request.acceptance, request.start, request.completion].map(|at| at.ns() / 1_000_000)
        })
        .collect();
    assert_eq!(times, [[3, 3, 8], [1000, 1000, 1007]]);
    let mut parts = Parts::default();
    parts.add(Part::Seek, Time::from_ms(5));
    assert_eq!(
        (ended[0].parts, ended[0].served_by),
        (parts, ServedBy::Both)
    );
    assert_eq!(faults(&engine), &[] as &[String]);
    assert_eq!(asked(&engine, 0), ["read 0+4", "read 4+4"]);
    assert_eq!(asked(&engine, 1), ["read 0+4"]);
    let report = engine.devices()[2].report(Time::ZERO);
    let expected = serde_json::json!({
        "requests": 2, "reads": 2, "writes": 0, "split_requests": 1, "pieces": 3,
        "members": {
            "member[0]": { "pieces": 2, "blocks": 8, "share": 8.0 / 12.0 },
            "member[1]": { "pieces": 1, "blocks": 4, "share": 4.0 / 12.0 },
        },
    });
    assert_eq!(Value::from(report), expected);
}

#[test]
fn what_becomes_urgent_is_so_on_the_members_that_have_it() {
    let members = vec![Fake::new(100, 5), Fake::new(100, 9), Fake::new(100, 5)];
    let commands = vec![
        (Time::ZERO, command(Op::Read, 0, 8)),
        (Time::ZERO, command(Op::Read, 8, 4)),
    ];
    // One piece of the first request is over by then.
    let raised = [(Time::from_ms(7), 0)];
    let (engine, _) = run_raised(array(STRIPE, members), commands, &raised, &[]);
    let urgent = [0, 1, 2].map(|member| urgent(&engine, member));
    assert_eq!(urgent, [vec![], vec!["read 0+4".to_owned()], vec![]]);
}

#[test]
fn flushes_go_to_all_and_writes_keep_their_fua() {
    let forced = Command {
        fua: true,
        ..command(Op::Write, 6, 4)
    };
    let commands = [forced, command(Op::Flush, 0, 0), command(Op::Trim, 96, 8)];
    let (engine, ended) = run(
        array(CONCAT, vec![Fake::new(100, 1), Fake::new(50, 2)]),
        &commands,
        &[],
    );
    assert_eq!(ended.len(), 3);
    assert_eq!(
        asked(&engine, 0),
        ["write 6+4 fua", "flush 0+0", "trim 96+4"]
    );
    assert_eq!(asked(&engine, 1), ["flush 0+0", "trim 0+4"]);
    let (engine, _) = run(
        array(MIRROR, vec![Fake::new(100, 1), Fake::new(100, 2)]),
        &[
            forced,
            command(Op::Trim, 6, 4),
            command(Op::Read, 6, 4),
            command(Op::Read, 7, 1),
        ],
        &[],
    );
    assert_eq!(asked(&engine, 0), ["write 6+4 fua", "trim 6+4", "read 6+4"]);
    assert_eq!(asked(&engine, 1), ["write 6+4 fua", "trim 6+4", "read 7+1"]);
    assert_eq!(faults(&engine), &[] as &[String]);
}

#[test]
fn one_failure_fails_the_request_once_all_pieces_are_back() {
    for failing in [0, 1] {
        let mut fakes = vec![Fake::new(100, 2), Fake::new(100, 9)];
        fakes[failing].outcome = Outcome::MediaError;
        let commands = [command(Op::Write, 0, 8), command(Op::Read, 0, 8)];
        let (engine, ended) = run(array(STRIPE, fakes), &commands, &[]);
        for request in &ended {
            assert_eq!(request.outcome, Some(Outcome::MediaError));
            assert_eq!(request.response(), Time::from_ms(9));
        }
        assert_eq!(faults(&engine), &[] as &[String]);
    }
}

#[test]
fn a_copy_that_forgets_is_found_when_it_is_read_and_after_a_power_cut() {
    let write = command(Op::Write, 5, 2);
    let fakes = |forgetful: usize| {
        let mut fakes = vec![Fake::new(100, 1), Fake::new(100, 1), Fake::new(100, 1)];
        if let Some(fake) = fakes.get_mut(forgetful) {
            fake.forgets = true;
        }
        fakes
    };
    let reads = [command(Op::Read, 5, 2); 3];
    let all = [&[write][..], &reads].concat();
    let cut = [(Time::from_ms(500), Injection::PowerCut)];
    let (whole, _) = run(array(MIRROR, fakes(9)), &all, &[]);
    assert_eq!(faults(&whole), &[] as &[String]);
    let (whole, _) = run(array(MIRROR, fakes(9)), &[write], &cut);
    assert_eq!(faults(&whole), &[] as &[String]);
    for forgetful in 0..3 {
        let (read, _) = run(array(MIRROR, fakes(forgetful)), &all, &[]);
        assert_eq!(faults(&read).len(), 2, "one read of its two blocks");
        let (lost, _) = run(array(MIRROR, fakes(forgetful)), &[write], &cut);
        assert_eq!(
            faults(&lost).len(),
            2,
            "one copy of each block: {:?}",
            faults(&lost)
        );
    }
}

#[test]
fn before_all_members_have_a_write_its_copies_may_differ() {
    let fakes = vec![Fake::new(100, 1), Fake::new(100, 9)];
    let commands = [command(Op::Write, 5, 2)];
    let (engine, ended) = run(
        array(MIRROR, fakes),
        &commands,
        &[(Time::from_ms(5), Injection::PowerCut)],
    );
    assert_eq!(ended[0].outcome, Some(Outcome::FailedDevice));
    assert_eq!(faults(&engine), &[] as &[String]);
}

#[test]
fn it_promises_and_shows_what_its_members_do() {
    let mut fakes = vec![Fake::new(100, 1), Fake::new(60, 1)];
    let devices = array(MIRROR, vec![Fake::new(100, 1), Fake::new(100, 1)]);
    assert_eq!(devices[2].promise(), Promise::Durable);
    assert!(devices[2].notes().is_empty());
    fakes[1].promise = Promise::AfterFlush;
    fakes[1].slots = 7;
    let devices = array(MIRROR, fakes);
    let mirror = &devices[2];
    assert_eq!(
        (mirror.promise(), mirror.blocks()),
        (Promise::AfterFlush, 60)
    );
    let status = mirror.status(Time::ZERO, &devices[..2]);
    let expected = DeviceStatus {
        outstanding: 0,
        free_slots: 7,
        is_down: false,
    };
    assert_eq!(status, expected);
    let copies: Vec<_> = (0..4).map(|copy| mirror.location(Lbn(9), copy)).collect();
    let on = |member| Some(Location::On(DeviceId(member), Lbn(9)));
    assert_eq!(copies, [on(0), on(1), None, None]);
    let notes = mirror.notes();
    assert!(
        notes[0].starts_with("25.0 % of the members' blocks"),
        "{notes:?}"
    );
    assert!(
        array(CONCAT, vec![Fake::new(100, 1), Fake::new(60, 1)])[2]
            .notes()
            .is_empty()
    );
}

/// Reads and writes while members fail: whatever is asked of a mirror it answers while one member is left.
#[test]
fn a_mirror_goes_on_with_the_members_that_are_left() {
    for failing in 0..3u32 {
        let fakes = vec![Fake::new(100, 4), Fake::new(100, 4), Fake::new(100, 4)];
        let commands = [
            command(Op::Write, 5, 2),
            command(Op::Read, 5, 2),
            command(Op::Write, 5, 2),
            command(Op::Read, 5, 2),
            command(Op::Read, 5, 2),
            command(Op::Flush, 0, 0),
            command(Op::Read, 5, 2),
        ];
        // The first in the middle of a write, the second in the middle of a read.
        let second = (failing + 1) % 3;
        let injections = [
            (Time::from_ms(2002), Injection::Fail(DeviceId(failing))),
            (Time::from_ms(3002), Injection::Fail(DeviceId(second))),
            (Time::from_ms(6500), Injection::PowerCut),
        ];
        let (engine, ended) = run(array(MIRROR, fakes), &commands, &injections);
        assert_eq!(faults(&engine), &[] as &[String]);
        assert_eq!(ended.len(), commands.len());
        for request in &ended {
            assert_eq!(request.outcome, Some(Outcome::Ok), "{:?}", request.command);
        }
        // A read that another member had to serve takes as long as both, and what it waited for the first is part of it.
        let report = engine.devices()[3].report(Time::ZERO);
        let retried = ended[3].response() > Time::from_ms(4);
        assert_eq!(report.get("retried_reads").is_some(), retried);
        if retried {
            assert_eq!(ended[3].response(), Time::from_ms(6));
            assert_eq!(ended[3].parts.get(Part::Wait), Time::from_ms(2));
        }
    }
}

#[test]
fn a_mirror_leaves_out_a_member_that_did_not_write() {
    let refusing = || {
        let mut fake = Fake::new(100, 5);
        fake.refuses = Some((Time::ZERO, 1));
        fake
    };
    let commands = [
        command(Op::Write, 8, 4),
        command(Op::Read, 8, 4),
        command(Op::Read, 8, 4),
    ];
    let (engine, ended) = run(
        array(MIRROR, vec![refusing(), Fake::new(100, 7)]),
        &commands,
        &[],
    );
    assert_eq!(faults(&engine), &[] as &[String]);
    let is_done = |request: &Request| request.outcome == Some(Outcome::Ok);
    assert!(ended.iter().all(is_done));
    // It has what was there before: both reads are for the other one.
    assert_eq!(asked(&engine, 0), ["write 8+4"]);
    assert_eq!(asked(&engine, 1), ["write 8+4", "read 8+4", "read 8+4"]);
    // The last one that is left is asked again.
    let none = array(MIRROR, vec![refusing(), refusing()]);
    let (engine, ended) = run(none, &commands, &[]);
    assert_eq!(ended[0].outcome, Some(Outcome::MediaError));
    assert_eq!([0, 1].map(|member| asked(&engine, member).len()), [1, 3]);
}

#[test]
fn a_mirror_without_members_fails_at_once() {
    let fakes = vec![Fake::new(100, 4), Fake::new(100, 4)];
    let commands = [Op::Write, Op::Read, Op::Flush, Op::Trim].map(|op| command(op, 5, 2));
    let all = [0, 1].map(|member| (Time::from_ms(2), Injection::Fail(DeviceId(member))));
    let (engine, ended) = run(array(MIRROR, fakes), &commands, &all);
    let responses: Vec<u64> = ended
        .iter()
        .map(|request| request.response().ns())
        .collect();
    assert_eq!(responses, [2_000_000, 0, 0, 0]);
    for request in &ended {
        assert_eq!(request.outcome, Some(Outcome::FailedDevice));
    }
    assert_eq!(faults(&engine), &[] as &[String]);
}

#[test]
fn a_mirror_reads_elsewhere_what_one_member_cannot_read() {
    let fakes = || vec![Fake::new(100, 1), Fake::new(100, 2)];
    let bad = |device, blocks| {
        let device = DeviceId(device);
        (Time::ZERO, Injection::MediaError { device, blocks })
    };
    let reads = [command(Op::Read, 6, 4), command(Op::Read, 20, 4)];
    let read_first = r#"{ "mirror": { "read": { "first": {} } } }"#;
    let (engine, ended) = run(array(read_first, fakes()), &reads, &[bad(0, 9..10)]);
    let times: Vec<_> = ended
        .iter()
        .map(|request| (request.outcome, request.response().ns() / 1_000_000))
        .collect();
    assert_eq!(times, [(Some(Outcome::Ok), 3), (Some(Outcome::Ok), 1)]);
    assert_eq!(ended[0].media, Time::from_ms(3));
    assert_eq!(asked(&engine, 1), ["read 6+4"]);
    // No copy is left; and a write makes one good again.
    let all = [reads[0], command(Op::Write, 9, 1), reads[0]];
    let both = [bad(0, 9..10), bad(1, 0..100)];
    let (engine, ended) = run(array(read_first, fakes()), &all, &both);
    let outcomes: Vec<_> = ended.iter().map(|request| request.outcome).collect();
    let expected = [Outcome::MediaError, Outcome::Ok, Outcome::Ok].map(Some);
    assert_eq!(outcomes, expected);
    assert_eq!(faults(&engine), &[] as &[String]);
}

#[test]
fn a_stripe_passes_on_that_a_member_failed_and_serves_the_rest() {
    let fakes = vec![Fake::new(100, 2), Fake::new(100, 3)];
    let commands = [
        command(Op::Write, 0, 8),
        command(Op::Read, 0, 4),
        command(Op::Read, 0, 8),
        command(Op::Write, 4, 4),
        command(Op::Flush, 0, 0),
        command(Op::Write, 0, 4),
    ];
    let injections = [
        (Time::from_ms(1500), Injection::Fail(DeviceId(1))),
        (Time::from_s(9), Injection::PowerCut),
    ];
    let (engine, ended) = run(array(STRIPE, fakes), &commands, &injections);
    let outcomes: Vec<_> = ended.iter().map(|request| request.outcome).collect();
    let (ok, failed) = (Some(Outcome::Ok), Some(Outcome::FailedDevice));
    assert_eq!(outcomes, [ok, ok, failed, failed, failed, ok]);
    // What only the failed member had is lost by its hardware, and is no fault.
    assert_eq!(faults(&engine), &[] as &[String]);
    assert_eq!(asked(&engine, 1), ["write 0+4"]);
}

#[test]
fn room_is_announced_once_an_instant_up_the_tree() {
    use crate::engine::tests::Gate;
    let mut fakes = vec![Fake::new(100, 2), Fake::new(100, 2)];
    fakes.iter_mut().for_each(|fake| fake.slots = 1);
    let mut devices = array(STRIPE, fakes);
    devices.push(Box::new(Gate::new(DeviceId(2))));
    let commands = vec![(Time::ZERO, command(Op::Read, 0, 8)); 5];
    let (engine, ended) = run_at(devices, commands, &[]);
    let at: Vec<_> = ended
        .iter()
        .map(|request| request.completion.ns() / 1_000_000)
        .collect();
    assert_eq!(at, [2, 4, 6, 8, 10]);
    // Both members are full and free again five times.
    assert_eq!(engine.devices()[3].report(Time::ZERO)["announced"], 5);
    assert_eq!(engine.devices()[3].report(Time::ZERO)["most"], 1);
}

//! An array over devices that do what a test wants.

use super::fakes::{Fake, array, run};
use super::*;
use crate::engine::Engine;
use crate::engine::request::{Part, Parts, ServedBy};

fn command(op: Op, lbn: u64, blocks: u32) -> Command {
    Command {
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks,
    }
}

const MIRROR: &str = r#"{ "mirror": { "read": { "round-robin": {} } } }"#;
const STRIPE: &str = r#"{ "stripe": { "unit": "4 blocks" } }"#;
const CONCAT: &str = r#"{ "concat": {} }"#;

fn asked(engine: &Engine, device: usize) -> Vec<String> {
    let report = engine.devices()[device].report(Time::ZERO);
    let asked = report["asked"].as_array().expect("a list");
    let text = |asked: &Value| asked.as_str().expect("a text").to_owned();
    asked.iter().map(text).collect()
}

fn faults(engine: &Engine) -> &[String] {
    engine.checker().expect("it is on").faults()
}

#[test]
fn a_request_ends_with_its_last_piece_and_has_its_times() {
    let mut slow = Fake::new(100, 5);
    slow.wait = Time::from_ms(3);
    let devices = array(STRIPE, vec![Fake::new(100, 7), slow]);
    let (engine, ended) = run(
        devices,
        &[command(Op::Read, 0, 8), command(Op::Read, 8, 4)],
        None,
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
fn flushes_go_to_all_and_writes_keep_their_fua() {
    let forced = Command {
        fua: true,
        ..command(Op::Write, 6, 4)
    };
    let commands = [forced, command(Op::Flush, 0, 0), command(Op::Trim, 96, 8)];
    let (engine, ended) = run(
        array(CONCAT, vec![Fake::new(100, 1), Fake::new(50, 2)]),
        &commands,
        None,
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
        None,
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
        let (engine, ended) = run(array(STRIPE, fakes), &commands, None);
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
    let cut = Some(Time::from_ms(500));
    let (whole, _) = run(array(MIRROR, fakes(9)), &all, None);
    assert_eq!(faults(&whole), &[] as &[String]);
    let (whole, _) = run(array(MIRROR, fakes(9)), &[write], cut);
    assert_eq!(faults(&whole), &[] as &[String]);
    for forgetful in 0..3 {
        let (read, _) = run(array(MIRROR, fakes(forgetful)), &all, None);
        assert_eq!(faults(&read).len(), 2, "one read of its two blocks");
        let (lost, _) = run(array(MIRROR, fakes(forgetful)), &[write], cut);
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
    let (engine, ended) = run(array(MIRROR, fakes), &commands, Some(Time::from_ms(5)));
    assert_eq!(ended[0].outcome, Some(Outcome::FailedDevice));
    assert_eq!(faults(&engine), &[] as &[String]);
}

#[test]
fn it_promises_and_shows_what_its_members_do() {
    let mut fakes = vec![Fake::new(100, 1), Fake::new(60, 1)];
    let devices = array(MIRROR, vec![Fake::new(100, 1), Fake::new(100, 1)]);
    assert_eq!(devices[2].promise(), Promise::Durable);
    assert!(devices[2].warnings().is_empty());
    fakes[1].promise = Promise::AfterFlush;
    let devices = array(MIRROR, fakes);
    let mirror = &devices[2];
    assert_eq!(
        (mirror.promise(), mirror.blocks()),
        (Promise::AfterFlush, 60)
    );
    let look = mirror.look(Time::ZERO, &devices[..2]);
    let expected = Look {
        idle: true,
        outstanding: 0,
        free_slots: 60,
        cylinder: None,
    };
    assert_eq!(look, expected);
    assert_eq!(mirror.holder(Lbn(9)), Some((DeviceId(0), Lbn(9))));
    let copies: Vec<_> = (0..4)
        .map(|copy| mirror.copy(Lbn(9), copy).map(|(id, _)| id.0))
        .collect();
    assert_eq!(copies, [Some(0), Some(1), None, None]);
    let warnings = mirror.warnings();
    assert!(
        warnings[0].starts_with("25.0 % of the members' blocks"),
        "{warnings:?}"
    );
    assert!(
        array(CONCAT, vec![Fake::new(100, 1), Fake::new(60, 1)])[2]
            .warnings()
            .is_empty()
    );
}

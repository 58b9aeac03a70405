//! Redundant arrays over devices that do what a test wants.

use proptest::prelude::*;

use super::super::Child;
use super::super::layouts::{LayoutSpec, Organisation};
use super::bitmap::BitmapRules;
use super::*;
use crate::base::units::Size;
use crate::base::units::quantities::Rate;
use crate::engine::fakes::{Fake, asked, command, faults, run, run_at, run_raised, urgent};
use crate::engine::request::{Command, Outcome, Request};
use crate::engine::{Engine, Injection};

/// The devices of an array over these, of which the last `spares` wait for a member to fail; the array last.
fn array(layout: &str, fakes: Vec<Fake>, spares: usize, step: u64) -> Vec<Box<dyn Device>> {
    scrubbed(layout, fakes, spares, step, None)
}

/// The same of an array that is scrubbed.
fn scrubbed(
    layout: &str,
    fakes: Vec<Fake>,
    spares: usize,
    step: u64,
    scrub: Option<ScrubRules>,
) -> Vec<Box<dyn Device>> {
    kept((layout, fakes, spares), step, scrub, ResyncRules::default())
}

/// The same of an array that is resynchronised by rules.
fn kept(
    (layout, fakes, spares): (&str, Vec<Fake>, usize),
    step: u64,
    scrub: Option<ScrubRules>,
    resync: ResyncRules,
) -> Vec<Box<dyn Device>> {
    logged((layout, fakes, spares), step, (scrub, resync), (None, None))
}

/// The same of an array with a bitmap, or with a journal on a device that is the last one but the array.
fn logged(
    (layout, mut fakes, spares): (&str, Vec<Fake>, usize),
    step: u64,
    (scrub, resync): (Option<ScrubRules>, ResyncRules),
    (bitmap, journal): (Option<BitmapRules>, Option<Fake>),
) -> Vec<Box<dyn Device>> {
    let members_and_spares = fakes.len();
    fakes.extend(journal);
    let child = |(device, fake): (u32, &Fake)| Child {
        device: DeviceId(device),
        blocks: fake.blocks,
        promise: fake.promise,
    };
    let children: Vec<Child> = (0..).zip(&fakes).map(child).collect();
    let layout: LayoutSpec = serde_json::from_str(layout).expect("a layout");
    let (children, journal) = children.split_at(members_and_spares);
    let (members, spares) = children.split_at(children.len() - spares);
    let capacities: Vec<u64> = members.iter().map(|child| child.blocks).collect();
    let Ok(Organisation::Redundant(mut geometry, rules)) = layout.kept_up(&capacities) else {
        panic!("it has redundancy and fits");
    };
    let rebuild = RebuildRules {
        step: Size::from_blocks(step),
        ..RebuildRules::default()
    };
    let upkeep = Upkeep {
        rebuild,
        scrub,
        resync,
        bitmap: bitmap
            .map(|rules| BitmapArea::on(rules, &mut geometry, capacities[0]).expect("it has room")),
    };
    let journal = journal.first();
    let journal = journal.map(|child| Journal::on(child).expect("it is large enough"));
    let array = Redundant::new(geometry, rules, upkeep, members, spares, journal);
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    for fake in fakes {
        devices.push(Box::new(fake));
    }
    devices.push(Box::new(array));
    devices
}

/// A scrub of the same steps, at a rate at which each takes a millisecond at least.
fn scrub(step: u64, every: Time) -> Option<ScrubRules> {
    Some(ScrubRules {
        rate: Rate::from_bytes_per_s(step * 512 * 1000)?,
        step: Size::from_blocks(step),
        at: Time::from_ms(3),
        every: Some(every),
    })
}

fn fakes(count: usize, blocks: u64) -> Vec<Fake> {
    (0..count).map(|_| Fake::new(blocks, 5)).collect()
}

const RAID_5: &str = r#"{ "raid-5": { "unit": "4 blocks" } }"#;

/// What the members of an array of four are asked for one request.
fn asked_for(layout: &str, request: Command) -> Vec<Vec<String>> {
    let (engine, ended) = run(array(layout, fakes(4, 42), 0, 8), &[request], &[]);
    assert_eq!(ended[0].outcome, Some(Outcome::Ok));
    assert_eq!(faults(&engine), &[] as &[String]);
    (0..4).map(|device| asked(&engine, device)).collect()
}

#[test]
fn small_writes_read_what_the_rule_says() {
    let none: &[&str] = &[];
    // Row 0 has its data on members 0, 1, 2 and its parity on 3. One unit of three: both ways read two units, and the row is reconstructed.
    let one = asked_for(RAID_5, command(Op::Write, 1, 2));
    assert_eq!(
        one,
        [
            &["write 1+2"][..],
            &["read 1+2"],
            &["read 1+2"],
            &["write 1+2"]
        ]
    );
    let modified = r#"{ "raid-5": { "unit": "4 blocks", "writes": { "threshold": 2 } } }"#;
    let one = asked_for(modified, command(Op::Write, 1, 2));
    let both = ["read 1+2", "write 1+2"];
    assert_eq!(one, [&both[..], none, none, &both]);
    // Two units that have no block of their places in common are two rows to the rule.
    let apart = asked_for(modified, command(Op::Write, 3, 2));
    assert_eq!(
        apart,
        [
            &["read 3+1", "write 3+1"][..],
            &["read 0+1", "write 0+1"],
            none,
            &["read 0+4", "write 0+1", "write 3+1"],
        ]
    );
    // Two that have are above the threshold: the third unit is read, and of the two what is not written.
    let two = asked_for(modified, command(Op::Write, 1, 6));
    assert_eq!(
        two,
        [
            &["read 0+1", "write 1+3"][..],
            &["read 3+1", "write 0+3"],
            &["read 0+4"],
            &["write 0+4"],
        ]
    );
    // A whole row needs nothing; the next one's first units are behind it on each member.
    let all = asked_for(RAID_5, command(Op::Write, 0, 24));
    assert_eq!(all, [["write 0+8"]; 4]);
    let first = asked_for(
        r#"{ "raid-4": { "unit": "4 blocks" } }"#,
        command(Op::Write, 0, 24),
    );
    assert_eq!(first, [["write 0+8"]; 4]);
    let six = asked_for(
        r#"{ "raid-6": { "unit": "4 blocks" } }"#,
        command(Op::Write, 0, 4),
    );
    // Two parities beside the last member: member 0 has Q of row 0.
    assert_eq!(
        six,
        [
            &["write 0+4"][..],
            &["write 0+4"],
            &["read 0+4"],
            &["write 0+4"]
        ]
    );
}

#[test]
fn reads_go_where_the_data_are_and_over_small_gaps() {
    let none: &[&str] = &[];
    let read = asked_for(RAID_5, command(Op::Read, 3, 6));
    assert_eq!(
        read,
        [&["read 3+1"][..], &["read 0+4"], &["read 0+1"], none]
    );
    // Rows 0 and 1: member 2 has its parity of row 1 between, which is small enough to be read along.
    let rows = asked_for(RAID_5, command(Op::Read, 0, 36));
    assert_eq!(rows[0], ["read 0+12"]);
    assert_eq!(rows[2], ["read 0+12"]);
    let large = r#"{ "raid-10": { "unit": "4 blocks", "read": { "first": {} } } }"#;
    let copies = asked_for(large, command(Op::Read, 2, 12));
    assert_eq!(copies, [&["read 2+6"][..], &["read 0+6"], none, none]);
    let both = asked_for(large, command(Op::Write, 2, 12));
    assert_eq!(
        both,
        [["write 2+6"], ["write 0+6"], ["write 2+6"], ["write 0+6"]]
    );
}

fn ms(request: &Request) -> [u64; 3] {
    [request.arrival, request.start, request.completion].map(|at| at.ns() / 1_000_000)
}

#[test]
fn writes_wait_for_their_reads_and_a_request_has_the_times_of_the_whole() {
    let chain = r#"{ "raid-5": { "unit": "4 blocks", "waits": "own-chain", "writes": { "threshold": 2 } } }"#;
    let all = r#"{ "raid-5": { "unit": "4 blocks", "writes": { "threshold": 2 } } }"#;
    for (layout, ends) in [(chain, 20), (all, 24)] {
        let mut members = fakes(4, 40);
        // The data's member takes 5 ms, that of the parity 10, or 12 where the data's own write has to wait too.
        members[0].delay = Time::from_ms(if ends == 24 { 12 } else { 5 });
        members[3].delay = Time::from_ms(10);
        let (engine, ended) = run(
            array(layout, members, 0, 8),
            &[command(Op::Write, 0, 4)],
            &[],
        );
        assert_eq!(ms(&ended[0]), [0, 0, ends]);
        assert_eq!(faults(&engine), &[] as &[String]);
    }
    // Of two writes of the same blocks the second begins when the first has ended.
    let twice = vec![(Time::ZERO, command(Op::Write, 0, 4)); 2];
    let (engine, ended) = run_at(array(all, fakes(4, 40), 0, 8), twice, &[]);
    assert_eq!([ms(&ended[0]), ms(&ended[1])], [[0, 0, 10], [0, 10, 20]]);
    assert_eq!(faults(&engine), &[] as &[String]);
    // Of different blocks of the same row they go on together.
    let apart = vec![
        (Time::ZERO, command(Op::Write, 0, 2)),
        (Time::ZERO, command(Op::Write, 2, 2)),
    ];
    let (_, ended) = run_at(array(all, fakes(4, 40), 0, 8), apart, &[]);
    assert_eq!([ms(&ended[0]), ms(&ended[1])], [[0, 0, 10], [0, 0, 10]]);
}

#[test]
fn what_becomes_urgent_is_so_on_the_members_that_work_for_it() {
    let commands = vec![
        (Time::ZERO, command(Op::Read, 0, 4)),
        (Time::ZERO, command(Op::Write, 5, 1)),
    ];
    // The write reads the other blocks of its parity until then; what it writes afterwards is urgent from the beginning.
    let raised = [(Time::from_ms(3), 1)];
    let devices = array(RAID_5, fakes(4, 40), 0, 8);
    let (engine, ended) = run_raised(devices, commands, &raised, &[]);
    assert_eq!(ended.len(), 2);
    let urgent = [0, 1, 2, 3].map(|member| urgent(&engine, member));
    let one = |text: &str| vec![text.to_owned()];
    assert_eq!(urgent, [one("read 1+1"), vec![], one("read 1+1"), vec![]]);
}

#[test]
fn a_degraded_read_comes_from_the_others_and_a_spare_takes_over() {
    let fail = [(Time::from_ms(500), Injection::Fail(DeviceId(1)))];
    let commands = [command(Op::Write, 0, 12), command(Op::Read, 4, 2)];
    let (engine, ended) = run(array(RAID_5, fakes(4, 40), 0, 8), &commands, &fail);
    assert_eq!(ended[1].outcome, Some(Outcome::Ok));
    for member in [0, 2, 3] {
        assert_eq!(asked(&engine, member), ["write 0+4", "read 0+2"]);
    }
    let (engine, ended) = run(array(RAID_5, fakes(5, 40), 1, 8), &commands, &fail);
    assert_eq!(ended[1].outcome, Some(Outcome::Ok));
    let spare = asked(&engine, 4);
    assert_eq!(
        spare,
        [
            "write 0+8",
            "write 8+8",
            "write 16+8",
            "write 24+8",
            "write 32+8",
            "flush 0+0",
            "read 0+2"
        ]
    );
    let report = Value::from(engine.devices()[5].report(Time::ZERO));
    assert_eq!(report["rebuilds"][0]["blocks"], 40);
    assert_eq!(report["rebuilds"][0]["complete"], true);
    assert_eq!(report["rebuilds"][0]["begun_s"], 0.5);
    assert_eq!(report["rebuilds"][0]["ended_s"], 0.555);
    assert_eq!(report["response_ms"]["rebuilt"]["requests"], 1);
    assert_eq!(faults(&engine), &[] as &[String]);
}

#[test]
fn a_scrub_finds_what_cannot_be_read_and_writes_it_again() {
    let spoilt = |at: u64, device: u32, from: u64| {
        let injection = Injection::MediaError {
            device: DeviceId(device),
            blocks: from..from + 2,
        };
        (Time::from_ms(at), injection)
    };
    for (layout, count) in [(RAID_5, 4), (r#"{ "mirror": {} }"#, 2)] {
        let devices = scrubbed(layout, fakes(count, 40), 0, 8, scrub(8, Time::from_ms(30)));
        // After the scrub the other members may fail: what could not be read has come back.
        let faulty = [
            spoilt(50, 1, 5),
            (Time::from_ms(500), Injection::Fail(DeviceId(0))),
        ];
        let commands: Vec<_> = std::iter::once((Time::ZERO, command(Op::Write, 0, 36)))
            .chain([(Time::from_ms(600), command(Op::Read, 0, 40))])
            .collect();
        let (engine, ended) = run_at(devices, commands, &faulty);
        assert_eq!(faults(&engine), &[] as &[String]);
        assert_eq!(ended[1].outcome, Some(Outcome::Ok), "{layout}");
        let report = engine.devices()[count].report(Time::ZERO);
        assert_eq!(report["repaired_blocks"], if count == 4 { 4 } else { 8 });
        assert!(report["scrub_passes"].as_u64() >= Some(1));
    }
}

#[test]
fn what_is_repaired_of_a_part_of_a_unit_counts_once() {
    // Steps of half a unit: the second one has what cannot be read.
    let layout = r#"{ "raid-5": { "unit": "8 blocks" } }"#;
    let devices = scrubbed(layout, fakes(4, 40), 0, 4, scrub(4, Time::from_ms(80)));
    let device = DeviceId(1);
    let blocks = 5..7;
    let injection = Injection::MediaError { device, blocks };
    let commands = vec![
        (Time::ZERO, command(Op::Write, 0, 24)),
        (Time::from_s(1), command(Op::Read, 0, 1)),
    ];
    let faulty = [(Time::from_ms(50), injection)];
    let (engine, _) = run_at(devices, commands, &faulty);
    assert_eq!(faults(&engine), &[] as &[String]);
    let report = engine.devices()[4].report(Time::ZERO);
    assert_eq!(report["repaired_blocks"], 4);
}

/// What an array is asked to do again after an outage of ten milliseconds that begins at an instant.
fn resynchronised(
    devices: Vec<Box<dyn Device>>,
    commands: Vec<(Time, Command)>,
    at: u64,
) -> (Engine, Value) {
    let lasts = Time::from_ms(10);
    let outage = [(Time::from_ms(at), Injection::Outage { lasts })];
    let (engine, _) = run_at(devices, commands, &outage);
    assert_eq!(faults(&engine), &[] as &[String]);
    let array = engine.devices().last().expect("an array");
    let resyncs = Value::from(array.report(Time::ZERO))["resyncs"].clone();
    (engine, resyncs)
}

#[test]
fn an_array_without_a_record_resynchronises_all_after_an_outage_unless_nothing_was_written() {
    for (op, blocks) in [(Op::Write, Some(40)), (Op::Read, None)] {
        // What it was asked is over when the power fails.
        let commands = vec![(Time::ZERO, command(op, 0, 4))];
        let (_, resyncs) = resynchronised(array(RAID_5, fakes(4, 40), 0, 8), commands, 50);
        let done = resyncs.as_array().map(|resyncs| &resyncs[0]["blocks"]);
        assert_eq!(done, blocks.map(Value::from).as_ref(), "{op:?}");
    }
}

#[test]
fn regions_of_a_mirrors_bitmap_may_have_any_size() {
    let rules = BitmapRules {
        region: Size::from_blocks(3),
        delay: Time::from_s(1),
    };
    let devices = logged(
        (r#"{ "mirror": {} }"#, fakes(2, 48), 0),
        8,
        (None, ResyncRules::default()),
        (Some(rules), None),
    );
    let commands = vec![(Time::ZERO, command(Op::Write, 4, 1))];
    let (engine, resyncs) = resynchronised(devices, commands, 50);
    assert_eq!(resyncs[0]["blocks"], 3);
    assert!(asked(&engine, 0).contains(&"read 3+3".to_owned()));
}

#[test]
fn what_may_be_wrong_since_a_power_cut_is_told_block_by_block() {
    // The power fails between the two writes of a small write, and while it is away the member with another unit of its row: of one block
    // that is computed nobody knows whether it is right.
    let layout = r#"{ "raid-5": { "unit": "1 blocks" } }"#;
    let members = [5, 5, 5, 9].map(|delay| Fake::new(10, delay));
    let resync = ResyncRules {
        automatic: false,
        ..ResyncRules::default()
    };
    let devices = kept((layout, members.into(), 0), 8, None, resync);
    let commands = vec![
        (Time::ZERO, command(Op::Write, 0, 3)),
        (Time::from_ms(20), command(Op::Write, 0, 1)),
        (Time::from_ms(100), command(Op::Read, 1, 1)),
        (Time::from_ms(120), command(Op::Read, 3, 6)),
    ];
    let lasts = Time::from_ms(10);
    let faulty = [
        (Time::from_ms(32), Injection::Outage { lasts }),
        (Time::from_ms(40), Injection::Fail(DeviceId(1))),
    ];
    let (engine, _) = run_at(devices, commands, &faulty);
    assert_eq!(faults(&engine), &[] as &[String]);
    let array = &engine.devices()[4];
    let report = array.report(Time::ZERO);
    assert_eq!(report["write_hole_blocks"], 1);
    assert_eq!(report["write_hole_reads"], 1);
    let warnings = array.warnings();
    let told = "1 blocks were computed from rows whose redundancy may not fit";
    assert!(
        warnings.iter().any(|warning| warning.starts_with(told)),
        "{warnings:?}"
    );
}

#[test]
fn a_rebuild_loses_only_what_cannot_be_made_up_for() {
    // A member fails, and of another one a block of the first row cannot be read.
    let faulty = [
        (
            Time::from_ms(50),
            Injection::MediaError {
                device: DeviceId(0),
                blocks: 1..2,
            },
        ),
        (Time::from_ms(60), Injection::Fail(DeviceId(1))),
    ];
    let commands: Vec<_> = std::iter::once((Time::ZERO, command(Op::Write, 0, 24)))
        .chain((0..24).map(|lbn| (Time::from_s(1 + lbn), command(Op::Read, lbn, 1))))
        .collect();
    let (engine, ended) = run_at(array(RAID_5, fakes(5, 40), 1, 1), commands, &faulty);
    assert_eq!(faults(&engine), &[] as &[String]);
    let failed = ended
        .iter()
        .filter(|request| request.outcome != Some(Outcome::Ok));
    let failed: Vec<u64> = failed.map(|request| request.command.lbn.0).collect();
    assert_eq!(failed, [1, 5]);
    let report = engine.devices()[5].report(Time::ZERO);
    assert_eq!(report["lost_blocks"], 2);
}

#[test]
fn a_scrub_finds_parity_that_does_not_fit() {
    let mut members = fakes(4, 40);
    // The member with the parity of row 0 does not write what it says it has.
    members[3].forgets = true;
    let devices = scrubbed(RAID_5, members, 0, 8, scrub(8, Time::from_ms(30)));
    let commands = vec![
        (Time::ZERO, command(Op::Write, 0, 4)),
        (Time::from_ms(500), command(Op::Read, 0, 4)),
    ];
    let (engine, _) = run_at(devices, commands, &[]);
    let found = faults(&engine);
    assert!(
        !found.is_empty()
            && found
                .iter()
                .all(|fault| fault.starts_with("the members of row 0 do not fit")),
        "{found:?}"
    );
}

#[test]
fn a_power_cut_in_the_middle_of_a_write_is_told() {
    for (at, rows) in [(2, 0), (7, 1), (12, 0)] {
        let cut = [(Time::from_ms(at), Injection::PowerCut)];
        let commands = [command(Op::Write, 0, 4)];
        let (engine, _) = run(array(RAID_5, fakes(4, 40), 0, 8), &commands, &cut);
        let array = &engine.devices()[4];
        let report = array.report(Time::ZERO);
        assert_eq!(
            report.get("rows_open_at_power_cut").is_some(),
            rows > 0,
            "{at}"
        );
        assert_eq!(array.warnings().len() as u64, rows);
        assert_eq!(faults(&engine), &[] as &[String]);
    }
}

/// How often the members are flushed of an array with a journal of 128 blocks, 8 of them its own, whose members keep writes in memory; an
/// entry takes 8 blocks more than what it has.
fn flushes_for_the_journal(delay: u64, commands: &[(u64, u64, u32)]) -> usize {
    let mut members = fakes(4, 40);
    for member in &mut members {
        (member.promise, member.delay) = (Promise::AfterFlush, Time::from_ms(delay));
    }
    let devices = logged(
        (RAID_5, members, 0),
        8,
        (None, ResyncRules::default()),
        (None, Some(Fake::new(128, 2))),
    );
    let commands = commands.iter().map(|&(at, lbn, blocks)| {
        let write = command(Op::Write, lbn, blocks);
        (Time::from_ms(at), write)
    });
    let (engine, _) = run_at(devices, commands.collect(), &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    let asked = asked(&engine, 0);
    asked.iter().filter(|asked| *asked == "flush 0+0").count()
}

#[test]
fn a_journal_makes_room_once_more_than_half_of_it_is_used() {
    // Two rows take 40 blocks, one block and its parity 10.
    let writes = [(0, 0, 24), (100, 30, 1), (200, 31, 1), (300, 32, 1)];
    assert_eq!(flushes_for_the_journal(5, &writes[..3]), 0, "60 of 120");
    assert_eq!(flushes_for_the_journal(5, &writes), 1, "70 of 120");
}

#[test]
fn a_journal_does_not_flush_for_an_entry_that_has_not_ended() {
    let writes = [(0, 0, 24), (10, 24, 24)];
    assert_eq!(flushes_for_the_journal(50, &writes), 1);
}

/// A random array with a random load and faults.
#[derive(Clone, Debug)]
struct Scene {
    layout: String,
    redundancy: usize,
    members: usize,
    delays: Vec<u64>,
    blocks: u64,
    is_volatile: bool,
    commands: Vec<(u64, Op, u64, u64)>,
    failures: Vec<(u64, usize)>,
    unreadable: Vec<(u64, usize, u64, u64)>,
    spares: usize,
    step: u64,
    is_scrubbed: bool,
    cut: Option<u64>,
    last: usize,
    /// When the power fails, and for how long.
    outages: Vec<(u64, u64)>,
    is_automatic: bool,
    /// Blocks of a region, and milliseconds.
    bitmap: Option<(u64, u64)>,
    /// Blocks, and when it fails.
    journal: Option<(u64, Option<u64>)>,
}

fn layouts() -> impl Strategy<Value = (String, usize, usize)> {
    let rotations = [
        "left-symmetric",
        "left-asymmetric",
        "right-symmetric",
        "right-asymmetric",
    ];
    let waits = prop::sample::select(vec!["all", "all", "own-chain"]);
    let writes = prop_oneof![
        Just("\"fewest-reads\"".to_owned()),
        (0u32..6).prop_map(|threshold| format!("{{ \"threshold\": {threshold} }}")),
    ];
    let shape = (
        0usize..6,
        1u64..6,
        prop::sample::select(rotations.to_vec()),
        1u64..4,
    );
    (shape, waits, writes, 0usize..3).prop_map(|((kind, unit, rotation, turn), waits, writes, more)| {
        let how = format!("\"waits\": \"{waits}\", \"writes\": {writes}");
        let parity = unit * turn;
        match kind {
            0 => (format!("{{ \"raid-4\": {{ \"unit\": \"{unit} blocks\", {how} }} }}"), 1, 3 + more),
            1 => (
                format!("{{ \"raid-5\": {{ \"unit\": \"{unit} blocks\", \"parity_unit\": \"{parity} blocks\", \"rotation\": \"{rotation}\", {how} }} }}"),
                1,
                3 + more,
            ),
            2 => (
                format!("{{ \"raid-6\": {{ \"unit\": \"{unit} blocks\", \"rotation\": \"{rotation}\", {how} }} }}"),
                2,
                4 + more,
            ),
            4 => {
                let (direction, _) = rotation.split_once('-').expect("a side");
                (
                    format!("{{ \"parity-striping\": {{ \"unit\": \"{unit} blocks\", \"rotation\": \"{direction}\", {how} }} }}"),
                    1,
                    3 + more,
                )
            }
            3 => (format!("{{ \"raid-10\": {{ \"unit\": \"{unit} blocks\", \"copies\": 2 }} }}"), 1, 2 + 2 * more),
            _ => ("{ \"mirror\": {} }".to_owned(), 1 + more, 2 + more),
        }
    })
}

fn scenes() -> impl Strategy<Value = Scene> {
    let op = prop::sample::select(vec![
        Op::Read,
        Op::Read,
        Op::Write,
        Op::Write,
        Op::Write,
        Op::Flush,
        Op::Trim,
    ]);
    let commands =
        prop::collection::vec((0u64..6, op, any::<prop::sample::Index>(), 1u64..20), 1..60);
    let faults = (
        prop::collection::vec((0u64..200, any::<prop::sample::Index>()), 0..3),
        prop::collection::vec(
            (
                0u64..200,
                any::<prop::sample::Index>(),
                any::<prop::sample::Index>(),
                1u64..4,
            ),
            0..3,
        ),
        0usize..3,
        1u64..20,
        prop::option::weighted(0.2, 1u64..200),
        any::<prop::sample::Index>(),
        any::<bool>(),
        (
            prop::collection::vec((1u64..200, 1u64..60), 0..3),
            prop::bool::weighted(0.8),
            prop::option::of((1u64..12, 0u64..40)),
            prop::option::of((128u64..300, prop::option::weighted(0.2, 0u64..200))),
        ),
    );
    let delays = prop::collection::vec(1u64..9, 10);
    (
        layouts(),
        delays,
        18u64..30,
        any::<bool>(),
        commands,
        faults,
    )
        .prop_map(
            |((layout, redundancy, members), delays, blocks, is_volatile, commands, faults)| {
                let spec: LayoutSpec = serde_json::from_str(&layout).expect("a layout");
                let Ok(Organisation::Redundant(geometry, _)) = spec.kept_up(&vec![blocks; members])
                else {
                    panic!("{layout}");
                };
                let capacity = geometry.blocks();
                let mut at = 0;
                let commands = commands.into_iter().map(|(gap, op, first, length)| {
                    at += gap;
                    let first = first.index(capacity as usize) as u64;
                    match op {
                        Op::Flush => (at, op, 0, 0),
                        _ => (at, op, first, length.min(capacity - first)),
                    }
                });
                let (failures, unreadable, spares, step, cut, last, is_scrubbed, outages) = faults;
                let (outages, is_automatic, bitmap, journal) = outages;
                let journal = journal.filter(|_| geometry.parities() > 0);
                let failures = failures
                    .into_iter()
                    .map(|(at, member)| (at, member.index(members)));
                let unreadable = unreadable.into_iter().map(|(at, member, from, length)| {
                    let from = from.index(blocks as usize) as u64;
                    (at, member.index(members), from, length.min(blocks - from))
                });
                Scene {
                    redundancy,
                    members,
                    delays,
                    blocks,
                    is_volatile,
                    commands: commands.collect(),
                    failures: failures.collect(),
                    unreadable: unreadable.collect(),
                    spares,
                    step,
                    is_scrubbed,
                    cut,
                    last: last.index(members),
                    outages,
                    is_automatic,
                    bitmap,
                    journal,
                    layout,
                }
            },
        )
}

/// Runs a scene; afterwards a last member fails, and all blocks are read.
fn play(scene: &Scene) -> (Engine, Vec<Request>) {
    let fake = |&delay: &u64| {
        // A page of the bitmap is behind what the layout uses.
        let more = scene.bitmap.map_or(0, |_| 8);
        let mut fake = Fake::new(scene.blocks + more, delay);
        if scene.is_volatile {
            fake.promise = Promise::AfterFlush;
        }
        fake
    };
    let members = scene.delays[..scene.members + scene.spares]
        .iter()
        .map(fake);
    let resync = ResyncRules {
        step: Size::from_blocks(scene.step),
        automatic: scene.is_automatic,
        ..ResyncRules::default()
    };
    let scrub = scrub(scene.step, Time::from_s(50)).filter(|_| scene.is_scrubbed);
    let members = members.collect();
    let bitmap = scene.bitmap.map(|(region, delay)| BitmapRules {
        region: Size::from_blocks(region),
        delay: Time::from_ms(delay),
    });
    let journal = scene.journal.map(|(blocks, _)| Fake::new(blocks, 2));
    let devices = logged(
        (&scene.layout, members, scene.spares),
        scene.step,
        (scrub, resync),
        (bitmap, journal),
    );
    let capacity = devices.last().expect("an array").blocks();
    let at = |&(at, op, lbn, blocks): &(u64, Op, u64, u64)| {
        (Time::from_ms(at), command(op, lbn, blocks as u32))
    };
    let mut commands: Vec<_> = scene.commands.iter().map(at).collect();
    let device = |member: usize| DeviceId(member as u32);
    let mut injections = Vec::new();
    for &(at, member) in &scene.failures {
        injections.push((Time::from_ms(at), Injection::Fail(device(member))));
    }
    for &(at, member, from, blocks) in &scene.unreadable {
        let blocks = from..from + blocks;
        let device = device(member);
        injections.push((Time::from_ms(at), Injection::MediaError { device, blocks }));
    }
    if let Some((_, Some(at))) = scene.journal {
        let journal = device(scene.members + scene.spares);
        injections.push((Time::from_ms(at), Injection::Fail(journal)));
    }
    for &(at, lasts) in &scene.outages {
        let lasts = Time::from_ms(lasts);
        injections.push((Time::from_ms(at), Injection::Outage { lasts }));
    }
    match scene.cut {
        Some(at) => injections.push((Time::from_ms(at), Injection::PowerCut)),
        None => {
            injections.push((Time::from_s(100), Injection::Fail(device(scene.last))));
            for lbn in (0..capacity).step_by(7) {
                let blocks = 7.min(capacity - lbn);
                commands.push((Time::from_s(200), command(Op::Read, lbn, blocks as u32)));
            }
        }
    }
    run_at(devices, commands, &injections)
}

/// Whether no read is wrong whatever fails in a scene; and whether no request fails where the redundancy makes up for all that fails.
fn judge(scene: &Scene) -> Result<(), TestCaseError> {
    let (engine, ended) = play(scene);
    prop_assert_eq!(faults(&engine), &[] as &[String]);
    let mut failing: Vec<usize> = scene.failures.iter().map(|&(_, member)| member).collect();
    failing.sort_unstable();
    failing.dedup();
    let is_chain = scene.layout.contains("own-chain");
    let within = failing.len() + scene.unreadable.len() < scene.redundancy
        || scene.unreadable.is_empty() && failing.is_empty();
    let is_powered = scene.cut.is_none() && scene.outages.is_empty();
    if within && !is_chain && is_powered {
        for request in &ended {
            prop_assert_eq!(request.outcome, Some(Outcome::Ok), "{:?}", request.command);
        }
    }
    // Rows are set right before the last member fails, unless others have failed before.
    let report = engine
        .devices()
        .last()
        .expect("an array")
        .report(Time::ZERO);
    let journal_fails = scene.journal.is_some_and(|(_, fails)| fails.is_some());
    let is_made_right = scene.is_automatic && !journal_fails;
    if failing.is_empty() && scene.unreadable.is_empty() && is_made_right {
        prop_assert_eq!(report.get("write_hole_blocks"), None);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn nothing_is_read_wrong_whatever_fails(scene in scenes()) {
        judge(&scene)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300_000))]
    #[test]
    #[ignore = "takes minutes"]
    fn nothing_is_read_wrong_in_many_scenes(scene in scenes()) {
        judge(&scene)?;
    }
}

/// A scene of an array of four members without faults.
fn scene(layout: &str, blocks: u64, delays: &[u64], commands: &[(u64, Op, u64, u64)]) -> Scene {
    Scene {
        layout: layout.to_owned(),
        redundancy: 1,
        members: 4,
        delays: delays.to_vec(),
        blocks,
        is_volatile: false,
        commands: commands.to_vec(),
        failures: Vec::new(),
        unreadable: Vec::new(),
        spares: 0,
        step: 15,
        is_scrubbed: false,
        cut: None,
        last: 0,
        outages: Vec::new(),
        is_automatic: false,
        bitmap: None,
        journal: None,
    }
}

/// Runs a scene in which the checker finds nothing.
#[track_caller]
fn play_well(scene: &Scene) -> Vec<Request> {
    let (engine, ended) = play(scene);
    assert_eq!(faults(&engine), &[] as &[String]);
    ended
}

/// A scene that was made small from a random one, in which nothing is read wrong.
#[track_caller]
fn is_right(scene: &Scene) {
    judge(scene).expect("nothing is read wrong");
}

#[test]
fn what_was_set_right_and_forgotten_by_another_outage_is_in_doubt_again() {
    let reads = (0..7).map(|_| (0, Op::Read, 0, 1));
    let writes = [
        (3, Op::Read, 0, 1),
        (3, Op::Write, 21, 4),
        (7, Op::Write, 25, 4),
        (10, Op::Write, 13, 17),
    ];
    is_right(&Scene {
        redundancy: 2,
        members: 6,
        is_volatile: true,
        failures: vec![(24, 0), (10, 3)],
        spares: 1,
        step: 3,
        outages: vec![(123, 28), (170, 1)],
        is_automatic: true,
        ..scene(
            r#"{ "raid-6": { "unit": "1 blocks", "rotation": "left-asymmetric" } }"#,
            18,
            &[1, 2, 6, 1, 1, 1, 5],
            &reads.chain(writes).collect::<Vec<_>>(),
        )
    });
}

#[test]
fn a_write_of_lost_blocks_that_is_forgotten_leaves_them_lost() {
    let at = |&(at, op): &(u64, Op)| (at, op, 0, if op == Op::Read { 1 } else { 0 });
    let before = [(3, Op::Read), (7, Op::Read)];
    let between = [
        (14, Op::Flush),
        (16, Op::Read),
        (21, Op::Flush),
        (23, Op::Read),
        (28, Op::Read),
        (33, Op::Read),
        (34, Op::Read),
        (38, Op::Read),
        (43, Op::Read),
        (43, Op::Read),
    ];
    let mut commands: Vec<_> = before.iter().map(at).collect();
    commands.push((10, Op::Write, 34, 19));
    commands.extend(between.iter().map(at));
    commands.extend([
        (48, Op::Read, 45, 8),
        (53, Op::Flush, 0, 0),
        (54, Op::Write, 48, 4),
    ]);
    is_right(&Scene {
        is_volatile: true,
        failures: vec![(19, 1)],
        unreadable: vec![(0, 0, 15, 3)],
        spares: 1,
        step: 6,
        outages: vec![(61, 1)],
        ..scene(
            r#"{ "raid-5": { "unit": "3 blocks", "parity_unit": "6 blocks", "writes": { "threshold": 2 } } }"#,
            21,
            &[1, 1, 5, 1, 1],
            &commands,
        )
    });
}

#[test]
fn blocks_that_a_journal_leaves_in_doubt_when_it_fails_may_be_wrong_at_once() {
    is_right(&Scene {
        members: 3,
        step: 1,
        outages: vec![(49, 1), (44, 31)],
        is_automatic: true,
        journal: Some((148, Some(79))),
        ..scene(
            r#"{ "raid-4": { "unit": "1 blocks" } }"#,
            26,
            &[1, 6, 1],
            &[
                (0, Op::Write, 26, 8),
                (2, Op::Write, 14, 13),
                (2, Op::Write, 14, 2),
                (2, Op::Read, 0, 1),
                (2, Op::Write, 0, 2),
            ],
        )
    });
}

#[test]
fn a_failed_write_leaves_rows_that_fit_where_too_few_members_are_missing() {
    // The second member fails in the middle of the last write, while a spare has the first 15 blocks of the third: that write fails in the
    // last row, and the row before it is made right.
    let scene = Scene {
        spares: 1,
        failures: vec![(48, 1), (11, 2)],
        bitmap: Some((1, 0)),
        ..scene(
            r#"{ "raid-4": { "unit": "5 blocks", "waits": "own-chain" } }"#,
            20,
            &[1, 6, 1, 3, 1],
            &[
                (16, Op::Write, 33, 18),
                (16, Op::Write, 4, 2),
                (18, Op::Write, 32, 19),
                (18, Op::Read, 21, 15),
            ],
        )
    };
    let ended = play_well(&scene);
    assert_eq!(ended[2].outcome, Some(Outcome::FailedDevice));
    assert_eq!(ended[3].outcome, Some(Outcome::Ok));
}

#[test]
fn a_read_held_back_until_a_member_has_failed_waits_for_the_writes_of_its_rows() {
    // Both requests come while the array is without power, and go on after a member has failed.
    let scene = Scene {
        failures: vec![(69, 2)],
        outages: vec![(59, 8)],
        journal: Some((128, Some(60))),
        ..scene(
            r#"{ "raid-5": { "unit": "1 blocks", "parity_unit": "3 blocks", "rotation": "right-symmetric", "waits": "own-chain" } }"#,
            22,
            &[7, 1, 1, 1],
            &[
                (55, Op::Write, 0, 1),
                (68, Op::Write, 37, 5),
                (68, Op::Read, 28, 10),
            ],
        )
    };
    let ended = play_well(&scene);
    assert_eq!(ended[1].command.op, Op::Write);
    assert!(
        ended[2].start >= ended[1].completion,
        "the read goes second"
    );
}

#[test]
fn a_replay_leaves_alone_what_was_rebuilt_from_later_data() {
    // The spare gets block 12 with an entry before it is rebuilt that far, then from the others, of which one has been written meanwhile.
    let scene = Scene {
        members: 3,
        spares: 1,
        failures: vec![(3, 0)],
        is_scrubbed: true,
        step: 2,
        outages: vec![(88, 1), (1, 10)],
        journal: Some((132, None)),
        ..scene(
            r#"{ "raid-4": { "unit": "5 blocks" } }"#,
            25,
            &[1, 2, 1, 2],
            &[
                (2, Op::Read, 0, 1),
                (6, Op::Read, 0, 1),
                (11, Op::Read, 0, 1),
                (14, Op::Read, 0, 1),
                (19, Op::Flush, 0, 0),
                (24, Op::Read, 10, 1),
                (27, Op::Read, 20, 1),
                (27, Op::Write, 0, 5),
                (32, Op::Read, 0, 1),
                (32, Op::Read, 0, 5),
                (35, Op::Write, 0, 1),
                (40, Op::Read, 10, 1),
                (41, Op::Write, 0, 11),
                (46, Op::Read, 0, 1),
                (47, Op::Read, 0, 1),
                (49, Op::Read, 0, 1),
                (49, Op::Write, 0, 11),
                (51, Op::Read, 0, 1),
                (51, Op::Read, 0, 1),
                (51, Op::Read, 0, 1),
                (52, Op::Read, 6, 7),
                (56, Op::Read, 0, 1),
                (60, Op::Read, 20, 1),
                (61, Op::Read, 20, 1),
                (64, Op::Read, 0, 1),
                (69, Op::Write, 11, 12),
                (70, Op::Write, 22, 1),
                (70, Op::Read, 0, 1),
            ],
        )
    };
    play_well(&scene);
}

#[test]
fn a_resynchronisation_makes_right_what_a_spare_has_of_its_last_row() {
    // The spare has 7 of the 18 blocks of the only row of each member, and got the last write while the other member did not.
    let scene = Scene {
        members: 2,
        spares: 1,
        failures: vec![(28, 0)],
        is_scrubbed: true,
        step: 7,
        outages: vec![(67, 1)],
        bitmap: Some((1, 14)),
        is_automatic: true,
        ..scene(
            r#"{ "mirror": {} }"#,
            18,
            &[1, 7, 1, 1, 1, 1],
            &[
                (1, Op::Write, 1, 17),
                (3, Op::Write, 1, 7),
                (8, Op::Read, 0, 1),
                (12, Op::Read, 0, 1),
                (16, Op::Read, 0, 1),
                (19, Op::Read, 0, 1),
                (21, Op::Write, 2, 15),
                (22, Op::Write, 12, 4),
                (23, Op::Flush, 0, 0),
                (28, Op::Write, 3, 13),
                (33, Op::Write, 1, 1),
            ],
        )
    };
    play_well(&scene);
}

#[test]
fn a_scrub_forgets_what_it_has_read_of_a_member_that_is_replaced() {
    // The third member fails in the middle of a scrub of a row in doubt, and its spare is made from a parity that was not read before.
    let scene = Scene {
        redundancy: 2,
        members: 6,
        spares: 1,
        failures: vec![(141, 2)],
        unreadable: vec![(0, 3, 12, 1), (0, 3, 0, 1)],
        is_scrubbed: true,
        step: 8,
        outages: vec![(110, 17), (26, 48)],
        ..scene(
            r#"{ "raid-6": { "unit": "1 blocks", "rotation": "left-symmetric", "waits": "own-chain" } }"#,
            27,
            &[1, 1, 1, 6, 1, 8, 1, 1, 1],
            &[
                (1, Op::Read, 34, 7),
                (3, Op::Read, 0, 1),
                (6, Op::Read, 0, 1),
                (10, Op::Write, 31, 14),
                (15, Op::Read, 0, 1),
                (17, Op::Read, 0, 1),
                (20, Op::Read, 0, 1),
                (25, Op::Read, 0, 1),
                (29, Op::Read, 0, 1),
                (30, Op::Read, 0, 1),
                (32, Op::Read, 0, 1),
                (34, Op::Read, 0, 1),
                (39, Op::Read, 0, 1),
                (43, Op::Read, 0, 1),
                (48, Op::Read, 0, 1),
                (51, Op::Read, 0, 1),
                (55, Op::Read, 0, 1),
                (59, Op::Write, 40, 5),
            ],
        )
    };
    play_well(&scene);
}

#[test]
fn a_read_of_lost_blocks_fails_though_a_write_replaces_them_meanwhile() {
    // Two rows are lost in a rebuild; the read of the last one comes while it is written, and ends behind the write.
    let scene = Scene {
        members: 3,
        spares: 1,
        failures: vec![(30, 0)],
        unreadable: vec![(27, 1, 5, 2)],
        step: 10,
        ..scene(
            r#"{ "raid-4": { "unit": "2 blocks", "waits": "own-chain" } }"#,
            18,
            &[1, 3, 4, 7, 1, 1],
            &[
                (5, Op::Flush, 0, 0),
                (7, Op::Read, 0, 1),
                (12, Op::Write, 25, 8),
                (12, Op::Write, 2, 19),
                (16, Op::Read, 0, 1),
                (21, Op::Read, 0, 1),
                (23, Op::Read, 0, 1),
                (27, Op::Read, 0, 1),
                (29, Op::Read, 0, 1),
                (29, Op::Read, 0, 1),
                (32, Op::Read, 0, 1),
                (33, Op::Read, 20, 1),
                (33, Op::Read, 3, 18),
                (34, Op::Read, 20, 1),
                (37, Op::Read, 18, 3),
                (37, Op::Write, 8, 13),
                (37, Op::Read, 0, 1),
                (40, Op::Read, 0, 1),
                (42, Op::Read, 0, 1),
                (45, Op::Read, 0, 1),
                (48, Op::Read, 0, 1),
                (49, Op::Read, 0, 1),
                (53, Op::Read, 0, 1),
                (57, Op::Read, 0, 1),
                (60, Op::Read, 15, 4),
            ],
        )
    };
    play_well(&scene);
}

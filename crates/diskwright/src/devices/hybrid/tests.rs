//! A hybrid drive over devices that do what a test wants.

use super::*;
use crate::engine::fakes::{Fake, asked, command, faults, run, run_at};
use crate::engine::request::{Command, NvCacheCommand, Part, Request, ServedBy};
use crate::engine::{Engine, Injection};

/// A medium of 1000 blocks and 10 ms, an NV cache of 16 blocks and 1 ms, and the drive.
fn drive(promise: Promise) -> Vec<Box<dyn Device>> {
    let (mut medium, flash) = (Fake::new(1000, 10), Fake::new(16, 1));
    medium.promise = promise;
    let child = |device, fake: &Fake| Child {
        device: DeviceId(device),
        blocks: fake.blocks,
        promise: fake.promise,
    };
    let settings = Settings {
        command: Time::from_us(5),
        power_mode: false,
        high_power: Time::ZERO,
    };
    let hybrid = Hybrid::new(child(0, &medium), child(1, &flash), settings);
    vec![Box::new(medium), Box::new(flash), Box::new(hybrid)]
}

fn nv(of: NvCacheCommand, lbn: u64, blocks: u32) -> Command {
    command(Op::NvCache(of), lbn, blocks)
}

fn pin(lbn: u64, blocks: u32) -> Command {
    nv(NvCacheCommand::Pin, lbn, blocks)
}

fn commanded(commands: &[Command]) -> (Engine, Vec<Request>) {
    let (engine, ended) = run(drive(Promise::Durable), commands, &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    (engine, ended)
}

#[test]
fn pinned_blocks_are_served_by_the_nv_cache_once_they_are_written() {
    let commands = [
        pin(100, 8),
        command(Op::Read, 96, 16),
        command(Op::Write, 104, 8),
        command(Op::Read, 96, 16),
        nv(NvCacheCommand::Unpin, 100, 8),
        command(Op::Read, 104, 4),
    ];
    let (engine, ended) = run(drive(Promise::Durable), &commands, &[]);
    // What is unpinned is lost, and the last read has what the medium had.
    assert_eq!(faults(&engine).len(), 4, "{:?}", faults(&engine));
    assert_eq!(
        asked(&engine, 0),
        [
            "read 96+16",
            "write 108+4",
            "read 96+8",
            "read 108+4",
            "read 104+4"
        ]
    );
    assert_eq!(asked(&engine, 1), ["write 4+4", "read 4+4"]);
    let times: Vec<Time> = ended.iter().map(Request::response).collect();
    assert_eq!(times[0], Time::from_us(5));
    assert_eq!(ended[0].parts.get(Part::Overhead), Time::from_us(5));
    assert_eq!(times[2], Time::from_ms(10));
}

#[test]
fn a_pin_that_populates_reads_the_medium_at_once() {
    let populate = nv(NvCacheCommand::PinAndPopulate, 40, 8);
    let (engine, ended) = commanded(&[
        command(Op::Write, 40, 8),
        populate,
        command(Op::Read, 40, 8),
        populate,
    ]);
    assert_eq!(asked(&engine, 0), ["write 40+8", "read 40+8"]);
    assert_eq!(asked(&engine, 1), ["write 0+8", "read 0+8"]);
    assert_eq!(ended[1].response(), Time::from_ms(11));
    assert_eq!(ended[3].response(), Time::from_us(5));
}

#[test]
fn a_query_tells_whether_blocks_are_pinned() {
    let query = |lbn, blocks| nv(NvCacheCommand::QueryPinned, lbn, blocks);
    let (_, ended) = commanded(&[
        pin(100, 8),
        query(100, 8),
        query(96, 8),
        query(0, 8),
        nv(NvCacheCommand::Unpin, 102, 2),
        query(100, 8),
    ]);
    let answers: Vec<ServedBy> = [1, 2, 3, 5].map(|at| ended[at].served_by).into();
    let (all, some, none) = (ServedBy::Buffer, ServedBy::Both, ServedBy::Medium);
    assert_eq!(answers, [all, some, none, some]);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let (engine, ended) = commanded(&[pin(0, 10), pin(5, 12), pin(5, 11), pin(500, 1)]);
    let outcomes: Vec<_> = ended.iter().map(|request| request.outcome).collect();
    let (ok, refused) = (Some(Outcome::Ok), Some(Outcome::Refused));
    assert_eq!(outcomes, [ok, refused, ok, refused]);
    assert_eq!(engine.devices()[2].report(Time::ZERO)["pinned_blocks"], 16);
}

#[test]
fn devices_without_an_nv_cache_refuse_its_commands() {
    let (engine, ended) = run(vec![Box::new(Fake::new(100, 1))], &[pin(0, 8)], &[]);
    assert_eq!(ended[0].outcome, Some(Outcome::Refused));
    assert_eq!(ended[0].response(), Time::ZERO);
    assert_eq!(asked(&engine, 0), [] as [&str; 0]);
    assert_eq!(faults(&engine), &[] as &[String]);
}

#[test]
fn the_medium_can_be_written_beneath_what_is_pinned() {
    for (promise, write) in [
        (Promise::Durable, "write 100+8"),
        (Promise::AfterFlush, "write 100+8 fua"),
    ] {
        let commands = [
            pin(100, 8),
            command(Op::Write, 100, 8),
            nv(NvCacheCommand::WriteMedium, 100, 8),
            nv(NvCacheCommand::ReadMedium, 100, 8),
        ];
        let (engine, _) = run(drive(promise), &commands, &[]);
        assert_eq!(asked(&engine, 0), [write, "read 100+8"]);
        assert_eq!(asked(&engine, 1), ["write 0+8"]);
        let drive = &engine.devices()[2];
        let medium = Location::On(DeviceId(0), Lbn(100));
        assert_eq!(drive.location(Lbn(100), 0), Some(medium));
        assert_eq!(drive.report(Time::ZERO)["pinned_blocks"], 8);
    }
}

#[test]
fn without_its_nv_cache_the_drive_goes_on() {
    let at = |s, command| (Time::from_s(s), command);
    let commands = vec![
        at(0, pin(100, 8)),
        at(1, command(Op::Write, 100, 4)),
        at(3, command(Op::Read, 100, 2)),
        at(4, command(Op::Write, 100, 4)),
        at(5, command(Op::Read, 100, 4)),
        at(6, pin(0, 1)),
        at(7, command(Op::Flush, 0, 0)),
    ];
    let failure = (Time::from_s(2), Injection::Fail(DeviceId(1)));
    let (engine, ended) = run_at(drive(Promise::Durable), commands, &[failure]);
    let outcomes: Vec<_> = ended.iter().filter_map(|request| request.outcome).collect();
    use Outcome::{FailedDevice, Ok, Refused};
    assert_eq!(outcomes, [Ok, Ok, FailedDevice, Ok, Ok, Refused, Ok]);
    assert_eq!(faults(&engine), &[] as &[String]);
}

#[test]
fn in_power_mode_the_nv_cache_takes_writes_until_it_is_flushed() {
    let nv = |of| nv(of, 0, 0);
    let commands = [
        nv(NvCacheCommand::PowerModeOn),
        command(Op::Write, 100, 8),
        command(Op::Write, 104, 8),
        command(Op::Read, 96, 16),
        // There is room for four more.
        command(Op::Write, 200, 4),
        nv(NvCacheCommand::PowerModeOff),
        command(Op::Write, 110, 4),
        nv(NvCacheCommand::FlushUnpinned),
        nv(NvCacheCommand::FlushUnpinned),
        command(Op::Read, 100, 12),
    ];
    let (engine, ended) = commanded(&commands);
    assert_eq!(
        asked(&engine, 0),
        [
            "read 96+4",
            "write 110+4",
            "write 100+4",
            "write 104+4",
            "write 108+2",
            "write 200+4",
            "read 100+12"
        ]
    );
    // Four runs at most: 100, 104, 108 of one hold.
    assert_eq!(ended[7].parts.total(), ended[7].response());
    assert_eq!(ended[8].response(), Time::from_us(5));
    assert_eq!(engine.devices()[2].report(Time::ZERO)["unpinned_blocks"], 0);
}

#[test]
fn a_write_without_room_goes_to_the_medium_and_a_flush_begins() {
    let (engine, ended) = commanded(&[
        nv(NvCacheCommand::PowerModeOn, 0, 0),
        command(Op::Write, 100, 12),
        command(Op::Write, 200, 5),
        command(Op::Write, 300, 4),
    ]);
    assert_eq!(asked(&engine, 0), ["write 200+5", "write 100+12"]);
    assert_eq!(asked(&engine, 1), ["write 0+12", "read 0+12", "write 0+4"]);
    assert_eq!(ended[2].response(), Time::from_ms(10));
    let report = engine.devices()[2].report(Time::ZERO);
    assert_eq!(report["unpinned_set"]["own_flushes"], 1);
    assert_eq!(report["unpinned_set"]["flushed_blocks"], 12);
}

#[test]
fn a_pin_without_room_waits_for_a_flush_of_the_unpinned_set() {
    let (engine, ended) = commanded(&[
        nv(NvCacheCommand::PowerModeOn, 0, 0),
        command(Op::Write, 100, 12),
        pin(200, 5),
        pin(300, 12),
    ]);
    // Its data are read and written first; nothing is left to flush for the second one.
    assert_eq!(ended[2].completion - Time::from_s(2), Time::from_us(11_005));
    assert_eq!(ended[2].outcome, Some(Outcome::Ok));
    assert_eq!(ended[3].response(), Time::from_us(5));
    assert_eq!(ended[3].outcome, Some(Outcome::Refused));
    assert_eq!(engine.devices()[2].report(Time::ZERO)["pinned_blocks"], 5);
}

#[test]
fn unpinning_leaves_the_unpinned_set_alone() {
    let (engine, _) = commanded(&[
        nv(NvCacheCommand::PowerModeOn, 0, 0),
        command(Op::Write, 100, 8),
        nv(NvCacheCommand::Unpin, 100, 8),
        command(Op::Read, 100, 8),
    ]);
    assert_eq!(asked(&engine, 1), ["write 0+8", "read 0+8"]);
}

#[test]
fn a_write_to_the_medium_does_not_meet_a_flush_of_older_data() {
    let ms = |ms, command| (Time::from_ms(ms), command);
    let commands = vec![
        ms(0, nv(NvCacheCommand::PowerModeOn, 0, 0)),
        ms(1, command(Op::Write, 100, 8)),
        ms(10, nv(NvCacheCommand::PowerModeOff, 0, 0)),
        ms(20, nv(NvCacheCommand::FlushUnpinned, 0, 0)),
        ms(22, command(Op::Write, 102, 2)),
        ms(60, command(Op::Read, 100, 8)),
    ];
    let (engine, mut ended) = run_at(drive(Promise::Durable), commands, &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    ended.sort_by_key(|request| request.sequence);
    // 20 + 1 + 10, and then 10 of its own.
    assert_eq!(ended[4].completion, Time::from_ms(41));
    assert_eq!(
        asked(&engine, 0),
        ["write 100+8", "write 102+2", "read 100+8"]
    );
}

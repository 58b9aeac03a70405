//! A cache device that takes no more writes, over devices that do what a test wants: what is written back, what waits for the record, and
//! what a power cut leaves before and after it.

use super::changes::ChangeTo;
use super::metadata_tests::drawn;
use super::tests::{BACK, Setup, flush, forced, read, responses, told, write};
use super::*;
use crate::engine::Injection;
use crate::engine::fakes::asked;
use crate::engine::request::{Outcome, Part};

/// Write-back whose writes wait for the table, until its cache device takes none from 100 ms on.
const WORN: Setup = Setup {
    metadata: r#"{ "on-cache": {} }"#,
    refuses: Some((100, 1)),
    ..BACK
};

#[test]
fn dirty_blocks_are_written_back_before_what_the_table_names_is_written_elsewhere() {
    let commands = [
        (0, write(0, 8)),
        (10, write(24, 4)),
        // It fails; the table names its line, and the one at 24.
        (100, write(0, 4)),
        (103, write(24, 8)),
        (104, write(32, 8)),
        (200, read(24, 8)),
        (210, flush()),
    ];
    let (engine, ended) = WORN.run_at(&commands, &[]);
    assert!(
        ended
            .iter()
            .all(|request| request.outcome == Some(Outcome::Ok))
    );
    // It fails at 101; its blocks are on the backing device at 111. The others of its line are read by 112 and there at 122, blocks 24 at
    // 133: then the record is made, and the write of blocks 24 begins. A line that the table does not name waits for nothing.
    let times: Vec<(u64, u64)> = ended
        .iter()
        .map(|request| (request.sequence, request.response().ns() / 1_000_000))
        .collect();
    let expected = [
        (0, 2),
        (1, 2),
        (4, 10),
        (2, 133 - 100),
        (3, 143 - 103),
        (5, 10),
        (6, 10),
    ];
    assert_eq!(times, expected);
    assert_eq!(ended[3].parts.get(Part::Wait), Time::from_ms(22));
    let expected = [
        "write 0+4",
        "write 32+8",
        "write 4+4",
        "write 24+4",
        "write 24+8",
        "read 24+8",
        "flush 0+0",
    ];
    assert_eq!(asked(&engine, 1), expected);
    let report = told(&engine);
    assert_eq!(report["failed_cache_writes"], 1);
    assert_eq!(report["write_backs"]["retirement"], 2);
    assert_eq!(report["dirty_blocks_at_end"], 0);
    assert_eq!(report["retirement_s"], 0.032);
    assert!(!report.contains_key("lost_blocks"));
}

#[test]
fn after_the_record_lines_are_still_read_from_the_cache_device() {
    let commands = [
        (0, write(0, 8)),
        (50, read(8, 8)),
        (100, read(16, 8)),
        (200, read(0, 8)),
        (210, read(8, 8)),
        (220, read(16, 8)),
    ];
    let (engine, ended) = WORN.run_at(&commands, &[]);
    // The promotion of blocks 16 failed.
    assert_eq!(responses(&ended)[3..], [1, 1, 10]);
    assert_eq!(told(&engine)["write_backs"]["retirement"], 1);
    assert_eq!(told(&engine)["bypassed"]["cache_failed"], 1);
}

#[test]
fn a_flush_is_complete_once_the_record_is_made() {
    let volatile = Setup {
        promises: (Promise::AfterFlush, Promise::AfterFlush),
        ..WORN
    };
    let commands = [
        (0, write(0, 8)),
        (50, flush()),
        (60, write(0, 8)),
        // What the cache device has only in memory is not kept by it.
        (100, flush()),
        (200, write(0, 8)),
    ];
    let (engine, ended) = volatile.run_at(&commands, &[]);
    let outcomes: Vec<bool> = ended
        .iter()
        .map(|request| request.outcome == Some(Outcome::Ok))
        .collect();
    assert_eq!(outcomes, [true; 5]);
    // The commit cannot be made any more: read, written, flushed; flushed for the record, and for the host.
    assert_eq!(told(&engine)["write_backs"]["retirement"], 1);
    assert_eq!(told(&engine)["dirty_blocks_at_end"], 0);
    let of_backing = asked(&engine, 1);
    let first = of_backing.iter().position(|asked| asked == "write 0+8");
    let first = first.expect("it is written back");
    assert_eq!(of_backing[first + 1..first + 3], ["flush 0+0", "flush 0+0"]);
}

#[test]
fn a_cut_before_the_record_finds_what_the_table_names_and_one_after_it_the_backing_device() {
    let commands = [
        (0, write(0, 8)),
        (20, write(8, 8)),
        (101, forced(write(0, 4))),
        (102, write(8, 8)),
        (160, write(0, 8)),
    ];
    for at in 95..180 {
        let cut = (Time::from_ms(at), Injection::PowerCut);
        WORN.run_at(&commands, &[cut]);
    }
}

#[test]
fn a_retirement_stops_where_a_device_fails() {
    for device in [0, 1] {
        for at in 100..150 {
            let commands = [
                (0, write(0, 8)),
                (20, write(8, 8)),
                (100, write(0, 8)),
                (103, write(8, 4)),
                (104, flush()),
                (200, write(0, 8)),
                (220, read(8, 8)),
            ];
            let fails = (Time::from_ms(at), Injection::Fail(DeviceId(device)));
            let (engine, ended) = WORN.run_at(&commands, &[fails]);
            assert_eq!(ended.len(), commands.len(), "device {device} at {at} ms");
            assert!(!engine.devices()[2].report(engine.now()).is_empty());
        }
    }
}

#[test]
fn a_cache_that_takes_no_writes_takes_none_after_it_was_removed_and_attached_again() {
    let setup = Setup {
        refuses: Some((100, 2)),
        ..WORN
    };
    let commands = [
        (0, write(0, 8)),
        (100, write(8, 8)),
        (101, write(16, 8)),
        (300, write(0, 8)),
        (320, read(0, 8)),
    ];
    let changes = [(150, ChangeTo::Removed), (200, ChangeTo::Attached)];
    let (engine, ended) = setup.run_with(&commands, changes.into());
    assert!(
        ended
            .iter()
            .all(|request| request.outcome == Some(Outcome::Ok))
    );
    let cache = asked(&engine, 0);
    assert!(
        !cache.iter().skip(6).any(|asked| asked.starts_with("write")),
        "{cache:?}"
    );
}

#[test]
fn cuts_of_drawn_commands_lose_nothing_though_the_cache_device_takes_no_more_writes() {
    let mut chance = crate::base::random::Stream::new(8, "worn");
    let (mut cut_before, mut cut_after) = (0, 0);
    for number in 0..3000 {
        let refused = chance.below(120);
        let promises = match number % 3 {
            0 => (Promise::Durable, Promise::Durable),
            1 => (Promise::AfterFlush, Promise::AfterFlush),
            _ => (Promise::Durable, Promise::AfterFlush),
        };
        let setup = Setup {
            promises,
            lines: [1, 2, 3, 5][number / 3 % 4],
            cleaning: [r#"{ "none": {} }"#, r#"{ "aggressive": {} }"#][number / 12 % 2],
            times: [(1, 10), (6, 1), (4, 4)][number / 24 % 3],
            // All of its writes fail from then on, or every second or third one.
            refuses: Some((refused, 1 + number / 72 % 3)),
            ..WORN
        };
        let commands = drawn(&mut chance);
        let at = Time::from_ms(1 + refused + chance.below(60));
        let cut = (at, Injection::PowerCut);
        let (engine, _) = setup.run_at(&commands, &[cut]);
        let report = told(&engine);
        if report.contains_key("failed_cache_writes") {
            let is_over = report.contains_key("retirement_s");
            cut_after += u32::from(is_over);
            cut_before += u32::from(!is_over);
        }
    }
    assert!(
        cut_before > 150 && cut_after > 300,
        "{cut_before} {cut_after}"
    );
}

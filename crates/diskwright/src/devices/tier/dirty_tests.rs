//! Dirty lines over devices that do what a test wants: victims, flushes, cleaning, failures and power cuts.

use super::tests::{BACK, PLAIN, Setup, flush, forced, read, responses, told, write};
use super::write_policies::WritePolicySpec;
use super::*;
use crate::engine::Injection;
use crate::engine::fakes::asked;
use crate::engine::request::{Command, Outcome};

#[test]
fn a_dirty_victim_is_written_back_before_its_place_is_used() {
    // One place. A clean victim costs nothing; a write waits for a dirty one, and a read does not.
    let one = Setup { lines: 1, ..BACK };
    let (engine, ended) = one.run(&[
        write(0, 8),
        write(8, 8),
        read(16, 8),
        read(24, 8),
        read(16, 8),
    ]);
    assert_eq!(responses(&ended), [1, 1 + 10 + 1, 10, 10, 10]);
    assert_eq!(
        asked(&engine, 1),
        [
            "write 0+8",
            "read 16+8",
            "write 8+8",
            "read 24+8",
            "read 16+8"
        ]
    );
    let report = told(&engine);
    assert_eq!(
        report["write_backs"],
        serde_json::json!({ "victims": 2, "cleaning": 0, "flushes": 0, "changes": 0, "retirement": 0 })
    );
    assert_eq!(report["waited_for_place"], 1);
    assert_eq!(
        (&report["dirty_blocks_max"], &report["dirty_blocks_at_end"]),
        (&8.into(), &0.into())
    );
}

#[test]
fn the_host_waits_for_a_write_back_only_where_no_line_is_clean() {
    let two = Setup { lines: 2, ..BACK };
    // The dirty line is the least recently used one, but the clean one leaves.
    let (engine, ended) = two.run(&[write(0, 8), read(8, 8), write(16, 8), write(24, 8)]);
    assert_eq!(responses(&ended), [1, 10, 1, 12]);
    assert_eq!(asked(&engine, 1), ["read 8+8", "write 0+8"]);
}

#[test]
fn a_flush_writes_back_what_was_dirty_and_flushes_both() {
    let volatile = Setup {
        promises: (Promise::AfterFlush, Promise::AfterFlush),
        ..BACK
    };
    let (engine, ended) = volatile.run(&[write(0, 8), write(8, 4), write(32, 2), flush(), flush()]);
    // Two runs: read, write, flush each; then both devices are flushed.
    assert_eq!(responses(&ended), [1, 1, 1, 2 * 21 + 10, 10]);
    let expected = [
        "write 0+12",
        "flush 0+0",
        "write 32+2",
        "flush 0+0",
        "flush 0+0",
        "flush 0+0",
    ];
    assert_eq!(asked(&engine, 1), expected);
    assert_eq!(
        asked(&engine, 0)[3..],
        ["read 0+12", "read 16+2", "flush 0+0", "flush 0+0"]
    );
    // A device that keeps what it has acknowledged is not flushed for a write-back.
    let (engine, ended) = BACK.run(&[write(0, 8), flush()]);
    assert_eq!(responses(&ended), [1, 1 + 10 + 10]);
    assert_eq!(asked(&engine, 1), ["write 0+8", "flush 0+0"]);
    assert_eq!(BACK.devices()[2].promise(), Promise::AfterFlush);
    assert_eq!(PLAIN.devices()[2].promise(), Promise::Durable);
}

#[test]
fn idle_times_are_used_to_clean_the_oldest_first_with_what_follows() {
    let setup = Setup {
        cleaning: r#"{ "oldest": { "idle": "200 ms", "pause": "50 ms" } }"#,
        ..BACK
    };
    let commands = [
        (0, write(8, 8)),
        (1, write(24, 8)),
        (2, write(16, 4)),
        (3, write(0, 8)),
        (1000, read(500, 1)),
    ];
    let (engine, _) = setup.run_at(&commands, &[]);
    // From the oldest line to the end of its run; the line before it is a run of its own.
    assert_eq!(
        asked(&engine, 1),
        ["write 8+12", "write 24+8", "write 0+8", "read 500+1"]
    );
    assert_eq!(told(&engine)["write_backs"]["cleaning"], 3);
    assert_eq!(told(&engine)["dirty_blocks_at_end"], 0);
    // A run ends although something is dirty.
    let (engine, _) = setup.run_at(&commands[..4], &[]);
    assert_eq!(told(&engine)["dirty_blocks_at_end"], 28);
    assert_eq!(told(&engine)["dirty_blocks_max"], 28);
}

#[test]
fn marks_are_kept_beside_the_host() {
    let setup = Setup {
        cleaning: r#"{ "oldest": { "high": "50 %", "low": "25 %" } }"#,
        ..BACK
    };
    let writes = [0, 16, 32].map(|lbn| (lbn, write(lbn, 8)));
    let (engine, _) = setup.run_at(&[&writes[..], &[(100, read(500, 1))]].concat(), &[]);
    assert_eq!(asked(&engine, 1), ["write 0+8", "write 16+8", "read 500+1"]);
    assert_eq!(told(&engine)["dirty_blocks_at_end"], 8);
    let eager = Setup {
        cleaning: r#"{ "aggressive": { "merge": "8 blocks" } }"#,
        ..BACK
    };
    let commands = [(0, write(16, 8)), (0, write(0, 16)), (100, read(500, 1))];
    let (engine, _) = eager.run_at(&commands, &[]);
    assert_eq!(
        asked(&engine, 1),
        ["write 0+8", "write 8+8", "write 16+8", "read 500+1"]
    );
}

#[test]
fn a_write_waits_for_a_write_back_of_its_line_and_a_read_does_not() {
    let setup = Setup {
        cleaning: r#"{ "aggressive": {} }"#,
        ..BACK
    };
    let (_, ended) = setup.run_at(
        &[
            (0, write(0, 8)),
            (3, read(0, 8)),
            (4, write(0, 8)),
            (50, read(500, 1)),
        ],
        &[],
    );
    // It is read from 1 ms on, and written until 12 ms.
    assert_eq!(responses(&ended), [1, 1, 12 - 4 + 1, 10]);
}

#[test]
fn a_tier_without_its_cache_device_goes_on() {
    let commands: Vec<(u64, Command)> = vec![
        (0, write(0, 8)),
        (20, read(8, 8)),
        (100, read(0, 8)),
        (100, write(16, 8)),
        (200, read(0, 8)),
        (220, write(0, 8)),
        (300, read(0, 8)),
        (400, read(8, 8)),
        (500, flush()),
    ];
    let dies = [(Time::from_us(100_500), Injection::Fail(DeviceId(0)))];
    let (engine, ended) = PLAIN.run_at(&commands, &dies);
    for request in &ended {
        assert_eq!(request.outcome, Some(Outcome::Ok), "{:?}", request.command);
    }
    assert!(!told(&engine).contains_key("lost_blocks"));
    assert_eq!(told(&engine)["repeated_reads"], 1);
    // Write-back loses what is dirty, and says so until it is written again.
    let (engine, ended) = BACK.run_at(&commands, &dies);
    let failed: Vec<u64> = ended
        .iter()
        .filter(|request| request.outcome != Some(Outcome::Ok))
        .map(|request| request.sequence)
        .collect();
    assert_eq!(failed, [2, 4]);
    assert_eq!(told(&engine)["lost_blocks"], 8);
    assert!(!told(&engine).contains_key("lost_blocks_at_end"));
}

#[test]
fn after_a_power_cut_the_backing_device_has_what_was_promised() {
    for write_policy in WritePolicySpec::NAMES {
        let setup = Setup {
            write_policy,
            ..PLAIN
        };
        for at in 0..60 {
            let commands = [
                (0, write(0, 8)),
                (11, forced(write(4, 8))),
                (22, flush()),
                (23, write(0, 8)),
                (40, read(0, 8)),
            ];
            let cut = (Time::from_ms(at), Injection::PowerCut);
            setup.run_at(&commands, &[cut]);
        }
    }
}

/// What leaves its place is in memory alone once the cache device has failed: it is lost unless its write ends before the power is cut.
#[test]
fn a_victim_on_its_way_is_lost_with_the_cache_device_and_the_power() {
    let commands = [(0, write(0, 8)), (20, write(8, 8)), (60, read(500, 1))];
    for metadata in [r#"{ "none": {} }"#, r#"{ "on-cache": {} }"#] {
        let setup = Setup {
            lines: 1,
            metadata,
            ..BACK
        };
        for fails in 15..35 {
            for cut in fails + 1..fails + 15 {
                let faults = [
                    (Time::from_ms(fails), Injection::Fail(DeviceId(0))),
                    (Time::from_ms(cut), Injection::PowerCut),
                ];
                setup.run_at(&commands, &faults);
            }
        }
    }
}

#[test]
fn a_read_that_fails_gives_its_place_back_once_the_victim_has_left() {
    let one = Setup { lines: 1, ..BACK };
    let bad = Injection::MediaError {
        device: DeviceId(1),
        blocks: 10..11,
    };
    // The read drives the dirty line out and fails before that is written back; the place is used again.
    let commands = [
        (0, write(0, 8)),
        (5, read(8, 8)),
        (100, read(16, 8)),
        (200, read(16, 8)),
        (300, read(0, 8)),
    ];
    let (engine, ended) = one.run_at(&commands, &[(Time::ZERO, bad)]);
    let outcomes: Vec<Option<Outcome>> = ended.iter().map(|request| request.outcome).collect();
    let (ok, failed) = (Some(Outcome::Ok), Some(Outcome::MediaError));
    assert_eq!(outcomes, [ok, failed, ok, ok, ok]);
    assert_eq!(responses(&ended), [1, 10, 10, 1, 10]);
    assert_eq!(
        asked(&engine, 1),
        ["read 8+8", "write 0+8", "read 16+8", "read 0+8"]
    );
}

#[test]
fn a_cache_device_that_cannot_read_clean_blocks_is_made_up_for() {
    let bad = |device, blocks| Injection::MediaError {
        device: DeviceId(device),
        blocks,
    };
    let commands = [
        (0, read(0, 8)),
        (100, read(0, 4)),
        (200, read(0, 8)),
        (300, write(8, 8)),
        (400, read(8, 8)),
        (500, flush()),
        (600, read(8, 8)),
    ];
    let faults = [
        (Time::from_ms(50), bad(0, 2..3)),
        (Time::from_ms(350), bad(0, 12..13)),
    ];
    let (engine, ended) = BACK.run_at(&commands, &faults);
    let outcomes: Vec<bool> = ended
        .iter()
        .map(|request| request.outcome == Some(Outcome::Ok))
        .collect();
    // Dirty blocks are lost once they are to be written back: the flush says so.
    assert_eq!(outcomes, [true, true, true, true, false, false, false]);
    assert_eq!(responses(&ended)[..3], [10, 1 + 10, 10]);
    assert_eq!(told(&engine)["repeated_reads"], 1);
    assert_eq!(told(&engine)["lost_blocks"], 8);
}

#[test]
fn a_flush_waits_for_what_leaves_its_place_while_it_writes_back() {
    let two = Setup { lines: 2, ..BACK };
    // The flush writes back the line at 0 from 20 ms on. The one at 24 leaves at 22 ms, and is on the backing device at 33.
    let commands = [
        (0, write(0, 8)),
        (10, write(24, 8)),
        (20, flush()),
        (22, write(16, 8)),
    ];
    let (engine, ended) = two.run_at(&commands, &[]);
    assert_eq!(asked(&engine, 1), ["write 0+8", "write 24+8", "flush 0+0"]);
    assert_eq!(told(&engine)["write_backs"]["victims"], 1);
    assert_eq!(responses(&ended), [1, 1, 12, 33 + 10 - 20]);
    for at in 20..80 {
        two.run_at(&commands, &[(Time::from_ms(at), Injection::PowerCut)]);
    }
}

#[test]
fn a_flush_fails_where_a_write_back_fails() {
    let setup = Setup {
        backing_refuses: Some((10, 1)),
        ..BACK
    };
    let (_, ended) = setup.run_at(&[(0, write(0, 8)), (20, flush()), (100, read(0, 8))], &[]);
    let outcomes: Vec<Option<Outcome>> = ended.iter().map(|request| request.outcome).collect();
    // What is dirty is still there.
    let (ok, failed) = (Some(Outcome::Ok), Some(Outcome::MediaError));
    assert_eq!(outcomes, [ok, failed, ok]);
}

//! The table of dirty blocks over devices that do what a test wants: what waits for it, in which order it is written, what a cut leaves.

use super::tests::{BACK, Setup, flush, forced, read, responses, told, write};
use super::*;
use crate::engine::Injection;
use crate::engine::fakes::{asked, command};
use crate::engine::request::{Command, Outcome};

/// Write-back whose writes wait for the table: behind four places of 8 blocks, a superblock at 32 and the table at 40.
const KEPT: Setup = Setup {
    metadata: r#"{ "on-cache": {} }"#,
    ..BACK
};

/// The same over devices that promise only what they have flushed: writes do not wait.
const VOLATILE: Setup = Setup {
    promises: (Promise::AfterFlush, Promise::AfterFlush),
    ..KEPT
};

#[test]
fn a_write_waits_until_the_table_names_what_it_makes_dirty() {
    let commands = [write(0, 8), write(2, 4), flush(), read(0, 8)];
    let (engine, ended) = KEPT.run(&commands);
    // The second write changes nothing in the table; the flush writes nothing back.
    assert_eq!(responses(&ended), [1 + 1, 1, 10, 1]);
    let expected = [
        "write 0+8",
        "write 40+8",
        "write 2+4",
        "flush 0+0",
        "read 0+8",
    ];
    assert_eq!(asked(&engine, 0), expected);
    assert_eq!(asked(&engine, 1), ["flush 0+0"]);
    assert_eq!(
        ended[0].parts.get(crate::engine::request::Part::Wait),
        Time::from_ms(1)
    );
    let report = told(&engine);
    assert_eq!(report["metadata_commits"], 1);
    assert_eq!(report["waited_for_metadata"], 1);
    assert_eq!(report["dirty_blocks_at_end"], 8);
}

#[test]
fn writes_share_a_commit() {
    // The first begins a commit alone; what ends while it is under way has the next one together.
    let slow = Setup {
        times: (10, 10),
        ..KEPT
    };
    let commands = [(0, write(0, 8)), (1, write(8, 8)), (2, write(16, 8))];
    let (engine, ended) = slow.run_at(&commands, &[]);
    assert_eq!(responses(&ended), [20, 29, 28]);
    assert_eq!(told(&engine)["metadata_commits"], 2);
    assert_eq!(told(&engine)["metadata_writes"], 2);
}

#[test]
fn a_volatile_cache_device_is_flushed_before_the_table_names_its_data() {
    let (engine, ended) = VOLATILE.run(&[write(0, 8), forced(write(8, 8)), flush()]);
    // FUA goes to the cache device; its commit flushes and writes, at 1 ms each. The first write's is due a second after it.
    assert_eq!(responses(&ended)[0], 1);
    let cache = asked(&engine, 0);
    let commit = ["flush 0+0", "write 40+8 fua"];
    assert_eq!(cache[0], "write 0+8");
    assert!(cache.contains(&"write 8+8 fua".to_owned()), "{cache:?}");
    for (at, _) in cache
        .iter()
        .enumerate()
        .filter(|(_, asked)| asked.starts_with("write 40"))
    {
        assert_eq!(cache[at - 1..=at], commit);
    }
    assert_eq!(asked(&engine, 1), ["flush 0+0"]);
    assert_eq!(VOLATILE.devices()[2].promise(), Promise::AfterFlush);
    assert_eq!(KEPT.devices()[2].promise(), Promise::Durable);
}

#[test]
fn a_change_that_nothing_waits_for_is_written_after_the_interval() {
    let soon = Setup {
        metadata: r#"{ "on-cache": { "commit": "flushes", "interval": "30 ms" } }"#,
        ..KEPT
    };
    let (engine, ended) = soon.run_at(
        &[(0, write(0, 8)), (20, write(8, 8)), (100, read(0, 8))],
        &[],
    );
    assert_eq!(responses(&ended), [1, 1, 1]);
    // From the end of the first write on, both changes in one.
    let expected = ["write 0+8", "write 8+8", "write 40+8", "read 0+8"];
    assert_eq!(asked(&engine, 0), expected);
    assert_eq!(soon.devices()[2].promise(), Promise::AfterFlush);
}

#[test]
fn a_place_is_used_again_once_the_table_does_not_name_it() {
    let one = Setup { lines: 1, ..KEPT };
    let (engine, ended) = one.run(&[write(0, 8), write(8, 8)]);
    // Read, written back, struck out, written, named.
    assert_eq!(responses(&ended), [2, 1 + 10 + 1 + 1 + 1]);
    let expected = [
        "write 0+8",
        "write 16+8",
        "read 0+8",
        "write 16+8",
        "write 0+8",
        "write 16+8",
    ];
    assert_eq!(asked(&engine, 0), expected);
    assert_eq!(asked(&engine, 1), ["write 0+8"]);
}

#[test]
fn a_clean_line_that_the_table_may_name_is_struck_out_before_its_place_is_used() {
    let one = Setup {
        lines: 1,
        cleaning: r#"{ "aggressive": {} }"#,
        ..KEPT
    };
    // Cleaned at 13 ms: the table says so only once the place is needed.
    let commands = [
        (0, write(0, 8)),
        (50, read(8, 8)),
        (50, write(0, 4)),
        (200, read(8, 8)),
    ];
    let (engine, ended) = one.run_at(&commands, &[]);
    // The write finds the table struck out and no place free.
    assert_eq!(responses(&ended)[2..], [1 + 10, 1]);
    let cache = asked(&engine, 0);
    assert_eq!(
        cache[..5],
        [
            "write 0+8",
            "write 16+8",
            "read 0+8",
            "write 16+8",
            "write 0+8"
        ]
    );
}

#[test]
fn a_line_that_a_trim_empties_is_free_once_the_table_does_not_name_it() {
    let commands = [
        (0, write(0, 8)),
        (10, command(Op::Trim, 0, 8)),
        (10, write(0, 8)),
    ];
    let (engine, ended) = KEPT.run_at(&commands, &[]);
    // The write waits for the trim's change of the table, which takes 1 ms.
    let of_writes = ended
        .iter()
        .filter(|request| request.command.op == Op::Write);
    let of_writes: Vec<u64> = of_writes
        .map(|request| request.response().ns() / 1_000_000)
        .collect();
    assert_eq!(of_writes, [2, 1 + 2]);
    assert_eq!(told(&engine)["trimmed_dirty_blocks"], 8);
}

#[test]
fn after_a_power_cut_recovery_finds_what_was_promised() {
    for setup in [KEPT, VOLATILE] {
        for lines in [1, 4] {
            for at in 0..90 {
                let setup = Setup {
                    lines,
                    cleaning: r#"{ "aggressive": {} }"#,
                    ..setup.clone()
                };
                let commands = [
                    (0, write(0, 8)),
                    (3, forced(write(4, 8))),
                    (22, flush()),
                    (30, write(0, 8)),
                    (31, write(16, 8)),
                    (41, command(Op::Trim, 0, 16)),
                    (42, write(8, 4)),
                    (60, read(32, 8)),
                    (61, forced(write(0, 2))),
                ];
                let cut = (Time::from_ms(at), Injection::PowerCut);
                setup.run_at(&commands, &[cut]);
            }
        }
    }
}

#[test]
fn a_tier_whose_cache_device_fails_during_a_commit_goes_on() {
    let fails = Injection::Fail(DeviceId(0));
    let slow = Setup {
        times: (10, 10),
        ..KEPT
    };
    let commands = [
        (0, write(0, 8)),
        (30, read(0, 8)),
        (60, write(0, 8)),
        (80, read(0, 8)),
        (100, flush()),
    ];
    let (engine, ended) = slow.run_at(&commands, &[(Time::from_ms(15), fails)]);
    let outcomes: Vec<bool> = ended
        .iter()
        .map(|request| request.outcome == Some(Outcome::Ok))
        .collect();
    // The write had not been acknowledged; what it would have written is lost, until the block is written again.
    assert_eq!(outcomes, [false, false, true, true, true]);
    assert_eq!(told(&engine)["metadata_commits"], 1);
}

/// Commands on five lines, some milliseconds apart.
pub(super) fn drawn(chance: &mut crate::base::random::Stream) -> Vec<(u64, Command)> {
    let mut at = 0;
    let commands = (0..14).map(|_| {
        at += chance.below(12);
        let (lbn, blocks) = (chance.below(36), 1 + chance.below(8) as u32);
        let (lbn, blocks) = match chance.below(3) {
            0 => (lbn, blocks),
            _ => (lbn / 8 * 8, 8),
        };
        let command = match chance.below(16) {
            0..=1 => flush(),
            2 => command(Op::Trim, lbn, blocks),
            3..=6 => read(lbn, blocks),
            7..=8 => forced(write(lbn, blocks)),
            _ => write(lbn, blocks),
        };
        (at, command)
    });
    commands.collect()
}

#[test]
fn cuts_of_drawn_commands_lose_nothing_that_was_promised() {
    let mut chance = crate::base::random::Stream::new(7, "cuts");
    for number in 0..2000 {
        let of = if number % 2 == 0 { KEPT } else { VOLATILE };
        let cleaning = [r#"{ "none": {} }"#, r#"{ "aggressive": {} }"#][number / 2 % 2];
        let setup = Setup {
            lines: [1, 2, 3][number / 4 % 3],
            cleaning,
            // A commit takes longer than the flush of either device, or less.
            times: [(1, 10), (6, 1)][number / 12 % 2],
            ..of
        };
        let commands = drawn(&mut chance);
        let cut = (Time::from_ms(1 + chance.below(140)), Injection::PowerCut);
        setup.run_at(&commands, &[cut]);
    }
}

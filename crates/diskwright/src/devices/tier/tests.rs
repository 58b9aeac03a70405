//! A tier over devices that do what a test wants.

use super::admission::AdmissionSpec;
use super::cleaning::CleaningSpec;
use super::streams::BypassSpec;
use super::write_policies::WritePolicySpec;
use super::*;
use crate::base::random::Stream;
use crate::engine::fakes::{Fake, asked, command, faults, run, run_at};
use crate::engine::request::{Command, Outcome, Part, Request};
use crate::engine::{Engine, Injection};
use crate::models::cache::replacement::{ReplacementSpec, Setting};

/// What a test says of a tier; the rest is as in a spec that says nothing.
#[derive(Clone)]
struct Setup {
    lines: u32,
    line: u32,
    write_policy: &'static str,
    admission: &'static str,
    cleaning: &'static str,
    bypass: Option<&'static str>,
    waits: bool,
    /// Milliseconds of a request of the cache device and of the backing device.
    times: (u64, u64),
    promises: (Promise, Promise),
}

const PLAIN: Setup = Setup {
    lines: 4,
    line: 8,
    write_policy: "write-through",
    admission: r#"{ "always": {} }"#,
    cleaning: r#"{ "none": {} }"#,
    bypass: None,
    waits: false,
    times: (1, 10),
    promises: (Promise::Durable, Promise::Durable),
};

const BACK: Setup = Setup {
    write_policy: "write-back",
    ..PLAIN
};

impl Setup {
    /// The cache device, the backing device and the tier.
    fn devices(&self) -> Vec<Box<dyn Device>> {
        let cache = u64::from(self.lines * self.line);
        let mut fakes = [
            Fake::new(cache, self.times.0),
            Fake::new(1000, self.times.1),
        ];
        (fakes[0].promise, fakes[1].promise) = self.promises;
        let setting = Setting {
            capacity: self.lines,
            chance: Stream::new(0, "test"),
        };
        let map = BlockCache::new(
            self.lines,
            self.line,
            ReplacementSpec::default().build(&setting),
        );
        let rules = serde_json::json!({ self.write_policy: {} });
        let rules: WritePolicySpec = serde_json::from_value(rules).expect("a write policy");
        let admission: AdmissionSpec =
            serde_json::from_str(self.admission).expect("an admission policy");
        let cleaning: CleaningSpec =
            serde_json::from_str(self.cleaning).expect("a cleaning policy");
        let bypass = self.bypass.map(|text| {
            let bypass: BypassSpec = serde_json::from_str(text).expect("a bypass");
            bypass
                .build()
                .map_err(|(_, error)| error)
                .expect("it is sound")
        });
        let parts = TierParts {
            rules: rules.build(),
            waits_for_promotion: self.waits,
            admission: admission.build(self.lines).expect("it is sound"),
            streams: bypass,
            cleaning: cleaning.build(cache).expect("it is sound"),
        };
        let child = |device: u32, fake: &Fake| Child {
            device: DeviceId(device),
            blocks: fake.blocks,
            promise: fake.promise,
        };
        let (cache, backing) = (child(0, &fakes[0]), child(1, &fakes[1]));
        let tier = Tier::new(cache, backing, map, parts);
        let mut devices: Vec<Box<dyn Device>> = Vec::new();
        for fake in fakes {
            devices.push(Box::new(fake));
        }
        devices.push(Box::new(tier));
        devices
    }

    /// Runs commands that arrive at these milliseconds.
    fn run_at(
        &self,
        commands: &[(u64, Command)],
        injections: &[(Time, Injection)],
    ) -> (Engine, Vec<Request>) {
        let at = |&(ms, command): &(u64, Command)| (Time::from_ms(ms), command);
        let (engine, ended) = run_at(
            self.devices(),
            commands.iter().map(at).collect(),
            injections,
        );
        assert_eq!(faults(&engine), &[] as &[String]);
        (engine, ended)
    }

    /// Runs commands a second apart.
    fn run(&self, commands: &[Command]) -> (Engine, Vec<Request>) {
        let (engine, ended) = run(self.devices(), commands, &[]);
        assert_eq!(faults(&engine), &[] as &[String]);
        (engine, ended)
    }
}

fn read(lbn: u64, blocks: u32) -> Command {
    command(Op::Read, lbn, blocks)
}

fn write(lbn: u64, blocks: u32) -> Command {
    command(Op::Write, lbn, blocks)
}

fn flush() -> Command {
    command(Op::Flush, 0, 0)
}

fn fua(of: Command) -> Command {
    Command { fua: true, ..of }
}

/// Response times in milliseconds, in the order of completion.
fn responses(ended: &[Request]) -> Vec<u64> {
    ended
        .iter()
        .map(|request| request.response().ns() / 1_000_000)
        .collect()
}

fn told(engine: &Engine) -> Map<String, Value> {
    engine.devices()[2].report(engine.now())
}

/// What both devices were asked.
fn both(engine: &Engine) -> [Vec<String>; 2] {
    [0, 1].map(|device| asked(engine, device))
}

#[test]
fn a_miss_ends_with_the_backing_device_and_is_promoted_behind() {
    let commands = [read(8, 4), read(8, 4), read(8, 8), read(9, 2)];
    let (engine, ended) = PLAIN.run(&commands);
    assert_eq!(responses(&ended), [10, 1, 10, 1]);
    let cache = ["write 0+4", "read 0+4", "read 0+4", "write 4+4", "read 1+2"];
    assert_eq!(
        both(&engine),
        [
            cache.map(str::to_owned).to_vec(),
            vec!["read 8+4".into(), "read 12+4".into()]
        ]
    );
    let report = told(&engine);
    assert_eq!(
        (&report["read_hits"], &report["partial_read_hits"]),
        (&2.into(), &1.into())
    );
    assert_eq!(
        (&report["read_hit_blocks"], &report["read_blocks"]),
        (&10.into(), &18.into())
    );
    assert_eq!(
        (&report["promotions"], &report["promoted_blocks"]),
        (&2.into(), &8.into())
    );
    let waited = Setup {
        waits: true,
        ..PLAIN
    };
    let (_, ended) = waited.run(&commands);
    assert_eq!(responses(&ended), [11, 1, 11, 1]);
    assert_eq!(ended[0].parts.get(Part::Seek), Time::from_ms(11));
}

#[test]
fn each_write_policy_takes_its_time_and_leaves_what_it_says() {
    // A write, a read of it, a write again, a read again.
    let commands = [write(0, 4), read(0, 4), write(0, 4), read(0, 4)];
    for (write_policy, times, cache, backing) in [
        ("write-through", [10, 1, 10, 1], "wrwr", "ww"),
        ("write-back", [1, 1, 1, 1], "wrwr", ""),
        ("write-around", [10, 10, 10, 1], "wwr", "wrw"),
        ("read-only", [10, 10, 10, 10], "ww", "wrwr"),
        ("pass-through", [10, 10, 10, 10], "", "wrwr"),
    ] {
        let setup = Setup {
            write_policy,
            ..PLAIN
        };
        let (engine, ended) = setup.run(&commands);
        assert_eq!(responses(&ended), times, "{write_policy}");
        let kinds = |device| -> String {
            asked(&engine, device)
                .iter()
                .map(|text| &text[..1])
                .collect()
        };
        assert_eq!(
            (kinds(0).as_str(), kinds(1).as_str()),
            (cache, backing),
            "{write_policy}"
        );
        let slow_cache = Setup {
            times: (30, 10),
            ..setup
        };
        let (_, ended) = slow_cache.run(&commands[..1]);
        let through = if write_policy.ends_with("through") && write_policy.starts_with("write") {
            30
        } else {
            10
        };
        let expected = if write_policy == "write-back" {
            30
        } else {
            through
        };
        assert_eq!(responses(&ended), [expected], "{write_policy}");
    }
}

#[test]
fn a_partial_write_keeps_the_other_blocks() {
    let commands = [
        read(0, 8),
        write(2, 2),
        read(0, 8),
        write(12, 2),
        read(8, 8),
    ];
    let (engine, ended) = BACK.run(&commands);
    assert_eq!(responses(&ended), [10, 1, 1, 1, 10]);
    // Of the second line the blocks before and behind the dirty ones come in one run, which is read over.
    assert_eq!(asked(&engine, 1), ["read 0+8", "read 8+8"]);
    assert_eq!(
        asked(&engine, 0)[4..],
        ["read 12+2", "write 8+4", "write 14+2"]
    );
    assert_eq!(told(&engine)["dirty_blocks_at_end"], 4);
}

#[test]
fn two_misses_on_a_line_share_a_fetch() {
    // The third wants a block that was not fetched: it waits until the line is promoted.
    let commands = [
        (0, read(0, 4)),
        (1, read(0, 4)),
        (2, read(2, 4)),
        (3, read(8, 4)),
    ];
    let (engine, ended) = PLAIN.run_at(&commands, &[]);
    let order: Vec<u64> = ended.iter().map(|request| request.sequence).collect();
    assert_eq!(order, [0, 1, 3, 2]);
    assert_eq!(responses(&ended), [10, 9, 10, 11 - 2 + 10]);
    assert_eq!(asked(&engine, 1), ["read 0+4", "read 8+4", "read 4+2"]);
    assert_eq!(told(&engine)["blocks_from_memory"], 4);
    assert_eq!(told(&engine)["conflicts"], 2);
}

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
        serde_json::json!({ "victims": 2, "cleaning": 0, "flushes": 0 })
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
fn a_forced_write_goes_to_both_devices() {
    let (engine, ended) = BACK.run(&[write(0, 8), fua(write(0, 4)), read(0, 8)]);
    assert_eq!(responses(&ended), [1, 10, 1]);
    assert_eq!(asked(&engine, 1), ["write 0+4 fua"]);
    assert_eq!(told(&engine)["dirty_blocks_at_end"], 4);
    assert_eq!(told(&engine)["absorbed_writes"], 1);
}

#[test]
fn a_trim_goes_through_and_takes_dirty_blocks_with_it() {
    let (engine, ended) = BACK.run(&[write(0, 8), command(Op::Trim, 4, 900), read(0, 8), flush()]);
    assert_eq!(
        asked(&engine, 1),
        ["trim 4+900", "read 4+4", "write 0+4", "flush 0+0"]
    );
    assert_eq!(responses(&ended), [1, 10, 10, 21]);
    let report = told(&engine);
    assert_eq!(
        (&report["trimmed_blocks"], &report["trimmed_dirty_blocks"]),
        (&4.into(), &4.into())
    );
}

#[test]
fn a_trim_waits_for_all_that_uses_its_lines_and_others_wait_behind_it() {
    let commands = [
        (0, read(0, 8)),
        (1, command(Op::Trim, 0, 40)),
        (2, read(32, 8)),
        (3, read(64, 8)),
    ];
    let (engine, ended) = PLAIN.run_at(&commands, &[]);
    let order: Vec<u64> = ended.iter().map(|request| request.sequence).collect();
    assert_eq!(order, [0, 3, 1, 2]);
    assert_eq!(
        asked(&engine, 1),
        ["read 0+8", "read 64+8", "trim 0+40", "read 32+8"]
    );
}

#[test]
fn sequential_streams_pass_the_cache_by() {
    let setup = Setup {
        bypass: Some(r#"{ "sequential": "16 blocks" }"#),
        ..BACK
    };
    let (engine, _) = setup.run(&[
        read(0, 8),
        read(8, 8),
        read(16, 8),
        read(8, 8),
        write(24, 8),
        write(32, 16),
    ]);
    assert_eq!(told(&engine)["bypassed"]["sequential"], 3);
    assert_eq!(
        asked(&engine, 1),
        ["read 0+8", "read 8+8", "read 16+8", "write 32+16"]
    );
}

#[test]
fn a_line_is_admitted_at_its_second_miss() {
    let setup = Setup {
        admission: r#"{ "after": {} }"#,
        ..PLAIN
    };
    let (engine, ended) = setup.run(&[read(0, 8), read(0, 8), read(0, 8)]);
    assert_eq!(responses(&ended), [10, 10, 1]);
    assert_eq!(told(&engine)["bypassed"]["admission"], 1);
}

#[test]
fn reads_that_are_not_promoted_and_writes_that_get_no_place_run_together() {
    let setup = Setup {
        write_policy: "pass-through",
        line: 64,
        ..PLAIN
    };
    let commands = [
        (0, read(0, 8)),
        (0, read(8, 8)),
        (0, write(0, 8)),
        (0, write(8, 8)),
    ];
    let (engine, ended) = setup.run_at(&commands, &[]);
    assert_eq!(responses(&ended), [10; 4]);
    assert_eq!(told(&engine)["conflicts"], 0);
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
                (11, fua(write(4, 8))),
                (22, flush()),
                (23, write(0, 8)),
                (40, read(0, 8)),
            ];
            let cut = (Time::from_ms(at), Injection::PowerCut);
            setup.run_at(&commands, &[cut]);
        }
    }
}

//! A tier over devices that do what a test wants.

use super::admission::AdmissionSpec;
use super::area::Area;
use super::changes::ChangeTo;
use super::cleaning::CleaningSpec;
use super::metadata::{CommitWith, MetadataSpec};
use super::streams::BypassSpec;
use super::write_policies::WritePolicySpec;
use super::*;
use crate::base::random::Stream;
use crate::engine::fakes::{Fake, asked, command, faults, run, run_at};
use crate::engine::request::{Command, Part, Request};
use crate::engine::{Engine, Injection};
use crate::models::cache::replacement::{ReplacementSpec, Setting};

/// What a test says of a tier; the rest is as in a spec that says nothing.
#[derive(Clone)]
pub(super) struct Setup {
    pub lines: u32,
    pub line: u32,
    pub write_policy: &'static str,
    pub admission: &'static str,
    pub cleaning: &'static str,
    pub bypass: Option<&'static str>,
    pub waits: bool,
    /// How metadata is kept, as in a spec.
    pub metadata: &'static str,
    /// Milliseconds of a request of the cache device and of the backing device.
    pub times: (u64, u64),
    pub promises: (Promise, Promise),
    /// From which millisecond on the cache device takes no writes, or only some: each of which the number is no multiple.
    pub refuses: Option<(u64, usize)>,
    /// The same of the backing device.
    pub backing_refuses: Option<(u64, usize)>,
}

pub(super) const PLAIN: Setup = Setup {
    lines: 4,
    line: 8,
    write_policy: "write-through",
    admission: r#"{ "always": {} }"#,
    cleaning: r#"{ "none": {} }"#,
    bypass: None,
    waits: false,
    metadata: r#"{ "none": {} }"#,
    times: (1, 10),
    promises: (Promise::Durable, Promise::Durable),
    refuses: None,
    backing_refuses: None,
};

pub(super) const BACK: Setup = Setup {
    write_policy: "write-back",
    ..PLAIN
};

impl Setup {
    /// The cache device, the backing device and the tier.
    pub fn devices(&self) -> Vec<Box<dyn Device>> {
        self.devices_that_change(Vec::new())
    }

    fn devices_that_change(&self, changes: Vec<Change>) -> Vec<Box<dyn Device>> {
        let cache = u64::from(self.lines * self.line);
        let area = Area::behind(self.lines.into(), self.line);
        let mut fakes = [
            Fake::new(area.end(), self.times.0),
            Fake::new(1000, self.times.1),
        ];
        (fakes[0].promise, fakes[1].promise) = self.promises;
        let from = |(ms, every): (u64, usize)| (Time::from_ms(ms), every);
        fakes[0].refuses = self.refuses.map(from);
        fakes[1].refuses = self.backing_refuses.map(from);
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
            bypass.build().expect("it is sound")
        });
        let parts = TierParts {
            rules: rules.build(),
            waits_for_promotion: self.waits,
            admission: admission.build(self.lines).expect("it is sound"),
            streams: bypass,
            cleaning: cleaning.build(cache).expect("it is sound"),
            table: self.table(area),
            changes,
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

    fn table(&self, area: Area) -> Option<TableRules> {
        let metadata: MetadataSpec = serde_json::from_str(self.metadata).expect("metadata");
        let rules = metadata.build()?;
        let is_volatile = self.promises.0 != Promise::Durable;
        Some(TableRules {
            area,
            writes_wait: match rules.commit {
                Some(commit) => commit == CommitWith::Writes,
                None => !is_volatile,
            },
            is_volatile,
            interval: rules.interval,
            recovery: None,
        })
    }

    /// Runs commands that arrive at these milliseconds.
    pub fn run_at(
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

    /// Runs commands while the cache changes, both at these milliseconds.
    pub fn run_with(
        &self,
        commands: &[(u64, Command)],
        changes: Vec<(u64, ChangeTo)>,
    ) -> (Engine, Vec<Request>) {
        let changes = changes.into_iter().map(|(ms, to)| Change {
            at: Time::from_ms(ms),
            to,
        });
        let commands = commands.iter();
        let commands = commands.map(|&(ms, command)| (Time::from_ms(ms), command));
        let devices = self.devices_that_change(changes.collect());
        let (engine, ended) = run_at(devices, commands.collect(), &[]);
        assert_eq!(faults(&engine), &[] as &[String]);
        (engine, ended)
    }

    /// Runs commands a second apart.
    pub fn run(&self, commands: &[Command]) -> (Engine, Vec<Request>) {
        let (engine, ended) = run(self.devices(), commands, &[]);
        assert_eq!(faults(&engine), &[] as &[String]);
        (engine, ended)
    }
}

pub(super) fn read(lbn: u64, blocks: u32) -> Command {
    command(Op::Read, lbn, blocks)
}

pub(super) fn write(lbn: u64, blocks: u32) -> Command {
    command(Op::Write, lbn, blocks)
}

pub(super) fn flush() -> Command {
    command(Op::Flush, 0, 0)
}

pub(super) fn forced(of: Command) -> Command {
    Command { fua: true, ..of }
}

/// Response times in milliseconds, in the order of completion.
pub(super) fn responses(ended: &[Request]) -> Vec<u64> {
    ended
        .iter()
        .map(|request| request.response().ns() / 1_000_000)
        .collect()
}

pub(super) fn told(engine: &Engine) -> Map<String, Value> {
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
fn a_forced_write_goes_to_both_devices() {
    let (engine, ended) = BACK.run(&[write(0, 8), forced(write(0, 4)), read(0, 8)]);
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

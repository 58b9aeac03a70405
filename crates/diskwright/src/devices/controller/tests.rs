//! A controller over devices that do what a test wants.

use super::memory::{MemoryRules, Prefetch, Writes};
use super::*;
use crate::engine::fakes::{Fake, asked, command, faults, run, run_at};
use crate::engine::request::{Command, Outcome, Request, ServedBy};
use crate::engine::{Engine, Injection};
use crate::models::cache::BlockCache;
use crate::models::cache::replacement::{ReplacementSpec, Setting};
use crate::models::queue::SchedulerSpec;

const SETTINGS: Settings = Settings {
    queue: u32::MAX,
    message: Time::ZERO,
    is_exclusive: false,
    block: Time::ZERO,
    most: u32::MAX,
};

pub(super) const RULES: MemoryRules = MemoryRules {
    grain: 1,
    writes: Writes::Back,
    line_by_line: false,
    fetched_lines: 1 << 32,
    written_lines: 1,
    read_prefetch: Prefetch::None,
    write_prefetch: Prefetch::None,
    prefers_clean: false,
    period: None,
    idle: None,
};

/// What a controller of a test has, over two disks of 100 blocks and 10 ms.
pub(super) struct Setup {
    settings: Settings,
    scheduler: SchedulerSpec,
    outstanding: u32,
    join: Option<JoinSpec>,
    memory: Option<(u32, MemoryRules)>,
    /// Blocks that are locked together, and whether reads share them.
    lock: (u64, bool),
    cache: Option<(u64, Writes, Option<Time>)>,
    promise: Promise,
    /// What a write of a disk takes beyond the 10 ms.
    more_for_writes: Time,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            settings: SETTINGS,
            scheduler: SchedulerSpec::default(),
            outstanding: u32::MAX,
            join: None,
            memory: None,
            lock: (8, false),
            cache: None,
            promise: Promise::Durable,
            more_for_writes: Time::ZERO,
        }
    }
}

impl Setup {
    /// With a memory cache of so many lines of 8 blocks.
    pub(super) fn memory(lines: u32, rules: MemoryRules) -> Setup {
        Setup {
            memory: Some((lines, rules)),
            ..Setup::default()
        }
    }

    /// With a cache device of 100 blocks and 1 ms, of which so many are used.
    fn cache_device(size: u64, writes: Writes, idle: Option<Time>) -> Setup {
        Setup {
            cache: Some((size, writes, idle)),
            ..Setup::default()
        }
    }

    pub(super) fn devices(self) -> Vec<Box<dyn Device>> {
        let mut fakes = vec![Fake::new(100, 10), Fake::new(100, 10)];
        if self.cache.is_some() {
            fakes.push(Fake::new(100, 1));
        }
        for fake in &mut fakes {
            fake.promise = self.promise;
            fake.more_for_writes = self.more_for_writes;
        }
        let child = |device: u32| Child {
            device: DeviceId(device),
            blocks: 100,
            promise: self.promise,
        };
        let cache = match (self.memory, self.cache) {
            (Some((lines, rules)), _) => {
                let setting = Setting {
                    capacity: lines,
                    chance: crate::base::random::Stream::new(1, "test"),
                };
                let policy = ReplacementSpec::default().build(&setting);
                let memory = Memory::new(BlockCache::new(lines, 8, policy), rules);
                CacheParts::Memory(Box::new(memory), Locks::new(self.lock.0, self.lock.1))
            }
            (None, Some((size, writes, idle))) => {
                let device = CacheDevice::new(size, writes, idle, self.promise);
                CacheParts::Device(Box::new(device), (child(2), self.scheduler.build()))
            }
            (None, None) => CacheParts::None,
        };
        let controller = Controller::new(ControllerParts {
            settings: self.settings,
            devices: (0..2)
                .map(|device| (child(device), self.scheduler.build()))
                .collect(),
            outstanding: self.outstanding,
            join: self.join,
            cache,
        });
        let mut devices: Vec<Box<dyn Device>> = Vec::new();
        for fake in fakes {
            devices.push(Box::new(fake));
        }
        devices.push(Box::new(controller));
        devices
    }

    fn run(self, commands: &[Command]) -> (Engine, Vec<Request>) {
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

fn ms(of: &[Request]) -> Vec<f64> {
    of.iter().map(|request| request.response().ms()).collect()
}

#[test]
fn addresses_go_on_from_one_device_to_the_next() {
    let commands = [
        read(10, 8),
        write(96, 8),
        read(96, 8),
        command(Op::Trim, 90, 20),
    ];
    let (engine, ended) = Setup::default().run(&commands);
    assert_eq!(
        asked(&engine, 0),
        ["read 10+8", "write 96+4", "read 96+4", "trim 90+10"]
    );
    assert_eq!(asked(&engine, 1), ["write 0+4", "read 0+4", "trim 0+10"]);
    assert_eq!(ms(&ended), [10.0; 4]);
    assert_eq!(ended[0].parts.get(Part::Seek), Time::from_ms(10));
}

#[test]
fn messages_and_pieces_take_their_time() {
    let settings = Settings {
        message: Time::from_us(500),
        most: 8,
        ..SETTINGS
    };
    let setup = Setup {
        settings,
        ..Setup::default()
    };
    let (engine, ended) = setup.run(&[read(0, 8), read(0, 20)]);
    assert_eq!(
        asked(&engine, 0),
        ["read 0+8", "read 0+8", "read 8+8", "read 16+4"]
    );
    // To the device, from it, to the host.
    assert_eq!(ms(&ended), [11.5, 34.5]);
}

#[test]
fn one_message_at_a_time_makes_others_wait() {
    let settings = Settings {
        message: Time::from_ms(1),
        is_exclusive: true,
        ..SETTINGS
    };
    let setup = Setup {
        settings,
        ..Setup::default()
    };
    let at_once = vec![(Time::ZERO, read(0, 8)), (Time::ZERO, read(100, 8))];
    let (engine, ended) = run_at(setup.devices(), at_once, &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    // Commands arrive at 1 and 2 ms. The first answer is handled at 12 ms, acknowledged at 13 and told at 14; the second, which came at 12, is
    // handled after that, at 15, and acknowledged and told.
    assert_eq!(ended[0].completion, Time::from_ms(14));
    assert_eq!(ended[1].completion, Time::from_ms(17));
}

#[test]
fn a_queue_of_a_device_has_a_scheduler_a_limit_and_joins() {
    let join = JoinSpec {
        reads: true,
        writes: false,
        most: crate::base::units::Size::from_blocks(16),
    };
    let setup = Setup {
        scheduler: serde_json::from_str("{\"c-look\":{}}").expect("a scheduler"),
        outstanding: 1,
        join: Some(join),
        ..Setup::default()
    };
    let all = [
        read(50, 4),
        read(80, 4),
        read(64, 8),
        read(56, 8),
        write(20, 4),
        write(24, 4),
        read(72, 8),
    ];
    let at_once = all.map(|command| (Time::ZERO, command)).to_vec();
    let (engine, ended) = run_at(setup.devices(), at_once, &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    assert_eq!(
        asked(&engine, 0),
        [
            "read 50+4",
            "read 56+16",
            "read 72+12",
            "write 20+4",
            "write 24+4"
        ]
    );
    assert_eq!(ms(&ended), [10.0, 20.0, 20.0, 30.0, 30.0, 40.0, 50.0]);
    assert_eq!(ended.iter().filter(|one| one.shares_access).count(), 2);
}

#[test]
fn requests_above_the_limit_wait_outside() {
    let setup = Setup {
        settings: Settings {
            queue: 1,
            ..SETTINGS
        },
        ..Setup::default()
    };
    let at_once = vec![(Time::ZERO, read(0, 8)), (Time::ZERO, read(100, 8))];
    let (_, ended) = run_at(setup.devices(), at_once, &[]);
    assert_eq!(ms(&ended), [10.0, 20.0]);
    assert_eq!(ended[1].acceptance, Time::from_ms(10));
}

#[test]
fn a_memory_cache_serves_what_it_has_and_fetches_what_is_missing() {
    let commands = [write(4, 8), read(4, 8), read(0, 16), read(0, 16)];
    let (engine, ended) = Setup::memory(4, RULES).run(&commands);
    assert_eq!(asked(&engine, 0), ["read 0+4", "read 12+4"]);
    assert_eq!(ms(&ended), [0.0, 0.0, 10.0, 0.0]);
    assert_eq!(ended[1].served_by, ServedBy::Buffer);
    assert_eq!(ended[2].served_by, ServedBy::Medium);
}

#[test]
fn lines_are_fetched_together_or_one_by_one() {
    let one_by_one = MemoryRules {
        line_by_line: true,
        ..RULES
    };
    let two = MemoryRules {
        fetched_lines: 2,
        ..RULES
    };
    for (rules, expected, time) in [
        (RULES, vec!["read 4+24"], 10.0),
        (two, vec!["read 4+12", "read 16+12"], 10.0),
        (
            one_by_one,
            vec!["read 4+4", "read 8+8", "read 16+8", "read 24+4"],
            40.0,
        ),
    ] {
        let (engine, ended) = Setup::memory(8, rules).run(&[read(4, 24)]);
        assert_eq!(asked(&engine, 0), expected);
        assert_eq!(ms(&ended), [time]);
    }
}

#[test]
fn prefetches_reach_to_the_ends_of_a_line() {
    for (prefetch, expected) in [
        (Prefetch::None, "read 3+2"),
        (Prefetch::Front, "read 0+5"),
        (Prefetch::Rest, "read 3+5"),
        (Prefetch::Line, "read 0+8"),
    ] {
        let rules = MemoryRules {
            read_prefetch: prefetch,
            ..RULES
        };
        let (engine, _) = Setup::memory(4, rules).run(&[read(3, 2), read(3, 2)]);
        assert_eq!(asked(&engine, 0), [expected]);
        let rules = MemoryRules {
            write_prefetch: prefetch,
            ..RULES
        };
        let (engine, _) = Setup::memory(4, rules).run(&[write(3, 2)]);
        let beside: &[&str] = match prefetch {
            Prefetch::None => &[],
            Prefetch::Front => &["read 0+3"],
            Prefetch::Rest => &["read 5+3"],
            Prefetch::Line => &["read 0+3", "read 5+3"],
        };
        assert_eq!(asked(&engine, 0), beside);
    }
}

#[test]
fn what_is_fetched_does_not_replace_what_was_written_meanwhile() {
    let rules = MemoryRules {
        write_prefetch: Prefetch::Line,
        ..RULES
    };
    let setup = Setup {
        lock: (1, false),
        ..Setup::memory(4, rules)
    };
    let at = |ms, command| (Time::from_ms(ms), command);
    let commands = vec![
        at(0, write(0, 4)),
        at(1, write(4, 4)),
        at(15, read(0, 8)),
        at(25, flush()),
    ];
    let (engine, ended) = run_at(setup.devices(), commands, &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    // Each write fetches the blocks of the other. The first has its data in the cache when the fetch of the second ends.
    let ends: Vec<Time> = ended.iter().map(|request| request.completion).collect();
    assert_eq!(ends, [10, 11, 15, 45].map(Time::from_ms));
}

#[test]
fn a_line_that_another_request_brings_stays_for_a_read_of_it() {
    let rules = MemoryRules {
        grain: 2,
        line_by_line: true,
        ..RULES
    };
    let setup = Setup {
        lock: (1, false),
        more_for_writes: Time::from_ms(20),
        ..Setup::memory(4, rules)
    };
    let at = |ms, command| (Time::from_ms(ms), command);
    let commands = vec![
        at(0, read(0, 17)),
        at(1, write(17, 1)),
        at(2, read(80, 1)),
        at(13, read(88, 1)),
        at(45, read(16, 1)),
    ];
    let (engine, ended) = run_at(setup.devices(), commands, &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    // The line of block 16 comes with the write of block 17, and is the oldest but one when the last place is given away: the first read has
    // the block locked, and finds it there.
    assert_eq!(
        asked(&engine, 0),
        [
            "read 0+8",
            "read 16+1",
            "read 80+2",
            "read 8+8",
            "read 88+2"
        ]
    );
    let ends: Vec<Time> = ended.iter().map(|request| request.completion).collect();
    assert_eq!(ends, [11, 12, 20, 23, 45].map(Time::from_ms));
}

#[test]
fn a_line_of_a_granted_run_is_no_victim() {
    let setup = Setup {
        settings: Settings {
            block: Time::from_ms(1),
            ..SETTINGS
        },
        ..Setup::memory(2, RULES)
    };
    // Both reads get their runs when the write ends. The first one needs a second line before the other one goes on.
    let commands = [write(4, 8), read(8, 16), read(0, 8)].map(|command| (Time::ZERO, command));
    let (engine, _) = run_at(setup.devices(), commands.to_vec(), &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    assert_eq!(asked(&engine, 0), ["read 12+4", "read 16+8", "read 0+4"]);
}

#[test]
fn a_line_that_comes_beside_what_passes_the_cache_by_stays_and_has_its_data() {
    let rules = MemoryRules { grain: 4, ..RULES };
    let setup = Setup {
        lock: (1, false),
        outstanding: 1,
        ..Setup::memory(2, rules)
    };
    let trim = |lbn| command(Op::Trim, lbn, 1);
    let at = |ms, command| (Time::from_ms(ms), command);
    let commands = vec![
        at(0, read(96, 4)),
        at(11, read(16, 8)),
        at(11, trim(150)),
        at(11, trim(160)),
        // Both lines are in use: block 95 passes them by. The rest of the last grain comes behind the trims, at 41 ms.
        at(12, write(95, 6)),
        // Another write has the line of block 95 fetched until then; that block of its grain is old.
        at(22, write(92, 3)),
        // It may not leave now, with the old block: this read passes the cache by, too.
        at(42, read(32, 8)),
        at(90, read(95, 1)),
        at(100, flush()),
        at(150, read(40, 16)),
        at(200, read(92, 4)),
    ];
    let (engine, ended) = run_at(setup.devices(), commands, &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    let asked = asked(&engine, 0);
    let ways = [
        "read 96+4",
        "read 16+8",
        "read 95+1",
        "write 95+1",
        "read 32+8",
        "write 92+4",
    ];
    assert_eq!(asked[..6], ways);
    let hit = ended.iter().find(|request| request.command == read(95, 1));
    assert_eq!(hit.expect("it ended").served_by, ServedBy::Buffer);
}

#[test]
fn a_flush_writes_what_became_dirty_in_a_line_on_its_way() {
    let setup = Setup {
        lock: (1, true),
        promise: Promise::AfterFlush,
        ..Setup::memory(4, RULES)
    };
    let at = |ms, command| (Time::from_ms(ms), command);
    let commands = vec![
        at(0, write(4, 4)),
        at(1, flush()),
        at(2, write(0, 4)),
        at(3, flush()),
    ];
    let cut = [(Time::from_ms(60), Injection::PowerCut)];
    let (engine, ended) = run_at(setup.devices(), commands, &cut);
    assert_eq!(faults(&engine), &[] as &[String]);
    assert!(
        ended
            .iter()
            .all(|request| request.outcome == Some(Outcome::Ok))
    );
}

#[test]
fn part_of_a_grain_is_read_before_it_is_written() {
    let rules = MemoryRules { grain: 4, ..RULES };
    let commands = [write(2, 4), write(8, 4), read(0, 8), flush()];
    let (engine, ended) = Setup::memory(4, rules).run(&commands);
    assert_eq!(
        asked(&engine, 0),
        [
            "read 0+2",
            "read 6+2",
            "write 0+8",
            "write 8+4",
            "flush 0+0"
        ]
    );
    assert_eq!(ms(&ended), [10.0, 0.0, 0.0, 20.0]);
}

#[test]
fn a_dirty_victim_is_written_before_its_place_is_free() {
    let commands = [write(0, 4), write(6, 4), read(50, 2), read(60, 2)];
    let (engine, ended) = Setup::memory(2, RULES).run(&commands);
    assert_eq!(
        asked(&engine, 0),
        [
            "write 0+4",
            "write 6+2",
            "read 50+2",
            "write 8+2",
            "read 60+2"
        ]
    );
    assert_eq!(ms(&ended), [0.0, 0.0, 20.0, 20.0]);
    // With the neighbour's dirty blocks that touch the victim's the second one has nothing to write.
    let together = MemoryRules {
        written_lines: 2,
        ..RULES
    };
    let (engine, ended) = Setup::memory(2, together).run(&commands);
    assert_eq!(
        asked(&engine, 0),
        ["write 0+4", "write 6+4", "read 50+2", "read 60+2"]
    );
    assert_eq!(ms(&ended), [0.0, 0.0, 20.0, 10.0]);
}

#[test]
fn clean_lines_leave_first_where_they_are_to() {
    let rules = MemoryRules {
        prefers_clean: true,
        ..RULES
    };
    let commands = [write(0, 4), read(8, 4), read(16, 4), read(0, 4)];
    let (engine, ended) = Setup::memory(2, rules).run(&commands);
    assert_eq!(asked(&engine, 0), ["read 8+4", "read 16+4", "write 0+4"]);
    assert_eq!(ms(&ended), [0.0, 10.0, 10.0, 0.0]);
}

#[test]
fn writes_are_complete_when_their_scheme_says() {
    for (writes, times, promise) in [
        (Writes::Synchronous, [10.0, 0.0, 10.0], Promise::Durable),
        (Writes::Through, [0.0, 0.0, 10.0], Promise::AfterFlush),
        (Writes::Back, [0.0, 0.0, 20.0], Promise::AfterFlush),
    ] {
        let rules = MemoryRules { writes, ..RULES };
        let setup = Setup::memory(4, rules);
        let devices = setup.devices();
        assert_eq!(devices[2].promise(), promise);
        let (engine, ended) = run(devices, &[write(0, 8), read(0, 8), flush()], &[]);
        assert_eq!(faults(&engine), &[] as &[String]);
        assert_eq!(asked(&engine, 0), ["write 0+8", "flush 0+0"]);
        assert_eq!(ms(&ended), times);
    }
    let fua = Command {
        fua: true,
        ..write(0, 8)
    };
    let (_, ended) = Setup::memory(4, RULES).run(&[fua, read(0, 8)]);
    assert_eq!(ms(&ended), [10.0, 0.0]);
}

#[test]
fn a_flush_waits_for_what_is_being_written() {
    let rules = MemoryRules {
        writes: Writes::Through,
        ..RULES
    };
    let at = |ms, command| (Time::from_ms(ms), command);
    let commands = vec![at(0, write(0, 8)), at(4, flush()), at(5, read(0, 8))];
    let (engine, ended) = run_at(Setup::memory(4, rules).devices(), commands, &[]);
    assert_eq!(faults(&engine), &[] as &[String]);
    // The read waits for the write to end, since reads do not share.
    assert_eq!(ended[1].completion, Time::from_ms(10));
    assert_eq!(ended[2].completion, Time::from_ms(20));
}

#[test]
fn dirty_lines_are_written_in_time_and_when_it_is_quiet() {
    let periodic = MemoryRules {
        period: Some(Time::from_ms(1_500)),
        ..RULES
    };
    let (engine, _) = Setup::memory(4, periodic).run(&[write(0, 8), write(40, 4), read(0, 8)]);
    assert_eq!(asked(&engine, 0), ["write 0+8", "write 40+4"]);
    let idle = MemoryRules {
        idle: Some(Time::from_ms(900)),
        written_lines: 2,
        ..RULES
    };
    let commands = [write(0, 8), write(36, 24), read(0, 8)];
    let (engine, _) = Setup::memory(8, idle).run(&commands);
    assert_eq!(
        asked(&engine, 0),
        ["write 0+8", "write 36+12", "write 48+12"]
    );
    // What the cache serves does not disturb the devices' rest, which begins with the first dirty block here.
    for (delay, expected) in [
        (
            1_100,
            &[
                "write 0+8",
                "write 36+4",
                "write 40+8",
                "write 48+8",
                "write 56+4",
            ][..],
        ),
        (2_100, &[]),
    ] {
        let late = MemoryRules {
            idle: Some(Time::from_ms(delay)),
            ..RULES
        };
        let (engine, _) = Setup::memory(8, late).run(&commands);
        assert_eq!(asked(&engine, 0), expected);
    }
}

#[test]
fn nothing_is_tried_for_ever_when_a_device_has_failed() {
    let fails = [(Time::from_ms(500), Injection::Fail(DeviceId(0)))];
    let commands = [write(0, 8), read(120, 8), read(120, 8)];
    let rules = MemoryRules {
        idle: Some(Time::from_ms(600)),
        ..RULES
    };
    for setup in [
        Setup::memory(4, rules),
        Setup::cache_device(60, Writes::Back, Some(Time::from_ms(600))),
    ] {
        let (engine, ended) = run(setup.devices(), &commands, &fails);
        assert_eq!(faults(&engine), &[] as &[String]);
        assert!(ended.iter().all(|one| one.outcome == Some(Outcome::Ok)));
    }
}

#[test]
fn a_request_without_room_passes_the_cache_by() {
    let commands = [write(0, 24), read(0, 24), read(4, 16)];
    let (engine, ended) = Setup::memory(2, RULES).run(&commands);
    // The first two lines have all the room, and are in use when the third one wants some.
    assert_eq!(asked(&engine, 0), ["write 16+8", "read 16+8", "read 16+4"]);
    assert!(ended.iter().all(|one| one.outcome == Some(Outcome::Ok)));
}

#[test]
fn a_power_cut_takes_what_no_flush_has_made_durable() {
    for (commands, left) in [
        (vec![write(0, 8)], 0),
        (vec![write(0, 8), flush(), write(0, 8)], 0),
    ] {
        for writes in [Writes::Synchronous, Writes::Through, Writes::Back] {
            let rules = MemoryRules { writes, ..RULES };
            let devices = Setup::memory(4, rules).devices();
            let (engine, _) = run(
                devices,
                &commands,
                &[(Time::from_ms(5_000), Injection::PowerCut)],
            );
            assert_eq!(faults(&engine).len(), left);
        }
    }
}

#[test]
fn a_device_that_fails_takes_its_dirty_blocks_along() {
    let cut = [(Time::from_ms(500), Injection::Fail(DeviceId(0)))];
    let commands = [write(0, 8), read(0, 8), read(120, 8), flush(), read(0, 8)];
    let (engine, ended) = run(Setup::memory(1, RULES).devices(), &commands, &cut);
    assert_eq!(faults(&engine), &[] as &[String]);
    let outcomes: Vec<_> = ended.iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes[..2], [Some(Outcome::Ok); 2]);
    assert_eq!(outcomes[3..], [Some(Outcome::FailedDevice); 2]);
    assert_eq!(engine.devices()[2].warnings().len(), 1);
}

#[test]
fn a_cache_device_has_what_was_written_and_what_was_read() {
    for (writes, times) in [
        (Writes::Back, [1.0, 1.0, 10.0, 1.0, 10.0, 10.0]),
        (Writes::Through, [1.0, 1.0, 10.0, 1.0, 10.0, 10.0]),
        (Writes::Synchronous, [11.0, 1.0, 10.0, 1.0, 10.0, 10.0]),
    ] {
        let setup = Setup::cache_device(60, writes, None);
        let commands = [
            write(0, 8),
            read(0, 8),
            read(20, 8),
            read(20, 8),
            write(56, 8),
            read(56, 8),
        ];
        let (engine, ended) = setup.run(&commands);
        assert_eq!(ms(&ended), times);
        assert_eq!(
            asked(&engine, 2),
            ["write 0+8", "read 0+8", "write 20+8", "read 20+8"]
        );
        let behind = asked(&engine, 0);
        assert_eq!(
            behind.contains(&"write 0+8 fua".to_owned()),
            writes != Writes::Back
        );
    }
}

#[test]
fn a_read_of_which_only_part_is_dirty_comes_from_both() {
    let commands = [write(4, 4), read(0, 12), read(0, 12)];
    let (engine, ended) = Setup::cache_device(60, Writes::Back, None).run(&commands);
    assert_eq!(asked(&engine, 0), ["read 0+4", "read 8+4"]);
    assert_eq!(
        asked(&engine, 2),
        [
            "write 4+4",
            "read 4+4",
            "write 0+4",
            "write 8+4",
            "read 0+12"
        ]
    );
    assert_eq!(ms(&ended), [1.0, 10.0, 1.0]);
}

#[test]
fn a_cache_device_is_settled_when_it_is_quiet() {
    let idle = Some(Time::from_ms(100));
    let commands = [write(4, 4), write(20, 8), read(4, 4)];
    let (engine, _) = Setup::cache_device(60, Writes::Back, idle).run(&commands);
    assert_eq!(asked(&engine, 0), ["write 4+4 fua", "write 20+8 fua"]);
    let report = engine.devices()[3].report(Time::ZERO);
    assert_eq!(report["dirty_blocks_at_end"], 0);
    assert_eq!(report["idle_write_backs"], 2);
}

#[test]
fn a_cache_device_that_fails_takes_its_dirty_blocks_along() {
    let fails = [(Time::from_ms(2_500), Injection::Fail(DeviceId(2)))];
    let commands = [
        write(4, 4),
        read(20, 4),
        read(0, 2),
        read(4, 4),
        read(20, 4),
        write(0, 8),
        read(4, 4),
    ];
    let devices = Setup::cache_device(60, Writes::Back, None).devices();
    let (engine, ended) = run(devices, &commands, &fails);
    assert_eq!(faults(&engine), &[] as &[String]);
    let bad: Vec<usize> = (0..ended.len())
        .filter(|&index| ended[index].outcome != Some(Outcome::Ok))
        .collect();
    assert_eq!(bad, [3]);
}

/// A run that is being written back had been read when its cache device failed, and counts as lost until it has been written.
#[test]
fn what_a_cache_device_takes_along_is_not_found_after_a_power_cut() {
    let devices = || Setup::cache_device(60, Writes::Back, Some(Time::from_ms(100))).devices();
    let fails = |ms| (Time::from_ms(ms), Injection::Fail(DeviceId(2)));
    for failure in [50, 103] {
        for cut in [60, 104, 112, 120] {
            let injections = [fails(failure), (Time::from_ms(cut), Injection::PowerCut)];
            let (engine, _) = run(devices(), &[write(4, 4)], &injections);
            assert_eq!(faults(&engine), &[] as &[String], "{failure} {cut}");
        }
    }
    // Its read takes 1 ms, the write behind it 10 ms.
    for (failure, cut, lost) in [(50, 200, 4), (103, 104, 4), (103, 200, 0)] {
        let at = |ms, command| (Time::from_ms(ms), command);
        let commands = vec![at(0, write(4, 4)), at(300, read(20, 4))];
        let injections = [fails(failure), (Time::from_ms(cut), Injection::PowerCut)];
        let (engine, _) = run_at(devices(), commands, &injections);
        let controller = &engine.devices()[3];
        let told = &controller.report(Time::ZERO)["lost_blocks"];
        assert_eq!(*told, lost, "{failure} {cut}");
        assert_eq!(controller.warnings().len(), usize::from(lost > 0));
    }
}

#[test]
fn what_is_promised_by_volatile_devices_is_there_after_a_power_cut() {
    for writes in [Writes::Synchronous, Writes::Through, Writes::Back] {
        for idle in [None, Some(Time::from_ms(100))] {
            for cut in [1, 1_002, 2_005, 3_001, 3_012, 3_500, 4_105, 4_120] {
                let setup = Setup {
                    promise: Promise::AfterFlush,
                    ..Setup::cache_device(60, writes, idle)
                };
                let commands = [write(4, 4), flush(), write(4, 8), write(56, 8), flush()];
                let injection = [(Time::from_ms(cut), Injection::PowerCut)];
                let (engine, _) = run(setup.devices(), &commands, &injection);
                assert_eq!(faults(&engine), &[] as &[String], "{writes:?} {cut}");
            }
        }
    }
}

#[test]
fn what_a_trim_meets_on_its_way_is_not_kept() {
    let rules = MemoryRules {
        read_prefetch: Prefetch::Front,
        ..RULES
    };
    let at = |ms, command| (Time::from_ms(ms), command);
    for lock in [3, 4, 8] {
        for trimmed in [1, 9] {
            let setup = Setup {
                lock: (lock, false),
                ..Setup::memory(4, rules)
            };
            let commands = vec![
                at(0, read(4, 4)),
                at(trimmed, command(Op::Trim, 0, 4)),
                at(40, read(0, 4)),
                at(80, read(0, 8)),
            ];
            let (engine, _) = run_at(setup.devices(), commands, &[]);
            assert_eq!(faults(&engine), &[] as &[String]);
            let asked = asked(&engine, 0);
            assert_eq!(
                asked,
                ["read 0+8", "trim 0+4", "read 0+4"],
                "locks of {lock}"
            );
        }
    }
}

//! Flash-backed requests over devices that do what a test wants: the decision of Fig. 6, branch by branch, and power cuts.

use super::rules::RuleSpec;
use super::*;
use crate::devices::hybrid::{Child, Hybrid, Settings};
use crate::engine::access_times::{AccessTimes, Point};
use crate::engine::fakes::{Fake, asked, command, faults, run_at};
use crate::engine::request::{Outcome, Request, ServedBy};
use crate::engine::{Engine, Injection};
use crate::models::queue::SchedulerSpec;
use proptest::prelude::*;

/// What the FQueue has is what the hybrid drive has pinned, and what has been acknowledged of it is in the NV cache. Called after every
/// instant.
pub(super) fn assert_same_content(fqueue: &FQueue, hybrid: &dyn Device) {
    let report = hybrid.report(Time::ZERO);
    if report["commands"]["refused"] != 0 {
        // It has failed, which is known once the answer is there.
        return;
    }
    let pinned = report["pinned_blocks"].as_u64();
    assert_eq!(
        Some(fqueue.blocks()),
        pinned,
        "blocks in memory and in flash"
    );
    for lbn in 0..hybrid.blocks() {
        let entry = fqueue.overlapping(&(lbn..lbn + 1)).next();
        let is_backed = entry.is_some_and(|entry| entry.under_way == 0);
        let is_on_medium =
            hybrid.location(Lbn(lbn), 0) == Some(Location::On(DeviceId(0), Lbn(lbn)));
        assert!(
            entry.is_some() || is_on_medium,
            "block {lbn} is in flash alone"
        );
        assert!(
            !is_backed || !is_on_medium,
            "block {lbn} is in memory alone"
        );
    }
}

const BLOCKS: u64 = 300;

/// What a test says of the scheduler.
#[derive(Clone, Debug)]
struct Setup {
    capacity: u64,
    marks: (u64, u64),
    queue: &'static str,
    rule: &'static str,
    overlap: Overlap,
    order: DropOrder,
    idle: IdleSpec,
    next: NextSpec,
    /// Milliseconds of the medium and of the NV cache.
    times: (u64, u64),
}

const SETUP: Setup = Setup {
    capacity: 64,
    marks: (64, 57),
    queue: "fcfs",
    rule: "paper",
    overlap: Overlap::Overwrite,
    order: DropOrder::DurableFirst,
    idle: IdleSpec::Watermark,
    next: NextSpec::NoneIfEmpty,
    times: (10, 2),
};

impl Setup {
    /// The medium, the NV cache, the drive, and the scheduler above it. The host takes an access to the medium for 1 ms and 0.1 ms for
    /// each block of its distance up to 10 ms, and a write to the NV cache for 2 ms.
    fn devices(&self) -> Vec<Box<dyn Device>> {
        let (medium, flash) = (Fake::new(BLOCKS, self.times.0), Fake::new(64, self.times.1));
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
        let point = |distance, ms| Point {
            distance,
            time: Time::from_ms(ms),
        };
        let points = vec![point(0, 1), point(90, 10)];
        let policy = |name: &str| serde_json::json!({ name: {} });
        let rule: RuleSpec = serde_json::from_value(policy(self.rule)).expect("a rule");
        let queue: SchedulerSpec = serde_json::from_value(policy(self.queue)).expect("an order");
        let scheduler = FlashBacked::new(Parts {
            hybrid: DeviceId(2),
            blocks: BLOCKS,
            promise: hybrid.promise(),
            capacity: self.capacity,
            high: self.marks.0,
            low: self.marks.1,
            scheduler: queue.build(),
            rule: rule.build().expect("it is sound"),
            overlap: self.overlap,
            order: self.order,
            idle: self.idle,
            next: self.next,
            times: Times {
                medium: AccessTimes::new(points.clone(), points, 0),
                flash: AccessTimes::level(Time::from_ms(2), Time::from_ms(2), 0),
            },
            command: Time::from_us(5),
            foresight: None,
        });
        vec![
            Box::new(medium),
            Box::new(flash),
            Box::new(hybrid),
            Box::new(scheduler),
        ]
    }

    /// Runs commands at these milliseconds.
    fn run(&self, commands: &[(u64, Command)], injections: &[(Time, Injection)]) -> Run {
        let at = |&(ms, command): &(u64, Command)| (Time::from_ms(ms), command);
        let commands = commands.iter().map(at).collect();
        let (engine, mut ended) = run_at(self.devices(), commands, injections);
        ended.sort_by_key(|request| request.sequence);
        Run { engine, ended }
    }
}

struct Run {
    engine: Engine,
    ended: Vec<Request>,
}

impl Run {
    fn is_right(&self) {
        assert_eq!(faults(&self.engine), &[] as &[String]);
    }
    fn medium(&self) -> Vec<String> {
        asked(&self.engine, 0)
    }
    fn flash(&self) -> Vec<String> {
        asked(&self.engine, 1)
    }
    fn counts(&self, key: &str) -> u64 {
        let report = self.engine.devices()[3].report(self.engine.now());
        report[key].as_u64().unwrap_or_else(|| panic!("{key}"))
    }
    fn ms_of(&self, kind: &str) -> f64 {
        let report = self.engine.devices()[3].report(self.engine.now());
        report["write_access_ms"][kind].as_f64().expect(kind)
    }
    /// Milliseconds from arrival to completion.
    fn responses(&self) -> Vec<f64> {
        let ms = |request: &Request| request.response().ms();
        self.ended.iter().map(ms).collect()
    }
}

fn read(lbn: u64, blocks: u32) -> Command {
    command(Op::Read, lbn, blocks)
}
fn write(lbn: u64, blocks: u32) -> Command {
    command(Op::Write, lbn, blocks)
}

/// A row of the table: what it is, the requests, and what the medium and the NV cache are asked.
type Row<'r> = (&'r str, &'r [(u64, Command)], &'r [&'r str], &'r [&'r str]);

#[track_caller]
fn check(setup: &Setup, rows: &[Row<'_>]) {
    for (name, commands, medium, flash) in rows {
        let run = setup.run(commands, &[]);
        run.is_right();
        assert_eq!(run.medium(), *medium, "{name}");
        assert_eq!(run.flash(), *flash, "{name}");
    }
}

#[test]
fn step_2_redirects_by_both_sides_of_the_inequality() {
    check(
        &SETUP,
        &[
            (
                "no next request, far",
                &[(0, write(100, 8))],
                &[],
                &["write 0+8"],
            ),
            (
                "no next request, near",
                &[(0, write(5, 8))],
                &["write 5+8"],
                &[],
            ),
            // h_n = 2 = f_n at a distance of 10: it takes more than that.
            (
                "no next request, equal",
                &[(0, write(10, 8))],
                &["write 10+8"],
                &[],
            ),
            (
                "no next request, a block further",
                &[(0, write(11, 8))],
                &[],
                &["write 0+8"],
            ),
            // While the medium reads, a write and another request come. Head at 1: h_n = 10, f_n = 2.
            (
                "the next is near the write: h_nn is as long",
                &[(0, read(0, 1)), (1, write(100, 8)), (2, read(110, 1))],
                &["read 0+1", "write 100+8", "read 110+1"],
                &[],
            ),
            (
                "the next is near the head",
                &[(0, read(0, 1)), (1, write(100, 8)), (2, read(5, 1))],
                &["read 0+1", "read 5+1"],
                &["write 0+8"],
            ),
            (
                "a near write, and the next is nearer to the head",
                &[(0, read(0, 1)), (1, write(9, 50)), (2, read(2, 1))],
                &["read 0+1", "read 2+1"],
                &["write 0+50"],
            ),
        ],
    );
}

#[test]
fn without_a_next_request_readings_differ() {
    let never = Setup {
        next: NextSpec::NeverRedirect,
        ..SETUP
    };
    check(
        &never,
        &[
            ("none", &[(0, write(100, 8))], &["write 100+8"], &[]),
            (
                "the last one waits for none",
                &[(0, read(0, 1)), (1, write(100, 8)), (2, write(5, 1))],
                &["read 0+1", "write 5+1"],
                &["write 0+8"],
            ),
        ],
    );
}

#[test]
fn step_1_merges_with_what_it_touches() {
    check(
        &SETUP,
        &[
            (
                "no entry",
                &[(0, write(100, 8)), (50, write(110, 4))],
                &[],
                &["write 0+8", "write 8+4"],
            ),
            (
                "one entry that adjoins",
                &[
                    (0, write(100, 8)),
                    (50, write(108, 4)),
                    (100, read(100, 12)),
                ],
                &["write 100+12", "read 100+12"],
                &["write 0+8"],
            ),
            (
                "one entry before it",
                &[(0, write(100, 8)), (50, write(96, 4))],
                &["write 96+12"],
                &["write 0+8"],
            ),
            (
                "several entries",
                &[
                    (0, write(100, 8)),
                    (50, write(112, 8)),
                    (100, write(106, 8)),
                    (150, read(98, 24)),
                ],
                &["write 100+20", "read 98+24"],
                &["write 0+8", "write 8+8"],
            ),
            (
                "overlap in part",
                &[
                    (0, write(100, 8)),
                    (50, write(104, 8)),
                    (100, read(100, 12)),
                ],
                &["write 100+12", "read 100+12"],
                &["write 0+8"],
            ),
            (
                "a write within an entry",
                &[(0, write(100, 8)), (50, write(102, 2))],
                &["write 100+8"],
                &["write 0+8"],
            ),
            (
                "overlap as a whole: it takes the place",
                &[(0, write(100, 8)), (50, write(100, 8)), (100, read(100, 8))],
                &[],
                &["write 0+8", "write 0+8"],
            ),
            (
                "more than the whole, two entries",
                &[
                    (0, write(100, 4)),
                    (50, write(106, 4)),
                    (100, write(98, 14)),
                ],
                &[],
                &[
                    "write 0+4",
                    "write 4+4",
                    "write 8+2",
                    "write 0+4",
                    "write 10+2",
                    "write 4+4",
                    "write 12+2",
                ],
            ),
            (
                "one as a whole, one in part",
                &[
                    (0, write(100, 4)),
                    (50, write(106, 4)),
                    (100, write(98, 10)),
                ],
                &["write 98+12"],
                &["write 0+4", "write 4+4"],
            ),
            // The head is at 12 after the read: h_n = 1.8.
            (
                "overlap as a whole, but the medium is near",
                &[(0, write(20, 8)), (50, read(0, 12)), (100, write(20, 8))],
                &["read 0+12", "write 20+8"],
                &["write 0+8"],
            ),
            (
                "as a whole, while the entry is on its way to flash",
                &[(0, write(100, 8)), (1, write(100, 8))],
                &["write 100+8"],
                &["write 0+8"],
            ),
        ],
    );
    let coalescing = Setup {
        overlap: Overlap::Coalesce,
        ..SETUP
    };
    check(
        &coalescing,
        &[(
            "overlap as a whole, without overwriting",
            &[(0, write(100, 8)), (50, write(100, 8))],
            &["write 100+8"],
            &["write 0+8"],
        )],
    );
}

#[test]
fn overwriting_is_counted() {
    let run = SETUP.run(&[(0, write(100, 4)), (50, write(98, 8))], &[]);
    let counts = [
        "redirected",
        "overwriting",
        "overwritten_entries",
        "overwritten_blocks",
    ];
    assert_eq!(counts.map(|key| run.counts(key)), [2, 1, 1, 4]);
    assert_eq!(run.counts("fqueue_bytes_at_end"), 8 * 512);
    assert_eq!(run.counts("flash_bytes"), 12 * 512);
    assert_eq!(run.ms_of("flash"), 4.0);
}

#[test]
fn reads_have_what_memory_has() {
    let run = SETUP.run(
        &[
            (0, write(100, 8)),
            (20, write(112, 8)),
            (50, read(102, 4)),
            (60, read(96, 8)),
            (100, read(100, 20)),
            (150, read(96, 26)),
            (200, read(40, 2)),
        ],
        &[],
    );
    run.is_right();
    assert_eq!(
        run.medium(),
        ["read 96+4", "read 108+4", "read 96+26", "read 40+2"]
    );
    assert_eq!(run.flash(), ["write 0+8", "write 8+8"]);
    assert_eq!(run.responses()[2..], [0.0, 10.0, 10.0, 10.0, 10.0]);
    assert_eq!(run.ended[2].served_by, ServedBy::Buffer);
    let counts = ["reads_from_memory", "reads_partly_from_memory"];
    assert_eq!(counts.map(|key| run.counts(key)), [1, 3]);
}

#[test]
fn flushing_begins_and_ends_at_the_watermarks_and_alternates() {
    let setup = Setup {
        capacity: 32,
        marks: (24, 8),
        ..SETUP
    };
    // Three entries reach 24 blocks while the medium reads. Then reads and the FQueue take turns, and a far write goes to the
    // medium.
    let run = setup.run(
        &[
            (0, write(100, 8)),
            (10, write(150, 8)),
            (20, read(0, 1)),
            (21, write(200, 8)),
            (22, read(1, 1)),
            (23, read(2, 1)),
            (24, write(250, 8)),
        ],
        &[],
    );
    run.is_right();
    assert_eq!(
        run.medium(),
        [
            "read 0+1",
            "write 100+8",
            "read 1+1",
            "write 150+8",
            "read 2+1",
        ]
    );
    // Flushing has ended when the last write comes to its turn: one entry is left.
    assert_eq!(
        run.flash(),
        ["write 0+8", "write 8+8", "write 16+8", "write 24+8"]
    );
    assert_eq!(
        (run.counts("flushings"), run.counts("flushed_entries")),
        (1, 2)
    );
    assert_eq!(run.ms_of("foreground_flush"), 20.0);
}

#[test]
fn a_write_while_flushing_tries_step_1_alone() {
    let setup = Setup {
        capacity: 24,
        marks: (24, 0),
        ..SETUP
    };
    let run = setup.run(
        &[
            (0, write(100, 8)),
            (10, write(150, 8)),
            (20, read(0, 1)),
            (21, write(200, 8)),
            (22, write(250, 8)),
            (23, write(158, 4)),
        ],
        &[],
    );
    run.is_right();
    assert_eq!(
        run.medium(),
        [
            "read 0+1",
            "write 100+8",
            "write 250+8",
            "write 150+8",
            "write 158+4"
        ]
    );
    // One that adjoins an entry takes it along.
    let run = setup.run(
        &[
            (0, write(100, 8)),
            (10, write(150, 8)),
            (20, read(0, 1)),
            (21, write(200, 8)),
            (22, write(158, 4)),
            (23, read(1, 1)),
        ],
        &[],
    );
    run.is_right();
    assert_eq!(
        run.medium(),
        [
            "read 0+1",
            "write 100+8",
            "write 150+12",
            "write 200+8",
            "read 1+1"
        ]
    );
}

#[test]
fn what_has_no_room_goes_to_the_medium_and_flushing_begins() {
    let setup = Setup {
        capacity: 12,
        marks: (12, 0),
        ..SETUP
    };
    let run = setup.run(
        &[(0, write(100, 8)), (10, write(150, 8)), (11, read(0, 1))],
        &[],
    );
    run.is_right();
    assert_eq!(run.medium(), ["write 150+8", "write 100+8", "read 0+1"]);
    assert_eq!(
        (run.counts("without_room"), run.counts("flushings")),
        (1, 1)
    );
    // What is larger than the FQueue does not empty it.
    let run = setup.run(&[(0, write(100, 13))], &[]);
    assert_eq!(
        (run.counts("without_room"), run.counts("flushings")),
        (1, 0)
    );
}

#[test]
fn idle_time_purges_now_or_later_or_never() {
    let commands = [
        (0, write(100, 8)),
        (5, write(150, 8)),
        (100, read(0, 1)),
        (200, read(1, 1)),
    ];
    let with = |idle| Setup { idle, ..SETUP }.run(&commands, &[]);
    let eager = with(IdleSpec::Eager);
    eager.is_right();
    assert_eq!(
        eager.medium(),
        ["write 100+8", "write 150+8", "read 0+1", "read 1+1"]
    );
    assert_eq!(
        (
            eager.ms_of("idle_flush"),
            eager.counts("fqueue_bytes_at_end")
        ),
        (20.0, 0)
    );
    // The reads are 100 ms apart, and an access takes 10.
    let later = with(IdleSpec::Delay(Time::from_ms(97)));
    later.is_right();
    assert_eq!(later.medium(), ["read 0+1", "read 1+1"]);
    let later = with(IdleSpec::Delay(Time::from_ms(85)));
    // From 92 ms on, until the read at 100; and from 197 ms on.
    assert_eq!(
        later.medium(),
        ["write 100+8", "read 0+1", "write 150+8", "read 1+1"]
    );
    let never = with(IdleSpec::Watermark);
    assert_eq!(never.medium(), ["read 0+1", "read 1+1"]);
    assert_eq!(never.counts("fqueue_bytes_at_end"), 16 * 512);
}

#[test]
fn what_is_in_the_fqueue_at_the_end_stays_there() {
    let eager = Setup {
        idle: IdleSpec::Eager,
        ..SETUP
    };
    let run = eager.run(&[(0, write(100, 8))], &[]);
    assert_eq!(run.medium(), [] as [&str; 0]);
    assert_eq!(run.counts("fqueue_bytes_at_end"), 8 * 512);
}

#[test]
fn the_paper_s_order_loses_what_it_has_unpinned_and_the_checker_finds_it() {
    let commands = [(0, write(100, 8)), (50, write(104, 8))];
    let cut = [(Time::from_ms(55), Injection::PowerCut)];
    let first = SETUP.run(&commands, &cut);
    first.is_right();
    let paper = Setup {
        order: DropOrder::Paper,
        ..SETUP
    };
    let lost = paper.run(&commands, &cut);
    assert_eq!(faults(&lost.engine).len(), 8, "{:?}", faults(&lost.engine));
    paper.run(&commands, &[]).is_right();
}

#[test]
fn when_the_nv_cache_fails_memory_goes_to_the_medium() {
    let commands = [
        (0, write(100, 8)),
        (20, write(150, 8)),
        (40, write(200, 8)),
        (100, read(98, 12)),
        (150, read(200, 8)),
    ];
    // The second write is on its way to flash.
    let failure = [(Time::from_ms(21), Injection::Fail(DeviceId(1)))];
    for order in [DropOrder::DurableFirst, DropOrder::Paper] {
        let run = Setup { order, ..SETUP }.run(&commands, &failure);
        run.is_right();
        let is_good = |request: &Request| request.outcome == Some(Outcome::Ok);
        assert!(run.ended.iter().all(is_good));
        assert_eq!(
            run.medium(),
            [
                "write 100+8",
                "write 150+8",
                "write 200+8",
                "read 98+12",
                "read 200+8"
            ]
        );
        // Its own write ends after that of the older entry; in the paper's order each is unpinned first, which takes a command.
        let commands = match order {
            DropOrder::Paper => 0.01,
            DropOrder::DurableFirst => 0.0,
        };
        assert_eq!(run.responses()[1], 21.0 + commands);
    }
}

#[test]
fn without_redirection_the_drive_is_as_without_a_scheduler() {
    let never = Setup {
        rule: "never",
        ..SETUP
    };
    let commands: Vec<_> = (0..30).map(|n| (3 * n, write((n * 37) % 290, 4))).collect();
    let run = never.run(&commands, &[]);
    run.is_right();
    let plain = run_at(
        vec![Box::new({
            let mut fake = Fake::new(BLOCKS, 10);
            fake.slots = 1;
            fake
        })],
        commands
            .iter()
            .map(|&(ms, command)| (Time::from_ms(ms), command))
            .collect(),
        &[],
    );
    let ends = |ended: &[Request]| -> Vec<Time> {
        ended.iter().map(|request| request.completion).collect()
    };
    assert_eq!(ends(&run.ended), ends(&plain.1));
}

fn commands() -> impl Strategy<Value = Vec<(u64, Command)>> {
    let one = (0u64..6, 0u64..280, 1u32..16, 0u64..25);
    prop::collection::vec(one, 1..40).prop_map(|drawn| {
        let mut at = 0;
        let command = |(op, lbn, blocks, gap): (u64, u64, u32, u64)| {
            at += gap;
            let command = match op {
                0 => read(lbn, blocks),
                1 => command(Op::Flush, 0, 0),
                // Writes meet often.
                2 => write(lbn / 8 * 8, 8),
                3 => write(lbn % 60, blocks),
                4 => read(lbn % 60, blocks),
                _ => write(lbn, blocks),
            };
            (at, command)
        };
        drawn.into_iter().map(command).collect()
    })
}

fn setups() -> impl Strategy<Value = Setup> {
    let policies = (
        prop::sample::select(vec!["fcfs", "sstf", "c-look"]),
        prop::sample::select(vec!["paper", "always", "head-only", "by-size", "learned"]),
        prop::sample::select(vec![Overlap::Overwrite, Overlap::Coalesce]),
        prop::sample::select(vec![
            IdleSpec::Eager,
            IdleSpec::Watermark,
            IdleSpec::Delay(Time::from_ms(15)),
        ]),
    );
    (policies, 8u64..=64, 0u64..=64, 1u64..12, 1u64..12).prop_map(
        |((queue, rule, overlap, idle), capacity, low, medium, flash)| Setup {
            capacity,
            marks: (capacity, low.min(capacity)),
            queue,
            rule,
            overlap,
            idle,
            times: (medium, flash),
            ..SETUP
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Nothing stale is read, and a power cut at any instant loses nothing that was promised; memory and NV cache are equal after every
    /// instant, as `assert_same_content` sees.
    #[test]
    fn random_power_cuts_lose_nothing(setup in setups(), commands in commands(), cut in 0u64..600_000) {
        let cut = [(Time::from_us(cut), Injection::PowerCut)];
        for injections in [&cut[..], &[]] {
            let run = setup.run(&commands, injections);
            prop_assert_eq!(faults(&run.engine), &[] as &[String]);
        }
    }

    /// In the paper's order memory and NV cache are equal, too, and without a power cut nothing is lost.
    #[test]
    fn the_paper_s_order_is_right_as_long_as_there_is_power(setup in setups(), commands in commands()) {
        let run = Setup { order: DropOrder::Paper, ..setup }.run(&commands, &[]);
        prop_assert_eq!(faults(&run.engine), &[] as &[String]);
    }

    /// The NV cache may fail at any instant: memory brings everything to the medium.
    #[test]
    fn random_failures_of_the_nv_cache_lose_nothing_in_use(setup in setups(), commands in commands(), at in 0u64..600_000) {
        let failure = [(Time::from_us(at), Injection::Fail(DeviceId(1)))];
        for order in [DropOrder::DurableFirst, DropOrder::Paper] {
            let run = Setup { order, ..setup.clone() }.run(&commands, &failure);
            prop_assert_eq!(faults(&run.engine), &[] as &[String]);
            prop_assert!(run.ended.iter().all(|request| request.outcome == Some(Outcome::Ok)));
        }
    }
}

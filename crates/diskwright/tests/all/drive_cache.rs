//! The block cache in front of a drive's queue: what it serves and when, what goes to the medium, and what policies hear of it.

use crate::support::{Outcome, RunOptions, checked, from_text, from_text_in, outcome_of};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use diskwright::base::random::Stream;
use diskwright::base::units::Size;
use diskwright::models::cache::replacement::ReplacementSpec;
use diskwright::runs::miss_ratio::{MissRatioOptions, miss_ratio};
use serde_json::Value;

/// One line of a trace: (arrival in ms, operation, first LBN, blocks).
type Row = (f64, &'static str, u64, u32);

fn trace(rows: &[Row]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let lines: Vec<String> = rows
        .iter()
        .map(|(ms, op, lbn, blocks)| format!("{ms},{op},{lbn},{blocks}\n"))
        .collect();
    let path = folder.path().join("trace.csv");
    let text = format!("time_ms,op,lbn,blocks\n{}", lines.concat());
    std::fs::write(&path, text).expect("a file is written");
    (folder, path)
}

/// Runs a trace on a drive without a buffer, checked; `more` are further lines of `[device.hdd]`.
fn run_with(rows: &[Row], more: &str) -> Outcome {
    run_behind("false", rows, more)
}

/// The same on a drive with a buffer.
fn run_behind(buffer: &str, rows: &[Row], more: &str) -> Outcome {
    let (folder, _) = trace(rows);
    let text = format!(
        "[workload]\ntrace = \"trace.csv\"\n[measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\nbuffer = {buffer}\n{more}\n"
    );
    let source = from_text_in(text, folder.path());
    let options = RunOptions {
        keep_requests: true,
        ..checked()
    };
    let outcome = outcome_of(&source, &options);
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

fn run(rows: &[Row], more: &str) -> Value {
    run_with(rows, more).json()
}

fn cache(result: &Value, key: &str) -> f64 {
    result["devices"]["hdd.cache"][key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key}: {}", result["devices"]["hdd.cache"]))
}

fn accesses(result: &Value) -> u64 {
    let count = &result["devices"]["hdd"]["media_accesses"];
    count.as_u64().expect("a count")
}

const SMALL: &str = "[device.hdd.cache]\nsize = \"64 KiB\"\nhit_overhead = \"0.1 ms\"\n";

fn back(lines: &str) -> String {
    format!("[device.hdd.cache]\nwrite_policy = \"write-back\"\nhit_overhead = \"0.1 ms\"\n{lines}")
}

/// The time of a read of `blocks` blocks from the cache: 0.1 ms for the controller, and 0.101 ms a block on the interface.
fn hit_ms(blocks: u32) -> f64 {
    0.1 + 0.101 * f64::from(blocks)
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn where_nothing_is_ever_there_the_drive_works_as_without_a_cache() {
    let workload = "[workload.synthetic]\nrequests = 2000\narrivals = { closed = { users = 40 } }\nreads = 0.5\nsize = \"8 blocks\"\n\
                    address = \"uniform\"\n";
    let run = |queue: &str, cache: &str| {
        let text = format!(
            "{workload}[device.hdd]\ndrive = \"ibm-18es\"\nbuffer = false\n[device.hdd.queue]\n{queue}\n{cache}"
        );
        let outcome = outcome_of(&from_text(text), &RunOptions::default());
        outcome.unwrap_or_else(|error| panic!("{error}")).json()
    };
    for queue in [
        "",
        "scheduler = \"fcfs\"\ndepth = 1",
        "depth = 7\nscheduler = \"satf\"",
        "clustering = \"64 blocks\"",
    ] {
        let plain = run(queue, "");
        let cached = run(queue, "[device.hdd.cache]\nsize = \"4 KiB\"\n");
        assert_eq!(cached["devices"]["hdd.cache"]["read_hits"], 0);
        assert_eq!(cached["digest"], plain["digest"], "{queue}");
        assert_eq!(cached["parts_ms"], plain["parts_ms"]);
    }
}

/// Instants of the requests in ms, by their order of arrival.
struct Instants {
    arrival: Vec<f64>,
    completion: Vec<f64>,
}

impl Instants {
    fn of(outcome: &Outcome) -> Instants {
        let batches = outcome.requests().expect("kept").batches();
        let [batch] = &batches[..] else {
            panic!("a short trace is one batch")
        };
        let column = |name| {
            let column = batch.column_by_name(name).expect("a column of the log");
            column.as_primitive::<UInt64Type>().values().to_vec()
        };
        let in_order = |values: Vec<u64>| {
            let mut rows: Vec<_> = column("sequence").into_iter().zip(values).collect();
            rows.sort_unstable();
            rows.into_iter().map(|(_, ns)| ns as f64 / 1e6).collect()
        };
        Instants {
            arrival: in_order(column("arrival_ns")),
            completion: in_order(column("completion_ns")),
        }
    }

    fn response(&self, request: usize) -> f64 {
        self.completion[request] - self.arrival[request]
    }
}

/// The instants of a run, and its result.
fn timed(rows: &[Row], more: &str) -> (Instants, Value) {
    let outcome = run_with(rows, more);
    (Instants::of(&outcome), outcome.json())
}

#[test]
fn a_hit_takes_the_controller_and_the_interface_only() {
    let rows = [(0.0, "read", 800, 16), (100.0, "read", 804, 8)];
    let (instants, result) = timed(&rows, SMALL);
    close(instants.response(1), hit_ms(8));
    assert_eq!((accesses(&result), cache(&result, "read_hits")), (1, 1.0));
}

#[test]
fn hits_cross_the_interface_one_after_another() {
    let rows = [
        (0.0, "read", 800, 16),
        (100.0, "read", 800, 8),
        (100.0, "read", 808, 8),
    ];
    let (instants, _) = timed(&rows, SMALL);
    close(instants.response(1), hit_ms(8));
    close(instants.response(2), 2.0 * hit_ms(8));
}

#[test]
fn only_what_is_missing_comes_from_the_medium_from_the_first_such_block_to_the_last() {
    let there = [(0.0, "read", 800, 8), (100.0, "read", 816, 8)];
    for (wanted, fetched) in [
        ((200.0, "read", 804, 16), (200.0, "read", 808, 8)),
        ((200.0, "read", 790, 14), (200.0, "read", 790, 10)),
        ((200.0, "read", 796, 32), (200.0, "read", 796, 32)),
        ((200.0, "read", 820, 12), (200.0, "read", 824, 8)),
    ] {
        let with = |last: Row| [there[0], there[1], last];
        let (cached, result) = timed(&with(wanted), SMALL);
        let (plain, _) = timed(&with(fetched), "");
        close(cached.response(2), plain.response(2));
        let partial = f64::from(fetched.3 < wanted.3);
        assert_eq!(cache(&result, "partial_read_hits"), partial);
    }
}

#[test]
fn a_read_waits_for_another_that_is_bringing_its_blocks() {
    let rows = [(0.0, "read", 800, 16), (0.0, "read", 804, 4)];
    let (instants, result) = timed(&rows, SMALL);
    assert_eq!((accesses(&result), cache(&result, "conflicts")), (1, 1.0));
    close(instants.completion[1], instants.completion[0] + hit_ms(4));
}

#[test]
fn a_write_through_is_complete_on_the_medium_and_then_there_for_reads() {
    let rows = [(0.0, "write", 800, 16), (100.0, "read", 800, 16)];
    let (cached, result) = timed(&rows, SMALL);
    let (plain, _) = timed(&rows, "");
    close(cached.response(0), plain.response(0));
    close(cached.response(1), hit_ms(16));
    assert_eq!(
        (accesses(&result), cache(&result, "dirty_blocks")),
        (1, 0.0)
    );
}

#[test]
fn a_write_back_is_complete_in_the_cache_and_a_flush_brings_it_to_the_medium() {
    let writes = [(0.0, "write", 800, 16), (50.0, "write", 808, 16)];
    let (instants, result) = timed(&writes, &back("size = \"64 KiB\""));
    close(instants.response(0), hit_ms(16));
    assert_eq!(
        (accesses(&result), cache(&result, "dirty_blocks")),
        (0, 24.0)
    );
    let flushed = [
        writes[0],
        writes[1],
        (100.0, "flush", 0, 0),
        (200.0, "flush", 0, 0),
    ];
    let (instants, result) = timed(&flushed, &back("size = \"64 KiB\""));
    assert_eq!(
        (accesses(&result), cache(&result, "dirty_blocks")),
        (1, 0.0)
    );
    let destaged = (
        cache(&result, "destages"),
        cache(&result, "destaged_blocks"),
    );
    assert_eq!(destaged, (1.0, 24.0));
    assert!(instants.response(2) > instants.response(3) + 1.0);
}

#[test]
fn dirty_neighbours_leave_together_and_only_their_dirty_blocks() {
    let rows = [
        (0.0, "read", 800, 32),
        (50.0, "write", 804, 20),
        (100.0, "read", 90_000, 32),
    ];
    let result = run(&rows, &back("size = \"32 blocks\""));
    let destaged = (
        cache(&result, "destages"),
        cache(&result, "destaged_blocks"),
    );
    assert_eq!(destaged, (1.0, 20.0));
    assert_eq!(accesses(&result), 3);
}

#[test]
fn what_is_on_its_way_to_the_medium_can_still_be_read() {
    // One frame: the second write evicts the first, which the read then wants back at once.
    let rows = [
        (0.0, "write", 800, 8),
        (1.0, "write", 90_000, 8),
        (1.0, "read", 800, 8),
    ];
    let (instants, result) = timed(&rows, &back("size = \"4 KiB\""));
    assert_eq!(
        (cache(&result, "destages"), cache(&result, "read_hits")),
        (2.0, 1.0)
    );
    assert_eq!(accesses(&result), 2);
    close(instants.response(2), 2.0 * hit_ms(8));
}

#[test]
fn what_is_trimmed_is_not_there_and_does_not_go_to_the_medium() {
    // Of 16 dirty blocks in the middle of a line of 1 MiB 4 are trimmed: the rest goes in two pieces.
    let rows = [
        (0.0, "write", 4196, 16),
        (50.0, "trim", 4200, 4),
        (100.0, "flush", 0, 0),
        (200.0, "read", 4196, 16),
        (300.0, "trim", 0, 100_000),
        (400.0, "read", 4196, 4),
    ];
    let result = run(&rows, &back("size = \"8 MiB\"\nblock_size = \"1 MiB\""));
    let count = |key| cache(&result, key);
    assert_eq!((count("destages"), count("destaged_blocks")), (2.0, 12.0));
    let trimmed = (count("trimmed_blocks"), count("trimmed_dirty_blocks"));
    assert_eq!(trimmed, (4.0 + 16.0, 4.0));
    // The first read fetches what was trimmed, the second everything.
    assert_eq!((count("partial_read_hits"), count("read_hits")), (1.0, 0.0));
    assert_eq!(count("frame_misses"), 2.0);
    assert_eq!(accesses(&result), 4);
}

#[test]
fn what_is_trimmed_before_it_is_sent_to_the_medium_is_called_off() {
    // One slot: the first write is on its way to the medium when the second and the third are evicted.
    let rows = |trims: &[Row]| {
        let mut rows = vec![
            (0.0, "write", 800, 8),
            (0.5, "write", 90_000, 8),
            (1.0, "write", 190_000, 8),
            (1.5, "flush", 0, 0),
        ];
        rows.extend(trims);
        rows
    };
    let run = |trims: &[Row]| {
        let cache = back("size = \"4 KiB\"");
        let queue = "[device.hdd.queue]\ndepth = 2\nscheduler = \"fcfs\"\n";
        run(&rows(trims), &format!("{queue}{cache}"))
    };
    let destaged = |result: &Value| (cache(result, "destages"), cache(result, "destaged_blocks"));
    assert_eq!(destaged(&run(&[])), (3.0, 24.0));
    // The last one waits for a slot.
    let last = run(&[(1.6, "trim", 189_000, 2_000)]);
    assert_eq!(destaged(&last), (2.0, 16.0));
    let halves = run(&[(1.6, "trim", 190_003, 2)]);
    assert_eq!(destaged(&halves), (4.0, 22.0));
    let (head, tail) = (
        run(&[(1.6, "trim", 190_006, 9)]),
        run(&[(1.6, "trim", 189_999, 2)]),
    );
    assert_eq!(
        (destaged(&head), destaged(&tail)),
        ((3.0, 22.0), (3.0, 23.0))
    );
    // The first one is with the disk already: the trim waits for it, and the write of the same blocks for the trim.
    let first = run(&[
        (1.6, "trim", 800, 8),
        (1.7, "write", 800, 8),
        (300.0, "read", 800, 8),
    ]);
    assert_eq!(cache(&first, "destages"), 3.0);
    assert_eq!(cache(&first, "read_hits"), 1.0);
}

#[test]
fn a_trim_waits_for_a_read_of_its_blocks() {
    for (lbn, blocks, waits) in [(800, 8, true), (804, 1, true), (816, 8, false)] {
        let rows = [(0.0, "read", 800, 8), (0.1, "trim", lbn, blocks)];
        let (instants, _) = timed(&rows, SMALL);
        assert_eq!(
            instants.completion[1] > instants.completion[0],
            waits,
            "{lbn}"
        );
    }
}

#[test]
fn a_request_longer_than_the_cache_passes_by_it_in_part() {
    let rows = [
        (0.0, "read", 800, 64),
        (100.0, "read", 800, 8),
        (200.0, "read", 856, 8),
    ];
    let (_, result) = timed(&rows, "[device.hdd.cache]\nsize = \"32 blocks\"\n");
    assert_eq!(
        (cache(&result, "bypassed"), cache(&result, "read_hits")),
        (4.0, 1.0)
    );
    let rows = [(0.0, "write", 800, 64), (100.0, "read", 800, 64)];
    let (_, result) = timed(&rows, &back("size = \"32 blocks\""));
    assert_eq!(
        (accesses(&result), cache(&result, "absorbed_writes")),
        (2, 0.0)
    );
}

/// A cache of one frame in front of a pool that holds all: what the one has lost the other still has, and what is complete in the pool can
/// be flushed from it.
#[test]
fn a_pool_behind_the_cache_serves_what_the_cache_has_not() {
    let pool =
        "{ size = \"1 MiB\", hit_overhead = \"0.3 ms\", write_cache = { idle = \"1000 s\" } }";
    let rows = [
        (0.0, "read", 800, 8),
        (100.0, "read", 8_000_000, 8),
        (200.0, "read", 800, 8),
        (300.0, "read", 800, 8),
        (400.0, "write", 16_000, 8),
        (500.0, "read", 8_000_000, 8),
        (600.0, "read", 16_000, 8),
        (700.0, "flush", 0, 0),
    ];
    let small =
        "write_cache = true\n[device.hdd.cache]\nsize = \"4 KiB\"\nhit_overhead = \"0.1 ms\"\n";
    let outcome = run_behind(pool, &rows, small);
    let (times, result) = (Instants::of(&outcome), outcome.json());
    let of_pool = 0.3 + 0.101 * 8.0;
    for (request, expected) in [
        (2, of_pool),
        (3, hit_ms(8)),
        // The switch for the write cache is that of the pool, and the cache in front of it writes through.
        (4, of_pool),
        (5, of_pool),
        (6, of_pool),
    ] {
        close(times.response(request), expected);
    }
    assert!(times.response(0) > of_pool && times.response(7) > 1.0);
    let pool = &result["devices"]["hdd.pool"];
    assert_eq!(pool["read_hits"], 3);
    assert_eq!(pool["absorbed_writes"], 1);
    assert_eq!(pool["destages"], 1);
    assert_eq!(cache(&result, "read_hits"), 1.0);
    assert_eq!(accesses(&result), 3);
    let settings = &result["devices"]["hdd"]["settings"];
    assert_eq!(settings["write_cache"]["value"], true, "{settings}");
}

#[test]
fn with_a_cache_the_buffer_is_off_unless_asked_for() {
    let rows = [(0.0, "read", 800, 16)];
    let off = run(&rows, SMALL);
    assert!(off["devices"]["hdd"]["buffer_hits"].is_null());
    let workload = "[workload.synthetic]\nrequests = 10\narrivals = { closed = { users = 1 } }\n[device.hdd]\ndrive = \"ibm-18es\"\n";
    let run = |more: &str| {
        outcome_of(
            &from_text(format!("{workload}{more}")),
            &RunOptions::default(),
        )
        .unwrap_or_else(|error| panic!("{error}"))
        .json()
    };
    let has_buffer = |result: &Value| result["devices"]["hdd"]["buffer_hits"].is_u64();
    let unsaid = run(SMALL);
    assert!(!has_buffer(&unsaid));
    assert_eq!(unsaid["spec"]["device"]["hdd"]["buffer"], false);
    let asked = run(&format!("buffer = true\n{SMALL}"));
    assert!(has_buffer(&asked));
    assert!(has_buffer(&run("")));
}

#[test]
fn policies_miss_as_often_as_in_front_of_nothing() {
    // One request at a time, of one cache block: nothing is pinned when a frame is needed.
    for block in [1u32, 8] {
        miss_alike(block);
    }
}

/// All policies on a load of requests within cache blocks of `block` blocks, parts of them too.
fn miss_alike(block: u32) {
    let mut chance = Stream::new(7, "drive cache");
    let rows: Vec<Row> = (0..3000)
        .map(|i| {
            let near = chance.below(4) > 0;
            let key = if near {
                chance.below(40)
            } else {
                chance.below(2000)
            };
            let op = if chance.below(3) == 0 {
                "write"
            } else {
                "read"
            };
            let first = chance.below(block.into());
            let blocks = 1 + chance.below(u64::from(block) - first);
            let lbn = key * u64::from(block) + first;
            (f64::from(i), op, lbn, blocks as u32)
        })
        .collect();
    let (_folder, path) = trace(&rows);
    let shedding = "{ slru = { segments = 4, protected = 0.75, variant = \"libcachesim\" } }";
    let policies: Vec<String> = ReplacementSpec::NAMES
        .iter()
        .copied()
        .filter(|name| !["belady", "min", "opt"].contains(name))
        // Their choices depend on what accesses took.
        .filter(|name| !["atca", "atca-simple", "fac", "greedy-dual", "greedydual"].contains(name))
        // It draws from streams of other names.
        .filter(|&name| name != "random")
        .map(|name| format!("\"{name}\""))
        .chain([shedding.to_owned()])
        .collect();
    for policy in policies {
        let options = MissRatioOptions {
            policies: policy.clone(),
            capacities: "100".into(),
            block_size: Size::from_blocks(block.into()),
            ..MissRatioOptions::default()
        };
        let counted = miss_ratio(&path, &options, &mut ());
        let misses = counted.unwrap_or_else(|error| panic!("{error}")).points[0].misses;
        for writes in ["write-through", "write-back"] {
            let text = format!(
                "[workload]\ntrace = \"{}\"\npace = \"closed\"\n[host]\noutstanding = 1\n[device.hdd]\ndrive = \"ibm-18es\"\n\
                 [device.hdd.cache]\nsize = \"{} blocks\"\nblock_size = \"{block} blocks\"\npolicy = {policy}\nwrite_policy = \"{writes}\"\n",
                path.display(),
                100 * block
            );
            let outcome = outcome_of(&from_text(text), &RunOptions::default());
            let result = outcome.unwrap_or_else(|error| panic!("{error}")).json();
            assert_eq!(
                cache(&result, "frame_misses"),
                misses as f64,
                "{policy}, {writes}"
            );
        }
    }
}

#[test]
fn what_a_cache_cannot_be_is_refused_where_it_stands() {
    for (cache, wanted) in [
        ("size = \"9 blocks\"", "multiple of block_size"),
        (
            "size = \"8 MiB\"\nblock_size = \"2 MiB\"",
            "1 block to 1 MiB",
        ),
        ("size = \"8 MiB\"\npolicy = \"min\"", "miss-ratio"),
        ("size = \"8 MiB\"\npolicy = \"lur\"", "lru"),
        ("size = \"8 MiB\"\nwrite_policy = \"back\"", "write-back"),
        ("policy = \"lru\"", "size"),
    ] {
        let error = outcome_of(&from_text(format!(
                "[workload.synthetic]\nrequests = 10\narrivals = {{ closed = {{ users = 1 }} }}\n[device.hdd]\ndrive = \"ibm-18es\"\n\
                 [device.hdd.cache]\n{cache}\n"
            )), &RunOptions::default())
            .expect_err(cache)
            .to_string();
        assert!(
            error.contains(wanted) && error.contains("spec:"),
            "{cache}: {error}"
        );
    }
}

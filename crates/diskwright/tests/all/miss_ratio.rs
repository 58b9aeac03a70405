//! Do caches miss as often as they must?

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;

use diskwright::base::random::Stream;
use diskwright::base::units::Size;
use diskwright::runs::miss_ratio::{MissRatioOptions, MissRatios, miss_ratio};

/// Capacities in objects, and of 113,872 requests, each for one object named by its first LBN, those that miss: counted by another
/// simulator, libCacheSim, with its default parameters.
const CAPACITIES: [u64; 5] = [50, 500, 2_000, 8_000, 32_000];
const MISSES: [(&str, [u64; 5]); 9] = [
    ("lru", [102_640, 95_398, 94_189, 87_740, 67_182]),
    ("fifo", [103_684, 96_483, 94_588, 87_596, 71_931]),
    (SLRU, [101_005, 94_579, 93_636, 85_035, 56_139]),
    ("arc", [99_723, 94_218, 92_829, 82_230, 63_222]),
    (S3_FIFO, [99_479, 94_551, 92_455, 80_658, 70_108]),
    ("sieve", [99_993, 94_379, 93_411, 84_794, 64_323]),
    ("lfu", [103_009, 96_651, 93_707, 84_794, 64_323]),
    ("2q", [98_826, 94_565, 93_075, 82_104, 71_835]),
    ("clock", [102_439, 95_293, 94_081, 87_731, 64_356]),
];
/// As it reads the definitions of these two.
const SLRU: &str = "{ slru = { segments = 4, protected = 0.75, variant = \"libcachesim\" } }";
const S3_FIFO: &str = "{ s3-fifo = { variant = \"libcachesim\" } }";
const TRACE: &str = "libcachesim/cloudPhysicsIO.vscsi";

fn options(policies: &str, capacities: &str) -> MissRatioOptions {
    MissRatioOptions {
        policies: policies.to_owned(),
        capacities: capacities.to_owned(),
        granularity: "object".to_owned(),
        ..MissRatioOptions::default()
    }
}

fn found(path: &Path, options: &MissRatioOptions) -> MissRatios {
    miss_ratio(path, options, &mut ()).expect("a trace")
}

fn listed(capacities: &[u64]) -> String {
    let texts: Vec<String> = capacities.iter().map(u64::to_string).collect();
    texts.join(",")
}

/// The misses of each point.
fn misses(found: &MissRatios) -> Vec<u64> {
    found.points.iter().map(|point| point.misses).collect()
}

/// A trace of accesses with popular, rare and recurring objects, as a table: device, LBN, blocks, whether it is a write.
fn made(seed: u64, requests: usize) -> Vec<(u64, u64, u64, bool)> {
    let mut stream = Stream::new(seed, "requests");
    let mut request = |at: usize| {
        let lbn = match stream.below(3) {
            0 => stream.below(40) * 8,
            1 => stream.below(4_000),
            _ => (at as u64 * 3) % 700,
        };
        let blocks = 1 + stream.below(24);
        (stream.below(2), lbn, blocks, stream.below(3) == 0)
    };
    (0..requests).map(&mut request).collect()
}

fn written(requests: &[(u64, u64, u64, bool)]) -> tempfile::NamedTempFile {
    let mut text = "time_s,device,lbn,blocks,op\n".to_owned();
    for (at, (device, lbn, blocks, write)) in requests.iter().enumerate() {
        let op = if *write { 'w' } else { 'r' };
        writeln!(text, "{at},{device},{lbn},{blocks},{op}").expect("memory");
    }
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("written");
    file
}

/// The accesses to blocks of the cache.
fn blocks(requests: &[(u64, u64, u64, bool)], size: u64) -> Vec<((u64, u64), bool)> {
    let touched = requests.iter().flat_map(|&(device, lbn, blocks, write)| {
        let range = lbn / size..=(lbn + blocks - 1) / size;
        range.map(move |block| ((device, block), write))
    });
    touched.collect()
}

/// Misses of reads and of writes of a FIFO or LRU cache, by the book.
fn by_the_book(accesses: &[((u64, u64), bool)], capacity: usize, lru: bool) -> [u64; 2] {
    let (mut queue, mut misses) = (VecDeque::new(), [0; 2]);
    for (object, write) in accesses {
        match queue.iter().position(|other| other == object) {
            Some(at) if lru => {
                queue.remove(at);
                queue.push_back(*object);
            }
            Some(_) => {}
            None => {
                misses[usize::from(*write)] += 1;
                if queue.len() == capacity {
                    queue.pop_front();
                }
                queue.push_back(*object);
            }
        }
    }
    misses
}

#[test]
fn blocks_shares_and_sizes_are_counted_by_the_book() {
    for (seed, size) in [(1, 8), (2, 1), (3, 13)] {
        let requests = made(seed, 2_000);
        let accesses = blocks(&requests, size);
        let distinct: BTreeSet<(u64, u64)> = accesses.iter().map(|(object, _)| *object).collect();
        let distinct = distinct.len() as u64;
        let block_bytes = size * 512;
        // Sizes in bytes need not be whole blocks of the cache.
        let capacities = format!(
            "20,10%,{} B,100%,99.9%,1000000",
            33 * block_bytes / 512 * 512
        );
        let share = |percent: f64| (distinct as f64 * percent / 100.0).round() as u64;
        let expected = [20, share(10.0), 33, distinct, share(99.9), 1_000_000];
        let trace = written(&requests);
        let options = MissRatioOptions {
            granularity: "block".to_owned(),
            block_size: Size::from_blocks(size),
            ..options("fifo,lru", &capacities)
        };
        let found = found(trace.path(), &options);
        assert_eq!(found.distinct, Some(distinct));
        assert_eq!(
            (found.requests, found.accesses),
            (2_000, accesses.len() as u64)
        );
        for (at, point) in found.points.iter().enumerate() {
            let capacity = expected[at % expected.len()];
            assert_eq!(point.capacity, capacity, "{}", point.asked);
            assert_eq!(point.capacity_bytes, Some(capacity * block_bytes));
            let lru = point.policy == "lru";
            let [reads, writes] = by_the_book(&accesses, capacity as usize, lru);
            let counted = (point.read_misses, point.write_misses, point.misses);
            assert_eq!(counted, (reads, writes, reads + writes), "{point:?}");
            let ratio = (reads + writes) as f64 / accesses.len() as f64;
            assert_eq!((point.miss_ratio, point.miss_ratio_ci95), (ratio, None));
        }
    }
}

#[test]
fn one_pass_and_two_count_the_same() {
    let trace = written(&made(4, 3_000));
    let sized = found(trace.path(), &options("fifo,lru", "7,100,900"));
    // With a share, everything but the stack waits until the objects are counted.
    let shared = found(trace.path(), &options("fifo,lru", "7,100,900,50%"));
    let of = |found: &MissRatios, policy: &str| {
        let points = found.points.iter().filter(|point| point.policy == policy);
        points.map(|point| point.misses).take(3).collect::<Vec<_>>()
    };
    for policy in ["fifo", "lru"] {
        assert_eq!(of(&sized, policy), of(&shared, policy), "{policy}");
    }
    let huge = found(trace.path(), &options("fifo", "7,100,900,4000000000000"));
    assert_eq!(misses(&huge)[..3], of(&sized, "fifo"));
    assert_eq!(misses(&huge)[3], huge.distinct.expect("counted"));
    assert!(
        huge.warnings[0].contains("4000000000000 hold all"),
        "{:?}",
        huge.warnings
    );
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let trace = written(&made(5, 4_000));
    let answer = |threads, sample| {
        let options = MissRatioOptions {
            threads: NonZeroUsize::new(threads),
            sample,
            ..options("lru,fifo", "100,500,30%")
        };
        serde_json::to_string(&found(trace.path(), &options)).expect("plain data")
    };
    for sample in [None, Some(0.2)] {
        assert_eq!(answer(1, sample), answer(7, sample), "{sample:?}");
    }
}

#[test]
fn the_optimum_is_that_of_the_book() {
    let requests = made(6, 3_000);
    let accesses = blocks(&requests, 8);
    // From the last access to the first: when each object is accessed next.
    let (mut later, mut next) = (BTreeMap::new(), vec![usize::MAX; accesses.len()]);
    for (at, (object, _)) in accesses.iter().enumerate().rev() {
        next[at] = later.insert(*object, at).unwrap_or(usize::MAX);
    }
    let trace = written(&requests);
    let capacities = [3, 40, 200];
    let options = MissRatioOptions {
        granularity: "block".to_owned(),
        ..options("belady", &listed(&capacities))
    };
    let found = misses(&found(trace.path(), &options));
    for (capacity, found) in capacities.into_iter().zip(found) {
        let (mut held, mut misses) = (BTreeMap::new(), 0);
        for (at, (object, _)) in accesses.iter().enumerate() {
            if !held.contains_key(object) {
                misses += 1;
                if held.len() as u64 == capacity {
                    let (victim, _) = held.iter().max_by_key(|(_, next)| **next).expect("full");
                    let victim = *victim;
                    held.remove(&victim);
                }
            }
            held.insert(*object, next[at]);
        }
        assert_eq!(found, misses, "{capacity} blocks");
    }
}

#[test]
fn options_without_sense_are_refused() {
    let trace = written(&made(7, 100));
    let refused = |options: MissRatioOptions| {
        let refused = miss_ratio(trace.path(), &options, &mut ());
        refused.expect_err("no sense").to_string()
    };
    let plain = || options("lru", "10");
    for (wrong, message) in [
        (options("lru,lruu", "10"), "did you mean \"lru\""),
        (options("lru", "10,64MiB"), "objects have no size"),
        (
            MissRatioOptions {
                granularity: "blocks".to_owned(),
                ..plain()
            },
            "did you mean \"block\"",
        ),
        (
            MissRatioOptions {
                block_size: Size::default(),
                ..plain()
            },
            "512 bytes or more",
        ),
        (
            MissRatioOptions {
                sample: Some(0.0),
                ..plain()
            },
            "a sample of 0",
        ),
        (
            MissRatioOptions {
                sample: Some(1.5),
                ..plain()
            },
            "a sample of 1.5",
        ),
        (
            MissRatioOptions {
                sample: Some(f64::NAN),
                ..plain()
            },
            "a sample of NaN",
        ),
        (
            MissRatioOptions {
                sample_seeds: 0,
                ..plain()
            },
            "0 samples",
        ),
        (
            MissRatioOptions {
                sample: Some(0.01),
                ..plain()
            },
            "less than one object in a sample of 0.01",
        ),
        (
            MissRatioOptions {
                sample: Some(1e-9),
                ..options("lru", "1000000000")
            },
            "holds none of the trace's",
        ),
        (
            MissRatioOptions {
                device: Some(9),
                ..plain()
            },
            "no read or write of device 9",
        ),
    ] {
        let error = refused(wrong);
        assert!(error.contains(message), "{message}: {error}");
    }
    // All of it is no sample.
    let whole = MissRatioOptions {
        sample: Some(1.0),
        ..plain()
    };
    let whole = found(trace.path(), &whole);
    assert_eq!(
        (whole.sample, misses(&whole)),
        (None, misses(&found(trace.path(), &plain())))
    );
    // One sample has no interval.
    let one = MissRatioOptions {
        sample: Some(0.5),
        sample_seeds: 1,
        ..plain()
    };
    assert_eq!(
        found(trace.path(), &one).points[0].miss_ratio_ci95,
        Some(None)
    );
}

mod reference_data {
    use super::*;
    use crate::support::reference::reference;

    #[test]
    #[cfg_attr(
        not(reference = "libcachesim"),
        ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
    )]
    fn another_simulator_counts_the_same_misses() {
        let trace = reference(TRACE);
        let names: Vec<&str> = MISSES.iter().map(|(name, _)| *name).collect();
        let found = found(&trace, &options(&names.join(","), &listed(&CAPACITIES)));
        assert_eq!((found.requests, found.accesses), (113_872, 113_872));
        for (at, (name, expected)) in MISSES.iter().enumerate() {
            let counted = &misses(&found)[5 * at..5 * at + 5];
            assert_eq!(counted, expected, "{name}");
        }
    }

    #[test]
    #[cfg_attr(
        not(reference = "libcachesim"),
        ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
    )]
    fn the_intervals_of_samples_hold_the_exact_ratios() {
        let trace = reference(TRACE);
        let (mut points, mut held, mut error) = (0u32, 0u32, 0.0f64);
        for granularity in ["object", "block"] {
            let exact = MissRatioOptions {
                granularity: granularity.to_owned(),
                ..options("lru,fifo", "2%,5%,10%,20%,40%,80%")
            };
            let truth = found(&trace, &exact);
            for seed in 1..=5 {
                let sampled = MissRatioOptions {
                    sample: Some(0.1),
                    seed,
                    ..exact.clone()
                };
                let estimated = found(&trace, &sampled);
                assert_eq!(
                    (estimated.requests, estimated.accesses),
                    (truth.requests, truth.accesses)
                );
                for (exact, point) in truth.points.iter().zip(&estimated.points) {
                    let [low, high] = point.miss_ratio_ci95.flatten().expect("ten samples");
                    points += 1;
                    held += u32::from((low..=high).contains(&exact.miss_ratio));
                    error = error.max((point.miss_ratio - exact.miss_ratio).abs());
                }
            }
        }
        println!(
            "{held} of {points} intervals hold the exact ratio; the largest error is {error:.4}"
        );
        // Points of one seed share their samples; were all independent, fewer than 105 of 120 would be one in ten thousand.
        assert!(held >= 102, "{held} of {points}");
        assert!(error < 0.03, "{error}");
    }
}

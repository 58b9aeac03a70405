//! Misses that are known: libCacheSim's of a recorded trace, and those of plain models of a long Zipf load.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use diskwright::base::random::Stream;
use diskwright::models::cache::ObjectCache;
use diskwright::models::cache::object_cache::Found;
use diskwright::workload::{FormatOptions, open};

use super::common::{accesses, misses, policy};
use super::models::models;

/// What libCacheSim's default parameters are here.
const POLICIES: [&str; 9] = [
    "'lru'",
    "'fifo'",
    "{ slru = { segments = 4, protected = 0.75, variant = 'libcachesim' } }",
    "'arc'",
    "{ s3-fifo = { variant = 'libcachesim' } }",
    "'sieve'",
    "'lfu'",
    "'2q'",
    "'clock'",
];

/// Misses of 113,872 requests by capacity, in the order of [`POLICIES`]: libCacheSim at commit aa0fc409.
const KNOWN: [(u32, [usize; 9]); 5] = [
    (
        50,
        [
            102_640, 103_684, 101_005, 99_723, 99_479, 99_993, 103_009, 98_826, 102_439,
        ],
    ),
    (
        500,
        [
            95_398, 96_483, 94_579, 94_218, 94_551, 94_379, 96_651, 94_565, 95_293,
        ],
    ),
    (
        2000,
        [
            94_189, 94_588, 93_636, 92_829, 92_455, 93_411, 93_707, 93_075, 94_081,
        ],
    ),
    (
        8000,
        [
            87_740, 87_596, 85_035, 82_230, 80_658, 84_794, 84_794, 82_104, 87_731,
        ],
    ),
    (
        32_000,
        [
            67_182, 71_931, 56_139, 63_222, 70_108, 64_323, 64_323, 71_835, 64_356,
        ],
    ),
];

/// Objects with weights 1, 1/2, 1/3, …, drawn so often.
fn zipf(objects: usize, draws: usize) -> Vec<u64> {
    let mut total = 0.0;
    let sums: Vec<f64> = (1..=objects)
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    let mut stream = Stream::new(42, "zipf");
    let draws = (0..draws).map(|_| stream.unit() * total);
    draws
        .map(|u| sums.partition_point(|&sum| sum <= u) as u64)
        .collect()
}

#[test]
#[ignore = "takes a minute"]
fn every_eviction_of_a_zipf_load_is_that_of_a_plain_model() {
    let capacity = 1000;
    let accesses = accesses(&zipf(10_000, 200_000));
    let next = Rc::new(RefCell::new(0));
    for (text, mut model) in models(capacity, &next) {
        let mut cache = ObjectCache::new(capacity, policy(text, capacity));
        let mut held = BTreeSet::new();
        for access in &accesses {
            let key = access.key;
            *next.borrow_mut() = access.next;
            let expected = if held.contains(&key) {
                model.hit(key);
                while let Some(gone) = model.shed(&|other| other != key) {
                    held.remove(&gone);
                }
                Found::Hit
            } else {
                model.miss(key);
                let is_full = held.len() == capacity as usize;
                let left = if is_full {
                    model.evict(&|_| true)
                } else {
                    None
                };
                left.map(|gone| held.remove(&gone));
                model.insert(key);
                held.insert(key);
                Found::Miss(left)
            };
            assert_eq!(cache.access(access), expected, "{text}");
        }
    }
}

mod reference_data {
    use super::*;
    use crate::support::reference::reference;

    #[test]
    #[cfg_attr(
        not(reference = "libcachesim"),
        ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
    )]
    fn misses_are_those_of_libcachesim() {
        let path = reference("libcachesim/cloudPhysicsIO.vscsi");
        let mut reader = open(&path, &FormatOptions::default()).expect("opened");
        let mut keys = Vec::new();
        while let Some(record) = reader.next().expect("read") {
            keys.push(record.lbn.0);
        }
        let accesses = accesses(&keys);
        for (capacity, known) in KNOWN {
            let found = POLICIES.map(|text| misses(text, capacity, &accesses));
            assert_eq!(found, known, "{capacity}");
            let least = misses("'belady'", capacity, &accesses);
            assert!(found.iter().all(|&misses| misses > least), "{capacity}");
        }
    }
}

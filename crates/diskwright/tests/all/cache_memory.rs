//! What a line of a cache takes of the memory.

use diskwright::base::random::Stream;
use diskwright::models::cache::BlockCache;
use diskwright::models::cache::block_cache::Place;
use diskwright::models::cache::replacement::ReplacementSpec;

use crate::replacement::policy;
use crate::support::counting::{held, most_held_during};
use crate::support::try_run;

/// Bytes that a line may take, everything included.
const MOST: f64 = 64.0;

/// Policies that keep a list and a mark or two.
const LIKE_LRU: [&str; 6] = ["lru", "fifo", "lifo", "clock", "sieve", "slru"];

/// Bytes of a line of a full cache of `lines` lines, all of them dirty, each pinned once, in the order of their keys or in none.
fn bytes_per_line(name: &str, lines: u32, in_order: bool) -> f64 {
    let before = held();
    let mut cache = BlockCache::new(lines, 8, policy(&format!("{name:?}"), lines));
    let mut victims = Vec::new();
    let mut chance = Stream::new(1, "lines");
    let mut key = 0;
    let mut fresh = 0;
    while fresh < lines {
        key = if in_order {
            key + 3
        } else {
            chance.below(1 << 40)
        };
        let Place::New(frame) = cache.access(key, true, &mut victims) else {
            continue;
        };
        fresh += 1;
        cache.put(frame, &cache.whole(key), true);
        cache.pin(frame);
        cache.unpin_all(&[Some(frame)]);
    }
    assert_eq!(
        (cache.held(), cache.dirty_lines()),
        (lines as usize, lines as usize)
    );
    let bytes = held() - before;
    bytes as f64 / f64::from(lines)
}

fn check(names: &[&str], lines: u32) {
    for name in names {
        for in_order in [false, true] {
            let bytes = bytes_per_line(name, lines, in_order);
            println!("{name}: {lines} lines, in order: {in_order}: {bytes:.1} bytes each");
            assert!(
                bytes <= MOST,
                "{name}: {bytes} bytes a line, in order: {in_order}"
            );
        }
    }
}

#[test]
fn a_million_lines_take_64_bytes_each_at_most() {
    check(&LIKE_LRU, 1_000_000);
}

/// The sizes at which the index has just grown are the worst.
#[test]
fn so_do_a_few_more_than_the_index_had_room_for() {
    check(&["lru"], 941_409);
}

#[test]
#[ignore = "takes a minute and 2 GB"]
fn thirty_million_lines_take_64_bytes_each_at_most() {
    check(&["lru", "slru"], 30_000_000);
}

/// 256 MB in extents of 4 KiB, all of them held and half of them dirty, in 16 MiB with all that is known of what is dirty.
#[test]
fn a_pool_of_65536_extents_takes_16_mib_at_most() {
    let run = |size: &str| {
        let text = format!(
            "[workload.synthetic]\nrequests = 110_000\nreads = 0.6\nsize = \"4 KiB\"\naddress = \"uniform\"\n\
             arrivals = {{ closed = {{ users = 16 }} }}\n[measure]\nwarmup = 0\n\
             [device.hdd]\ndrive = \"ibm-18es\"\nwrite_cache = true\n[device.hdd.buffer]\nsize = \"{size}\"\n\
             [device.hdd.buffer.write_cache]\nshare = 0.5\nhigh = 1.0\nlow = 1.0\nidle = \"1000 s\"\nage = \"100000 s\"\n"
        );
        let (result, bytes) = most_held_during(|| try_run(&text).expect("it runs"));
        (result["devices"]["hdd.pool"].clone(), bytes)
    };
    let (small, base) = run("1 MiB");
    let (large, with_pool) = run("256 MiB");
    assert_eq!(
        (&small["frames"], &large["frames"]),
        (&256.into(), &65_536.into())
    );
    assert!(large["evictions"].as_u64() > Some(10_000), "{large}");
    assert_eq!(large["dirty_extents_max"], 32_768, "{large}");
    let mib = (with_pool - base) as f64 / f64::from(1 << 20);
    println!("{mib:.1} MiB");
    assert!(mib <= 16.0, "{mib} MiB");
}

/// What a spec is told that a cache may come to need is never less than what it takes.
#[test]
fn every_policy_keeps_to_what_it_says() {
    for row in ReplacementSpec::rows() {
        let lines = 114_689;
        let spec = crate::replacement::spec(&format!("{:?}", row.name)).expect("a policy");
        let said = spec.memory(lines, u64::MAX)
            + diskwright::models::cache::replacement::lines_memory(lines, 8, u64::MAX);
        let bytes = bytes_per_line(row.name, lines, false) * f64::from(lines);
        assert!(bytes <= said as f64, "{}: {bytes}, said {said}", row.name);
    }
}

/// A policy that has no blocks yet keeps to it, too.
#[test]
fn every_policy_keeps_from_the_beginning_to_what_it_says() {
    for row in ReplacementSpec::rows() {
        let name = format!("{:?}", row.name);
        let spec = crate::replacement::spec(&name).expect("a policy");
        let before = held();
        let built = policy(&name, 1 << 20);
        let bytes = held() - before;
        drop(built);
        // A few words are not worth a word.
        let said = spec.memory(1 << 20, 1) + 1024;
        assert!(bytes as u64 <= said, "{name}: {bytes}, said {said}");
    }
}

/// Lines of 1 MiB, each of them partly there and partly dirty.
#[test]
fn large_lines_that_are_partly_there_keep_to_what_is_said_of_them() {
    let (lines, blocks) = (4_000, 2048);
    let before = held();
    let mut cache = BlockCache::new(lines, blocks, policy("'lru'", lines));
    let mut victims = Vec::new();
    let mut take = |cache: &mut BlockCache, key: u64| {
        let Place::New(frame) = cache.access(key, true, &mut victims) else {
            panic!("line {key} is new");
        };
        victims.drain(..).for_each(|victim| cache.release(victim));
        let part = cache.whole(key).within(key * 2048 + 5, 9);
        cache.put(frame, &part.expect("in the line"), true);
    };
    (0..u64::from(lines)).for_each(|key| take(&mut cache, key));
    let full = (held() - before) as u64;
    let said = diskwright::models::cache::replacement::lines_memory(lines, blocks, u64::MAX);
    assert!(full <= said, "{full} bytes, said {said}");
    // Lines that leave give back what they had: others take their places.
    (u64::from(lines)..3 * u64::from(lines)).for_each(|key| take(&mut cache, key));
    let later = (held() - before) as u64;
    assert!(
        later < full + full / 100,
        "{later} bytes after two turnovers, {full} before"
    );
}

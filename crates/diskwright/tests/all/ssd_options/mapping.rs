//! The cached map: what a miss takes, that the least recently looked up leaves and is written if it was changed, and the knee of latency where
//! the working set fits the memory.

use serde_json::Value;

use super::{PAGE, PROGRAM, Plane, READ};

/// Pages of which a map unit of 4 KiB has the entries.
const OF_UNIT: u64 = 1024;
/// The time of a page or a map unit that is read.
const ALONE: u64 = READ + PAGE;

/// A drive of some ten map units that has been written, with `cache` of them in memory.
fn times(cache: u32, requests: &[(u64, &str, u64)]) -> (Vec<u64>, Value) {
    let plane = Plane {
        blocks: 96,
        pages: 256,
        spare: "50 %",
        more: &format!("[cleaning]\nbegin = 2\n[mapping]\ncache = '{cache} blocks'"),
    };
    plane.times(requests)
}

/// Requests of the first page of these map units, far apart.
fn each(op: &'static str, numbers: impl Iterator<Item = u64>) -> Vec<(u64, &'static str, u64)> {
    (0..)
        .zip(numbers)
        .map(|(at, number)| (at * 10_000_000, op, number * OF_UNIT))
        .collect()
}

#[test]
fn a_read_of_what_is_not_in_memory_takes_another_read() {
    let (times, ssd) = times(8 * 12, &each("read", [0, 0, 1, 0, 1].into_iter()));
    assert_eq!(times, [2 * ALONE, ALONE, 2 * ALONE, ALONE, ALONE]);
    let mapping = &ssd["mapping"];
    assert_eq!(
        (&mapping["look_ups"], &mapping["misses"]),
        (&5.into(), &2.into())
    );
    assert_eq!(
        (&mapping["read_units"], &mapping["written_units"]),
        (&2.into(), &0.into())
    );
}

/// Of map units that are looked up in turn all are found when they fit, and none when one more does not.
#[test]
fn map_units_in_turn_fit_the_memory_or_are_all_read_again() {
    for room in [1, 2, 5] {
        for of in [room, room + 1] {
            let rounds = 4;
            let numbers = (0..rounds * of).map(|number| number % of);
            let (times, ssd) = times(8 * room as u32, &each("read", numbers));
            let misses = if of == room { of } else { rounds * of };
            assert_eq!(ssd["mapping"]["misses"], misses, "{of} in {room}");
            assert_eq!(times.iter().sum::<u64>(), (rounds * of + misses) * ALONE);
        }
    }
}

/// A changed map unit is written when it is evicted: the program of a page with one unit, without a buffer.
#[test]
fn a_map_unit_that_was_changed_is_written_when_it_leaves() {
    for (op, written) in [("read", 0), ("write", 5)] {
        let mut requests = each(op, 0..5);
        requests.extend(
            each("read", 5..7)
                .into_iter()
                .map(|(at, op, page)| (at + 50_000_000, op, page)),
        );
        let (times, ssd) = times(8 * 2, &requests);
        assert_eq!(ssd["mapping"]["written_units"], written, "{op}");
        assert_eq!(ssd["host_pages"], 2 * written);
        // A write waits for its map unit, and behind the program of the one that has left.
        let mapped = |number: u64| {
            if number < 2 {
                ALONE
            } else {
                ALONE + PAGE + PROGRAM
            }
        };
        for (number, &time) in (0..5).zip(&times) {
            let expected = match op {
                "read" => 2 * ALONE,
                _ => mapped(number) + PAGE + PROGRAM,
            };
            assert_eq!(time, expected, "{op} {number}");
        }
    }
}

/// Uniform reads: of W map units that are looked up at random C are in memory, and a share of 1 − C/W of reads takes another read. The knee is at
/// C = W.
#[test]
fn latency_has_its_knee_where_the_working_set_fits() {
    let of = 10_u64;
    let mut at_random = 1_u64;
    let numbers: Vec<u64> = (0..3_000)
        .map(|_| {
            at_random = at_random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (at_random >> 33) % of
        })
        .collect();
    let mut means = Vec::new();
    for room in 1..=12 {
        let (times, _) = times(8 * room as u32, &each("read", numbers.iter().copied()));
        // Not of those that fill the memory.
        let warm = &times[100..];
        let mean = warm.iter().sum::<u64>() as f64 / warm.len() as f64;
        let missed = 1.0 - (room.min(of) as f64 / of as f64);
        let expected = ALONE as f64 * (1.0 + missed);
        println!(
            "{room} of {of} map units: {:.1} us for {:.1}",
            mean / 1e3,
            expected / 1e3
        );
        assert!(
            (mean / expected - 1.0).abs() < 0.02,
            "{room}: {mean} for {expected}"
        );
        means.push(mean);
    }
    // From the knee on nothing is left to gain.
    assert_eq!(means[9..], [ALONE as f64; 3]);
}

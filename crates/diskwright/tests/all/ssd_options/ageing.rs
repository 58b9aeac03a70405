//! Reads that are retried by age and wear, and blocks that are refreshed because of reads and age.

use super::{PAGE, Plane, READ};

/// Ten blocks of 8 pages with four of data, all written before the run.
fn plane(more: &str) -> String {
    format!("[cleaning]\nbegin = 1\n{more}")
}

fn run(more: &str, requests: &[(u64, &str, u64)]) -> (Vec<u64>, serde_json::Value) {
    let more = plane(more);
    let plane = Plane {
        blocks: 10,
        pages: 8,
        spare: "60 %",
        more: &more,
    };
    plane.times(requests)
}

#[test]
fn a_read_is_retried_once_more_for_every_step_of_age_up_to_the_most() {
    let (step, time, at) = (1_000_000_000, 70_000, 500);
    for (age, retries) in [
        (0, 0),
        (step - at - 1, 0),
        (step - at, 1),
        (2 * step - at - 1, 1),
        (2 * step - at, 2),
        (3 * step - at, 3),
        (9 * step, 3),
    ] {
        let retry = format!(
            "[retry]\ntime = '{time} ns'\nage = '{step} ns'\nmost = 3\ninitial_age = '{age} ns'"
        );
        let (times, ssd) = run(&retry, &[(at, "read", 5)]);
        assert_eq!(times, [READ + retries * time + PAGE], "{age} ns");
        assert_eq!(ssd["retries"], retries);
    }
}

/// What is written in the run is new; and a block erased so often takes a retry more.
#[test]
fn new_data_are_not_retried_for_age_but_for_the_wear_of_their_block() {
    let time = 70_000;
    // Two blocks of data, over and over: 2,000 writes are 250 blocks, which are erased in turn.
    let mut requests: Vec<_> = (0..2_000)
        .map(|n| (n * 5_000_000, "write", n % 16))
        .collect();
    let end = 20_000_000_000;
    requests.push((end, "read", 3));
    for (erases, is_worn) in [(5, true), (100_000, false)] {
        let retry = format!(
            "[retry]\ntime = '{time} ns'\nerases = {erases}\nage = '1000 s'\nmost = 9000\ninitial_age = '999 s'"
        );
        let (times, ssd) = run(&retry, &requests);
        let retries = (times[2_000] - READ - PAGE) / time;
        let of = |key: &str| ssd["erases"][key].as_u64().expect("a count");
        assert!(of("max") > 10, "it was erased");
        match is_worn {
            true => assert!((of("min") / erases..=of("max") / erases).contains(&retries)),
            false => assert_eq!(retries, 0),
        }
    }
}

#[test]
fn a_block_that_was_read_so_often_is_moved_in_the_background() {
    for (reads, refreshed) in [(19, 0), (20, 1), (21, 1)] {
        let requests: Vec<_> = (0..reads).map(|n| (n * 1_000_000, "read", n % 8)).collect();
        let mut all = requests.clone();
        // It is moved by then; and the block with its data has had one read.
        all.push((1_000_000_000, "read", 0));
        let (times, ssd) = run("[refresh]\nreads = 20", &all);
        assert_eq!(ssd["refreshed_blocks"], refreshed + u64::from(reads == 19));
        if refreshed == 1 {
            assert_eq!(ssd["moved_pages"], 8);
            assert_eq!(ssd["erases"]["total"], 1);
        }
        assert_eq!(times[reads as usize], READ + PAGE);
    }
}

#[test]
fn a_block_that_is_older_than_it_may_be_is_moved_at_the_next_look() {
    let (age, period) = (9_000_000_000_u64, 1_000_000_000_u64);
    for (initial, blocks) in [(age - period, 0), (age - period + 1, 1)] {
        let more = format!(
            "[retry]\ntime = '0 ns'\nmost = 0\ninitial_age = '{initial} ns'\n[refresh]\nage = '{age} ns'\nperiod = '{period} ns'"
        );
        // Behind the first look, and before the second one.
        let (_, ssd) = run(
            &more,
            &[(0, "read", 0), (2 * period - 100_000_000, "read", 0)],
        );
        assert_eq!(ssd["refreshed_blocks"], blocks, "{initial} ns");
        assert_eq!(ssd["moved_pages"], 8 * blocks);
    }
}

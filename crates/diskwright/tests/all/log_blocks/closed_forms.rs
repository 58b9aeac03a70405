//! What is known by hand of sequential overwrites, of more blocks than log blocks, and of the time of a merge.

use serde_json::Value;

use super::drive::{Act, Drive, ERASE, PAGE, PROGRAM, READ};

/// Pages of a block.
const PAGES: usize = 16;

fn drive(scheme: &str, log_blocks: usize, data: usize) -> Drive<'_> {
    Drive {
        scheme,
        log_blocks,
        victim: None,
        pages: PAGES,
        data,
        more: 1,
        filled: true,
        tables: "",
    }
}

fn count(ssd: &Value, place: &str) -> u64 {
    ssd.pointer(place).and_then(Value::as_u64).expect("a count")
}

fn merges(ssd: &Value) -> [u64; 3] {
    ["switch", "partial", "full"].map(|kind| count(ssd, &format!("/mapping/merges/{kind}")))
}

/// Writes of one page of each of `blocks` blocks in turn, another page of each in every round.
fn in_turn(blocks: usize, rounds: usize) -> Vec<Act> {
    let all = (0..rounds).flat_map(|round| (0..blocks).map(move |block| (round, block)));
    // No page is the first one of its block, and none follows the one before.
    all.map(|(round, block)| Act::Write(block * PAGES + 1 + (round * 2) % (PAGES - 1)))
        .collect()
}

#[test]
fn sequential_overwrites_give_switch_merges_alone_and_amplify_nothing() {
    let data = 20;
    let acts: Vec<Act> = (0..3 * data * PAGES)
        .map(|number| Act::Write(number % (data * PAGES)))
        .collect();
    for (scheme, log_blocks, left) in [
        ("block", 1, 1),
        ("block", 4, 4),
        ("bast", 3, 3),
        ("fast", 3, 1),
    ] {
        let (_, ssd) = drive(scheme, log_blocks, data).does(&acts);
        // The last ones are still log blocks.
        assert_eq!(merges(&ssd), [3 * data as u64 - left, 0, 0], "{scheme}");
        assert_eq!(ssd["write_amplification"], 1.0, "{scheme}");
        assert_eq!(ssd["moved_pages"], 0);
    }
}

/// More blocks in turn than log blocks: with BAST every write merges another one, with as many log blocks as blocks one of them in as many writes
/// as a block has pages.
#[test]
fn log_blocks_thrash_when_one_block_more_is_written_than_there_are() {
    let (logs, rounds) = (4, 40);
    for blocks in [logs, logs + 1] {
        let acts = in_turn(blocks, rounds);
        let (_, ssd) = drive("bast", logs, 10).does(&acts);
        let full = match blocks == logs {
            // Each log block is merged when it is full and written again.
            true => blocks * ((rounds - 1) / PAGES),
            // Every write but the first ones.
            false => acts.len() - logs,
        } as u64;
        assert_eq!(merges(&ssd), [0, 0, full], "{blocks} blocks");
        assert_eq!(count(&ssd, "/moved_pages"), full * PAGES as u64);
        let amplification = ssd["write_amplification"].as_f64().expect("a number");
        let expected = 1.0 + (full * PAGES as u64) as f64 / acts.len() as f64;
        println!(
            "BAST, {blocks} blocks in turn, {logs} log blocks: {full} merges, WA {amplification:.2}"
        );
        assert!((amplification - expected).abs() < 1e-9);
    }
}

/// With FAST the same blocks share the log blocks: when one is merged it holds pages of each of them, so that each is merged once in as many writes
/// as a block has pages.
#[test]
fn shared_log_blocks_merge_less_than_those_of_each_block() {
    let (blocks, rounds) = (5, 64);
    let acts = in_turn(blocks, rounds);
    let [bast, fast] = ["bast", "fast"].map(|scheme| drive(scheme, 4, 10).does(&acts).1);
    let (of_bast, of_fast) = (merges(&bast)[2], merges(&fast)[2]);
    println!(
        "{} writes of {blocks} blocks in turn: {of_bast} full merges with BAST, WA {}; {of_fast} with FAST, WA {}",
        acts.len(),
        bast["write_amplification"],
        fast["write_amplification"]
    );
    assert_eq!(of_bast, acts.len() as u64 - 4);
    // At most once for each block and log block that was filled.
    let filled = (acts.len() / PAGES) as u64;
    assert!(of_fast <= filled * blocks as u64 && 2 * of_fast < of_bast);
}

/// One page of a block written in another block each time: a map of blocks copies the rest of the block with every write.
#[test]
fn a_map_of_blocks_copies_a_block_for_a_page() {
    let acts: Vec<Act> = (0..100)
        .map(|number| Act::Write(number % 10 * PAGES + (number * 7) % PAGES))
        .collect();
    let (_, ssd) = drive("block", 1, 10).does(&acts);
    // The last one is not complete: what comes behind it has not been copied.
    let last = (99 * 7) % PAGES;
    let moved = 99 * (PAGES - 1) + last;
    assert_eq!(count(&ssd, "/moved_pages"), moved as u64);
    let [switch, partial, full] = merges(&ssd);
    assert_eq!((switch + partial, full), (99, 0));
}

/// The write that needs a merge waits for all of it.
#[test]
fn a_write_waits_for_its_merge() {
    let alone = PAGE + PROGRAM;
    let copy = READ + PAGE + PAGE + PROGRAM;
    let pages = PAGES as u64;
    // Page 5 of another block for which there is no log block: a full merge, and two erases.
    let (times, _) = drive("bast", 1, 4).does(&[Act::Write(5), Act::Write(PAGES + 5)]);
    assert_eq!(times, [alone, pages * copy + 2 * ERASE + alone]);
    // The first three pages in order: what is behind them is copied to them.
    let acts = [0, 1, 2, PAGES + 5].map(Act::Write);
    let (times, _) = drive("bast", 1, 4).does(&acts);
    assert_eq!(times[3], (pages - 3) * copy + ERASE + alone);
    // All pages in order.
    let acts: Vec<Act> = (0..PAGES + 1).map(Act::Write).collect();
    let (times, _) = drive("bast", 1, 4).does(&acts);
    assert_eq!(times[PAGES], ERASE + alone);
    // A map of blocks copies what is before the page.
    let (times, _) = drive("block", 1, 4).does(&[Act::Write(5)]);
    assert_eq!(times, [5 * copy + alone]);
}

//! The SLC cache: its capacity, how it shrinks, what is written when it is full, when it is folded, and a drive that was measured.

use serde_json::Value;

use super::{ERASE, PAGE, PROGRAM, Plane, READ, writes};
use crate::support::{RunOptions, run_with};

/// Times of the cache of the small drive, ns.
const SLC_READ: u64 = 20_000;
const SLC_PROGRAM: u64 = 100_000;
/// Pages of a block in SLC mode.
const SLC_PAGES: u64 = 4;

/// Blocks of 12 pages, 4 of them in SLC mode, and what else is said of the cache; `fill` of the drive is written.
fn cached(slc: &str, cleaning: &str, fill: &str) -> String {
    format!(
        "[cleaning]\nbegin = 2\n{cleaning}\n[slc]\npages = {SLC_PAGES}\nread = '{SLC_READ} ns'\nprogram = '{SLC_PROGRAM} ns'\n{slc}\n\
         [initial]\nfill = '{fill}'"
    )
}

fn times_of(blocks: u32, more: &str, requests: &[(u64, &str, u64)]) -> (Vec<u64>, Value) {
    let plane = Plane {
        blocks,
        pages: 12,
        spare: "50 %",
        more,
    };
    plane.times(requests)
}

#[test]
fn the_fixed_part_takes_its_blocks_and_not_a_page_more() {
    for fixed in 1..=3 {
        let more = cached(&format!("fixed = {fixed}"), "", "0 %");
        let (times, ssd) = times_of(40, &more, &writes(0, 30, 0));
        for (number, time) in (0..).zip(times) {
            let program = match number < fixed * SLC_PAGES {
                true => SLC_PROGRAM,
                false => PROGRAM,
            };
            assert_eq!(time, PAGE + program, "{fixed} blocks, write {number}");
        }
        assert_eq!(ssd["slc"]["pages"], fixed * SLC_PAGES);
        assert_eq!(ssd["host_pages"], 30);
        assert_eq!(
            ssd["slc"]["capacity_mb_at_end"],
            fixed as f64 * 4.0 * 4096.0 / 1e6
        );
    }
}

#[test]
fn a_read_takes_what_the_mode_of_its_block_takes() {
    let more = cached("fixed = 1", "", "0 %");
    let mut requests = writes(0, 5, 0);
    requests.extend([(9_000_000, "read", 3), (10_000_000, "read", 4)]);
    let (times, _) = times_of(40, &more, &requests);
    assert_eq!(times[5..], [SLC_READ + PAGE, READ + PAGE]);
}

/// Of 40 blocks 1 + 2 + 1 are kept. With d full blocks of data 36 − d are unused, and each that the cache fills holds a third of a block more.
#[test]
fn the_dynamic_part_shrinks_as_the_drive_fills() {
    // The host has 240 pages, 20 blocks: a fill of 5 % is one of them.
    for (fill, data) in [(100, 20), (95, 19), (50, 10), (0, 0)] {
        for dynamic in [14, 15, 16, 17, 26, 27] {
            let more = cached(&format!("dynamic = {dynamic}"), "", &format!("{fill} %"));
            let (mut in_slc, mut written) = (0_u64, 0_u64);
            loop {
                // New pages are those behind the fill; what is written again is valid only once.
                let valid = written.max(data * 12);
                if in_slc == dynamic.min(36_u64.saturating_sub(valid.div_ceil(12))) {
                    break;
                }
                (in_slc, written) = (in_slc + 1, written + SLC_PAGES);
            }
            // A block more: nothing is folded for it.
            let (_, ssd) = times_of(40, &more, &writes(0, written + 12, 0));
            assert_eq!(ssd["slc"]["pages"], written, "{fill} %, {dynamic}");
            assert_eq!(ssd["host_pages"], written + 12);
        }
    }
}

/// A block in SLC mode is folded when the drive has been idle for `fold_after`, and not a nanosecond before.
#[test]
fn an_idle_drive_folds_and_the_cache_is_back() {
    let after = 50_000_000;
    let more = cached(&format!("fixed = 1\nfold_after = '{after} ns'"), "", "0 %");
    let last = 3 * 1_500_000 + PAGE + SLC_PROGRAM;
    let fold = 4 * (SLC_READ + PAGE + PAGE + PROGRAM) + ERASE;
    for (pause, is_folded) in [(after - 1, false), (after, true)] {
        let mut requests = writes(0, 4, 0);
        // A read that keeps the drive from being idle for long enough, or comes when it has been.
        requests.push((last + pause, "read", 0));
        requests.push((last + pause + fold + READ, "write", 9));
        let (times, ssd) = times_of(40, &more, &requests);
        let program = if is_folded { SLC_PROGRAM } else { PROGRAM };
        assert_eq!(times[5], PAGE + program, "a pause of {pause} ns");
        // In the end all is folded but the block that is open.
        assert_eq!(ssd["slc"]["folded_pages"], if is_folded { 4 } else { 0 });
    }
}

/// When the cache is full, the host either writes pages as slowly as the native mode does, or waits for folds.
#[test]
fn a_full_cache_is_written_around_or_folded() {
    for (full, expected) in [
        ("direct", PAGE + PROGRAM),
        (
            "fold",
            // Every block in SLC mode is written, folded and erased, and every third time a native one is full, which frees none.
            PAGE + SLC_PROGRAM + SLC_READ + 2 * PAGE + PROGRAM + ERASE / SLC_PAGES,
        ),
    ] {
        let more = cached(&format!("fixed = 2\nfull = '{full}'"), "", "0 %");
        let count = 200;
        let requests: Vec<_> = (0..count).map(|page| (0, "write", page)).collect();
        let (times, ssd) = times_of(40, &more, &requests);
        let cached = 2 * SLC_PAGES;
        // The last write comes when all before it are done: of them those of the cache took the time of it.
        let rest = times[count as usize - 1] - cached * (PAGE + SLC_PROGRAM);
        let mean = rest as f64 / (count - cached) as f64;
        let off = mean / expected as f64 - 1.0;
        println!("{full}: {mean} ns a page for {expected}");
        assert!(off.abs() < 0.02, "{full}: {mean} for {expected}");
        let moved = ssd["slc"]["folded_pages"].as_u64().expect("a count");
        assert_eq!(moved > 0, full == "fold");
    }
}

/// The Samsung 980 PRO with planes of a twelfth of the pages and a tenth of the blocks, which the cache has as well.
fn of_980_pro(gb: f64, pause: Option<&str>) -> Value {
    let pause = pause.map_or(String::new(), |pause| format!("pause = '{pause}'\n"));
    let requests = gb * 1e9 / (120.0 * 1048576.0);
    run_with(
        &format!(
            "[workload.synthetic]\nrequests = {requests:.0}\narrivals = {{ closed = {{ users = 1 }} }}\nreads = 0.0\nsize = '1 MiB'\n\
             address = 'sequential'\n{pause}[measure]\nwarmup = 0\n[device.ssd]\ndrive = 'samsung-980-pro'\n\
             flash = {{ channels = 8, dies = 2, planes = 2, blocks = 182, pages = 96, page = '16 KiB', unit = '16 KiB' }}\n\
             timing = {{ read = ['40 us'], read_part = ['35 us'], program = ['150 us'], erase = '291.667 us', block = '427 ns' }}\n\
             slc = {{ pages = 32, fixed = 3, dynamic = 54, read = '25 us', program = '117 us', erase = '291.667 us', full = 'fold', fold_after = '500 ms' }}\n\
             buffer = {{ size = '5 MiB' }}\nrecovery = {{ checkpoint = '128 MiB' }}\ninitial = {{ fill = '0 %' }}"
        ),
        &RunOptions::default(),
    )
}

/// A review of the real drive: 113 GB at 4 GB/s, then 1.5 GB/s (TechPowerUp, 2020).
#[test]
fn the_samsung_980_pro_writes_as_fast_as_was_measured() {
    let mb_s = |result: &Value| result["mb_per_s"].as_f64().expect("a rate");
    let seconds = |result: &Value| result["simulated_s"].as_f64().expect("a time");
    let bytes = |result: &Value| mb_s(result) * seconds(result);
    let near = |what: &str, found: f64, expected: f64| {
        let off = found / expected - 1.0;
        println!("{what}: {found:.1} for {expected}, {:+.1} %", off * 100.0);
        assert!(off.abs() < 0.1, "{what}: {found} for {expected}");
    };
    let (short, long, longer) = (
        of_980_pro(60.0, None),
        of_980_pro(150.0, None),
        of_980_pro(300.0, None),
    );
    near("into the cache, MB/s", mb_s(&short), 4000.0);
    let rate = (bytes(&longer) - bytes(&long)) / (seconds(&longer) - seconds(&long));
    near("behind it, MB/s", rate, 1500.0);
    // Where the two lines meet.
    let cache = (bytes(&long) - rate * seconds(&long)) / (1.0 - rate / mb_s(&short));
    near("the cache, GB", cache * 120.0 / 1e3, 113.0);
}

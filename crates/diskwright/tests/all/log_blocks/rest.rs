//! What goes on with a map of blocks as with one of pages: buffers, several planes, levelling, wear, refresh, suspension, power cuts.

use serde_json::Value;

use super::drive::{APART, Act, Drive, ERASE, PAGE, PROGRAM, READ};
use crate::ssd_options::outcome_with;
use crate::support::{RunOptions, run};

const PAGES: usize = 8;

fn drive<'a>(scheme: &'a str, tables: &'a str) -> Drive<'a> {
    Drive {
        scheme,
        log_blocks: 2,
        victim: None,
        pages: PAGES,
        data: 16,
        more: 2,
        filled: true,
        tables,
    }
}

/// Writes of the first blocks of sixteen, again and again.
fn hot(count: usize) -> Vec<Act> {
    (0..count)
        .map(|number| Act::Write(number * 5 % (4 * PAGES)))
        .collect()
}

fn number(ssd: &Value, place: &str) -> f64 {
    ssd.pointer(place)
        .and_then(Value::as_f64)
        .expect("a number")
}

#[test]
fn levelling_lets_cold_blocks_wear_too() {
    for scheme in ["block", "bast", "fast"] {
        let [without, with] = ["", "[wear.static]\nspread = 3\nevery = 4\n"]
            .map(|tables| drive(scheme, tables).does(&hot(2000)).1);
        let spread = |ssd: &Value| number(ssd, "/erases/max") - number(ssd, "/erases/min");
        println!(
            "{scheme}: spread {} without, {} with levelling",
            spread(&without),
            spread(&with)
        );
        assert!(number(&with, "/levelled_blocks") > 0.0);
        assert_eq!(
            number(&without, "/erases/min"),
            0.0,
            "cold blocks are never erased"
        );
        assert!(number(&with, "/erases/min") > 0.0 && spread(&with) < spread(&without) * 0.8);
    }
}

/// The plane's spare blocks wear out one after another; then the drive can only be read.
#[test]
fn a_worn_out_drive_can_only_be_read() {
    for scheme in ["block", "bast", "fast"] {
        let endured = |endurance: u32, writes| {
            let tables = format!("[wear]\nendurance = {endurance}\n");
            drive(scheme, &tables).does(&hot(writes)).1
        };
        let ssd = endured(5, 600);
        assert!(ssd["read_only_since_s"].is_number(), "{scheme}");
        // The drive has two spare blocks; a merge may wear out the third one and another.
        let bad = ssd["bad_blocks"].as_u64();
        assert!(matches!(bad, Some(3 | 4)), "{scheme}: {bad:?}");
        assert!(
            endured(5000, 600)["read_only_since_s"].is_null(),
            "{scheme}"
        );
    }
}

/// A spec of a drive of several planes with everything that goes with a map of blocks.
fn whole(scheme: &str, more: &str) -> Value {
    run(&format!(
        "seed = 3\n[workload.synthetic]\nrequests = 600\nreads = 0.3\nsize = \"12 blocks\"\naddress = \"uniform\"\narrivals = {{ closed = {{ users = 8 }} }}\n\
         [measure]\nwarmup = 0\n[device.ssd]\ndrive = \"slc-classic\"\nmapping = {{ scheme = \"{scheme}\", log_blocks = 4 }}\n\
         flash = {{ channels = 2, dies = 2, planes = 2, blocks = 40, pages = 16, page = \"4 KiB\" }}\nspare = {{ share = \"30 %\" }}\n\
         allocation = {{ fixed = 4 }}\nreads_allocate = false\n{more}"
    ))
}

/// Parts of pages, reads among writes, buffers and operations on several planes: with the checker on, what is read is what was written.
#[test]
fn planes_buffers_and_suspension_work_with_it() {
    for scheme in ["block", "bast", "fast"] {
        for more in [
            "",
            "copy_back = true",
            "initial = { fill = \"70 %\", pattern = \"random\", overwrite = 0.5 }",
            "multi_plane = { read = \"1 us\", program = \"1 us\" }\nbuffer = { size = \"256 KiB\", capacitor = true }",
            "buffer = { size = \"64 KiB\" }\nsuspend = { program = { cost = \"5 us\", most = 3 }, erase = { cost = \"5 us\", most = 3 } }",
            "refresh = { reads = 8, age = \"2 s\", period = \"70 ms\" }\nretry = { time = \"10 us\", erases = 2, most = 3 }",
            "buffer = { size = \"64 KiB\" }\n[[fault]]\nat = \"500 ms\"\nkind = \"power-cut\"",
            "buffer = { size = \"64 KiB\", capacitor = true }\n[[fault]]\nat = \"1300 ms\"\nkind = \"power-cut\"",
        ] {
            let ssd = &whole(scheme, more)["devices"]["ssd"];
            assert_eq!(ssd["mapping"]["scheme"], scheme);
            assert!(number(ssd, "/moved_pages") > 0.0, "{scheme} {more}");
            // Planes that always merge refresh nothing.
            if more.contains("refresh") && scheme != "fast" {
                assert!(number(ssd, "/refreshed_blocks") > 0.0, "{scheme}");
            }
            if more.contains("power-cut") {
                assert!(number(ssd, "/recovery/scanned_pages") > 0.0, "{scheme}");
            }
        }
    }
}

/// A block of which only the last page is written is full at once: a copy made before that is there would have nothing to copy, and erase it.
#[test]
fn a_block_is_refreshed_when_its_last_page_has_been_programmed() {
    let acts = [
        Act::Trim(0),
        Act::Write(PAGES - 1),
        Act::Trim(0),
        Act::Trim(0),
    ];
    let end = APART + PAGE + PROGRAM;
    for scheme in ["block", "bast", "fast"] {
        // The second look finds the page there in any case, and moves it.
        for (look, moved) in [(APART, 1), (APART + 1, 1), (end, 1), (end + 1, 2)] {
            let tables = format!("[refresh]\nage = '0 s'\nperiod = '{look} ns'\n");
            let mut empty = drive(scheme, &tables);
            empty.filled = false;
            let ssd = empty.does(&acts).1;
            assert_eq!(ssd["moved_pages"], moved, "{scheme}, {look} ns");
        }
    }
}

/// After a power cut a full data block is known by one page, a drive with a map of pages looks at all.
#[test]
fn a_map_of_blocks_is_found_sooner() {
    let cut = "[[fault]]\nat = \"1 ns\"\nkind = \"power-cut\"";
    let logged = whole("bast", cut);
    let scanned = number(&logged, "/devices/ssd/recovery/scanned_pages");
    // 70 % of 8 planes with 40 blocks.
    assert_eq!(scanned, 224.0);
}

/// In the middle of a merge the log block is read as far as it was written, and the block that is copied to as far as copies have begun.
#[test]
fn a_merge_that_the_power_interrupts_is_found() {
    let scanned = |scheme: &str, acts: &[(u64, &str, u64)], at: u64| {
        let mut drive = drive(scheme, "");
        // With `fast` one of two is for sequential writes.
        drive.log_blocks = if scheme == "fast" { 2 } else { 1 };
        let head = format!("fault = [{{ at = '{at} ns', kind = 'power-cut' }}]");
        let result = outcome_with(&drive.text(), &head, acts, &RunOptions::default()).json();
        number(&result, "/devices/ssd/recovery/scanned_pages")
    };
    let (data, pages) = (16.0, PAGES as u64);
    let copy = READ + 2 * PAGE + PROGRAM;
    // Two pages of the first block are logged; a page of the second one merges them.
    let next = 4 * PROGRAM;
    let acts = [(0, "write", 5), (0, "write", 3), (next, "write", pages + 5)];
    let merged = next + pages * copy;
    for (at, logged) in [
        (next - 1, 2.0),
        // The log block and the first copy; before the end of the last one; before and in the erases of the old blocks.
        (next + 1, 2.0 + 1.0),
        (next + copy + 1, 2.0 + 2.0),
        (merged - 1, 2.0 + 8.0),
        (merged + 1, 2.0),
        (merged + ERASE + 1, 0.0),
        (merged + 2 * ERASE + PAGE + 1, 1.0),
    ] {
        assert_eq!(scanned("bast", &acts, at), data + logged, "bast at {at}");
    }
    // Pages in order are logged in place: the rest of the block is copied behind them, and the old one erased.
    let acts = [(0, "write", 0), (0, "write", 1), (next, "write", pages + 5)];
    let merged = next + (pages - 2) * copy;
    for (at, logged) in [
        (next + 1, 2.0 + 1.0),
        (merged - 1, 8.0),
        (merged + ERASE + PAGE + 1, 1.0),
    ] {
        assert_eq!(
            scanned("bast", &acts, at),
            data + logged,
            "in place at {at}"
        );
    }
    // A full log block that is shared: one of its logical blocks after the other is copied, and its old block erased; at last the log block is.
    let page = |block: u64, page: u64| (0, "write", block * pages + page);
    let mut acts: Vec<_> = (0..pages).map(|n| page(n % 2, 1 + n / 2)).collect();
    let next = (pages + 1) * PROGRAM;
    acts.push((next, "write", 2 * pages + 5));
    let first = next + pages * copy;
    let second = first + ERASE + pages * copy;
    for (at, logged) in [
        (next - 1, 8.0),
        (next + 1, 8.0 + 1.0),
        (first - 1, 8.0 + 8.0),
        (first + 1, 8.0),
        (first + ERASE + copy + 1, 8.0 + 2.0),
        (second - 1, 8.0 + 8.0),
        (second + 1, 8.0),
        (second + ERASE + 1, 0.0),
        (second + 2 * ERASE + PAGE + 1, 1.0),
    ] {
        assert_eq!(scanned("fast", &acts, at), data + logged, "fast at {at}");
    }
    // With a map of blocks, the pages before the one that is written are copied first.
    let acts = [(0, "write", 5)];
    for (at, logged) in [
        (1, 1.0),
        (copy + 1, 2.0),
        (5 * copy - 1, 5.0),
        (5 * copy + PAGE + 1, 6.0),
    ] {
        assert_eq!(scanned("block", &acts, at), data + logged, "block at {at}");
    }
}

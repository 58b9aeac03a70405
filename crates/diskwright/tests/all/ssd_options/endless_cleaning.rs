//! Cleaning that changes the cached map, whose units are written and cleaned again: changed together, a block at a time, it ends.

use std::fmt::Write as _;

use diskwright::base::random::Stream;
use serde_json::Value;

use crate::support::{run, try_run};

/// A drive of one plane with pages of units of 512 B and one map unit of 128 entries in memory, all of it written. It is overwritten at random,
/// a write when the one before is over; a day later a page is read.
fn overwritten((pages, units): (u32, u32), spare: f64, begin: u32, writes: u64) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.csv").display().to_string();
    let all = f64::from(64 * pages * units);
    let held = all - (all * spare / 100.0).round();
    let mut chance = Stream::new(1, "overwritten");
    let mut text = String::from("time_ns,op,lbn,blocks\n");
    for number in 0..writes {
        let lbn = chance.below(held as u64);
        writeln!(text, "{},write,{lbn},1", number * 100_000_000).expect("text");
    }
    writeln!(
        text,
        "{},read,0,1",
        writes * 100_000_000 + 86_400_000_000_000
    )
    .expect("text");
    std::fs::write(&trace, text).expect("written");
    run(&format!(
        "seed = 1\n[workload]\ntrace = \"{trace}\"\nformat = \"csv\"\npace = \"recorded\"\n[measure]\nwarmup = 0\n\
         [device.ssd]\ndrive = \"mqsim-clean\"\nreads_allocate = false\ninitial = {{ fill = \"100 %\", pattern = \"random\" }}\nmapping = {{ cache = \"1 blocks\" }}\n\
         flash = {{ channels = 1, blocks = 64, pages = {pages}, page = \"{units} blocks\", unit = \"1 blocks\" }}\nspare = {{ share = \"{spare} %\" }}\n\
         cleaning = {{ begin = {begin}, stop = {begin} }}\n[device.ssd.buffer]\nsize = \"0 blocks\""
    ))
}

/// As full as drives may be, and told to clean until more blocks are free than a plane ever has: moves of a block's data change the map,
/// which is written once for each map unit, not once for each unit, and the day ends with the drive at rest.
#[test]
fn cleaning_of_the_fullest_drives_ends() {
    for (shape, spare, begin) in [
        ((16, 8), 10.7, 2),
        ((16, 8), 10.7, 8),
        ((16, 1), 6.8, 8),
        ((16, 8), 12.0, 20),
        ((4, 8), 30.0, 20),
    ] {
        let (writes, later) = (100, 200);
        let [ssd, longer] = [writes, later].map(|writes| {
            let result = overwritten(shape, spare, begin, writes);
            assert_eq!(result["requests"]["failed"], 0, "{shape:?} {spare} {begin}");
            result["devices"]["ssd"].clone()
        });
        let erases = |ssd: &Value| ssd["erases"]["total"].as_u64().expect("a count");
        let (few, many) = (erases(&ssd), erases(&longer));
        println!(
            "{shape:?} {spare} % {begin}: {few} erases for {writes} writes, {many} for {later}"
        );
        // A day has room for 28,000,000 erases.
        assert!(many < 10 * later, "{many} erases");
        let units = ssd["mapping"]["written_units"].as_u64().expect("a count");
        let moved = ssd["moved_pages"].as_u64().expect("a count") * u64::from(shape.1);
        assert!(
            few == 0 || units < moved + 2 * writes,
            "{units} map units for {moved} moves"
        );
    }
}

/// A drive that can never have the free blocks that end cleaning is refused; one that can is not.
#[test]
fn a_drive_that_never_has_the_free_blocks_it_wants_is_refused() {
    let spec = |begin: u32| {
        format!(
            "[workload.synthetic]\nrequests = 9\narrivals = {{ constant = \"20 ms\" }}\nsize = \"8 blocks\"\n[device.ssd]\ndrive = \"mqsim-clean\"\nmapping = {{ cache = \"8 KiB\" }}\n\
             flash = {{ channels = 1, blocks = 64, pages = 16, page = \"8 KiB\" }}\nspare = {{ share = \"50 %\" }}\ncleaning = {{ begin = {begin} }}"
        )
    };
    // Of 64 blocks one is written by the host, one by cleaning, and one is opened.
    run(&spec(61));
    let error = try_run(&spec(62)).expect_err("refused").to_string();
    assert!(error.contains("accepted: at most 61 here"), "{error}");
}

/// Data that are always too old: what a refresh moves changes the map, whose units are written to be cleaned again. Refreshes wait until a page of
/// the host has been written, and not only for pages of the map.
#[test]
fn refreshes_that_change_the_map_let_the_host_write() {
    let result = run(
        "[workload.synthetic]\nrequests = 200\nreads = 0.2\nsize = \"8 blocks\"\naddress = { uniform = { from = 0, blocks = 20000 } }\n\
         arrivals = { closed = { users = 28 } }\n[measure]\nwarmup = 0\n[device.ssd]\ndrive = \"slc-classic\"\nqueue_depth = 9\n\
         multi_plane = { read = \"47 us\", program = \"13789 us\" }\ncleaning = { begin = 3, at_once = 3, stop = 5, throttled = false }\n\
         refresh = { age = \"435 us\", period = \"221 ms\" }\nmapping = { cache = \"54 blocks\" }\n\
         buffer = { size = \"68 blocks\", capacitor = true, hold = \"0 ms\" }\n\
         flash = { channels = 2, packages = 2, dies = 1, planes = 3, blocks = 12, pages = 227, page = \"1 blocks\", unit = \"1 blocks\" }\n\
         spare = { share = \"35.8747 %\", reserved = 0 }\n",
    );
    assert_eq!(result["requests"]["failed"], 0);
    let refreshed = result["devices"]["ssd"]["refreshed_blocks"].as_u64();
    assert!(refreshed > Some(10), "{refreshed:?}");
}

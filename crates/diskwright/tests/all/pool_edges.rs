//! Pools at the edges of what they may be: one slot for writes, no read-ahead, regions that are full, commands larger than the pool.

use diskwright::base::error::Error;
use serde_json::Value;

use crate::support;

/// What a drive with this pool does with a load that reads and writes, trims and flushes all the time, with the checker on.
#[track_caller]
fn run(pool: &str, write_cache: bool, load: &str) -> Value {
    let result = try_run(pool, write_cache, load).expect("a drive that can be built");
    let requests = &result["requests"];
    assert_eq!(requests["completed"], requests["issued"]);
    assert_eq!(requests["failed"], 0);
    result
}

fn try_run(pool: &str, write_cache: bool, load: &str) -> Result<Value, Error> {
    try_run_with(pool, write_cache, load, "")
}

/// The same with further tables of the device.
fn try_run_with(pool: &str, write_cache: bool, load: &str, tables: &str) -> Result<Value, Error> {
    let folder = tempfile::tempdir().expect("a folder");
    let drive = folder.path().join("drive.toml");
    let text = format!(
        "name = \"made up\"\nrotation = \"7200 rpm\"\nheads.switch = \"1 ms\"\nseek.linear = {{ single = \"1 ms\", full = \"9 ms\" }}\n\
         interface.rate = \"300 MB/s\"\noverhead.write_after_write = \"0.1 ms\"\n\
         [layout]\nsurfaces = 2\ncylinders = 2000\nzone = [{{ cylinders = [0, 1999], sectors_per_track = 500 }}]\n{pool}"
    );
    std::fs::write(&drive, text).expect("written");
    let spec = format!(
        "[workload.synthetic]\narrivals = {{ closed = {{ users = 6 }} }}\n{load}[measure]\nwarmup = 0\n\
         [device.hdd]\ndrive = \"{}\"\nwrite_cache = {write_cache}\n[device.hdd.queue]\ndepth = 4\n{tables}",
        drive.display()
    );
    support::try_run(&spec)
}

/// Small requests that meet.
const SMALL: &str = "requests = 2000\nreads = 0.4\nfua = 0.1\nflushes = 0.05\ntrims = 0.05\nsize = \"8 blocks\"\n\
                     address = { uniform = { from = 0, blocks = 800 } }\n";

fn count(result: &Value, key: &str) -> u64 {
    let value = &result["devices"]["hdd.pool"][key];
    value.as_u64().unwrap_or_else(|| panic!("{key} is {value}"))
}

#[test]
fn a_write_cache_of_one_slot_absorbs_one_write_after_another() {
    for extent in ["4 KiB", "8 KiB"] {
        let pool = format!(
            "[pool]\nsize = \"1 MiB\"\nextent = \"{extent}\"\n[pool.write_cache]\nshare = 0.001\n"
        );
        let result = run(&pool, true, SMALL);
        assert_eq!(count(&result, "dirty_extents_max"), 1);
        assert!(count(&result, "absorbed_writes") > 100);
        assert!(count(&result, "writes_that_waited_for_room") > 100);
    }
}

#[test]
fn a_pool_of_one_frame_serves_all() {
    let pool = "[pool]\nsize = \"4 KiB\"\n[pool.read_ahead]\n[pool.write_cache]\nshare = 1.0\n";
    let result = run(pool, true, SMALL);
    assert_eq!(count(&result, "dirty_extents_max"), 1);
    assert!(count(&result, "bypassed") > 0);
}

#[test]
fn nothing_is_read_ahead_where_nothing_may_be() {
    let sequential = "requests = 500\nreads = 1.0\nsize = \"8 blocks\"\naddress = \"sequential\"\n";
    let pieces = |rules: &str| {
        let pool = format!("[pool]\nsize = \"1 MiB\"\n[pool.read_ahead]\n{rules}");
        count(&run(&pool, true, sequential), "read_ahead_pieces")
    };
    assert_eq!(pieces("most = \"0 B\"\n"), 0);
    assert_eq!(pieces("streams = 0\n"), 0);
    assert_eq!(pieces("streams = 0\nafter = 0\n"), 0);
    assert!(pieces("") > 0);
}

#[test]
fn a_region_that_is_always_full_keeps_every_write() {
    // Every write fills the memory, and what presses is destaged before anything is kept; or only a full memory presses.
    for (memory, high, low) in [(1, 1.0, 0.0), (4, 1.0, 1.0), (4, 0.0, 0.0), (4, 1.0, 0.5)] {
        let pool = format!(
            "[pool]\nsize = \"1 MiB\"\n[pool.write_cache]\nhigh = {high:?}\nlow = {low:?}\n[pool.persistent]\nmemory = \"{} KiB\"\n\
             region = {{ count = 1, size = \"{} KiB\" }}\n",
            4 * memory,
            4 * (memory + 1)
        );
        let result = run(&pool, false, SMALL);
        assert_eq!(count(&result, "dirty_extents_max"), memory, "{pool}");
        assert!(count(&result, "absorbed_writes") > 100, "{pool}");
        assert!(count(&result, "region_passes") > 100, "{pool}");
    }
}

#[test]
fn regions_have_room_on_the_medium() {
    // A track has 250 KiB, a cylinder 500; two regions begin at the cylinders 500 and 1500, each with 62 slots of 4 KiB a track.
    let region = |count: u32, tracks: u32| {
        let pool = format!(
            "[pool]\nsize = \"16 MiB\"\n[pool.persistent]\nmemory = \"64 KiB\"\nregion = {{ count = {count}, size = \"{} KiB\" }}\n",
            count * tracks * 248
        );
        try_run(&pool, false, SMALL).map(|_| ())
    };
    let refused = |count, tracks| region(count, tracks).expect_err("no room").to_string();
    region(1, 2000).expect("to the end of the medium");
    let error = refused(1, 2001);
    assert!(
        error.contains("takes 1001 cylinders from cylinder 1000 on, where there are 1000"),
        "{error}"
    );
    region(2, 1000).expect("each its part, the last one to the end of the medium");
    let error = refused(2, 1001);
    assert!(
        error.contains("takes 501 cylinders from cylinder 1500 on, where there are 500"),
        "{error}"
    );
    // An extent of 512 blocks is longer than a track.
    let pool = "[pool]\nsize = \"16 MiB\"\nextent = \"256 KiB\"\n[pool.persistent]\nmemory = \"256 KiB\"\nregion.size = \"512 KiB\"\n";
    let error = try_run(pool, false, SMALL)
        .expect_err("too long")
        .to_string();
    assert!(
        error.contains("an extent of 512 sectors in a region with 500 on a track"),
        "{error}"
    );
}

#[test]
fn commands_of_32_mib_go_through_any_pool() {
    let large = "requests = 16\nreads = 0.4\nfua = 0.1\nflushes = 0.05\ntrims = 0.05\nsize = \"32 MiB\"\n\
                 address = { uniform = { from = 0, blocks = 400_000 } }\n";
    for size in [1, 32, 256] {
        let persistent = format!("[pool.persistent]\nmemory = \"{size} MiB\"\n");
        let region = format!("{persistent}region.size = \"{} MiB\"\n", size + 1);
        let write_cache = "[pool.write_cache]\nshare = 1.0\n".to_owned();
        for (keeping, is_volatile) in [(write_cache, true), (persistent, false), (region, false)] {
            let pool = format!(
                "[pool]\nsize = \"{size} MiB\"\nextent = \"64 KiB\"\n[pool.read_ahead]\n{keeping}"
            );
            let result = run(&pool, is_volatile, large);
            // What has more extents than may be dirty goes through.
            assert_eq!(count(&result, "absorbed_writes") > 0, size >= 32, "{pool}");
        }
    }
}

/// A write of part of a logged block waits for the arm that reads, and what must leave memory waits behind it, while the arm that writes has
/// nothing to do.
#[test]
fn what_must_leave_memory_waits_behind_the_writes_of_a_log() {
    let pool = "[pool]\nsize = \"160 KiB\"\n[pool.persistent]\nmemory = \"32 blocks\"\n";
    let load = "requests = 400\nreads = 0.2\nsize = \"8 blocks\"\naddress = { uniform = { from = 0, blocks = 8000 } }\n";
    let tables = "[device.hdd.arms]\nmotion = \"independent\"\n[[device.hdd.arms.arm]]\nwrites = false\n\
                  [[device.hdd.arms.arm]]\nreads = false\n[device.hdd.placement.logging]\nblock = \"104 blocks\"\n";
    let result = try_run_with(pool, false, load, tables).expect("a drive that can be built");
    assert_eq!(result["requests"]["completed"], 400);
}

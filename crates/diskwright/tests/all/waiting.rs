//! Requests wait for nobody: what can begin does, also beside a cleaner that finds nothing to do.

use crate::support::run;

/// A drive of one surface in a file of its own.
fn drive() -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let file = file.expect("a temporary file");
    let text = "name = \"one surface\"\nrotation = \"7200 rpm\"\nheads = { switch = \"0 ms\" }\nseek = { constant = \"1 ms\" }\n\
        [layout]\nsurfaces = 1\ncylinders = 100\nzone = [{ cylinders = [0, 99], sectors_per_track = 64 }]\n";
    std::fs::write(file.path(), text).expect("written");
    file
}

/// The mean response time, ms, of bursts of 60 ms every 10 s, of requests 20 ms apart, half of them reads, on a log.
fn mean_ms(arms: &str, cleaner: &str) -> f64 {
    let drive = drive();
    let found = run(&format!(
        "[workload.synthetic]\nrequests = 3000\nreads = 0.5\nsize = \"8 blocks\"\n\
         arrivals = {{ on-off = {{ on = \"60 ms\", off = \"10 s\", gap = \"20 ms\" }} }}\n\
         [measure]\nwarmup = 0\n\
         [device.hdd]\ndrive = \"{}\"\n{arms}\
         [device.hdd.placement.eager]\nreserve = 0.1\n{cleaner}\n",
        drive.path().display()
    ));
    found["response_ms"]["mean"].as_f64().expect("a number")
}

/// With these marks the cleaner wants more empty tracks than it can have. The last request of the run has nothing behind it that would
/// set the drive going.
#[test]
fn a_log_does_not_leave_its_queue_to_a_cleaner_that_finds_nothing_to_do() {
    let without = mean_ms("", "");
    let with = mean_ms("", "cleaner = { watermark = { low = 0.3, high = 0.5 } }");
    println!("{with} ms with the cleaner, {without} ms without");
    assert!(
        with < 3.0 * without,
        "{with} ms with the cleaner, {without} ms without"
    );
}

/// The cleaner has one arm at a time: the others serve what waits.
#[test]
fn independent_arms_serve_requests_beside_a_cleaner() {
    let arms = "arms = { motion = \"independent\", arm = [{ writes = false }, { reads = false, angle = 0.5 }, { writes = false, angle = 0.25 }] }\n";
    let arms_that_share = "arms = { motion = \"independent\", arm = [{}, { angle = 0.5 }] }\n";
    for arms in [arms, arms_that_share] {
        let with = mean_ms(arms, "cleaner = { watermark = { low = 0.3, high = 0.5 } }");
        assert!(with < 40.0, "{with} ms");
    }
}

/// How many tracks the cleaner of a log of half of the blocks has read, and how many are empty: behind one read that comes after an hour,
/// or when the power is cut before that.
fn cleaned(cleaner: &str, cut: &str) -> (u64, u64) {
    let drive = drive();
    let found = run(&format!(
        "[workload.synthetic]\nrequests = 1\nsize = \"8 blocks\"\narrivals = {{ constant = \"3600 s\" }}\n[measure]\nwarmup = 0\n{cut}\
         [device.hdd]\ndrive = \"{}\"\n\
         [device.hdd.placement.eager]\n{cleaner}\ninitial = {{ write = \"3200 blocks\", gap = \"3 ms\" }}\n",
        drive.path().display()
    ));
    let disk = &found["devices"]["hdd"];
    let count = |part: &str, key: &str| disk[part][key].as_u64().expect("a count");
    let empty = count("placement", "empty_tracks");
    (count("cleaner", "tracks_read"), empty)
}

#[test]
fn a_drive_is_idle_from_time_zero_on() {
    let cut = |at: &str| format!("[[fault]]\nat = \"{at}\"\nkind = \"power-cut\"\n");
    for (cleaner, begins) in [
        ("idle = { after = \"50 ms\", empty = 0.46 }", "50 ms"),
        ("watermark = { low = 0.46, high = 0.46 }", "0 ms"),
    ] {
        let cleaner = format!("cleaner = {{ {cleaner} }}");
        let (read, empty) = cleaned(&cleaner, "");
        assert_eq!(empty, 46, "{cleaner}");
        assert!(read > 0, "{cleaner}");
        assert_eq!(cleaned(&cleaner, &cut("1800 s")), (read, 46), "{cleaner}");
        let (read_by_then, empty) = cleaned(&cleaner, &cut(begins));
        assert!(read_by_then == 0 && empty < 46, "{cleaner}");
    }
}

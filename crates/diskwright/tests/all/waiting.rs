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

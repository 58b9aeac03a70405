//! Loads of processes that make no sense: each error names the key, what it found and what is accepted, and stands at the key in the file.

use crate::support::try_run;

const SOUND: &str = "[workload.processes]\nrequests = 10\n\
    [[workload.processes.generator]]\ngap_ms = { exponential = { mean = 5.0 } }\nsize_blocks = { uniform = { min = 1, max = 8 } }\n\
    critical = 0.2\nlimited = 0.3\nlimit_ms = { normal = { mean = 30.0, deviation = 100.0 } }\n\
    local = 0.3\ndistance_blocks = { normal = { mean = 0.0, deviation = 400.0 } }\n\
    [device.simple]\ncapacity = \"1 MiB\"\nread = \"1 ms\"\nwrite = \"1 ms\"\n";

#[test]
fn errors_say_what_is_wrong_and_what_is_accepted() {
    try_run(SOUND).expect("a sound spec");
    let generator = "workload.processes.generator[0].";
    for (from, to, key, told) in [
        (
            "requests = 10",
            "requests = 0",
            "workload.processes.requests",
            "is 0: expected 1 or more",
        ),
        (
            "requests = 10",
            "requests = 10\nprocessors = 0",
            "workload.processes.processors",
            "is 0: expected 1 to 65536",
        ),
        (
            "requests = 10",
            "requests = 10\ntime_scale = -1.0",
            "workload.processes.time_scale",
            "is -1: expected a number from 0",
        ),
        (
            "requests = 10",
            "requests = 10\nidle_processors = \"gone\"",
            "idle_processors",
            "resumed",
        ),
        (
            "requests = 10",
            "requests = 10\nprocessor = 2",
            "processor",
            "processors",
        ),
        (
            "critical = 0.2",
            "critical = 0.8",
            generator,
            "critical and limited are 1.1 together: expected at most 1",
        ),
        ("critical = 0.2", "critical = 1.2", "1.2", "from 0 to 1"),
        (
            "local = 0.3",
            "local = 0.3\nsequential = 0.75",
            generator,
            "sequential and local are 1.05 together",
        ),
        (
            "limit_ms =",
            "sequential_gap_ms =",
            generator,
            "limit_ms is missing: limited is 0.3",
        ),
        (
            "distance_blocks =",
            "local_gap_ms =",
            generator,
            "distance_blocks is missing: local is 0.3",
        ),
        (
            "mean = 5.0",
            "mean = -5.0",
            "gap_ms: mean",
            "is -5: expected 0 or more",
        ),
        (
            "exponential = { mean = 5.0 }",
            "exponental = { mean = 5.0 }",
            "exponental",
            "exponential",
        ),
        (
            "deviation = 100.0",
            "deviation = inf",
            "limit_ms: deviation",
            "is inf: expected a finite number",
        ),
        (
            "min = 1, max = 8",
            "min = 8, max = 1",
            "size_blocks: max",
            "is 1: expected 8 (min) or more",
        ),
        (
            "min = 1, max = 8",
            "min = -5, max = 0",
            "size_blocks",
            "expected sizes above 0",
        ),
        (
            "min = 1, max = 8",
            "min = 5000, max = 6000",
            "size_blocks",
            "2048 units of 1 blocks",
        ),
        (
            "mean = 5.0",
            "mean = 0.0, base = -1.0",
            "gap_ms",
            "draws are negative: expected times of 0 or more",
        ),
        (
            "local = 0.3",
            "local = 0.3\nunit = \"0 blocks\"",
            generator,
            "unit is 0 blocks",
        ),
        (
            "local = 0.3",
            "local = 0.3\nunit = \"1 MiB\"",
            generator,
            "capacity is 2048 blocks: expected 2 units of 2048 blocks or more",
        ),
        (
            "local = 0.3",
            "local = 0.3\ncapacity = \"2 MiB\"",
            generator,
            "capacity is 4096 blocks: expected at most the 2048",
        ),
        (
            "local = 0.3",
            "local = 0.3\ndevices = [0, 3]",
            generator,
            "devices has 3: the load's devices are 0",
        ),
        (
            "[workload.processes]",
            "[workload]\npace = \"closed\"\n[workload.processes]",
            "workload.pace",
            "synthetic load",
        ),
        (
            "[workload.processes]",
            "[workload]\ntrace = \"a\"\n[workload.processes]",
            "workload.trace",
            "exclude each other",
        ),
    ] {
        let text = SOUND.replacen(from, to, 1);
        assert_ne!(text, SOUND, "{from}");
        let error = try_run(&text).expect_err(to).to_string();
        assert!(error.contains(key) && error.contains(told), "{to}: {error}");
    }
    let hasty = SOUND.replacen("requests = 10", "requests = 1", 1);
    let hasty = hasty.replacen("critical = 0.2", "critical = 0.0", 1);
    let error = try_run(&hasty).expect_err("nothing completes").to_string();
    assert!(
        error.contains("when its processes end it: 1 were issued"),
        "{error}"
    );
    let none = "[workload.processes]\nrequests = 10\ngenerator = []\n[device.simple]\ncapacity = \"1 MiB\"\nread = \"1 ms\"\nwrite = \"1 ms\"\n";
    let error = try_run(none).expect_err("no generator").to_string();
    assert!(
        error.contains("[[workload.processes.generator]]"),
        "{error}"
    );
}

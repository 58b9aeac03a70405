//! What a wrong spec is told: where, what was found, what is accepted.

use crate::support::{RunOptions, from_text, outcome_of};

const GOOD: &str = r#"seed = 1
[workload.synthetic]
requests = 10
arrivals = { poisson = "20 ms" }
reads = 0.5
size = "8 blocks"
address = "uniform"
[host]
outstanding = 4
scheduler = "fcfs"
[measure]
warmup = "10 %"
[device.hdd]
drive = "ibm-18es"
[device.hdd.queue]
depth = 32
scheduler = { ncq = { timeout = "2 s" } }
"#;

fn run(text: &str) -> Result<(), diskwright::base::error::Error> {
    outcome_of(&from_text(text), &RunOptions::default()).map(|_| ())
}

#[test]
fn the_spec_that_is_varied_below_runs() {
    run(GOOD).expect("a good spec");
}

#[test]
fn every_mistake_is_told_with_its_place_and_its_mend() {
    // What is replaced, by what, and the words that the message must have.
    for (from, to, words) in [
        (
            "seed = 1",
            "sede = 1",
            &["spec:1:1", "unknown key \"sede\"", "did you mean \"seed\""][..],
        ),
        ("seed = 1", "seed = ", &["spec:1:8", "not valid TOML"]),
        (
            "seed = 1",
            "seed = -1",
            &[
                "spec:1:8",
                "found the integer -1, expected a whole number, 0 or more",
            ],
        ),
        (
            "depth = 32",
            "depth = 4294967296",
            &["expected a whole number from 0 to 4294967295"],
        ),
        (
            "reads = 0.5",
            "reads = \"half\"",
            &["found the string \"half\", expected a number"],
        ),
        (
            "seed = 1",
            "fault = 3",
            &["found the integer 3, expected a list"],
        ),
        (
            "[device.hdd.queue]\ndepth = 32\nscheduler = { ncq = { timeout = \"2 s\" } }",
            "queue = 32",
            &["found the integer 32, expected a table"],
        ),
        (
            "[device.hdd]\ndrive = \"ibm-18es\"\n[device.hdd.queue]\ndepth = 32\nscheduler = { ncq = { timeout = \"2 s\" } }",
            "[device.array]\nlayout = \"stripe\"\nmember = [{ hdd = {} }]",
            &[
                "spec:14:10",
                "\"unit\" is missing",
                "written as { stripe = { unit = … } }",
            ],
        ),
        (
            "seed = 1",
            "seed = \"one\"",
            &[
                "spec:1:8",
                "found the string \"one\", expected a whole number, 0 or more",
            ],
        ),
        (
            "requests = 10\n",
            "",
            &["spec:2", "\"requests\" is missing"],
        ),
        (
            "\"20 ms\"",
            "20",
            &["spec:4:24", "found the integer 20", "a time with its unit"],
        ),
        (
            "\"20 ms\"",
            "\"-20 ms\"",
            &["spec:4:24", "\"-20 ms\" is not a time"],
        ),
        (
            "poisson",
            "poison",
            &["spec:4:14", "\"poison\"", "did you mean \"poisson\""],
        ),
        (
            "reads = 0.5",
            "reads = 1.5",
            &["spec:5:9", "1.5 is not a share"],
        ),
        (
            "\"8 blocks\"",
            "\"-8 blocks\"",
            &["spec:6:8", "\"-8 blocks\" is not a size"],
        ),
        (
            "\"8 blocks\"",
            "\"700 B\"",
            &["spec:6:8", "a multiple of 512 bytes"],
        ),
        (
            "outstanding = 4",
            "outstanding = 0",
            &["spec:9:15", "expected 1 or more"],
        ),
        (
            "\"fcfs\"",
            "\"satf\"",
            &[
                "spec:10:13",
                "knows LBNs only",
                "device.hdd.queue.scheduler",
            ],
        ),
        (
            "\"fcfs\"",
            "\"fcsf\"",
            &["spec:10:13", "unknown scheduler", "did you mean \"fcfs\""],
        ),
        ("\"10 %\"", "\"100 %\"", &["spec:12:10", "leaves nothing"]),
        (
            "\"10 %\"",
            "\"some\"",
            &["spec:12:10", "a number of requests"],
        ),
        (
            "[device.hdd]",
            "[device.hhd]",
            &["unknown name \"hhd\"", "did you mean \"hdd\""],
        ),
        (
            "\"ibm-18es\"",
            "\"ibm-18se\"",
            &["spec:14:9", "unknown drive", "did you mean \"ibm-18es\""],
        ),
        (
            "\"ibm-18es\"",
            "\"none.toml\"",
            &["cannot read", "none.toml"],
        ),
        (
            "depth = 32",
            "depth = 0",
            &["spec:16:9", "expected 1 or more"],
        ),
        (
            "[device.hdd.queue]",
            "write_cache = true\n[device.hdd.cache]\nsize = \"1 MiB\"\n[device.hdd.queue]",
            &["spec:15:15", "off beside a block cache", "buffer = true"],
        ),
        (
            "timeout = \"2 s\"",
            "timout = \"2 s\"",
            &["spec:17:23", "did you mean \"timeout\""],
        ),
        (
            "{ ncq = { timeout = \"2 s\" } }",
            "{ ncq = {}, fcfs = {} }",
            &["spec:17:13", "expected one key", "found 2"],
        ),
        (
            "{ ncq = { timeout = \"2 s\" } }",
            "7",
            &["spec:17:13", "expected a name"],
        ),
        (
            "{ ncq = { timeout = \"2 s\" } }",
            "{ satf = { timeout = \"2 s\" } }",
            &["spec:17:24", "unknown key \"timeout\""],
        ),
    ] {
        assert!(GOOD.contains(from), "{from} is in the spec");
        let error = run(&GOOD.replacen(from, to, 1)).expect_err(to);
        assert_eq!(error.exit_code(), 2, "{to}");
        let text = error.to_string();
        for word in words {
            assert!(
                text.contains(word),
                "{from} -> {to}: no {word:?} in\n{text}"
            );
        }
    }
}

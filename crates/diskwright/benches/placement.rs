//! The speed of drives that write where the head is, beside the same drive with data in place.
//!
//! 500,000 requests of 4 KiB to the linear IBM 18ES after 1,000,000 blocks were written, half of the writes to new blocks: a
//! point of the dual-actuator study. All take turns; the best of five turns counts, from the reading of the spec to the result.

mod support;

use std::time::Instant;

use support::results;

/// Requests a run.
const REQUESTS: u64 = 500_000;
/// Turns a case.
const TURNS: usize = 5;
/// Seconds a run may take.
const GOAL_S: f64 = 0.5;

const EAGER: &str = "placement = { eager = { initial = { write = \"1_000_000 blocks\" } } }";
/// What the drives have beside a disk in place, which is the first.
const DRIVES: [(&str, &str, &str); 4] = [
    ("in place", "", ""),
    ("logging", "", EAGER),
    (
        "split arms, logging",
        "arms = { arm = [{ writes = false }, { angle = 0.5, reads = false }] }",
        EAGER,
    ),
    (
        "adaptive arms, logging",
        "arms = { choice = \"adaptive\", arm = [{}, { angle = 0.5 }] }",
        EAGER,
    ),
];

fn seconds(reads: f64, arms: &str, placement: &str) -> f64 {
    let text = format!(
        "[workload.synthetic]\nrequests = {REQUESTS}\narrivals = {{ poisson = \"100 ms\" }}\nreads = {reads}\nsize = \"4 KiB\"\n\
         address = {{ growing = {{ from = 0, blocks = 1_000_000, new = 0.5 }} }}\n\
         [device.hdd]\ndrive = \"ibm-18es-linear\"\nbuffer = false\n{arms}\n{placement}\n"
    );
    let started = Instant::now();
    std::hint::black_box(results(text));
    started.elapsed().as_secs_f64()
}

fn main() {
    println!("seconds for {REQUESTS} requests, goal {GOAL_S}; beside the same drive in place");
    println!("{:24}{:>8}{:>8}{:>8}", "", "writes", "seconds", "ratio");
    for writes in [0.5, 1.0] {
        let mut best = [f64::INFINITY; DRIVES.len()];
        for _ in 0..TURNS {
            for ((_, arms, placement), best) in DRIVES.iter().zip(&mut best) {
                *best = best.min(seconds(1.0 - writes, arms, placement));
            }
        }
        for ((name, ..), seconds) in DRIVES.iter().zip(best) {
            println!(
                "{name:24}{writes:>8.1}{seconds:>8.2}{:>8.2}",
                seconds / best[0]
            );
        }
    }
}

//! The engine's speed, beside a bare loop that does the same disk arithmetic without an engine.
//!
//! 1,000,000 random aligned 4 KiB requests, 67 % reads, on the whole Cheetah 9LP, one thread. Bare loop and engine take
//! turns, so that their ratio holds on a machine whose speed drifts; the best of five turns counts. The engine runs with the mechanics alone,
//! with the drive's segmented buffer, and with a pool in its place.

mod bare;
mod support;

use std::time::Instant;

use support::results;

/// Requests a run.
const REQUESTS: u64 = 1_000_000;
/// Turns a case.
const TURNS: usize = 5;

/// A row of the table.
struct Case {
    name: &'static str,
    arrivals: &'static str,
    depth: u32,
    scheduler: &'static str,
    /// Requests a second to reach: with the mechanics alone, and with the buffer.
    goal: f64,
    goal_buffered: f64,
}

const CASES: [Case; 4] = [
    Case {
        name: "light load, FCFS",
        arrivals: "{ poisson = \"20 ms\" }",
        depth: 32,
        scheduler: "fcfs",
        goal: 7e6,
        goal_buffered: 5e6,
    },
    Case {
        name: "32 outstanding, FCFS",
        arrivals: "{ closed = { users = 32 } }",
        depth: 32,
        scheduler: "fcfs",
        goal: 8e6,
        goal_buffered: 5.5e6,
    },
    Case {
        name: "32 outstanding, SATF",
        arrivals: "{ closed = { users = 32 } }",
        depth: 32,
        scheduler: "satf",
        goal: 4.5e6,
        goal_buffered: 3.2e6,
    },
    Case {
        name: "256 outstanding, SATF",
        arrivals: "{ closed = { users = 256 } }",
        depth: 256,
        scheduler: "satf",
        goal: 3e6,
        goal_buffered: 2e6,
    },
];

/// A pool of as much as the drives of the time had, in place of the segmented buffer: both complete writes on the medium.
const POOL: &str =
    "{ size = \"1 MiB\", hit_overhead = \"0.1 ms\", read_ahead = { most = \"64 KiB\" } }";

fn engine(case: &Case, buffer: &str) -> (f64, f64) {
    let Case {
        arrivals,
        depth,
        scheduler,
        ..
    } = case;
    let text = format!(
        "[workload.synthetic]\nrequests = {REQUESTS}\narrivals = {arrivals}\nreads = 0.67\nsize = \"4 KiB\"\naddress = \"uniform\"\n\
         [measure]\nwarmup = 0\n[device.hdd]\ndrive = \"cheetah-9lp\"\nbuffer = {buffer}\n[device.hdd.queue]\ndepth = {depth}\nscheduler = \"{scheduler}\"\n"
    );
    let outcome = results(text);
    let number = |key: &str| outcome[key].as_f64().unwrap_or(f64::NAN);
    (number("requests_per_wall_s"), number("peak_rss_mib"))
}

fn main() {
    println!("requests per second, million; engine / bare loop in the same run");
    println!(
        "{:24}{:>8}{:>8}{:>8}{:>8}{:>10}{:>8}{:>8}{:>8}{:>18}{:>10}",
        "",
        "engine",
        "goal",
        "bare",
        "ratio",
        "buffered",
        "goal",
        "ratio",
        "pool",
        "pool / buffered",
        "peak MiB"
    );
    for case in &CASES {
        let (mut best, mut buffered_best, mut pool_best) = (0.0f64, 0.0f64, 0.0f64);
        let (mut bare_best, mut memory) = (0.0f64, 0.0f64);
        for _ in 0..TURNS {
            let (rate, mib) = engine(case, "false");
            (best, memory) = (best.max(rate), memory.max(mib));
            let (rate, mib) = engine(case, "true");
            (buffered_best, memory) = (buffered_best.max(rate), memory.max(mib));
            let (rate, mib) = engine(case, POOL);
            (pool_best, memory) = (pool_best.max(rate), memory.max(mib));
            let started = Instant::now();
            std::hint::black_box(bare::run(
                case.scheduler,
                case.depth,
                case.name.starts_with("light"),
                REQUESTS,
            ));
            bare_best = bare_best.max(REQUESTS as f64 / started.elapsed().as_secs_f64());
        }
        println!(
            "{:24}{:8.2}{:8.2}{:8.2}{:8.2}{:10.2}{:8.2}{:8.2}{:8.2}{:18.2}{:10.1}",
            case.name,
            best / 1e6,
            case.goal / 1e6,
            bare_best / 1e6,
            best / bare_best,
            buffered_best / 1e6,
            case.goal_buffered / 1e6,
            buffered_best / bare_best,
            pool_best / 1e6,
            pool_best / buffered_best,
            memory
        );
    }
}

//! The speed of cache tiers, beside that of their slower device alone under the same load.
//!
//! 500,000 aligned requests of 4 KiB, two thirds reads, 8 at a time, over 4 GiB whose popularity falls as 1/rank; a cache of a quarter of that,
//! full at the start. Both take turns; the best of five counts. First over devices of constant times, which hardly take time themselves, and
//! then an SSD in front of a disk, with several policies: what replacement takes shows in their differences.

mod support;

use std::time::Instant;

use support::results;

/// Requests a run.
const REQUESTS: u64 = 500_000;
/// Turns a case.
const TURNS: usize = 5;
/// The share of the requests per second of the slower device alone that a tier must reach.
const GOAL: f64 = 1.0 / 3.0;

const CONSTANT: [&str; 2] = [
    "simple]\ncapacity = \"4 GiB\"\nread = \"0.1 ms\"\nwrite = \"0.2 ms\"\nparallel = 8\n",
    "simple]\ncapacity = \"16 GiB\"\nread = \"8 ms\"\nwrite = \"9 ms\"\nparallel = 8\n",
];
const REAL: [&str; 2] = [
    "ssd]\ndrive = \"mqsim-clean\"\n",
    "hdd]\ndrive = \"travelstar-5k160\"\n",
];

/// Pairs of a cache device and a backing device.
const DEVICES: [(&str, [&str; 2]); 2] = [("constant times", CONSTANT), ("SSD over disk", REAL)];
const WRITE_POLICIES: [&str; 2] = ["write-through", "write-back"];
const POLICIES: [&str; 6] = ["lru", "fifo", "slru", "clock", "arc", "w-tinylfu"];

/// Seconds of a run of a device.
fn seconds(device: &str) -> f64 {
    let text = format!(
        "[workload.synthetic]\nrequests = {REQUESTS}\narrivals = {{ closed = {{ users = 8 }} }}\nreads = 0.67\nsize = \"4 KiB\"\n\
         address = {{ zipf = {{ theta = 1.0, blocks = 8_388_608 }} }}\n[measure]\nwarmup = 0\n{device}"
    );
    let started = Instant::now();
    std::hint::black_box(results(text));
    started.elapsed().as_secs_f64()
}

fn tier([cache, backing]: [&str; 2], write_policy: &str, policy: &str) -> String {
    format!(
        "[device.tier]\nsize = \"1 GiB\"\nwrite_policy = \"{write_policy}\"\npolicy = \"{policy}\"\n\
         initial = {{ rank = {{}} }}\n[device.tier.cache.{cache}[device.tier.backing.{backing}"
    )
}

fn main() {
    println!("requests per second, goal {GOAL:.2} of the slower device alone");
    println!("{:44}{:>12}{:>12}{:>8}", "", "alone", "tier", "ratio");
    for (name, devices) in DEVICES {
        let tiers = WRITE_POLICIES.iter().flat_map(|write_policy| {
            let policies = POLICIES.iter();
            policies.map(move |policy| (write_policy, policy))
        });
        let tiers: Vec<_> = tiers.collect();
        let mut of_tiers = vec![f64::INFINITY; tiers.len()];
        let mut of_devices = [f64::INFINITY; 2];
        for _ in 0..TURNS {
            for (device, best) in devices.iter().zip(&mut of_devices) {
                *best = best.min(seconds(&format!("[device.{device}")));
            }
            for ((write_policy, policy), best) in tiers.iter().zip(&mut of_tiers) {
                *best = best.min(seconds(&tier(devices, write_policy, policy)));
            }
        }
        let alone = REQUESTS as f64 / of_devices[0].max(of_devices[1]);
        for ((write_policy, policy), seconds) in tiers.iter().zip(of_tiers) {
            let rate = REQUESTS as f64 / seconds;
            let ratio = rate / alone;
            let remark = if ratio < GOAL { "  below the goal" } else { "" };
            println!(
                "{name:16}{write_policy:16}{policy:12}{alone:>12.0}{rate:>12.0}{ratio:>8.2}{remark}"
            );
        }
    }
}

//! The speed of hybrid drives and of flash-backed requests with the full model of the medium, beside the plain drive.
//!
//! A week of bursts in 400,000 requests, and the recorded HP week where the reference data are there. All take turns; the best of five
//! turns counts, from the reading of the spec to the result.

mod support;

use std::path::{Path, PathBuf};
use std::time::Instant;

use support::results;

/// Requests of the synthetic load.
const REQUESTS: u64 = 400_000;
/// Turns a case.
const TURNS: usize = 5;
/// What share of the plain drive's requests per second is to be reached.
const GOAL: f64 = 0.5;

const DISK: &str = "drive = \"travelstar-5k160\"\nbuffer = false\n";
const CARD: &str = "[device.hybrid.nvcache.simple]\ncapacity = \"256 MB\"\nread = \"1 ms\"\nwrite = \"1 ms\"\nrate = \"9 MB/s\"\n";
const POLICY: &str = "policy = { fixed = { standby_z = \"10 s\" } }\n";

/// The drives beside the plain one, which is the first: their names, and what a spec says of them.
fn drives() -> Vec<(&'static str, String)> {
    let hybrid = |settings: &str, power: &str| {
        format!("[device.hybrid]\n{settings}[device.hybrid.media.hdd]\n{DISK}{power}{CARD}")
    };
    let power = format!("[device.hybrid.media.hdd.power]\n{POLICY}");
    let backed = "[host.flash_backed]\nfqueue = \"80 MB\"\n";
    vec![
        ("plain", format!("[device.hdd]\n{DISK}")),
        (
            "plain, stopping",
            format!("[device.hdd]\n{DISK}[device.hdd.power]\n{POLICY}"),
        ),
        ("hybrid", hybrid("", "")),
        ("hybrid, stopping", hybrid("", &power)),
        (
            "hybrid, power mode",
            hybrid("power_mode = true\nhigh_power = \"10 s\"\n", ""),
        ),
        ("flash-backed", format!("{backed}{}", hybrid("", ""))),
        (
            "flash-backed, stopping",
            format!("{backed}{}", hybrid("", &power)),
        ),
    ]
}

/// Where the HP week is: in the folder that DISKWRIGHT_REFERENCE names, or in `reference` of the checkout.
fn hp_week() -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference");
    let folder = std::env::var_os("DISKWRIGHT_REFERENCE").map_or(checkout, PathBuf::from);
    Some(folder.join("disksim/ajw.1week.srt")).filter(|path| path.is_file())
}

fn compare(load: &str, text: &str) {
    let drives = drives();
    let mut best = vec![f64::INFINITY; drives.len()];
    let mut requests = 0.0;
    for _ in 0..TURNS {
        for ((_, drive), best) in drives.iter().zip(&mut best) {
            let text = format!("{text}{drive}");
            let started = Instant::now();
            let results = results(text);
            *best = best.min(started.elapsed().as_secs_f64());
            requests = results["requests"]["completed"].as_f64().expect("a count");
        }
    }
    for ((name, _), seconds) in drives.iter().zip(&best) {
        println!(
            "{load:12}{name:24}{:>12.0}{:>8.2}",
            requests / seconds,
            best[0] / seconds
        );
    }
}

fn main() {
    println!("requests a second, and to the plain drive's: goal {GOAL}");
    println!("{:36}{:>12}{:>8}", "", "requests/s", "ratio");
    let bursts = format!(
        "[workload.synthetic]\nrequests = {REQUESTS}\narrivals = {{ on-off = {{ on = \"2 s\", off = \"1 min\", gap = \"50 ms\" }} }}\n\
         reads = 0.4\nsize = \"8 KiB\"\naddress = \"hot-cold\"\n[measure]\nwarmup = 0\n"
    );
    compare("bursts", &bursts);
    match hp_week() {
        Some(path) => {
            let path = path.display();
            let week = format!("[workload]\ntrace = '{path}'\ndevice = 0\n[measure]\nwarmup = 0\n");
            compare("HP week", &week);
        }
        None => println!("the HP week is not there: DISKWRIGHT_REFERENCE names its folder"),
    }
}

//! Scrubs without a pause: a run does not go on for them, nor for anything that devices do behind their requests.

use std::ops::ControlFlow;

use super::common::number;
use crate::support::{Progress, checked, from_text, outcome_watched};

/// Steps that follow one another at once.
const SCRUB: &str = "scrub = { rate = \"100 MB/s\", step = \"95 blocks\", every = \"50 us\" }";

const SLOW: &str = "simple = { capacity = \"16 MiB\", read = \"1 ms\", write = \"1 ms\", rate = \"20 MB/s\", parallel = 1 }";
const FAST: &str = "simple = { capacity = \"4 MiB\", read = \"50 us\", write = \"50 us\", rate = \"200 MB/s\", parallel = 1 }";
const DISK: &str = "drive = \"ibm-18es-linear\"";
const SSD: &str = "ssd = { drive = \"slc-classic\" }";

/// Ends a run that goes on for much longer than its five requests take.
struct Patience(u32);

impl Progress for Patience {
    fn update(&mut self, _done: u64, _total: Option<u64>) -> ControlFlow<()> {
        self.0 -= 1;
        match self.0 {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Runs five requests to a RAID-5 that is scrubbed, of which one member is this device.
fn ends_with(member: &str) {
    let spec = format!(
        "seed = 3\n[workload.synthetic]\nrequests = 5\narrivals = {{ poisson = \"12 ms\" }}\nreads = 0.5\nsize = \"8 blocks\"\n\
         [measure]\nwarmup = 0\n[device.array]\nlayout = {{ raid-5 = {{ unit = \"64 blocks\" }} }}\n{SCRUB}\n\
         member = [{{ {SLOW} }}, {{ {member} }}, {{ {SLOW} }}]\n"
    );
    let outcome = outcome_watched(&from_text(&*spec), &checked(), &mut Patience(100));
    let result = outcome.unwrap_or_else(|error| panic!("{error}\n{spec}"));
    let result = result.json();
    assert_eq!(number(&result, "requests.completed"), 5.0, "{spec}");
    assert!(
        number(&result, "devices.array.scrubbed_blocks") > 0.0,
        "{spec}"
    );
}

/// A tier that promotes all that it reads, over a device that is slower.
fn promoting(cache: &str, keys: &str) -> String {
    format!(
        "tier = {{ size = \"256 blocks\", line = \"8 blocks\", promotion = \"behind\", {keys}, cache = {{ {cache} }}, backing = {{ {SLOW} }} }}"
    )
}

fn hybrid() -> String {
    format!("hybrid = {{ media = {{ {SLOW} }}, nvcache = {{ {FAST} }} }}")
}

/// A controller with this cache.
fn controller(cache: &str) -> String {
    format!("controller = {{ device = [{{ {SLOW} }}], message = \"10 us\"{cache} }}")
}

/// Of two arrays, one in the other, that scrub without a pause, one always has a step under way.
fn scrubbed_mirror(keys: &str) -> String {
    format!(
        "array = {{ layout = {{ mirror = {{}} }}, member = [{{ {SLOW} }}, {{ {SLOW} }}], {keys} }}"
    )
}

/// Devices that do something by themselves behind the requests that they get.
fn busy() -> Vec<String> {
    let memory = ", memory = { size = \"64 KiB\", line = \"8 blocks\", flush_period = \"1 ms\" }";
    vec![
        SLOW.to_owned(),
        SSD.to_owned(),
        format!("hdd = {{ {DISK} }}"),
        format!("hdd = {{ {DISK}, buffer = true }}"),
        format!(
            "hdd = {{ {DISK}, cache = {{ size = \"128 blocks\", block_size = \"8 blocks\" }} }}"
        ),
        format!("hdd = {{ {DISK}, placement = \"logging\" }}"),
        "hdd = { drive = \"exos-x20\" }".to_owned(),
        hybrid(),
        controller(""),
        controller(memory),
        controller(&format!(
            ", cache = {{ device = {{ {FAST} }}, size = \"2 MiB\" }}"
        )),
        scrubbed_mirror(SCRUB),
        scrubbed_mirror("bitmap = { region = \"64 KiB\", delay = \"1 ms\" }"),
        promoting(FAST, "write_policy = \"write-through\""),
        promoting(
            FAST,
            "write_policy = \"write-back\", cleaning = \"aggressive\"",
        ),
    ]
}

#[test]
fn a_run_does_not_go_on_for_scrubs_alone() {
    for member in busy() {
        ends_with(&member);
        ends_with(&format!("driver = {{ device = {{ {member} }} }}"));
    }
}

#[test]
fn nor_for_what_a_tier_promotes_behind_them() {
    for cache in busy() {
        ends_with(&promoting(&cache, "metadata = \"none\""));
        ends_with(&promoting(&cache, "write_policy = \"write-back\""));
    }
}

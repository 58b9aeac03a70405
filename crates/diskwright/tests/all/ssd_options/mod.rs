//! What today's SSDs have besides: each option against closed forms, on both sides of every edge.

mod ageing;
mod endless_cleaning;
mod failure_cuts;
mod failures;
mod levelling;
mod link;
mod mapping;
mod parity;
mod parity_counts;
mod queues;
mod slc;
mod suspend;
mod wear;

use serde_json::Value;

use crate::support::twins::{completions, load};
use crate::support::{Outcome, RunOptions, from_text, outcome_of};

/// A small drive of one plane: pages of 4 KiB, a block on the channel in 100 ns, no commands, no controller.
pub struct Plane<'a> {
    pub blocks: u32,
    pub pages: u32,
    pub spare: &'a str,
    /// Tables besides.
    pub more: &'a str,
}

/// Times of the small drive, ns.
pub const READ: u64 = 40_000;
pub const PROGRAM: u64 = 600_000;
pub const ERASE: u64 = 3_000_000;
pub const PAGE: u64 = 800;

impl Plane<'_> {
    pub fn text(&self) -> String {
        format!(
            "kind = 'ssd'\nname = 'small'\nqueue_depth = 32\n[flash]\nchannels = 1\nblocks = {}\npages = {}\npage = '4 KiB'\n\
             [timing]\nread = ['{READ} ns']\nprogram = ['{PROGRAM} ns']\nerase = '{ERASE} ns'\nblock = '100 ns'\n\
             [spare]\nshare = '{}'\n{}\n",
            self.blocks, self.pages, self.spare, self.more
        )
    }

    /// [`times`] of this drive.
    #[track_caller]
    pub fn times(&self, requests: &[(u64, &str, u64)]) -> (Vec<u64>, Value) {
        times(&self.text(), requests)
    }
}

/// The time that each request of a trace takes on a drive, given as its file's text, ns, and the result of the device. A request is its
/// arrival in ns, an operation, and its page of 4 KiB.
#[track_caller]
pub fn times(drive: &str, requests: &[(u64, &str, u64)]) -> (Vec<u64>, Value) {
    let (times, result) = times_with(drive, "", requests);
    (times, result["devices"]["ssd"].clone())
}

/// The same with keys at the head of the spec, and the whole result.
#[track_caller]
pub fn times_with(drive: &str, head: &str, requests: &[(u64, &str, u64)]) -> (Vec<u64>, Value) {
    let outcome = outcome_with(drive, head, requests, &RunOptions::default());
    let ends = completions(&outcome, requests.len());
    let times = ends.iter().zip(requests);
    let times = times.map(|(end, (at, ..))| end.expect("it completes") - at);
    (times.collect(), outcome.json())
}

/// What comes of such a run, in which requests may fail, with options besides: the checker is on, and requests are kept.
#[track_caller]
pub fn outcome_with(
    drive: &str,
    head: &str,
    requests: &[(u64, &str, u64)],
    options: &RunOptions,
) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut trace = String::from("time_ns,op,lbn,blocks\n");
    for (at, op, page) in requests {
        trace += &format!("{at},{op},{},8\n", page * 8);
    }
    std::fs::write(path("drive.toml"), drive).expect("written");
    std::fs::write(path("trace.csv"), trace).expect("written");
    let spec = format!(
        "{head}\n{}[device.ssd]\ndrive = \"{}\"\n",
        load(&path("trace.csv"), None),
        path("drive.toml")
    );
    let options = RunOptions {
        check: true,
        keep_requests: true,
        ..options.clone()
    };
    outcome_of(&from_text(spec), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Writes of `count` pages from one on, a millisecond and a half apart: one is done when the next arrives.
pub fn writes(from: u64, count: u64, since: u64) -> Vec<(u64, &'static str, u64)> {
    (0..count)
        .map(|number| (since + number * 1_500_000, "write", from + number))
        .collect()
}

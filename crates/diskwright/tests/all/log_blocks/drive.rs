//! A small drive of one plane with a map of blocks, and what a list of writes does to it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::twins::completions;
use crate::support::{RunOptions, from_text, outcome_of};

/// What is done to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Write(usize),
    Trim(usize),
}

/// A drive whose pages are 4 KiB, a block of 512 B on the channel in 100 ns, without commands and controller.
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    pub scheme: &'a str,
    pub log_blocks: usize,
    pub victim: Option<&'a str>,
    pub pages: usize,
    /// Logical blocks.
    pub data: usize,
    /// Blocks besides those of data, log blocks and the one to merge into.
    pub more: usize,
    /// Whether it has been written in order.
    pub filled: bool,
    /// Tables of the drive's file besides.
    pub tables: &'a str,
}

/// Times, ns.
pub const READ: u64 = 40_000;
pub const PROGRAM: u64 = 600_000;
pub const ERASE: u64 = 3_000_000;
pub const PAGE: u64 = 800;
/// From one act to the next: whatever it does is over.
pub const APART: u64 = 100_000_000_000;

impl Drive<'_> {
    /// Blocks of the plane.
    pub fn blocks(&self) -> usize {
        self.data + self.log_blocks + 1 + self.more
    }

    fn text(&self) -> String {
        let blocks = self.blocks();
        let share = (blocks - self.data) as f64 * 100.0 / blocks as f64;
        let mut text = format!(
            "kind = 'ssd'\nname = 'small'\nqueue_depth = 32\n[flash]\nchannels = 1\nblocks = {blocks}\npages = {}\npage = '4 KiB'\n\
             [timing]\nread = ['{READ} ns']\nprogram = ['{PROGRAM} ns']\nerase = '{ERASE} ns'\nblock = '100 ns'\n\
             [spare]\nshare = '{share} %'\n[cleaning]\nbegin = 2\n[initial]\nfill = '{} %'\n\
             [mapping]\nscheme = '{}'\nlog_blocks = {}\n",
            self.pages,
            if self.filled { 100 } else { 0 },
            self.scheme,
            self.log_blocks,
        );
        if let Some(victim) = self.victim {
            writeln!(text, "victim = '{victim}'").expect("text");
        }
        text + self.tables
    }

    /// The time of each act, ns, and the result of the device.
    #[track_caller]
    pub fn does(&self, acts: &[Act]) -> (Vec<u64>, Value) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let mut trace = String::from("time_ns,op,lbn,blocks\n");
        for (at, act) in (0..).zip(acts) {
            let (op, page) = match act {
                Act::Write(page) => ("write", page),
                Act::Trim(page) => ("trim", page),
            };
            writeln!(trace, "{},{op},{},8", at * APART, page * 8).expect("text");
        }
        std::fs::write(path("drive.toml"), self.text()).expect("written");
        std::fs::write(path("trace.csv"), trace).expect("written");
        let spec = format!(
            "[workload]\ntrace = \"{}\"\nformat = \"csv\"\npace = \"recorded\"\n[measure]\nwarmup = 0\n[device.ssd]\ndrive = \"{}\"\n",
            path("trace.csv"),
            path("drive.toml")
        );
        let options = RunOptions {
            check: true,
            keep_requests: true,
            ..RunOptions::default()
        };
        let outcome = outcome_of(&from_text(spec), &options);
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        let ends = completions(&outcome, acts.len());
        let times = (0..).zip(&ends);
        let times = times.map(|(at, end)| end.expect("it completes") - at * APART);
        (times.collect(), outcome.json()["devices"]["ssd"].clone())
    }
}

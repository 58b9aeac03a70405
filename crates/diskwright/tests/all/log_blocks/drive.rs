//! A small drive of one plane with a map of blocks, and what a list of writes does to it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::ssd_options::times;

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

    /// Its file.
    pub fn text(&self) -> String {
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
        let requests = (0..).zip(acts).map(|(at, act)| match *act {
            Act::Write(page) => (at * APART, "write", page as u64),
            Act::Trim(page) => (at * APART, "trim", page as u64),
        });
        times(&self.text(), &requests.collect::<Vec<_>>())
    }
}

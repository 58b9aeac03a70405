//! What both programs are given: a tier of two simple devices, and requests.

use std::fmt::Write as _;

use crate::support::twins::trace;
pub use crate::support::twins::{Asked, Simple};

/// Cleaning, with times in ns and marks in percent.
#[derive(Clone, Copy, Debug)]
pub enum Cleaning {
    None,
    Oldest {
        idle: Option<u64>,
        marks: Option<(u64, u64)>,
        merge: u64,
        pause: u64,
    },
    Aggressive {
        merge: u64,
        pause: u64,
    },
}

/// Metadata on the cache device.
#[derive(Clone, Copy, Debug)]
pub struct Metadata {
    pub writes_wait: bool,
    pub interval: u64,
}

#[derive(Clone, Copy, Debug)]
pub enum Event {
    Resize(usize),
    Remove,
    Attach,
}

/// A tier and its load.
#[derive(Clone, Debug)]
pub struct Case {
    pub cache: Simple,
    pub backing: Simple,
    pub lines: usize,
    pub line: u64,
    pub policy: &'static str,
    pub write_policy: &'static str,
    /// At which access that misses a line is admitted, and of how many lines these are remembered.
    pub admission: Option<(usize, usize)>,
    pub waits_for_promotion: bool,
    pub cleaning: Cleaning,
    pub metadata: Option<Metadata>,
    /// The longest stream, and how many are followed.
    pub bypass: Option<(u64, usize)>,
    /// Shares of the lines that are held at the start, and of those that are dirty, in percent.
    pub initial: Option<(u64, u64)>,
    pub events: Vec<(u64, Event)>,
    pub requests: Vec<Asked>,
}

impl Case {
    pub fn absorbs(&self) -> bool {
        self.write_policy == "write-back"
    }

    pub fn trace(&self) -> String {
        trace(&self.requests)
    }

    pub fn spec(&self, trace: &str) -> String {
        let mut text =
            format!("[workload]\ntrace = '{trace}'\n[measure]\nwarmup = 0\n[device.tier]\n");
        let line = self.line;
        _ = writeln!(
            text,
            "size = \"{} blocks\"\nline = \"{line} blocks\"",
            self.lines as u64 * line
        );
        _ = writeln!(
            text,
            "policy = \"{}\"\nwrite_policy = \"{}\"",
            self.policy, self.write_policy
        );
        if let Some((accesses, remembered)) = self.admission {
            _ = writeln!(
                text,
                "admission = {{ after = {{ accesses = {accesses}, remembered = {remembered} }} }}"
            );
        }
        if self.waits_for_promotion {
            text += "promotion = \"waited\"\n";
        }
        let cleaning = match self.cleaning {
            Cleaning::None => "\"none\"".to_owned(),
            Cleaning::Aggressive { merge, pause } => {
                format!(
                    "{{ aggressive = {{ merge = \"{merge} blocks\", pause = \"{pause} ns\" }} }}"
                )
            }
            Cleaning::Oldest {
                idle,
                marks,
                merge,
                pause,
            } => {
                let idle = idle.map_or(String::new(), |idle| format!("idle = \"{idle} ns\", "));
                let marks = marks.map_or(String::new(), |(high, low)| {
                    format!("high = \"{high} %\", low = \"{low} %\", ")
                });
                format!(
                    "{{ oldest = {{ {idle}{marks}merge = \"{merge} blocks\", pause = \"{pause} ns\" }} }}"
                )
            }
        };
        _ = writeln!(text, "cleaning = {cleaning}");
        match self.metadata {
            None => text += "metadata = \"none\"\n",
            Some(Metadata {
                writes_wait,
                interval,
            }) => {
                let commit = if writes_wait { "writes" } else { "flushes" };
                _ = writeln!(
                    text,
                    "metadata = {{ on-cache = {{ commit = \"{commit}\", interval = \"{interval} ns\" }} }}"
                );
            }
        }
        if let Some((sequential, streams)) = self.bypass {
            _ = writeln!(
                text,
                "bypass = {{ sequential = \"{sequential} blocks\", streams = {streams} }}"
            );
        }
        if let Some((fill, dirty)) = self.initial {
            _ = writeln!(
                text,
                "initial = {{ rank = {{ fill = \"{fill} %\", dirty = \"{dirty} %\" }} }}"
            );
        }
        for (at, event) in &self.events {
            let kind = match event {
                Event::Resize(lines) => {
                    format!("{{ resize = \"{} blocks\" }}", *lines as u64 * line)
                }
                Event::Remove => "\"remove\"".to_owned(),
                Event::Attach => "\"attach\"".to_owned(),
            };
            _ = writeln!(
                text,
                "[[device.tier.event]]\nat = \"{at} ns\"\nkind = {kind}"
            );
        }
        for (role, device) in [("cache", self.cache), ("backing", self.backing)] {
            text += &device.text(&format!("device.tier.{role}"));
        }
        text
    }

    pub fn shown(&self) -> String {
        format!("{}\n{}", self.spec("trace.csv"), self.trace())
    }
}

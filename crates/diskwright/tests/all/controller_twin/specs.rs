//! What both programs are given: a controller before devices of constant times, and requests.

use std::fmt::Write as _;

use crate::hdd_twin::specs::{Join, Scheduler};
use crate::support::twins::trace;
pub use crate::support::twins::{Asked, Simple};

/// When a write by way of the cache is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    Synchronous,
    Through,
    Back,
}

/// A device that caches the others.
#[derive(Clone, Copy, Debug)]
pub struct CacheDevice {
    pub device: Simple,
    /// Blocks that it caches.
    pub size: u64,
    pub writes: Writes,
    /// How long the others are idle before something is written to them, ns.
    pub idle_flush: Option<u64>,
}

/// What of a line is fetched beyond what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetch {
    None,
    Front,
    Rest,
    Line,
}

/// Which line leaves for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Lru,
    Fifo,
    Lifo,
}

/// A cache in the controller's memory; sizes in blocks, times in ns.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub lines: usize,
    pub line: u64,
    pub policy: Policy,
    /// Clean lines leave before dirty ones.
    pub prefers_clean: bool,
    pub grain: u64,
    pub lock: Option<u64>,
    pub shared_reads: bool,
    pub writes: Writes,
    pub read_prefetch: Prefetch,
    pub write_prefetch: Prefetch,
    pub line_by_line: bool,
    /// In lines.
    pub gather: Option<u64>,
    pub cluster: u64,
    pub flush_period: Option<u64>,
    pub idle_flush: Option<u64>,
}

/// What is between the host and the devices.
#[derive(Clone, Copy, Debug)]
pub enum Cache {
    None,
    Memory(Memory),
    Device(CacheDevice),
}

/// A controller and its load.
#[derive(Clone, Debug)]
pub struct Case {
    /// Requests that it works on at a time.
    pub queue: Option<usize>,
    /// ns.
    pub message: u64,
    pub one_message: bool,
    /// For each block between the host and the cache, ns.
    pub block: u64,
    /// Blocks of a piece.
    pub most: Option<u64>,
    pub scheduler: Scheduler,
    pub outstanding: Option<usize>,
    pub join: Option<Join>,
    pub devices: Vec<Simple>,
    pub cache: Cache,
    pub requests: Vec<Asked>,
}

impl Writes {
    fn text(self) -> &'static str {
        match self {
            Writes::Synchronous => "synchronous",
            Writes::Through => "write-through",
            Writes::Back => "write-back",
        }
    }
}

impl Prefetch {
    fn text(self) -> &'static str {
        match self {
            Prefetch::None => "none",
            Prefetch::Front => "front",
            Prefetch::Rest => "rest",
            Prefetch::Line => "line",
        }
    }
}

impl CacheDevice {
    fn text(&self) -> String {
        let mut text = format!(
            "[device.controller.cache]\nsize = \"{} blocks\"\nwrites = \"{}\"\n",
            self.size,
            self.writes.text()
        );
        if let Some(idle) = self.idle_flush {
            _ = writeln!(text, "idle_flush = \"{idle} ns\"");
        }
        text + &self.device.text("device.controller.cache.device")
    }
}

impl Memory {
    fn text(&self) -> String {
        let policy = match self.policy {
            Policy::Lru => "lru",
            Policy::Fifo => "fifo",
            Policy::Lifo => "lifo",
        };
        let victims = match self.prefers_clean {
            true => "clean",
            false => "any",
        };
        let mut text = format!(
            "[device.controller.memory]\nsize = \"{} blocks\"\nline = \"{} blocks\"\npolicy = \"{policy}\"\nvictims = \"{victims}\"\n\
             grain = \"{} blocks\"\nshared_reads = {}\nwrites = \"{}\"\nread_prefetch = \"{}\"\nwrite_prefetch = \"{}\"\n\
             line_by_line = {}\ncluster = {}\n",
            self.lines as u64 * self.line,
            self.line,
            self.grain,
            self.shared_reads,
            self.writes.text(),
            self.read_prefetch.text(),
            self.write_prefetch.text(),
            self.line_by_line,
            self.cluster,
        );
        if let Some(lock) = self.lock {
            _ = writeln!(text, "lock = \"{lock} blocks\"");
        }
        if let Some(gather) = self.gather {
            _ = writeln!(text, "gather = {gather}");
        }
        let times = [
            ("flush_period", self.flush_period),
            ("idle_flush", self.idle_flush),
        ];
        for (key, time) in times {
            if let Some(ns) = time {
                _ = writeln!(text, "{key} = \"{ns} ns\"");
            }
        }
        text
    }
}

impl Case {
    /// Blocks of the controller.
    pub fn blocks(&self) -> u64 {
        self.devices.iter().map(|device| device.blocks).sum()
    }

    /// A device: one that has the controller's blocks, or behind the last one that which caches them.
    pub fn device(&self, number: usize) -> Simple {
        match self.cache {
            Cache::Device(cache) if number == self.devices.len() => cache.device,
            _ => self.devices[number],
        }
    }

    /// How many devices there are, that which caches the others among them.
    pub fn count(&self) -> usize {
        self.devices.len() + usize::from(matches!(self.cache, Cache::Device(_)))
    }

    pub fn trace(&self) -> String {
        trace(&self.requests)
    }

    pub fn spec(&self, trace: &str) -> String {
        let mut text = format!(
            "[workload]\ntrace = '{trace}'\n[measure]\nwarmup = 0\n[device.controller]\nmessage = \"{} ns\"\none_message = {}\n\
             block = \"{} ns\"\nscheduler = {}\n",
            self.message,
            self.one_message,
            self.block,
            self.scheduler.text()
        );
        if let Some(queue) = self.queue {
            _ = writeln!(text, "queue = {queue}");
        }
        if let Some(most) = self.most {
            _ = writeln!(text, "max_request = \"{most} blocks\"");
        }
        if let Some(outstanding) = self.outstanding {
            _ = writeln!(text, "outstanding = {outstanding}");
        }
        if let Some(Join {
            most,
            reads,
            writes,
            ..
        }) = self.join
        {
            _ = writeln!(
                text,
                "join = {{ most = \"{most} blocks\", reads = {reads}, writes = {writes} }}"
            );
        }
        text += &match &self.cache {
            Cache::None => String::new(),
            Cache::Memory(memory) => memory.text(),
            Cache::Device(device) => device.text(),
        };
        for device in &self.devices {
            text += "[[device.controller.device]]\n";
            text += &device.text("device.controller.device");
        }
        text
    }

    pub fn shown(&self) -> String {
        format!("{}\n{}", self.spec("trace.csv"), self.trace())
    }
}

//! What both programs are given: a device, and requests.

use std::fmt::Write as _;

use crate::support::twins::{Asked, Simple, load, trace};

/// A device and a load.
#[derive(Clone)]
pub struct Case {
    pub kind: Kind,
    /// Requests outstanding in a closed load.
    pub users: Option<u64>,
    pub requests: Vec<Asked>,
}

#[derive(Clone)]
pub enum Kind {
    Simple(Simple),
    Curve(Curve),
}

/// A device of measured curves: distances in blocks, and times, ns.
#[derive(Clone)]
pub struct Curve {
    pub blocks: u64,
    pub read: Vec<(u64, u64)>,
    pub write: Vec<(u64, u64)>,
    /// For each block, ns.
    pub per_block: u64,
}

/// A curve as a file.
pub fn table(points: &[(u64, u64)]) -> String {
    let mut text = "distance_blocks,mean_ms\n".to_owned();
    for (distance, ns) in points {
        _ = writeln!(text, "{distance},{}.{:06}", ns / 1_000_000, ns % 1_000_000);
    }
    text
}

impl Kind {
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Simple(_) => "simple",
            Kind::Curve(_) => "curve",
        }
    }

    pub fn blocks(&self) -> u64 {
        match self {
            Kind::Simple(simple) => simple.blocks,
            Kind::Curve(curve) => curve.blocks,
        }
    }

    pub fn parallel(&self) -> usize {
        match self {
            Kind::Simple(simple) => simple.parallel,
            Kind::Curve(_) => 1,
        }
    }
}

impl Case {
    /// The spec, with the paths of files of these names.
    pub fn spec(&self, path: impl Fn(&'static str) -> String) -> String {
        let device = match &self.kind {
            Kind::Simple(simple) => simple.text("device"),
            Kind::Curve(curve) => {
                let rate = match curve.per_block {
                    0 => String::new(),
                    ns => format!("rate = \"{} MB/s\"\n", 512_000 / ns),
                };
                format!(
                    "[device.curve]\ncapacity = \"{} blocks\"\nread = \"{}\"\nwrite = \"{}\"\n{rate}",
                    curve.blocks,
                    path("read.csv"),
                    path("write.csv")
                )
            }
        };
        load(&path("trace.csv"), self.users) + &device
    }

    pub fn trace(&self) -> String {
        trace(&self.requests)
    }
}

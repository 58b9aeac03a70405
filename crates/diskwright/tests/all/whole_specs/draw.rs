//! What draws a spec: random numbers, what is known of the device that is talked about, and the case that comes of it.

use diskwright::base::random::Stream;
use serde_json::Value;

use super::case::Case;
use super::schema::Definitions;

/// A spec in the making.
pub struct Draw<'a> {
    chance: Stream,
    pub definitions: &'a Definitions,
    pub case: Case,
    /// The disk that is talked about.
    pub disk: Disk,
    /// Disks that are to turn together have drives of this speed.
    pub rotation: Option<String>,
    /// The part of the address space that a load goes to: its first block, and its length.
    pub region: (u64, u64),
    /// The largest request, in blocks.
    pub largest: u64,
    pub requests: u64,
    /// How many blocks the NV cache has that was drawn last.
    pub nv_cache: u64,
    /// Whether the loads of several streams have users.
    pub users: Option<bool>,
    /// Blocks of the device that was drawn last, at most: loads may keep to fewer.
    pub capacity: u64,
    /// Blocks of the smallest device with a medium of its own.
    pub least_medium: u64,
    /// The paths of devices, as faults name them: of all, and of those with a medium of their own.
    pub paths: (Vec<String>, Vec<String>),
}

/// What a made-up or a real drive has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk {
    pub blocks: u64,
    pub blocks_per_sector: u64,
    pub surfaces: u64,
    pub cylinders: u64,
    /// Sectors on the shortest track.
    pub shortest_track: u64,
    /// Its memory is a pool.
    pub has_pool: bool,
}

impl<'a> Draw<'a> {
    pub fn new(definitions: &'a Definitions, number: u64) -> Draw<'a> {
        Draw {
            chance: Stream::new(number, "whole spec"),
            definitions,
            case: Case::default(),
            disk: Disk::default(),
            rotation: None,
            region: (0, 1),
            largest: 1,
            requests: 0,
            nv_cache: 0,
            users: None,
            capacity: 0,
            least_medium: u64::MAX,
            paths: (Vec::new(), Vec::new()),
        }
    }

    /// A number of `range`, each as likely as another.
    pub fn within(&mut self, range: std::ops::RangeInclusive<u64>) -> u64 {
        range.start() + self.chance.below(range.end() - range.start() + 1)
    }

    /// A number of `range`, small ones more likely than large ones: its logarithm is uniform.
    pub fn scaled(&mut self, range: std::ops::RangeInclusive<u64>) -> u64 {
        let (low, high) = (*range.start() as f64 + 1.0, *range.end() as f64 + 2.0);
        let drawn = low * libm::pow(high / low, self.chance.unit());
        (drawn as u64 - 1).clamp(*range.start(), *range.end())
    }

    pub fn unit(&mut self) -> f64 {
        self.chance.unit()
    }

    /// A share of `low` to `high` with four digits, so that it is short in a spec.
    pub fn share(&mut self, low: f64, high: f64) -> f64 {
        let drawn = low + (high - low) * self.unit();
        libm::round(drawn * 1e4) / 1e4
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.chance.below(from.len() as u64) as usize]
    }

    /// The first block of a media error, which every medium has, and half of its blocks behind it.
    pub fn first_bad_block(&mut self) -> u64 {
        self.scaled(0..=400).min(self.least_medium / 2)
    }

    /// The blocks of a media error.
    pub fn bad_blocks(&mut self) -> u64 {
        self.scaled(1..=100).min(self.least_medium.div_ceil(2))
    }

    /// A time from `low` to `high` microseconds.
    pub fn time(&mut self, low_us: u64, high_us: u64) -> Value {
        let us = self.scaled(low_us..=high_us);
        Value::from(if us.is_multiple_of(1_000) || us > 20_000 {
            format!("{} ms", us / 1_000)
        } else {
            format!("{us} us")
        })
    }

    pub fn blocks(&mut self, range: std::ops::RangeInclusive<u64>) -> Value {
        size(self.scaled(range))
    }
}

/// A size as specs write it.
pub fn size(blocks: u64) -> Value {
    Value::from(format!("{blocks} blocks"))
}

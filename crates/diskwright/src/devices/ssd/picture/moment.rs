//! What the picture of an SSD keeps of a bin of time, and of a row of channels or workers.

use crate::devices::ssd::legs::{Cause, Leg};
use crate::metrics::picture::bins::Join;

/// Kinds of what workers do.
pub const KINDS: [&str; 6] = ["transfer", "read", "program", "move", "erase", "wait"];

/// The number of the kind of what a worker does in a leg: what cleaning reads and programs is one of its own.
pub fn kind(leg: Leg, cause: Cause) -> usize {
    match (leg, cause) {
        (Leg::Command | Leg::DataIn | Leg::DataOut, _) => 0,
        (Leg::Read | Leg::Program, Cause::Cleaning) => 3,
        (Leg::Read, _) => 1,
        (Leg::Program, _) => 2,
        (Leg::Erase, _) => 4,
        (Leg::Wait, _) => 5,
    }
}

/// What workers have done, ns of each kind.
pub type Worked = [u64; KINDS.len()];
/// What channels have carried, ns for each cause.
pub type Carried = [u64; Cause::ALL.len()];

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// By the host, 512-byte blocks.
    pub host_blocks: u64,
    /// Pages programmed: of the host, moved ones, those of the map, those of parity.
    pub pages: [u64; 4],
}

impl Written {
    pub fn join(&mut self, next: &Written) {
        self.host_blocks += next.host_blocks;
        add(&mut self.pages, &next.pages);
    }

    /// All pages.
    pub fn all_pages(&self) -> u64 {
        self.pages.iter().sum()
    }
}

/// A bin of time.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// Of all channels, and of all workers.
    pub carried: Carried,
    pub worked: Worked,
    /// How long each row of channels, and of workers, was busy, ns.
    pub channels: Vec<u64>,
    pub workers: Vec<u64>,
    /// Integrals over time: requests in service, and free blocks, times ns.
    pub serving_area: u128,
    pub free_area: u128,
    /// Time that these are integrals over, ns.
    pub stood: u64,
    /// The fewest free blocks, where it is known.
    pub least_free: Option<u64>,
    /// What was written, and what of it after the warm-up.
    pub written: Written,
    pub measured: Written,
}

impl Moment {
    /// A row of workers was busy.
    pub fn worked(&mut self, row: usize, leg: Leg, cause: Cause, ns: u64) {
        self.worked[kind(leg, cause)] += ns;
        *at(&mut self.workers, row) += ns;
    }

    /// A channel was busy.
    pub fn carried(&mut self, row: usize, cause: Cause, ns: u64) {
        self.carried[cause as usize] += ns;
        *at(&mut self.channels, row) += ns;
    }

    /// `serving` requests were in service and `free` blocks were free, for `ns` nanoseconds.
    pub fn stood(&mut self, serving: u32, free: u64, ns: u64) {
        self.serving_area += u128::from(serving) * u128::from(ns);
        self.free_area += u128::from(free) * u128::from(ns);
        self.stood += ns;
        self.least_free = Some(self.least_free.map_or(free, |least| least.min(free)));
    }

    /// The host has written `host_blocks` blocks; `pages` has the programmed pages of each cause.
    pub fn wrote(&mut self, host_blocks: u64, pages: impl Fn(usize) -> u64) {
        let pages = std::array::from_fn(pages);
        let written = Written { host_blocks, pages };
        self.written.join(&written);
        self.measured.join(&written);
    }

    /// What was written until now was so in the warm-up.
    pub fn measure_from_here(&mut self) {
        self.measured = Written::default();
    }
}

impl Join for Moment {
    fn join(&mut self, next: Moment) {
        add(&mut self.carried, &next.carried);
        add(&mut self.worked, &next.worked);
        for (own, other) in [
            (&mut self.channels, &next.channels),
            (&mut self.workers, &next.workers),
        ] {
            own.resize(own.len().max(other.len()), 0);
            add(own, other);
        }
        self.serving_area += next.serving_area;
        self.free_area += next.free_area;
        self.stood += next.stood;
        let both = [self.least_free, next.least_free];
        self.least_free = both.into_iter().flatten().min();
        self.written.join(&next.written);
        self.measured.join(&next.measured);
    }
}

fn add(own: &mut [u64], other: &[u64]) {
    for (own, other) in own.iter_mut().zip(other) {
        *own += other;
    }
}

/// A place in a list that grows to it.
fn at(list: &mut Vec<u64>, place: usize) -> &mut u64 {
    if list.len() <= place {
        list.resize(place + 1, 0);
    }
    &mut list[place]
}

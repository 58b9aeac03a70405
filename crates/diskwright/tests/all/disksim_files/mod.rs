//! DiskSim's parameter files from first to last: small set-ups in memory, sound and damaged.

mod buffers;
mod controllers;
mod damaged;
mod disks;
mod generators;
mod parameters;
mod places;
mod queues;
mod runs;
mod sample;
mod ssd;
mod systems;

pub use sample::{FIRST, Sample};

//! Physics and decisions that devices are made of. They know no device.

pub mod cache;
pub mod flash;
pub mod geometry;
pub mod link;
pub mod placement;
pub mod power;
pub mod queue;

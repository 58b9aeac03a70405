//! Replacement policies, as caches ask them.

mod access_times;
mod common;
mod custom;
mod example;
mod models;
mod plain;
mod popularity;
mod queues;
mod reference;
mod suite;

pub use common::{policy, spec};

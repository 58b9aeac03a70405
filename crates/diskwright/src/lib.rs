//! diskwright simulates storage drives, request by request.

pub mod config;
pub mod device;
pub mod engine;
pub mod error;
pub mod geometry;
pub mod hdd;
pub mod host;
pub mod ledger;
pub mod metrics;
pub mod queue;
pub mod random;
pub mod registry;
pub mod request;
pub mod simulation;
pub mod timeline;
pub mod units;
pub mod workload;

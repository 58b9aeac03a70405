//! diskwright simulates storage drives, request by request.

pub mod config;
pub mod device;
pub mod engine;
pub mod error;
pub mod ledger;
pub mod metrics;
pub mod random;
pub mod request;
pub mod timeline;
pub mod units;

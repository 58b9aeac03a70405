//! diskwright simulates storage drives, request by request.

pub mod config;
pub mod error;
pub mod geometry;
pub mod request;
pub mod units;

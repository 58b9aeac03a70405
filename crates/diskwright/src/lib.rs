//! diskwright simulates storage drives, request by request.

pub mod error;
pub mod random;
pub mod request;
pub mod units;
pub mod workload;

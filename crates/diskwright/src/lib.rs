//! diskwright simulates storage drives, request by request.

pub mod error;
pub mod request;
pub mod units;

//! Where data go: in place, or wherever the head is; and which arm serves a request.

pub mod allocator;
pub mod arm_choice;
pub mod cleaner;
pub mod free;
pub mod headers;
pub mod log;
pub mod map;
mod rows;
pub mod slots;
pub mod soonest;
pub mod virtual_log;

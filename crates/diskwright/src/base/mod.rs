//! What everything uses and what knows nothing of the rest: errors, units, random numbers, named policies, schemas.

pub(crate) mod block_runs;
pub mod choice;
pub(crate) mod divide;
pub mod document;
pub mod error;
pub mod fifo;
pub mod memory;
pub mod order_statistics;
pub mod progress;
pub mod random;
pub mod registry;
pub mod schema;
pub(crate) mod small_file;
pub(crate) mod sorted_map;
pub mod units;
pub mod whole_file;

//! Counts with their sums, and LRU stacks whose items are found by their depth.

mod fenwick;
mod keyed;
mod lru_stack;
mod marks;
mod numbered;

pub use fenwick::Fenwick;
pub use keyed::KeyedLruStack;
pub use numbered::NumberedLruStack;

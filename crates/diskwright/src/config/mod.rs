//! What people write, as checked values.

pub mod drive;
pub mod drives;
pub mod quantities;

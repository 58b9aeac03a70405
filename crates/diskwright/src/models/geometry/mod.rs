//! Where sectors are and how long the arm takes to get there: pure functions of place, without state.

pub mod describe;
pub mod estimate;
pub mod layout;
mod limits;
pub mod mechanics;
mod ranges;
pub mod seek;
pub mod spindle;
mod stretches;
#[cfg(test)]
mod walk;
mod zone;

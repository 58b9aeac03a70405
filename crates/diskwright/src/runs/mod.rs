//! A spec becomes results: one simulation, many to compare or to sweep, a drive's measures, its demerit, miss ratios; and which
//! files each reads.

mod alone;
pub mod compare;
pub mod fit;
pub mod inputs;
pub mod merged;
pub mod miss_ratio;
pub mod probe;
pub mod serve;
pub mod session;
pub mod simulation;
pub mod validate;

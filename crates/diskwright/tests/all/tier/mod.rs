//! Cache tiers as specs have them.

mod changes;
mod che;
mod failures;
mod formulas;
mod memory;
mod specs;
mod warm;

//! Cache tiers as specs have them.

mod changes;
mod che;
mod formulas;
mod specs;
mod warm;

//! Cache tiers as specs have them.

mod che;
mod formulas;
mod specs;
mod warm;

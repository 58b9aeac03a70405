//! Arrays of simulated disks: against one disk alone, against closed forms, and through their specs.

mod behind_drivers;
mod common;
mod disks;
mod faults;
mod redundant;
mod scrubs;
mod specs;

//! What every scheduler of the registry must do, and what each one promises of its own.

mod common;
mod deadline;
mod elevators;
mod exact;
mod hand_worked;
mod page;
mod promises;
mod registry;
mod travel;

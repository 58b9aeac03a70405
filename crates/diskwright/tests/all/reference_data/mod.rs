//! Against recordings of real drives and results of other simulators, which are no part of the project: where they are missing,
//! these tests are ignored.

mod disksim_drives;
mod disksim_files;
mod systems;
mod traces;
mod validate;

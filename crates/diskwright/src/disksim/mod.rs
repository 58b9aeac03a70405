//! Reading the parameter files of DiskSim 4.0: a drive becomes a drive's description and the settings around it, a system of
//! drivers, buses, controllers, devices and organisations a tree of devices.
//!
//! The files (`.parv`, `.diskspecs`, `.model`; seek curves in `.seek`) are those of Bucy, Schindler, Schlosser, Ganger and
//! contributors, "The DiskSim simulation environment version 4.0 reference manual", CMU-PDL-08-101, 2008. They are
//! read in these steps, a file each:
//!
//! | step | from | to |
//! |---|---|---|
//! | `lexer`, `parser`, `loader` | texts and the files they name | statements |
//! | `system`, `overrides` | statements | blocks with what they inherit, instances, a topology |
//! | `modules`, `component` | blocks | values of the right type; what becomes of each is said there |
//! | `topology`, `organisations`, `whole` | a topology | the devices, with the ways to them; the tree of a spec |
//! | `layout`, `mechanics`, `seek_file`, `controller`, `buffer`, `queue` | values | a drive, its [`Controller`], [`Settings`] |
//!
//! Nothing that affects timing is dropped without a word: a parameter is used, or its module's table says why it has no
//! effect, or there is a warning.

mod buffer;
mod component;
mod controller;
mod controllers;
mod convert;
mod files;
mod generators;
mod layout;
mod lexer;
mod loader;
mod mechanics;
mod modules;
mod named;
mod numbers;
mod organisations;
mod overrides;
mod parser;
mod queue;
#[cfg(test)]
mod round_trip;
mod seek_file;
mod shared;
mod simple;
mod ssd;
mod syntax;
mod system;
mod text;
mod times;
mod topology;
mod warnings;
mod whole;

pub use controller::Controller;
pub use convert::{
    Import, Imported, Settings, SsdImport, TraceMapping, import, import_any_from, import_from,
    import_named,
};
pub use files::{Disk, Files};
pub use modules::{ParameterRow, parameters};
pub use named::{SetUpName, file_of, is_set_up};
pub use overrides::Override;
pub use text::{ssd_to_toml, to_spec, to_toml};
pub use whole::{Whole, whole, whole_from};

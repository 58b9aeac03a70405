//! Reading the parameter files of DiskSim 4.0: a set-up with a single drive becomes a drive's description and the
//! settings around it.
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
//! | `layout`, `mechanics`, `seek_file`, `controller`, `buffer`, `queue` | values | a drive, its [`Controller`], [`Settings`] |
//!
//! Nothing that affects timing is dropped without a word: a parameter is used, or its module's table says why it has no
//! effect on a single drive, or there is a warning.

mod buffer;
mod component;
mod controller;
mod convert;
mod files;
mod generators;
mod layout;
mod lexer;
mod loader;
mod mechanics;
mod modules;
mod numbers;
mod overrides;
mod parser;
mod queue;
#[cfg(test)]
mod round_trip;
mod seek_file;
mod syntax;
mod system;
mod text;
mod times;
mod topology;
mod warnings;

pub use controller::Controller;
pub use convert::{Import, Settings, TraceMapping, import, import_from};
pub use files::{Disk, Files};
pub use modules::{ParameterRow, parameters};
pub use overrides::Override;
pub use text::to_toml;

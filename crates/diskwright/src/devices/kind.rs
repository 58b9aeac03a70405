//! What a kind of device provides: its part of a spec, and how it is built from that.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::assembly::{DeviceTree, Site};
use super::drives::DriveFile;
use super::spindles::Spindles;
use crate::base::error::{Error, InputError};
use crate::base::units::quantities::Rotation;
use crate::engine::request::DeviceId;

/// A kind of device, as specs have it: the table under its key.
///
/// A kind is a folder of this module, and a line in [`DeviceSpec`](super::DeviceSpec): specs, their schema, runs, results and all that is
/// made from the schema take it from there.
pub trait DeviceKind: Clone + Debug + Serialize + DeserializeOwned + JsonSchema {
    /// Whether its key `drive` names a drive, which `--drive` replaces.
    const HAS_DRIVE: bool = false;
    /// Whether it has platters, whose `angle` at time zero may be drawn, and a geometry that the schedulers of its queue know.
    const HAS_SPINDLE: bool = false;
    /// Its keys whose text is the path of a file that it reads, from the spec's folder.
    const FILE_KEYS: &'static [&'static str] = &[];

    /// Builds the device, and before it those that it is made of, into the tree.
    ///
    /// # Errors
    /// Values without sense, each with its place, which [`Site::locate`] adds.
    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error>;

    /// Fills in what follows from other keys, or from what is around it, where it is not given.
    fn fill_in(&mut self, around: &Spindles) {
        let _ = around;
    }

    /// Whether the seed decides how any of the spindles in it turns.
    fn draws_spindles(&self, around: &Spindles) -> bool {
        let _ = around;
        false
    }

    /// What the file of one of its drives says.
    ///
    /// # Errors
    /// What is wrong with the file; that there are no drives of this kind.
    fn describe_drive(file: &DriveFile) -> Result<DriveFacts, Error> {
        let error = InputError::new("there are no drives of this kind of device");
        Err(error.at(file.place()).into())
    }
}

/// What is known of a kind without a spec.
#[derive(Clone, Copy, Debug)]
pub struct KindFacts {
    /// Its name, which is its key in specs.
    pub name: &'static str,
    /// [`DeviceKind::HAS_DRIVE`].
    pub has_drive: bool,
    /// [`DeviceKind::HAS_SPINDLE`].
    pub has_spindle: bool,
    /// [`DeviceKind::FILE_KEYS`].
    pub file_keys: &'static [&'static str],
}

impl KindFacts {
    /// Those of a kind.
    pub(super) const fn of<K: DeviceKind>(name: &'static str) -> KindFacts {
        KindFacts {
            name,
            has_drive: K::HAS_DRIVE,
            has_spindle: K::HAS_SPINDLE,
            file_keys: K::FILE_KEYS,
        }
    }
}

/// A device that is in the tree.
#[derive(Clone, Copy, Debug)]
pub struct Built {
    /// Its number.
    pub id: DeviceId,
    /// The speed of its drive's platters, where it has any.
    pub rotation: Option<Rotation>,
}

/// A device of any kind: what a device that is made of devices knows of them.
pub trait AnyDevice: Clone + Debug + Serialize + DeserializeOwned + JsonSchema {
    /// The name of its kind, which is its key in specs and in paths.
    fn name(&self) -> &'static str;
    /// As [`DeviceKind::build`], at a path that begins with `prefix`.
    ///
    /// # Errors
    /// Those of its kind.
    fn build_below(
        &self,
        above: &Site<'_>,
        prefix: &str,
        around: &Spindles,
        tree: &mut DeviceTree,
    ) -> Result<Built, Error>;
    /// As [`DeviceKind::fill_in`].
    fn fill_in(&mut self, around: &Spindles);
    /// As [`DeviceKind::draws_spindles`].
    fn draws_spindles(&self, around: &Spindles) -> bool;
}

/// What a drive's file says.
#[derive(Clone, Debug)]
pub struct DriveFacts {
    /// The figures that a data sheet would show, an object with the drive's name and its capacity in blocks at least.
    pub figures: Value,
    /// The whole description, defaults filled in.
    pub description: Value,
}

//! The kinds of devices, and how a tree of them is built. None knows another: a device that is made of devices knows their contract alone.

pub mod array;
pub mod assembly;
pub mod controller;
pub mod curve;
pub mod driver;
pub mod drives;
pub mod hdd;
pub mod hybrid;
pub mod kind;
pub mod measured;
mod registry;
pub mod shared_bus;
pub mod simple;
pub mod spindles;
pub mod ssd;
pub mod tier;
pub mod timed;

use crate::base::document::{Node, Value};
use crate::base::error::Error;
use crate::base::memory::Budget;
use assembly::{DeviceTree, RunSettings, Site};
use kind::{AnyDevice, KindFacts};
use spindles::Spindles;

registry::kinds! {
    Hdd = "hdd" in hdd::spec::HddSpec, "A hard disk.";
    Array = "array" in array::spec::ArraySpec<DeviceSpec>, "Several devices as one.";
    Driver = "driver" in driver::spec::DriverSpec<DeviceSpec>, "An operating system's queue before one device.";
    Simple = "simple" in simple::SimpleSpec, "A device that takes a constant time for each request, and a rate for its bytes.";
    Curve = "curve" in curve::CurveSpec, "A device of which the access time is known by the distance from its last request.";
    Ssd = "ssd" in ssd::spec::SsdSpec, "An SSD.";
    Hybrid = "hybrid" in hybrid::spec::HybridSpec<DeviceSpec>, "A rotating medium and an NV cache as one device.";
    Controller = "controller" in controller::spec::ControllerSpec<DeviceSpec>, "One or more devices behind a controller, which may have a cache.";
    Tier = "tier" in tier::spec::TierSpec<DeviceSpec>, "A device as the cache of another one.";
}

impl DeviceSpec {
    /// Builds the whole tree.
    ///
    /// # Errors
    /// Values without sense, drives that are not there, more memory than the machine has: each with its place.
    pub fn tree(&self, run: &RunSettings<'_>) -> Result<DeviceTree, Error> {
        let mut tree = DeviceTree {
            memory: run.memory.map_or_else(Budget::default, Budget::of),
            ..DeviceTree::default()
        };
        let alone = Spindles::alone();
        let root = Site {
            path: "",
            spindles: &alone,
            run,
        };
        self.build_below(&root, "", &alone, &mut tree)?;
        Ok(tree)
    }
}

/// The paths of the devices with drives in the tree of a spec, such as `device.hdd`, in the order of the text.
pub fn with_drives(spec: &Node) -> Vec<String> {
    places(spec, |kind| kind.has_drive)
}

/// The same of the devices with spindles.
pub fn with_spindles(spec: &Node) -> Vec<String> {
    places(spec, |kind| kind.has_spindle)
}

/// The kind of a name, if there is one.
pub fn kind_of(name: &str) -> Option<&'static KindFacts> {
    DeviceSpec::KINDS.iter().find(|kind| kind.name == name)
}

fn places(spec: &Node, is_wanted: impl Fn(&KindFacts) -> bool) -> Vec<String> {
    fn collect(node: &Node, path: &str, wanted: &[&str], found: &mut Vec<String>) {
        match &node.value {
            Value::Table(entries) => {
                for entry in entries {
                    let path = format!("{path}.{}", entry.key);
                    if wanted.contains(&entry.key.as_str()) {
                        found.push(path);
                    } else {
                        collect(&entry.node, &path, wanted, found);
                    }
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    collect(item, &format!("{path}[{i}]"), wanted, found);
                }
            }
            _ => {}
        }
    }
    let kinds = DeviceSpec::KINDS.iter().filter(|kind| is_wanted(kind));
    let wanted: Vec<&str> = kinds.map(|kind| kind.name).collect();
    let mut found = Vec::new();
    if let Some(device) = spec.get("device") {
        collect(device, "device", &wanted, &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_keys() {
        let schema = serde_json::to_string(&schemars::schema_for!(DeviceSpec)).expect("JSON");
        for name in DeviceSpec::NAMES {
            assert!(
                schema.contains(&format!("\"required\":[\"{name}\"]")),
                "{name}"
            );
        }
        let has_drive = |name| kind_of(name).map(|kind| kind.has_drive);
        assert_eq!(has_drive("hdd"), Some(true));
        assert_eq!(has_drive("array"), Some(false));
        assert_eq!(has_drive("tape"), None);
    }
}

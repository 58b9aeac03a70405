//! The kinds of devices, and how a tree of them is built. None knows another: a device that is made of devices knows their contract alone.

pub mod array;
pub mod assembly;
pub mod drives;
pub mod hdd;
pub mod kind;
mod registry;
pub mod spindles;

use crate::base::document::{Node, Value};
use crate::base::error::Error;
use assembly::{DeviceTree, RunSettings, Site};
use kind::AnyDevice;
use spindles::Spindles;

registry::kinds! {
    Hdd = "hdd" in hdd::spec::HddSpec, "A hard disk.";
    Array = "array" in array::spec::ArraySpec<DeviceSpec>, "Several devices as one.";
}

impl DeviceSpec {
    /// Builds the whole tree.
    ///
    /// # Errors
    /// Values without sense, drives that are not there, more memory than the machine has: each with its place.
    pub fn tree(&self, run: &RunSettings<'_>) -> Result<DeviceTree, Error> {
        let mut tree = DeviceTree::default();
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
    places(spec, |&&(_, has_drive, _)| has_drive)
}

/// The same of the devices with spindles.
pub fn with_spindles(spec: &Node) -> Vec<String> {
    places(spec, |&&(.., has_spindle)| has_spindle)
}

/// Whether a key is the name of a kind with drives.
pub fn has_drive(key: &str) -> bool {
    let mut kinds = DeviceSpec::WITH.iter();
    kinds.any(|&(name, has_drive, _)| has_drive && name == key)
}

fn places(spec: &Node, is_wanted: impl Fn(&&(&'static str, bool, bool)) -> bool) -> Vec<String> {
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
    let kinds = DeviceSpec::WITH.iter().filter(is_wanted);
    let wanted: Vec<&str> = kinds.map(|&(name, ..)| name).collect();
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
        assert!(has_drive("hdd") && !has_drive("array") && !has_drive("tape"));
    }
}

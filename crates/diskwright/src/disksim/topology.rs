//! What stands between the driver and the one drive.

use std::sync::Arc;

use super::component::Component;
use super::syntax::Node;
use super::system::System;
use super::times;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::base::units::Time;

const EXPECTED: &str = "expected one disksim_iodriver, then disksim_bus and disksim_ctlr in turn, then a disksim_bus with one disksim_disk";

/// The way from the driver to the drive.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) driver: Arc<Component>,
    /// Buses and controllers in turn, the last one a bus.
    pub(super) between: Vec<Arc<Component>>,
    pub(super) disk: Arc<Component>,
}

impl Path {
    /// Follows the topology.
    ///
    /// # Errors
    /// It is not a single drive behind buses and controllers in turn: what there is instead.
    pub(super) fn of(system: &System) -> Result<Option<Path>, InputError> {
        let Some(root) = &system.root else {
            return Ok(None);
        };
        let component = |node: &Node| Arc::clone(&system.instances[&node.name.text]);
        let wrong = |node: &Node, message: String| {
            Err(node
                .module
                .at
                .to(&node.name.at)
                .error(message)
                .help(EXPECTED))
        };
        if root.module.text != "disksim_iodriver" {
            return wrong(
                root,
                format!("the topology begins with a {}", root.module.text),
            );
        }
        let mut between = Vec::new();
        let mut node = root;
        let mut due = "disksim_bus";
        loop {
            let behind = match &node.children[..] {
                [behind] => behind,
                [] => return wrong(node, format!("nothing stands behind {}", node.name.text)),
                [_, second, ..] => {
                    let mut disks = Vec::new();
                    leaves(root, &mut disks);
                    return wrong(
                        second,
                        format!(
                            "a second component behind {}: the system has {} ({})",
                            node.name.text,
                            count(disks.len()),
                            disks.iter().take(8).copied().collect::<Vec<_>>().join(", ")
                        ),
                    );
                }
            };
            let module = behind.module.text.as_str();
            if module == "disksim_disk" && due == "disksim_ctlr" {
                if let Some(further) = behind.children.first() {
                    return wrong(
                        further,
                        format!("{} stands behind a disk", further.name.text),
                    );
                }
                return Ok(Some(Path {
                    driver: component(root),
                    between,
                    disk: component(behind),
                }));
            }
            if module != due {
                return wrong(
                    behind,
                    format!(
                        "{} ({module}) stands behind {}",
                        behind.name.text, node.name.text
                    ),
                );
            }
            between.push(component(behind));
            node = behind;
            due = match due {
                "disksim_bus" => "disksim_ctlr",
                _ => "disksim_bus",
            };
        }
    }

    /// All components on it.
    pub(super) fn components(&self) -> impl Iterator<Item = &Arc<Component>> {
        std::iter::once(&self.driver)
            .chain(&self.between)
            .chain([&self.disk])
    }

    /// The times of a block to the host and from it, with warnings of other times that pass on the way.
    ///
    /// On its way a block takes the longest of three times: of the drive, of the bus the drive hangs on, and of the
    /// controller before that bus unless it is a bridge. Other buses add nothing.
    ///
    /// # Errors
    /// A controller with a cache and a queue of its own.
    pub(super) fn block_times(&self, warnings: &mut Warnings) -> Result<(Time, Time), InputError> {
        let own = times::time(&self.disk, "Bulk sector transfer time")?;
        let (mut read, mut write) = (own, own);
        for (depth, component) in self.between.iter().enumerate() {
            if depth % 2 == 0 {
                // Nothing arbitrates for the driver's own bus or for a shared one.
                let arbitrates = depth > 0 && component.integer("type")? == 1;
                if arbitrates && component.float("Arbitration time")? != 0.0 {
                    warnings.push(
                        component.at("Arbitration time"),
                        format_args!("\"Arbitration time\" of {} is left out", component.title()),
                    );
                }
                continue;
            }
            let kind = component.integer("type")?;
            if kind == 3 {
                return Err(component
                    .at("type")
                    .error(format!(
                        "{} has a cache and a queue of its own",
                        component.title()
                    ))
                    .help("expected a controller of type 1 or 2"));
            }
            if component.float("Scale for delays")? != 0.0 {
                warnings.push(
                    component.at("Scale for delays"),
                    format_args!(
                        "the delays of {} are left out, as with a scale of 0",
                        component.title()
                    ),
                );
            }
            if kind == 2 && depth + 2 == self.between.len() {
                let chip = times::time(component, "Bulk sector transfer time")?;
                (read, write) = (read.max(chip), write.max(chip));
            }
        }
        if let Some(bus) = self.between.last() {
            read = read.max(times::time(bus, "Read block transfer time")?);
            write = write.max(times::time(bus, "Write block transfer time")?);
        }
        Ok((read, write))
    }
}

fn leaves<'n>(node: &'n Node, names: &mut Vec<&'n str>) {
    if node.children.is_empty() {
        names.push(&node.name.text);
    }
    for child in &node.children {
        leaves(child, names);
    }
}

fn count(drives: usize) -> String {
    match drives {
        1 => "1 device".into(),
        _ => format!("{drives} devices"),
    }
}

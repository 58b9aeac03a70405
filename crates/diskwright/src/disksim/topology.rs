//! What stands between the driver and the drives.

use std::sync::Arc;

use super::component::Component;
use super::syntax::{Node, SourceSpan};
use super::system::System;
use super::times;
use super::warnings::Warnings;
use crate::base::error::{InputError, suggestion};
use crate::base::units::Time;

const EXPECTED: &str = "expected one disksim_iodriver, then disksim_bus and disksim_ctlr in turn, then a disksim_bus with a disksim_disk, disksim_simpledisk or ssdmodel_ssd";

/// The modules of devices.
pub(super) const DEVICES: [&str; 3] = [DISK, "disksim_simpledisk", SSD];
const DISK: &str = "disksim_disk";
const SSD: &str = "ssdmodel_ssd";

/// What stands at the end of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceKind {
    /// A disk with platters.
    Disk,
    /// A device of constant times.
    Simple,
    /// An SSD of the extension.
    Ssd,
}

/// The way from the driver to a device.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) driver: Arc<Component>,
    /// Buses and controllers in turn, the last one a bus.
    pub(super) between: Vec<Arc<Component>>,
    pub(super) device: Arc<Component>,
    /// Where the device stands in the topology.
    pub(super) at: SourceSpan,
}

impl Path {
    /// The ways to all devices, in the order of the topology.
    ///
    /// # Errors
    /// Something stands where it cannot: what, and where.
    pub(super) fn all(system: &System) -> Result<Option<Vec<Path>>, InputError> {
        let Some(root) = &system.root else {
            return Ok(None);
        };
        if root.module.text != "disksim_iodriver" {
            return Err(wrong(
                root,
                format!("the topology begins with a {}", root.module.text),
            ));
        }
        let mut walk = Walk {
            system,
            driver: Arc::clone(&system.instances[&root.name.text]),
            between: Vec::new(),
            found: Vec::new(),
        };
        walk.behind(root)?;
        Ok(Some(walk.found))
    }

    /// The way to one device: the only one, or that of this name.
    ///
    /// # Errors
    /// There are several and none is named, or none has the name.
    pub(super) fn one(paths: Vec<Path>, name: Option<&str>) -> Result<Path, InputError> {
        let names: Vec<_> = paths.iter().map(|path| path.device.name.as_str()).collect();
        let listed = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        let devices = match names.len() {
            1 => "1 device".into(),
            several => format!("{several} devices"),
        };
        let known = format!("the system has {devices} ({listed})");
        let Some(name) = name else {
            if let [_, second, ..] = &paths[..] {
                return Err(second
                    .at
                    .error(format!("{known}, and one drive is wanted"))
                    .help(format!(
                        "name one: FILE.parv#{}; `diskwright run FILE.parv` takes the whole system",
                        names[0]
                    )));
            }
            let only = paths.into_iter().next();
            return Ok(only.expect("a topology ends with a device"));
        };
        let at = paths[0].at.clone();
        let meant = suggestion(name, names.iter().copied());
        let meant = meant.map_or_else(String::new, |meant| format!("did you mean {meant:?}? "));
        let found = paths.iter().find(|path| path.device.name == name).cloned();
        found.ok_or_else(|| {
            at.error(format!("no device {name:?} in the topology"))
                .help(format!("{meant}{known}"))
        })
    }

    /// What the device is.
    pub(super) fn kind(&self) -> DeviceKind {
        match self.device.module.name {
            DISK => DeviceKind::Disk,
            SSD => DeviceKind::Ssd,
            _ => DeviceKind::Simple,
        }
    }

    /// How many requests the device holds, and how many of these the driver gives it at a time.
    pub(super) fn depths(&self, warnings: &mut Warnings) -> Result<(u32, u32), InputError> {
        let depth = self.device.count("Max queue length")?;
        if depth == 0 {
            warnings.push(
                self.device.at("Max queue length"),
                "a queue of 0 requests is taken as one of 1",
            );
        }
        let depth = depth.max(1);
        let outstanding = match self.driver.integer("Use queueing in subsystem")? {
            0 => 1,
            _ => depth,
        };
        Ok((depth, outstanding))
    }

    /// All components on it.
    pub(super) fn components(&self) -> impl Iterator<Item = &Arc<Component>> {
        std::iter::once(&self.driver)
            .chain(&self.between)
            .chain([&self.device])
    }

    /// The times of a block to the host and from it, with warnings of other times that pass on the way.
    ///
    /// On its way a block takes the longest of three times: of the drive, of the bus the drive hangs on, and of the
    /// controller before that bus unless it is a bridge. Other buses add nothing.
    ///
    /// # Errors
    /// Parameters that are missing or make no sense.
    pub(super) fn block_times(&self, warnings: &mut Warnings) -> Result<(Time, Time), InputError> {
        let own = times::time(&self.device, "Bulk sector transfer time")?;
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
            // One with a queue or a cache of its own is a controller here, with its delays.
            let is_last = depth + 2 == self.between.len();
            if kind >= 2 && is_last {
                let chip = times::time(component, "Bulk sector transfer time")?;
                (read, write) = (read.max(chip), write.max(chip));
                continue;
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
        }
        if let Some(bus) = self.between.last() {
            read = read.max(times::time(bus, "Read block transfer time")?);
            write = write.max(times::time(bus, "Write block transfer time")?);
        }
        Ok((read, write))
    }

    /// The time of a block in both directions, for a device that has one.
    pub(super) fn one_block_time(&self, warnings: &mut Warnings) -> Result<Time, InputError> {
        let (read, write) = self.block_times(warnings)?;
        if read != write {
            warnings.push(
                &self.device.at,
                format_args!(
                    "{} has one time of a block here, that of reads: {read}; of writes it is {write}",
                    self.device.title()
                ),
            );
        }
        Ok(read)
    }
}

/// What a look through the topology has found so far.
struct Walk<'s> {
    system: &'s System,
    driver: Arc<Component>,
    /// What stands between the driver and the present place.
    between: Vec<Arc<Component>>,
    found: Vec<Path>,
}

impl Walk<'_> {
    /// Looks at all that stands behind a component.
    fn behind(&mut self, node: &Node) -> Result<(), InputError> {
        if node.children.is_empty() {
            let message = format!("nothing stands behind {}", node.name.text);
            return Err(wrong(node, message));
        }
        let is_bus = node.module.text == "disksim_bus";
        for child in &node.children {
            let module = child.module.text.as_str();
            let component = Arc::clone(&self.system.instances[&child.name.text]);
            if is_bus && DEVICES.contains(&module) {
                self.device(child, component)?;
                continue;
            }
            let due = if is_bus {
                "disksim_ctlr"
            } else {
                "disksim_bus"
            };
            if module != due {
                let (found, before) = (&child.name.text, &node.name.text);
                let message = format!("{found} ({module}) stands behind {before}");
                return Err(wrong(child, message));
            }
            self.between.push(component);
            self.behind(child)?;
            self.between.pop();
        }
        Ok(())
    }

    fn device(&mut self, node: &Node, device: Arc<Component>) -> Result<(), InputError> {
        if let Some(further) = node.children.first() {
            let message = format!("{} stands behind a disk", further.name.text);
            return Err(wrong(further, message));
        }
        self.found.push(Path {
            driver: Arc::clone(&self.driver),
            between: self.between.clone(),
            device,
            at: node.module.at.to(&node.name.at),
        });
        Ok(())
    }
}

/// That a component of the topology stands where it cannot.
fn wrong(node: &Node, message: String) -> InputError {
    let at = node.module.at.to(&node.name.at);
    at.error(message).help(EXPECTED)
}

//! From a system with one drive to its description.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::buffer;
use super::component::{Component, Item};
use super::controller::Controller;
use super::files::{Disk, Files};
use super::loader::Loader;
use super::overrides::Override;
use super::queue::{self, Place};
use super::system::System;
use super::topology::DeviceKind;
use super::warnings::Warnings;
use super::{generators, layout, mechanics, parser, ssd, topology};
use crate::base::error::{Error, InputError, Place as Where};
use crate::base::units::{Size, Time};
use crate::config::spec::{HostSpec, MeasureSpec, WarmUpSpec};
use crate::devices::hdd::Overhead;
use crate::devices::hdd::drive::{DriveDescription, HardDisk, InterfaceDescription};
use crate::devices::hdd::spec::QueueSpec;
use crate::devices::ssd::drive::SsdDescription;
use crate::workload::ProcessesSpec;

/// What a set-up of DiskSim's amounts to.
#[derive(Clone, Debug)]
pub struct Import {
    /// The drive.
    pub drive: DriveDescription,
    /// The drive's electronics, as DiskSim has them.
    pub controller: Controller,
    /// What stands around the drive.
    pub settings: Settings,
    /// What is ignored, replaced or taken otherwise than it is written, each with its place.
    pub warnings: Vec<String>,
}

/// What a set-up with an SSD amounts to.
#[derive(Clone, Debug)]
pub struct SsdImport {
    /// The drive.
    pub drive: SsdDescription,
    /// What stands around the drive; the queue is none of its own.
    pub settings: Settings,
    /// What is ignored, replaced or taken otherwise than it is written, each with its place.
    pub warnings: Vec<String>,
}

/// What the one device of a set-up that is wanted amounts to.
#[derive(Clone, Debug)]
pub enum Imported {
    /// A disk.
    Disk(Box<Import>),
    /// An SSD.
    Ssd(Box<SsdImport>),
}

/// What a set-up says besides the drive.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Settings {
    /// The driver: how many requests the drive is given at a time, and which of the others is next.
    pub host: HostSpec,
    /// The drive's own queue.
    pub queue: QueueSpec,
    /// The warm-up.
    pub measure: MeasureSpec,
    /// What arrival times of a trace are multiplied by.
    pub trace_time_scale: f64,
    /// Which devices of a trace are the drive.
    pub mappings: Vec<TraceMapping>,
    /// The load that its generators make, where it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<ProcessesSpec>,
}

/// How requests to a device of a trace become requests to the drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceMapping {
    /// The device's number in the trace.
    pub device: i64,
    /// Bytes of the trace's unit of locations: 512 for blocks.
    pub location_scale: u64,
    /// What sizes are multiplied by.
    pub size_scale: u64,
    /// Blocks that are added to locations.
    pub offset: u64,
}

/// Reads a set-up with one drive, with values put over those of its files.
///
/// # Errors
/// A file that cannot be read or does not say what it should, with file, line and column; a system that is not one
/// drive; a drive that makes no sense.
pub fn import(path: &Path, overrides: &[Override]) -> Result<Import, Error> {
    import_from(&Disk, path, &[], overrides)
}

/// The same of a system that may have several drives, disks or SSDs, with the name of the one that is wanted.
///
/// # Errors
/// As [`import`]; the system has no device of the name.
pub fn import_named(
    path: &Path,
    drive: Option<&str>,
    overrides: &[Override],
) -> Result<Imported, Error> {
    let mut loader = Loader::new(&Disk, Vec::new());
    one(path, drive, overrides, &mut loader)
}

/// The same, with files from elsewhere, and with further folders in which those that others name are looked for.
///
/// # Errors
/// As [`import`].
pub fn import_from(
    files: &dyn Files,
    path: &Path,
    search: &[PathBuf],
    overrides: &[Override],
) -> Result<Import, Error> {
    match import_any_from(files, path, search, overrides)? {
        Imported::Disk(import) => Ok(*import),
        Imported::Ssd(ssd) => {
            let error = InputError::new(format!("{:?} is an SSD", ssd.drive.name));
            let error = error.at(Where::File(path.to_owned()));
            Err(error.help("expected a disksim_disk").into())
        }
    }
}

/// The same of a set-up whose one device is a disk or an SSD.
///
/// # Errors
/// As [`import`].
pub fn import_any_from(
    files: &dyn Files,
    path: &Path,
    search: &[PathBuf],
    overrides: &[Override],
) -> Result<Imported, Error> {
    let mut loader = Loader::new(files, search.to_vec());
    one(path, None, overrides, &mut loader)
}

/// The names of the devices of a system, in the order of its topology.
///
/// # Errors
/// A file that cannot be read or does not say what it should; a topology that makes no sense.
pub(super) fn device_names(path: &Path, overrides: &[Override]) -> Result<Vec<String>, Error> {
    let (_, routes) = load(path, overrides, &mut Loader::new(&Disk, Vec::new()))?;
    Ok(routes
        .iter()
        .map(|route| route.device.name.clone())
        .collect())
}

fn one(
    path: &Path,
    drive: Option<&str>,
    overrides: &[Override],
    loader: &mut Loader<'_>,
) -> Result<Imported, Error> {
    let (mut system, routes) = load(path, overrides, loader)?;
    let route = topology::Path::one(routes, drive)?;
    convert(&mut system, &route, loader).map_err(Error::from)
}

/// A system with values put over those of its files, and the ways to its devices.
pub(super) fn load(
    path: &Path,
    overrides: &[Override],
    loader: &mut Loader<'_>,
) -> Result<(System, Vec<topology::Path>), Error> {
    let text = loader
        .first(path)
        .map_err(|error| Error::file(path, "read", error))?;
    let statements = parser::statements(path, text, loader)?;
    let mut system = System::build(statements)?;
    for put in overrides {
        system.put(put, loader)?;
    }
    let routes = topology::Path::all(&system)?.ok_or_else(|| {
        InputError::new("no topology").at(Where::File(path.to_owned())).help("expected \"topology disksim_iodriver NAME [ … ]\" with a drive: a file with a drive alone does not say what it hangs on")
    })?;
    Ok((system, routes))
}

fn convert(
    system: &mut System,
    route: &topology::Path,
    loader: &mut Loader<'_>,
) -> Result<Imported, InputError> {
    let mut warnings = std::mem::take(&mut system.warnings);
    for component in route.components() {
        component.check(&mut warnings)?;
    }
    check_around(system, &mut warnings)?;
    match route.kind() {
        DeviceKind::Disk => {
            let (drive, controller) = drive_at(route, loader, &mut warnings)?;
            let settings = settings(system, route, &mut warnings)?;
            Ok(Imported::Disk(Box::new(Import {
                drive,
                controller,
                settings,
                warnings: warnings.texts(),
            })))
        }
        DeviceKind::Ssd => {
            let drive = ssd::drive(route, &mut warnings)?;
            let settings = settings(system, route, &mut warnings)?;
            Ok(Imported::Ssd(Box::new(SsdImport {
                drive,
                settings,
                warnings: warnings.texts(),
            })))
        }
        DeviceKind::Simple => {
            let name = &route.device.name;
            Err(route
                .at
                .error(format!("{name} has constant times: it is no drive by itself"))
                .help("expected a disksim_disk or an ssdmodel_ssd; `diskwright run FILE.parv` takes the whole system"))
        }
    }
}

/// Checks what stands around the devices.
pub(super) fn check_around(system: &System, warnings: &mut Warnings) -> Result<(), InputError> {
    let around = [
        "disksim_global",
        "disksim_iosim",
        "disksim_logorg",
        "disksim_pf",
        "disksim_synthio",
        "disksim_syncset",
    ];
    for component in around.iter().flat_map(|module| system.in_force(module)) {
        component.check(warnings)?;
    }
    Ok(())
}

/// The drive at the end of a way.
pub(super) fn drive_at(
    route: &topology::Path,
    loader: &mut Loader<'_>,
    warnings: &mut Warnings,
) -> Result<(DriveDescription, Controller), InputError> {
    let disk = &route.device;
    let model = disk.block("Model")?;
    let times = route.block_times(warnings)?;
    let controller = Controller::read(disk, times.0, times.1)?;
    let mut drive = drive(disk, model, loader, warnings)?;
    buffer::apply(&controller, disk, &mut drive, warnings)?;
    let built = drive.hardware().map_err(|error| {
        let zone = layout::unsound_zone(model, &drive.layout);
        error.at(zone.as_ref().unwrap_or(&model.at).place())
    })?;
    let (listed, held) = (model.integer("Block count")?, built.blocks());
    if u64::try_from(listed) != Ok(held) {
        warnings.push(model.at("Block count"), format_args!("\"Block count\" is {listed}, and the zones hold {held} blocks, which is what counts, as in DiskSim"));
    }
    for warning in built.mechanics.layout.warnings() {
        warnings.push(model.at("Layout Model"), warning);
    }
    Ok((drive, controller))
}

fn drive(
    disk: &Component,
    model: &Component,
    loader: &mut Loader<'_>,
    warnings: &mut Warnings,
) -> Result<DriveDescription, InputError> {
    let mechanics = model.block("Mechanical Model")?;
    let layout = layout::layout(model, warnings)?;
    let seek = mechanics::seek(mechanics, layout.cylinders, loader, warnings)?;
    let name = |path: &PathBuf| {
        path.file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let files: Vec<_> = loader.read().iter().map(name).collect();
    Ok(DriveDescription {
        kind: HardDisk::Hdd,
        name: disk.kind.clone(),
        about: "a drive of DiskSim's".into(),
        source: vec![format!("DiskSim parameter files: {}", files.join(", "))],
        estimated: Vec::new(),
        year: None,
        sector_size: Size::from_blocks(1),
        rotation: mechanics::rotation(mechanics)?,
        heads: mechanics::heads(mechanics)?,
        seek,
        write_seek: None,
        overhead: Overhead::default(),
        interface: InterfaceDescription::default(),
        pool: None,
        buffer: None,
        arms: None,
        ships: None,
        power: None,
        layout,
    })
}

fn settings(
    system: &System,
    route: &topology::Path,
    warnings: &mut Warnings,
) -> Result<Settings, InputError> {
    let host = route.driver.block("Scheduler")?;
    let mut settings = settings_around(system, route, warnings)?;
    let policy = "Scheduling policy";
    if queue::needs_positions(host.integer(policy)?) {
        if route.kind() == DeviceKind::Disk {
            settings.queue.scheduler = Some(queue::scheduler(host, Place::Drive, true, warnings)?);
            settings.queue.depth = Some(queue::ALL);
            settings.host.outstanding = Some(queue::ALL);
        }
        let told = queue::told_of_positions(route.kind());
        warnings.push(host.at(policy), told);
    } else {
        settings.host.scheduler = queue::scheduler(host, Place::Host, true, warnings)?;
    }
    let is_known =
        |name: &str| system.instances.contains_key(name) || system.blocks.contains_key(name);
    settings.processes =
        generators::processes(system, |name| is_known(name).then_some(0), warnings)?;
    Ok(settings)
}

/// The same, with a driver that holds requests back in the order of their arrival.
pub(super) fn settings_around(
    system: &System,
    route: &topology::Path,
    warnings: &mut Warnings,
) -> Result<Settings, InputError> {
    let (outstanding, queue) = match route.kind() {
        DeviceKind::Disk => queues(route, warnings)?,
        DeviceKind::Simple | DeviceKind::Ssd => (route.depths(warnings)?.1, QueueSpec::default()),
    };
    let mut settings = Settings {
        host: HostSpec {
            outstanding: Some(outstanding),
            ..HostSpec::default()
        },
        queue,
        measure: MeasureSpec::default(),
        trace_time_scale: 1.0,
        mappings: Vec::new(),
        processes: None,
    };
    for global in system.in_force("disksim_global") {
        warm_up(global, &mut settings, warnings)?;
    }
    for iosim in system.in_force("disksim_iosim") {
        trace(system, iosim, &mut settings, warnings)?;
    }
    Ok(settings)
}

/// How many requests the driver gives a disk at a time, and the disk's own queue.
pub(super) fn queues(
    route: &topology::Path,
    warnings: &mut Warnings,
) -> Result<(u32, QueueSpec), InputError> {
    let (depth, outstanding) = route.depths(warnings)?;
    let own = route.device.block("Scheduler")?;
    let queue = QueueSpec {
        depth: Some(depth),
        scheduler: Some(queue::scheduler(
            own,
            Place::Drive,
            outstanding > 1,
            warnings,
        )?),
        ..QueueSpec::default()
    };
    Ok((outstanding, queue))
}

fn warm_up(
    global: &Component,
    settings: &mut Settings,
    warnings: &mut Warnings,
) -> Result<(), InputError> {
    let (time, requests) = ("Statistic warm-up time", "Statistic warm-up IOs");
    if let Some(item) = global.item(time) {
        let seconds = item.float(time)?;
        let span = Time::from_ns_f64(seconds * 1e9)
            .ok_or_else(|| item.unlike(time, "a time in seconds"))?;
        settings.measure.warmup = (span > Time::ZERO).then_some(WarmUpSpec::Time(span));
    }
    if let Some(item) = global.item(requests) {
        let number = item.integer(requests)? as u64;
        if number > 0 {
            if settings.measure.warmup.is_some() {
                warnings.push(
                    &item.at,
                    format_args!("{requests:?} takes the place of {time:?}"),
                );
            }
            settings.measure.warmup = Some(WarmUpSpec::Requests(number));
        }
    }
    Ok(())
}

/// What is said of traces: the scale of their times, and what their devices are.
fn trace(
    system: &System,
    iosim: &Component,
    settings: &mut Settings,
    warnings: &mut Warnings,
) -> Result<(), InputError> {
    let (scale, mappings) = ("I/O Trace Time Scale", "I/O Mappings");
    if let Some(item) = iosim.item(scale) {
        let number = item.float(scale)?;
        if number > 0.0 {
            settings.trace_time_scale = number;
        } else if number == 0.0 {
            return Err(item.unlike(scale, "a number above 0"));
        } else {
            warnings.push(&item.at, format_args!("{scale:?} below 0 has DiskSim issue requests at a constant rate or keep a number outstanding; it is left out, and a spec can say so"));
        }
    }
    if iosim.item(mappings).is_some() {
        for item in iosim.list(mappings)? {
            let (mapping, _) = mapping(system, item)?;
            settings.mappings.push(mapping);
        }
    }
    Ok(())
}

/// A mapping, and the name of the device that it is of.
pub(super) fn mapping(system: &System, item: &Item) -> Result<(TraceMapping, String), InputError> {
    let map = item.block("a mapping")?;
    if map.module.name != "disksim_iomap" {
        return Err(item.unlike("a mapping", "a block of disksim_iomap"));
    }
    let device = map.text("simdev")?;
    if !system.instances.contains_key(&device) {
        return Err(map
            .at("simdev")
            .error(format!("no instance {device:?}"))
            .help("expected the name of the drive's instance, which must come before"));
    }
    let offset = match map.item("offset") {
        Some(item) => item.integer("offset")? as u64,
        None => 0,
    };
    let mapping = TraceMapping {
        device: map.integer("tracedev")?,
        location_scale: map.integer("locScale")? as u64,
        size_scale: map.integer("sizeScale")? as u64,
        offset,
    };
    Ok((mapping, device))
}

impl System {
    /// The components of a module that count: its instances, or where it has none its blocks, which count by
    /// themselves.
    pub(super) fn in_force(&self, module: &str) -> Vec<&Arc<Component>> {
        let of = |component: &&Arc<Component>| component.module.name == module;
        let instances: Vec<_> = self.instances.values().filter(of).collect();
        match instances.is_empty() {
            true => self.blocks.values().filter(of).collect(),
            false => instances,
        }
    }
}

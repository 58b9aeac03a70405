//! A set-up of DiskSim's as a spec: of one plain drive, what stands around it becomes the host, the queue and the measurement; a system
//! becomes a tree of devices with drivers. Its generators are the load, unless another one is said.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::base::document::{Node, Override, Value};
use crate::base::error::{Error, InputError, Place, Source};
use crate::base::units::BLOCK_BYTES;
use crate::config::spec::{HostSpec, MeasureSpec};
use crate::devices::drives::DriveFile;
use crate::devices::hdd::spec::QueueSpec;
use crate::disksim::{Imported, SetUpName, Settings, TraceMapping, Whole};
use crate::workload::{self, FormatOptions, Pace};

/// The drive of a set-up, for [`DriveFile::read`].
pub fn drive(path: &Path) -> Option<Result<DriveFile, Error>> {
    SetUpName::read(path).map(|named| {
        let (text, warnings) = match named?.import()? {
            Imported::Disk(import) => (toml::to_string(&import.drive), import.warnings),
            Imported::Ssd(import) => (toml::to_string(&import.drive), import.warnings),
        };
        let text = text.expect("a drive's description has only keys and values that TOML has");
        let file = DriveFile::parse(path.display().to_string(), text)?;
        Ok(DriveFile { warnings, ..file })
    })
}

/// What a set-up says besides the devices and the host.
pub struct SetUp {
    path: PathBuf,
    around: Around,
    /// What the import does otherwise than the files say.
    pub warnings: Vec<String>,
}

/// What is said of loads.
enum Around {
    /// For a drive alone.
    Alone(Box<Settings>),
    /// For a system.
    System(Box<Whole>),
}

#[derive(Serialize)]
struct Spec<'s> {
    host: &'s HostSpec,
    measure: &'s MeasureSpec,
    device: Device<'s>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Device<'s> {
    Hdd {
        drive: &'s str,
        buffer: bool,
        queue: &'s QueueSpec,
    },
    Ssd {
        drive: &'s str,
    },
}

/// The spec of the set-up at `path`, without a load, and the folder in which relative paths in it start: the set-up's.
///
/// # Errors
/// As [`import`](crate::disksim::import) and [`whole`](crate::disksim::whole).
pub fn spec(path: &Path) -> Result<(Node, PathBuf, SetUp), Error> {
    let named = SetUpName::read(path).expect("it is the name of a set-up")?;
    let folder = named.file.parent().unwrap_or(Path::new("")).to_owned();
    let (text, around, warnings) = match named.drive {
        Some(_) => alone(&named)?,
        None => {
            let whole = named.whole(&named.beside()?)?;
            match whole.alone {
                Some(_) => alone(&named)?,
                None => system(whole),
            }
        }
    };
    let node = Node::parse(&Source::new(format!("{} as a spec", path.display()), text))?;
    let set_up = SetUp {
        path: named.file,
        around,
        warnings,
    };
    Ok((node, folder, set_up))
}

fn alone(named: &SetUpName) -> Result<(String, Around, Vec<String>), Error> {
    let drive = &named.beside()?;
    let (settings, warnings, is_disk) = match named.import()? {
        Imported::Disk(import) => (import.settings, import.warnings, true),
        Imported::Ssd(import) => (import.settings, import.warnings, false),
    };
    let device = match is_disk {
        true => Device::Hdd {
            drive,
            buffer: true,
            queue: &settings.queue,
        },
        false => Device::Ssd { drive },
    };
    let text = toml::to_string(&Spec {
        host: &settings.host,
        measure: &settings.measure,
        device,
    })
    .expect("settings have only keys and values that TOML has");
    Ok((text, Around::Alone(Box::new(settings)), warnings))
}

fn system(mut whole: Whole) -> (String, Around, Vec<String>) {
    let spec = json!({ "measure": whole.measure, "device": whole.device });
    let text = toml::to_string(&spec).expect("a system has only keys and values that TOML has");
    let warnings = std::mem::take(&mut whole.warnings);
    (text, Around::System(Box::new(whole)), warnings)
}

impl SetUp {
    /// Adds what the set-up says of traces to a spec whose overrides are in place, as far as these do not say it.
    ///
    /// # Errors
    /// A spec without a load.
    pub fn complete(&mut self, spec: &mut Node) -> Result<(), Error> {
        // Keys of processes without generators are put over those of the set-up.
        let own = "processes.generator";
        let loads = ["trace", "synthetic-clone", "synthetic", "fio", own];
        if !loads.iter().any(|load| says(spec, load)) {
            if self.complete_processes(spec)? {
                return Ok(());
            }
            return Err(InputError::new("a set-up of DiskSim's without generators says what there is, not which requests there are")
                .at(Place::File(self.path.clone()))
                .help("add --trace FILE, or --set workload.trace=FILE --set workload.format=disksim-ascii with a path from the set-up's folder, or --set workload.synthetic='{ … }'")
                .into());
        }
        let Some(trace) = text(spec, "trace") else {
            return Ok(());
        };
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let counts_sectors = counts_sectors(&folder.join(trace), text(spec, "format"));
        let scale = match &self.around {
            Around::Alone(settings) => settings.trace_time_scale,
            Around::System(whole) => whole.trace_time_scale,
        };
        if scale != 1.0 && !says(spec, "pace") {
            put(spec, "pace", &Pace::Scaled(1.0 / scale))?;
        }
        match std::mem::replace(&mut self.around, Around::Alone(Box::default())) {
            Around::Alone(settings) => self.complete_alone(spec, counts_sectors, &settings),
            Around::System(whole) => self.complete_system(spec, counts_sectors, &whole),
        }
    }

    /// Makes the set-up's generators the load, if there are some: whether there are.
    fn complete_processes(&mut self, spec: &mut Node) -> Result<bool, Error> {
        let (processes, places, timeout) = match &self.around {
            Around::Alone(settings) => (&settings.processes, &[][..], None),
            Around::System(whole) => (&whole.processes, &whole.places[..], whole.timeout.as_ref()),
        };
        let Some(processes) = processes else {
            return Ok(false);
        };
        let processes = serde_json::to_value(processes).expect("a load is plain data");
        for (key, value) in processes.as_object().into_iter().flatten() {
            let key = format!("processes.{key}");
            if !says(spec, &key) {
                put(spec, &key, value)?;
            }
        }
        if !places.is_empty() && !says(spec, "devices") {
            put(spec, "devices", &places)?;
        }
        // DiskSim counts the time that requests wait only where it simulates processors.
        if let (Some(timeout), Around::System(whole)) = (timeout, &self.around) {
            let mut drivers = Vec::new();
            find_drivers(&whole.device, "device", &mut drivers);
            for driver in drivers {
                let key = format!("{driver}.timeout");
                if spec.get(&key).is_none() {
                    put_at(spec, &key, timeout)?;
                }
            }
        }
        Ok(true)
    }

    fn complete_alone(
        &mut self,
        spec: &mut Node,
        counts_sectors: bool,
        settings: &Settings,
    ) -> Result<(), Error> {
        let (device, sector_bytes) = self.mapping(counts_sectors, settings);
        if let Some(device) = device
            && !says(spec, "device")
        {
            put(spec, "device", &device)?;
        }
        if counts_sectors
            && !says(spec, "sector_bytes")
            && let Some(bytes) = sector_bytes
        {
            put(spec, "sector_bytes", &bytes)?;
            if device.is_none() {
                self.warn_of_sectors(bytes);
            }
        }
        Ok(())
    }

    /// The places of a trace's devices, and the end of the run: as in DiskSim, with the last arrival.
    fn complete_system(
        &mut self,
        spec: &mut Node,
        counts_sectors: bool,
        whole: &Whole,
    ) -> Result<(), Error> {
        if !says(spec, "device") && !says(spec, "devices") {
            put(spec, "devices", &whole.places)?;
        }
        if counts_sectors && !says(spec, "sector_bytes") {
            put(spec, "sector_bytes", &BLOCK_BYTES)?;
            if !whole.has_mappings {
                self.warn_of_sectors(BLOCK_BYTES as u32);
            }
        }
        let is_open = text(spec, "pace") != Some("closed");
        if is_open && spec.get("measure.end").is_none() {
            spec.set(Override::parse(
                "the set-up",
                "measure.end=\"last-arrival\"",
            )?)?;
        }
        Ok(())
    }

    fn warn_of_sectors(&mut self, bytes: u32) {
        self.warnings.push(format!(
            "without \"I/O Mappings\" the sectors of the trace are taken as blocks of {bytes} bytes, as in DiskSim: workload.sector_bytes can say more"
        ));
    }

    /// The device of a trace that is the drive, and the bytes in a sector of it, as far as the mappings say that in a way
    /// that a workload has; warns where they say more.
    fn mapping(&mut self, counts_sectors: bool, settings: &Settings) -> (Option<u32>, Option<u32>) {
        let fits = |mapping: &TraceMapping| {
            let is_plain = mapping.size_scale == 1 && mapping.offset == 0;
            let device = u32::try_from(mapping.device).ok()?;
            let bytes = u32::try_from(mapping.location_scale).ok()?;
            (is_plain && (counts_sectors || u64::from(bytes) == BLOCK_BYTES))
                .then_some((device, bytes))
        };
        match &settings.mappings[..] {
            [] => return (None, Some(BLOCK_BYTES as u32)),
            [mapping] => {
                if let Some((device, bytes)) = fits(mapping) {
                    return (Some(device), Some(bytes));
                }
            }
            _ => {}
        }
        let mappings = settings.mappings.iter();
        let devices: Vec<_> = mappings.map(|mapping| mapping.device.to_string()).collect();
        self.warnings.push(format!(
            "\"I/O Mappings\" of trace devices {} are left out: of a set-up, one device is taken, block for block; workload.device can say more",
            devices.join(", ")
        ));
        (None, None)
    }
}

/// Whether a spec has a key of the workload.
fn says(spec: &Node, key: &str) -> bool {
    spec.get(&format!("workload.{key}")).is_some()
}

/// The text at a key of the workload.
fn text<'n>(spec: &'n Node, key: &str) -> Option<&'n str> {
    match &spec.get(&format!("workload.{key}"))?.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Whether a trace's places are sectors of a size of its own. What can be read only once is not looked at.
fn counts_sectors(trace: &Path, format: Option<&str>) -> bool {
    const HP: &str = "hp-srt";
    if let Some(format) = format {
        return format == HP;
    }
    trace.is_file()
        && workload::open(trace, &FormatOptions::default())
            .is_ok_and(|reader| reader.format() == HP)
}

/// Puts a value at a key of the workload.
fn put(spec: &mut Node, key: &str, value: &impl Serialize) -> Result<(), InputError> {
    put_at(spec, &format!("workload.{key}"), value)
}

/// Puts a value at a key of the spec.
fn put_at(spec: &mut Node, key: &str, value: &impl Serialize) -> Result<(), InputError> {
    let value = toml::Value::try_from(value).expect("a value that TOML has");
    spec.set(Override::parse("the set-up", &format!("{key}={value}"))?)
}

/// The paths of all drivers in a tree of devices.
fn find_drivers(tree: &serde_json::Value, path: &str, found: &mut Vec<String>) {
    match tree {
        serde_json::Value::Object(entries) => {
            for (key, inner) in entries {
                let path = format!("{path}.{key}");
                find_drivers(inner, &path, found);
                if key == "driver" {
                    found.push(path);
                }
            }
        }
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_drivers(item, &format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}

//! A set-up of DiskSim's as a spec: what stands around its drive becomes the host, the queues and the measurement; its
//! generators are the load, unless another one is said.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::document::{Node, Override, Value};
use crate::base::error::{Error, InputError, Place, Source};
use crate::base::units::BLOCK_BYTES;
use crate::config::spec::{HostSpec, MeasureSpec};
use crate::devices::drives::DriveFile;
use crate::devices::hdd::spec::QueueSpec;
use crate::disksim::{self, Settings, TraceMapping};
use crate::workload::{self, FormatOptions, Pace};

/// Whether a path is that of a set-up, and not of a spec or a drive in TOML.
pub fn is_set_up(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parv")
}

/// The drive of a set-up, for [`DriveFile::read`].
pub fn drive(path: &Path) -> Option<Result<DriveFile, Error>> {
    is_set_up(path).then(|| {
        let import = disksim::import(path, &[])?;
        let text = toml::to_string(&import.drive)
            .expect("a drive's description has only keys and values that TOML has");
        let file = DriveFile::parse(path.display().to_string(), text)?;
        Ok(DriveFile {
            warnings: import.warnings,
            ..file
        })
    })
}

/// What a set-up says besides the devices and the host.
pub struct SetUp {
    path: PathBuf,
    settings: Settings,
    /// What the import does otherwise than the files say.
    pub warnings: Vec<String>,
}

#[derive(Serialize)]
struct Spec<'s> {
    host: &'s HostSpec,
    measure: &'s MeasureSpec,
    device: Device<'s>,
}

#[derive(Serialize)]
struct Device<'s> {
    hdd: Hdd<'s>,
}

#[derive(Serialize)]
struct Hdd<'s> {
    drive: &'s str,
    buffer: bool,
    queue: &'s QueueSpec,
}

/// The spec of the set-up at `path`, without a load; relative paths in it start at the set-up's folder.
///
/// # Errors
/// As [`disksim::import`].
pub fn spec(path: &Path) -> Result<(Node, SetUp), Error> {
    let import = disksim::import(path, &[])?;
    let name = path.file_name().and_then(|name| name.to_str());
    let drive = name.ok_or_else(|| {
        InputError::new("the file's name is not Unicode").at(Place::File(path.to_owned()))
    })?;
    let settings = import.settings;
    let text = toml::to_string(&Spec {
        host: &settings.host,
        measure: &settings.measure,
        device: Device {
            hdd: Hdd {
                drive,
                buffer: true,
                queue: &settings.queue,
            },
        },
    })
    .expect("settings have only keys and values that TOML has");
    let node = Node::parse(&Source::new(format!("{} as a spec", path.display()), text))?;
    let set_up = SetUp {
        path: path.to_owned(),
        settings,
        warnings: import.warnings,
    };
    Ok((node, set_up))
}

impl SetUp {
    /// Adds what the set-up says of traces to a spec whose overrides are in place, as far as these do not say it.
    ///
    /// # Errors
    /// A spec without a load.
    pub fn complete(&mut self, spec: &mut Node) -> Result<(), Error> {
        let says = |spec: &Node, key: &str| spec.get(&format!("workload.{key}")).is_some();
        let loads = ["trace", "synthetic-clone", "synthetic", "fio", "processes"];
        if !loads.iter().any(|load| says(spec, load)) {
            if let Some(processes) = &self.settings.processes {
                return Ok(put(spec, "processes", processes)?);
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
        let scale = self.settings.trace_time_scale;
        if scale != 1.0 && !says(spec, "pace") {
            put(spec, "pace", &Pace::Scaled(1.0 / scale))?;
        }
        let (device, sector_bytes) = self.mapping(counts_sectors);
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
                self.warnings.push(format!(
                    "without \"I/O Mappings\" the sectors of the trace are taken as blocks of {bytes} bytes, as in DiskSim: workload.sector_bytes can say more"
                ));
            }
        }
        Ok(())
    }

    /// The device of a trace that is the drive, and the bytes in a sector of it, as far as the mappings say that in a way
    /// that a workload has; warns where they say more.
    fn mapping(&mut self, counts_sectors: bool) -> (Option<u32>, Option<u32>) {
        let fits = |mapping: &TraceMapping| {
            let is_plain = mapping.size_scale == 1 && mapping.offset == 0;
            let device = u32::try_from(mapping.device).ok()?;
            let bytes = u32::try_from(mapping.location_scale).ok()?;
            (is_plain && (counts_sectors || u64::from(bytes) == BLOCK_BYTES))
                .then_some((device, bytes))
        };
        match &self.settings.mappings[..] {
            [] => return (None, Some(BLOCK_BYTES as u32)),
            [mapping] => {
                if let Some((device, bytes)) = fits(mapping) {
                    return (Some(device), Some(bytes));
                }
            }
            _ => {}
        }
        let mappings = self.settings.mappings.iter();
        let devices: Vec<_> = mappings.map(|mapping| mapping.device.to_string()).collect();
        self.warnings.push(format!(
            "\"I/O Mappings\" of trace devices {} are left out: of a set-up, one device is taken, block for block; workload.device can say more",
            devices.join(", ")
        ));
        (None, None)
    }
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
    let value = toml::Value::try_from(value).expect("a value that TOML has");
    spec.set(Override::parse(
        "the set-up",
        &format!("workload.{key}={value}"),
    )?)
}

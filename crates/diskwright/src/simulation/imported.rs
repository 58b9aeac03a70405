//! A set-up of DiskSim's as a spec: what stands around its drive becomes the host, the queues and the measurement; the
//! load has to be said.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::spec::{HostSpec, MeasureSpec, QueueSpec};
use crate::config::tree::{Node, Override};
use crate::disksim::{self, Settings, TraceMapping};
use crate::error::{Error, InputError, Place, Source};
use crate::workload::Pace;

/// Whether a path is that of a set-up, and not of a spec or a drive in TOML.
pub fn is_set_up(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parv")
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
        if !["trace", "synthetic", "fio"]
            .iter()
            .any(|load| says(spec, load))
        {
            return Err(InputError::new("a set-up of DiskSim's says what there is, not which requests there are")
                .at(Place::File(self.path.clone()))
                .help("add --trace FILE, or --set workload.trace=FILE --set workload.format=disksim-ascii with a path from the set-up's folder, or --set workload.synthetic='{ … }'")
                .into());
        }
        if !says(spec, "trace") {
            return Ok(());
        }
        let scale = self.settings.trace_time_scale;
        if scale != 1.0 && !says(spec, "pace") {
            put(spec, "pace", &Pace::Scaled(1.0 / scale))?;
        }
        let device = self.device();
        if let Some(device) = device
            && !says(spec, "device")
        {
            put(spec, "device", &device)?;
        }
        Ok(())
    }

    /// The device of a trace that is the drive, where one alone is, block for block; warns of other mappings.
    fn device(&mut self) -> Option<u32> {
        let plain = |mapping: &TraceMapping| TraceMapping {
            device: mapping.device,
            location_scale: 512,
            size_scale: 1,
            offset: 0,
        };
        match &self.settings.mappings[..] {
            [] => None,
            [mapping] if *mapping == plain(mapping) => u32::try_from(mapping.device).ok(),
            mappings => {
                let devices: Vec<_> = mappings
                    .iter()
                    .map(|mapping| mapping.device.to_string())
                    .collect();
                self.warnings.push(format!(
                    "\"I/O Mappings\" of trace devices {} are left out: only one device, mapped block for block, is taken from a set-up; workload.device and workload.sector_bytes can say more",
                    devices.join(", ")
                ));
                None
            }
        }
    }
}

/// Puts a value at a key of the workload.
fn put(spec: &mut Node, key: &str, value: &impl Serialize) -> Result<(), InputError> {
    let value = toml::Value::try_from(value).expect("a value that TOML has");
    spec.set(Override::parse(
        "the set-up",
        &format!("workload.{key}={value}"),
    )?)
}

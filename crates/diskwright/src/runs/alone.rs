//! A hard disk alone, built as a run builds it: for one request at a time, or as the drive ships.

use std::path::Path;

use super::simulation::imported;
use crate::base::error::Error;
use crate::base::memory::Budget;
use crate::devices::assembly::{RunSettings, Site};
use crate::devices::hdd::arms_spec::{ArmsOfSpec, ArmsSpec};
use crate::devices::hdd::drive::Drive;
use crate::devices::hdd::spec::buffer::BufferSpec;
use crate::devices::hdd::spec::{HddSpec, QueueSpec};
use crate::devices::spindles::Spindles;
use crate::engine::Engine;
use crate::models::cache::replacement::CustomReplacements;
use crate::models::queue::{CustomSchedulers, SchedulerChoice};

/// An engine with nothing but a drive: one arm that reaches everything, at rest at cylinder 0, platters at angle 0, a queue of one.
///
/// # Errors
/// Those of [`HddSpec::assemble`].
pub(super) fn alone(drive: Drive, buffer: BufferSpec) -> Result<Engine, Error> {
    let ArmsSpec { motion, arm } = ArmsSpec::one();
    let spec = HddSpec {
        queue: QueueSpec {
            depth: Some(1),
            scheduler: Some(SchedulerChoice::default()),
            ..QueueSpec::default()
        },
        buffer: Some(buffer),
        arms: Some(ArmsOfSpec {
            motion: Some(motion),
            arm: Some(arm),
            ..ArmsOfSpec::default()
        }),
        ..plain(&drive)
    };
    engine(&spec, drive)
}

/// An engine with nothing but a drive as it ships, its arms at rest, platters at angle 0; with the write cache switched where that is
/// said.
///
/// # Errors
/// Those of [`HddSpec::assemble`].
pub(super) fn as_shipped(drive: Drive, write_cache: Option<bool>) -> Result<Engine, Error> {
    let spec = HddSpec {
        write_cache,
        ..plain(&drive)
    };
    engine(&spec, drive)
}

/// A spec that names a drive and nothing else.
fn plain(drive: &Drive) -> HddSpec {
    HddSpec {
        bus: None,
        drive: drive.description.name.clone(),
        angle: None,
        queue: QueueSpec::default(),
        buffer: None,
        write_cache: None,
        overhead: None,
        cache: None,
        arms: None,
        placement: None,
        power: None,
    }
}

fn engine(spec: &HddSpec, drive: Drive) -> Result<Engine, Error> {
    let run = RunSettings {
        seed: 0,
        base: Path::new(""),
        schedulers: &CustomSchedulers::default(),
        replacements: &CustomReplacements::default(),
        memory: None,
        read_foreign: imported::drive,
        warming: &|_, _, _| Ok(()),
        loses_power: false,
        locate: &|_, error| error,
    };
    let site = Site {
        path: "hdd",
        spindles: &Spindles::alone(),
        run: &run,
    };
    let hdd = spec.assemble(drive, &site, &mut Budget::default())?;
    Ok(Engine::new(vec![Box::new(hdd)], None))
}

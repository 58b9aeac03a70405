//! A spec's device, served live: every program that can use a network block device can be measured on it.
//!
//! One thread waits for clients, simulates and answers (`server`). Time is that of the wall, stretched or shrunk, or follows the requests
//! (`pace`). The simulation hears of clients through `live`, which knows neither sockets nor clocks.

mod connection;
pub mod contents;
pub mod control;
mod lateness;
mod listener;
pub mod live;
pub mod nbd;
mod outcome;
mod pace;
mod poller;
mod server;
pub(super) mod spec;
pub mod state;
#[cfg(test)]
mod tests;
mod watcher;

use std::path::PathBuf;
use std::time::Instant;

use crate::base::error::{Error, InputError};
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::config::spec::{FaultKind, FaultSpec};
use crate::devices::assembly::DeviceTree;
use crate::engine::Engine;
use crate::engine::Injection;
use crate::engine::checker::Checker;
use crate::engine::window::{ArmTraceFrom, ArmTraceWindow};
use crate::metrics::Recorder;
use crate::runs::simulation::faults::{Targets, injections};
use crate::runs::simulation::outcome::Outcome;
use crate::runs::simulation::{Checked, RunOptions, SpecSource, request_log};

use contents::{Contents, Discarded, Left, LockedImage, Memory};
use control::Control;
use listener::Listener;
use live::Live;
use nbd::Export;
use server::{Manner, Server};

pub use listener::Address;
pub use pace::{Pace, Speed};
pub use watcher::{Status, Watcher};

/// Where the contents of the device are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// In memory, as far as they were written.
    #[default]
    Memory,
    /// In a raw image.
    Image(PathBuf),
    /// Nowhere: everything reads as zeros.
    Nothing,
}

/// How a device is served.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where.
    pub address: Address,
    /// Where commands come in; nowhere if it is not given.
    pub control: Option<PathBuf>,
    /// What moves simulated time on.
    pub pace: Pace,
    /// Where the contents are.
    pub keeps: Keeps,
    /// No client may write.
    pub read_only: bool,
    /// What offsets and lengths are multiples of, bytes: a power of two from 512 to 65536.
    pub block: u32,
    /// It never sleeps while a client is there.
    pub busy: bool,
    /// A power cut takes from the contents what the device would lose: the versions of what is not safe yet are kept.
    pub power_cuts: bool,
    /// A flush of a client, and a write with FUA, wait until an image is on the disk of this machine.
    pub syncs: bool,
    /// The device begins as the spec describes it, whatever the state beside its image.
    pub new_drive: bool,
}

/// Hears of the serving: first of where clients connect, then of how it goes on.
pub trait Listens: Watcher {
    /// Clients can connect at this URI from now on.
    fn is_ready(&mut self, uri: &str, size: u64, notes: &[String]);
}

/// Serves a spec's device until `watcher` ends it, or the power is cut. Of the options of a run those count that are about the spec, the
/// log of requests and the picture.
///
/// # Errors
/// Wrong input, with its place; an address or an image that cannot be had; a log or contents that cannot be written; a fault that the
/// checker found.
pub fn serve(
    source: &SpecSource,
    options: &RunOptions,
    served: &ServeOptions,
    watcher: &mut dyn Listens,
) -> Result<Outcome, Error> {
    let mut checked = spec::read(source, options)?;
    let is_cut = |fault: &FaultSpec| fault.kind == FaultKind::PowerCut;
    checked.cuts_power = served.power_cuts || checked.spec.fault.iter().any(is_cut);
    let cuts_power = checked.cuts_power;
    let mut tree = checked.devices()?;
    checked.warn(std::mem::take(&mut tree.warnings));
    checked.notes.append(&mut tree.notes);
    let root = tree.devices.last().expect("a spec has a device");
    let (blocks, promise) = (root.blocks(), root.promise());
    let export = export(&checked, blocks, served)?;
    let is_new = matches!(&served.keeps, Keeps::Image(path) if is_empty(path));
    let contents = contents(served, export.size)?;
    let log = options.requests.as_deref();
    let log = log
        .map(|path| request_log(path, &checked.spec))
        .transpose()?;
    let warm_up = spec::warm_up(&checked);
    let mut recorder = Recorder::new(warm_up);
    let mut window = None;
    if options.picture {
        window = ArmTraceWindow::new(ArmTraceFrom::FirstMeasured, warm_up);
        recorder = recorder.with_picture(blocks, window.clone());
        for device in &mut tree.devices {
            device.collect_picture(window.as_ref());
        }
    }
    let mut engine = engine(
        &checked,
        &mut tree,
        (options.check || cuts_power).then(|| Checker::new(promise)),
    )?;
    let faults = Vec::from_iter(checked.spec.fault.iter().map(|fault| fault.at));
    let past = Past {
        served,
        identity: state::identity(&checked),
        faults: &faults,
        is_new,
    };
    let (origin, state) = past.come_back(&mut engine.0, &mut checked, watcher)?;
    let changes = engine.0.checker().map_or(0, Checker::last_change);
    let listener = Listener::at(&served.address)?;
    let control = served.control.as_deref();
    let control = control
        .map(|path| Control::at(path, engine.1, cuts_power))
        .transpose()?;
    let manner = Manner {
        busy: served.busy,
        trims_zeros: !export.rotational,
        cuts_power,
        syncs: served.syncs,
    };
    watcher.is_ready(&listener.uri(), export.size, &checked.notes);
    let server = Server::new((listener, control), export, contents, manner, watcher);
    let mut server = server.map_err(|error| Error::Simulation(format!("no poller: {error}")))?;
    let started = Instant::now();
    let mut live = Live::new(&mut server, served.pace, recorder)
        .with_log(log)
        .from(origin)
        .with_faults(faults)
        .with_state(state);
    let engine = &mut engine.0;
    engine.run(&mut live)?;
    let failure = live.take_failure();
    live.finish_log()?;
    let (measurements, picture) = live.finish_recording();
    if let Some(window) = &window {
        window.end(engine.now());
    }
    let state = live.take_state();
    let told = outcome::Told::of(&mut live, served.pace);
    if told.is_cut() && state.is_some() {
        checked.notes.push(CUT.to_owned());
    }
    match state {
        // A device whose power was cut cannot be simulated any further.
        Some(state) if told.is_cut() => state.discard()?,
        Some(state) => state.finish(engine.now())?,
        None => {}
    }
    let failed = |error| match &served.keeps {
        Keeps::Image(path) => Error::file(path, "write", error),
        _ => Error::Simulation(format!("the contents: {error}")),
    };
    let left = |lbn| match engine.change_left(Lbn(lbn)) {
        // What was there when this serving began was safe.
        Some(change) if change <= changes => Left::Version(0),
        Some(change) => Left::Version(change),
        None => Left::Nowhere,
    };
    let lost = match told.is_cut() {
        true => server.cut(left).map_err(failed)?,
        false => None,
    };
    server.finish().map_err(failed)?;
    if let Some(error) = failure {
        return Err(error);
    }
    if let Some(checker) = engine.checker()
        && checker.fault_count() > 0
    {
        return Err(Error::Simulation(crate::runs::simulation::found(checker)));
    }
    let run = outcome::Finished {
        checked: &checked,
        engine,
        tree: &tree,
        measurements,
        picture,
        told,
        counts: server.counts(),
        lost,
        wall: started.elapsed(),
    };
    Ok(run.outcome())
}

/// The engine, and what faults may be said of.
fn engine(
    checked: &Checked,
    tree: &mut DeviceTree,
    checker: Option<Checker>,
) -> Result<(Engine, Targets), Error> {
    let injections = injections(checked, tree)?;
    let targets = Targets::new(tree);
    let checker = checker.map(|mut checker| {
        checker.name_devices(tree.paths.clone());
        Box::new(checker)
    });
    let mut engine = Engine::new(std::mem::take(&mut tree.devices), checker);
    for (number, (at, injection)) in injections.into_iter().enumerate() {
        if let Injection::Outage { .. } = injection {
            let error = InputError::new("a served device has no outages")
                .help("write kind = \"power-cut\": the clients are dropped, and may connect again");
            let key = format!("fault[{number}].kind.outage");
            return Err(checked.locate(&key, error.into()));
        }
        engine.inject(at, injection);
    }
    Ok((engine, targets))
}

/// Said where the power was cut.
const CUT: &str = "the state beside the image is removed: the next serving begins with these contents on a device as the spec describes it";

/// What a device has behind it.
struct Past<'a> {
    served: &'a ServeOptions,
    identity: serde_json::Value,
    /// When each thing of the spec goes wrong.
    faults: &'a [Time],
    /// The image is made now.
    is_new: bool,
}

impl Past<'_> {
    /// Brings a new device to where it was when its last serving ended; returns its simulated instant, and where what enters it from now on
    /// is recorded.
    ///
    /// # Errors
    /// As those of [`state::Replay`]; a state that cannot be written.
    fn come_back(
        self,
        engine: &mut Engine,
        checked: &mut Checked,
        watcher: &mut dyn Listens,
    ) -> Result<(Time, Option<state::Log>), Error> {
        let Keeps::Image(image) = &self.served.keeps else {
            return Ok((Time::ZERO, None));
        };
        let (path, writes) = (state::path_beside(image), !self.served.read_only);
        if self.is_new || self.served.new_drive || !path.exists() {
            if !self.is_new && !self.served.new_drive {
                checked.notes.push(format!(
                    "there is no {}: the device begins as the spec describes it",
                    path.display()
                ));
            }
            let log = writes.then(|| state::Log::of_new_device(&path, &self.identity));
            return Ok((Time::ZERO, log.transpose()?));
        }
        let started = Instant::now();
        let flushes = checked.cuts_power && writes;
        let past = (path.as_path(), &self.identity);
        let resumed = state::Replay::open(past, flushes, self.faults, watcher)?.run(engine)?;
        if resumed.is_cut_short {
            checked.warn(vec![format!(
                "{}: the last serving did not end well, and the device may not know the last requests of it",
                path.display()
            )]);
        }
        checked.notes.push(format!(
            "the device goes on at {} of simulated time, after {} requests, simulated again in {:.1} s",
            resumed.at,
            resumed.requests,
            started.elapsed().as_secs_f64()
        ));
        let at = resumed.at;
        let log = writes.then(|| state::Log::going_on(&path, resumed));
        Ok((at, log.transpose()?))
    }
}

/// Whether an image is to be made.
fn is_empty(path: &std::path::Path) -> bool {
    std::fs::metadata(path).map_or(true, |metadata| metadata.len() == 0)
}

fn export(checked: &Checked, blocks: u64, served: &ServeOptions) -> Result<Export, Error> {
    let block = served.block;
    if !block.is_power_of_two() || !(512..=65536).contains(&block) {
        let error = InputError::new(format!("blocks of {block} bytes"));
        return Err(error
            .help("accepted: powers of two from 512 to 65536")
            .into());
    }
    // What is behind the last whole block cannot be asked for.
    let size = blocks * BLOCK_BYTES / u64::from(block) * u64::from(block);
    Ok(Export {
        size,
        block,
        read_only: served.read_only,
        rotational: !checked.with_spindles().is_empty(),
        description: spec::description(checked),
    })
}

fn contents(served: &ServeOptions, size: u64) -> Result<Box<dyn Contents>, Error> {
    Ok(match &served.keeps {
        Keeps::Memory => Box::new(Memory::default()),
        Keeps::Nothing => Box::new(Discarded),
        Keeps::Image(path) => {
            Box::new(LockedImage::open(path, size, served.read_only)?.into_contents())
        }
    })
}

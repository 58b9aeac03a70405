//! A device that is served live.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;

use diskwright::base::error::{Error, InputError};
use diskwright::runs::serve as live;
use diskwright::runs::serve::{
    Address, Keeps, Listens, Pace, ServeOptions, Speed, Status, Watcher,
};
use diskwright::runs::simulation::RunOptions;
use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit};
use pyo3::prelude::*;

use crate::{raised, spec_source};

/// What the command line says of serving: an object with these attributes.
#[derive(FromPyObject)]
pub struct Served {
    socket: Option<PathBuf>,
    listen: Option<String>,
    remote: bool,
    control: Option<PathBuf>,
    speed: f64,
    depth: Option<u32>,
    image: Option<PathBuf>,
    discard: bool,
    read_only: bool,
    block: u32,
    busy: bool,
    power_cuts: bool,
    syncs: bool,
    new_drive: bool,
}

impl Served {
    fn address(&self) -> Result<Address, Error> {
        let text = match (&self.socket, &self.listen) {
            (Some(path), None) => return Ok(Address::Path(path.clone())),
            (None, Some(text)) => text,
            _ => {
                let error = InputError::new("where is the device to be served?");
                return Err(error
                    .help("give one of --socket PATH and --listen ADDRESS:PORT")
                    .into());
            }
        };
        let address: SocketAddr = text.parse().map_err(|_| {
            let error = InputError::new(format!("--listen: {text:?} is no address with a port"));
            Error::from(error.help("accepted: such as 127.0.0.1:10809 or [::1]:10809"))
        })?;
        if !address.ip().is_loopback() && !self.remote {
            let error = InputError::new(format!(
                "--listen: {} can be reached from other machines, and anybody there could read and write",
                address.ip()
            ));
            return Err(error.help("an address of the loopback, or --remote").into());
        }
        Ok(Address::Tcp(address))
    }

    fn pace(&self) -> Result<Pace, Error> {
        match self.depth {
            Some(0) => Err(Error::input("--depth: expected 1 or more")),
            Some(depth) => Ok(Pace::Fast { depth }),
            None => Speed::new(self.speed).map(Pace::Real).ok_or_else(|| {
                let error = InputError::new(format!("--speed: {}", self.speed));
                let range = Speed::RANGE;
                let help = format!("accepted: {} to {}", range.start(), range.end());
                error.help(help).into()
            }),
        }
    }

    fn options(self) -> Result<ServeOptions, Error> {
        Ok(ServeOptions {
            address: self.address()?,
            pace: self.pace()?,
            control: self.control,
            keeps: match (self.image, self.discard) {
                (Some(path), _) => Keeps::Image(path),
                (None, true) => Keeps::Nothing,
                (None, false) => Keeps::Memory,
            },
            read_only: self.read_only,
            block: self.block,
            busy: self.busy,
            power_cuts: self.power_cuts,
            syncs: self.syncs,
            new_drive: self.new_drive,
        })
    }
}

/// Tells Python, and hears of Ctrl-C and SIGTERM.
struct Ear {
    ready: Py<PyAny>,
    progress: Option<Py<PyAny>>,
    failure: Option<PyErr>,
    ends: bool,
}

impl Ear {
    fn told(&mut self, outcome: PyResult<()>) -> ControlFlow<()> {
        if let Err(failure) = outcome {
            let is_end = Python::attach(|py| {
                failure.is_instance_of::<PyKeyboardInterrupt>(py)
                    || failure.is_instance_of::<PySystemExit>(py)
            });
            self.ends = true;
            if !is_end {
                self.failure.get_or_insert(failure);
            }
        }
        match self.ends {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Watcher for Ear {
    fn watch(&mut self, status: &Status, clients: usize) -> ControlFlow<()> {
        let told = Python::attach(|py| {
            py.check_signals()?;
            if let (Some(progress), false) = (&self.progress, self.ends) {
                let Status {
                    answered,
                    bytes,
                    response,
                    in_flight,
                    now,
                } = *status;
                progress.call1(
                    py,
                    (
                        now.s(),
                        answered,
                        bytes,
                        response as f64 / 1e6,
                        in_flight,
                        clients,
                    ),
                )?;
            }
            Ok(())
        });
        self.told(told)
    }
}

impl Listens for Ear {
    fn is_ready(&mut self, uri: &str, size: u64, notes: &[String]) {
        let told = Python::attach(|py| {
            self.ready.call1(py, (uri, size, notes.to_vec()))?;
            Ok(())
        });
        // Where that fails, the first look at the listener ends it all.
        let _ = self.told(told);
    }
}

/// Serves a spec's device until a signal ends it; returns the result and what a picture is drawn from, each as JSON.
#[pyfunction]
#[pyo3(signature = (spec_path, spec_text, base, set, drive, check, requests, picture, served, ready, progress))]
#[expect(clippy::too_many_arguments, reason = "Python's facade names them")]
pub fn serve(
    py: Python<'_>,
    spec_path: Option<PathBuf>,
    spec_text: Option<String>,
    base: PathBuf,
    set: Vec<String>,
    drive: Option<String>,
    check: bool,
    requests: Option<PathBuf>,
    picture: bool,
    served: Served,
    ready: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let spec = spec_source(spec_path, spec_text, base)?;
    let served = served.options().map_err(raised)?;
    let options = RunOptions {
        set,
        drive,
        check,
        requests,
        picture,
        ..RunOptions::default()
    };
    let mut ear = Ear {
        ready,
        progress,
        failure: None,
        ends: false,
    };
    let outcome = py.detach(|| live::serve(&spec, &options, &served, &mut ear));
    if let Some(failure) = ear.failure {
        return Err(failure);
    }
    let outcome = outcome.map_err(raised)?;
    let picture = outcome.picture().map(ToString::to_string);
    Ok((outcome.json().to_string(), picture))
}

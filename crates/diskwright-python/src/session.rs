//! `Session`: a spec's device that is asked one request at a time.

use std::path::PathBuf;

use diskwright::base::units::{Lbn, Time};
use diskwright::engine::request::{Command, Op, Outcome};
use diskwright::runs::session;
use pyo3::prelude::*;

use crate::{SimulationError, raised, spec_source};

/// A spec's device, of which only its size and the times of its answers are told.
#[pyclass(unsendable, name = "Session", module = "diskwright._engine")]
pub struct Session(session::Session);

#[pymethods]
impl Session {
    /// Builds the device of a spec, from a file or a text.
    #[new]
    fn new(spec_path: Option<PathBuf>, spec_text: Option<String>, base: PathBuf) -> PyResult<Self> {
        let source = spec_source(spec_path, spec_text, base)?;
        session::Session::open(&source).map(Session).map_err(raised)
    }

    /// Blocks of 512 bytes.
    #[getter]
    fn blocks(&self) -> u64 {
        self.0.blocks()
    }

    /// When the last request was complete, ns of simulated time.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now().ns()
    }

    /// Reads or writes blocks `pause_ns` after the request before was complete; returns when it is complete, ns.
    #[pyo3(signature = (pause_ns, lbn, blocks, write=false, fua=false))]
    fn ask(
        &mut self,
        pause_ns: u64,
        lbn: u64,
        blocks: u32,
        write: bool,
        fua: bool,
    ) -> PyResult<u64> {
        let command = Command {
            op: if write { Op::Write } else { Op::Read },
            fua,
            lbn: Lbn(lbn),
            blocks,
        };
        let answer = self
            .0
            .ask(Time::from_ns(pause_ns), &command)
            .map_err(raised)?;
        match answer.outcome {
            Outcome::Ok => Ok(answer.at.ns()),
            other => Err(SimulationError::new_err(format!(
                "error: {blocks} blocks from {lbn} on: {other:?}"
            ))),
        }
    }
}

//! A scheduler written in Python: the engine asks it as it asks its own, with a copy of what it may see.

use std::sync::Arc;

use diskwright::base::units::{Lbn, Time};
use diskwright::models::geometry::mechanics::{HeadPosition, Mechanics};
use diskwright::models::geometry::spindle::Phase;
use diskwright::models::queue::pool::Order;
use diskwright::models::queue::schedulers::{ArmView, DiskSpace};
use diskwright::models::queue::{Pending, Scheduler, Slot, Space, View};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::failure::Failure;

/// Asks an object for its choices.
pub struct PythonScheduler {
    /// The name in the spec.
    name: String,
    object: Arc<Py<PyAny>>,
    failure: Failure,
    /// The drive's mechanics never change: a copy serves every view.
    mechanics: Option<Arc<Mechanics>>,
}

impl PythonScheduler {
    /// One that asks `object.pick(view)`, and keeps in `failure` what goes wrong.
    pub fn new(name: &str, object: Arc<Py<PyAny>>, failure: Failure) -> PythonScheduler {
        PythonScheduler {
            name: name.to_owned(),
            object,
            failure,
            mechanics: None,
        }
    }

    fn view(&mut self, view: &View<'_>) -> SchedulerView {
        let pool = view.pool;
        let drive = match &view.space {
            Space::Blocks(_) => None,
            Space::Disk(disk) => Some(Drive {
                mechanics: Arc::clone(
                    self.mechanics
                        .get_or_insert_with(|| Arc::new(disk.mechanics.clone())),
                ),
                arm: disk.arm,
                blocks: disk.blocks,
                last: disk.last,
                read_phase: disk.read_phase,
                write_phase: disk.write_phase,
                arms: disk.arms.to_vec(),
            }),
        };
        let last = match &view.space {
            Space::Blocks(last) => last.0,
            Space::Disk(disk) => disk.last.0,
        };
        SchedulerView {
            now: view.now,
            waiting: pool.by_arrival().map(|slot| *pool.get(slot)).collect(),
            last,
            drive,
        }
    }

    /// The index that the object chooses.
    fn ask(&self, py: Python<'_>, view: SchedulerView) -> PyResult<usize> {
        let waiting = view.waiting.len();
        let answer = self.object.bind(py).call_method1("pick", (view,))?;
        let index: Option<i64> = if answer.is_instance_of::<PyBool>() {
            None
        } else {
            answer.extract().ok()
        };
        let Some(index) = index else {
            return Err(PyTypeError::new_err(format!(
                "pick returned {}: expected an index of the view, an int",
                answer.repr()?
            )));
        };
        usize::try_from(index)
            .ok()
            .filter(|index| *index < waiting)
            .ok_or_else(|| {
                PyIndexError::new_err(format!(
                    "pick returned {index}: expected 0 to {}, the index of one of the {waiting} waiting requests",
                    waiting - 1
                ))
            })
    }
}

impl Scheduler for PythonScheduler {
    fn order(&self) -> Order {
        Order::Arrival
    }

    fn pick(&mut self, view: &View<'_>) -> Slot {
        let mut slots = view.pool.by_arrival();
        // After a failure the run goes on to where it can be stopped; what is picked there is of no account.
        let index = if self.failure.is_kept() {
            0
        } else {
            let copy = self.view(view);
            Python::attach(|py| {
                self.ask(py, copy).unwrap_or_else(|error| {
                    let who = format!("the scheduler {:?} failed at {}", self.name, view.now);
                    self.failure
                        .keep_of(py, &format!("{who} of simulated time"), error);
                    0
                })
            })
        };
        slots
            .nth(index)
            .expect("a scheduler is asked only when something waits, and its index was checked")
    }
}

struct Drive {
    mechanics: Arc<Mechanics>,
    arm: HeadPosition,
    last: Lbn,
    blocks: u64,
    read_phase: Phase,
    write_phase: Phase,
    arms: Vec<ArmView>,
}

impl Drive {
    fn space(&self) -> DiskSpace<'_> {
        DiskSpace {
            mechanics: &self.mechanics,
            arm: self.arm,
            last: self.last,
            blocks: self.blocks,
            read_phase: self.read_phase,
            write_phase: self.write_phase,
            arms: &self.arms,
        }
    }
}

/// What a scheduler sees: the requests that wait, the oldest first, and the arm, as they were when it was asked.
#[pyclass(frozen, name = "SchedulerView", module = "diskwright")]
pub struct SchedulerView {
    now: Time,
    waiting: Vec<Pending>,
    last: u64,
    drive: Option<Drive>,
}

impl SchedulerView {
    fn pending(&self, index: isize) -> PyResult<&Pending> {
        let from_end = if index < 0 { self.waiting.len() } else { 0 };
        let index = index.checked_add_unsigned(from_end);
        index
            .and_then(|index| usize::try_from(index).ok())
            .and_then(|index| self.waiting.get(index))
            .ok_or_else(|| PyIndexError::new_err(format!("{} requests wait", self.waiting.len())))
    }

    fn drive(&self) -> PyResult<&Drive> {
        self.drive.as_ref().ok_or_else(|| {
            PyValueError::new_err(
                "the host's queue knows LBNs only: give the scheduler to the drive, device.hdd.queue.scheduler",
            )
        })
    }
}

#[pymethods]
impl SchedulerView {
    /// The present instant, ns of simulated time.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now.ns()
    }
    /// The block after the previous request.
    #[getter]
    fn last_lbn(&self) -> u64 {
        self.last
    }
    /// The cylinder that the arm is at; None in a host's queue.
    #[getter]
    fn cylinder(&self) -> Option<u32> {
        self.drive.as_ref().map(|drive| drive.arm.cylinder)
    }
    /// The active head; None in a host's queue.
    #[getter]
    fn head(&self) -> Option<u32> {
        self.drive.as_ref().map(|drive| drive.arm.head)
    }
    /// The drive's cylinders; None in a host's queue.
    #[getter]
    fn cylinders(&self) -> Option<u32> {
        let drive = self.drive.as_ref();
        drive.map(|drive| drive.mechanics.layout.cylinders())
    }
    /// The drive's capacity in blocks of 512 bytes; None in a host's queue.
    #[getter]
    fn blocks(&self) -> Option<u64> {
        self.drive.as_ref().map(|drive| drive.blocks)
    }
    fn __len__(&self) -> usize {
        self.waiting.len()
    }
    fn __getitem__(&self, index: isize) -> PyResult<Waiting> {
        self.pending(index).map(Waiting::from)
    }
    /// The positioning time of a request that is picked now, ns: seek, head switch, settling and rotation.
    fn positioning_ns(&self, index: isize) -> PyResult<u64> {
        let pending = self.pending(index)?;
        let drive = self.drive()?;
        let time = |target| drive.space().positioning(target);
        Ok(pending.target.as_ref().map_or(Time::ZERO, time).ns())
    }
    /// The motion alone, ns: seek, head switch and settling.
    fn motion_ns(&self, index: isize) -> PyResult<u64> {
        let pending = self.pending(index)?;
        let drive = self.drive()?;
        let time = |target| drive.space().motion(target);
        Ok(pending.target.as_ref().map_or(Time::ZERO, time).ns())
    }
}

/// A request that waits.
#[pyclass(frozen, get_all, name = "WaitingRequest", module = "diskwright")]
pub struct Waiting {
    /// "read", "write", "flush" or "trim".
    op: &'static str,
    /// Whether it goes to the medium at once.
    fua: bool,
    /// The first block.
    lbn: u64,
    /// How many blocks of 512 bytes.
    blocks: u32,
    /// When it came into this queue, ns of simulated time.
    entered_ns: u64,
    /// The cylinder of its first block; None in a host's queue.
    cylinder: Option<u32>,
    /// The head of its first block; None in a host's queue.
    head: Option<u32>,
}

impl From<&Pending> for Waiting {
    fn from(pending: &Pending) -> Waiting {
        let command = &pending.command;
        let place = pending.target.as_ref().map(|target| target.arm());
        Waiting {
            op: command.op.name(),
            fua: command.fua,
            lbn: command.lbn.0,
            blocks: command.blocks,
            entered_ns: pending.entered.ns(),
            cylinder: place.map(|arm| arm.cylinder),
            head: place.map(|arm| arm.head),
        }
    }
}

#[pymethods]
impl Waiting {
    fn __repr__(&self) -> String {
        let Waiting {
            op,
            lbn,
            blocks,
            entered_ns,
            ..
        } = self;
        format!("<{op} of {blocks} blocks from LBN {lbn}, waiting since {entered_ns} ns>")
    }
}

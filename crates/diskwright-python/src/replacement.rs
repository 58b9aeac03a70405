//! A replacement policy written in Python: a cache asks it as it asks the engine's own, and what it answers is checked.

use diskwright::models::cache::replacement::{Access, Cost, Replacement, Setting};
use diskwright::models::cache::{Frame, Pins};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFrozenSet, PyInt};

use crate::failure::Failure;

/// Asks an object which block leaves.
pub struct PythonReplacement {
    /// The name in the spec.
    name: String,
    /// None where the object could not be made.
    methods: Option<Methods>,
    failure: Failure,
    held: Held,
}

/// An object's methods, bound to it.
struct Methods {
    hit: Py<PyAny>,
    miss: Option<Py<PyAny>>,
    evict: Py<PyAny>,
    insert: Py<PyAny>,
    paid: Option<Py<PyAny>>,
    remove: Py<PyAny>,
}

impl Methods {
    /// Those of the object that `maker` makes for a cache.
    fn made(py: Python<'_>, maker: &Py<PyAny>, setting: &Setting) -> PyResult<Methods> {
        let setting = CacheSetting {
            capacity: setting.capacity,
            seed: setting.chance.clone().bits(),
        };
        let object = maker.bind(py).call1((setting,))?;
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            match object.getattr_opt(name)? {
                Some(method) if method.is_callable() => Ok(Some(method.unbind())),
                _ => Ok(None),
            }
        };
        let needed = |name: &str| {
            let lacking =
                || PyTypeError::new_err(format!("{} has no method {name}", object_text(&object)));
            method(name)?.ok_or_else(lacking)
        };
        Ok(Methods {
            hit: needed("hit")?,
            miss: method("miss")?,
            evict: needed("evict")?,
            insert: needed("insert")?,
            paid: method("paid")?,
            remove: needed("remove")?,
        })
    }
}

/// An object as Python shows it.
fn object_text(object: &Bound<'_, PyAny>) -> String {
    match object.repr() {
        Ok(text) => text.to_string(),
        Err(_) => "an object that cannot be shown".to_owned(),
    }
}

impl PythonReplacement {
    /// One that asks the object that `maker(setting)` returns, and keeps in `failure` what goes wrong.
    pub fn new(
        name: &str,
        maker: &Py<PyAny>,
        setting: &Setting,
        failure: Failure,
    ) -> PythonReplacement {
        let mut policy = PythonReplacement {
            name: name.to_owned(),
            methods: None,
            failure,
            held: Held::new(setting.capacity),
        };
        if !policy.failure.is_kept() {
            let made = Python::attach(|py| {
                Methods::made(py, maker, setting).map_err(|error| policy.keep(py, "made", error))
            });
            policy.methods = made.ok();
        }
        policy
    }

    fn keep(&self, py: Python<'_>, what: &str, error: PyErr) {
        let what = match what {
            "made" => format!("the replacement policy {:?} cannot be made", self.name),
            method => format!("the replacement policy {:?} failed in {method}", self.name),
        };
        self.failure.keep_of(py, &what, error);
    }

    /// What a method answers. After a failure nobody is asked: the run goes on to where it can be stopped, and what is done until
    /// then is of no account.
    fn ask<T>(
        &self,
        method: &str,
        ask: impl FnOnce(Python<'_>, &Methods) -> PyResult<T>,
    ) -> Option<T> {
        let methods = self.methods.as_ref()?;
        if self.failure.is_kept() {
            return None;
        }
        Python::attach(|py| {
            ask(py, methods)
                .map_err(|error| self.keep(py, method, error))
                .ok()
        })
    }
}

/// Calls a method, if the object has it.
fn call<'py>(
    py: Python<'py>,
    method: Option<&Py<PyAny>>,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<()> {
    if let Some(method) = method {
        method.bind(py).call1(arguments)?;
    }
    Ok(())
}

impl Replacement for PythonReplacement {
    fn hit(&mut self, frame: Frame, access: &Access) {
        self.ask("hit", |py, methods| {
            call(py, Some(&methods.hit), (frame.0, CacheAccess::from(access)))
        });
    }

    fn miss(&mut self, access: &Access) {
        self.ask("miss", |py, methods| {
            call(py, methods.miss.as_ref(), (CacheAccess::from(access),))
        });
    }

    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let answer = self.ask("evict", |py, methods| {
            let pinned = PyFrozenSet::new(py, pins.frames().map(|frame| frame.0))?;
            let answer = methods.evict.bind(py).call1((pinned,))?;
            self.held.checked(&answer, pins)
        });
        let frame = match answer {
            Some(answer) => answer,
            None => self.held.next_free(pins),
        };
        if let Some(frame) = frame {
            self.held.leave(frame);
        }
        frame
    }

    fn insert(&mut self, frame: Frame, access: &Access) {
        self.held.come(frame);
        self.ask("insert", |py, methods| {
            let arguments = (frame.0, CacheAccess::from(access));
            call(py, Some(&methods.insert), arguments)
        });
    }

    fn paid(&mut self, frame: Frame, cost: Cost) {
        self.ask("paid", |py, methods| {
            call(py, methods.paid.as_ref(), (frame.0, CacheCost::from(cost)))
        });
    }

    fn remove(&mut self, frame: Frame) {
        self.held.leave(frame);
        self.ask("remove", |py, methods| {
            call(py, Some(&methods.remove), (frame.0,))
        });
    }
}

/// The frames that a policy knows of: those inserted that have not left.
struct Held {
    frames: Box<[bool]>,
    count: usize,
    /// Where the search for a frame begins that leaves after a failure.
    hand: usize,
}

impl Held {
    fn new(capacity: u32) -> Held {
        Held {
            frames: vec![false; capacity as usize].into(),
            count: 0,
            hand: 0,
        }
    }

    fn come(&mut self, frame: Frame) {
        self.count += usize::from(!std::mem::replace(&mut self.frames[frame.index()], true));
    }

    fn leave(&mut self, frame: Frame) {
        self.count -= usize::from(std::mem::take(&mut self.frames[frame.index()]));
    }

    fn is_free(&self, index: usize, pins: &Pins) -> bool {
        self.frames[index] && !pins.holds(Frame(index as u32))
    }

    /// Any frame that may leave.
    fn next_free(&mut self, pins: &Pins) -> Option<Frame> {
        let all = self.frames.len();
        let mut places = (self.hand..all).chain(0..self.hand);
        let found = places.find(|&index| self.is_free(index, pins))?;
        self.hand = found;
        Some(Frame(found as u32))
    }

    /// The frame that an answer names; none where all are pinned.
    fn checked(&self, answer: &Bound<'_, PyAny>, pins: &Pins) -> PyResult<Option<Frame>> {
        let expected = "expected a frame that was inserted, has not left and is not pinned";
        if answer.is_none() {
            let free = (0..self.frames.len()).filter(|&index| self.is_free(index, pins));
            return match free.count() {
                0 => Ok(None),
                free => Err(PyValueError::new_err(format!(
                    "evict returned None, though {free} of {} frames are not pinned: {expected}",
                    self.count
                ))),
            };
        }
        let text = || object_text(answer);
        let is_int = answer.is_instance_of::<PyInt>() || answer.extract::<i64>().is_ok();
        if answer.is_instance_of::<PyBool>() || !is_int {
            return Err(PyTypeError::new_err(format!(
                "evict returned {}: {expected}, an int",
                text()
            )));
        }
        let held = answer.extract::<u32>().ok().map(Frame);
        let held = held.filter(|frame| self.frames.get(frame.index()) == Some(&true));
        let Some(frame) = held else {
            return Err(PyValueError::new_err(format!(
                "evict returned {}, and no block is in such a frame: {expected}",
                text()
            )));
        };
        if pins.holds(frame) {
            return Err(PyValueError::new_err(format!(
                "evict returned {}, which is pinned: {expected}",
                text()
            )));
        }
        Ok(Some(frame))
    }
}

/// What a policy is made for.
#[pyclass(frozen, get_all, name = "CacheSetting", module = "diskwright")]
pub struct CacheSetting {
    /// Frames of the cache, at least 1: they are numbered from 0.
    capacity: u32,
    /// A seed for what is left to chance; it follows from that of the run.
    seed: u64,
}

#[pymethods]
impl CacheSetting {
    fn __repr__(&self) -> String {
        format!("<a cache of {} frames>", self.capacity)
    }
}

/// An access to a block.
#[pyclass(frozen, get_all, name = "CacheAccess", module = "diskwright")]
pub struct CacheAccess {
    /// Which block: its number on the device below, in blocks of the cache; or an object's name.
    key: u64,
    /// Whether it is written.
    write: bool,
}

impl From<&Access> for CacheAccess {
    fn from(access: &Access) -> CacheAccess {
        CacheAccess {
            key: access.key,
            write: access.write,
        }
    }
}

#[pymethods]
impl CacheAccess {
    fn __repr__(&self) -> String {
        let op = if self.write { "write" } else { "read" };
        format!("<{op} of block {}>", self.key)
    }
}

/// What an access to the medium took.
#[pyclass(frozen, get_all, name = "CacheCost", module = "diskwright")]
pub struct CacheCost {
    /// What it kept the medium for, ns, for all its blocks together: of a hard disk seek, switch, settle and rotation.
    media_ns: u64,
    /// How many blocks of the cache it brought or wrote.
    blocks: u32,
}

impl From<Cost> for CacheCost {
    fn from(cost: Cost) -> CacheCost {
        CacheCost {
            media_ns: cost.media.ns(),
            blocks: cost.blocks,
        }
    }
}

#[pymethods]
impl CacheCost {
    /// The same as `media_ns`, by its older name.
    #[getter]
    fn access_ns(&self) -> u64 {
        self.media_ns
    }
    fn __repr__(&self) -> String {
        let CacheCost { media_ns, blocks } = self;
        format!("<{media_ns} ns for {blocks} blocks>")
    }
}

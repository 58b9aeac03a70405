//! What goes wrong in Python while the engine runs.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::SimulationError;

/// The first thing that went wrong in Python while the engine ran.
#[derive(Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Keeps an error, unless there is one already.
    pub fn keep(&self, error: PyErr) {
        self.lock().get_or_insert(error);
    }
    /// Keeps the error of a simulation that this cause ended, with what failed in front; an interruption stays what it is.
    pub fn keep_of(&self, py: Python<'_>, what: &str, cause: PyErr) {
        if !cause.is_instance_of::<PyException>(py) {
            return self.keep(cause);
        }
        let error = SimulationError::new_err(format!("{what}: {cause}"));
        error.set_cause(py, Some(cause));
        self.keep(error);
    }
    /// Whether something went wrong.
    pub fn is_kept(&self) -> bool {
        self.lock().is_some()
    }
    /// What went wrong.
    pub fn take(&self) -> Option<PyErr> {
        self.lock().take()
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        // An error is stored in one step: nothing half-done is behind a poisoned lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

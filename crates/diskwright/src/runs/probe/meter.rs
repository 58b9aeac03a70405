//! The progress of a probe, told to a listener.

use std::ops::ControlFlow;

use crate::base::error::Error;
use crate::host::Progress;

/// Counts steps of work over several measurements and runs.
pub struct Meter<'a> {
    progress: Option<&'a mut dyn Progress>,
    done: u64,
    total: u64,
}

impl<'a> Meter<'a> {
    /// At the start of `total` steps.
    pub fn new(progress: &'a mut dyn Progress, total: u64) -> Meter<'a> {
        Meter {
            progress: Some(progress),
            done: 0,
            total,
        }
    }

    /// Tells nobody.
    #[cfg(test)]
    pub fn idle() -> Meter<'static> {
        Meter {
            progress: None,
            done: 0,
            total: 0,
        }
    }

    /// Counts `steps` steps as done.
    ///
    /// # Errors
    /// An interruption by the one who listens.
    pub fn advance(&mut self, steps: u64) -> Result<(), Error> {
        self.done += steps;
        match self.tell(0) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    fn tell(&mut self, ahead: u64) -> ControlFlow<()> {
        match &mut self.progress {
            Some(progress) => progress.update(self.done + ahead, Some(self.total)),
            None => ControlFlow::Continue(()),
        }
    }
}

/// A run's own progress, on top of what was done before it.
impl Progress for Meter<'_> {
    fn update(&mut self, done: u64, _total: Option<u64>) -> ControlFlow<()> {
        self.tell(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(Vec<(u64, Option<u64>)>);

    impl Progress for Told {
        fn update(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
            self.0.push((done, total));
            match done {
                0..=9 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        }
    }

    #[test]
    fn steps_and_runs_add_up_until_somebody_stops_them() {
        let mut told = Told(Vec::new());
        let mut meter = Meter::new(&mut told, 20);
        meter.advance(3).expect("not stopped");
        assert!(meter.update(2, Some(5)).is_continue());
        meter.advance(5).expect("not stopped");
        assert!(meter.update(2, None).is_break());
        assert!(matches!(meter.advance(2), Err(Error::Interrupted)));
        let told: Vec<_> = told.0.iter().map(|&(done, _)| done).collect();
        assert_eq!(told, [3, 5, 8, 10, 10]);
    }
}

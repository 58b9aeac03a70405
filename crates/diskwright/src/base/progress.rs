//! The progress of long work.

use std::ops::ControlFlow;

use crate::base::error::Error;

/// Hears of the progress of a run, or of a reading of a trace.
pub trait Progress {
    /// Called now and then with the number of requests done and, where it is known, of all. `Break` stops the work.
    fn update(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()>;
}

/// Ignores progress.
impl Progress for () {
    fn update(&mut self, _done: u64, _total: Option<u64>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Records of a trace read between two words of progress: a matter of hundredths of a second.
const RECORDS: u64 = 1 << 16;

/// Tells of a reading's progress after `read` records, when it is time to.
///
/// # Errors
/// The listener stops the work.
#[inline]
pub(crate) fn tell(progress: &mut dyn Progress, read: u64) -> Result<(), Error> {
    if read.is_multiple_of(RECORDS) && progress.update(read, None).is_break() {
        return Err(Error::Interrupted);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stops the reading after this number of updates.
    struct Patience(u32);

    impl Progress for Patience {
        fn update(&mut self, _: u64, _: Option<u64>) -> ControlFlow<()> {
            self.0 = self.0.saturating_sub(1);
            if self.0 == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }

    #[test]
    fn whoever_has_had_enough_stops_the_reading() {
        let mut patience = Patience(3);
        let stopped = (1..).find(|read| tell(&mut patience, *read).is_err());
        assert_eq!(stopped, Some(3 * RECORDS));
    }
}

//! The time that is measured of a device, and the averages over it.

use crate::base::units::Time;

/// The time that is measured of a device: from its first request, or from the end of the warm-up, to the end of the load, a power cut or the
/// device's failure. At both ends it keeps `S`, what the device has summed over time until then: what lies between is measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured<S> {
    since: Option<(Time, S)>,
    until: Option<(Time, S)>,
}

impl<S> Default for Measured<S> {
    fn default() -> Measured<S> {
        Measured {
            since: None,
            until: None,
        }
    }
}

impl<S: Copy> Measured<S> {
    /// When it began, if it has.
    #[inline]
    pub fn since(&self) -> Option<Time> {
        self.since.map(|(since, _)| since)
    }

    /// A request arrives at `now`: the first one begins it, with these sums.
    #[inline]
    pub fn begin(&mut self, now: Time, sums: impl FnOnce() -> S) {
        if self.since.is_none() {
            self.begins(now, sums);
        }
    }

    #[cold]
    fn begins(&mut self, now: Time, sums: impl FnOnce() -> S) {
        self.since = Some((now, sums()));
    }

    /// The warm-up has ended at `now`.
    pub fn begin_anew(&mut self, now: Time, sums: S) {
        *self = Measured {
            since: Some((now, sums)),
            until: None,
        };
    }

    /// What comes from `now` on is not measured, unless this is called again.
    pub fn end(&mut self, now: Time, sums: S) {
        self.until = Some((now, sums));
    }

    /// How long it is, for a run that took `elapsed`. After a power cut without requests under way the run ends with the last request, but the
    /// device has been measured up to the cut.
    pub fn span(&self, elapsed: Time) -> Time {
        match (self.since, self.until) {
            (Some((since, _)), Some((until, _))) => elapsed.max(until.saturating_sub(since)),
            _ => elapsed,
        }
    }

    /// The mean over this time of what `of` finds in the sums, as ns of a sum per ns; `last` are the sums at the end of a run that was not ended.
    pub fn mean(
        &self,
        elapsed: Time,
        last: impl FnOnce(Time) -> S,
        of: impl Fn(&S) -> u128,
    ) -> f64 {
        let span = self.span(elapsed);
        let Some((since, before)) = self.since.filter(|_| span > Time::ZERO) else {
            return 0.0;
        };
        let after = match self.until {
            Some((_, sums)) => sums,
            None => last(since + elapsed),
        };
        of(&after).saturating_sub(of(&before)) as f64 / span.ns() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    fn mean(measured: &Measured<u128>, elapsed: u64) -> f64 {
        measured.mean(at(elapsed), |end| u128::from(end.ns()), |&sum| sum)
    }

    #[test]
    fn nothing_is_measured_before_the_first_request() {
        let measured = Measured::default();
        assert_eq!((measured.since(), mean(&measured, 100)), (None, 0.0));
        assert_eq!(measured.span(at(100)), at(100));
    }

    #[test]
    fn the_first_request_begins_and_later_ones_do_not() {
        let mut measured = Measured::default();
        measured.begin(at(100), || 10);
        measured.begin(at(150), || 999);
        measured.end(at(300), 60);
        assert_eq!(measured.since(), Some(at(100)));
        assert_eq!(mean(&measured, 200), 0.25);
    }

    #[test]
    fn the_end_of_the_warm_up_forgets_what_was_before() {
        let mut measured = Measured::default();
        measured.begin(at(100), || 10);
        measured.end(at(300), 60);
        measured.begin_anew(at(400), 100);
        measured.end(at(500), 150);
        measured.end(at(600), 160);
        assert_eq!(mean(&measured, 200), 0.3);
    }

    #[test]
    fn a_cut_after_the_last_request_is_measured_up_to_the_cut() {
        let mut measured = Measured::default();
        measured.begin(at(0), || 0);
        measured.end(at(400), 100);
        assert_eq!(measured.span(at(200)), at(400));
        assert_eq!(mean(&measured, 200), 0.25);
    }

    #[test]
    fn what_has_failed_before_is_measured_for_no_time_and_has_done_nothing() {
        let mut measured = Measured::default();
        measured.begin_anew(at(400), 100);
        measured.end(at(400), 100);
        assert_eq!(mean(&measured, 200), 0.0);
    }

    #[test]
    fn a_run_that_was_not_ended_is_measured_to_its_end() {
        let mut measured = Measured::default();
        measured.begin(at(100), || 50);
        assert_eq!(mean(&measured, 200), 250.0 / 200.0);
    }
}

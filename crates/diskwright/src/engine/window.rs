//! Stretches of a run: its warm-up, and what the traces of its devices show, which begins at one instant for all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::base::units::Time;

/// How long an arm trace is at most; other traces may be shorter.
pub const LENGTH: Time = Time::from_ms(500);
/// What began longer before the window is over when it begins.
const LEAD: Time = Time::from_s(2);
/// At this number of requests before the first measured one, earlier requests may still be in service when it arrives.
const LEAD_REQUESTS: u64 = 4_096;
/// What is not known yet.
const UNKNOWN: u64 = u64::MAX;

/// How much of the start of a run is left out of the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmUp {
    /// Nothing.
    #[default]
    None,
    /// The first requests by arrival, up to this number.
    Requests(u64),
    /// Requests that arrive before this time has passed since the first arrival.
    Time(Time),
    /// Each stream of the load has its own.
    ByStream,
}

/// Where an arm trace begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArmTraceFrom {
    /// No arm trace is wanted.
    #[default]
    Nowhere,
    /// When the first measured request is served.
    FirstMeasured,
    /// At an instant of simulated time.
    Instant(Time),
}

/// The window; all copies are the same one.
///
/// Its beginning may be known only when the first measured request is served, by whichever disk that is.
#[derive(Clone, Debug)]
pub struct ArmTraceWindow(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    from: AtomicU64,
    to: AtomicU64,
    /// The sequence of the first measured request.
    first: AtomicU64,
    /// It has arrived.
    has_arrived: AtomicBool,
    /// When the first measured request arrives at the earliest.
    measured_from: AtomicU64,
    /// A disk had more to show than it could keep.
    is_full: AtomicBool,
    /// When the run was over.
    run_end: AtomicU64,
}

impl ArmTraceWindow {
    /// The window of a run with this warm-up; `None` where no arm trace is wanted.
    pub fn new(from: ArmTraceFrom, warm_up: WarmUp) -> Option<ArmTraceWindow> {
        let start = match from {
            ArmTraceFrom::Nowhere => return None,
            ArmTraceFrom::FirstMeasured => UNKNOWN,
            ArmTraceFrom::Instant(from) => from.ns().min(UNKNOWN - 1),
        };
        let first = match warm_up {
            WarmUp::None => 0,
            WarmUp::Requests(requests) => requests,
            WarmUp::Time(_) | WarmUp::ByStream => UNKNOWN,
        };
        let shared = Shared {
            from: start.into(),
            to: start.saturating_add(LENGTH.ns()).into(),
            first: first.into(),
            has_arrived: false.into(),
            measured_from: UNKNOWN.into(),
            is_full: false.into(),
            run_end: UNKNOWN.into(),
        };
        Some(ArmTraceWindow(Arc::new(shared)))
    }

    /// A request of the host arrives; requests are measured that arrive from `measured_from` on, where that is known.
    pub fn arrived(&self, sequence: u64, now: Time, measured_from: Option<Time>) {
        let Shared {
            first, has_arrived, ..
        } = &*self.0;
        if has_arrived.load(Relaxed) {
            return;
        }
        if let Some(from) = measured_from {
            self.0.measured_from.store(from.ns(), Relaxed);
            if first.load(Relaxed) == UNKNOWN && now >= from {
                first.store(sequence, Relaxed);
            }
        }
        has_arrived.store(sequence >= first.load(Relaxed), Relaxed);
    }

    /// Whether what is served at `now` may reach into the window; `sequence` is that of the host's request, where it is for one.
    pub fn is_near(&self, sequence: Option<u64>, now: Time) -> bool {
        let near = |instant: u64| instant != UNKNOWN && (now + LEAD).ns() >= instant;
        let Shared {
            from,
            first,
            measured_from,
            ..
        } = &*self.0;
        let first = first.load(Relaxed);
        match (from.load(Relaxed), sequence) {
            (UNKNOWN, _) if first == UNKNOWN => near(measured_from.load(Relaxed)),
            (UNKNOWN, sequence) => {
                sequence.is_none_or(|sequence| sequence.saturating_add(LEAD_REQUESTS) >= first)
            }
            (from, _) => near(from),
        }
    }

    /// A request is served: the window begins, if it is the first measured one that is waited for.
    pub fn serves(&self, sequence: Option<u64>, now: Time) {
        let shared = &*self.0;
        if shared.from.load(Relaxed) != UNKNOWN || !shared.has_arrived.load(Relaxed) {
            return;
        }
        let first = shared.first.load(Relaxed);
        if sequence.is_none_or(|sequence| sequence >= first) {
            shared.from.store(now.ns(), Relaxed);
            shared.to.store((now + LENGTH).ns(), Relaxed);
        }
    }

    /// A disk can keep nothing that begins at `now` or later.
    pub fn fill(&self, now: Time) {
        self.0.is_full.store(true, Relaxed);
        self.0.to.fetch_min(now.ns(), Relaxed);
    }

    /// The run is over.
    pub fn end(&self, now: Time) {
        self.0.run_end.store(now.ns(), Relaxed);
        self.0.to.fetch_min(now.ns(), Relaxed);
    }

    /// When it begins, where that is known.
    pub fn from(&self) -> Option<Time> {
        let from = self.0.from.load(Relaxed);
        (from != UNKNOWN).then(|| Time::from_ns(from))
    }

    /// When it ends, as far as that is known.
    pub fn to(&self) -> Time {
        Time::from_ns(self.0.to.load(Relaxed))
    }

    /// When the run was over, if it is.
    pub fn run_end(&self) -> Time {
        Time::from_ns(self.0.run_end.load(Relaxed))
    }

    /// What ended it: its `time`, too many `accesses`, or the `run`.
    pub fn ended_by(&self) -> &'static str {
        match () {
            () if self.0.is_full.load(Relaxed) => "accesses",
            () if self.to() == self.run_end() => "run",
            () => "time",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    #[test]
    fn a_window_at_an_instant() {
        let window =
            ArmTraceWindow::new(ArmTraceFrom::Instant(ms(5_000)), WarmUp::None).expect("wanted");
        assert_eq!((window.from(), window.to()), (Some(ms(5_000)), ms(5_500)));
        assert!(!window.is_near(Some(0), ms(2_999)));
        assert!(window.is_near(Some(0), ms(3_000)));
        // It stays where it is.
        window.arrived(0, ms(1), Some(ms(1)));
        window.serves(Some(0), ms(1));
        assert_eq!(window.from(), Some(ms(5_000)));
        window.fill(ms(5_100));
        window.end(ms(9_000));
        assert_eq!((window.to(), window.ended_by()), (ms(5_100), "accesses"));
    }

    #[test]
    fn it_begins_with_the_first_request_after_the_warm_up() {
        let window = ArmTraceWindow::new(ArmTraceFrom::FirstMeasured, WarmUp::Requests(5_000))
            .expect("wanted");
        let from = (0..=5_000).map(|sequence| {
            let now = ms(sequence);
            window.arrived(sequence, now, (sequence == 5_000).then_some(now));
            // What is for no request of the host does not begin it while the warm-up lasts.
            window.serves(None, now);
            window.serves(Some(sequence.saturating_sub(1)), now);
            assert_eq!(
                window.is_near(Some(sequence), now),
                sequence + LEAD_REQUESTS >= 5_000
            );
            window.from()
        });
        let began: Vec<Time> = from.flatten().collect();
        // One for no request of the host does once a measured one has arrived.
        assert_eq!(began, [ms(5_000)]);
    }

    #[test]
    fn a_warm_up_by_time_ends_with_an_arrival() {
        let warm_up = WarmUp::Time(ms(10_000));
        let window = ArmTraceWindow::new(ArmTraceFrom::FirstMeasured, warm_up).expect("wanted");
        assert!(!window.is_near(Some(0), Time::ZERO));
        for (sequence, now) in [(0, 1_000), (1, 10_999), (2, 11_500), (3, 11_600)] {
            window.arrived(sequence, ms(now), Some(ms(11_000)));
        }
        assert!(window.is_near(Some(1), ms(9_500)));
        window.serves(Some(1), ms(11_650));
        assert_eq!(window.from(), None);
        window.serves(Some(2), ms(11_700));
        assert_eq!(window.from(), Some(ms(11_700)));
        window.end(ms(11_800));
        assert_eq!((window.to(), window.ended_by()), (ms(11_800), "run"));
    }

    #[test]
    fn no_arm_trace_no_window() {
        assert!(ArmTraceWindow::new(ArmTraceFrom::Nowhere, WarmUp::None).is_none());
    }
}

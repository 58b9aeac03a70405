//! What a picture of a run shows of the dies at work: every operation of channels and workers in a millisecond.
//!
//! A worker does one operation at a time, so of each only the last one is kept until the window begins.

mod json;

use super::legs::{Leg, Legs};
use super::operations::Action;
use super::shape::Shape;
use crate::base::units::Time;
use crate::engine::window::ArmTraceWindow;

/// How long it is.
const LENGTH: Time = Time::from_ms(1);
/// The most operations that it shows.
const MOST: usize = 2_000;
/// The most workers that it shows, of whole channels; of the first channel all.
const MOST_WORKERS: u32 = 64;

/// Where an operation works, and who waits for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub plane: u32,
    /// The block, as a number in its plane, where it has one.
    pub block: Option<u32>,
    /// The page in the block that is read, or written.
    pub page: Option<u32>,
    /// Planes that work together.
    pub planes: u32,
    /// The sequence of the host's request that waits for it, if one does.
    pub request: Option<u64>,
}

/// An operation.
#[derive(Clone, Debug)]
struct Work {
    worker: u32,
    action: Action,
    place: Place,
    begins: Time,
    /// The end of its last leg.
    ends: Time,
    /// Nothing comes after its last leg.
    is_whole: bool,
    legs: Vec<(Leg, Time)>,
}

impl Work {
    /// Goes on with more legs from an instant on; in between it waited.
    fn go_on(&mut self, now: Time, legs: &Legs) {
        let waited = now.saturating_sub(self.ends);
        for &(leg, time) in std::iter::once(&(Leg::Wait, waited)).chain(legs) {
            if time > Time::ZERO {
                self.legs.push((leg, time));
                self.ends += time;
            }
        }
    }
}

impl Work {
    /// It is suspended: its last legs end now.
    fn suspend(&mut self, now: Time) {
        while let Some((_, time)) = self.legs.last_mut()
            && self.ends > now
        {
            let too_long = (self.ends - now).min(*time);
            *time -= too_long;
            self.ends -= too_long;
            if *time == Time::ZERO {
                self.legs.pop();
            }
        }
    }
}

/// Collected while a drive runs.
pub(super) struct DieTrace {
    window: ArmTraceWindow,
    channels: u32,
    /// The last operation of each worker that is shown.
    last: Vec<Option<Work>>,
    /// Operations before these that reach into the window.
    before: Vec<Work>,
    /// From when on there were too many operations.
    full: Option<Time>,
    /// Whether all that begins from now on is beyond the window.
    is_closed: bool,
}

impl DieTrace {
    /// An empty trace of a window.
    pub fn new(window: ArmTraceWindow, shape: &Shape) -> DieTrace {
        let of_channel = shape.workers_of_channel();
        let channels = (MOST_WORKERS / of_channel).clamp(1, shape.geometry.channels);
        DieTrace {
            window,
            channels,
            last: vec![None; (channels * of_channel) as usize],
            before: Vec::new(),
            full: None,
            is_closed: false,
        }
    }

    /// A request is served, which may begin the window.
    pub fn serves(&self, sequence: Option<u64>, now: Time) {
        self.window.serves(sequence, now);
    }

    /// Whether what a worker does now may be shown: it goes on with what it began within the window, or may begin something there.
    pub fn shows(&mut self, worker: u32, now: Time) -> bool {
        if let Some(from) = self.window.from()
            && now >= from + LENGTH
        {
            self.is_closed = true;
        }
        let last = self.last.get(worker as usize);
        last.is_some_and(|last| !self.is_closed || last.as_ref().is_some_and(|work| !work.is_whole))
    }

    /// The operation of a worker, if it is shown, is suspended.
    pub fn suspended(&mut self, worker: u32, now: Time) {
        if let Some(Some(work)) = self.last.get_mut(worker as usize) {
            work.suspend(now);
        }
    }

    /// A phase of an operation of a worker that is shown begins; `is_last` where nothing comes after it.
    pub fn phase(
        &mut self,
        (worker, action): (u32, Action),
        now: Time,
        (legs, is_last): (&Legs, bool),
        place: impl FnOnce() -> Place,
    ) {
        let last = &mut self.last[worker as usize];
        if last.as_ref().is_none_or(|work| work.is_whole) {
            let begins = Work {
                worker,
                action,
                place: place(),
                begins: now,
                ends: now,
                is_whole: false,
                legs: Vec::new(),
            };
            let from = self.window.from();
            if let Some(old) = last.replace(begins)
                && from.is_some_and(|from| old.ends > from)
            {
                self.before.push(old);
            }
            let has_begun = from.is_some_and(|from| from <= now);
            if has_begun && self.before.len() + self.last.len() > MOST {
                self.full = Some(now);
                self.is_closed = true;
            }
        }
        if let Some(work) = &mut self.last[worker as usize] {
            work.go_on(now, legs);
            work.is_whole = is_last;
        }
    }
}

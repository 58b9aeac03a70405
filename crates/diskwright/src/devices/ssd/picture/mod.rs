//! What an SSD shows in a picture of a run: what its channels and workers do over time, what is written and what is free, where the time of
//! requests goes, how its blocks have worn, and a millisecond of the dies at work.

mod json;
mod moment;
mod wear;

use super::counters::SsdCounters;
use super::die_trace::DieTrace;
use super::legs::{Cause, Leg, Legs, legs};
use super::operations::Action;
use super::shape::Shape;
use crate::base::units::Time;
use crate::engine::request::{Op, Parts};
use crate::engine::window::ArmTraceWindow;
use crate::metrics::picture::bins::Bins;
use crate::models::flash::blocks::Blocks;
use moment::{Carried, Moment, Worked, kind};

/// The most bins of a run.
const BINS: usize = 600;

/// What a worker does.
#[derive(Clone, Copy, Debug, Default)]
enum Doing {
    #[default]
    Nothing,
    /// A phase of an operation that began at an instant.
    Phase(Action, Time, Legs),
    /// Its operation waits for the channel since an instant.
    Wait(Action, Time),
}

/// The parts of the time of requests of one kind, summed.
#[derive(Clone, Default)]
struct Served {
    count: u64,
    parts: Parts,
}

/// Collected while the drive runs.
pub(super) struct SsdPicture {
    shape: Shape,
    moments: Bins<Moment>,
    /// The last instant that was noted, if any was.
    noted: Option<Time>,
    /// Requests and phases of operations in the whole run.
    events: u64,
    doing: Vec<Doing>,
    /// What was done since the warm-up.
    done: Done,
    measured_from: Time,
    /// Free blocks of each plane, and of all together, when they were last looked at.
    free: Vec<u32>,
    all_free: u64,
    /// Planes whose free blocks may have changed since.
    touched: Vec<u32>,
    /// Requests in service.
    serving: u32,
    /// What has been noted of what is counted: 512-byte blocks of the host, and pages by cause: the host's, moved ones, those of the map, those of
    /// parity.
    host_blocks: u64,
    pages: [u64; 4],
    reads: Served,
    writes: Served,
    pub trace: Option<DieTrace>,
}

impl SsdPicture {
    /// An empty picture of a drive with these blocks; over `window` also of its dies at work.
    pub fn new(shape: Shape, blocks: &Blocks, window: Option<&ArmTraceWindow>) -> SsdPicture {
        let planes = shape.geometry.all_planes();
        let rows = shape.workers().div_ceil(shape.workers_of_row());
        SsdPicture {
            moments: Bins::new(BINS),
            noted: None,
            events: 0,
            doing: vec![Doing::Nothing; shape.workers() as usize],
            done: Done {
                channels: vec![Carried::default(); shape.geometry.channels as usize],
                workers: vec![Worked::default(); rows as usize],
            },
            measured_from: Time::ZERO,
            free: (0..planes).map(|plane| blocks.free_of(plane)).collect(),
            all_free: blocks.free_of_all(),
            touched: Vec::new(),
            serving: 0,
            host_blocks: 0,
            pages: [0; 4],
            reads: Served::default(),
            writes: Served::default(),
            trace: window.map(|window| DieTrace::new(window.clone(), &shape)),
            shape,
        }
    }

    /// Counts and sums of what is measured begin anew; what is shown over time shows the whole run. Called when all up to now has been noted,
    /// and before the counters begin anew.
    pub fn measure_from(&mut self, now: Time) {
        self.measured_from = now;
        self.done.channels.fill(Carried::default());
        self.done.workers.fill(Worked::default());
        (self.host_blocks, self.pages) = (0, [0; 4]);
        self.moments.each(Moment::measure_from_here);
        (self.reads, self.writes) = (Served::default(), Served::default());
    }

    /// A phase of the operation of a worker begins.
    pub fn phase(&mut self, worker: u32, action: Action, now: Time, legs: Legs) {
        self.events += 1;
        self.end_doing(worker, now);
        self.doing[worker as usize] = Doing::Phase(action, now, legs);
    }

    /// The phase of a worker's operation is over; whether the operation waits for the channel.
    pub fn phase_over(&mut self, (worker, action): (u32, Action), now: Time, waits: bool) {
        self.end_doing(worker, now);
        if waits {
            self.doing[worker as usize] = Doing::Wait(action, now);
        }
    }

    /// The operation of a worker is suspended: the rest of it is another phase.
    pub fn suspended(&mut self, worker: u32, now: Time) {
        self.events += 1;
        self.end_doing(worker, now);
        if let Some(trace) = &mut self.trace {
            trace.suspended(worker, now);
        }
    }

    /// The free blocks of a plane may have changed.
    pub fn touch(&mut self, plane: u32) {
        self.touched.push(plane);
    }

    /// All that happens now has happened.
    pub fn note(&mut self, now: Time, serving: u32, counters: &SsdCounters, blocks: &Blocks) {
        match self.noted.replace(now) {
            Some(since) => self
                .moments
                .over(since, now, moment_of(self.serving, self.all_free)),
            None => {
                self.moments.at(now);
            }
        }
        self.serving = serving;
        for plane in self.touched.drain(..) {
            let free = blocks.free_of(plane);
            let before = std::mem::replace(&mut self.free[plane as usize], free);
            self.all_free = self.all_free - u64::from(before) + u64::from(free);
        }
        let pages = [
            counters.host_pages,
            counters.moved_pages + counters.folded_pages,
            counters.map_pages,
            counters.parity_pages,
        ];
        if (counters.host_blocks, pages) != (self.host_blocks, self.pages) {
            let moment = self.moments.at(now);
            moment.wrote(counters.host_blocks - self.host_blocks, |cause| {
                pages[cause] - self.pages[cause]
            });
            (self.host_blocks, self.pages) = (counters.host_blocks, pages);
        }
    }

    /// A request has been served.
    pub fn served(&mut self, op: Op, parts: &Parts) {
        self.events += 1;
        let served = match op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            Op::Flush | Op::Trim | Op::NvCache(_) => return,
        };
        served.count += 1;
        for &part in &super::PARTS {
            served.parts.add(part, parts.get(part));
        }
    }

    /// What a worker has done is over now.
    fn end_doing(&mut self, worker: u32, now: Time) {
        let doing = std::mem::take(&mut self.doing[worker as usize]);
        let place = self.shape.rows_of(worker);
        for span in spans(doing, now) {
            span.add_to(place, &mut self.moments, &mut self.done, self.measured_from);
        }
    }
}

/// What each channel, and each row of workers, has done.
#[derive(Clone)]
struct Done {
    channels: Vec<Carried>,
    workers: Vec<Worked>,
}

/// A leg of an operation, from an instant to another one.
struct Span {
    leg: Leg,
    cause: Cause,
    from: Time,
    to: Time,
}

impl Span {
    /// Adds it to what the channel and the row of its worker have done over time, and since the warm-up.
    fn add_to(
        &self,
        (channel, row): (usize, usize),
        moments: &mut Bins<Moment>,
        done: &mut Done,
        measured_from: Time,
    ) {
        let Span {
            leg,
            cause,
            from,
            to,
        } = *self;
        let is_on_channel = leg.is_on_channel();
        moments.over(from, to, |moment, ns| {
            moment.worked(row, leg, cause, ns);
            if is_on_channel {
                moment.carried(channel, cause, ns);
            }
        });
        let ns = to.saturating_sub(from.max(measured_from)).ns();
        done.workers[row][kind(leg, cause)] += ns;
        if is_on_channel {
            done.channels[channel][cause as usize] += ns;
        }
    }
}

/// What a bin keeps of a stretch of time.
fn moment_of(serving: u32, free: u64) -> impl Fn(&mut Moment, u64) {
    move |moment, ns| moment.stood(serving, free, ns)
}

/// What a worker has done up to an instant.
fn spans(doing: Doing, until: Time) -> impl Iterator<Item = Span> {
    let (action, begins, legs) = match doing {
        Doing::Nothing => (Action::Read, until, legs([])),
        Doing::Wait(action, since) => (action, since, legs([(Leg::Wait, until - since)])),
        Doing::Phase(action, begins, legs) => (action, begins, legs),
    };
    let mut at = begins;
    let spans = legs.into_iter().map(move |(leg, time)| {
        let from = at;
        at += time;
        Span {
            leg,
            cause: action.into(),
            from: from.min(until),
            to: at.min(until),
        }
    });
    spans.filter(|span| span.from < span.to)
}
